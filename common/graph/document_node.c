/* SPDX-License-Identifier: ISC */
/* The kinds of node that documents have. */
#include "base/buf.h"
#include "base/json.h"
#include "base/memory.h"
#include "graph/document.h"
#include "graph/exec_node.h"
#include "graph/template.h"
#include "tool/command.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- reply: says a text */

struct reply {
	struct template *text;
	const char *role;    /* these two live in the document */
	const cJSON *update; /* or NULL */
};

static void reply_free(void *data)
{
	struct reply *reply = data;
	template_free(reply->text);
	free(reply);
}

/* The assistant speaks word by word; other roles do not. */
static ag_result document_node_speak(ag_run *run, const char *role, const char *text)
{
	if (strcmp(role, "assistant") == 0)
		return ag_say(run, "%s", text);
	cJSON *message = cJSON_CreateObject();
	json_add_str(message, "role", role);
	json_add_str(message, "content", text);
	return ag_message(run, message);
}

static ag_result document_node_reply_run(ag_run *run, const ag_state *state, void *data)
{
	const struct reply *reply = data;
	const struct values values = {run, state, NULL};
	const cJSON *field;
	cJSON_ArrayForEach(field, reply->update) {
		ag_result result = ag_update(run, field->string, values_json(field, &values));
		if (result != AG_OK)
			return result;
	}
	char *text = values_text(reply->text, &values);
	ag_result result = document_node_speak(run, reply->role, text);
	free(text);
	return result;
}

/* Whether the reducer of field can take value. */
static bool document_node_update_fits(const struct field *field, const cJSON *value)
{
	return field->reducer == AG_APPEND || json_has_names(value) ||
	    graph_field_accepts(field, value);
}

static void check_update(struct document *d, const struct place *at, const cJSON *update)
{
	const cJSON *value;
	cJSON_ArrayForEach(value, update) {
		const struct place *place = PLACE_KEY(at, value->string);
		const struct field *field = graph_field_get(d->graph, value->string);
		document_check_json(d, place, value);
		if (!field)
			document_problem(d, place, "there is no state field of that name");
		else if (!document_node_update_fits(field, value))
			document_problem(d, place, "expected a value of type %s, found %s",
			    field->type, json_type_name(value));
	}
}

static void document_node_read_role(struct document *d, const struct place *at, struct reply *reply)
{
	if (!reply->role)
		reply->role = "assistant";
	else if (strcmp(reply->role, "assistant") != 0 && strcmp(reply->role, "user") != 0 &&
	    strcmp(reply->role, "system") != 0)
		document_problem(d, PLACE_KEY(at, "role"),
		    "expected one of assistant, user, system, found '%s'", reply->role);
}

static void document_node_read_reply(
    struct document *d, const struct place *at, const char *name, const cJSON *item)
{
	struct reply *reply = xcalloc(1, sizeof(*reply));
	const char *text = json_str(item, "text");
	ag_graph_on_free(d->graph, reply_free, reply);
	if (text)
		reply->text = document_template(d, PLACE_KEY(at, "text"), text, false);
	reply->role = json_str(item, "role");
	document_node_read_role(d, at, reply);
	reply->update = document_object(item, "update");
	check_update(d, PLACE_KEY(at, "update"), reply->update);
	ag_graph_node(d->graph, name, document_node_reply_run, reply);
}

/* ---- interrupt: asks a person */

struct ask {
	const char *reason; /* these three live in the document; NULL where not given */
	const cJSON *value;
	const char *field;
	struct template *reply;
};

static void ask_free(void *data)
{
	struct ask *ask = data;
	template_free(ask->reply);
	free(ask);
}

static ag_result say_answer(ag_run *run, const struct ask *ask, const struct values *values)
{
	if (!ask->reply)
		return AG_OK;
	char *text = values_text(ask->reply, values);
	ag_result result = ag_say(run, "%s", text);
	free(text);
	return result;
}

static ag_result ask_run(ag_run *run, const ag_state *state, void *data)
{
	const struct ask *ask = data;
	struct values values = {run, state, NULL};
	ag_result result =
	    ag_interrupt(run, ask->reason, values_json(ask->value, &values), &values.answer);
	if (result == AG_OK && ask->field)
		result = ag_update(run, ask->field, cJSON_Duplicate(values.answer, true));
	return result == AG_OK ? say_answer(run, ask, &values) : result;
}

