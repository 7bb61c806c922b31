/* SPDX-License-Identifier: ISC */
/* A frame checked, turned into a body and run, or refused with one chunk. */
#include "service/run/socket.h"

#include "base/json/json.h"
#include "base/os/clock.h"
#include "graph/message/message.h"
#include "service/run/turn.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "Invalid request: "
#define RESULTS "tool_result"

/* The thread that a frame asks for, as it stands there, or NULL. */
static const cJSON *socket_asked_thread(const cJSON *frame)
{
	const cJSON *config = json_opt(frame, "config");
	const cJSON *id = json_opt(config, "thread_id");
	return id ? id : json_opt(frame, "thread_id");
}

/* One error chunk for a frame that does not run.  Its shape is that of
 * doc/protocol-sockets.md#rejected-frames: no run, no metadata. */
static void socket_answer(struct call *call, const cJSON *frame, struct chunk_sink *sink)
{
	struct error_view view;
	const cJSON *thread_id = socket_asked_thread(frame);
	call_error_view(call, &view);
	cJSON *chunk = cJSON_CreateObject();
	cJSON_AddStringToObject(chunk, "event", "error");
	cJSON_AddNullToObject(chunk, "message");
	cJSON_AddNullToObject(chunk, "state");
	cJSON *data = cJSON_AddObjectToObject(chunk, "data");
	cJSON_AddStringToObject(data, "status", "error");
	cJSON_AddStringToObject(data, "reason", view.detail);
	cJSON_AddStringToObject(data, "error_code", view.code);
	cJSON_AddItemToObject(data, "details",
	    view.details ? cJSON_Duplicate(view.details, true) : cJSON_CreateArray());
	if (call->error.kind == ERR_RATE_LIMIT)
		limit_describe(&call->limit, data);
	json_add_str(chunk, "thread_id", cJSON_IsString(thread_id) ? thread_id->valuestring : NULL);
	if (json_is_number(thread_id)) {
		char *text = json_print(thread_id);
		json_set(chunk, "thread_id", cJSON_CreateString(text));
		cJSON_free(text);
	}
	cJSON_AddNullToObject(chunk, "run_id");
	cJSON_AddNullToObject(chunk, "metadata");
	cJSON_AddItemToObject(chunk, "timestamp", json_new_double(clock_seconds(clock_now())));
	char *line = json_print(chunk);
	sink->chunk(sink, line, strlen(line));
	cJSON_free(line);
	cJSON_Delete(chunk);
}

void socket_refuse(struct call *call, const char *text, size_t len, struct chunk_sink *sink)
{
	enum json_fault fault;
	cJSON *frame = json_parse_within(text, len, JSON_REQUEST_DEPTH, &call->values, &fault);
	socket_answer(call, arena_json(call->arena, frame), sink);
}

static void socket_refuse_as(
    struct call *call, enum error_kind kind, const char *text, struct chunk_sink *sink)
{
	error_set(&call->error, kind, "%s", text);
	socket_answer(call, NULL, sink);
}

void socket_refuse_binary(struct call *call, struct chunk_sink *sink)
{
	socket_refuse_as(call, ERR_VALIDATION, PREFIX "binary frames are not accepted", sink);
}

void socket_refuse_large(struct call *call, struct chunk_sink *sink)
{
	const char *text = arena_printf(call->arena, PREFIX "frame exceeds %" PRId64 " bytes",
	    call->service->config->env.max_request_size);
	socket_refuse_as(call, ERR_REQUEST_TOO_LARGE, text, sink);
}

void socket_refuse_live(struct call *call, struct chunk_sink *sink)
{
	socket_refuse_as(call, ERR_GRAPH_IS_LIVE,
	    "This graph is a live (realtime) agent; connect to /v1/graph/live instead of "
	    "/v1/graph/ws.",
	    sink);
}

/* ---- from a frame to the body of a run ---- */

static bool socket_invalid(struct call *call, const char *text)
{
	return error_set(&call->error, ERR_VALIDATION, PREFIX "%s", text);
}

static bool socket_has_items(const cJSON *frame, const char *key)
{
	const cJSON *array = json_opt(frame, key);
	return array && !(cJSON_IsArray(array) && !array->child);
}

/* Whether the frame names a thread that can exist already: blank and "new" name none. */
static bool socket_names_thread(const cJSON *frame)
{
	const cJSON *id = socket_asked_thread(frame);
	if (!cJSON_IsString(id))
		return id != NULL;
	return !id_blank(id->valuestring) && strcmp(id->valuestring, "new") != 0;
}

/* The frame as a tree in the arena; NULL with the error set. */
static cJSON *socket_parse(struct call *call, const char *text, size_t len)
{
	enum json_fault fault;
	cJSON *frame = json_parse_within(text, len, JSON_REQUEST_DEPTH, &call->values, &fault);
	if (fault == JSON_INVALID)
		socket_invalid(call, "frame is not valid JSON");
	else if (!frame)
		error_set(&call->error, ERR_VALIDATION, PREFIX "frame %s", json_fault_text(fault));
	else if (!cJSON_IsObject(frame))
		socket_invalid(call, "frame must be a JSON object");
	return arena_json(call->arena, frame);
}

