/* SPDX-License-Identifier: ISC */
/*
 * agentgraph-fcgi: one process of the pool.
 *
 * It is started with the listening socket as descriptor 0 and serves until SIGTERM; then nothing
 * more is accepted, and requests in hand have some seconds to end.  It never outlives the process
 * that started it.
 */
#include "base/arena.h"
#include "base/bound.h"
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/os/clock.h"
#include "base/os/descriptor.h"
#include "base/os/process/process.h"
#include "base/os/rest.h"
#include "fcgi/handlers/pages.h"
#include "fcgi/pool/pool.h"
#include "fcgi/request/hygiene.h"
#include "fcgi/route/mount.h"
#include "fcgi/route/openapi.h"
#include "fcgi/route/route.h"
#include "fcgi/server.h"
#include "service/files/extract.h"
#include "service/retention.h"
#include "service/run/background/webhook_sender.h"
#include "service/service.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define PROGRAM "agentgraph-fcgi"
#define LISTENER 0

#define MAX_THREADS 4096
#define MAX_DRAIN 86400
#define LOOK_MS 1000     /* how often to look whether a busy spell is over, and after the threads */
#define LATE_MS 500      /* how often to look for a database that is not there yet */
#define MIN_DRAIN_MS 200 /* idle threads need a moment too */
#define SAME_SIGNAL_MS 200 /* a second SIGTERM so soon after the first means the same */
#define DELIVERY_MS 1000   /* webhooks under way have so long at the end; others go out later */

struct options {
	struct config_source source;
	const char *unlink;
	bool quiet, routes;
	long threads;
	long drain; /* seconds */
	long ready; /* a descriptor; 0: none */
};

static char usage[] =
    "usage: " PROGRAM " [OPTION]...\n"
    "One process of the pool, started by `agentgraph serve`.  Descriptor 0 is the listening\n"
    "socket.\n"
    "\n"
    "  --config FILE    configuration (default $GRAPH_PATH, else ./agentgraph.json)\n"
    "  --state DIR      state directory (default $AGENTGRAPH_STATE_DIR, else ./.agentgraph)\n"
    "  --accepted FILE  use these text files, as accepted by `agentgraph serve`\n"
    "  --threads N      requests served at the same time (default 64)\n"
    "  --drain SECONDS  how long requests in hand may take after SIGTERM (default 30)\n"
    "  --quiet          show no warnings about the configuration, only errors\n"
    "  --ready FD       write the process id, 32 bits, here once requests are served\n"
    "  --unlink PATH    remove this socket if the parent process dies\n"
    "  --routes         print the routes with their permissions\n"
    "  --help, --version\n";

static char version_text[] = PROGRAM " " AGENTGRAPH_VERSION "\n";

static int fcgi_main_fail(const char *what)
{
	fprintf(stderr, PROGRAM ": %s\n", what);
	return EXIT_FAILURE;
}

static void fcgi_main_parse_options(struct options *options, int argc, char **argv)
{
	const struct option_spec specs[] = {
	    {"--config", OPTION_TEXT, &options->source.file, 0, 0},
	    {"--state", OPTION_TEXT, &options->source.state_dir, 0, 0},
	    {"--accepted", OPTION_TEXT, &options->source.accepted, 0, 0},
	    {"--threads", OPTION_NUMBER, &options->threads, 1, MAX_THREADS},
	    {"--drain", OPTION_NUMBER, &options->drain, 0, MAX_DRAIN},
	    {"--ready", OPTION_NUMBER, &options->ready, 3, INT_MAX},
	    {"--unlink", OPTION_TEXT, &options->unlink, 0, 0},
	    {"--quiet", OPTION_FLAG, &options->quiet, 0, 0},
	    {"--routes", OPTION_FLAG, &options->routes, 0, 0},
	    {"--help", OPTION_ANSWER, usage, 0, 0},
	    {"--version", OPTION_ANSWER, version_text, 0, 0},
	    OPTION_END,
	};
	options_take(PROGRAM, specs, argc, argv);
}

