/* SPDX-License-Identifier: ISC */
/* Reading thread, messages, initial state, limits, time-outs and config of a run. */
#include "service/run/run_input.h"

#include "base/fields.h"
#include "base/json/json.h"
#include "base/texts.h"
#include "graph/message/message.h"
#include "service/thread/change.h"
#include "service/thread/ident.h"
#include "service/thread/messages.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define RECURSION_LIMIT 25
#define NODE_TIMEOUT 900.0
#define TOOL_TIMEOUT 300.0

static const struct choice granularities[] = {{"full", GRANULARITY_FULL},
    {"partial", GRANULARITY_PARTIAL}, {"low", GRANULARITY_LOW}, {NULL, 0}};

static const struct choice strategies[] = {{"enqueue", CLAIM_ENQUEUE}, {"reject", CLAIM_REJECT},
    {"interrupt", CLAIM_INTERRUPT}, {"rollback", CLAIM_ROLLBACK}, {NULL, 0}};

/* Members of config.  Clients may lower a time-out; larger values count as the default
 * (doc/protocol-runs.md#invoke). */
#define TIMEOUT \
	.kind = &field_number, .min = DBL_TRUE_MIN, .expected = "a number of seconds above 0"
static const struct field_row config_rows[] = {
    FIELD(run_input, checkpoint_id, .kind = &field_text),
    FIELD(run_input, node_timeout, TIMEOUT),
    FIELD(run_input, tool_timeout, TIMEOUT),
    FIELDS_END,
};

static const struct field_row run_rows[] = {
    FIELD(run_input, initial_state, .kind = &field_json, .types = TYPE_OBJECT),
    FIELD(run_input, recursion_limit, .kind = &field_integer, .min = 1, .max = 100,
	.expected = "between 1 and 100"),
    FIELD_AT("response_granularity", run_input, granularity, .kind = &field_choice,
	.choices = granularities, .expected = "one of full, partial, low"),
    FIELD_AT("multitask_strategy", run_input, claim, .kind = &field_choice, .choices = strategies,
	.expected = "one of enqueue, reject, interrupt, rollback"),
    FIELD(run_input, resumable, .kind = &field_bool),
    FIELDS_END,
};

bool granularity_read(struct call *call, const char *where, const char *text, enum granularity *g)
{
	int value = GRANULARITY_LOW;
	bool ok = !text || choice_find(granularities, text, &value);
	*g = (enum granularity)value;
	return ok ||
	    error_wrong(&call->error, where, "value_error", "must be one of full, partial, low");
}

/* Reads the messages.  They must not have tool calls, since only the model may make them
 * (doc/protocol-runs.md#client-side-tools); but in a whole conversation there are those that it
 * has made. */
static void run_input_read_messages(
    struct call *call, const cJSON *body, const char *key, struct run_input *in)
{
	const cJSON *messages = json_opt(body, key), *item;
	int i = 0, count = cJSON_GetArraySize(messages);
	in->messages = arena_json(call->arena, cJSON_CreateArray());
	in->given_id = arena_alloc(call->arena, (size_t)count + 1);
	in->at = arena_alloc(call->arena, ((size_t)count + 1) * sizeof(*in->at));
	if (messages && !cJSON_IsArray(messages)) {
		error_wrong(&call->error, arena_printf(call->arena, "body.%s", key), "type_error",
		    "must be an array");
		return;
	}
	if (count == 0 && !in->has_resume && !in->checkpoint_id && !in->by_state)
		error_wrong(&call->error, "body.messages", messages ? "value_error" : "missing",
		    "must contain at least one message");
	cJSON_ArrayForEach(item, messages) {
		if (call->error.mistakes >= ERROR_DETAILS_MAX)
			break; /* more would not be reported */
		const char *at = in->whole ? json_str(item, MESSAGE_AT) : NULL;
		if (!at)
			at = arena_printf(call->arena, "body.%s[%d]", key, i);
		in->at[i] = at;
		const cJSON *id = json_opt(item, "message_id");
		cJSON *message = message_normalise(
		    item, at, MESSAGE_FROM_CLIENT, &call->service->ids, &call->error);
		if (message) {
			cJSON_AddItemToArray(in->messages, message);
			in->given_id[i] = cJSON_IsString(id)
			    ? strcmp(id->valuestring, message_id(message)) == 0
			    : json_is_number(id);
			if (message_has_calls(message) && !in->whole)
				error_wrong(&call->error, at, "value_error", RUN_INPUT_NO_CALLS);
		}
		i++;
	}
}

