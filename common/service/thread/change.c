/* SPDX-License-Identifier: ISC */
/* Lease, lookup and write of one change; what a removed message takes along. */
#include "service/thread/change.h"

#include "base/clock.h"
#include "base/json.h"
#include "graph/message.h"
#include "graph/state.h"
#include "service/thread/hole.h"
#include "service/thread/ident.h"

#include <string.h>

/* So many messages are removed in one transaction, for which everybody else waits. */
#define REMOVE_PIECE 500

struct lease *lease_take(struct call *call, const char *thread_id)
{
	struct storage *storage = call->service->storage;
	int64_t wait_ms = (int64_t)(call->service->config->run_wait_timeout * 1000);
	struct lease *lease =
	    storage->ops->lease_acquire(storage, thread_id, wait_ms, &call->error);
	if (!lease)
		error_set(
		    &call->error, ERR_THREAD_BUSY, "Thread %s is busy with another run", thread_id);
	return lease;
}

static bool thread_change_not_found(struct call *call)
{
	if (error_is_set(&call->error))
		return false;
	return error_set(&call->error, ERR_RESOURCE_NOT_FOUND, "Thread not found");
}

bool thread_find(struct call *call, const char *thread_id, struct thread *thread)
{
	struct storage *storage = call->service->storage;
	if (!thread_id_check(call, "path.thread_id", thread_id))
		return false;
	if (storage->ops->thread_get(storage, call->arena, thread_id, thread, &call->error))
		return call_owns(call, thread);
	return thread_change_not_found(call);
}

bool config_check(struct call *call, const cJSON *body)
{
	const cJSON *config = json_opt(body, "config");
	if (!config || cJSON_IsObject(config))
		return true;
	return error_field(
	    &call->error, ERR_VALIDATION, "body.config", "type_error", "config must be an object");
}

bool change_check(struct call *call, const char *thread_id, const cJSON *body)
{
	bool ok = thread_id_check(call, "path.thread_id", thread_id);
	return config_check(call, body) && ok;
}

bool thread_named(struct call *call, const cJSON *body, const char **thread_id)
{
	static const char where[] = "body.thread_id";
	bool ok = thread_id_read(call, where, json_opt(body, "thread_id"), thread_id) &&
	    thread_id_check(call, where, *thread_id);
	return config_check(call, body) && ok;
}

bool change_begin(struct change *change, struct call *call, const char *thread_id)
{
	struct storage *storage = call->service->storage;
	*change = (struct change){.call = call};
	if (!thread_id_check(call, "path.thread_id", thread_id))
		return false;
	change->lease = lease_take(call, thread_id);
	if (!change->lease)
		return false;
	if (storage->ops->thread_get(
		storage, call->arena, thread_id, &change->thread, &call->error))
		call_owns(call, &change->thread);
	else
		thread_blank(&change->thread, thread_id, call->user_id);
	if (!error_is_set(&call->error))
		return true;
	change_end(change);
	return false;
}

void change_end(struct change *change)
{
	change->call->service->storage->ops->lease_release(change->lease);
}

bool change_exists(struct change *change)
{
	return change->thread.row || thread_change_not_found(change->call);
}

const char *message_stored(struct call *call, const cJSON *message)
{
	char *text = json_print(message);
	arena_defer(call->arena, cJSON_free, text);
	return text;
}

void change_touch(struct change *change)
{
	struct thread *thread = &change->thread;
	thread->updated_at = clock_now();
	if (!thread->created_at)
		thread->created_at = thread->updated_at;
}

bool change_append(struct change *change, const cJSON *messages)
{
	struct call *call = change->call;
	struct storage *storage = call->service->storage;
	size_t size = (size_t)cJSON_GetArraySize(messages) + 1;
	struct new_message *stored = arena_alloc(call->arena, size * sizeof(*stored));
	struct thread_write write = {.thread = &change->thread, .messages = stored};
	const cJSON *message;
	cJSON_ArrayForEach(message, messages)
		stored[write.message_count++] =
		    (struct new_message){message_id(message), message_stored(call, message)};
	change_touch(change);
	return storage->ops->thread_write(storage, &write, &call->error);
}

static bool has_id(const cJSON *ids, const char *id)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, ids) {
		if (id && strcmp(item->valuestring, id) == 0)
			return true;
	}
	return false;
}

/* Whether what is stored of a pause or of waiting calls names one of the messages. */
static bool rests_on(const char *stored, const char *(*message_of)(const cJSON *), const cJSON *ids)
{
	if (!stored)
		return false;
	cJSON *tree = json_parse(stored, strlen(stored), JSON_TRUSTED_DEPTH, NULL);
	bool found = has_id(ids, message_of(tree));
	cJSON_Delete(tree);
	return found;
}

static const char *waiting_message(const cJSON *waiting)
{
	return json_str(waiting, "message_id");
}

static void close_pause(struct thread *t)
{
	t->pause_json = NULL;
	t->next = NULL;
	t->status = RUN_COMPLETED;
}

/* Closes what rested on the messages: remote calls that wait, and a pause that holds up calls;
 * without them there is nothing to resume. */
static void close_waiting(struct thread *t, const cJSON *ids)
{
	if (rests_on(t->waiting_json, waiting_message, ids))
		t->waiting_json = NULL;
	if (t->status == RUN_INTERRUPTED && rests_on(t->pause_json, pause_asked, ids))
		close_pause(t);
}

bool change_remove(struct change *change, const cJSON *ids)
{
	struct storage *storage = change->call->service->storage;
	size_t count = 0;
	const char **remove = arena_alloc(
	    change->call->arena, ((size_t)cJSON_GetArraySize(ids) + 1) * sizeof(*remove));
	const cJSON *id;
	cJSON_ArrayForEach(id, ids)
		remove[count++] = id->valuestring;
	close_waiting(&change->thread, ids);
	change_touch(change);
	do {
		size_t piece = count < REMOVE_PIECE ? count : REMOVE_PIECE;
		count -= piece;
		struct thread_write write = {
		    .thread = &change->thread, .remove = remove + count, .remove_count = piece};
		if (!storage->ops->thread_write(storage, &write, &change->call->error))
			return false;
	} while (count);
	return true;
}

cJSON *change_state(struct change *change)
{
	struct call *call = change->call;
	const struct run_flags flags = {0};
	cJSON *context = hole_context(call, change->thread.row);
	return context ? state_json(call->service->graph, &change->thread, &flags, context) : NULL;
}
