/* SPDX-License-Identifier: ISC */
/* Reading input, command, configuration and stream modes of such a run. */
#include "service/langgraph/lg_input.h"

#include "base/fields.h"
#include "base/json/json.h"
#include "base/json/json_members.h"
#include "graph/graph.h"
#include "service/history/earlier.h"
#include "service/langgraph/lg_assistant.h"
#include "service/langgraph/lg_item.h"
#include "service/langgraph/lg_message.h"
#include "service/langgraph/lg_state.h"
#include "service/run/background/background.h"
#include "service/thread/change.h"

#include <string.h>

#define RECURSION_MAX 100 /* doc/protocol-runs.md#invoke */

struct lg_body {
	const char *assistant_id, *multitask_strategy, *if_not_exists, *on_disconnect;
	const cJSON *input, *command, *config, *context, *metadata, *stream_mode, *webhook;
	const cJSON *interrupt_before, *interrupt_after;
	double after_seconds;
	bool stream_resumable;
	/* members of config and of command */
	int64_t recursion_limit;
	const cJSON *configurable, *update, *go_to;
};

static const struct field_row lg_body_rows[] = {
    FIELD(lg_body, assistant_id, .kind = &field_text, .required = true),
    FIELD(
	lg_body, input, .kind = &field_json, .types = TYPE_OBJECT, .expected = "an object or null"),
    FIELD(lg_body, command, FIELD_OBJECT),
    FIELD(lg_body, config, FIELD_OBJECT),
    FIELD(lg_body, context, .kind = &field_json, .types = TYPE_OBJECT),
    FIELD(lg_body, metadata, FIELD_OBJECT),
    FIELD(lg_body, stream_mode, .kind = &field_json, .types = TYPE_STRING | TYPE_ARRAY,
	.expected = "a mode or an array of modes"),
    FIELD(lg_body, webhook, .kind = &field_json, .types = TYPE_STRING),
    FIELD(lg_body, multitask_strategy, .kind = &field_text),
    FIELD(lg_body, if_not_exists, .kind = &field_text),
    FIELD(lg_body, on_disconnect, .kind = &field_text),
    FIELD(lg_body, after_seconds, .kind = &field_number, .max = BACKGROUND_DELAY_MAX,
	.expected = BACKGROUND_DELAY_EXPECTED),
    FIELD(lg_body, stream_resumable, .kind = &field_bool),
    FIELD(lg_body, interrupt_before, .kind = &field_json, .types = TYPE_STRING | TYPE_ARRAY,
	.expected = "a string or an array"),
    FIELD(lg_body, interrupt_after, .kind = &field_json, .types = TYPE_STRING | TYPE_ARRAY,
	.expected = "a string or an array"),
    FIELDS_END,
};

static const struct field_row lg_config_rows[] = {
    FIELD(lg_body, configurable, FIELD_OBJECT),
    FIELD(lg_body, recursion_limit, .kind = &field_integer, .min = 1, .max = FIELD_INTEGER_MAX,
	.expected = "an integer above 0"),
    FIELDS_END,
};

static const struct field_row lg_command_rows[] = {
    FIELD(lg_body, update, .kind = &field_json, .types = TYPE_OBJECT | TYPE_ARRAY,
	.expected = "an object or an array of pairs"),
    FIELD_AT("goto", lg_body, go_to, .kind = &field_json,
	.types = TYPE_STRING | TYPE_ARRAY | TYPE_OBJECT),
    FIELDS_END,
};

/* ---- modes ---- */

/* The modes by name.  Modes that do not exist here, such as debug, are accepted and tell
 * nothing. */
static const struct choice lg_modes[] = {{"values", LG_VALUES}, {"updates", LG_UPDATES},
    {"messages", LG_MESSAGES}, {"messages-tuple", LG_TUPLES}, {"custom", LG_CUSTOM},
    {"events", LG_EVENTS}, {"debug", 0}, {"tasks", 0}, {"checkpoints", 0}, {"tools", 0},
    {"lifecycle", 0}, {NULL, 0}};

