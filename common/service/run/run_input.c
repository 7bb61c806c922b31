/* SPDX-License-Identifier: ISC */
/* Reading thread, messages, initial state, limits, time-outs and config of a run. */
#include "service/run/run_input.h"

#include "base/json.h"
#include "graph/message.h"
#include "service/thread/ident.h"

#include <stdio.h>
#include <string.h>

#define RECURSION_LIMIT 25
#define NODE_TIMEOUT 900.0
#define TOOL_TIMEOUT 300.0

static bool run_input_refuse(
    struct call *call, const char *where, const char *type, const char *text)
{
	return error_field(&call->error, ERR_VALIDATION, where, type, "%s", text);
}

/* A message in the input asks for nothing: only the model may
 * (doc/protocol-runs.md#tools-at-the-client). */
static void read_message(
    struct call *call, struct run_input *in, const cJSON *item, const char *key, int i)
{
	char at[40];
	const cJSON *id = json_opt(item, "message_id");
	snprintf(at, sizeof(at), "body.%s[%d]", key, i);
	cJSON *message =
	    message_normalise(item, at, MESSAGE_FROM_CLIENT, &call->service->ids, &call->error);
	if (!message)
		return;
	cJSON_AddItemToArray(in->messages, message);
	in->given_id[i] = cJSON_IsString(id) ? strcmp(id->valuestring, message_id(message)) == 0
					     : json_is_number(id);
	if (message_has_calls(message))
		error_field(&call->error, ERR_VALIDATION, at, "value_error",
		    "%s[%d] carries a tool call; only the model may request tools", key, i);
}

static void run_input_read_messages(
    struct call *call, const cJSON *body, const char *key, struct run_input *in)
{
	const cJSON *messages = json_opt(body, key), *item;
	int i = 0, count = cJSON_GetArraySize(messages);
	in->messages = arena_json(call->arena, cJSON_CreateArray());
	in->given_id = arena_alloc(call->arena, (size_t)count + 1);
	if (messages && !cJSON_IsArray(messages)) {
		error_field(&call->error, ERR_VALIDATION, arena_printf(call->arena, "body.%s", key),
		    "type_error", "%s must be an array", key);
		return;
	}
	if (count == 0 && !in->has_resume)
		run_input_refuse(call, "body.messages", messages ? "value_error" : "missing",
		    "messages must contain at least one message");
	cJSON_ArrayForEach(item, messages) {
		if (call->error.mistakes >= ERROR_DETAILS_MAX)
			break; /* nobody would be told of more */
		read_message(call, in, item, key, i++);
	}
}

static void read_initial_state(struct call *call, const cJSON *body, struct run_input *in)
{
	const cJSON *item;
	in->initial_state = json_opt(body, "initial_state");
	if (in->initial_state && !cJSON_IsObject(in->initial_state)) {
		run_input_refuse(
		    call, "body.initial_state", "type_error", "initial_state must be an object");
		return;
	}
	cJSON_ArrayForEach(item, in->initial_state) {
		const struct field *field = graph_field_get(call->service->graph, item->string);
		if (!field || graph_field_accepts(field, item))
			continue;
		const char *at = arena_printf(call->arena, "body.initial_state.%s", field->name);
		error_field(&call->error, ERR_VALIDATION, at, "type_error",
		    "initial_state.%s must be of type %s", field->name, field->type);
	}
}

static void run_input_read_limits(struct call *call, const cJSON *body, struct run_input *in)
{
	static const char *const names[] = {"low", "partial", "full"};
	const cJSON *limit = json_opt(body, "recursion_limit");
	const cJSON *granularity = json_opt(body, "response_granularity");
	int64_t value = RECURSION_LIMIT;
	if (limit && !(json_integer(limit, &value) && value >= 1 && value <= 100))
		run_input_refuse(call, "body.recursion_limit",
		    json_is_number(limit) ? "value_error" : "type_error",
		    "recursion_limit must be between 1 and 100");
	in->recursion_limit = (int)value;
	for (int i = 0; granularity && i < 3; i++) {
		if (cJSON_IsString(granularity) &&
		    strcmp(granularity->valuestring, names[i]) == 0) {
			in->granularity = (enum granularity)i;
			return;
		}
	}
	if (granularity)
		run_input_refuse(call, "body.response_granularity",
		    cJSON_IsString(granularity) ? "value_error" : "type_error",
		    "response_granularity must be one of full, partial, low");
}

