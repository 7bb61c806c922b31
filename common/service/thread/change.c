/* SPDX-License-Identifier: ISC */
/* Writing a change of a thread, and what goes with a removed message. */
#include "service/thread/change.h"

#include "base/json/json.h"
#include "base/os/clock.h"
#include "graph/message/message.h"
#include "graph/state.h"
#include "service/thread/feed.h"
#include "service/thread/forget.h"
#include "service/thread/ident.h"

/* Most messages that are removed in one transaction, for which all other writers wait. */
#define REMOVE_PIECE 500

bool config_check(struct call *call, const cJSON *body)
{
	const cJSON *config = json_opt(body, "config");
	if (!config || cJSON_IsObject(config))
		return true;
	return error_wrong(&call->error, "body.config", "type_error", "must be an object");
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
	*change = (struct change){.call = call};
	if (!thread_id_check(call, "path.thread_id", thread_id) ||
	    !thread_take(call, thread_id, CLAIM_ENQUEUE, &change->lease, &change->thread))
		return false;
	if (!change->thread.row || call_owns(call, &change->thread))
		return true;
	change_end(change);
	return false;
}

void change_end(struct change *change)
{
	lease_drop(change->call->service->storage, &change->call->ctx, change->lease);
}

bool change_exists(struct change *change)
{
	return change->thread.row || thread_not_found(change->call);
}

void change_touch(struct change *change)
{
	struct thread *thread = &change->thread;
	thread->updated_at = clock_now();
	if (!thread->created_at)
		thread->created_at = thread->updated_at;
}

bool change_store(struct change *change, const struct new_message *messages, size_t count)
{
	struct call *call = change->call;
	struct thread_write write = {.thread = &change->thread,
	    .messages = messages,
	    .message_count = count,
	    .rewind = change->rewind,
	    .checkpoint = change->checkpoint,
	    .run = change->run};
	change_touch(change);
	return thread_write(
	    call->service->storage, &call->ctx, change->lease, &write, &call->error);
}

bool change_append(struct change *change, const cJSON *messages)
{
	struct arena *a = change->call->arena;
	size_t count = 0, size = (size_t)cJSON_GetArraySize(messages) + 1;
	struct new_message *stored = arena_alloc(a, size * sizeof(*stored));
	const cJSON *message;
	cJSON_ArrayForEach(message, messages)
		stored[count++] =
		    (struct new_message){message_id(message), arena_print(a, message)};
	return change_store(change, stored, count);
}

static bool change_removes(void *arg, const char *message_id)
{
	return json_has_str(arg, message_id);
}

/* Whether a pause, or a branch in it that waits, rests on a message that is gone. */
static bool change_rests_on(const cJSON *pause, message_gone_fn gone, void *arg)
{
	bool past = json_get(pause, "branch") && !json_get(pause, "interrupt");
	const char *asked = past ? NULL : pause_asked(pause);
	const char *waits = json_str(json_get(pause, "waiting"), "message_id");
	const cJSON *branch;
	if ((asked && gone(arg, asked)) || (waits && gone(arg, waits)))
		return true;
	cJSON_ArrayForEach(branch, json_get(json_get(pause, "region"), "branches"))
		if (change_rests_on(branch, gone, arg))
			return true;
	return false;
}

void thread_close_pause(struct thread *t)
{
	cJSON *pause = json_parse_own(t->pause_json);
	/* what branches have set will be applied by the next turn */
	if (!json_get(pause, "region"))
		t->pause_json = NULL;
	if (t->status == RUN_INTERRUPTED) {
		t->next = NULL;
		t->status = RUN_COMPLETED;
	}
	cJSON_Delete(pause);
}

void thread_close_gone(struct thread *t, message_gone_fn gone, void *arg)
{
	cJSON *waiting = json_parse_own(t->waiting_json), *pause = json_parse_own(t->pause_json);
	const char *id = json_str(waiting, "message_id");
	bool rests = change_rests_on(pause, gone, arg);
	if (rests || (id && gone(arg, id)))
		t->waiting_json = NULL;
	if (rests)
		thread_close_pause(t);
	cJSON_Delete(waiting);
	cJSON_Delete(pause);
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
	thread_close_gone(&change->thread, change_removes, (cJSON *)ids);
	change_touch(change);
	if (!forget_messages(change->call, change->thread.row, remove, count))
		return false;
	do {
		size_t piece = count < REMOVE_PIECE ? count : REMOVE_PIECE;
		count -= piece;
		struct thread_write write = {
		    .thread = &change->thread, .remove = remove + count, .remove_count = piece};
		if (!thread_write(
			storage, &change->call->ctx, change->lease, &write, &change->call->error))
			return false;
	} while (count);
	return true;
}

cJSON *change_state(struct change *change)
{
	struct call *call = change->call;
	const struct run_flags flags = {0};
	cJSON *context = feed_context(call, change->thread.row, NULL);
	return context ? state_json(call->service->graph, &change->thread, &flags, context) : NULL;
}
