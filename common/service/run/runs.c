/* SPDX-License-Identifier: ISC */
/* Runs that answer with one document, runs that stream, and stopping a run. */
#include "service/run/runs.h"

#include "base/json/json.h"
#include "base/os/clock.h"
#include "graph/message/message.h"
#include "graph/state.h"
#include "service/run/halt.h"
#include "service/run/stream/chunk.h"
#include "service/run/stream/keeper.h"
#include "service/run/turn.h"
#include "service/thread/change.h"
#include "service/thread/ident.h"
#include "storage/runs.h"

#include <string.h>

/* ---- invoke ---- */

/* The latest user message of the request, then what the run made (doc/protocol-runs.md#invoke).
 * Messages that the run has stored are shown as they were printed for that. */
static cJSON *runs_made(const struct turn *turn)
{
	cJSON *out = cJSON_CreateArray();
	const cJSON *message, *user = turn->user;
	size_t place = 0, brought = (size_t)turn->brought;
	if (turn->action == TURN_REPORT_PAUSE)
		return out;
	if (user)
		cJSON_AddItemReferenceToArray(out, (cJSON *)user);
	if (turn->action == TURN_REPORT_WAITING)
		cJSON_AddItemToArray(out, thread_waiting_message(&turn->thread));
	const cJSON *run_has = turn->run ? run_messages(turn->run) : NULL;
	cJSON_ArrayForEach(message, run_has) {
		const char *json = run_message_json(turn->run, place);
		if (message == user)
			json_assign(out->child, json_raw_reference(json));
		else if (place >= brought)
			cJSON_AddItemToArray(out, json_raw_reference(json));
		place++;
	}
	return out;
}

/* The answer, in the call's arena; NULL with call->error set. */
static cJSON *runs_answer(struct turn *turn)
{
	cJSON *data = arena_json(turn->call->arena, cJSON_CreateObject());
	json_add(data, "messages", runs_made(turn));
	cJSON *meta = json_add(data, "meta", cJSON_CreateObject());
	json_add(meta, "is_new_thread", cJSON_CreateBool(turn->is_new));
	json_add_str(meta, "thread_id", turn->thread.thread_id);
	json_add_str(meta, "run_id", turn->run_id);
	json_add_or_null(meta, "interrupt", turn_interrupt(turn));
	turn_add_interrupts(turn, meta);
	if (turn_thread_name(turn))
		json_add_str(meta, "thread_name", turn_thread_name(turn));
	turn_add_note(turn, meta);
	if (turn->in.granularity == GRANULARITY_LOW)
		return data;
	cJSON *state = turn_state(turn, NULL, false);
	if (!state)
		return NULL;
	json_add(data, "state", state);
	json_refer(data, "context", json_get(state, "context"));
	if (turn->in.granularity == GRANULARITY_FULL)
		json_refer(data, "summary", json_get(state, "context_summary"));
	return data;
}

cJSON *run_invoke(struct call *call, const cJSON *body)
{
	struct run_observer observer = {.event = run_ignore_event};
	struct turn turn;
	bool ok = turn_read(&turn, call, body, "messages") && turn_open(&turn) &&
	    turn_run(&turn, &observer);
	cJSON *data = ok ? runs_answer(&turn) : NULL;
	turn_end(&turn);
	return data;
}

/* ---- stream ---- */

void stream_turn(struct turn *turn, struct chunk_sink *sink)
{
	struct chunk_writer writer;
	chunk_writer_init(&writer, turn, sink);
	bool ok = turn_run(turn, &writer.observer);
	chunk_outcome(&writer, ok);
	turn_leave(turn);
	chunk_done(&writer);
	chunk_writer_release(&writer);
}

bool stream_turn_kept(struct turn *turn, const struct kept_words *words, struct chunk_sink *sink)
{
	struct call *call = turn->call;
	const struct chunk_keeper_setup setup = {.live = sink,
	    .granularity = words ? GRANULARITY_FULL : turn->in.granularity,
	    .words = words,
	    .modes = (unsigned)turn->in.modes,
	    .thread_id = turn->thread.thread_id,
	    .run_id = turn->run_id,
	    .request_id = call->ctx.request_id};
	turn->keeper = chunk_keeper_new(call->service->keepers, &setup, &call->error);
	if (!turn->keeper)
		return false;
	stream_turn(turn, sink);
	if (!sink) /* the thread must be free when the answer goes out */
		chunk_keeper_flush(turn->keeper);
	chunk_keeper_end(turn->keeper);
	turn->keeper = NULL;
	return true;
}

bool run_stream(struct call *call, const cJSON *body, struct chunk_sink *sink)
{
	struct turn turn;
	if (!turn_read(&turn, call, body, "messages"))
		return false;
	bool open = turn_open(&turn);
	if (open && turn.in.resumable)
		open = stream_turn_kept(&turn, NULL, sink);
	else if (open)
		stream_turn(&turn, sink);
	turn_end(&turn);
	return open;
}

/* ---- stop ---- */

cJSON *run_stop(struct call *call, const cJSON *body)
{
	struct storage *storage = call->service->storage;
	const char *thread_id;
	struct thread thread;
	if (!thread_named(call, body, &thread_id))
		return NULL;
	bool known = thread_stored(call, thread_id, &thread);
	if (error_is_set(&call->error) || (known && !call_owns(call, &thread)))
		return NULL;
	bool running = false;
	if (known &&
	    !storage->runs->stop_queued(
		storage, &call->ctx, thread_id, NULL, ORDER_STOP, &call->error))
		return NULL;
	if ((known || !call->permission.resource) && !halt_run(call, thread_id, NULL, &running))
		return NULL;
	char now[ISO_TIME_SIZE];
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	json_add_str(data, "status", "stopped");
	json_add_str(data, "thread_id", thread_id);
	cJSON_AddTrueToObject(data, "success");
	cJSON_AddTrueToObject(data, "ok");
	json_add(data, "running", cJSON_CreateBool(running));
	json_add_str(data, "reason", running ? NULL : known ? "not-running" : "no-state");
	cJSON_AddStringToObject(
	    data, "message", running ? "Stop requested" : "Thread is not running");
	json_add_str(data, "stopped_at", clock_iso(clock_now(), now));
	return data;
}
