/* The state of a thread: read, update, clear (SPEC 4.12, WIRE 4.12). */
#include "graph/state.h"

#include "base/json.h"
#include "graph/message.h"
#include "service/change.h"
#include "service/media.h"
#include "service/messages.h"
#include "service/threads.h"

#include <string.h>

/*
 * The thread, and whether a run has it.  A thread that is running, but that no run has, is looked
 * at again: only when it has not changed, its process died, else the run just ended.
 */
static bool look(
    struct call *call, const char *thread_id, struct thread *thread, struct run_flags *flags)
{
	struct storage *storage = call->service->storage;
	const char *seen = NULL;
	for (;;) {
		if (!thread_find(call, thread_id, thread))
			return false;
		flags->running =
		    storage->ops->lease_running(storage, thread_id, &flags->stop_requested);
		if (flags->running || thread->status != RUN_RUNNING)
			return true;
		if (seen && strcmp(seen, thread->run_id) == 0)
			return true;
		seen = thread->run_id;
	}
}

cJSON *state_read(struct call *call, const char *thread_id)
{
	struct storage *storage = call->service->storage;
	struct thread thread;
	struct run_flags flags = {0};
	if (!look(call, thread_id, &thread, &flags))
		return NULL;
	cJSON *context = state_context(storage, thread.row, &call->error);
	if (!context)
		return NULL;
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	cJSON_AddItemToObject(
	    data, "state", state_json(call->service->graph, &thread, &flags, context));
	return data;
}

/* ---- update ---- */

struct update {
	struct change change;
	cJSON *fields;  /* the graph's own, merged */
	cJSON *context; /* messages to append, in output form */
	bool has_summary;
	const char *summary;
	cJSON *ignored;
};

static bool wrong_type(struct call *call, const char *name, const char *expected)
{
	const char *where = arena_printf(call->arena, "body.state.%s", name);
	return error_field(&call->error, ERR_VALIDATION, where, "type_error", "state.%s must be %s",
	    name, expected);
}

static bool update_context(struct update *u, const cJSON *messages)
{
	struct call *call = u->change.call;
	if (!cJSON_IsArray(messages))
		return wrong_type(call, "context", "an array of messages");
	u->context = messages_read(call, messages, "body.state.context");
	return u->context != NULL;
}

static bool update_summary(struct update *u, const cJSON *item)
{
	if (!cJSON_IsString(item))
		return wrong_type(u->change.call, "context_summary", "a string or null");
	u->has_summary = true;
	u->summary = item->valuestring;
	return true;
}

/* Objects are merged deeply, other values replace; reducers are for nodes alone. */
static bool update_field(struct update *u, const struct field *field, const cJSON *item)
{
	cJSON *old = json_opt(u->fields, field->name);
	if (!graph_field_accepts(field, item))
		return wrong_type(u->change.call, field->name,
		    arena_printf(u->change.call->arena, "of type %s", field->type));
	if (cJSON_IsObject(old) && cJSON_IsObject(item))
		json_merge(old, item);
	else
		json_set(u->fields, field->name, cJSON_Duplicate(item, true));
	return true;
}

static bool update_member(struct update *u, const cJSON *item)
{
	const struct field *field = graph_field_get(u->change.call->service->graph, item->string);
	bool fixed =
	    strcmp(item->string, "context") == 0 || strcmp(item->string, "context_summary") == 0;
	if (!field && !fixed) {
		cJSON_AddItemToArray(u->ignored, cJSON_CreateString(item->string));
		return true;
	}
	if (cJSON_IsNull(item))
		return true;
	if (field)
		return update_field(u, field, item);
	return strcmp(item->string, "context") == 0 ? update_context(u, item)
						    : update_summary(u, item);
}

static bool update_members(struct update *u, const cJSON *state)
{
	struct call *call = u->change.call;
	const cJSON *item;
	bool ok = true;
	u->fields = arena_json(
	    call->arena, state_fields(call->service->graph, u->change.thread.fields_json));
	u->ignored = cJSON_CreateArray();
	cJSON_ArrayForEach(item, state)
		ok = update_member(u, item) && ok;
	return ok;
}

static cJSON *update_data(struct update *u)
{
	struct call *call = u->change.call;
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	cJSON_AddTrueToObject(data, "updated");
	cJSON_AddItemToObject(data, "ignored", u->ignored);
	u->ignored = NULL;
	cJSON *state = change_state(&u->change);
	cJSON_AddItemToObject(data, "state", state);
	return state ? data : NULL;
}

static cJSON *update_store(struct update *u)
{
	struct call *call = u->change.call;
	char *fields = json_print(u->fields);
	arena_defer(call->arena, cJSON_free, fields);
	u->change.thread.fields_json = fields;
	if (u->has_summary)
		u->change.thread.summary = u->summary;
	if (!messages_store(&u->change, u->context, NULL))
		return NULL;
	return update_data(u);
}

cJSON *state_update(struct call *call, const char *thread_id, const cJSON *body)
{
	struct update u = {0};
	const cJSON *state = json_opt(body, "state");
	cJSON *data = NULL;
	if (!cJSON_IsObject(state))
		error_field(&call->error, ERR_VALIDATION, "body.state",
		    state ? "type_error" : "missing", "state is required and must be an object");
	if (!config_check(call, body) || error_is_set(&call->error) ||
	    !change_begin(&u.change, call, thread_id))
		return NULL;
	if (update_members(&u, state) && files_resolve(call, u.context))
		data = update_store(&u);
	cJSON_Delete(u.ignored);
	change_end(&u.change);
	return data;
}

/* ---- clear ---- */

static bool clear(struct change *change)
{
	struct storage *storage = change->call->service->storage;
	struct thread *t = &change->thread;
	struct thread blank;
	thread_blank(&blank, t->thread_id, t->user_id);
	blank.row = t->row;
	blank.thread_name = t->thread_name;
	blank.metadata_json = t->metadata_json;
	blank.created_at = t->created_at;
	blank.run_id = t->run_id;
	*t = blank;
	change_touch(change);
	struct thread_write write = {.thread = t, .clear_context = true};
	return storage->ops->thread_write(storage, &write, &change->call->error);
}

cJSON *state_clear(struct call *call, const char *thread_id, const cJSON *body)
{
	struct change change;
	cJSON *data = NULL;
	if (!config_check(call, body) || !change_begin(&change, call, thread_id))
		return NULL;
	if (change_exists(&change) && clear(&change)) {
		data = arena_json(call->arena, cJSON_CreateObject());
		cJSON_AddTrueToObject(data, "deleted");
		cJSON_AddTrueToObject(data, "success");
		cJSON_AddStringToObject(data, "message", "State cleared successfully");
		cJSON_AddTrueToObject(data, "data");
	}
	change_end(&change);
	return data;
}
