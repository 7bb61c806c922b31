/* SPDX-License-Identifier: ISC */
/* Records as clients see them, and finding runs that do not go on although their records say so. */
#include "service/run/records.h"

#include "base/json/json.h"
#include "base/os/clock.h"
#include "base/utf8.h"
#include "graph/message/message.h"
#include "graph/state.h"
#include "service/history/earlier.h"
#include "service/run/halt.h"
#include "service/run/run_input.h"
#include "service/run/turn.h"
#include "service/thread/change.h"
#include "service/thread/feed.h"
#include "service/thread/ident.h"
#include "service/thread/page.h"
#include "storage/runs.h"

#include <inttypes.h>
#include <string.h>

bool record_is_latest(const struct run_record *record, const struct thread *thread)
{
	return thread->run_id && strcmp(thread->run_id, record->run_id) == 0;
}

/*
 * Brings a record that says that the run goes on up to date: it does, has just ended, or was lost.
 * False with the error set, or when the record has gone meanwhile.
 *
 * A run writes how it ended before it gives up its thread.  So if its record, read after the thread
 * was seen to be free or another run's, still says RUN_RUNNING, its process has died.  A background
 * run is taken up again, or its record is ended.
 */
static bool record_settle(struct call *call, struct run_record *record)
{
	struct storage *storage = call->service->storage;
	struct thread thread;
	bool held, stop;
	if (record->status != RUN_RUNNING)
		return true;
	if (!storage->threads->lease_running(
		storage, &call->ctx, record->thread_id, &held, &stop, &call->error) ||
	    !call_record(call, record->thread_id, record->run_id, record))
		return false;
	if (record->status != RUN_RUNNING)
		return true;
	if (!call_thread(call, record->thread_id, &thread))
		return false;
	bool latest = record_is_latest(record, &thread);
	if (latest) {
		record->node = thread.node;
		record->step = thread.step;
	}
	if (record->job || (held && latest))
		return true;
	record->status = RUN_ERROR;
	record->finished_at = latest ? thread.updated_at : 0;
	if (latest)
		record->until = thread.view.last;
	return true;
}

bool record_now(
    struct call *call, const char *thread_id, const char *run_id, struct run_record *record)
{
	return call_record(call, thread_id, run_id, record) && record_settle(call, record);
}

/* ---- what a record says ---- */

void record_failure(const struct run_record *record, struct error *err)
{
	const char *text = record->error_json;
	int64_t status = 0;
	if (!text && record->job)
		error_set(err, ERR_RUN_LOST, "Run %s was lost %" PRId64 " times", record->run_id,
		    record->attempt);
	else if (!text)
		error_set(err, ERR_RUN_LOST, "Run %s was lost", record->run_id);
	if (!text)
		return;
	cJSON *stored = json_parse_own(text);
	error_set(err, error_kind_of(json_str(stored, "code")), "%s", json_str(stored, "message"));
	err->details = cJSON_DetachItemFromObjectCaseSensitive(stored, "details");
	json_integer(json_get(stored, "status"), &status);
	if (status != error_status(err->kind))
		err->status = (int)status;
	cJSON_Delete(stored);
}

static void record_add_time(cJSON *out, const char *name, int64_t time)
{
	char text[ISO_TIME_SIZE];
	json_add_str(out, name, time ? clock_iso(time, text) : NULL);
}