static void read_interrupt(
    struct document *d, const struct place *at, const char *name, const cJSON *item)
{
	struct ask *ask = xcalloc(1, sizeof(*ask));
	const char *reply = json_str(item, "reply");
	ag_graph_on_free(d->graph, ask_free, ask);
	ask->reason = json_str(item, "reason");
	ask->value = json_get(item, "value");
	document_check_json(d, PLACE_KEY(at, "value"), ask->value);
	ask->field = json_str(item, "field");
	if (ask->field && !graph_field_get(d->graph, ask->field))
		document_problem(
		    d, PLACE_KEY(at, "field"), "there is no state field '%s'", ask->field);
	if (reply)
		ask->reply = document_template(d, PLACE_KEY(at, "reply"), reply, true);
	ag_graph_node(d->graph, name, ask_run, ask);
}

/* ---- exec: runs a program */

static void exec_node_free(void *data)
{
	struct exec_node *node = data;
	command_release(&node->command);
	free(node);
}

static void read_exec(
    struct document *d, const struct place *at, const char *name, const cJSON *item)
{
	struct exec_node *node = xcalloc(1, sizeof(*node));
	const char *input = json_str(item, "input");
	ag_graph_on_free(d->graph, exec_node_free, node);
	node->command.max_line = EXEC_NODE_MAX_LINE;
	node->command.max_output = EXEC_NODE_MAX_OUTPUT;
	document_command(d, at, item, EXEC_NODE_TIMEOUT_MS / 1000, &node->command);
	node->last_only = input && strcmp(input, "last") == 0;
	if (input && !node->last_only && strcmp(input, "full") != 0)
		document_problem(
		    d, PLACE_KEY(at, "input"), "expected one of full, last, found '%s'", input);
	ag_graph_node(d->graph, name, exec_node_run, node);
}

/* ---- All kinds */

/* A kind is called like its shape. */
static const struct {
	const struct document_shape *shape;
	void (*read)(
	    struct document *d, const struct place *at, const char *name, const cJSON *item);
} kinds[] = {{&shape_reply, document_node_read_reply}, {&shape_exec, read_exec},
    {&shape_interrupt, read_interrupt}, {&shape_tools, document_tools},
    {&shape_live, document_live}, {&shape_model, document_model}};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

const struct document_shape *document_node_kind(size_t i)
{
	return i < KIND_COUNT ? kinds[i].shape : NULL;
}

static void unknown_kind(struct document *d, const struct place *at, const cJSON *kind)
{
	struct buf known = {0};
	for (size_t i = 0; i < KIND_COUNT; i++)
		buf_printf(&known, "%s%s", i ? ", " : "", kinds[i].shape->name);
	if (!kind)
		document_problem(d, at, "expected the key 'kind', one of %s", buf_str(&known));
	else if (document_is(d, PLACE_KEY(at, "kind"), kind, TYPE_STRING))
		document_problem(d, PLACE_KEY(at, "kind"),
		    "expected a kind of node, one of %s, found '%s'", buf_str(&known),
		    kind->valuestring);
	buf_release(&known);
}

static bool node_name_fits(struct document *d, const struct place *at, const char *name)
{
	if (graph_name_valid(name) && strcmp(name, AG_START) != 0 && strcmp(name, AG_END) != 0)
		return true;
	document_problem(d, at,
	    "expected a node's name of 1 to %d letters, digits, blanks or _ - . :, other than "
	    "START and END",
	    GRAPH_NAME_MAX);
	return false;
}

void document_node(struct document *d, const struct place *at, const char *name, const cJSON *item)
{
	const cJSON *kind = json_get(item, "kind");
	if (!node_name_fits(d, at, name) || !document_is(d, at, item, TYPE_OBJECT))
		return;
	for (size_t i = 0; i < KIND_COUNT; i++) {
		if (!cJSON_IsString(kind) || strcmp(kinds[i].shape->name, kind->valuestring) != 0)
			continue;
		document_check(d, at, item, kinds[i].shape);
		kinds[i].read(d, at, name, item);
		return;
	}
	unknown_kind(d, at, kind);
}
