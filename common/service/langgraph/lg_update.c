/* SPDX-License-Identifier: ISC */
/* A state written from outside, at what the thread is or at a checkpoint. */
#include "base/json/json.h"
#include "graph/graph.h"
#include "service/langgraph/langgraph.h"
#include "service/langgraph/lg_input.h"
#include "service/langgraph/lg_message.h"
#include "service/langgraph/lg_state.h"
#include "service/thread/change.h"
#include "service/thread/threads.h"

#include <string.h>

/* The body of PUT state: messages are added, fields set; null values change nothing. */
static cJSON *lg_update_body(struct call *call, const cJSON *values)
{
	cJSON *body = arena_json(call->arena, cJSON_CreateObject());
	cJSON *state = json_add(body, "state", cJSON_CreateObject());
	const cJSON *item;
	if (values && !cJSON_IsObject(values) && !cJSON_IsNull(values)) {
		error_wrong(&call->error, "body.values", "type_error", "must be an object");
		return NULL;
	}
	cJSON_ArrayForEach(item, values) {
		if (!cJSON_IsNull(item) && graph_field_get(call->service->graph, item->string) &&
		    lg_field_check(call, item, "body.values"))
			json_refer(state, item->string, item);
	}
	cJSON *messages =
	    lg_messages_read(call, json_opt(values, "messages"), "body.values.messages");
	json_refer(state, "context", messages);
	return error_is_set(&call->error) ? NULL : body;
}

/* The checkpoint that the thread goes on from, if it is another than its latest; false with the
 * error set. */
static bool lg_update_place(
    struct call *call, const struct thread *thread, const char **checkpoint_id)
{
	struct lg_place place;
	if (!*checkpoint_id)
		return true;
	const char *latest = lg_latest_id(call, thread);
	if (latest && strcmp(latest, *checkpoint_id) == 0)
		*checkpoint_id = NULL;
	if (error_is_set(&call->error) || !*checkpoint_id)
		return !error_is_set(&call->error);
	if (!lg_place_find(call, thread, *checkpoint_id, &place))
		return false;
	return !place.is_input ||
	    error_wrong(&call->error, "body.checkpoint_id", "value_error",
		"must be one that stands behind a node");
}

cJSON *lg_state_update(struct call *call, const char *thread_id, const cJSON *body)
{
	const char *as_node = json_str(body, "as_node");
	struct state_place place = {.checkpoint_id = lg_checkpoint_id(call, body),
	    .at_end = as_node && strcmp(as_node, LG_END_NODE) == 0};
	const cJSON *update = lg_update_body(call, json_opt(body, "values"));
	struct thread thread;
	if (error_is_set(&call->error) || !update || !thread_find(call, thread_id, &thread) ||
	    !lg_update_place(call, &thread, &place.checkpoint_id) ||
	    !state_update(call, thread_id, &place, update) ||
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