/* A resume frame brings answers, and nothing to answer. */
static bool socket_are_results(struct call *call, const cJSON *messages)
{
	const cJSON *message;
	int i = 0;
	cJSON_ArrayForEach(message, messages) {
		const char *at = arena_printf(call->arena, "body." RESULTS "[%d].role", i);
		if (!message_is(message, "tool"))
			error_wrong(&call->error, at, "value_error", "must be tool");
		i++;
	}
	return !error_is_set(&call->error);
}

/* Each run counts as a request, where the handshake did. */
static bool socket_within_limit(struct call *call, const struct socket_session *session)
{
	struct limiter *limiter = call->service->limiter;
	struct limit_verdict *verdict = &call->limit;
	const char *user_id = call->identity.verified ? call->identity.user_id : NULL;
	if (!limiter_is_on(limiter) ||
	    limiter_excludes(limiter, session->path, strlen(session->path)))
		return true;
	limit_check(limiter, limiter_key(limiter, user_id, session->address, call->arena), verdict);
	return verdict->allowed ||
	    error_set(&call->error, ERR_RATE_LIMIT,
		"Rate limit exceeded. Retry after %" PRId64 "s.", verdict->reset_after);
}

/* Makes a turn that can be opened from a frame; false with the error set as the client is told
 * it. */
static bool socket_read_frame(struct call *call, cJSON *frame, struct turn *turn)
{
	struct error *err = &call->error;
	if (error_is_set(err))
		return false;
	const cJSON *type = json_opt(frame, "invoke_type");
	const char *name = type ? cJSON_GetStringValue(type) : "fresh";
	bool resumes = name && strcmp(name, "resume") == 0;
	if (resumes) {
		/* the results are the messages of its run; what else it may carry is ignored */
		if (!socket_has_items(frame, RESULTS))
			return socket_invalid(
			    call, "tool_result must not be empty for invoke_type='resume'");
		if (!socket_names_thread(frame))
			return socket_invalid(
			    call, "config.thread_id is required for invoke_type='resume'");
		cJSON_DeleteItemFromObjectCaseSensitive(frame, "resume");
	} else {
		if (!name || strcmp(name, "fresh") != 0)
			return socket_invalid(call, "invoke_type must be fresh or resume");
		bool answers = json_get(frame, "resume") != NULL;
		bool goes_on = json_str(json_opt(frame, "config"), "checkpoint_id") != NULL;
		if (!answers && !goes_on && !socket_has_items(frame, "messages"))
			return socket_invalid(
			    call, "messages must not be empty for invoke_type='fresh'");
		if (answers && !socket_names_thread(frame))
			return socket_invalid(call, "config.thread_id is required with resume");
	}
	if (turn_read(turn, call, frame, resumes ? RESULTS : "messages") &&
	    (!resumes || socket_are_results(call, turn->in.messages)))
		return true;
	/* a frame is refused for what a run would be, with the same detail behind the prefix */
	if (err->kind == ERR_VALIDATION || err->kind == ERR_BAD_REQUEST) {
		char detail[sizeof(err->detail)];
		size_t room = sizeof(detail) - sizeof(PREFIX), had = strlen(err->detail);
		snprintf(detail, sizeof(detail), PREFIX "%.*s",
		    (int)utf8_cut(err->detail, had < room ? had : room), err->detail);
		memcpy(err->detail, detail, sizeof(detail));
	}
	return false;
}

enum socket_next socket_frame(struct call *call, const struct socket_session *session,
    const char *text, size_t len, struct chunk_sink *sink)
{
	struct turn turn;
	cJSON *frame = socket_parse(call, text, len);
	bool read = socket_read_frame(call, frame, &turn);
	if (read && session->credential_exp && clock_now() / 1000000 >= session->credential_exp) {
		error_set(&call->error, ERR_EXPIRED_TOKEN,
		    "Session expired. Reconnect with a valid token.");
		socket_answer(call, frame, sink);
		return SOCKET_EXPIRED;
	}
	if (!read || !socket_within_limit(call, session)) {
		socket_answer(call, frame, sink);
		return SOCKET_GOES_ON;
	}
	/* The handshake knew no thread, so every frame is asked about its own
	 * (doc/protocol-access.md#ownership). */
	const char *thread_id = turn.in.thread_id;
	const struct permission permission = {"graph", "stream", thread_id};
	if (call_permit(call, &permission) && turn_open(&turn)) {
		stream_turn(&turn, sink);
	} else {
		/* beside others on the same socket, a refusal says which thread it is about */
		if (call->error.kind == ERR_PERMISSION && thread_id) {
			error_release(&call->error);
			error_set(&call->error, ERR_PERMISSION,
			    "Not authorized to stream thread %s", thread_id);
		}
		socket_answer(call, frame, sink);
	}
	turn_end(&turn);
	return SOCKET_GOES_ON;
}
