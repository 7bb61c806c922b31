/* SPDX-License-Identifier: ISC */
/* The writer: events of a run in, steps out. */
#include "service/langgraph/stream/lg_tell.h"

#include "base/json/json.h"
#include "base/log/log.h"
#include "graph/message/message.h"
#include "graph/state.h"
#include "service/langgraph/lg_input.h"
#include "service/langgraph/lg_message.h"
#include "service/langgraph/lg_values.h"
#include "service/run/stream/chunk_aside.h"
#include "service/thread/feed.h"

static const char lg_mark[] = {FEED_MARK, '\0'};

/* ---- one step ---- */

static void lg_print(struct lg_writer *writer, const struct lg_step *step, unsigned modes)
{
	const struct lg_teller teller = {.modes = modes,
	    .thread_id = writer->turn->apart ? NULL : writer->turn->thread.thread_id,
	    .run_id = writer->turn->run_id,
	    .out = &writer->text};
	buf_reset(&writer->text);
	lg_tell(&teller, step);
}

static void lg_send(struct lg_writer *writer)
{
	if (writer->text.len)
		gate_send(&writer->gate, &writer->text);
}

static void lg_step_send(struct lg_writer *writer, struct lg_step *step)
{
	step->number = ++writer->steps;
	lg_print(writer, step, writer->modes);
	if (step->messages != lg_mark || !(writer->modes & LG_VALUES)) {
		lg_send(writer);
		return;
	}
	/* Messages of the thread are read while they are sent.  A stream goes on without values
	 * that cannot be read; and the run may have failed before, which must be told
	 * afterwards. */
	struct call *call = writer->turn->call;
	const struct page all = {.limit = INT64_MAX};
	const struct thread *thread =
	    writer->turn->run ? run_thread(writer->turn->run) : &writer->turn->thread;
	struct error of_run = {0};
	bool begun = false;
	error_move(&of_run, &call->error);
	cJSON *mark = feed_messages(call, thread->row, NULL, &all);
	call->feed.put = lg_message_put;
	bool ok = mark && gate_feed(&writer->gate, call, buf_str(&writer->text), &begun);
	cJSON_Delete(mark);
	if (!ok && error_status_of(&call->error) != ERROR_NOBODY_WAITS)
		log_error("values of thread %s cannot be shown: %s", thread->thread_id,
		    call->error.cause);
	error_release(&call->error);
	error_move(&call->error, &of_run);
	if (ok || begun)
		return;
	lg_print(writer, step, writer->modes & ~(unsigned)LG_VALUES);
	lg_send(writer);
}

/* ---- values ---- */

/* Appends a run's own messages, without reading its thread. */
static void lg_put_own(struct buf *out, const cJSON *messages, int most)
{
	const cJSON *message;
	cJSON_ArrayForEach(message, messages) {
		if (most-- == 0)
			return;
		if (out->len)
			buf_putc(out, ',');
		cJSON *view = lg_message_view(message);
		json_write(out, view);
		cJSON_Delete(view);
	}
}

/* Fills in the values as they are now; messages is a buffer for those of a run without a thread. */
static void lg_writer_values(struct lg_writer *writer, struct lg_step *step, const ag_run *run,
    const cJSON *fields, struct buf *messages)
{
	step->fields = fields;
	step->messages = lg_mark;
	if (!writer->turn->apart)
		return;
	lg_put_own(messages, run ? run_messages_shown(run) : NULL, -1);
	step->messages = buf_str(messages);
}

static bool lg_never_send(void *arg, struct buf *part)
{
	(void)arg, (void)part;
	return false;
}

/* What the graph begins with: the thread as it was, and what it is given.  A page that has said
 * something sees it there. */
static void lg_put_beginning(
    struct lg_writer *writer, struct lg_step *step, ag_run *run, struct buf *messages)
{
	struct turn *turn = writer->turn;
	const struct thread *thread = &turn->thread;
	struct lg_out out = {.call = turn->call, .part = messages, .send = lg_never_send};
	if (!(writer->modes & LG_VALUES) || thread->message_bytes > BEGINNING_MAX)
		return;
	if (thread->row && thread->view.until &&
	    !lg_messages_put(&out, thread->row, &thread->view, NULL)) {
		error_release(&turn->call->error);
		return;
	}
	lg_put_own(messages, run_messages(run), turn->brought);
	step->messages = buf_str(messages);
	step->fields = run_fields(run);
}

/* ---- what happens in the run ---- */

static cJSON *lg_said(struct lg_writer *writer, const struct run_event *event)
{
	const char *branch = event->branch ? event->branch : "";
	cJSON *said = json_get(writer->said, branch);
	return said ? said : cJSON_AddArrayToObject(writer->said, branch);
}

static bool lg_on_told(struct lg_writer *writer, const struct run_event *event)
{
	const char *id = message_id(event->message);
	bool told = json_get(writer->streamed, id);
	if (event->kind == RUN_PIECE && !told)
		cJSON_AddTrueToObject(writer->streamed, id);
	else if (event->kind == RUN_MESSAGE && told)
		cJSON_DeleteItemFromObjectCaseSensitive(writer->streamed, id);
	return told;
}

