/* SPDX-License-Identifier: ISC */
/* Checking the body member by member, and picking out the messages that are new. */
#include "service/agui/agui_input.h"

#include "base/json.h"
#include "graph/message.h"
#include "service/thread/ident.h"

#include <string.h>

/* Whether a member is there and of the wrong type; then the mistake is set. */
static bool is_wrong(struct call *call, const cJSON *body, const char *name,
    cJSON_bool (*type)(const cJSON *const item), const char *expected)
{
	const cJSON *item = json_opt(body, name);
	return item && !type(item) && !agui_invalid(call, name, "type_error", expected);
}

static bool need(struct call *call, const cJSON *object, const char *at, const char *name)
{
	const cJSON *item = json_opt(object, name);
	const char *field = *at ? arena_printf(call->arena, "%s.%s", at, name) : name;
	return cJSON_IsString(item) ||
	    agui_invalid(call, field, item ? "type_error" : "missing", "must be a string");
}

/* ---- ids ---- */

static void agui_input_read_thread_id(struct call *call, const cJSON *body, struct agui_input *in)
{
	const char *id = json_str(body, "threadId");
	if (id_blank(id))
		error_field(&call->error, ERR_VALIDATION, "body.threadId", "value_error",
		    "threadId is required");
	else if (thread_id_check(call, "body.threadId", id))
		in->run.thread_id = id;
}

static void agui_input_read_run_id(struct call *call, const cJSON *body, struct agui_input *in)
{
	const char *id = json_str(body, "runId");
	if (id_blank(id))
		error_field(
		    &call->error, ERR_VALIDATION, "body.runId", "value_error", "runId is required");
	else if (!id_valid(id))
		agui_invalid(call, "runId", "value_error",
		    "must be 1 to 255 characters without control characters");
	else
		in->run.run_id = id;
}

/* ---- messages ---- */

static bool check_message(struct call *call, const cJSON *message, const char *at)
{
	if (!cJSON_IsObject(message))
		return agui_invalid(call, at, "type_error", "must be an object");
	bool has_role = need(call, message, at, "role");
	return need(call, message, at, "id") && has_role;
}

/* The place of the first message that can be new; what is before it the thread has. */
static int first_new(const cJSON *messages)
{
	const cJSON *message;
	int i = 0, first = 0;
	cJSON_ArrayForEach(message, messages) {
		i++;
		if (message_is(message, "assistant"))
			first = i;
	}
	return first;
}

static void agui_input_take_message(
    struct call *call, const cJSON *item, const char *at, struct run_input *run, int *count)
{
	cJSON *message = agui_message_read(call, item, at);
	if (!message)
		return;
	cJSON_AddItemToArray(run->messages, message);
	run->given_id[(*count)++] = strcmp(json_str(item, "id"), message_id(message)) == 0;
}

static void agui_input_read_messages(struct call *call, const cJSON *body, struct run_input *run)
{
	const cJSON *messages = json_opt(body, "messages"), *item;
	int i = 0, count = 0, first = first_new(messages);
	run->messages = arena_json(call->arena, cJSON_CreateArray());
	run->given_id = arena_alloc(call->arena, (size_t)cJSON_GetArraySize(messages) + 1);
	cJSON_ArrayForEach(item, messages) {
		if (call->error.mistakes >= ERROR_DETAILS_MAX)
			return; /* nobody would be told of more */
		const char *at = arena_printf(call->arena, "messages[%d]", i);
		if (check_message(call, item, at) && i >= first &&
		    (message_is(item, "user") || message_is(item, "tool")))
			agui_input_take_message(call, item, at, run, &count);
		i++;
	}
}

/* ---- state, context, properties ---- */

/* A state that is no object is none; what the graph has no field for stays the client's own. */
static void agui_input_read_state(struct call *call, const cJSON *body, struct agui_input *in)
{
	const cJSON *state = json_opt(body, "state"), *item;
	if (!cJSON_IsObject(state))
		return;
	in->state = state;
	in->run.initial_state = state;
	cJSON_ArrayForEach(item, state) {
		const struct field *field = graph_field_get(call->service->graph, item->string);
		if (!field || graph_field_accepts(field, item))
			continue;
		agui_invalid(call, arena_printf(call->arena, "state.%s", field->name), "type_error",
		    arena_printf(call->arena, "must be of type %s", field->type));
	}
}

static void check_context(struct call *call, const cJSON *body)
{
	const cJSON *item;
	int i = 0;
	if (is_wrong(call, body, "context", cJSON_IsArray, "must be an array"))
		return;
	cJSON_ArrayForEach(item, json_opt(body, "context")) {
		if (call->error.mistakes >= ERROR_DETAILS_MAX)
			return;
		const char *at = arena_printf(call->arena, "context[%d]", i++);
		if (!cJSON_IsObject(item))
			agui_invalid(call, at, "type_error", "must be an object");
		else if (need(call, item, at, "description"))
			need(call, item, at, "value");
	}
}

