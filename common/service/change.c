#include "service/change.h"

#include "base/clock.h"
#include "base/json.h"
#include "graph/message.h"
#include "graph/state.h"
#include "service/ident.h"

#include <string.h>

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

static bool not_found(struct call *call)
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
		return true;
	return not_found(call);
}

bool config_check(struct call *call, const cJSON *body)
{
	const cJSON *config = json_opt(body, "config");
	if (!config || cJSON_IsObject(config))
		return true;
	return error_field(
	    &call->error, ERR_VALIDATION, "body.config", "type_error", "config must be an object");
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
	if (!storage->ops->thread_get(
		storage, call->arena, thread_id, &change->thread, &call->error))
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
	return change->thread.row || not_found(change->call);
}

struct new_message *messages_stored(struct call *call, const cJSON *messages, size_t *count)
{
	size_t size = (size_t)cJSON_GetArraySize(messages);
	struct new_message *stored = arena_alloc(call->arena, (size + 1) * sizeof(*stored));
	const cJSON *message;
	*count = 0;
	cJSON_ArrayForEach(message, messages) {
		char *text = json_print(message);
		arena_defer(call->arena, cJSON_free, text);
		stored[(*count)++] = (struct new_message){message_id(message), text};
	}
	return stored;
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
	struct storage *storage = change->call->service->storage;
	struct thread_write write = {.thread = &change->thread};
	write.messages = messages_stored(change->call, messages, &write.message_count);
	change_touch(change);
	return storage->ops->thread_write(storage, &write, &change->call->error);
}

/* Whether the calls that wait at the client were asked for by one of the messages. */
static bool waits_on(struct change *change, const cJSON *ids)
{
	const char *text = change->thread.waiting_json;
	const cJSON *id;
	bool found = false;
	if (!text)
		return false;
	cJSON *waiting = json_parse(text, strlen(text), JSON_TRUSTED_DEPTH, NULL);
	const char *asking = json_str(waiting, "message_id");
	cJSON_ArrayForEach(id, ids)
		found = found || (asking && strcmp(asking, id->valuestring) == 0);
	cJSON_Delete(waiting);
	return found;
}

/* A pause before or in a tools node rests on the calls it would run; without them there is nothing
 * to resume. */
static bool pauses_on_calls(const struct change *change)
{
	const struct thread *t = &change->thread;
	const ag_graph *graph = change->call->service->graph;
	int i = t->status == RUN_INTERRUPTED && t->next ? graph_node_index(graph, t->next) : -1;
	return i >= 0 && graph->nodes[i].is_tools;
}

static void close_waiting(struct change *change, const cJSON *ids)
{
	struct thread *t = &change->thread;
	if (waits_on(change, ids))
		t->waiting_json = NULL;
	if (!pauses_on_calls(change))
		return;
	t->pause_json = NULL;
	t->next = NULL;
	t->status = RUN_COMPLETED;
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
	close_waiting(change, ids);
	change_touch(change);
	struct thread_write write = {
	    .thread = &change->thread, .remove = remove, .remove_count = count};
	return storage->ops->thread_write(storage, &write, &change->call->error);
}

cJSON *change_state(struct change *change)
{
	struct call *call = change->call;
	const struct run_flags flags = {0};
	cJSON *context = state_context(call->service->storage, change->thread.row, &call->error);
	return context ? state_json(call->service->graph, &change->thread, &flags, context) : NULL;
}

bool files_check(struct call *call, const cJSON *messages)
{
	const cJSON *message;
	cJSON_ArrayForEach(message, messages) {
		const char *id = message_file_id(message);
		if (id)
			return error_set(&call->error, ERR_INVALID_INPUT, "File not found: %s", id);
	}
	return true;
}