static bool run_input_has_fields(struct call *call, const cJSON *state)
{
	const cJSON *item = cJSON_IsObject(state) ? state->child : NULL;
	while (item && (cJSON_IsNull(item) || !graph_field_get(call->service->graph, item->string)))
		item = item->next;
	return item;
}

/* Checks the members that the graph has fields for; the others are up to the nodes. */
static void run_input_check_state(struct call *call, const struct run_input *in)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, in->initial_state) {
		const struct field *field = graph_field_get(call->service->graph, item->string);
		if (!field || graph_field_accepts(field, item))
			continue;
		const char *at = arena_printf(call->arena, "body.initial_state.%s", field->name);
		error_wrong(&call->error, at, "type_error", "must be of type %s", field->type);
	}
}

static bool run_input_is_server_owned(const char *key)
{
	static const char *const owned[] = {
	    "remote_tools", "user", "user_id", "authz", "ag_ui", NULL};
	return key[0] == '_' || texts_has(owned, key);
}

static cJSON *run_input_clean_config(struct call *call, const cJSON *config)
{
	cJSON *clean = arena_json(call->arena, cJSON_CreateObject());
	const cJSON *item;
	cJSON_ArrayForEach(item, config) {
		if (!run_input_is_server_owned(item->string))
			json_refer(clean, item->string, item);
	}
	cJSON_AddItemToObject(clean, "user", cJSON_Duplicate(call->user, true));
	return clean;
}

static void run_input_read_thread_id(
    struct call *call, const cJSON *body, const cJSON *config, struct run_input *in)
{
	const char *top = NULL, *inner = NULL;
	if (!thread_id_read_new(call, "body.thread_id", json_opt(body, "thread_id"), &top) ||
	    !thread_id_read_new(
		call, "body.config.thread_id", json_opt(config, "thread_id"), &inner))
		return;
	if (top && inner && strcmp(top, inner) != 0)
		error_set(
		    &call->error, ERR_BAD_REQUEST, "thread_id and config.thread_id must match");
	in->thread_id = top ? top : inner;
}

static const struct run_input run_input_limits = {
    .recursion_limit = RECURSION_LIMIT, .node_timeout = NODE_TIMEOUT, .tool_timeout = TOOL_TIMEOUT};

void run_input_default(struct call *call, struct run_input *in)
{
	*in = run_input_limits;
	in->config = run_input_clean_config(call, NULL);
}

bool run_input_read(
    struct call *call, const cJSON *body, const char *key, bool whole, struct run_input *in)
{
	const cJSON *config = json_opt(body, "config");
	*in = run_input_limits;
	in->whole = whole;
	in->by_state = whole && run_input_has_fields(call, json_opt(body, "initial_state"));
	in->resume = json_get(body, "resume");
	in->has_resume = in->resume != NULL;
	if (!cJSON_IsObject(config))
		config = NULL;
	in->checkpoint_id = json_str(config, "checkpoint_id");
	config_check(call, body);
	run_input_read_thread_id(call, body, config, in);
	run_input_read_messages(call, body, key, in);
	fields_read_body(&call->error, "body", body, run_rows, in);
	run_input_check_state(call, in);
	const char *run_id = json_str(config, "run_id");
	bool named = run_id && !id_blank(run_id);
	if (named && id_valid(run_id))
		in->run_id = arena_strdup(call->arena, run_id);
	else if (named)
		error_wrong(&call->error, "body.config.run_id", "value_error",
		    "must be 1 to 255 characters without control characters");
	fields_read_body(&call->error, "body.config", config, config_rows, in);
	if (in->checkpoint_id && !in->thread_id && !error_is_set(&call->error))
		error_wrong(
		    &call->error, "body.config.checkpoint_id", "value_error", "needs a thread_id");
	in->node_timeout = fmin(in->node_timeout, NODE_TIMEOUT);
	in->tool_timeout = fmin(in->tool_timeout, TOOL_TIMEOUT);
	in->config = run_input_clean_config(call, config);
	return !error_is_set(&call->error);
}