/* What nodes read of the page: config.ag_ui. */
static void agui_input_add_config(const cJSON *body, struct run_input *run)
{
	const cJSON *context = json_opt(body, "context");
	const cJSON *properties = json_opt(body, "forwardedProps");
	cJSON *own = cJSON_AddObjectToObject(run->config, "ag_ui");
	cJSON_AddItemToObject(
	    own, "context", context ? cJSON_Duplicate(context, true) : cJSON_CreateArray());
	cJSON_AddItemToObject(own, "forwarded_props",
	    properties ? cJSON_Duplicate(properties, true) : cJSON_CreateObject());
}

/* ---- answers to interrupts ---- */

static void check_entry(struct call *call, const cJSON *entry, const char *at)
{
	if (!cJSON_IsObject(entry)) {
		agui_invalid(call, at, "type_error", "must be an object");
		return;
	}
	need(call, entry, at, "interruptId");
	const char *status = json_str(entry, "status");
	if (!status || (strcmp(status, "resolved") != 0 && strcmp(status, "cancelled") != 0))
		agui_invalid(call, arena_printf(call->arena, "%s.status", at),
		    json_opt(entry, "status") ? "value_error" : "missing",
		    "must be one of resolved, cancelled");
}

static void read_resume(struct call *call, const cJSON *body, struct agui_input *in)
{
	const cJSON *resume = json_opt(body, "resume"), *entry;
	int i = 0;
	if (is_wrong(call, body, "resume", cJSON_IsArray, "must be an array"))
		return;
	cJSON_ArrayForEach(entry, resume) {
		if (call->error.mistakes >= ERROR_DETAILS_MAX)
			return;
		check_entry(call, entry, arena_printf(call->arena, "resume[%d]", i++));
	}
	in->resume = i > 0 ? resume : NULL;
}

/* ---- tools ---- */

static void agui_input_check_tool(struct call *call, const cJSON *tool, const char *at)
{
	const cJSON *description = json_opt(tool, "description");
	const cJSON *parameters = json_opt(tool, "parameters");
	if (!cJSON_IsObject(tool)) {
		agui_invalid(call, at, "type_error", "must be an object");
		return;
	}
	need(call, tool, at, "name");
	if (description && !cJSON_IsString(description))
		need(call, tool, at, "description");
	if (parameters && !cJSON_IsObject(parameters))
		agui_invalid(call, arena_printf(call->arena, "%s.parameters", at), "type_error",
		    "must be a JSON Schema object");
}

static void agui_input_check_tools(struct call *call, const cJSON *body)
{
	const cJSON *tool;
	int i = 0;
	if (is_wrong(call, body, "tools", cJSON_IsArray, "must be an array"))
		return;
	cJSON_ArrayForEach(tool, json_opt(body, "tools")) {
		if (call->error.mistakes >= ERROR_DETAILS_MAX)
			return;
		agui_input_check_tool(call, tool, arena_printf(call->arena, "tools[%d]", i++));
	}
}

/* ---- all of it ---- */

/* The shape of the body, without which the rest cannot be read. */
static bool check_shape(struct call *call, const cJSON *body)
{
	const cJSON *messages = json_opt(body, "messages");
	need(call, body, "", "threadId");
	need(call, body, "", "runId");
	if (!cJSON_IsArray(messages))
		agui_invalid(
		    call, "messages", messages ? "type_error" : "missing", "must be an array");
	is_wrong(call, body, "parentRunId", cJSON_IsString, "must be a string");
	is_wrong(call, body, "protocolVersion", cJSON_IsString, "must be a string");
	agui_input_check_tools(call, body);
	check_context(call, body);
	return !error_is_set(&call->error);
}

bool agui_input_read(struct call *call, const cJSON *body, struct agui_input *in)
{
	*in = (struct agui_input){0};
	if (!check_shape(call, body))
		return false;
	run_input_default(call, &in->run);
	in->run.only_new = true;
	agui_input_read_thread_id(call, body, in);
	agui_input_read_run_id(call, body, in);
	agui_input_read_messages(call, body, &in->run);
	agui_input_read_state(call, body, in);
	read_resume(call, body, in);
	in->reads = !in->resume && !json_opt(body, "messages")->child;
	agui_input_add_config(body, &in->run);
	agui_tools_read(call, json_opt(body, "tools"), &in->run.client_tools);
	return !error_is_set(&call->error);
}
