/* SPDX-License-Identifier: ISC */
/* One chat completion: whose thread, the turn, and how its end is told; and the models. */
#include "service/openai/openai.h"

#include "base/json/json.h"
#include "service/openai/openai_internal.h"
#include "service/run/answers.h"
#include "service/run/turn.h"

#include <string.h>

static bool openai_stream(struct turn *turn, bool usage, struct chunk_sink *sink)
{
	struct openai_writer writer;
	openai_writer_init(&writer, turn, usage, sink);
	bool ok = turn_run(turn, &writer.observer);
	bool told = turn_end_told(turn, ok, writer.begun);
	if (ok)
		openai_writer_finish(&writer);
	else if (told)
		openai_writer_fail(&writer);
	openai_writer_release(&writer);
	return told;
}

bool openai_chat(struct call *call, struct openai_chat *chat)
{
	struct openai_input in;
	struct turn turn;
	chat->answer = NULL;
	chat->ran = false;
	if (call->service->graph->live)
		return error_set(&call->error, ERR_GRAPH_IS_LIVE, NULL);
	/* The permission is asked for again below: the route knew neither the thread nor whether a
	 * stream is wanted. */
	if (!openai_input_read(call, chat->body, chat->thread_id, &in))
		return false;
	const struct permission permission = {
	    "graph", in.stream ? "stream" : "invoke", in.run.thread_id};
	if (!call_permit(call, &permission))
		return false;
	turn_init(&turn, call, &in.run);
	bool ok = true;
	if (turn.in.thread_id)
		ok = turn_open(&turn) && answers_drop_known(call, &turn.thread, &turn.in);
	else
		turn_open_apart(&turn);
	if (ok && in.stream) {
		ok = openai_stream(&turn, in.usage, chat->sink);
	} else if (ok) {
		struct run_observer observer = {.event = run_ignore_event};
		ok = turn_run(&turn, &observer);
		chat->ran = turn_has_run(&turn);
		chat->answer = ok ? openai_completion(&turn) : NULL;
	}
	turn_end(&turn);
	return ok;
}

/* ---- the models ---- */

/* Nobody knows when a model was made: all processes say the same time. */
static cJSON *openai_model_new(const struct call *call)
{
	cJSON *model = cJSON_CreateObject();
	json_add_str(model, "id", openai_model(call->service->config));
	json_add_str(model, "object", "model");
	json_add_int(model, "created", 0);
	json_add_str(model, "owned_by", "agentgraph");
	return model;
}

cJSON *openai_models(struct call *call)
{
	cJSON *list = arena_json(call->arena, cJSON_CreateObject());
	json_add_str(list, "object", "list");
	json_append(json_add(list, "data", cJSON_CreateArray()), openai_model_new(call));
	return list;
}

cJSON *openai_model_view(struct call *call, const char *name)
{
	if (strcmp(name, openai_model(call->service->config)) == 0)
		return arena_json(call->arena, openai_model_new(call));
	openai_no_model(call, "path.model", name);
	return NULL;
}
