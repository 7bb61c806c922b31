/* SPDX-License-Identifier: ISC */
/*
 * Exporting a thread with all its history.
 *
 * The thread is read in parts, each with a query of its own, and may go on meanwhile: first its
 * row, then what has the places that existed at that time, then checkpoints and records that lie
 * within these.  So what is trimmed or removed meanwhile is missing, but nothing refers to what
 * came later.
 */
#include "base/json/json.h"
#include "base/memory.h"
#include "graph/state.h"
#include "service/history/earlier.h"
#include "service/history/history.h"
#include "service/history/lines.h"
#include "service/run/records.h"
#include "service/thread/change.h"

#include <stdlib.h>

#define PART_SIZE (256 << 10)
#define KEEP_SIZE 65536 /* a buffer that grew over this is not kept between two parts */

struct export
{
	struct call *call;
	struct thread thread; /* as the first line has it */
	bool running;
	struct buf *part;
	feed_fn send;
	void *arg;
	struct seal seal;
	int64_t lines;
	int64_t after;           /* the place that was read last */
	int64_t *numbers;        /* numbers of checkpoints, newest first */
	struct run_record *runs; /* the newest first */
	size_t count;
	struct arena *texts; /* of runs */
};

static void export_put(struct export *e, const struct history_part *part)
{
	size_t from = e->part->len;
	lines_put_part(e->part, part);
	seal_add(&e->seal, e->part->data + from, e->part->len - from);
	e->lines++;
}

/* Sends a part, if it is full; called between two queries.  False when nobody reads any more. */
static bool export_send(struct export *e)
{
	if (e->part->len < PART_SIZE)
		return true;
	if (!e->send(e->arg, e->part))
		return false;
	if (e->part->size > KEEP_SIZE)
		buf_release(e->part);
	buf_reset(e->part);
	return true;
}

/* ---- places ---- */

static bool export_add_place(void *arg, const struct history_part *part)
{
	struct export *e = arg;
	export_put(e, part);
	e->after = part->place;
	return e->part->len < PART_SIZE;
}

static bool export_places(struct export *e)
{
	struct storage *storage = e->call->service->storage;
	int64_t before = -1, last = e->thread.view.last;
	/* until a query finds nothing */
	while (e->after != before && e->after < last) {
		before = e->after;
		if (!storage->history->places(storage, &e->call->ctx, e->thread.row, e->after, last,
			export_add_place, e, &e->call->error) ||
		    !export_send(e))
			return false;
	}
	return true;
}

/* ---- checkpoints ---- */

static bool export_note_checkpoint(void *arg, const struct checkpoint *checkpoint)
{
	struct export *e = arg;
	const struct thread_view *view = &checkpoint->thread.view;
	if (view->until > e->thread.view.last || view->after > e->thread.view.last)
		return true; /* the checkpoint came later */
	e->numbers = xgrow(e->numbers, e->count, sizeof(*e->numbers));
	e->numbers[e->count++] = checkpoint->number;
	return true;
}

static bool export_checkpoints(struct export *e)
{
	struct storage *storage = e->call->service->storage;
	const struct checkpoint_filter all = {.limit = INT64_MAX};
	bool ok = storage->history->list(
	    storage, &e->call->ctx, &e->thread, &all, export_note_checkpoint, e, &e->call->error);
	for (size_t i = e->count; ok && i-- > 0;) {
		struct arena *texts = arena_new();
		struct checkpoint checkpoint;
		if (storage->history->get(storage, &e->call->ctx, texts, &e->thread, e->numbers[i],
			&checkpoint, &e->call->error))
			export_put(e,
			    &(struct history_part){
				.kind = HISTORY_CHECKPOINT, .checkpoint = &checkpoint});
		arena_free(texts);
		ok = !error_is_set(&e->call->error) && export_send(e);
	}
	return ok;
}

/* ---- runs ---- */

/* The record's error_json, beside the other texts of runs, with what the caller may know. */
static const char *export_failure(struct export *e, const struct run_record *record)
{
	struct error failure = {0};
	struct error_view view;
	if (!record->error_json)
		return NULL;
	cJSON *told = json_parse_own(record->error_json);
	record_failure(record, &failure);
	call_view_of(e->call, &failure, &view);
	json_set(told, "message", cJSON_CreateString(view.detail));
	if (!view.details)
		cJSON_DeleteItemFromObjectCaseSensitive(told, "details");
	const char *text = arena_print(e->texts, told);
	cJSON_Delete(told);
	error_release(&failure);
	return text;
}

/* Notes a record.  A run that goes on is exported as if it ended where the thread stands. */
static bool export_note_run(void *arg, const struct run_record *record)
{
	struct export *e = arg;
	int64_t last = e->thread.view.last;
	struct run_record *r;
	if (record->status == RUN_QUEUED || record->after > last)
		return true;
	e->runs = xgrow(e->runs, e->count, sizeof(*e->runs));
	r = &e->runs[e->count++];
	*r = *record;
	r->run_id = arena_strdup(e->texts, r->run_id);
	r->node = arena_strdup(e->texts, r->node);
	r->error_json = export_failure(e, record);
	if (r->status == RUN_RUNNING)
		r->status = e->running ? RUN_STOPPED : RUN_ERROR;
	if (r->until > last)
		r->until = last;
	return true;
}

static bool export_runs(struct export *e)
{
	struct storage *storage = e->call->service->storage;
	const struct record_filter all = {.thread_id = e->thread.thread_id, .statuses = ~0U};
	e->count = 0;
	bool ok =
	    storage->runs->list(storage, &e->call->ctx, &all, export_note_run, e, &e->call->error);
	for (size_t i = e->count; ok && i-- > 0; ok = export_send(e))
		export_put(e, &(struct history_part){.kind = HISTORY_RUN, .run = &e->runs[i]});
	return ok;
}

static bool export_begin(struct export *e, const char *thread_id)
{
	struct call *call = e->call;
	struct storage *storage = call->service->storage;
	struct history_origin origin;
	struct run_flags flags;
	if (!thread_look(call, thread_id, &e->thread, &flags) ||
	    !storage->history->origin(storage, &call->ctx, e->thread.row, &origin, &call->error) ||
	    !earlier_ready(call, &e->thread, flags.running))
		return false;
	e->running = flags.running;
	size_t from = e->part->len;
	lines_put_thread(e->part, &e->thread, &origin);
	seal_add_first(&e->seal, e->part->data + from, e->part->len - from);
	e->lines++;
	return true;
}

bool history_export(
    struct call *call, const char *thread_id, struct buf *part, feed_fn send, void *arg)
{
	struct export e = {
	    .call = call, .part = part, .send = send, .arg = arg, .texts = arena_new()};
	char seal[SEAL_SIZE];
	bool ok = seal_begin(&e.seal, call->service->config->state_dir, &call->error) &&
	    export_begin(&e, thread_id) && export_places(&e) && export_checkpoints(&e) &&
	    export_runs(&e);
	if (ok)
		lines_put_end(part, e.lines, seal_end(&e.seal, seal));
	seal_release(&e.seal);
	free(e.numbers);
	free(e.runs);
	arena_free(e.texts);
	return ok;
}
