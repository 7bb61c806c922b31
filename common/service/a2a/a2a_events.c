/* SPDX-License-Identifier: ISC */
/* Telling chunks as events, in both versions of the protocol. */
#include "service/a2a/a2a_events.h"

#include "base/json/json.h"
#include "base/os/clock.h"
#include "graph/message/message.h"
#include "service/a2a/a2a_message.h"
#include "service/run/said.h"

/* ---- one event ---- */

/* Takes result over. */
static void a2a_send_result(struct a2a_events *events, cJSON *result)
{
	struct buf *line = &events->line;
	buf_reset(line);
	buf_printf(line, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":", events->id);
	json_write(line, result);
	buf_putc(line, '}');
	cJSON_Delete(result);
	events->send(events->arg, line->data, line->len);
}

void a2a_events_begin(struct a2a_events *events)
{
	const cJSON *task = events->task;
	if (!task)
		return;
	events->task = NULL;
	cJSON *whole = cJSON_Duplicate(task, true);
	if (!events->old) {
		cJSON *wrapped = cJSON_CreateObject();
		json_add(wrapped, "task", whole);
		whole = wrapped;
	}
	a2a_send_result(events, whole);
}

/* An event about the task, of which the caller fills body. */
static cJSON *a2a_event_new(
    const struct a2a_events *events, const char *name, const char *kind, cJSON **body)
{
	cJSON *result = cJSON_CreateObject();
	*body = result;
	if (events->old)
		json_add_str(result, "kind", kind);
	else
		*body = json_add(result, name, cJSON_CreateObject());
	json_add_str(*body, "taskId", events->task_id);
	json_add_str(*body, "contextId", events->context_id);
	return result;
}

static void a2a_send_status(
    struct a2a_events *events, enum a2a_state state, int64_t since, cJSON *message, bool final)
{
	cJSON *body, *result = a2a_event_new(events, "statusUpdate", "status-update", &body);
	json_add(body, "status", a2a_status(events->old, state, since, message));
	if (events->old)
		json_add(body, "final", cJSON_CreateBool(final));
	a2a_events_begin(events);
	a2a_send_result(events, result);
	events->ended = final;
}

/* parts is taken over. */
static void a2a_send_artifact(
    struct a2a_events *events, const char *id, cJSON *parts, bool append, bool last)
{
	cJSON *body, *result = a2a_event_new(events, "artifactUpdate", "artifact-update", &body);
	cJSON *artifact = json_add(body, "artifact", a2a_artifact(id));
	json_add(artifact, "parts", parts);
	json_add(body, "append", cJSON_CreateBool(append));
	json_add(body, "lastChunk", cJSON_CreateBool(last));
	a2a_events_begin(events);
	a2a_send_result(events, result);
}

void a2a_events_artifacts(struct a2a_events *events, const cJSON *artifacts)
{
	const cJSON *artifact;
	cJSON_ArrayForEach(artifact, artifacts)
		a2a_send_artifact(events, json_str(artifact, "artifactId"),
		    cJSON_Duplicate(json_get(artifact, "parts"), true), false, true);
}

/* ---- messages ---- */

static void a2a_on_piece(struct a2a_events *events, const cJSON *message)
{
	const char *id = message_id(message);
	cJSON *parts = cJSON_CreateArray();
	a2a_parts_add(parts, events->old, json_get(message, "content"));
	if (!parts->child) {
		cJSON_Delete(parts);
		return;
	}
	bool append = json_get(events->open, id);
	if (!append)
		cJSON_AddTrueToObject(events->open, id);
	a2a_send_artifact(events, id, parts, append, false);
}

/* Tells a message, unless it was told in pieces, since clients would append it. */
static void a2a_on_message(struct a2a_events *events, const cJSON *message)
{
	const char *id = message_id(message);
	bool append = json_get(events->open, id);
	cJSON *parts = cJSON_CreateArray();
	if (append)
		cJSON_AddItemToArray(parts, a2a_text_part(events->old, ""));
	else
		a2a_parts_add(parts, events->old, json_get(message, "content"));
	if (parts->child)
		a2a_send_artifact(events, id, parts, append, true);
	else
		cJSON_Delete(parts);
	cJSON_DeleteItemFromObjectCaseSensitive(events->open, id);
}

/* ---- how it goes on ---- */

