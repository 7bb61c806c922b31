/* SPDX-License-Identifier: ISC */
/* Chat models for plug-ins: what agentgraph.h offers of them. */
#include "base/arena.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "graph/document/document.h"
#include "graph/message/message.h"
#include "graph/nodes/ask.h"
#include "graph/run_internal.h"

#include <stdlib.h>
#include <string.h>

struct ag_chat_model {
	struct chat_model *chat;
};

/* The settings as a new tree; NULL with the mistake reported. */
static cJSON *model_api_read_settings(ag_graph *graph, const char *what, const char *settings)
{
	const char *text = settings ? settings : "";
	cJSON *tree = json_parse(text, strlen(text), JSON_REQUEST_DEPTH, NULL);
	if (cJSON_IsObject(tree))
		return tree;
	cJSON_Delete(tree);
	problems_add(
	    &graph->problems, "%s: %s: expected the settings as a JSON object", graph->name, what);
	return NULL;
}

void ag_graph_model(ag_graph *graph, const char *name, const char *settings)
{
	struct document d = {.graph = graph, .file = graph->name, .dir = "."};
	name = name ? name : ""; /* no valid name, and reported as such */
	const struct place at = {NULL, name, 0};
	cJSON *tree = model_api_read_settings(graph, name, settings);
	if (!tree)
		return;
	json_set(tree, "kind", cJSON_CreateString("model"));
	document_model(&d, &at, name, tree);
	document_policy(&d, &at, name, tree);
	cJSON_Delete(tree);
}

static void model_free(void *data)
{
	ag_chat_model *model = data;
	chat_model_free(model->chat);
	free(model);
}

ag_chat_model *ag_graph_chat_model(ag_graph *graph, const char *settings)
{
	struct document d = {.graph = graph, .file = graph->name, .dir = "."};
	const struct place at = {NULL, "chat model", 0};
	cJSON *tree = model_api_read_settings(graph, "chat model", settings);
	struct chat_model *chat = tree ? document_chat(&d, &at, tree) : NULL;
	cJSON_Delete(tree);
	if (!chat)
		return NULL;
	ag_chat_model *model = xcalloc(1, sizeof(*model));
	model->chat = chat;
	ag_graph_on_free(graph, model_free, model);
	return model;
}

/* The messages in output form.  Those of the context, which can be long, have it already.  NULL
 * after ag_fail. */
static const cJSON *model_api_normalise(ag_run *run, const cJSON *messages)
{
	if (messages == run->context)
		return messages;
	messages = arena_json(run->setup.arena, json_adopt(cJSON_Duplicate(messages, true)));
	cJSON *out = arena_json(run->setup.arena, cJSON_CreateArray());
	const cJSON *message;
	cJSON_ArrayForEach(message, messages) {
		struct error err = {0};
		if (cJSON_IsArray(json_get(message, "content"))) {
			cJSON_AddItemReferenceToArray(out, (cJSON *)message);
			continue;
		}
		cJSON *made = message_normalise(
		    message, "body.message", MESSAGE_FROM_NODE, run->setup.ids, &err);
		if (!made) {
			ag_fail(run, "%s", err.detail);
			error_release(&err);
			return NULL;
		}
		cJSON_AddItemToArray(out, made);
	}
	return out;
}

ag_result ag_chat(
    ag_run *run, const ag_chat_model *model, const struct ag_question *question, cJSON **answer)
{
	*answer = NULL;
	if (!model)
		return ag_fail(run, "ag_chat: there is no model");
	const cJSON *messages = model_api_normalise(run, question->messages);
	if (!messages)
		return AG_ERROR;
	const struct model_question asked = {
	    .chat = model->chat,
	    .system = question->system,
	    .messages = messages,
	    .choice = CHAT_TOOLS_AUTO,
	    .show = question->show,
	};
	return model_ask(run, &asked, answer);
}
