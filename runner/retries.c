/* SPDX-License-Identifier: ISC */
/* Finding lost runs, and starting and reaping the processes that take them up. */
#include "runner/runner.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "storage/runs.h"

#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long a run is left alone after its process failed: the first time, and at most.  Less than
 * the ten seconds within which a lost run is to be taken up. */
#define PAUSE_MS 2000
#define PAUSE_MOST_MS 8000

struct retry {
	int64_t row; /* of the run's job */
	pid_t pid;
	int pidfd; /* readable when it has ended */
};

/* A lost run whose process has failed.  That may have happened before it claimed the run, so the
 * storage does not know how often it was. */
struct pause {
	int64_t row;       /* of the run's job */
	int64_t ms, until; /* how long it is, and when it ends */
};

struct retries {
	struct service *service;
	char *const *argv;
	unsigned most; /* processes at a time */
	struct retry *running;
	unsigned count;
	int64_t *lost; /* rows that nobody has taken up yet, oldest first */
	size_t lost_count;
	struct pause *pauses; /* of runs that are lost or running */
	size_t pause_count;
};

struct retries *retries_new(struct service *service, unsigned most, char *const *argv)
{
	struct retries *t = xcalloc(1, sizeof(*t));
	t->service = service;
	t->argv = argv;
	t->most = most;
	t->running = xcalloc(most, sizeof(*t->running));
	t->lost = xcalloc(2 * (size_t)most, sizeof(*t->lost));
	t->pauses = xcalloc(4 * (size_t)most, sizeof(*t->pauses));
	return t;
}

static struct pause *retries_find_pause(struct retries *t, int64_t row)
{
	for (size_t i = 0; i < t->pause_count; i++)
		if (t->pauses[i].row == row)
			return &t->pauses[i];
	return NULL;
}

/* The next try comes after a pause, each twice as long as the one before. */
static void retries_add_pause(struct retries *t, int64_t row)
{
	struct pause *pause = retries_find_pause(t, row);
	if (!pause) {
		pause = &t->pauses[t->pause_count++];
		*pause = (struct pause){.row = row, .ms = PAUSE_MS / 2};
	}
	pause->ms = 2 * pause->ms < PAUSE_MOST_MS ? 2 * pause->ms : PAUSE_MOST_MS;
	pause->until = clock_monotonic_ms() + pause->ms;
}

unsigned retries_reap(struct retries *t)
{
	for (unsigned i = t->count; i-- > 0;) {
		struct retry *retry = &t->running[i];
		int status;
		if (waitpid(retry->pid, &status, WNOHANG) != retry->pid)
			continue;
		if (WIFSIGNALED(status))
			log_error(
			    "the process %ld of a run that was taken up again ended by signal %d (%s)",
			    (long)retry->pid, WTERMSIG(status), strsignal(WTERMSIG(status)));
		if (status)
			retries_add_pause(t, retry->row);
		close(retry->pidfd);
		*retry = t->running[--t->count];
	}
	return t->count;
}

static bool retries_has(const struct retries *t, int64_t row)
{
	for (unsigned i = 0; i < t->count; i++)
		if (t->running[i].row == row)
			return true;
	return false;
}

/* Drops the pauses of runs that need none any more: they are neither running nor among the
 * lost_count that are lost. */
static void retries_drop_pauses(struct retries *t, size_t lost_count)
{
	for (size_t i = t->pause_count; i-- > 0;) {
		bool needed = retries_has(t, t->pauses[i].row);
		for (size_t k = 0; !needed && k < lost_count; k++)
			needed = t->lost[k] == t->pauses[i].row;
		if (!needed)
			t->pauses[i] = t->pauses[--t->pause_count];
	}
}

unsigned retries_look(struct retries *t)
{
	struct storage *storage = t->service->storage;
	struct error err = {0};
	size_t count = 2 * (size_t)t->most; /* half of them may be started already */
	int64_t now = clock_monotonic_ms();
	retries_reap(t);
	t->lost_count = 0;
	if (!storage->runs->recover(
		storage, NULL, t->service->config->runs_max_attempts, t->lost, &count, &err)) {
		log_error("lost runs cannot be found: %s", error_why(&err));
		error_release(&err);
		count = 0;
	} else {
		retries_drop_pauses(t, count);
	}
	for (size_t i = 0; i < count; i++) {
		const struct pause *pause = retries_find_pause(t, t->lost[i]);
		if (!retries_has(t, t->lost[i]) && (!pause || now >= pause->until))
			t->lost[t->lost_count++] = t->lost[i];
	}
	return t->count + t->lost_count < t->most ? t->count + (unsigned)t->lost_count : t->most;
}

/* The program is the one that this process runs, whatever lies at its path by now. */
static bool retry_spawn(struct retries *t, int64_t row)
{
	struct retry *retry = &t->running[t->count];
	char number[24], **argv;
	size_t count = 0;
	while (t->argv[count])
		count++;
	argv = xcalloc(count + 3, sizeof(*argv));
	memcpy(argv, t->argv, count * sizeof(*argv));
	snprintf(number, sizeof(number), "%" PRId64, row);
	argv[count] = (char[]){"--job"};
	argv[count + 1] = number;
	int code = posix_spawn(&retry->pid, "/proc/self/exe", NULL, NULL, argv, environ);
	free(argv);
	if (code) {
		log_error("cannot start a process for a run: %s", strerror(code));
		return false;
	}
	retry->row = row;
	retry->pidfd = (int)syscall(SYS_pidfd_open, retry->pid, 0);
	t->count++;
	return true;
}

void retries_start(struct retries *t, unsigned busy)
{
	size_t started = 0;
	while (started < t->lost_count && t->count < t->most && busy + t->count < t->most &&
	    retry_spawn(t, t->lost[started]))
		started++;
	t->lost_count -= started;
	memmove(t->lost, t->lost + started, t->lost_count * sizeof(*t->lost));
}

size_t retries_polled(const struct retries *t, struct pollfd *fds)
{
	for (unsigned i = 0; i < t->count; i++)
		fds[i] = (struct pollfd){.fd = t->running[i].pidfd, .events = POLLIN};
	return t->count;
}

void retries_stop(struct retries *t)
{
	for (unsigned i = 0; i < t->count; i++)
		kill(t->running[i].pid, SIGTERM);
}

void retries_free(struct retries *t)
{
	for (unsigned i = 0; i < t->count; i++)
		close(t->running[i].pidfd);
	free(t->running);
	free(t->lost);
	free(t->pauses);
	free(t);
}