/* Only a branch sees its own state, so the values are told when the branches have joined, not once
 * for each of a thousand. */
static cJSON *lg_on_ends(struct lg_writer *writer, struct lg_step *step, ag_run *run,
    const struct run_event *event, struct buf *messages)
{
	const cJSON *fields = run_fields(run);
	cJSON *update = NULL;
	step->kind = event->kind == RUN_NODE_ENDS ? LG_NODE_ENDS : LG_SUBGRAPH_ENDS;
	if (writer->modes & LG_UPDATES) {
		cJSON *said = cJSON_DetachItemFromObjectCaseSensitive(
		    writer->said, event->branch ? event->branch : "");
		told_fields_begin_late(
		    &writer->fields, writer->turn->call->service->graph, &writer->turn->thread);
		cJSON *set = told_fields_end(&writer->fields, run, event);
		update = lg_update(said, fields, set);
		cJSON_Delete(set);
	}
	writer->inside = run != writer->turn->run;
	if (!event->branch)
		lg_writer_values(writer, step, run, fields, messages);
	step->update = update;
	return update;
}

static void lg_on_event(struct run_observer *observer, ag_run *run, const struct run_event *event)
{
	struct lg_writer *writer = (struct lg_writer *)observer;
	struct lg_step step = {.node = event->node,
	    .step = event->step,
	    .branch = event->branch,
	    .message = event->message,
	    .data = event->data};
	struct buf messages = {0};
	cJSON *update = NULL;
	switch (event->kind) {
	case RUN_NODE_STARTS:
		step.kind = LG_NODE_STARTS;
		if (!writer->steps)
			lg_put_beginning(writer, &step, run, &messages);
		if (writer->modes & LG_UPDATES)
			told_fields_begin(&writer->fields, writer->turn->run);
		break;
	case RUN_PIECE:
		step.kind = LG_PIECE;
		step.told = lg_on_told(writer, event);
		break;
	case RUN_MESSAGE:
		step.kind = LG_MESSAGE;
		step.told = lg_on_told(writer, event);
		if (writer->modes & LG_UPDATES)
			json_append(lg_said(writer, event), lg_message_view(event->message));
		break;
	case RUN_CUSTOM:
		step.kind = LG_CUSTOM_EVENT;
		break;
	case RUN_ATTEMPT_FAILS: /* the node runs again, and that is told */
		return;
	case RUN_NODE_ENDS:
	case RUN_SUBGRAPH_ENDS:
		update = lg_on_ends(writer, &step, run, event, &messages);
		break;
	}
	lg_step_send(writer, &step);
	cJSON_Delete(update);
	buf_release(&messages);
}

static void lg_on_settled(struct run_observer *observer, bool ok)
{
	gate_settle(&((struct lg_writer *)observer)->gate, ok);
}

/* ---- the writer ---- */

void lg_writer_init(
    struct lg_writer *writer, struct turn *turn, unsigned modes, struct chunk_sink *sink)
{
	*writer = (struct lg_writer){
	    .observer = {.live = true, .event = lg_on_event, .settled = lg_on_settled},
	    .turn = turn,
	    .modes = modes,
	    .streamed = cJSON_CreateObject(),
	    .said = cJSON_CreateObject(),
	};
	gate_init(&writer->gate, sink);
}

void lg_writer_release(struct lg_writer *writer)
{
	gate_release(&writer->gate);
	buf_release(&writer->text);
	cJSON_Delete(writer->streamed);
	cJSON_Delete(writer->said);
	told_fields_release(&writer->fields);
}

/* When the run's start could not be written, what came before is lost,
 * and the stream begins here. */
static void lg_open_end(struct lg_writer *writer)
{
	if (!gate_open(&writer->gate))
		writer->steps = 0;
}

void lg_writer_finish(struct lg_writer *writer)
{
	struct turn *turn = writer->turn;
	const struct thread *thread = turn->run ? run_thread(turn->run) : &turn->thread;
	struct lg_step pause = {.kind = LG_PAUSE}, end = {.kind = LG_END};
	struct buf messages = {0};
	lg_open_end(writer);
	/* also a pause before or behind a node, which asks nothing */
	if (thread->status == RUN_INTERRUPTED && thread->pause_json) {
		cJSON *asked = lg_interrupts(thread);
		cJSON *fields = turn->run
		    ? cJSON_Duplicate(run_fields(turn->run), true)
		    : state_fields(turn->call->service->graph, thread->fields_json);
		pause.asked = asked;
		lg_writer_values(writer, &pause, turn->run, fields, &messages);
		lg_step_send(writer, &pause);
		cJSON_Delete(fields);
		cJSON_Delete(asked);
	} else if (writer->inside) {
		lg_writer_values(writer, &end, turn->run, run_fields(turn->run), &messages);
	}
	lg_step_send(writer, &end);
	buf_release(&messages);
}

void lg_writer_fail(struct lg_writer *writer)
{
	struct error_view view;
	struct lg_step step = {.kind = LG_FAILURE};
	call_error_view(writer->turn->call, &view);
	lg_open_end(writer);
	step.code = view.code;
	step.reason = view.detail;
	lg_step_send(writer, &step);
}
