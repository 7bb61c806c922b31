/* SPDX-License-Identifier: ISC */
/* One run for a browser: what it answers, what is new, and the events around it. */
#include "service/agui/agui.h"

#include "base/json/json.h"
#include "base/json/json_members.h"
#include "graph/message/message.h"
#include "graph/state.h"
#include "service/run/answers.h"
#include "service/run/turn.h"

#include <string.h>

/* ---- what resume means for the thread ---- */

/* One open interrupt is answered by a payload, several by an object of payloads by their ids. */
static bool agui_take_resume(struct turn *turn, const cJSON *resume, const cJSON *interrupt)
{
	struct call *call = turn->call;
	if (!resume)
		return true;
	if (!interrupt)
		return error_set(&call->error, ERR_INVALID_INPUT,
		    "Nothing to resume: this thread is not paused at an interrupt");
	cJSON *several = arena_json(call->arena, cJSON_CreateObject());
	cJSON *ids = arena_json(call->arena, cJSON_CreateObject());
	cJSON *answers = arena_json(call->arena, cJSON_CreateObject());
	const cJSON *entry, *open;
	struct json_members known;
	turn_add_interrupts(turn, several);
	cJSON_ArrayForEach(open, several->child)
		cJSON_AddTrueToObject(ids, json_str(open, "id"));
	if (!several->child)
		cJSON_AddTrueToObject(ids, json_str(interrupt, "id"));
	json_members_init(&known, ids);
	cJSON_ArrayForEach(entry, resume) {
		const char *id = json_str(entry, "interruptId");
		bool resolved = strcmp(json_str(entry, "status"), "resolved") == 0;
		if (!json_members_get(&known, id)) {
			error_set(&call->error, ERR_INVALID_INPUT,
			    "resume does not answer the open interrupt '%s'", ids->child->string);
			break;
		}
		json_refer_or_null(answers, id, resolved ? json_get(entry, "payload") : NULL);
	}
	json_members_release(&known);
	json_members_unique(answers);
	turn->in.resume = several->child ? answers : answers->child;
	turn->in.has_resume = !error_is_set(&call->error);
	return turn->in.has_resume;
}

/* ---- the turn ---- */

/* Tells a failure: its detail where the graph or the thread is the cause, else no more than that
 * the run failed (doc/protocol-ag-ui.md#events). */
static void agui_send_failure(struct agui_writer *writer, bool refused_resume)
{
	struct turn *turn = writer->turn;
	struct error_view view;
	enum error_kind kind = turn->call->error.kind;
	call_error_view(turn->call, &view);
	turn_log_failure(turn);
	if (refused_resume)
		agui_run_error(writer, view.detail, "INVALID_INPUT");
	else if (kind == ERR_GRAPH || kind == ERR_NODE || kind == ERR_NODE_TIMEOUT ||
	    kind == ERR_RECURSION_LIMIT || view.status < 500)
		agui_run_error(writer, view.detail, "GRAPH_ERROR");
	else
		agui_run_error(writer, "AG-UI run failed", "AG_UI_ERROR");
}

static void agui_turn(struct turn *turn, const struct agui_input *in, struct chunk_sink *sink)
{
	struct agui_writer writer;
	cJSON *interrupt = turn_interrupt(turn);
	agui_writer_init(&writer, turn, in->state, sink);
	agui_run_started(&writer);
	bool admitted = agui_take_resume(turn, in->resume, interrupt);
	bool waits = interrupt && !in->resume;
	bool ok = admitted && (!in->reads || agui_messages(&writer)) &&
	    (waits ||
		(answers_drop_known(turn->call, &turn->thread, &turn->in) &&
		    turn_run(turn, &writer.observer)));
	if (ok) {
		struct call *call = turn->call;
		cJSON *outcome = turn_interrupt(turn);
		if (turn->action == TURN_NOTHING_NEW && !outcome)
			agui_state(&writer,
			    arena_json(call->arena,
				state_fields(call->service->graph, turn->thread.fields_json)));
		/* nobody was told what a join, or the end of a subgraph, has made */
		if (turn->run && (writer.lanes->next || writer.inside))
			agui_state(&writer, run_fields(turn->run));
		cJSON *several = arena_json(call->arena, cJSON_CreateObject());
		turn_add_interrupts(turn, several);
		turn_end(turn); /* the terminal event goes out when the thread is free again */
		agui_run_finished(&writer, outcome, several->child);
		cJSON_Delete(outcome);
	} else {
		turn_end(turn);
		agui_send_failure(&writer, !admitted);
	}
	agui_writer_release(&writer);
	cJSON_Delete(interrupt);
}

bool run_agui(struct call *call, const cJSON *body, struct chunk_sink *sink)
{
	struct agui_input in;
	struct turn turn;
	if (call->service->graph->live)
		return error_set(&call->error, ERR_GRAPH_IS_LIVE, NULL);
	if (!agui_input_read(call, body, &in))
		return false;
	turn_init(&turn, call, &in.run);
	/* The route asked for its permission without the thread
	 * (doc/protocol-access.md#ownership); whatever refuses the thread, the client is
	 * told the same. */
	const struct permission permission = {"graph", "stream", in.run.thread_id};
	bool open = call_permit(call, &permission) && turn_open(&turn);
	if (open) {
		agui_turn(&turn, &in, sink);
	} else if (call->error.kind == ERR_PERMISSION) {
		error_release(&call->error);
		error_set(&call->error, ERR_PERMISSION, "Not allowed to access this thread");
	}
	turn_end(&turn);
	return open;
}
