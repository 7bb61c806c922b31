/* SPDX-License-Identifier: ISC */
/* Checking the body member by member: model, thread, messages, tools, and what nobody can do. */
#include "service/openai/openai_internal.h"

#include "base/fields.h"
#include "base/json/json.h"
#include "graph/message/message.h"
#include "service/run/client_tools.h"
#include "service/thread/ident.h"

#include <stdio.h>
#include <string.h>

#define TOOLS_MAX 128

struct openai_body {
	const char *model;
	const cJSON *messages, *tools, *metadata, *options;
	bool stream, usage;
	int64_t n, top_logprobs;
	bool logprobs;
	const cJSON *audio, *modalities, *functions;
};

static const struct field_row option_rows[] = {
    FIELD_AT("include_usage", openai_body, usage, .kind = &field_bool), FIELDS_END};

/* All other members, such as how a model is to choose its words, are ignored: the graph decides
 * that. */
static const struct field_row openai_body_rows[] = {
    FIELD(openai_body, model, .kind = &field_text, .required = true),
    FIELD(openai_body, messages, FIELD_ARRAY, .required = true, .min = 1,
	.expected = "an array of at least one message"),
    FIELD(openai_body, tools, FIELD_ARRAY),
    FIELD(openai_body, metadata, FIELD_OBJECT),
    FIELD(openai_body, stream, .kind = &field_bool),
    FIELD_AT("stream_options", openai_body, options, FIELD_OBJECT),
    FIELD(openai_body, n, .kind = &field_integer, .min = 1, .expected = "an integer above 0"),
    FIELD(openai_body, logprobs, .kind = &field_bool),
    FIELD(openai_body, top_logprobs, .kind = &field_integer, .expected = "an integer, 0 or more"),
    FIELD(openai_body, audio, FIELD_OBJECT),
    FIELD(openai_body, modalities, FIELD_ARRAY),
    FIELD(openai_body, functions, FIELD_ARRAY),
    FIELDS_END,
};

struct openai_tool {
	const char *type, *name;
	const cJSON *function, *description, *parameters;
};

static const struct choice openai_tool_types[] = {{"function", 0}, {NULL, 0}};

static const struct field_row openai_tool_rows[] = {
    FIELD(openai_tool, type, .kind = &field_text, .required = true, .choices = openai_tool_types,
	.wrong = "must be function"),
    FIELD(openai_tool, function, FIELD_OBJECT, .required = true),
    FIELDS_END,
};

static const struct field_row openai_function_rows[] = {
    FIELD(openai_tool, name, .kind = &field_text, .required = true),
    FIELD(openai_tool, description, .kind = &field_json, .types = TYPE_STRING),
    FIELD(openai_tool, parameters, FIELD_OBJECT, .expected = "a JSON Schema object"),
    FIELDS_END,
};

/* ---- the model ---- */

const char *openai_model(const struct config *config)
{
	return config->openai_model ? config->openai_model : config_agent_name(config);
}

/* Sets the code of the one mistake that was just found, unless it is not the first. */
static bool openai_code(struct call *call, const char *code)
{
	if (call->error.mistakes <= 1)
		snprintf(call->error.code, sizeof(call->error.code), "%s", code);
	return false;
}

bool openai_no_model(struct call *call, const char *path, const char *name)
{
	error_field(&call->error, ERR_RESOURCE_NOT_FOUND, path, "value_error",
	    "The model '%s' does not exist", name);
	return openai_code(call, "model_not_found");
}

/* ---- what nobody can do ---- */

static bool openai_unsupported(struct call *call, const char *param, const char *text)
{
	error_field(&call->error, ERR_VALIDATION, arena_printf(call->arena, "body.%s", param),
	    "value_error", "%s", text);
	return openai_code(call, "unsupported_parameter");
}

static bool openai_supported(struct call *call, const struct openai_body *b)
{
	if (b->n > 1)
		return openai_unsupported(call, "n", "n above 1 is not supported");
	if (b->logprobs)
		return openai_unsupported(call, "logprobs", "logprobs are not supported");
	if (b->top_logprobs > 0)
		return openai_unsupported(call, "top_logprobs", "top_logprobs is not supported");
	if (b->audio)
		return openai_unsupported(call, "audio", "audio output is not supported");
	if (json_has_str(b->modalities, "audio"))
		return openai_unsupported(call, "modalities", "audio output is not supported");
	if (b->functions && b->functions->child)
		return openai_unsupported(
		    call, "functions", "functions are not supported, tools are");
	return true;
}

