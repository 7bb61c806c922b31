/* SPDX-License-Identifier: ISC */
/* Threads: list, read, remove, repair. */
#include "service/thread/threads.h"

#include "base/json/json.h"
#include "base/os/clock.h"
#include "base/utf8.h"
#include "graph/message/message.h"
#include "graph/state.h"
#include "service/thread/change.h"
#include "service/thread/ident.h"
#include "service/thread/page.h"
#include "service/trace/trace.h"

#include <stdlib.h>
#include <string.h>

/* A record as doc/protocol-threads.md#thread-records shows it, a new tree.  Earlier versions of the
 * commands took owners that are no UTF-8. */
static cJSON *threads_record(const struct thread *thread, enum run_status status)
{
	char time[ISO_TIME_SIZE], *owner = utf8_mend(thread->user_id);
	cJSON *out = cJSON_CreateObject();
	cJSON_AddStringToObject(out, "thread_id", thread->thread_id);
	cJSON_AddStringToObject(out, "thread_name", thread->thread_name);
	cJSON_AddStringToObject(out, "user_id", owner);
	json_add_raw(out, "metadata", thread->metadata_json);
	cJSON_AddStringToObject(out, "created_at", clock_iso(thread->created_at, time));
	cJSON_AddStringToObject(out, "updated_at", clock_iso(thread->updated_at, time));
	json_add_str(out, "run_id", thread->run_id);
	free(owner);
	cJSON_AddStringToObject(out, "status", run_status_name(status));
	return out;
}

/* ---- a list ---- */

/* A thread that is shown as failed may be stored as running. */
#define STORED_AS_FAILED (1U << RUN_ERROR | 1U << RUN_RUNNING)

struct thread_list {
	struct call *call;
	cJSON *threads;    /* NULL: they are only counted */
	unsigned statuses; /* bits that are asked for; 0: any */
	int64_t skip, left, count;
};

static bool threads_add_record(void *arg, const struct thread *thread)
{
	struct thread_list *list = arg;
	struct call *call = list->call;
	struct storage *storage = call->service->storage;
	struct thread now = *thread;
	struct run_flags flags;
	if (!storage->threads->lease_running(storage, &call->ctx, now.thread_id, &flags.running,
		&flags.stop_requested, &call->error))
		return false;
	/* it is brought up to date, and may have gone meanwhile */
	if (!flags.running && now.status == RUN_RUNNING &&
	    !thread_look(call, now.thread_id, &now, &flags)) {
		bool gone = call->error.kind == ERR_RESOURCE_NOT_FOUND;
		if (gone)
			error_release(&call->error);
		return gone;
	}
	enum run_status status = thread_status(&now, &flags);
	if ((list->statuses && !(list->statuses >> status & 1)) || list->skip-- > 0)
		return true;
	list->count++;
	if (list->threads)
		cJSON_AddItemToArray(list->threads, threads_record(&now, status));
	return --list->left > 0;
}

/* Walks through the threads that are asked for. */
static bool threads_walk(struct call *call, const struct thread_query *query, struct page *page,
    struct thread_list *list)
{
	struct storage *storage = call->service->storage;
	unsigned stored = list->statuses;
	if (stored >> RUN_ERROR & 1)
		stored |= STORED_AS_FAILED;
	const struct thread_filter filter = {
	    .statuses = stored, .labels = query->labels, .count = query->label_count};
	/* the stored status only says which threads may have the status that is asked for */
	if (list->statuses) {
		list->skip = page->offset;
		page->offset = 0;
		page->limit = INT64_MAX;
	}
	return storage->threads->list(storage, &call->ctx, call->owner, page, &filter,
		   threads_add_record, list, &call->error) &&
	    !error_is_set(&call->error);
}

cJSON *threads_list(struct call *call, const struct thread_query *query)
{
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	struct thread_list list = {
	    .call = call, .threads = cJSON_AddArrayToObject(data, "threads")};
	struct page page;
	for (enum run_status s = RUN_IDLE; query->status && s < RUN_QUEUED; s++)
		if (strcmp(query->status, run_status_name(s)) == 0)
			list.statuses = 1U << s;
	bool ok = !query->status || list.statuses ||
	    error_wrong(&call->error, "query.status", "value_error",
		"must be one of idle, running, interrupted, completed, error, stopped");
	if (!page_read(call, &query->page, &page) || !ok)
		return NULL;
	list.statuses |= query->statuses;
	list.left = page.limit;
	return threads_walk(call, query, &page, &list) ? data : NULL;
}