/* Clients may lower a time-out; larger values count as the default
 * (doc/protocol-runs.md#invoke). */
static double run_input_read_timeout(
    struct call *call, const cJSON *config, const char *name, double most)
{
	const cJSON *item = json_opt(config, name);
	double value = most;
	if (item && !(json_number(item, &value) && value > 0)) {
		const char *at = arena_printf(call->arena, "body.config.%s", name);
		error_field(&call->error, ERR_VALIDATION, at,
		    json_is_number(item) ? "value_error" : "type_error",
		    "config.%s must be a number of seconds above 0", name);
	}
	return value < most ? value : most;
}

static bool is_server_owned(const char *key)
{
	static const char *const owned[] = {"remote_tools", "user", "user_id", "authz", "ag_ui"};
	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++) {
		if (strcmp(key, owned[i]) == 0)
			return true;
	}
	return key[0] == '_';
}

static cJSON *clean_config(struct call *call, const cJSON *config)
{
	cJSON *clean = arena_json(call->arena, cJSON_CreateObject());
	const cJSON *item;
	cJSON_ArrayForEach(item, config) {
		if (!is_server_owned(item->string))
			cJSON_AddItemToObject(clean, item->string, cJSON_Duplicate(item, true));
	}
	cJSON_AddItemToObject(clean, "user", cJSON_Duplicate(call->user, true));
	return clean;
}

static void run_input_read_run_id(struct call *call, const cJSON *config, struct run_input *in)
{
	const char *id = json_str(config, "run_id");
	if (!id || id_blank(id))
		return;
	if (id_valid(id))
		in->run_id = arena_strdup(call->arena, id);
	else
		run_input_refuse(call, "body.config.run_id", "value_error",
		    "config.run_id must be 1 to 255 characters without control characters");
}

/* thread_id at the top level or in config; blank and "new" ask for a new thread
 * (doc/protocol.md#thread-ids). */
static bool run_thread_id(struct call *call, const char *where, const cJSON *item, const char **id)
{
	if (!thread_id_read(call, where, item, id) || !*id)
		return !error_is_set(&call->error);
	if (id_blank(*id) || strcmp(*id, "new") == 0) {
		*id = NULL;
		return true;
	}
	return thread_id_check(call, where, *id);
}

static void run_input_read_thread_id(
    struct call *call, const cJSON *body, const cJSON *config, struct run_input *in)
{
	const char *top = NULL, *inner = NULL;
	if (!run_thread_id(call, "body.thread_id", json_opt(body, "thread_id"), &top) ||
	    !run_thread_id(call, "body.config.thread_id", json_opt(config, "thread_id"), &inner))
		return;
	if (top && inner && strcmp(top, inner) != 0)
		error_set(
		    &call->error, ERR_BAD_REQUEST, "thread_id and config.thread_id must match");
	in->thread_id = top ? top : inner;
}

void run_input_default(struct call *call, struct run_input *in)
{
	*in = (struct run_input){.recursion_limit = RECURSION_LIMIT,
	    .node_timeout = NODE_TIMEOUT,
	    .tool_timeout = TOOL_TIMEOUT,
	    .config = clean_config(call, NULL)};
}

bool run_input_read(struct call *call, const cJSON *body, const char *key, struct run_input *in)
{
	const cJSON *config = json_opt(body, "config");
	*in = (struct run_input){.resume = json_get(body, "resume")};
	in->has_resume = in->resume != NULL;
	if (config && !cJSON_IsObject(config)) {
		run_input_refuse(call, "body.config", "type_error", "config must be an object");
		config = NULL;
	}
	run_input_read_thread_id(call, body, config, in);
	run_input_read_messages(call, body, key, in);
	read_initial_state(call, body, in);
	run_input_read_limits(call, body, in);
	run_input_read_run_id(call, config, in);
	in->node_timeout = run_input_read_timeout(call, config, "node_timeout", NODE_TIMEOUT);
	in->tool_timeout = run_input_read_timeout(call, config, "tool_timeout", TOOL_TIMEOUT);
	in->config = clean_config(call, config);
	return !error_is_set(&call->error);
}