cJSON *record_view(struct call *call, const struct run_record *record)
{
	const struct run_usage *sum = &record->usage;
	const char *metadata = record->metadata_json;
	cJSON *out = cJSON_CreateObject();
	cJSON_AddStringToObject(out, "run_id", record->run_id);
	cJSON_AddStringToObject(out, "thread_id", record->thread_id);
	cJSON_AddStringToObject(out, "status", run_status_name(record->status));
	cJSON_AddBoolToObject(out, "background", record->job != 0);
	json_add_int(out, "attempt", record->job ? record->attempt : 1);
	json_add_int(out, "step", record->step);
	cJSON_AddStringToObject(out, "node", record->node);
	record_add_time(out, "created_at", record->created_at);
	record_add_time(out, "started_at", record->job ? record->started_at : record->created_at);
	record_add_time(out, "finished_at", record->finished_at);
	if (record->status == RUN_ERROR) {
		struct error err = {0};
		struct error_view view;
		record_failure(record, &err);
		call_view_of(call, &err, &view);
		cJSON *error = cJSON_AddObjectToObject(out, "error");
		cJSON_AddStringToObject(error, "code", view.code);
		cJSON_AddStringToObject(error, "message", view.detail);
		error_release(&err);
	} else {
		cJSON_AddNullToObject(out, "error");
	}
	cJSON_AddItemToObject(
	    out, "metadata", metadata ? cJSON_CreateRaw(metadata) : cJSON_CreateObject());
	cJSON *usage = cJSON_AddObjectToObject(out, "usage");
	json_add_int(usage, "prompt_tokens", sum->prompt);
	json_add_int(usage, "completion_tokens", sum->completion);
	json_add_int(usage, "reasoning_tokens", sum->reasoning);
	json_add_int(usage, "total_tokens", sum->total);
	if (record->webhook.url) {
		cJSON *webhook = cJSON_AddObjectToObject(out, "webhook");
		cJSON_AddStringToObject(webhook, "url", record->webhook.url);
		json_add_int(webhook, "attempts", record->webhook.attempts);
		if (record->webhook.last_status)
			json_add_int(webhook, "last_status", record->webhook.last_status);
		else
			cJSON_AddNullToObject(webhook, "last_status");
		record_add_time(webhook, "delivered_at", record->webhook.delivered_at);
	} else {
		cJSON_AddNullToObject(out, "webhook");
	}
	return out;
}

/* ---- one record ---- */

bool record_is_active(const struct run_record *record)
{
	return record->job && run_status_goes_on(record->status);
}

bool record_find(struct call *call, const char *thread_id, const char *run_id,
    struct thread *thread, struct run_record *record)
{
	if (!thread_find(call, thread_id, thread))
		return false;
	if (utf8_valid(run_id, strlen(run_id)) && record_now(call, thread_id, run_id, record))
		return true;
	return error_set(&call->error, ERR_RESOURCE_NOT_FOUND, "Run not found");
}

cJSON *record_read(struct call *call, const char *thread_id, const char *run_id)
{
	struct thread thread;
	struct run_record record;
	if (!record_find(call, thread_id, run_id, &thread, &record))
		return NULL;
	return arena_json(call->arena, record_view(call, &record));
}

cJSON *record_stop(struct call *call, const char *thread_id, const char *run_id, const cJSON *body)
{
	struct thread thread;
	struct run_record record;
	if (!change_check(call, thread_id, body) ||
	    !record_find(call, thread_id, run_id, &thread, &record))
		return NULL;
	if (run_status_goes_on(record.status) && !halt_one(call, thread_id, run_id, ORDER_STOP))
		return NULL;
	if (record_is_active(&record) && !record_find(call, thread_id, run_id, &thread, &record))
		return NULL;
	return arena_json(call->arena, record_view(call, &record));
}

bool record_refuse_active(struct call *call, const char *run_id)
{
	return error_set(&call->error, ERR_RUN_ACTIVE, "Run %s is still active", run_id);
}

cJSON *record_remove(
    struct call *call, const char *thread_id, const char *run_id, const cJSON *body)
{
	struct storage *storage = call->service->storage;
	struct thread thread;
	struct run_record record;
	if (!change_check(call, thread_id, body) ||
	    !record_find(call, thread_id, run_id, &thread, &record))
		return NULL;
	if (run_status_goes_on(record.status)) {
		record_refuse_active(call, run_id);
		return NULL;
	}
	if (!storage->runs->remove(storage, &call->ctx, &record, &call->error))
		return NULL;
	return call_done(call, "Run deleted successfully");
}

