/* SPDX-License-Identifier: ISC */
/* A stored thread as state, a pause as an interrupt, and the reducers of fields. */
#include "graph/state.h"

#include "base/id.h"
#include "base/json/json.h"
#include "base/json/json_members.h"
#include "graph/message/message.h"

#include <string.h>

static const char *const status_names[] = {
    [RUN_IDLE] = "idle",
    [RUN_RUNNING] = "running",
    [RUN_INTERRUPTED] = "interrupted",
    [RUN_COMPLETED] = "completed",
    [RUN_ERROR] = "error",
    [RUN_STOPPED] = "stopped",
    [RUN_QUEUED] = "queued",
};

static const char *const stop_names[] = {
    [STOP_NONE] = "none",
    [STOP_REQUESTED] = "stop_requested",
    [STOP_DONE] = "stopped",
};

const char *run_status_name(enum run_status status)
{
	return status_names[status];
}

void thread_blank(struct thread *thread, const char *thread_id, const char *user_id)
{
	*thread = (struct thread){
	    .thread_id = thread_id,
	    .thread_name = "",
	    .user_id = user_id,
	    .metadata_json = "{}",
	    .node = AG_START,
	    .fields_json = "{}",
	};
}

cJSON *state_fields(const ag_graph *graph, const char *fields_json)
{
	cJSON *fields = cJSON_CreateObject();
	cJSON *stored = json_parse_own(fields_json);
	for (size_t i = 0; i < graph->field_count; i++) {
		const struct field *field = &graph->fields[i];
		cJSON *value = cJSON_DetachItemFromObjectCaseSensitive(stored, field->name);
		if (!value)
			value = cJSON_Duplicate(field->initial, true);
		cJSON_AddItemToObject(fields, field->name, value);
	}
	cJSON_Delete(stored);
	return fields;
}

enum pause_kind pause_kind_of(const cJSON *pause)
{
	if (json_str_is(pause, "kind", "interrupt_before"))
		return PAUSE_BEFORE_NODE;
	return json_str_is(pause, "kind", "interrupt_after") ? PAUSE_AFTER_NODE : PAUSE_BY_NODE;
}

/* An object with a member for each of the interrupts, by its id. */
static cJSON *interrupts_by_id(const cJSON *interrupts)
{
	cJSON *ids = cJSON_CreateObject();
	const cJSON *interrupt;
	cJSON_ArrayForEach(interrupt, interrupts) {
		const char *id = json_str(interrupt, "id");
		if (id)
			cJSON_AddTrueToObject(ids, id);
	}
	return ids;
}

/* A client may send more keys than there are interrupts. */
bool interrupts_named(const cJSON *interrupts, const cJSON *resume)
{
	struct json_members known;
	bool named = true;
	if (!cJSON_IsObject(resume) || !resume->child)
		return false;
	cJSON *ids = interrupts_by_id(interrupts);
	json_members_init(&known, ids);
	for (const cJSON *member = resume->child; named && member; member = member->next)
		named = json_members_get(&known, member->string);
	json_members_release(&known);
	cJSON_Delete(ids);
	return named;
}

bool pause_is_missed(const cJSON *pause, const cJSON *resume)
{
	const char *only = json_str(json_get(pause, "interrupt"), "id");
	struct json_members known;
	bool missed = false, of_ids = true;
	if (!cJSON_IsObject(resume))
		return false;
	cJSON *ids = interrupts_by_id(json_get(pause, "interrupts"));
	json_members_init(&known, ids);
	for (const cJSON *member = resume->child; of_ids && member; member = member->next) {
		const char *key = member->string;
		of_ids = strncmp(key, "int_", 4) == 0 && strlen(key) == 3 + HEX_ID_SIZE;
		missed = missed ||
		    (of_ids && !(only && strcmp(only, key) == 0) && !json_members_get(&known, key));
	}
	json_members_release(&known);
	cJSON_Delete(ids);
	return missed && of_ids;
}

const char *pause_asked(const cJSON *pause)
{
	return json_str(pause, "asked");
}

enum pause_kind thread_pause_kind(const struct thread *thread)
{
	cJSON *pause = json_parse_own(thread->pause_json);
	enum pause_kind kind = pause_kind_of(pause);
	cJSON_Delete(pause);
	return kind;
}

/* A member of the pause that the thread is in, a new tree, or NULL. */
static cJSON *thread_pause_member(const struct thread *thread, const char *name)
{
	if (thread->status != RUN_INTERRUPTED || !thread->pause_json)
		return NULL;
	cJSON *pause = json_parse_own(thread->pause_json);
	cJSON *member = cJSON_DetachItemFromObjectCaseSensitive(pause, name);
	cJSON_Delete(pause);
	return member;
}

cJSON *thread_interrupt(const struct thread *thread)
{
	return thread_pause_member(thread, "interrupt");
}

void thread_add_interrupts(const struct thread *thread, cJSON *out)
{
	cJSON *all = thread_pause_member(thread, "interrupts");
	if (all)
		cJSON_AddItemToObject(out, "interrupts", all);
}

cJSON *thread_waiting_message(const struct thread *thread)
{
	cJSON *waiting = json_parse_own(thread->waiting_json), *message = NULL;
	if (waiting) {
		message = message_new("assistant", json_str(waiting, "message_id"),
		    cJSON_DetachItemFromObjectCaseSensitive(waiting, "calls"));
		message_fill_calls(message);
	}
	cJSON_Delete(waiting);
	return message;
}

/* Remote calls that wait are shown in the three members of an interrupt, but are none
 * (doc/protocol-runs.md#client-side-tools). */
