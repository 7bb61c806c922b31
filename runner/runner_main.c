/* SPDX-License-Identifier: ISC */
/*
 * agentgraph-runner: the process that executes runs in the background.
 *
 * It serves nobody: it takes from the queue what workers have put there.  At SIGTERM it claims
 * nothing more, and what it has in hand gets some seconds to end; what is not over by then goes
 * back into the queue.  It never outlives the process that started it.
 */
#include "base/log/log.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/os/clock.h"
#include "base/os/process/process.h"
#include "base/os/rest.h"
#include "runner/runner.h"
#include "service/run/background/webhook_sender.h"
#include "service/service.h"

#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define PROGRAM "agentgraph-runner"
#define MAX_DRAIN 86400
#define LOOK_MS 2000       /* how often to look for runs whose process has died */
#define LATE_MS 500        /* how often to look for a database that is not there yet */
#define NODE_MS 500        /* a node has so long to end, once time is up */
#define DELIVERY_MS 1000   /* webhooks under way have so long at the end; others go out later */
#define SAME_SIGNAL_MS 200 /* a second SIGTERM so soon after the first means the same */

struct options {
	struct config_source source;
	long drain; /* seconds */
	long job;   /* 0: whatever is in the queue */
};

static char usage[] =
    "usage: " PROGRAM " [OPTION]...\n"
    "Executes background runs; `agentgraph serve` starts it.\n"
    "\n"
    "  --config FILE    configuration (default $GRAPH_PATH, else ./agentgraph.json)\n"
    "  --state DIR      state directory (default $AGENTGRAPH_STATE_DIR, else ./.agentgraph)\n"
    "  --accepted FILE  use these text files, as accepted by `agentgraph serve`\n"
    "  --drain SECONDS  how long runs in hand may take after SIGTERM (default 30)\n"
    "  --job ROW        resume only this run, whose process has died\n"
    "  --help, --version\n";

static char version_text[] = PROGRAM " " AGENTGRAPH_VERSION "\n";

static void runner_main_parse_options(struct options *options, int argc, char **argv)
{
	const struct option_spec specs[] = {
	    {"--config", OPTION_TEXT, &options->source.file, 0, 0},
	    {"--state", OPTION_TEXT, &options->source.state_dir, 0, 0},
	    {"--accepted", OPTION_TEXT, &options->source.accepted, 0, 0},
	    {"--drain", OPTION_NUMBER, &options->drain, 0, MAX_DRAIN},
	    {"--job", OPTION_NUMBER, &options->job, 1, LONG_MAX},
	    {"--help", OPTION_ANSWER, usage, 0, 0},
	    {"--version", OPTION_ANSWER, version_text, 0, 0},
	    OPTION_END,
	};
	options_take(PROGRAM, specs, argc, argv);
}

/* What one process waits for: signals, its last run, and the processes that it has started. */
struct watch {
	int signals;
	pid_t parent;
	struct runner *runner;
	struct retries *retries;       /* NULL with --job */
	struct webhook_sender *sender; /* NULL with --job, too, and where it could not start */
	struct pollfd *fds;
};

enum { WATCH_SIGNALS, WATCH_DONE, WATCH_FIXED };

/* Waits until something happens, for timeout_ms at most; the first two of fds say what did. */
static void watch_wait(struct watch *w, int64_t timeout_ms)
{
	size_t count = WATCH_FIXED;
	w->fds[WATCH_SIGNALS] = (struct pollfd){.fd = w->signals, .events = POLLIN};
	w->fds[WATCH_DONE] = (struct pollfd){.fd = runner_done(w->runner), .events = POLLIN};
	if (w->retries)
		count += retries_polled(w->retries, w->fds + WATCH_FIXED);
	if (poll(w->fds, count, timeout_ms < 0 ? 0 : (int)timeout_ms) < 0)
		w->fds[WATCH_SIGNALS].revents = w->fds[WATCH_DONE].revents = 0;
}

static bool watch_signalled(struct watch *w)
{
	struct signalfd_siginfo info;
	return w->fds[WATCH_SIGNALS].revents &&
	    read(w->signals, &info, sizeof(info)) == sizeof(info);
}