bool lg_mode_read(struct call *call, const char *name, unsigned *modes)
{
	int mode = 0;
	if (!name || !choice_find(lg_modes, name, &mode))
		return lg_wrong(call, "stream_mode",
		    "must be one of values, updates, messages, messages-tuple, custom, events, debug, "
		    "tasks, checkpoints, tools, lifecycle");
	*modes |= (unsigned)mode;
	return true;
}

static void lg_read_modes(struct call *call, const cJSON *given, unsigned *modes)
{
	const cJSON *item;
	*modes = given ? LG_ASKED : LG_VALUES;
	if (cJSON_IsString(given))
		lg_mode_read(call, given->valuestring, modes);
	else
		cJSON_ArrayForEach(item, given)
			if (!lg_mode_read(call, cJSON_GetStringValue(item), modes))
				return;
}

/* ---- what nobody can do ---- */

/* Whether the body only drops a question, as pages do with one that nobody will answer. */
static bool lg_goes_to_end(const struct lg_body *b)
{
	const cJSON *to = cJSON_GetArraySize(b->go_to) == 1 ? b->go_to->child : b->go_to;
	return cJSON_IsString(to) && strcmp(to->valuestring, LG_END_NODE) == 0 && !b->update &&
	    !json_get(b->command, "resume") && !(b->input && b->input->child);
}

/* Whether a list of nodes, or the word that stands for all, names any. */
static bool lg_names_nodes(const cJSON *given)
{
	return given && (given->child || cJSON_IsString(given));
}

static void lg_input_check(
    struct call *call, const struct lg_body *b, const char *thread_id, bool background)
{
	const char *strategy = b->if_not_exists, *gone = b->on_disconnect;
	if (lg_names_nodes(b->interrupt_before))
		lg_wrong(call, "interrupt_before", "is not supported: the graph declares it");
	if (lg_names_nodes(b->interrupt_after))
		lg_wrong(call, "interrupt_after", "is not supported: the graph declares it");
	if (b->update && b->input)
		lg_wrong(call, "command.update", "must not stand beside an input");
	if (b->update && json_get(b->command, "resume") && json_opt(b->update, "messages"))
		lg_wrong(
		    call, "command.update", "must have no messages beside an answer, which is one");
	if (b->go_to && (background || !thread_id || !lg_goes_to_end(b)))
		lg_wrong(call, "command.goto",
		    "is not supported: edges of the graph say where it goes on");
	if (strategy && strcmp(strategy, "create") != 0 && strcmp(strategy, "reject") != 0)
		lg_wrong(call, "if_not_exists", "must be one of create, reject");
	if (gone && strcmp(gone, "cancel") != 0 && strcmp(gone, "continue") != 0)
		lg_wrong(call, "on_disconnect", "must be one of cancel, continue");
	if (!background && b->webhook)
		lg_wrong(call, "webhook", "is for runs in the background");
	if (!background && b->after_seconds > 0)
		lg_wrong(call, "after_seconds", "is for runs in the background");
}

/* An update as an object; as pairs, each of a name and its value, it may name nothing twice, since
 * an object has no place for that. */
static const cJSON *lg_input_update(struct call *call, const cJSON *update)
{
	cJSON *out = arena_json(call->arena, cJSON_CreateObject());
	const cJSON *pair;
	if (!cJSON_IsArray(update))
		return update;
	cJSON_ArrayForEach(pair, update) {
		const cJSON *name = cJSON_IsArray(pair) ? pair->child : NULL;
		if (cJSON_IsString(name) && cJSON_GetArraySize(pair) == 2)
			json_refer(out, name->valuestring, name->next);
	}
	json_members_unique(out);
	if (cJSON_GetArraySize(out) == cJSON_GetArraySize(update))
		return out;
	lg_wrong(
	    call, "command.update", "must be an object or an array of pairs with different names");
	return NULL;
}

/* ---- the body ---- */

