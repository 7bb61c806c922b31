/* SPDX-License-Identifier: ISC */
/* The kinds of node that documents have. */
#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "graph/document/document.h"
#include "graph/message/template.h"
#include "graph/nodes/nodes.h"
#include "tool/command.h"

#include <stdlib.h>
#include <string.h>

/* ---- reply: says a text */

struct reply {
	const char *source, *role; /* these three live in the document */
	const cJSON *update;       /* or NULL */
	struct template *text;
};

static const struct choice roles[] = {{"assistant", 0}, {"user", 0}, {"system", 0}, {NULL, 0}};

DOCUMENT_NODE_SHAPE(reply, document_policy_rows,
    FIELD_AT("text", reply, source, .kind = &field_text, .required = true),
    FIELD(reply, role, .kind = &field_text, .choices = roles), FIELD(reply, update, FIELD_OBJECT));

static void reply_free(void *data)
{
	struct reply *reply = data;
	template_free(reply->text);
	free(reply);
}

/* The assistant speaks word by word; other roles do not. */
static ag_result document_node_reply_run(ag_run *run, const ag_state *state, void *data)
{
	const struct reply *reply = data;
	const struct values values = {run, state, NULL};
	const cJSON *field;
	ag_result result = AG_OK;
	cJSON_ArrayForEach(field, reply->update) {
		result = ag_update(run, field->string, values_json(field, &values));
		if (result != AG_OK)
			return result;
	}
	char *text = values_text(reply->text, &values);
	if (strcmp(reply->role, "assistant") == 0) {
		result = ag_say(run, "%s", text);
	} else {
		cJSON *message = cJSON_CreateObject();
		json_add_str(message, "role", reply->role);
		json_add_str(message, "content", text);
		result = ag_message(run, message);
	}
	free(text);
	return result;
}

static void document_node_read_reply(
    struct document *d, const struct place *at, const char *name, const cJSON *item)
{
	struct reply *reply = xcalloc(1, sizeof(*reply));
	reply->role = "assistant";
	ag_graph_on_free(d->graph, reply_free, reply);
	document_read(d, at, item, &shape_reply, reply);
	if (reply->source)
		reply->text = document_template(d, PLACE_KEY(at, "text"), reply->source, false);
	document_check_fields(d, PLACE_KEY(at, "update"), reply->update, d->graph,
	    "there is no state field of that name");
	ag_graph_node(d->graph, name, document_node_reply_run, reply);
}

/* ---- interrupt: asks a person */

struct ask {
	const cJSON *value; /* lives in the document, as do these; NULL where not given */
	const char *reason, *field, *source;
	struct template *reply;
};

DOCUMENT_NODE_SHAPE(interrupt, document_policy_rows,
    FIELD(ask, value, .kind = &field_json, .required = true),
    FIELD(ask, reason, .kind = &field_text), FIELD(ask, field, .kind = &field_text),
    FIELD_AT("reply", ask, source, .kind = &field_text));

static void ask_free(void *data)
{
	struct ask *ask = data;
	template_free(ask->reply);
	free(ask);
}

static ag_result ask_run(ag_run *run, const ag_state *state, void *data)
{
	const struct ask *ask = data;
	struct values values = {run, state, NULL};
	ag_result result =
	    ag_interrupt(run, ask->reason, values_json(ask->value, &values), &values.answer);
	if (result == AG_OK && ask->field)
		result = ag_update(run, ask->field, cJSON_Duplicate(values.answer, true));
	if (result != AG_OK || !ask->reply)
		return result;
	char *text = values_text(ask->reply, &values);
	result = ag_say(run, "%s", text);
	free(text);
	return result;
}

