/* SPDX-License-Identifier: ISC */
/* Lease, lookup and write of one change; what a removed message takes along. */
#include "service/thread/change.h"

#include "base/json/json.h"
#include "base/log/log.h"
#include "base/os/clock.h"
#include "graph/message/message.h"
#include "graph/state.h"
#include "service/thread/feed.h"
#include "service/thread/forget.h"
#include "service/thread/ident.h"
#include "storage/runs.h"

#include <string.h>

#define ID_ATTEMPTS 5 /* doc/protocol.md#ids */

/* How long a stop waits for the record of a run that it finds in flight. */
#define STORED_MS 5000

/* How often to look whether a run goes on that its process has left. */
#define LEFT_LOOK_MS 50

/* So many messages are removed in one transaction, for which everybody else waits. */
#define REMOVE_PIECE 500

bool thread_refuse_busy(struct call *call, const char *thread_id)
{
	return error_set(
	    &call->error, ERR_THREAD_BUSY, "Thread %s is busy with another run", thread_id);
}

static int64_t thread_wait_ms(const struct call *call)
{
	return (int64_t)(call->service->config->run_wait_timeout * 1000);
}

struct lease *lease_take(struct call *call, const char *thread_id, enum lease_claim claim)
{
	struct storage *storage = call->service->storage;
	struct lease *lease = storage->threads->lease_acquire(
	    storage, &call->ctx, thread_id, claim, thread_wait_ms(call), &call->error);
	if (!lease && !error_is_set(&call->error))
		thread_refuse_busy(call, thread_id);
	return lease;
}

void lease_drop(struct storage *storage, const struct storage_context *ctx, struct lease *lease)
{
	struct error err = {0};
	if (!storage->threads->lease_release(storage, ctx, lease, &err))
		log_warning("a thread is not free at once: %s", error_why(&err));
	error_release(&err);
}

bool thread_is_left(struct call *call, const struct thread *thread)
{
	struct storage *storage = call->service->storage;
	struct run_record record;
	return thread->status == RUN_RUNNING &&
	    storage->runs->get(storage, &call->ctx, call->arena, thread->thread_id, thread->run_id,
		&record, &call->error) &&
	    record.job && record.status == RUN_RUNNING;
}

bool thread_take(struct call *call, const char *thread_id, enum lease_claim claim,
    struct lease **lease, struct thread *thread)
{
	struct storage *storage = call->service->storage;
	int64_t deadline = clock_monotonic_ms() + thread_wait_ms(call);
	for (;;) {
		*lease = lease_take(call, thread_id, claim);
		if (!*lease)
			return false;
		if (!storage->threads->lease_thread(
			storage, &call->ctx, call->arena, *lease, NULL, thread, &call->error))
			thread_blank(thread, thread_id, call->user_id);
		bool left = !error_is_set(&call->error) && thread_is_left(call, thread);
		if (left && !call->service->config->runs_background)
			left = left_end(call, *lease, thread) && thread_is_left(call, thread);
		if (!left && !error_is_set(&call->error))
			return true;
		lease_drop(storage, &call->ctx, *lease);
		*lease = NULL;
		if (!left)
			return false;
		if (claim == CLAIM_REJECT || clock_monotonic_ms() >= deadline)
			return thread_refuse_busy(call, thread_id);
		clock_sleep_ms(LEFT_LOOK_MS);
	}
}

bool thread_take_new(struct call *call, const char *wanted, enum lease_claim claim,
    struct lease **lease, struct thread *thread)
{
	struct storage *storage = call->service->storage;
	const char *owner = NULL;
	*lease = NULL;
	/* one that is there may be busy, and needs no waiting for */
	if (wanted &&
	    !storage->threads->owner(
		storage, &call->ctx, call->arena, wanted, &owner, &call->error))
		return false;
	if (!wanted && id_is_unheard(&call->service->ids)) {
		const char *id = id_make(&call->service->ids, arena_alloc(call->arena, UUID_SIZE));
		*lease = lease_take(call, id, CLAIM_UNHEARD);
		thread_blank(thread, id, call->user_id);
		return *lease;
	}
	for (int i = 0; !owner && i < (wanted ? 1 : ID_ATTEMPTS); i++) {
		const char *id = wanted;
		if (!id)
			id = id_make(&call->service->ids, arena_alloc(call->arena, UUID_SIZE));
		if (!thread_take(call, id, claim, lease, thread))
			return false;
		if (!thread->row)
			return true;
		lease_drop(storage, &call->ctx, *lease);
		*lease = NULL;
	}
	if (!wanted)
		return error_set(&call->error, ERR_INTERNAL, NULL);
	return error_set(&call->error, ERR_THREAD_EXISTS, "Thread %s exists already", wanted);
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
	if (storage->threads->get(
		storage, &call->ctx, call->arena, thread_id, thread, &call->error))
		return call_owns(call, thread);
	return thread_change_not_found(call);
}

/* A thread that is running, but that no run has, is looked at again: only when it has not changed,
 * its process died, else the run just ended. */
bool thread_look(
    struct call *call, const char *thread_id, struct thread *thread, struct run_flags *flags)
{
	struct storage *storage = call->service->storage;
	const char *seen = NULL, *run_id;
	*flags = (struct run_flags){0};
	for (;;) {
		if (!thread_find(call, thread_id, thread))
			return false;
		if (!storage->threads->lease_running(storage, &call->ctx, thread_id,
			&flags->running, &flags->stop_requested, &call->error))
			return false;
		if (flags->running || thread->status != RUN_RUNNING)
			return true;
		run_id = thread->run_id ? thread->run_id : "";
		if (seen && strcmp(seen, run_id) == 0)
			return true;
		seen = run_id;
	}
}

bool thread_stored(struct call *call, const char *thread_id, struct thread *thread)
{
	struct storage *storage = call->service->storage;
	bool running, stop;
	for (int waited = 0;; waited++) {
		if (storage->threads->get(
			storage, &call->ctx, call->arena, thread_id, thread, &call->error))
			return true;
		if (error_is_set(&call->error) || !call->permission.resource ||
		    !storage->threads->lease_running(
			storage, &call->ctx, thread_id, &running, &stop, &call->error) ||
		    !running)
			return false;
		if (waited >= STORED_MS)
			return error_set(&call->error, ERR_TRANSIENT_STORAGE, NULL);
		clock_sleep_ms(1);
	}
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
	return change->thread.row || thread_change_not_found(change->call);
}

const char *message_stored(struct call *call, const cJSON *message)
{
	return arena_print(call->arena, message);
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
	struct thread_write write = {.thread = &change->thread,
	    .messages = stored,
	    .rewind = change->rewind,
	    .checkpoint = change->checkpoint,
	    .run = change->run};
	const cJSON *message;
	cJSON_ArrayForEach(message, messages)
		stored[write.message_count++] =
		    (struct new_message){message_id(message), message_stored(call, message)};
	change_touch(change);
	return thread_write(storage, &call->ctx, change->lease, &write, &call->error);
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

void thread_close_gone(struct thread *t, message_gone_fn gone, void *arg)
{
	cJSON *waiting = json_parse_own(t->waiting_json), *pause = json_parse_own(t->pause_json);
	const char *id = json_str(waiting, "message_id");
	bool rests = change_rests_on(pause, gone, arg);
	if (rests || (id && gone(arg, id)))
		t->waiting_json = NULL;
	/* what branches have set enters with the next turn */
	if (rests && !json_get(pause, "region"))
		t->pause_json = NULL;
	if (rests && t->status == RUN_INTERRUPTED) {
		t->next = NULL;
		t->status = RUN_COMPLETED;
	}
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
