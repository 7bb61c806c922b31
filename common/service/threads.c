/* Threads: list, read, remove, repair. */
#include "service/threads.h"

#include "base/clock.h"
#include "base/json.h"
#include "graph/message.h"
#include "graph/state.h"
#include "service/change.h"
#include "service/ident.h"
#include "service/observe.h"
#include "service/page.h"

#include <string.h>

/* A record as WIRE 2.5 shows it, a new tree. */
static cJSON *record(const struct thread *thread)
{
	char time[ISO_TIME_SIZE];
	cJSON *out = cJSON_CreateObject();
	cJSON_AddStringToObject(out, "thread_id", thread->thread_id);
	cJSON_AddStringToObject(out, "thread_name", thread->thread_name);
	cJSON_AddStringToObject(out, "user_id", thread->user_id);
	json_add_raw(out, "metadata", thread->metadata_json);
	cJSON_AddStringToObject(out, "created_at", clock_iso(thread->created_at, time));
	cJSON_AddStringToObject(out, "updated_at", clock_iso(thread->updated_at, time));
	json_add_str(out, "run_id", thread->run_id);
	return out;
}

static bool add_record(void *arg, const struct thread *thread)
{
	cJSON_AddItemToArray(arg, record(thread));
	return true;
}

cJSON *threads_list(struct call *call, const struct list_query *query)
{
	struct storage *storage = call->service->storage;
	struct page page;
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	if (!page_read(call, query, &page))
		return NULL;
	cJSON *threads = cJSON_AddArrayToObject(data, "threads");
	if (!storage->ops->thread_list(
		storage, call->owner, &page, add_record, threads, &call->error))
		return NULL;
	return data;
}

cJSON *thread_read(struct call *call, const char *thread_id)
{
	struct thread thread;
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	if (!thread_find(call, thread_id, &thread))
		return NULL;
	cJSON *shown = record(&thread);
	cJSON_AddItemToObject(shown, "thread", record(&thread)); /* both forms are read */
	cJSON_AddItemToObject(data, "thread_data", shown);
	return data;
}

static bool delete_thread(struct change *change)
{
	struct service *service = change->call->service;
	struct storage *storage = service->storage;
	if (!observe_forget(change->call, change->thread.thread_id))
		return false;
	access_evict(service->access, change->thread.thread_id);
	bool deleted =
	    storage->ops->thread_delete(storage, change->thread.row, &change->call->error);
	access_evict(service->access, change->thread.thread_id);
	return deleted;
}

cJSON *thread_remove(struct call *call, const char *thread_id, const cJSON *body)
{
	struct change change;
	cJSON *data = NULL;
	if (!config_check(call, body) || !change_begin(&change, call, thread_id))
		return NULL;
	if (change_exists(&change) && delete_thread(&change)) {
		data = arena_json(call->arena, cJSON_CreateObject());
		cJSON_AddTrueToObject(data, "success");
		cJSON_AddStringToObject(data, "message", "Thread deleted successfully");
		cJSON_AddTrueToObject(data, "data");
	}
	change_end(&change);
	return data;
}

/* ---- repair (WIRE 4.5) ---- */

static bool add_message(void *arg, const char *id, const char *body_json)
{
	cJSON *message = json_parse(body_json, strlen(body_json), JSON_TRUSTED_DEPTH, NULL);
	(void)id;
	if (message)
		cJSON_AddItemToArray(arg, message);
	return true;
}

/* Whether a tool_result for call_id stands in a message after this one. */
static bool answered_later(const cJSON *message, const char *call_id)
{
	const cJSON *block;
	for (const cJSON *later = message->next; later; later = later->next) {
		cJSON_ArrayForEach(block, json_get(later, "content")) {
			const char *id = json_str(block, "call_id");
			if (id && strcmp(id, call_id) == 0)
				return true;
		}
	}
	return false;
}

/* Every call id of a message, from its blocks and from tools_calls. */
static cJSON *call_ids(const cJSON *message)
{
	cJSON *ids = cJSON_CreateArray();
	const cJSON *item;
	cJSON_ArrayForEach(item, json_get(message, "content")) {
		if (block_is_call(item))
			cJSON_AddItemToArray(ids, cJSON_CreateString(json_str(item, "id")));
	}
	cJSON_ArrayForEach(item, json_get(message, "tools_calls"))
		cJSON_AddItemToArray(ids, cJSON_CreateString(json_str(item, "id")));
	return ids;
}

