/* SPDX-License-Identifier: ISC */
/* Runs that answer with one document, runs that stream, and stopping either. */
#include "service/run/runs.h"

#include "base/clock.h"
#include "base/json.h"
#include "graph/message.h"
#include "service/run/chunk.h"
#include "service/run/turn.h"
#include "service/thread/change.h"
#include "service/thread/ident.h"

#include <string.h>

/* How long a stop waits for the record of a run that it finds in flight. */
#define STORED_MS 5000

/* ---- invoke ---- */

/* Nobody watches an invoke run; its messages are read when it is over. */
static void runs_ignore_event(
    struct run_observer *observer, ag_run *run, const struct run_event *event)
{
	(void)observer, (void)run, (void)event;
}

/* The latest user message of the request, then what the run made (doc/protocol-runs.md#invoke). */
static cJSON *answer_messages(const struct turn *turn)
{
	cJSON *out = cJSON_CreateArray();
	const cJSON *message, *user = turn->user;
	int skip = turn->brought;
	if (turn->action == TURN_REPORT_PAUSE)
		return out;
	if (user)
		cJSON_AddItemReferenceToArray(out, (cJSON *)user);
	if (turn->action == TURN_REPORT_WAITING)
		cJSON_AddItemToArray(out, turn_waiting_message(turn));
	const cJSON *made = turn->run ? run_messages(turn->run) : NULL;
	cJSON_ArrayForEach(message, made) {
		if (skip-- <= 0)
			cJSON_AddItemReferenceToArray(out, (cJSON *)message);
	}
	return out;
}

static void add_meta(cJSON *data, const struct turn *turn)
{
	cJSON *meta = cJSON_AddObjectToObject(data, "meta");
	cJSON *interrupt = turn_interrupt(turn);
	cJSON_AddBoolToObject(meta, "is_new_thread", turn->is_new);
	cJSON_AddStringToObject(meta, "thread_id", turn->thread.thread_id);
	cJSON_AddStringToObject(meta, "run_id", turn->run_id);
	cJSON_AddItemToObject(meta, "interrupt", interrupt ? interrupt : cJSON_CreateNull());
	if (turn_thread_name(turn))
		cJSON_AddStringToObject(meta, "thread_name", turn_thread_name(turn));
	if (turn->action == TURN_REPORT_PAUSE && turn->bring->child && !turn->again)
		cJSON_AddStringToObject(meta, "note",
		    "The messages of this request were not kept: the thread is paused and goes on "
		    "with resume");
}

/* What the granularity shows beside messages and meta. */
static bool add_state(cJSON *data, struct turn *turn)
{
	if (turn->in.granularity == GRANULARITY_LOW)
		return true;
	cJSON *state = turn_state(turn);
	if (!state)
		return false;
	cJSON_AddItemToObject(data, "state", state);
	cJSON_AddItemReferenceToObject(data, "context", json_get(state, "context"));
	if (turn->in.granularity == GRANULARITY_FULL)
		cJSON_AddItemReferenceToObject(data, "summary", json_get(state, "context_summary"));
	return true;
}

static cJSON *invoke_data(struct turn *turn)
{
	cJSON *data = arena_json(turn->call->arena, cJSON_CreateObject());
	cJSON_AddItemToObject(data, "messages", answer_messages(turn));
	add_meta(data, turn);
	return add_state(data, turn) ? data : NULL;
}

cJSON *run_invoke(struct call *call, const cJSON *body)
{
	struct run_observer observer = {.event = runs_ignore_event};
	struct turn turn;
	cJSON *data = NULL;
	if (turn_read(&turn, call, body, "messages") && turn_open(&turn) &&
	    turn_run(&turn, &observer))
		data = invoke_data(&turn);
	turn_end(&turn);
	return data;
}

/* ---- stream ---- */

void stream_turn(struct turn *turn, struct chunk_sink *sink)
{
	struct chunk_writer writer;
	chunk_writer_init(&writer, turn, sink);
	bool ok = turn_run(turn, &writer.observer);
	if (ok && turn->action == TURN_REPORT_WAITING) {
		cJSON *message = turn_waiting_message(turn);
		chunk_message(&writer, message);
		cJSON_Delete(message);
	}
	chunk_outcome(&writer, ok);
	turn_end(turn); /* who reads the terminator finds the thread free */
	chunk_done(&writer);
	chunk_writer_release(&writer);
}

bool run_stream(struct call *call, const cJSON *body, struct chunk_sink *sink)
{
	struct turn turn;
	if (!turn_read(&turn, call, body, "messages"))
		return false;
	bool open = turn_open(&turn);
	if (open)
		stream_turn(&turn, sink);
	turn_end(&turn);
	return open;
}

/* ---- stop ---- */

static cJSON *stop_data(struct call *call, const char *thread_id, bool running, bool known)
{
	char now[ISO_TIME_SIZE];
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	cJSON_AddStringToObject(data, "status", "stopped");
	cJSON_AddStringToObject(data, "thread_id", thread_id);
	cJSON_AddTrueToObject(data, "success");
	cJSON_AddTrueToObject(data, "ok");
	cJSON_AddBoolToObject(data, "running", running);
	json_add_str(data, "reason", running ? NULL : known ? "not-running" : "no-state");
	cJSON_AddStringToObject(
	    data, "message", running ? "Stop requested" : "Thread is not running");
	cJSON_AddStringToObject(data, "stopped_at", clock_iso(clock_now(), now));
	return data;
}

/* Whether the thread is stored.  A run on a new one is in flight some milliseconds before that, and
 * only the record says whose it is. */
static bool stored(struct call *call, const char *thread_id, struct thread *thread)
{
	struct storage *storage = call->service->storage;
	bool stop;
	for (int waited = 0;; waited++) {
		if (storage->ops->thread_get(storage, call->arena, thread_id, thread, &call->error))
			return true;
		if (error_is_set(&call->error) || !call->permission.resource ||
		    !storage->ops->lease_running(storage, thread_id, &stop))
			return false;
		if (waited >= STORED_MS)
			return error_set(&call->error, ERR_TRANSIENT_STORAGE, NULL);
		clock_sleep_ms(1);
	}
}

cJSON *run_stop(struct call *call, const cJSON *body)
{
	struct storage *storage = call->service->storage;
	const char *thread_id;
	struct thread thread;
	if (!thread_named(call, body, &thread_id))
		return NULL;
	bool known = stored(call, thread_id, &thread);
	if (error_is_set(&call->error) || (known && !call_owns(call, &thread)))
		return NULL;
	bool running =
	    (known || !call->permission.resource) && storage->ops->lease_stop(storage, thread_id);
	return stop_data(call, thread_id, running, known);
}