static void document_node_read_interrupt(
    struct document *d, const struct place *at, const char *name, const cJSON *item)
{
	struct ask *ask = xcalloc(1, sizeof(*ask));
	ag_graph_on_free(d->graph, ask_free, ask);
	document_read(d, at, item, &shape_interrupt, ask);
	document_check_json(d, PLACE_KEY(at, "value"), ask->value);
	if (ask->field && !graph_field_get(d->graph, ask->field))
		document_problem(
		    d, PLACE_KEY(at, "field"), "there is no state field '%s'", ask->field);
	if (ask->source)
		ask->reply = document_template(d, PLACE_KEY(at, "reply"), ask->source, true);
	ag_graph_node(d->graph, name, ask_run, ask);
}

/* ---- exec: runs a program */

static const struct choice exec_inputs[] = {
    {"full", EXEC_INPUT_FULL}, {"last", EXEC_INPUT_LAST}, {NULL, 0}};

DOCUMENT_NODE_SHAPE(exec, document_retry_rows,
    COMMAND_ROWS(exec_node, command, EXEC_NODE_TIMEOUT_MS / 1000),
    FIELD_AT("max_line", exec_node, command.max_line, COMMAND_BYTES),
    FIELD(exec_node, input, .kind = &field_choice, .choices = exec_inputs));

static void exec_node_free(void *data)
{
	struct exec_node *node = data;
	command_release(&node->command);
	free(node);
}

static void document_node_read_exec(
    struct document *d, const struct place *at, const char *name, const cJSON *item)
{
	struct exec_node *node = xcalloc(1, sizeof(*node));
	ag_graph_on_free(d->graph, exec_node_free, node);
	node->command = (struct command){.timeout_ms = EXEC_NODE_TIMEOUT_MS,
	    .max_line = EXEC_NODE_MAX_LINE,
	    .max_output = EXEC_NODE_MAX_OUTPUT};
	document_command(d, &node->command);
	document_read(d, at, item, &shape_exec, node);
	ag_graph_node(d->graph, name, exec_node_run, node);
}

/* ---- All kinds */

/* A kind is called like its shape. */
static const struct {
	const struct document_shape *shape;
	void (*read)(
	    struct document *d, const struct place *at, const char *name, const cJSON *item);
} kinds[] = {{&shape_reply, document_node_read_reply}, {&shape_exec, document_node_read_exec},
    {&shape_interrupt, document_node_read_interrupt}, {&shape_tools, document_tools},
    {&shape_live, document_live}, {&shape_model, document_model}, {&shape_graph, document_subgraph},
    {&shape_a2a, document_a2a}};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

void document_node(struct document *d, const struct place *at, const char *name, const cJSON *item)
{
	const cJSON *kind = json_get(item, "kind");
	if (!graph_name_valid(name) || strcmp(name, AG_START) == 0 || strcmp(name, AG_END) == 0) {
		document_problem(d, at,
		    "expected a node's name of 1 to " GRAPH_NAME_LETTERS
		    ", other than START and END");
		return;
	}
	if (!document_is(d, at, item, TYPE_OBJECT))
		return;
	size_t k = 0;
	while (k < KIND_COUNT && !json_str_is(item, "kind", kinds[k].shape->name))
		k++;
	if (k < KIND_COUNT) {
		kinds[k].read(d, at, name, item);
		int node = graph_node_index(d->graph, name);
		if (node >= 0)
			d->graph->nodes[node].kind = kinds[k].shape->name;
		if (kinds[k].shape != &shape_live)
			document_policy(d, at, name, item);
		return;
	}
	struct buf known = {0};
	for (k = 0; k < KIND_COUNT; k++)
		buf_printf(&known, "%s%s", k ? ", " : "", kinds[k].shape->name);
	if (!kind)
		document_problem(d, at, "expected the key 'kind', one of %s", buf_str(&known));
	else if (document_is(d, PLACE_KEY(at, "kind"), kind, TYPE_STRING))
		document_problem(d, PLACE_KEY(at, "kind"),
		    "expected a kind of node, one of %s, found '%s'", buf_str(&known),
		    kind->valuestring);
	buf_release(&known);
}
