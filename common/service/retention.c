/* SPDX-License-Identifier: ISC */
/* The thread that deletes what nobody has touched for days. */
#include "service/retention.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "base/metrics/metrics.h"
#include "base/os/chore.h"
#include "base/os/clock.h"
#include "service/thread/threads.h"
#include "storage/files.h"
#include "storage/runs.h"

#include <stdlib.h>
#include <unistd.h>

#define DAY_US (86400 * INT64_C(1000000))
#define FIRST_MS 1000
#define PAUSE_MS 3600000
#define OFFICE_MS 5000 /* where another process does it: how long until this one asks again */
/* how long to wait for other instances that have the bytes of a file */
#define LOST_US (30 * DAY_US)
#define STEP 32        /* things looked up at a time */
#define CHUNKS_STEP 64 /* batches of kept chunks */
#define BETWEEN_MS 20  /* pause after each deletion, so that other writers come first */
#define SLOW_MS 1000   /* failures that take so long are not repeated for each thing, */
#define SLOW_MOST 2    /* but so many times in a row */

struct retention {
	struct chore thread;
	struct service *service;
	int office;
};

/* One kind of thing that can be deleted. */
struct retention_kind {
	const char *name;
	int64_t days;
	enum metric metric;
	bool (*list)(struct call *call, struct untouched *old);
	/* False when it was touched meanwhile, or with call->error set. */
	bool (*remove)(struct call *call, const char *id, int64_t before);
};

static bool retention_list_threads(struct call *call, struct untouched *old)
{
	struct storage *st = call->service->storage;
	return st->threads->untouched(st, &call->ctx, call->arena, old, &call->error);
}

static bool retention_list_files(struct call *call, struct untouched *old)
{
	return files_untouched(call->service->files, &call->ctx, call->arena, old, &call->error);
}

static bool retention_remove_file(struct call *call, const char *id, int64_t before)
{
	struct files *files = call->service->files;
	struct file_record record;
	if (!files_get(files, &call->ctx, call->arena, id, &record, &call->error) ||
	    record.touched_at >= before)
		return false;
	/* An instance that has the bytes needs the record to find them; but it may never come
	 * back. */
	if (call->service->storage->engine->can.instances &&
	    record.touched_at >= before - LOST_US && !files_here(files, &record))
		return false;
	return files_remove(files, &call->ctx, &record, &call->error);
}

/* Deletes what is old enough of one kind.  What is in use, or cannot be deleted now, is left for
 * the next time, and so is all the rest where it took long to find that of several in a row: a
 * bucket that is away would be asked for hours. */
static void retention_apply(struct retention *r, const struct retention_kind *kind)
{
	int64_t before = clock_now() - kind->days * DAY_US, gone = 0, kept = 0;
	bool go_on = kind->days > 0;
	int slow = 0;
	while (go_on) {
		struct call call;
		const char *ids[STEP];
		struct untouched old = {.before = before, .skip = kept, .ids = ids, .count = STEP};
		call_init(&call, r->service, NULL);
		if (!kind->list(&call, &old))
			old.count = 0;
		if (error_is_set(&call.error))
			log_warning("retention: %s: %s", kind->name, call.error.cause);
		error_release(&call.error);
		for (size_t i = 0; go_on && i < old.count; i++) {
			int64_t began = clock_monotonic_ms();
			if (kind->remove(&call, ids[i], before)) {
				gone++;
				metrics_count(kind->metric, 1);
			} else {
				kept++;
			}
			bool failed = error_is_set(&call.error);
			slow = failed && clock_monotonic_ms() - began >= SLOW_MS ? slow + 1 : 0;
			if (failed)
				log_warning("retention: %s %s: %s%s", kind->name, ids[i],
				    error_why(&call.error),
				    slow == SLOW_MOST ? "; the rest is left" : "");
			error_release(&call.error);
			go_on = chore_pause(&r->thread, BETWEEN_MS) && slow < SLOW_MOST;
		}
		go_on = go_on && old.count == STEP;
		call_release(&call);
	}
	if (gone)
		log_info("retention: %lld %s that nobody touched for %lld days are gone",
		    (long long)gone, kind->name, (long long)kind->days);
}

/* Kept chunks have a time of their own (runs.keep_chunks), after which nobody is shown them. */
static void retention_expire_chunks(struct retention *r)
{
	struct storage *st = r->service->storage;
	struct error err = {0};
	int64_t count;
	do {
		if (st->runs->chunks_expire(st, NULL, clock_now(), CHUNKS_STEP, &count, &err))
			continue;
		log_warning("retention: kept chunks: %s", error_why(&err));
		error_release(&err);
		return;
	} while (count > 0 && chore_pause(&r->thread, BETWEEN_MS));
}

static void *retention_run(void *arg)
{
	struct retention *r = arg;
	const struct config *config = r->service->config;
	const struct retention_kind threads = {.name = "threads",
	    .days = config->retention_threads_days,
	    .metric = METRIC_THREADS_RETIRED,
	    .list = retention_list_threads,
	    .remove = thread_retire};
	const struct retention_kind files = {.name = "files",
	    .days = config->retention_files_days,
	    .metric = METRIC_FILES_RETIRED,
	    .list = retention_list_files,
	    .remove = retention_remove_file};
	for (int64_t ms = FIRST_MS; chore_pause(&r->thread, ms);) {
		ms = OFFICE_MS;
		if (!chore_in_office(r->office))
			continue;
		ms = PAUSE_MS;
		retention_apply(r, &threads);
		retention_apply(r, &files);
		retention_expire_chunks(r);
	}
	return NULL;
}

struct retention *retention_new(struct service *service, struct error *err)
{
	const struct config *config = service->config;
	struct retention *r = xcalloc(1, sizeof(*r));
	r->service = service;
	r->office = chore_office(config->state_dir, "retention.lock", err);
	if (r->office >= 0 && chore_start(&r->thread, retention_run, r, err))
		return r;
	if (r->office >= 0)
		close(r->office);
	free(r);
	return NULL;
}

void retention_free(struct retention *r)
{
	if (!r)
		return;
	chore_stop(&r->thread);
	close(r->office);
	free(r);
}
