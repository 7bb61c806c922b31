/* SPDX-License-Identifier: ISC */
/*
 * How many transactions the storage engine carries, and how long each takes.
 *
 *     storage [-p PROCESSES] [-t THREADS] [-s SECONDS] [-d DIRECTORY]
 * [create|defer|append|read|lease]...
 *
 * create: a new thread with two messages a transaction; defer: the same, the first message
 * deferred; append: two messages to the worker's own thread; read: one thread with its state;
 * lease: acquire and release, without contention.  Each is measured with one worker first, and the
 * ratio is that of the many to the one.
 */
#include "base/id.h"
#include "base/os/clock.h"
#include "config/config.h"
#include "storage/defer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SUB 32
#define SLOTS (40 * SUB)

/* Shared by all workers. */
struct tally {
	atomic_ulong slots[SLOTS]; /* a histogram of nanoseconds, SUB slots an octave */
	atomic_ulong failures;
	atomic_int ready;
	atomic_bool go, stop;
};

struct worker {
	struct storage *st;
	struct tally *tally;
	struct thread thread;
	char thread_id[UUID_SIZE];
	bool (*once)(struct worker *w, struct error *err);
};

static const char *body =
    "{\"message_id\":\"0198f5b2-7c11-7aa0-8000-6d2a5b3c9e01\",\"role\":\"assistant\","
    "\"content\":[{\"type\":\"text\",\"text\":\"echo: hello there, how are you?\","
    "\"annotations\":[]}],\"delta\":false,\"tools_calls\":null,\"reasoning\":null,"
    "\"timestamp\":1788256800.12,\"metadata\":{\"model\":\"demo\"},\"usages\":null,"
    "\"raw\":null,\"parsed_content\":null}";

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static size_t slot_of(int64_t ns)
{
	int octave = 0;
	while (ns >= 2 * SUB) {
		ns >>= 1;
		octave++;
	}
	return (size_t)octave * SUB + (size_t)ns;
}

static double slot_ms(size_t slot)
{
	size_t octave = slot < 2 * SUB ? 0 : slot / SUB - 1;
	return (double)((slot - octave * SUB) << octave) / 1e6;
}

static double quantile(const struct tally *t, double q, unsigned long total)
{
	unsigned long seen = 0;
	for (size_t i = 0; i < SLOTS; i++) {
		seen += t->slots[i];
		if ((double)seen >= q * (double)total)
			return slot_ms(i);
	}
	return 0;
}

static void new_thread(struct worker *w)
{
	w->thread = (struct thread){
	    .thread_id = uuid7(w->thread_id),
	    .thread_name = "",
	    .user_id = "anonymous",
	    .metadata_json = "{}",
	    .run_id = w->thread_id,
	    .status = RUN_COMPLETED,
	    .node = "END",
	    .step = 1,
	    .fields_json = "{\"notes\":[]}",
	    .created_at = clock_now(),
	};
}

static bool write_under(struct worker *w, bool defer, const struct lease *lease, struct error *err)
{
	char ids[2][UUID_SIZE];
	struct new_message m[2] = {{uuid7(ids[0]), body}, {uuid7(ids[1]), body}};
	struct thread first = w->thread;
	struct thread_write before = {.thread = &first, .messages = m, .message_count = 1};
	struct thread_write after = {.thread = &w->thread, .messages = m, .message_count = 2};
	struct deferred *pending;
	w->thread.updated_at = clock_now();
	if (!defer)
		return thread_write(w->st, NULL, lease, &after, err);
	thread_defer(w->st, lease, &before, &pending);
	after.messages++;
	after.message_count = 1;
	return thread_write_after(w->st, NULL, lease, &pending, &after, err);
}

static bool write_two(struct worker *w, bool defer, struct error *err)
{
	struct lease *lease =
	    w->st->threads->lease_acquire(w->st, NULL, w->thread_id, CLAIM_ENQUEUE, 0, err);
	bool ok = lease && write_under(w, defer, lease, err);
	return lease && w->st->threads->lease_release(w->st, NULL, lease, err) && ok;
}

static bool create(struct worker *w, struct error *err)
{
	new_thread(w);
	return write_two(w, false, err);
}

static bool defer(struct worker *w, struct error *err)
{
	new_thread(w);
	return write_two(w, true, err);
}

static bool append(struct worker *w, struct error *err)
{
	if (!w->thread.row)
		new_thread(w);
	return write_two(w, false, err);
}

static bool read_one(struct worker *w, struct error *err)
{
	struct arena *a = arena_new();
	struct thread t;
	bool ok;
	if (!w->thread.row && !create(w, err))
		return false;
	ok = w->st->threads->get(w->st, NULL, a, w->thread_id, &t, err);
	arena_free(a);
	return ok;
}

