/* SPDX-License-Identifier: ISC */
/* The state of a thread: read, update, clear (doc/protocol-threads.md#state). */
#include "graph/state.h"

#include "base/json/json.h"
#include "graph/message/message.h"
#include "service/files/media.h"
#include "service/history/earlier.h"
#include "service/thread/change.h"
#include "service/thread/feed.h"
#include "service/thread/forget.h"
#include "service/thread/messages.h"
#include "service/thread/threads.h"

#include <string.h>

cJSON *state_read(struct call *call, const char *thread_id)
{
	struct thread thread;
	struct run_flags flags;
	if (!thread_look(call, thread_id, &thread, &flags))
		return NULL;
	cJSON *context = feed_context(call, thread.row, &thread.view);
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
	struct call *call;
	const struct state_place *place; /* or NULL */
	const cJSON *state;              /* the request's */
	cJSON *context;                  /* messages to append, in output form */
	bool has_summary;
	const char *summary;
	cJSON *ignored;
};

static bool thread_state_wrong_type(struct call *call, const char *name, const char *expected)
{
	const char *where = arena_printf(call->arena, "body.state.%s", name);
	return error_wrong(&call->error, where, "type_error", "must be %s", expected);
}

/* Checks a member, as far as that does not depend on the thread, and takes the value of a fixed
 * one. */
static bool thread_state_read_member(struct update *u, const cJSON *item)
{
	const struct field *field = graph_field_get(u->call->service->graph, item->string);
	bool is_context = strcmp(item->string, "context") == 0;
	if (!field && !is_context && strcmp(item->string, "context_summary") != 0) {
		cJSON_AddItemToArray(u->ignored, cJSON_CreateString(item->string));
		return true;
	}
	if (cJSON_IsNull(item) || (field && graph_field_accepts(field, item)))
		return true;
	if (field)
		return thread_state_wrong_type(
		    u->call, field->name, arena_printf(u->call->arena, "of type %s", field->type));
	if (is_context) {
		if (!cJSON_IsArray(item))
			return thread_state_wrong_type(u->call, "context", "an array of messages");
		u->context = messages_read(u->call, item, u->place ? NULL : "body.state.context");
		return u->context != NULL;
	}
	if (!cJSON_IsString(item))
		return thread_state_wrong_type(u->call, "context_summary", "a string or null");
	u->has_summary = true;
	u->summary = item->valuestring;
	return true;
}

/* Stores the update.  In the graph's own fields objects are merged deeply, other values replaced;
 * reducers are only for nodes. */
static cJSON *update_store(struct update *u)
{
	const ag_graph *graph = u->call->service->graph;
	cJSON *fields = state_fields(graph, u->change.thread.fields_json);
	const cJSON *item;
	cJSON_ArrayForEach(item, u->state) {
		const struct field *field = graph_field_get(graph, item->string);
		if (!field || cJSON_IsNull(item))
			continue;
		cJSON *old = json_opt(fields, field->name);
		if (cJSON_IsObject(old) && cJSON_IsObject(item))
			json_merge(old, item);
		else
			json_set(
			    fields, field->name, state_value(field, cJSON_Duplicate(item, true)));
	}
	u->change.thread.fields_json = arena_print(u->call->arena, fields);
	cJSON_Delete(fields);
	if (u->has_summary)
		u->change.thread.summary = u->summary;
	u->change.checkpoint = earlier_of_update(u->call);
	if (!messages_store(&u->change, u->context, NULL))
		return NULL;
	cJSON *data = arena_json(u->call->arena, cJSON_CreateObject());
	cJSON_AddTrueToObject(data, "updated");
	json_refer(data, "ignored", u->ignored);
	cJSON *state = change_state(&u->change);
	cJSON_AddItemToObject(data, "state", state);
	return state ? data : NULL;
}

cJSON *state_update(
    struct call *call, const char *thread_id, const struct state_place *place, const cJSON *body)
{
	struct update u = {.call = call, .place = place, .state = json_opt(body, "state")};
	struct checkpoint to;
	const cJSON *item;
	cJSON *data = NULL;
	bool ok = change_check(call, thread_id, body);
	if (!cJSON_IsObject(u.state)) {
		error_wrong(&call->error, "body.state", u.state ? "type_error" : "missing",
		    "is required and must be an object");
		return NULL;
	}
	u.ignored = arena_json(call->arena, cJSON_CreateArray());
	cJSON_ArrayForEach(item, u.state)
		ok = thread_state_read_member(&u, item) && ok;
	if (!ok || !change_begin(&u.change, call, thread_id))
		return NULL;
	if (place && place->checkpoint_id) {
		/* the update is applied to the thread as it was then */
		ok = change_exists(&u.change) &&
		    earlier_take(call, &u.change.thread, place->checkpoint_id, &to);
		if (ok) {
			u.change.thread = to.thread;
			u.change.rewind = &to;
		}
	}
	ok = ok && files_resolve(call, u.context);
	if (ok && place && (place->remove || place->remove_all))
		ok = change_exists(&u.change) &&
		    messages_drop(&u.change, place->remove, place->remove_all, u.context, NULL);
	if (ok && place && place->at_end)
		thread_close_pause(&u.change.thread);
	if (ok)
		data = update_store(&u);
	change_end(&u.change);
	return data;
}

/* ---- clear ---- */

cJSON *state_clear(struct call *call, const char *thread_id, const cJSON *body)
{
	struct change change;
	cJSON *data = NULL;
	if (!change_check(call, thread_id, body) || !change_begin(&change, call, thread_id))
		return NULL;
	if (!change_exists(&change))
		goto out;
	struct storage *storage = call->service->storage;
	struct thread *t = &change.thread, blank;
	thread_blank(&blank, t->thread_id, t->user_id);
	blank.row = t->row;
	blank.thread_name = t->thread_name;
	blank.metadata_json = t->metadata_json;
	blank.created_at = t->created_at;
	blank.run_id = t->run_id;
	*t = blank;
	change_touch(&change);
	struct thread_write write = {
	    .thread = t, .clear_context = true, .checkpoint = earlier_of_update(call)};
	/* chunks keep their states where the thread has a history, which shows the states anyway */
	bool goes = write.checkpoint == CHECKPOINT_NONE;
	if ((goes && !forget_states(call, t->row)) ||
	    !thread_write(storage, &call->ctx, change.lease, &write, &call->error))
		goto out;
	data = arena_json(call->arena, cJSON_CreateObject());
	cJSON_AddTrueToObject(data, "deleted");
	cJSON_AddTrueToObject(data, "success");
	cJSON_AddStringToObject(data, "message", "State cleared successfully");
	cJSON_AddTrueToObject(data, "data");
out:
	change_end(&change);
	return data;
}
