/* SPDX-License-Identifier: ISC */
/* A state written from outside, at what the thread is or at a checkpoint. */
#include "base/fields.h"
#include "base/json/json.h"
#include "graph/graph.h"
#include "service/langgraph/langgraph.h"
#include "service/langgraph/lg_input.h"
#include "service/langgraph/lg_message.h"
#include "service/langgraph/lg_state.h"
#include "service/thread/change.h"
#include "service/thread/threads.h"

#include <string.h>

struct lg_update {
	const cJSON *values;
	const char *as_node;
};

static const struct field_row lg_update_rows[] = {
    FIELD(lg_update, values, .kind = &field_json, .types = TYPE_OBJECT),
    FIELD(lg_update, as_node, .kind = &field_text),
    FIELDS_END,
};

/* The body of PUT state: messages are added, fields set; null values change nothing. */
static cJSON *lg_update_body(struct call *call, const cJSON *values, struct lg_removal *removal)
{
	cJSON *body = arena_json(call->arena, cJSON_CreateObject());
	cJSON *state = json_add(body, "state", cJSON_CreateObject());
	const cJSON *item;
	cJSON_ArrayForEach(item, values) {
		if (!cJSON_IsNull(item) && graph_field_get(call->service->graph, item->string) &&
		    lg_field_check(call, item, "body.values"))
			json_refer(state, item->string, item);
	}
	cJSON *messages =
	    lg_messages_read(call, json_opt(values, "messages"), "body.values.messages", removal);
	json_refer(state, "context", messages);
	return error_is_set(&call->error) ? NULL : body;
}

cJSON *lg_state_update(struct call *call, const char *thread_id, const cJSON *body)
{
	struct lg_update given = {0};
	struct lg_removal removal = {0};
	fields_read_body(&call->error, "body", body, lg_update_rows, &given);
	struct state_place place = {.checkpoint_id = lg_checkpoint_id(call, body),
	    .at_end = given.as_node && strcmp(given.as_node, LG_END_NODE) == 0};
	const cJSON *update = lg_update_body(call, given.values, &removal);
	struct thread thread;
	struct lg_place at = {0};
	if (error_is_set(&call->error) || !update || !lg_may_remove(call, thread_id, &removal) ||
	    !thread_find(call, thread_id, &thread))
		return NULL;
	/* the latest checkpoint is the thread as it is */
	const char *latest = place.checkpoint_id ? lg_latest_id(call, &thread) : NULL;
	if (latest && strcmp(latest, place.checkpoint_id) == 0)
		place.checkpoint_id = NULL;
	if (error_is_set(&call->error) ||
	    (place.checkpoint_id && !lg_place_find(call, &thread, place.checkpoint_id, &at)))
		return NULL;
	if (at.is_input) {
		error_wrong(&call->error, "body.checkpoint_id", "value_error",
		    "must be one that stands behind a node");
		return NULL;
	}
	if (place.checkpoint_id && lg_removes(&removal)) {
		error_wrong(&call->error, "body.values.messages", "value_error",
		    "must remove nothing at an earlier checkpoint");
		return NULL;
	}
	place.remove = removal.ids && removal.ids->child ? removal.ids : NULL;
	place.remove_all = removal.all;
	if (!state_update(call, thread_id, &place, update) ||
	    !thread_find(call, thread_id, &thread))
		return NULL;
	const char *id = lg_latest_id(call, &thread);
	if (error_is_set(&call->error))
		return NULL;
	cJSON *out = arena_json(call->arena, cJSON_CreateObject());
	json_add(out, "checkpoint", lg_checkpoint_view(thread_id, id));
	json_add(out, "configurable", lg_checkpoint_view(thread_id, id));
	json_add_str(out, "checkpoint_id", id);
	return out;
}
