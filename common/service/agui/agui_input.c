/* SPDX-License-Identifier: ISC */
/* Checking the body member by member, and picking out the messages that are new. */
#include "service/agui/agui.h"

#include "base/fields.h"
#include "base/json/json.h"
#include "graph/message/message.h"
#include "service/run/client_tools.h"
#include "service/thread/ident.h"

#include <stdlib.h>
#include <string.h>

#define TOOLS_MAX 64

#define STRING(name, ...)                                        \
	{                                                        \
		.key = (name), .types = TYPE_STRING, __VA_ARGS__ \
	}
#define NEEDED .required = true

static const struct field_row top_rows[] = {
    STRING("threadId", NEEDED),
    STRING("runId", NEEDED),
    {.key = "messages", .types = TYPE_ARRAY, NEEDED},
    STRING("parentRunId", .required = false),
    STRING("protocolVersion", .required = false),
    {.key = "tools", .types = TYPE_ARRAY},
    {.key = "context", .types = TYPE_ARRAY},
    FIELDS_END,
};

static const struct field_row resume_rows[] = {{.key = "resume", .types = TYPE_ARRAY}, FIELDS_END};

/* Tables for the entries of arrays in the body. */
static const struct field_row message_rows[] = {
    STRING("role", NEEDED), STRING("id", NEEDED), FIELDS_END};

static const struct field_row context_rows[] = {
    STRING("description", NEEDED), STRING("value", NEEDED), FIELDS_END};

static const struct field_row tool_rows[] = {
    STRING("name", NEEDED),
    STRING("description", .required = false),
    {.key = "parameters", .types = TYPE_OBJECT, .expected = "a JSON Schema object"},
    FIELDS_END,
};

static const struct field_row entry_rows[] = {STRING("interruptId", NEEDED), FIELDS_END};

struct agui_place {
	struct call *call;
	const char *at; /* "" for the body, else "tools[2]." */
};

static void agui_input_report(const struct field_reader *reader, const char *path,
    const struct field_row *f, enum field_fault fault, const cJSON *found)
{
	(void)found;
	const struct agui_place *place = reader->where;
	const char *type;
	char *says = field_body_says(f, fault, &type);
	agui_invalid(
	    place->call, arena_printf(place->call->arena, "%s%s", place->at, path), type, says);
	free(says);
}

/* Checks an object by a table; false when a mistake was reported. */
static bool agui_input_check(
    struct call *call, const char *at, const cJSON *object, const struct field_row *rows)
{
	struct agui_place place = {call, *at ? arena_printf(call->arena, "%s.", at) : ""};
	const struct field_reader reader = {.report = agui_input_report, .where = &place};
	if (*at && !cJSON_IsObject(object))
		return agui_invalid(call, at, "type_error", "must be an object");
	return fields_read(&reader, object, rows, NULL);
}

/* The same for each entry of an array, whose first mistakes are enough. */
static void agui_input_check_entries(
    struct call *call, const cJSON *body, const char *name, const struct field_row *rows)
{
	const cJSON *array = json_opt(body, name), *item;
	int i = 0;
	if (!cJSON_IsArray(array))
		return;
	cJSON_ArrayForEach(item, array) {
		if (call->error.mistakes >= ERROR_DETAILS_MAX)
			return; /* no more mistakes are reported */
		agui_input_check(call, arena_printf(call->arena, "%s[%d]", name, i++), item, rows);
	}
}

/* ---- messages ---- */

/* Reads the messages that can be new; the thread has those before them. */
static void agui_input_read_messages(struct call *call, const cJSON *body, struct run_input *run)
{
	const cJSON *messages = json_opt(body, "messages"), *item;
	int i = 0, count = 0;
	const cJSON *known = message_last(messages, "assistant");
	run->messages = arena_json(call->arena, cJSON_CreateArray());
	run->given_id = arena_alloc(call->arena, (size_t)cJSON_GetArraySize(messages) + 1);
	cJSON_ArrayForEach(item, messages) {
		if (call->error.mistakes >= ERROR_DETAILS_MAX)
			return; /* no more mistakes are reported */
		const char *at = arena_printf(call->arena, "messages[%d]", i++);
		bool fits = agui_input_check(call, at, item, message_rows);
		if (item == known)
			known = NULL;
		if (!fits || known || !(message_is(item, "user") || message_is(item, "tool")))
			continue;
		cJSON *message = agui_message_read(call, item, at);
		if (!message)
			continue;
		json_append(run->messages, message);
		run->given_id[count++] = strcmp(json_str(item, "id"), message_id(message)) == 0;
	}
}

/* ---- state, context, properties ---- */

/* Reads the state, which counts only if it is an object.  Members that the graph has no field for
 * are ignored. */
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

/* ---- answers to interrupts ---- */

static void agui_input_read_resume(struct call *call, const cJSON *body, struct agui_input *in)
{
	const cJSON *resume = json_opt(body, "resume"), *entry;
	int i = 0;
	if (!agui_input_check(call, "", body, resume_rows))
		return;
	cJSON_ArrayForEach(entry, resume) {
		if (call->error.mistakes >= ERROR_DETAILS_MAX)
			return;
		const char *at = arena_printf(call->arena, "resume[%d]", i++);
		const char *status = json_str(entry, "status");
		agui_input_check(call, at, entry, entry_rows);
		if (cJSON_IsObject(entry) &&
		    (!status ||
			(strcmp(status, "resolved") != 0 && strcmp(status, "cancelled") != 0)))
			agui_invalid(call, arena_printf(call->arena, "%s.status", at),
			    json_opt(entry, "status") ? "value_error" : "missing",
			    "must be one of resolved, cancelled");
	}
	in->resume = i > 0 ? resume : NULL;
}

bool agui_input_read(struct call *call, const cJSON *body, struct agui_input *in)
{
	struct error *err = &call->error;
	*in = (struct agui_input){0};
	/* the shape of the body, without which the rest cannot be read */
	agui_input_check(call, "", body, top_rows);
	agui_input_check_entries(call, body, "tools", tool_rows);
	agui_input_check_entries(call, body, "context", context_rows);
	if (error_is_set(err))
		return false;
	run_input_default(call, &in->run);
	in->run.only_new = true;
	const char *thread = json_str(body, "threadId"), *run = json_str(body, "runId");
	if (id_blank(thread))
		error_wrong(err, "body.threadId", "value_error", "is required");
	else if (thread_id_check(call, "body.threadId", thread))
		in->run.thread_id = thread;
	if (id_blank(run))
		error_wrong(err, "body.runId", "value_error", "is required");
	else if (!id_valid(run))
		agui_invalid(call, "runId", "value_error",
		    "must be 1 to 255 characters without control characters");
	else
		in->run.run_id = run;
	agui_input_read_messages(call, body, &in->run);
	agui_input_read_state(call, body, in);
	agui_input_read_resume(call, body, in);
	in->reads = !in->resume && !json_opt(body, "messages")->child;
	/* what nodes read of the page: config.ag_ui */
	const cJSON *context = json_opt(body, "context"), *props = json_opt(body, "forwardedProps");
	cJSON *own = cJSON_AddObjectToObject(in->run.config, "ag_ui");
	json_add(own, "context", context ? cJSON_Duplicate(context, true) : cJSON_CreateArray());
	json_add(
	    own, "forwarded_props", props ? cJSON_Duplicate(props, true) : cJSON_CreateObject());
	client_tools_read(call, json_opt(body, "tools"), TOOLS_MAX,
	    call->service->config->ag_ui_allow_client_tools, &in->run.client_tools);
	return !error_is_set(err);
}