static bool lease(struct worker *w, struct error *err)
{
	struct lease *l;
	if (!w->thread.thread_id)
		new_thread(w);
	l = w->st->threads->lease_acquire(w->st, NULL, w->thread_id, CLAIM_ENQUEUE, 0, err);
	return l && w->st->threads->lease_release(w->st, NULL, l, err);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct error err = {0};
	int64_t start;
	atomic_fetch_add(&w->tally->ready, 1);
	while (!w->tally->go)
		clock_sleep_ms(1);
	while (!w->tally->stop) {
		start = now_ns();
		if (!w->once(w, &err)) {
			if (atomic_fetch_add(&w->tally->failures, 1) == 0)
				fprintf(stderr, "failed: %s (%s)\n", err.detail, err.cause);
			error_release(&err);
		}
		atomic_fetch_add_explicit(
		    &w->tally->slots[slot_of(now_ns() - start)], 1, memory_order_relaxed);
	}
	return NULL;
}

static void run_process(char *dir, int threads, const struct worker *model)
{
	struct config config = {.state_dir = dir};
	struct error err = {0};
	struct shared *shared = shared_make(dir, &err);
	struct storage *st = shared ? storage_open(&config, shared, &err) : NULL;
	struct worker *workers = calloc((size_t)threads, sizeof(*workers));
	pthread_t *ids = calloc((size_t)threads, sizeof(*ids));
	if (!st) {
		fprintf(stderr, "storage: %s\n", err.detail);
		_exit(1);
	}
	for (int i = 0; i < threads; i++) {
		workers[i] = *model;
		workers[i].st = st;
		pthread_create(&ids[i], NULL, work, &workers[i]);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	storage_close(st);
	shared_close(shared);
	_exit(0);
}

static struct tally *new_tally(void)
{
	return mmap(
	    NULL, sizeof(struct tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static double report(const struct tally *t, int processes, int threads, double seconds, double base)
{
	unsigned long total = 0;
	double rate;
	for (size_t i = 0; i < SLOTS; i++)
		total += t->slots[i];
	rate = (double)total / seconds;
	printf("%2d x %3d %10.0f/s   x%-6.2f p50 %8.3f  p99 %8.3f  p99.9 %8.3f ms", processes,
	    threads, rate, base > 0 ? rate / base : 1, quantile(t, 0.5, total),
	    quantile(t, 0.99, total), quantile(t, 0.999, total));
	printf(t->failures ? "  %lu failed\n" : "\n", t->failures);
	fflush(stdout);
	return rate;
}

struct shape {
	int processes, threads;
	double seconds;
	char *dir;
};

static double measure(const struct shape *s, struct worker *model, double base)
{
	struct tally *t = new_tally();
	int64_t start;
	double rate;
	model->tally = t;
	for (int i = 0; i < s->processes; i++) {
		if (fork() == 0)
			run_process(s->dir, s->threads, model);
	}
	while (t->ready < s->processes * s->threads)
		clock_sleep_ms(1);
	start = now_ns();
	t->go = true;
	clock_sleep_ms((int64_t)(s->seconds * 1000));
	t->stop = true;
	rate = report(t, s->processes, s->threads, (double)(now_ns() - start) / 1e9, base);
	while (wait(NULL) > 0)
		;
	munmap(t, sizeof(*t));
	return rate;
}

static const struct job {
	const char *name;
	bool (*once)(struct worker *w, struct error *err);
} jobs[] = {
    {"create", create}, {"defer", defer}, {"append", append}, {"read", read_one}, {"lease", lease}};

static void run_job(const struct job *job, const struct shape *many)
{
	struct shape one = {1, 1, many->seconds, many->dir};
	struct worker model = {.once = job->once};
	double base;
	printf("%s\n", job->name);
	base = measure(&one, &model, 0);
	if (many->processes > 1 || many->threads > 1)
		measure(many, &model, base);
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/agentgraph-bench-XXXXXX", command[64];
	struct shape s = {4, 16, 3, NULL};
	bool any = false;
	int opt;
	while ((opt = getopt(argc, argv, "p:t:s:d:")) != -1) {
		if (opt == 'p')
			s.processes = atoi(optarg);
		else if (opt == 't')
			s.threads = atoi(optarg);
		else if (opt == 's')
			s.seconds = atof(optarg);
		else if (opt == 'd')
			s.dir = optarg;
		else
			return 2;
	}
	if (!s.dir && !(s.dir = mkdtemp(dir)))
		return 1;
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		any = optind == argc;
		for (int k = optind; k < argc; k++)
			any = any || strcmp(argv[k], jobs[i].name) == 0;
		if (any)
			run_job(&jobs[i], &s);
	}
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return s.dir == dir ? system(command) : 0;
}