/* ---- the thread ---- */

/* The thread of the request; the header goes before the body.  What a page asks for itself, such as
 * a title or tags, is not part of the conversation; its metadata.task says so. */
static const char *openai_thread(struct call *call, const struct openai_body *b, const char *header)
{
	const char *id = *header ? header : NULL;
	const char *where = "header.X-Thread-ID";
	if (json_opt(b->metadata, "task"))
		return NULL;
	if (!id) {
		where = "body.metadata.thread_id";
		if (!thread_id_read(call, where, json_opt(b->metadata, "thread_id"), &id))
			return NULL;
	}
	return id && thread_id_check(call, where, id) ? id : NULL;
}

/* ---- messages ---- */

/* Reads the messages.  With a thread, only those behind the last assistant message can be new, and
 * system messages are not the client's to set. */
static void openai_read_messages(struct call *call, const cJSON *messages, struct run_input *run)
{
	const cJSON *item, *known = run->thread_id ? message_last(messages, "assistant") : NULL;
	int i = 0;
	run->messages = arena_json(call->arena, cJSON_CreateArray());
	run->given_id = arena_alloc(call->arena, (size_t)cJSON_GetArraySize(messages) + 1);
	cJSON_ArrayForEach(item, messages) {
		if (call->error.mistakes >= ERROR_DETAILS_MAX)
			return; /* no more mistakes are reported */
		const char *at = arena_printf(call->arena, "body.messages[%d]", i++);
		bool passed = known != NULL;
		if (item == known)
			known = NULL;
		if (passed ||
		    (run->thread_id &&
			(message_is(item, "system") || message_is(item, "developer"))))
			continue;
		cJSON *message = openai_message_read(call, item, at);
		if (message)
			json_append(run->messages, message);
	}
	if (!run->thread_id && !error_is_set(&call->error))
		openai_messages_answer(call, run->messages);
}

/* ---- tools ---- */

/* Brings the tools into the form in which other clients offer theirs. */
static void openai_read_tools(
    struct call *call, const cJSON *tools, bool allowed, struct client_tools *offered)
{
	cJSON *plain = arena_json(call->arena, cJSON_CreateArray());
	const cJSON *item;
	int i = 0;
	cJSON_ArrayForEach(item, tools) {
		struct openai_tool tool = {0};
		const char *at = arena_printf(call->arena, "body.tools[%d]", i++);
		if (call->error.mistakes >= ERROR_DETAILS_MAX)
			return;
		if (!fields_read_entry(&call->error, at, item, openai_tool_rows, &tool))
			continue;
		const char *inside = arena_printf(call->arena, "%s.function", at);
		if (fields_read_body(
			&call->error, inside, tool.function, openai_function_rows, &tool)) {
			cJSON *copy = json_append(plain, cJSON_CreateObject());
			json_add_str(copy, "name", tool.name);
			json_refer(copy, "description", tool.description);
			json_refer(copy, "parameters", tool.parameters);
		}
	}
	if (!error_is_set(&call->error))
		client_tools_read(call, plain, TOOLS_MAX, allowed, offered);
}

/* ---- the body ---- */

bool openai_input_read(
    struct call *call, const cJSON *body, const char *thread_id, struct openai_input *in)
{
	struct openai_body b = {.n = 1};
	*in = (struct openai_input){0};
	fields_read_body(&call->error, "body", body, openai_body_rows, &b);
	fields_read_body(&call->error, "body.stream_options", b.options, option_rows, &b);
	if (error_is_set(&call->error))
		return false;
	const char *choice = json_str(body, "tool_choice");
	if (strcmp(b.model, openai_model(call->service->config)) != 0)
		return openai_no_model(call, "body.model", b.model);
	if (!openai_supported(call, &b))
		return false;
	run_input_default(call, &in->run);
	in->run.only_new = true;
	in->run.message_resumes = true;
	in->run.thread_id = openai_thread(call, &b, thread_id);
	in->stream = b.stream;
	in->usage = b.stream && b.usage;
	openai_read_messages(call, b.messages, &in->run);
	openai_read_tools(
	    call, b.tools, !choice || strcmp(choice, "none") != 0, &in->run.client_tools);
	return !error_is_set(&call->error);
}