bool threads_count(struct call *call, const struct thread_query *query, int64_t *count)
{
	struct thread_list list = {.call = call, .statuses = query->statuses, .left = INT64_MAX};
	struct page all = {.limit = INT64_MAX};
	bool ok = threads_walk(call, query, &all, &list);
	*count = list.count;
	return ok;
}

cJSON *thread_read(struct call *call, const char *thread_id)
{
	struct thread thread;
	struct run_flags flags;
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	if (!thread_look(call, thread_id, &thread, &flags))
		return NULL;
	enum run_status status = thread_status(&thread, &flags);
	cJSON *shown = threads_record(&thread, status);
	cJSON_AddItemToObject(
	    shown, "thread", threads_record(&thread, status)); /* clients read both forms */
	cJSON_AddItemToObject(data, "thread_data", shown);
	return data;
}

static bool threads_delete_once(struct change *change)
{
	struct service *service = change->call->service;
	struct storage *storage = service->storage;
	if (!observe_forget(change->call, change->thread.thread_id))
		return false;
	access_evict(service->access, change->thread.thread_id);
	bool deleted = storage->threads->remove(
	    storage, &change->call->ctx, change->lease, change->thread.row, &change->call->error);
	access_evict(service->access, change->thread.thread_id);
	return deleted;
}

/* Deletes the thread; on a full disk, where deleting has to write as well, with the room of the
 * reserve. */
static bool threads_delete_thread(struct change *change)
{
	struct storage *storage = change->call->service->storage;
	struct error *err = &change->call->error;
	if (threads_delete_once(change))
		return true;
	if (err->kind != ERR_TRANSIENT_STORAGE || !storage->engine->can.reserve ||
	    !storage->engine->make_room(storage))
		return false;
	error_release(err);
	return threads_delete_once(change);
}

cJSON *thread_remove(struct call *call, const char *thread_id, const cJSON *body)
{
	struct change change;
	cJSON *data = NULL;
	if (!change_check(call, thread_id, body) || !change_begin(&change, call, thread_id))
		return NULL;
	if (change_exists(&change) && threads_delete_thread(&change)) {
		data = call_done(call, "Thread deleted successfully");
		cJSON_AddTrueToObject(data, "data");
	}
	change_end(&change);
	return data;
}

bool thread_retire(struct call *call, const char *thread_id, int64_t before)
{
	struct storage *storage = call->service->storage;
	struct change change = {.call = call};
	bool gone = false;
	change.lease = storage->threads->lease_acquire(
	    storage, &call->ctx, thread_id, CLAIM_REJECT, 0, &call->error);
	if (!change.lease)
		return false;
	if (call_thread(call, thread_id, &change.thread) && change.thread.updated_at < before)
		gone = threads_delete_thread(&change);
	change_end(&change);
	return gone;
}

/* ---- repair (doc/protocol-threads.md#repair) ---- */

static bool threads_add_message(void *arg, const char *id, const char *body_json)
{
	cJSON *message = json_parse_own(body_json);
	(void)id;
	if (message)
		cJSON_AddItemToArray(arg, message);
	return true;
}

static cJSON *threads_fix_thread(struct change *change)
{
	struct call *call = change->call;
	struct storage *storage = call->service->storage;
	const struct page all = {.limit = INT64_MAX};
	cJSON *messages = arena_json(call->arena, cJSON_CreateArray());
	if (!storage->threads->message_list(storage, &change->call->ctx, change->thread.row, NULL,
		&all, threads_add_message, messages, &call->error))
		return NULL;
	const char *text = messages->child ? "No messages with empty tool calls found"
					   : "No messages found in state";
	cJSON *removed = orphans_find(call->arena, messages);
	int count = cJSON_GetArraySize(removed);
	if (count && !change_remove(change, removed))
		return NULL;
	if (count)
		text = arena_printf(call->arena, "Successfully removed %d message(s)", count);
	cJSON *data = call_done(call, text);
	json_add_int(data, "removed_count", count);
	cJSON *state = change_state(change);
	cJSON_AddItemToObject(data, "state", state);
	return state ? data : NULL;
}

cJSON *thread_fix(struct call *call, const cJSON *body)
{
	const char *thread_id;
	struct change change;
	if (!thread_named(call, body, &thread_id) || !change_begin(&change, call, thread_id))
		return NULL;
	cJSON *data = change_exists(&change) ? threads_fix_thread(&change) : NULL;
	change_end(&change);
	return data;
}