/* Prints the routes that the configuration has switched on. */
static int fcgi_main_print_routes(const struct options *options)
{
	struct problems problems = {0};
	struct arena *arena = arena_new();
	struct config *config = config_load(&options->source, &problems);
	const struct route_table *table =
	    config ? routes_mount(&routes, config, arena, &problems) : NULL;
	int width = 0;
	for (size_t i = 0; table && i < table->count; i++)
		if ((int)strlen(table->rows[i].path) > width)
			width = (int)strlen(table->rows[i].path);
	for (size_t i = 0; table && i < table->count; i++) {
		const struct route *row = &table->rows[i];
		printf("%-7s %-*s ", method_name(row->method), width, row->path);
		if (row->resource)
			printf("%s:%s\n", row->resource, row->action);
		else
			puts(row->flags & ROUTE_INFRASTRUCTURE ? "reference" : "public");
	}
	problems_print_errors(&problems, PROGRAM);
	int status = problems.errors ? EXIT_FAILURE : EXIT_SUCCESS;
	problems_release(&problems);
	config_free(config);
	arena_free(arena);
	return status;
}

/* Opens the service and all that the server borrows, which lives in the arena; false after saying
 * why not. */
static bool fcgi_main_open_server(
    struct server *server, const struct options *options, struct arena *arena)
{
	struct problems problems = {0};
	if (guard_check(&routes, &problems))
		server->service = service_open_early(&options->source, &problems);
	const struct config *config = server->service ? server->service->config : NULL;
	if (config) {
		server->routes = routes_mount(&routes, config, arena, &problems);
		cJSON *document = openapi_document(server->routes, config);
		char *text = json_print(document), *pages = process_data("web");
		server->document = arena_strdup(arena, text);
		server->pages = arena_strdup(arena, pages);
		server->console = console_build(server->pages, arena);
		cJSON_Delete(document);
		free(text);
		free(pages);
	}
	bool mounted = config && !problems.errors;
	for (size_t i = 0; i < problems.count; i++) {
		const struct problem *p = &problems.items[i];
		if (!p->warning || !options->quiet)
			fprintf(stderr, PROGRAM ": %s%s\n", p->warning ? "warning: " : "", p->text);
	}
	problems_release(&problems);
	if (!mounted) {
		service_close(server->service);
		return false;
	}
	server->hygiene = hygiene_new(&server->service->config->env);
	return true;
}

/* Waits until fd is readable; false when that took longer than timeout_ms (-1: for ever). */
static bool fcgi_main_readable(int fd, int64_t timeout_ms)
{
	struct pollfd waiting = {.fd = fd, .events = POLLIN};
	int ready;
	do
		ready = poll(&waiting, 1, (int)timeout_ms);
	while (ready < 0 && errno == EINTR);
	return ready > 0;
}

/* What a process does beside serving requests, once its database is there. */
struct chores {
	struct retention *retention;
	struct webhook_sender *sender;
};

/* Opens the database, from when on all requests are served, and begins the chores.  False when the
 * database is not there yet, with err set when something else is wrong. */
static bool fcgi_main_let_in(
    struct server *server, const struct options *options, struct chores *chores, struct error *err)
{
	struct service *service = server->service;
	if (!service_open_late(service) ||
	    !ticket_key_load(&server->ticket_key, service->config->state_dir, err))
		return false;
	service->storage->threads->lease_room(
	    service->storage, workers_part((unsigned)options->threads));
	atomic_store(&server->open, true);
	struct error chore = {0};
	chores->retention = retention_new(service, &chore);
	if (error_is_set(&chore))
		log_warning("nothing is taken away that is old: %s", chore.detail);
	error_release(&chore);
	if (!service->config->runs_background) /* there is no runner */
		chores->sender = webhook_sender_start(service, WEBHOOK_ANSWER_MS, &chore);
	if (error_is_set(&chore))
		log_warning("webhooks are not sent: %s", chore.detail);
	error_release(&chore);
	return true;
}

/* What the process waits for, and looks after meanwhile. */
struct watch {
	int signals;
	pid_t parent;
	struct workers *workers;
};

/* Waits for the database, if need be, and then for the end: SIGTERM, or the death of the parent,
 * after which nobody but this process removes the socket. */
