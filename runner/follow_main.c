/* SPDX-License-Identifier: ISC */
/*
 * agentgraph-follow: shows the chunks of runs to whoever follows them, and says when a result that
 * somebody waits for is there.
 *
 * It listens on a Unix socket, its own or descriptor 0, and serves until SIGTERM.  It loads no
 * graph, and it never outlives the process that started it.
 */
#include "base/bound.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/os/descriptor.h"
#include "base/os/process/process.h"
#include "runner/follow.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define PROGRAM "agentgraph-follow"
#define LISTENER 0
#define LONGEST 86400L /* seconds */
#define LATE_MS 500    /* how often to look for a database that is not there yet */

struct follow_options {
	struct config_source source;
	const char *unlink;
	long stall, silence; /* seconds; stall 0: as the environment says */
};

static char usage[] =
    "usage: " PROGRAM " [OPTION]...\n"
    "Serves the chunks of runs to those who follow them, started by `agentgraph serve`.\n"
    "Descriptor 0 is the listening socket.\n"
    "\n"
    "  --config FILE      configuration (default $GRAPH_PATH, else ./agentgraph.json)\n"
    "  --state DIR        state directory (default $AGENTGRAPH_STATE_DIR, else ./.agentgraph)\n"
    "  --accepted FILE    use these text files, as accepted by `agentgraph serve`\n"
    "  --stall SECONDS    drop a client that leaves data unread for so long (default\n"
    "                     $AGENTGRAPH_SEND_TIMEOUT, else 60)\n"
    "  --silence SECONDS  send a comment after so long without an event (default 15)\n"
    "  --unlink PATH      remove this socket if the parent process dies\n"
    "  --help, --version\n";

static char version_text[] = PROGRAM " " AGENTGRAPH_VERSION "\n";

static bool follow_main_complain(const char *what, const char *why)
{
	fprintf(stderr, PROGRAM ": %s: %s\n", what, why);
	return false;
}

static void follow_main_parse(struct follow_options *options, int argc, char **argv)
{
	const struct option_spec specs[] = {
	    {"--config", OPTION_TEXT, &options->source.file, 0, 0},
	    {"--state", OPTION_TEXT, &options->source.state_dir, 0, 0},
	    {"--accepted", OPTION_TEXT, &options->source.accepted, 0, 0},
	    {"--stall", OPTION_NUMBER, &options->stall, 1, LONGEST},
	    {"--silence", OPTION_NUMBER, &options->silence, 1, LONGEST},
	    {"--unlink", OPTION_TEXT, &options->unlink, 0, 0},
	    {"--help", OPTION_ANSWER, usage, 0, 0},
	    {"--version", OPTION_ANSWER, version_text, 0, 0},
	    OPTION_END,
	};
	*options = (struct follow_options){.silence = 15};
	options_take(PROGRAM, specs, argc, argv);
}

static struct config *follow_main_load(const struct follow_options *options)
{
	return config_load_or_print(&options->source, PROGRAM ": configuration");
}

/* Takes over the settings that may change while the process serves. */
static void follow_main_set(struct follow_settings *settings, const struct config *config)
{
	const struct follow_options *options = settings->origin;
	settings->stall_ms = (options->stall ? options->stall : config->env.send_timeout) * 1000;
	log_set_level(config->env.log_level);
	log_set_format(config->env.log_format);
}

/* Takes over the key, which may be another one for the new workers, and the settings; streams go
 * on.  Nothing changes when the new configuration has a mistake. */
static void follow_main_reload(struct follow_settings *settings)
{
	struct config *config = follow_main_load(settings->origin);
	struct error err = {0};
	if (config && ticket_key_load(&settings->key, config->state_dir, &err))
		follow_main_set(settings, config);
	if (error_is_set(&err))
		log_error("cannot read the settings again: %s", err.detail);
	error_release(&err);
	config_free(config);
}

/* Waits for the database, and clients wait in the queue of the socket.  False with err not set when
 * a signal, or the end of the parent, comes first. */
static bool follow_main_open_storage(
    struct service *service, int signals, pid_t parent, struct error *err)
{
	struct pollfd end = {.fd = signals, .events = POLLIN};
	bool told = false;
	while (!(service->storage = storage_open(service->config, service->shared, err))) {
		if (err->kind != ERR_TRANSIENT_STORAGE)
			return false;
		if (!told)
			log_warning("waits for its database: %s", err->cause);
		told = true;
		error_release(err);
		if (poll(&end, 1, LATE_MS) != 0 || getppid() != parent)
			return false;
	}
	return true;
}

/* Opens as much of the service as a reader needs. */
static bool follow_main_open(struct follow_settings *settings, int signals, pid_t parent)
{
	struct service *service = settings->service;
	struct error err = {0};
	service->config = follow_main_load(settings->origin);
	if (!service->config)
		return false;
	log_init(service->config->env.logger_name, service->config->env.log_level);
	follow_main_set(settings, service->config);
	service->shared = shared_make(service->config->state_dir, &err);
	bool open = service->shared && follow_main_open_storage(service, signals, parent, &err) &&
	    service_join(service, &err) &&
	    ticket_key_load(&settings->key, service->config->state_dir, &err);
	if (error_is_set(&err))
		follow_main_complain("cannot start", error_why(&err));
	error_release(&err);
	return open;
}

int main(int argc, char **argv)
{
	struct follow_options options;
	struct service service = {0};
	struct follow_settings settings = {
	    .service = &service, .reload = follow_main_reload, .origin = &options};
	bool complete = false;
	pid_t parent = getppid();
	memory_init();
	follow_main_parse(&options, argc, argv);
	static const int told[] = {SIGTERM, SIGHUP, 0}; /* SIGINT of a terminal is the parent's */
	int signals = process_signals(told);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (signals < 0 || getppid() != parent)
		return EXIT_FAILURE;
	descriptor_raise_limit(); /* every client takes one */
	memory_limit_arenas(2);
	if (follow_main_open(&settings, signals, parent) &&
	    (descriptor_listens(LISTENER) ||
		follow_main_complain("descriptor 0", "not a listening socket"))) {
		struct bound bound = options.unlink ? bound_at(options.unlink) : (struct bound){0};
		settings.silence_ms = options.silence * 1000;
		complete = follow_run(&settings, LISTENER, signals);
		if (getppid() != parent && options.unlink)
			bound_remove(bound, options.unlink);
	}
	storage_close(service.storage);
	shared_close(service.shared);
	config_free(service.config);
	return complete ? EXIT_SUCCESS : EXIT_FAILURE;
}