static bool is_orphan(const cJSON *message)
{
	bool orphan = false;
	cJSON *ids = call_ids(message);
	const cJSON *id;
	cJSON_ArrayForEach(id, ids)
		orphan = orphan || !answered_later(message, id->valuestring);
	cJSON_Delete(ids);
	return orphan;
}

static bool answers_one(const cJSON *message, const cJSON *ids)
{
	const cJSON *block, *id;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		const char *answered = json_str(block, "call_id");
		cJSON_ArrayForEach(id, ids) {
			if (answered && strcmp(answered, id->valuestring) == 0)
				return true;
		}
	}
	return false;
}

/* Takes the message out of messages; its id goes to removed. */
static void take_out(cJSON *messages, cJSON *message, cJSON *removed)
{
	cJSON_AddItemToArray(removed, cJSON_CreateString(message_id(message)));
	cJSON_Delete(cJSON_DetachItemViaPointer(messages, message));
}

/* The tool messages that answered the other calls of a message that goes. */
static void take_answers(cJSON *messages, cJSON *orphan, cJSON *removed)
{
	cJSON *ids = call_ids(orphan), *next;
	for (cJSON *later = orphan->next; later; later = next) {
		next = later->next;
		if (message_is(later, "tool") && answers_one(later, ids))
			take_out(messages, later, removed);
	}
	cJSON_Delete(ids);
}

/* Takes out every message with a call that has no result; false when there is none. */
static bool take_orphans(cJSON *messages, cJSON *removed)
{
	bool found = false;
	cJSON *next;
	for (cJSON *message = messages->child; message; message = next) {
		bool goes = message_is(message, "assistant") && is_orphan(message);
		if (goes)
			take_answers(messages, message, removed);
		next = message->next;
		if (goes)
			take_out(messages, message, removed);
		found = found || goes;
	}
	return found;
}

/* Ids of the messages that fix removes, an array of strings.  An answer that goes may have been
 * one to a second message, too, so it takes as many rounds as it takes. */
static cJSON *find_orphans(cJSON *messages)
{
	cJSON *removed = cJSON_CreateArray();
	while (take_orphans(messages, removed))
		continue;
	return removed;
}

static cJSON *fix_data(struct change *change, int removed, bool empty)
{
	struct call *call = change->call;
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	const char *text =
	    empty ? "No messages found in state" : "No messages with empty tool calls found";
	if (removed)
		text = arena_printf(call->arena, "Successfully removed %d message(s)", removed);
	cJSON_AddTrueToObject(data, "success");
	cJSON_AddStringToObject(data, "message", text);
	json_add_int(data, "removed_count", removed);
	cJSON *state = change_state(change);
	cJSON_AddItemToObject(data, "state", state);
	return state ? data : NULL;
}

static cJSON *fix_thread(struct change *change)
{
	struct call *call = change->call;
	struct storage *storage = call->service->storage;
	const struct page all = {.limit = INT64_MAX};
	cJSON *messages = arena_json(call->arena, cJSON_CreateArray());
	if (!storage->ops->message_list(
		storage, change->thread.row, &all, add_message, messages, &call->error))
		return NULL;
	bool empty = !messages->child;
	cJSON *removed = arena_json(call->arena, find_orphans(messages));
	if (removed->child && !change_remove(change, removed))
		return NULL;
	return fix_data(change, cJSON_GetArraySize(removed), empty);
}

cJSON *thread_fix(struct call *call, const cJSON *body)
{
	const char *thread_id;
	struct change change;
	if (!thread_id_read(call, "body.thread_id", json_opt(body, "thread_id"), &thread_id) ||
	    !thread_id_check(call, "body.thread_id", thread_id) || !config_check(call, body) ||
	    !change_begin(&change, call, thread_id))
		return NULL;
	cJSON *data = change_exists(&change) ? fix_thread(&change) : NULL;
	change_end(&change);
	return data;
}