static bool lg_add_given(void *arg, const char *id, const char *body_json)
{
	(void)id;
	cJSON_AddItemToArray(arg, json_parse_own(body_json));
	return true;
}

/* Reads the checkpoint that the run begins at, and adds what a run was given there, if it is an
 * input. */
static bool lg_input_place(struct call *call, const struct thread *thread, const cJSON *body,
    const struct lg_input *in, cJSON *messages, cJSON *config)
{
	struct storage *storage = call->service->storage;
	const char *id = lg_checkpoint_id(call, body);
	struct lg_place place;
	/* a thread that was brought back to where a node had ended goes on there */
	bool brought_back = in->goes_on && thread->status == RUN_STOPPED && thread->next;
	if (error_is_set(&call->error) || (!id && !brought_back))
		return !error_is_set(&call->error);
	const char *latest = lg_latest_id(call, thread);
	if (error_is_set(&call->error))
		return false;
	id = id ? id : latest;
	if (!id)
		return true;
	/* pages name the latest checkpoint with every message: that goes back nowhere */
	if (!in->goes_on && latest && strcmp(latest, id) == 0)
		return true;
	if (!lg_place_find(call, thread, id, &place))
		return false;
	if (!place.is_input) {
		json_add_str(config, "checkpoint_id", id);
		return true;
	}
	if (!place.parent)
		return lg_wrong(call, "checkpoint", "must be one that has a checkpoint before it");
	json_add_str(config, "checkpoint_id", earlier_id(call->arena, place.parent));
	cJSON *given = arena_json(call->arena, cJSON_CreateArray()), *one;
	if (!storage->runs->messages(
		storage, &call->ctx, &place.run, RUN_GIVEN, lg_add_given, given, &call->error))
		return false;
	for (int i = cJSON_GetArraySize(given) - 1; i >= 0; i--) {
		one = cJSON_DetachItemFromArray(given, i);
		cJSON_InsertItemInArray(messages, 0, one);
	}
	return true;
}

bool lg_field_check(struct call *call, const cJSON *item, const char *at)
{
	const struct field *field = graph_field_get(call->service->graph, item->string);
	return !field || graph_field_accepts(field, item) ||
	    error_wrong(&call->error, arena_printf(call->arena, "%s.%s", at, field->name),
		"type_error", "must be of type %s", field->type);
}

/* Everything of input but the messages is state. */
static void lg_input_state(struct call *call, cJSON *out, const cJSON *input, const char *at)
{
	cJSON *state = cJSON_CreateObject();
	const cJSON *item;
	cJSON_ArrayForEach(item, input) {
		if (strcmp(item->string, "messages") != 0 && lg_field_check(call, item, at))
			json_refer(state, item->string, item);
	}
	if (state->child)
		json_add(out, "initial_state", state);
	else
		cJSON_Delete(state);
}

static cJSON *lg_input_config(const struct lg_body *b, const char *thread_id)
{
	cJSON *config = cJSON_CreateObject();
	const cJSON *item;
	cJSON_ArrayForEach(item, b->configurable) {
		if (strcmp(item->string, "thread_id") != 0 &&
		    strcmp(item->string, "checkpoint_id") != 0 &&
		    strcmp(item->string, "run_id") != 0)
			json_refer(config, item->string, item);
	}
	json_refer(config, "context", b->context);
	if (thread_id)
		json_add_str(config, "thread_id", thread_id);
	return config;
}

/* The answers that a resume of CopilotKit's LangGraphAgent stands for, by their ids: it wraps
 * several, and one that somebody has cancelled.  Any other resume as it is. */