bool record_may_begin(struct call *call, const char *thread_id, const char *run_id)
{
	struct storage *storage = call->service->storage;
	struct run_record record;
	bool running, stop;
	if (!run_id)
		return true;
	if (!storage->threads->lease_running(
		storage, &call->ctx, thread_id, &running, &stop, &call->error))
		return false;
	/* most threads are free, and then no record has to be read */
	if (running && call_record(call, thread_id, run_id, &record) &&
	    record_settle(call, &record) && run_status_goes_on(record.status))
		return record_refuse_active(call, run_id);
	return !error_is_set(&call->error);
}

/* ---- results ---- */

static bool record_add_message(void *arg, const char *id, const char *body_json)
{
	(void)id;
	cJSON_AddItemToArray(arg, cJSON_CreateRaw(body_json));
	return true;
}

/* Keeps the latest user message, as raw text. */
static bool record_note_user(void *arg, const char *id, const char *body_json)
{
	cJSON **user = arg;
	cJSON *message = json_parse_own(body_json);
	(void)id;
	if (message_is(message, "user")) {
		cJSON_Delete(*user);
		*user = cJSON_CreateRaw(body_json);
	}
	cJSON_Delete(message);
	return true;
}

bool record_met_pause(const struct run_record *record)
{
	return record->status == RUN_INTERRUPTED && !record->started_at;
}

/* Whether a background run brought some of the answers that the thread waits for, and nothing has
 * run since (TURN_REPORT_WAITING). */
static bool record_met_calls(
    struct call *call, const struct run_record *record, const struct thread *thread)
{
	struct run_record asked;
	return record->job && record->status == RUN_COMPLETED &&
	    !record_is_latest(record, thread) && thread->waiting_json && thread->run_id &&
	    call_record(call, record->thread_id, thread->run_id, &asked) &&
	    asked.finished_at <= record->finished_at;
}

/* What invoke would have answered; NULL with the error set.  after is the thread as the run left
 * it; NULL: that is not known any more. */
static cJSON *record_answer(struct call *call, const struct run_record *record,
    const struct thread *thread, const struct thread *after, enum granularity g)
{
	struct storage *storage = call->service->storage;
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	/* the latest user message that the run was given, then those that it made */
	cJSON *messages = cJSON_AddArrayToObject(data, "messages"), *user = NULL, *state = NULL;
	bool ok = storage->runs->messages(
	    storage, &call->ctx, record, RUN_GIVEN, record_note_user, &user, &call->error);
	if (user)
		cJSON_AddItemToArray(messages, user);
	if (!after && record_met_calls(call, record, thread)) {
		after = thread;
		cJSON_AddItemToArray(messages, thread_waiting_message(thread));
	}
	if (!ok || error_is_set(&call->error) ||
	    !storage->runs->messages(
		storage, &call->ctx, record, RUN_MADE, record_add_message, messages, &call->error))
		return NULL;
	cJSON *meta = cJSON_AddObjectToObject(data, "meta");
	cJSON_AddBoolToObject(meta, "is_new_thread", record->new_thread);
	cJSON_AddStringToObject(meta, "thread_id", record->thread_id);
	cJSON_AddStringToObject(meta, "run_id", record->run_id);
	json_add_or_null(meta, "interrupt", after ? thread_interrupt(after) : NULL);
	if (after)
		thread_add_interrupts(after, meta);
	if (record->new_thread && *thread->thread_name)
		cJSON_AddStringToObject(meta, "thread_name", thread->thread_name);
	if (record_met_pause(record))
		cJSON_AddStringToObject(meta, "note", MESSAGES_NOT_KEPT);
	if (g == GRANULARITY_LOW)
		return data;
	if (after) {
		const struct run_flags flags = {0};
		cJSON *context = feed_context(call, after->row, &after->view);
		if (!context)
			return NULL;
		state = state_json(call->service->graph, after, &flags, context);
	}
	json_add_or_null(data, "state", state);
	json_refer_or_null(data, "context", json_get(state, "context"));
	if (g == GRANULARITY_FULL)
		json_refer_or_null(data, "summary", json_get(state, "context_summary"));
	return data;
}