static void state_add_waiting(cJSON *meta, const struct thread *thread)
{
	cJSON *waiting = json_parse_own(thread->waiting_json);
	const cJSON *call;
	cJSON_AddStringToObject(meta, "interrupted_node", thread->node);
	cJSON_AddStringToObject(meta, "interrupt_reason", "remote_tool_call");
	cJSON *ids =
	    cJSON_AddArrayToObject(cJSON_AddObjectToObject(meta, "interrupt_data"), "call_ids");
	cJSON_ArrayForEach(call, json_get(waiting, "calls"))
		cJSON_AddItemToArray(ids, cJSON_Duplicate(json_get(call, "id"), true));
	cJSON_Delete(waiting);
}

enum run_status thread_status(const struct thread *thread, const struct run_flags *flags)
{
	if (flags->running)
		return RUN_RUNNING;
	return thread->status == RUN_RUNNING ? RUN_ERROR : thread->status;
}

static cJSON *state_meta(const struct thread *thread, const struct run_flags *flags)
{
	enum run_status status = thread_status(thread, flags);
	enum stop_state stop = flags->stop_requested ? STOP_REQUESTED : thread->stop;
	cJSON *interrupt = flags->running ? NULL : thread_interrupt(thread);
	cJSON *meta = cJSON_CreateObject();
	cJSON_AddStringToObject(
	    meta, "current_node", flags->running && thread->next ? thread->next : thread->node);
	json_add_int(meta, "step", thread->step);
	cJSON_AddBoolToObject(meta, "is_running", flags->running);
	cJSON_AddBoolToObject(meta, "is_interrupted", interrupt != NULL);
	cJSON_AddBoolToObject(
	    meta, "is_stopped_requested", flags->running && flags->stop_requested);
	cJSON_AddStringToObject(meta, "status", status_names[status]);
	if (!interrupt && thread->waiting_json && !flags->running) {
		state_add_waiting(meta, thread);
	} else {
		json_add_or_null(
		    meta, "interrupted_node", cJSON_Duplicate(json_get(interrupt, "node"), true));
		json_add_or_null(
		    meta, "interrupt_reason", cJSON_Duplicate(json_get(interrupt, "reason"), true));
		json_add_or_null(
		    meta, "interrupt_data", cJSON_Duplicate(json_get(interrupt, "data"), true));
	}
	if (interrupt) {
		cJSON_AddItemToObject(meta, "interrupt", interrupt);
		thread_add_interrupts(thread, meta);
	}
	cJSON_AddStringToObject(meta, "thread_id", thread->thread_id);
	cJSON_AddStringToObject(meta, "stop_current_execution", stop_names[stop]);
	cJSON_AddObjectToObject(meta, "internal_data");
	return meta;
}

cJSON *state_json(const ag_graph *graph, const struct thread *thread, const struct run_flags *flags,
    cJSON *context)
{
	cJSON *state = cJSON_CreateObject();
	cJSON_AddItemToObject(state, "context", context);
	json_add_str(state, "context_summary", thread->summary);
	cJSON_AddItemToObject(state, "execution_meta", state_meta(thread, flags));
	cJSON *fields = state_fields(graph, thread->fields_json);
	while (fields->child) {
		cJSON *item = cJSON_DetachItemViaPointer(fields, fields->child);
		cJSON_AddItemToObject(state, item->string, item);
	}
	cJSON_Delete(fields);
	return state;
}

cJSON *state_value(const struct field *field, cJSON *value)
{
	int64_t integer;
	if (strcmp(field->type, "integer") != 0 || !json_integer(value, &integer))
		return value;
	cJSON_Delete(value);
	return json_new_int(integer);
}

/* Adds a number to a field; false where the sum is beyond its type: no integer, or infinite. */
static bool state_add(
    cJSON *fields, const struct field *field, const cJSON *old, const cJSON *value)
{
	cJSON *total;
	int64_t x, y, whole;
	double u = 0, v = 0;
	if (json_integer(old, &x) && json_integer(value, &y) &&
	    !__builtin_add_overflow(x, y, &whole)) {
		total = json_new_int(whole);
	} else {
		json_number(old, &u);
		json_number(value, &v);
		total = json_new_double(u + v);
	}
	bool fits = !cJSON_IsNull(total) && graph_field_accepts(field, total);
	if (fits)
		json_set(fields, field->name, total);
	else
		cJSON_Delete(total);
	return fits;
}

bool state_reduce(cJSON *fields, const struct field *field, cJSON *value)
{
	cJSON *old = json_opt(fields, field->name);
	/* an element to append need not be an array */
	if (field->reducer != AG_APPEND && !graph_field_accepts(field, value)) {
		cJSON_Delete(value);
		return false;
	}
	if (cJSON_IsNull(value) && field->reducer != AG_REPLACE) {
		cJSON_Delete(value);
		return true;
	}
	if (!old || field->reducer == AG_REPLACE) {
		if (field->reducer == AG_APPEND && !cJSON_IsArray(value)) {
			cJSON *array = cJSON_CreateArray();
			cJSON_AddItemToArray(array, value);
			value = array;
		}
		json_set(fields, field->name, state_value(field, value));
		return true;
	}
	bool fits = true;
	switch (field->reducer) {
	case AG_REPLACE: /* done above */
		break;
	case AG_APPEND:
		if (!cJSON_IsArray(value)) {
			cJSON_AddItemToArray(old, value);
			return true;
		}
		while (value->child)
			cJSON_AddItemToArray(old, cJSON_DetachItemViaPointer(value, value->child));
		break;
	case AG_ADD:
		fits = state_add(fields, field, old, value);
		break;
	case AG_MERGE:
		json_merge(old, value);
		break;
	}
	cJSON_Delete(value);
	return fits;
}