static void a2a_on_pause(struct a2a_events *events, const cJSON *data)
{
	struct arena *a = arena_new();
	const cJSON *interrupt = json_get(data, "interrupt"), *all = json_opt(data, "interrupts");
	cJSON *message = NULL;
	if (cJSON_IsObject(interrupt)) {
		message = a2a_agent_message(
		    events->old, json_str(interrupt, "id"), events->context_id, events->task_id);
		json_append(json_add(message, "parts", cJSON_CreateArray()),
		    a2a_text_part(events->old, interrupt_question(a, interrupt)));
		cJSON *metadata = json_add(message, "metadata", cJSON_CreateObject());
		json_add(metadata, "interrupt", cJSON_Duplicate(interrupt, true));
		if (all)
			json_add(metadata, "interrupts", cJSON_Duplicate(all, true));
	}
	a2a_send_status(events, A2A_INPUT_REQUIRED, clock_now(), message, true);
	arena_free(a);
}

static void a2a_on_error(struct a2a_events *events, const cJSON *chunk)
{
	const char *reason = json_str(json_get(chunk, "data"), "reason");
	const char *run_id = json_str(chunk, "run_id");
	struct arena *a = arena_new();
	cJSON *message = a2a_agent_message(events->old,
	    arena_printf(a, "%s.error", run_id ? run_id : ""), events->context_id, events->task_id);
	json_append(json_add(message, "parts", cJSON_CreateArray()),
	    a2a_text_part(events->old, reason ? reason : ""));
	a2a_send_status(events, A2A_FAILED, clock_now(), message, true);
	arena_free(a);
}

void a2a_events_chunk(struct a2a_events *events, const char *json, size_t len)
{
	cJSON *chunk = json_parse(json, len, JSON_TRUSTED_DEPTH, NULL);
	const cJSON *message = json_get(chunk, "message"), *data = json_get(chunk, "data");
	if (!events->open)
		events->open = cJSON_CreateObject();
	if (json_str_is(chunk, "event", "message") && message_is(message, "assistant") &&
	    message_id(message)) {
		if (cJSON_IsTrue(json_get(message, "delta")))
			a2a_on_piece(events, message);
		else
			a2a_on_message(events, message);
	} else if (json_str_is(chunk, "event", "updates")) {
		if (json_str_is(data, "status", "interrupted"))
			a2a_on_pause(events, data);
		else if (json_str_is(data, "status", "stopped"))
			a2a_send_status(events, A2A_CANCELED, clock_now(), NULL, true);
		else if (json_str_is(data, "status", "restarted"))
			a2a_send_status(events, A2A_WORKING, clock_now(), NULL, false);
	} else if (json_str_is(chunk, "event", "error")) {
		a2a_on_error(events, chunk);
	}
	cJSON_Delete(chunk);
}

void a2a_events_end(struct a2a_events *events, enum a2a_state state, int64_t since, cJSON *message)
{
	if (events->ended)
		cJSON_Delete(message);
	else
		a2a_send_status(events, state, since, message, true);
}

void a2a_events_release(struct a2a_events *events)
{
	buf_release(&events->line);
	cJSON_Delete(events->open);
}

/* ---- a sink ---- */

static void a2a_sink_send(void *arg, const char *json, size_t len)
{
	struct a2a_sink *sink = arg;
	sink->behind->chunk(sink->behind, json, len);
}

static void a2a_sink_chunk(struct chunk_sink *arg, const char *json, size_t len)
{
	struct a2a_sink *sink = (struct a2a_sink *)arg;
	if (!sink->part.len) {
		a2a_events_chunk(&sink->events, json, len);
		return;
	}
	buf_add(&sink->part, json, len);
	a2a_events_chunk(&sink->events, sink->part.data, sink->part.len);
	buf_reset(&sink->part);
}

static bool a2a_sink_part(struct chunk_sink *arg, const char *json, size_t len)
{
	buf_add(&((struct a2a_sink *)arg)->part, json, len);
	return true;
}

static void a2a_sink_cut(struct chunk_sink *arg, const char *why)
{
	(void)why;
	buf_reset(&((struct a2a_sink *)arg)->part);
}

static void a2a_sink_cork(struct chunk_sink *arg, bool on)
{
	sink_cork(((struct a2a_sink *)arg)->behind, on);
}

void a2a_sink_init(struct a2a_sink *sink, struct chunk_sink *behind)
{
	*sink = (struct a2a_sink){.sink = {.chunk = a2a_sink_chunk,
				      .cork = a2a_sink_cork,
				      .part = a2a_sink_part,
				      .cut = a2a_sink_cut},
	    .behind = behind,
	    .events = {.send = a2a_sink_send}};
	sink->events.arg = sink;
}

void a2a_sink_release(struct a2a_sink *sink)
{
	a2a_events_release(&sink->events);
	buf_release(&sink->part);
}