cJSON *record_result(struct call *call, const char *thread_id, const char *run_id,
    const char *granularity, bool *active)
{
	struct thread thread;
	struct run_record record;
	struct checkpoint checkpoint;
	enum granularity g;
	*active = false;
	if (!granularity_read(call, "query.response_granularity", granularity, &g) ||
	    !record_find(call, thread_id, run_id, &thread, &record))
		return NULL;
	*active = run_status_goes_on(record.status);
	if (*active)
		return arena_json(call->arena, record_view(call, &record));
	if (record.status == RUN_ERROR) {
		record_failure(&record, &call->error);
		call->reported = true; /* it was reported when the run ended */
		return NULL;
	}
	/* the run may have ended between reading its thread and its record */
	if (!thread_find(call, thread_id, &thread))
		return NULL;
	const struct thread *after = record_is_latest(&record, &thread) ? &thread : NULL;
	if (!after && earlier_after_run(call, &thread, run_id, &checkpoint))
		after = &checkpoint.thread;
	if (!after && record_met_pause(&record) && thread.status == RUN_INTERRUPTED)
		after = &thread;
	return error_is_set(&call->error) ? NULL : record_answer(call, &record, &thread, after, g);
}

/* ---- lists ---- */

struct record_list {
	struct call *call;
	unsigned statuses; /* those that are shown */
	int64_t skip, left;
	cJSON *runs;
};

static bool records_add(void *arg, const struct run_record *stored)
{
	struct record_list *list = arg;
	struct run_record record = *stored;
	if (!record_settle(list->call, &record))
		return !error_is_set(&list->call->error);
	if (!(list->statuses & 1U << record.status) || list->skip-- > 0)
		return true;
	cJSON_AddItemToArray(list->runs, record_view(list->call, &record));
	return --list->left > 0;
}

/* Reads the query; mistakes in its form are in the error already. */
static bool records_read_query(
    struct call *call, const struct record_query *query, struct record_list *list)
{
	const struct list_query numbers = {.offset = query->offset, .limit = query->limit};
	struct page page;
	*list = (struct record_list){.call = call, .statuses = query->statuses};
	for (enum run_status s = RUN_RUNNING; !query->statuses && s <= RUN_QUEUED; s++)
		if (!query->status || strcmp(query->status, run_status_name(s)) == 0)
			list->statuses |= 1U << s;
	bool ok = list->statuses ||
	    error_wrong(&call->error, "query.status", "value_error",
		"must be one of queued, running, completed, interrupted, stopped, error");
	if (query->thread_id)
		ok = thread_id_check(call, "query.thread_id", query->thread_id) && ok;
	if (!page_read(call, &numbers, &page) || !ok)
		return false;
	list->skip = page.offset;
	list->left = page.limit;
	return true;
}

static cJSON *records_data(
    struct call *call, const char *thread_id, const char *owner, struct record_list *list)
{
	struct storage *storage = call->service->storage;
	/* a record that says RUN_RUNNING may turn out to be a failed one */
	bool failed = list->statuses & 1U << RUN_ERROR;
	const struct record_filter filter = {.owner = owner,
	    .thread_id = thread_id,
	    .statuses = list->statuses | (failed ? 1U << RUN_RUNNING : 0)};
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	list->runs = cJSON_AddArrayToObject(data, "runs");
	bool ok =
	    storage->runs->list(storage, &call->ctx, &filter, records_add, list, &call->error);
	return ok && !error_is_set(&call->error) ? data : NULL;
}

cJSON *records_list(struct call *call, const struct record_query *query)
{
	struct record_list list;
	if (!records_read_query(call, query, &list))
		return NULL;
	return records_data(call, query->thread_id, call->owner, &list);
}

cJSON *records_of_thread(struct call *call, const char *thread_id, const struct record_query *query)
{
	struct thread thread;
	struct record_list list;
	if (!records_read_query(call, query, &list) || !thread_find(call, thread_id, &thread))
		return NULL;
	return records_data(call, thread_id, NULL, &list);
}