static const cJSON *lg_input_unwrap(struct call *call, const cJSON *resume)
{
	const cJSON *all = json_get(resume, "__agui_resume_map__"), *one;
	const char *cancelled = json_str(resume, "interrupt_id");
	cJSON *out = arena_json(call->arena, cJSON_CreateObject());
	if (cancelled && cJSON_IsTrue(json_get(resume, "__agui_cancelled__"))) {
		cJSON_AddNullToObject(out, cancelled);
		return out;
	}
	if (!cJSON_IsObject(all))
		return resume;
	cJSON_ArrayForEach(one, all) {
		const cJSON *answer = json_get(one, "payload");
		if (answer && json_str_is(one, "status", "resolved"))
			json_refer(out, one->string, answer);
		else
			cJSON_AddNullToObject(out, one->string);
	}
	return out->child ? out : resume;
}

/* Reads the thread, unless the run may make it and names no place in it. */
static bool lg_input_thread(struct call *call, const char *thread_id, const cJSON *body,
    const struct lg_body *b, struct thread *thread)
{
	bool makes = b->if_not_exists && strcmp(b->if_not_exists, "create") == 0;
	bool placed = json_opt(body, "checkpoint") || json_opt(body, "checkpoint_id");
	*thread = (struct thread){0};
	if (!thread_id || (makes && !placed) || thread_find(call, thread_id, thread))
		return true;
	if (call->error.kind != ERR_RESOURCE_NOT_FOUND || !makes)
		return false;
	error_release(&call->error);
	return true;
}

bool lg_input_read(struct call *call, const char *thread_id, const cJSON *body, bool background,
    struct lg_input *in)
{
	struct lg_body b = {0};
	struct thread thread;
	*in = (struct lg_input){0};
	fields_read_body(&call->error, "body", body, lg_body_rows, &b);
	fields_read_body(&call->error, "body.config", b.config, lg_config_rows, &b);
	fields_read_body(&call->error, "body.command", b.command, lg_command_rows, &b);
	b.update = lg_input_update(call, b.update);
	if (cJSON_IsArray(b.go_to) && !b.go_to->child)
		b.go_to = NULL;
	lg_read_modes(call, b.stream_mode, &in->modes);
	lg_input_check(call, &b, thread_id, background);
	in->goes_to_end = b.go_to != NULL;
	if (in->goes_to_end)
		b.input = NULL;
	const char *given = b.input ? "body.input" : "body.command.update";
	if (!b.input)
		b.input = b.update; /* then the command's update is the input */
	cJSON *messages = lg_messages_read(call, json_opt(b.input, "messages"),
	    arena_printf(call->arena, "%s.messages", given),
	    thread_id && !background ? &in->removal : NULL);
	if (error_is_set(&call->error) || !lg_assistant_check(call, b.assistant_id) ||
	    !lg_input_thread(call, thread_id, body, &b, &thread))
		return false;
	const cJSON *resume = lg_input_unwrap(call, json_get(b.command, "resume"));
	in->goes_on = !b.input && !resume;
	in->resumable = b.stream_resumable;
	in->ends_with_client = b.on_disconnect && strcmp(b.on_disconnect, "cancel") == 0;
	in->body = arena_json(call->arena, cJSON_CreateObject());
	cJSON *config = lg_input_config(&b, thread_id);
	json_add(in->body, "config", config);
	if (thread.row && !lg_input_place(call, &thread, body, in, messages, config))
		return false;
	json_refer(in->body, "messages", messages);
	lg_input_state(call, in->body, b.input, given);
	if (resume)
		json_refer(in->body, "resume", resume);
	else if ((in->goes_on || lg_removes(&in->removal)) && !json_str(config, "checkpoint_id"))
		cJSON_AddNullToObject(in->body, "resume");
	if (b.recursion_limit)
		json_add_int(in->body, "recursion_limit",
		    b.recursion_limit < RECURSION_MAX ? b.recursion_limit : RECURSION_MAX);
	if (b.multitask_strategy)
		json_add_str(in->body, "multitask_strategy", b.multitask_strategy);
	if (background) {
		json_refer(in->body, "webhook", b.webhook);
		if (b.after_seconds > 0)
			json_add(in->body, "delay", json_new_double(b.after_seconds));
		json_refer(in->body, "metadata", b.metadata);
	}
	return !error_is_set(&call->error);
}
