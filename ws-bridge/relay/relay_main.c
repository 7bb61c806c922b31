/* SPDX-License-Identifier: ISC */
/*
 * agentgraph-relay: carries WebSockets between the web server and the helpers of websocketd.
 *
 * It listens on a Unix socket, its own or descriptor 0, and serves until SIGTERM.  It never
 * outlives the process that started it.
 */
#include "base/bound.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/metrics/metrics.h"
#include "base/os/descriptor.h"
#include "base/os/process/process.h"
#include "ws-bridge/relay/relay.h"

#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 1024
#define SMALLEST_LIMIT ((int64_t)16 << 20) /* of a message (doc/protocol-sockets.md#frames) */
#define BYE_SPARE 5                        /* seconds beyond REALTIME_DRAIN_TIMEOUT */

static bool relay_main_complain(const char *what, const char *why)
{
	fprintf(stderr, RELAY_PROGRAM ": %s: %s\n", what, why);
	return false;
}

/* ---- The listening socket */

/* Listens at path, for its owner alone; -1 after a complaint. */
static int relay_main_listen_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(address.sun_path)) {
		relay_main_complain(path, "the name is too long for a socket");
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	/* somebody may answer at the address; what a dead process has left there is removed */
	int asking = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool taken = connect(asking, (const struct sockaddr *)&address, sizeof(address)) == 0;
	if (!taken && errno == ECONNREFUSED)
		unlink(address.sun_path);
	close(asking);
	if (taken) {
		relay_main_complain(path, "somebody listens there already");
		return -1;
	}
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	mode_t mask = umask(0177);
	bool listening =
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, BACKLOG) == 0;
	umask(mask);
	if (listening)
		return fd;
	relay_main_complain(path, strerror(errno));
	close(fd);
	return -1;
}

static int relay_main_take_listener(const struct relay_options *options)
{
	if (options->socket)
		return relay_main_listen_at(options->socket);
	if (descriptor_listens(STDIN_FILENO))
		return STDIN_FILENO;
	relay_main_complain("descriptor 0", "not a listening socket, and there is no --socket");
	return -1;
}

/* ---- Settings */

/* Looks websocketd's address up; text is HOST:PORT, which relay_options_parse has checked. */
static bool relay_main_find_websocketd(struct relay_settings *settings, const char *text)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	const char *colon = strrchr(text, ':');
	bool bracketed = text[0] == '[' && colon[-1] == ']';
	char *host = xstrndup(text + bracketed, (size_t)(colon - text) - 2 * bracketed);
	int failure = getaddrinfo(host, colon + 1, &hints, &found);
	free(host);
	if (failure)
		return relay_main_complain(text, gai_strerror(failure));
	memcpy(&settings->websocketd, found->ai_addr, found->ai_addrlen);
	settings->websocketd_size = found->ai_addrlen;
	settings->host = text;
	freeaddrinfo(found);
	return true;
}

static void relay_main_take_config(struct relay_settings *settings, const struct config *config)
{
	int64_t twice = config->env.max_request_size < INT64_MAX / 8
	    ? config->env.max_request_size * 2
	    : INT64_MAX / 8;
	settings->max_connections = config->websocket.max_connections;
	settings->max_connections_per_user = config->websocket.max_connections_per_user;
	settings->message_limit = (size_t)(twice > SMALLEST_LIMIT ? twice : SMALLEST_LIMIT);
	settings->bye_ms = (config->env.realtime_drain_timeout + BYE_SPARE) * 1000;
	log_set_level(config->env.log_level);
	log_set_format(config->env.log_format);
}

static void relay_main_take_options(
    struct relay_settings *settings, const struct relay_options *options)
{
	settings->slow_bytes = (size_t)options->slow_bytes;
	settings->ping_ms = options->ping * 1000;
	settings->stall_ms = options->stall * 1000;
	settings->linger_ms = options->linger_ms;
	if (options->bye >= 0)
		settings->bye_ms = options->bye * 1000;
}

static struct config *relay_main_load(const struct relay_options *options)
{
	return config_load_or_print(&options->source, RELAY_PROGRAM ": configuration");
}

/* The old settings stay when the new configuration has a mistake. */
static void relay_reload(struct relay_settings *settings)
{
	const struct relay_options *options = settings->origin;
	struct config *config = relay_main_load(options);
	struct error err = {0};
	if (config && ticket_key_load(&settings->key, config->state_dir, &err)) {
		relay_main_take_config(settings, config);
		relay_main_take_options(settings, options);
	}
	if (error_is_set(&err))
		log_error("cannot read the settings again: %s", err.detail);
	error_release(&err);
	config_free(config);
}

static bool relay_main_rekey(struct relay_settings *settings)
{
	struct error ignored = {0};
	bool read = ticket_key_load(&settings->key, settings->state_dir, &ignored);
	error_release(&ignored);
	return read;
}

static bool relay_main_prepare(struct relay_settings *settings, const struct relay_options *options,
    const struct config *config)
{
	struct error err = {0};
	relay_main_take_config(settings, config);
	relay_main_take_options(settings, options);
	settings->reload = relay_reload;
	settings->rekey = relay_main_rekey;
	settings->state_dir = xstrdup(config->state_dir);
	settings->origin = options;
	if (!relay_main_find_websocketd(settings, options->websocketd))
		return false;
	if (ticket_key_load(&settings->key, config->state_dir, &err))
		return true;
	relay_main_complain("cannot start", err.detail);
	error_release(&err);
	return false;
}

/* ---- The process */

static int relay_main_serve(const struct relay_options *options, int signals, pid_t parent)
{
	struct relay_settings settings = {0};
	struct config *config = relay_main_load(options);
	int listener = config && relay_main_prepare(&settings, options, config)
	    ? relay_main_take_listener(options)
	    : -1;
	bool complete = false;
	if (listener >= 0) {
		log_init(config->env.logger_name, config->env.log_level);
		/* open sockets are counted in the memory that the pool's numbers are in */
		struct error err = {0};
		struct shared *shared = shared_open(config->state_dir, &err);
		if (!shared)
			log_warning("open sockets are not counted: %s", err.detail);
		error_release(&err);
		metrics_attach(shared);
		struct bound bound =
		    options->unlink ? bound_at(options->unlink) : (struct bound){0};
		complete = relay_run(&settings, listener, signals);
		metrics_attach(NULL);
		shared_close(shared);
		if (options->socket)
			unlink(options->socket);
		else if (getppid() != parent && options->unlink)
			bound_remove(bound, options->unlink);
	}
	free(settings.state_dir);
	config_free(config);
	return complete ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct relay_options options;
	pid_t parent = getppid();
	memory_init();
	relay_options_parse(&options, argc, argv);
	static const int told[] = {SIGTERM, SIGHUP, 0}; /* SIGINT of a terminal is the parent's */
	int signals = process_signals(told);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (signals < 0 || getppid() != parent)
		return EXIT_FAILURE;
	descriptor_raise_limit(); /* each connection takes two */
	memory_limit_arenas(1);
	return relay_main_serve(&options, signals, parent);
}