/* Takes up lost runs until it is time to end, or the one job is over. */
static void watch_run(struct watch *w)
{
	do {
		if (w->retries) {
			unsigned wanted = retries_look(w->retries);
			retries_start(w->retries, runner_reserve(w->runner, wanted));
		}
		watch_wait(w, LOOK_MS);
		rest_look();
	} while (!w->fds[WATCH_DONE].revents && !watch_signalled(w) && getppid() == w->parent);
}

/* Waits for the runs in hand.  True when all were over, or had gone back, within so many
 * milliseconds; a further SIGTERM ends the wait. */
static bool watch_drain(struct watch *w, int64_t ms)
{
	int64_t start = clock_monotonic_ms(), end = start + ms, left;
	bool over = false, hurried = false;
	while (!over && !hurried && (left = end - clock_monotonic_ms()) > 0) {
		watch_wait(w, left);
		hurried = watch_signalled(w) && clock_monotonic_ms() - start >= SAME_SIGNAL_MS;
		/* the end of each stays readable until it is reaped */
		unsigned retried = w->retries ? retries_reap(w->retries) : 0;
		over = w->fds[WATCH_DONE].revents && !retried;
		if (!over && w->fds[WATCH_DONE].revents)
			clock_sleep_ms(10); /* that descriptor stays readable, too */
	}
	return over;
}

static int runner_main_serve(
    struct service *service, const struct options *options, struct watch *watch, char **argv)
{
	unsigned slots = (unsigned)service->config->runs_background;
	struct error err = {0};
	watch->runner = options->job ? runner_new_alone(service, options->job, &err)
				     : runner_new(service, slots, &err);
	if (!watch->runner) {
		fprintf(stderr, PROGRAM ": %s\n", err.detail);
		return EXIT_FAILURE;
	}
	if (!options->job) {
		watch->retries = retries_new(service, slots, argv);
		watch->sender = webhook_sender_start(service, WEBHOOK_ANSWER_MS, &err);
		if (!watch->sender)
			log_error("webhooks are not sent: %s", err.detail);
		error_release(&err);
	}
	watch->fds = xcalloc(WATCH_FIXED + slots, sizeof(*watch->fds));
	watch_run(watch);
	runner_stop(watch->runner);
	if (watch->retries)
		retries_stop(watch->retries);
	if (!watch_drain(watch, options->drain * 1000)) {
		runner_yield(watch->runner);
		if (!watch_drain(watch, NODE_MS)) {
			runner_abandon(watch->runner);
			log_warning("ended with runs in hand, which go on later");
			process_end_all();
			_exit(EXIT_SUCCESS);
		}
	}
	webhook_sender_stop(watch->sender, clock_monotonic_ms() + DELIVERY_MS);
	if (watch->retries)
		retries_free(watch->retries);
	free(watch->fds);
	runner_free(watch->runner);
	service_close(service);
	return EXIT_SUCCESS;
}

/* Waits for the database; false when a signal, or the end of the parent, comes first. */
static bool runner_main_wait(struct service *service, const struct watch *watch)
{
	struct pollfd signals = {.fd = watch->signals, .events = POLLIN};
	while (!service_open_late(service))
		if (poll(&signals, 1, LATE_MS) != 0 || getppid() != watch->parent)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	struct options options = {.drain = 30};
	struct watch watch = {.parent = getppid()};
	memory_init();
	runner_main_parse_options(&options, argc, argv);
	static const int told[] = {
	    SIGTERM, 0}; /* a terminal's go to the parent, which tells this one */
	watch.signals = process_signals(told);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (watch.signals < 0 || getppid() != watch.parent)
		return EXIT_FAILURE;
	/* few threads at a time, most of whose memory is that of models' answers; no fast bins, as
	 * in the workers */
	mallopt(M_MXFAST, 0);
	memory_limit_arenas(4);
	struct problems problems = {0};
	struct service *service = service_open_early(&options.source, &problems);
	/* who started this process has shown the warnings */
	problems_print_errors(&problems, PROGRAM);
	problems_release(&problems);
	if (!service)
		return EXIT_FAILURE;
	if (runner_main_wait(service, &watch))
		return runner_main_serve(service, &options, &watch, argv);
	service_close(service);
	return EXIT_SUCCESS;
}