static void fcgi_main_wait_for_end(struct server *server, const struct options *options,
    struct chores *chores, const struct watch *watch)
{
	struct bound bound = options->unlink ? bound_at(options->unlink) : (struct bound){0};
	struct signalfd_siginfo info;
	struct error err = {0};
	while (!server->open && getppid() == watch->parent &&
	    !fcgi_main_readable(watch->signals, LATE_MS)) {
		if (!fcgi_main_let_in(server, options, chores, &err) && error_is_set(&err))
			log_error("%s", err.detail);
		error_release(&err);
		workers_tend(watch->workers);
	}
	while (getppid() == watch->parent) {
		if (!fcgi_main_readable(watch->signals, LOOK_MS)) {
			rest_look();
			workers_tend(watch->workers);
		} else if (read(watch->signals, &info, sizeof(info)) == sizeof(info))
			break;
	}
	if (getppid() != watch->parent && options->unlink)
		bound_remove(bound, options->unlink);
}

/*
 * Lets requests in hand end; false when some are left once time is up, or when a further SIGTERM
 * means "now".  Whoever ends a whole process group or control group signals this process directly,
 * and the parent signals it again: within SAME_SIGNAL_MS that is one and the same wish.
 */
static bool fcgi_main_drain(struct workers *workers, int signals, int64_t drain_ms)
{
	struct pollfd waiting[] = {
	    {.fd = workers_done(workers), .events = POLLIN}, {.fd = signals, .events = POLLIN}};
	int64_t start = clock_monotonic_ms();
	int64_t end = start + (drain_ms > MIN_DRAIN_MS ? drain_ms : MIN_DRAIN_MS);
	for (;;) {
		int64_t left = end - clock_monotonic_ms();
		poll(waiting, 2, left > 0 ? (int)left : 0);
		if (waiting[0].revents)
			return true;
		if (left <= 0)
			return false;
		struct signalfd_siginfo info;
		if (waiting[1].revents && read(signals, &info, sizeof(info)) == sizeof(info) &&
		    clock_monotonic_ms() - start >= SAME_SIGNAL_MS)
			return false;
	}
}

static int fcgi_main_serve(
    struct server *server, const struct options *options, int signals, pid_t parent)
{
	struct error err = {0};
	struct chores chores = {0};
	unsigned threads = (unsigned)options->threads;
	extract_places(threads > 1 ? threads / 2 : 1);
	if (!server->service->lacking && !fcgi_main_let_in(server, options, &chores, &err))
		return fcgi_main_fail(err.detail);
	struct workers *workers = workers_start(server, LISTENER, threads, &err);
	if (!workers)
		return fcgi_main_fail(err.detail);
	if (options->ready) {
		int32_t pid = getpid();
		if (write((int)options->ready, &pid, sizeof(pid)) != (ssize_t)sizeof(pid))
			log_error("cannot tell that this process serves: %s", strerror(errno));
		close((int)options->ready);
	}
	const struct watch watch = {.signals = signals, .parent = parent, .workers = workers};
	fcgi_main_wait_for_end(server, options, &chores, &watch);
	workers_stop(workers);
	retention_free(chores.retention);
	webhook_sender_stop(chores.sender, clock_monotonic_ms() + DELIVERY_MS);
	if (!fcgi_main_drain(workers, signals, options->drain * 1000)) {
		log_warning("ended with requests in hand: %u", workers_running(workers));
		process_end_all();
		_exit(EXIT_FAILURE);
	}
	workers_free(workers);
	hygiene_free(server->hygiene);
	service_close(server->service);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct options options = {.threads = 64, .drain = 30};
	struct server server = {0};
	pid_t parent = getppid();
	memory_init();
	fcgi_main_parse_options(&options, argc, argv);
	if (options.routes)
		return exit_status(fcgi_main_print_routes(&options));
	static const int told[] = {
	    SIGTERM, 0}; /* a terminal's go to the parent, which tells this one */
	int signals = process_signals(told);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (signals < 0 || !descriptor_listens(LISTENER))
		return fcgi_main_fail(
		    "descriptor 0 is not a listening socket; `agentgraph serve` starts this "
		    "program");
	/* Many threads, few arenas.  No fast bins: they are emptied at each allocation of a
	 * kilobyte, of which a request makes several, and a tenth of its time went there. */
	mallopt(M_MXFAST, 0);
	memory_limit_arenas(4);
	struct arena *arena = arena_new();
	int status = EXIT_FAILURE;
	if (fcgi_main_open_server(&server, &options, arena))
		status = fcgi_main_serve(&server, &options, signals, parent);
	arena_free(arena);
	return status;
}
