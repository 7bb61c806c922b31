/* SPDX-License-Identifier: ISC */
/* The writer: what each step of a run is in each mode. */
#include "service/langgraph/lg_writer.h"

#include "base/json/json.h"
#include "base/json/json_quote.h"
#include "base/log/log.h"
#include "graph/message/message.h"
#include "graph/state.h"
#include "service/langgraph/lg_input.h"
#include "service/langgraph/lg_message.h"
#include "service/langgraph/lg_values.h"
#include "service/thread/feed.h"

#include <inttypes.h>
#include <string.h>

#define BEGINNING_MAX (128 << 10) /* bytes of a thread that is told whole before it is run */

/* ---- one event ---- */

static void lg_open_event(struct lg_writer *writer, const char *name)
{
	buf_reset(&writer->event);
	buf_printf(&writer->event, "id: %" PRId64 "\nevent: %s\ndata: ", ++writer->id, name);
}

/* The sink puts a newline behind it, which is the empty line. */
static void lg_send_event(struct lg_writer *writer)
{
	struct chunk_sink *sink = &writer->gate.sink;
	buf_putc(&writer->event, '\n');
	sink->chunk(sink, writer->event.data, writer->event.len);
}

/* One with data, a tree that is taken over. */
static void lg_event(struct lg_writer *writer, const char *name, cJSON *data)
{
	lg_open_event(writer, name);
	json_write(&writer->event, data);
	cJSON_Delete(data);
	lg_send_event(writer);
}

/* ---- values ---- */

static void lg_put_fields(struct lg_writer *writer, const cJSON *fields)
{
	const cJSON *field;
	cJSON_ArrayForEach(field, fields) {
		buf_putc(&writer->event, ',');
		json_quote(&writer->event, field->string);
		buf_putc(&writer->event, ':');
		json_write(&writer->event, field);
	}
}

static void lg_close_values(struct lg_writer *writer, const cJSON *fields, const cJSON *asked)
{
	buf_putc(&writer->event, ']');
	lg_put_fields(writer, fields);
	if (asked) {
		buf_puts(&writer->event, ",\"__interrupt__\":");
		json_write(&writer->event, asked);
	}
	buf_putc(&writer->event, '}');
}

/* Appends messages of a run, whose thread is not read for them. */
static void lg_put_own(struct lg_writer *writer, const cJSON *messages, bool behind, int most)
{
	const cJSON *message;
	cJSON_ArrayForEach(message, messages) {
		if (most-- == 0)
			return;
		if (behind)
			buf_putc(&writer->event, ',');
		cJSON *view = lg_message_view(message);
		json_write(&writer->event, view);
		cJSON_Delete(view);
		behind = true;
	}
}

/* The messages of the thread are read while they are sent.  A stream goes on without values that
 * cannot be read. */
static void lg_send_stored(struct lg_writer *writer, const cJSON *fields, const cJSON *asked)
{
	struct call *call = writer->turn->call;
	const struct page all = {.limit = INT64_MAX};
	const struct thread *thread =
	    writer->turn->run ? run_thread(writer->turn->run) : &writer->turn->thread;
	struct error of_run = {0};
	bool begun;
	error_move(&of_run, &call->error);
	cJSON *mark = feed_messages(call, thread->row, NULL, &all);
	if (mark) {
		call->feed.put = lg_message_put;
		lg_open_event(writer, "values");
		buf_puts(&writer->event, "{\"messages\":[");
		buf_putc(&writer->event, FEED_MARK);
		lg_close_values(writer, fields, asked);
		buf_putc(&writer->event, '\n');
		gate_feed(&writer->gate, call, buf_str(&writer->event), &begun);
	}
	cJSON_Delete(mark);
	if (error_is_set(&call->error))
		log_error("values of thread %s cannot be shown: %s", thread->thread_id,
		    call->error.cause);
	error_release(&call->error);
	error_move(&call->error, &of_run);
}

static void lg_send_values(
    struct lg_writer *writer, const ag_run *run, const cJSON *fields, const cJSON *asked)
{
	if (!(writer->modes & LG_VALUES))
		return;
	if (!writer->turn->apart) {
		lg_send_stored(writer, fields, asked);
		return;
	}
	lg_open_event(writer, "values");
	buf_puts(&writer->event, "{\"messages\":[");
	lg_put_own(writer, run ? run_messages(run) : NULL, false, -1);
	lg_close_values(writer, fields, asked);
	lg_send_event(writer);
}

static bool lg_never_send(void *arg, struct buf *part)
{
	(void)arg, (void)part;
	return false;
}

/* What the graph begins with: the thread as it was, and what it is given.  A page that has said
 * something sees it there. */
static void lg_send_beginning(struct lg_writer *writer, ag_run *run)
{
	struct turn *turn = writer->turn;
	const struct thread *thread = &turn->thread;
	if (!(writer->modes & LG_VALUES) || thread->message_bytes > BEGINNING_MAX)
		return;
	lg_open_event(writer, "values");
	buf_puts(&writer->event, "{\"messages\":[");
	size_t empty = writer->event.len;
	struct lg_out out = {turn->call, &writer->event, lg_never_send, NULL};
	if (thread->row && thread->view.until &&
	    !lg_messages_put(&out, thread->row, &thread->view, NULL)) {
		error_release(&turn->call->error);
		return;
	}
	lg_put_own(writer, run_messages(run), writer->event.len > empty, turn->brought);
	lg_close_values(writer, run_fields(run), NULL);
	lg_send_event(writer);
}

/* ---- the beginning ---- */

static void lg_begin(struct lg_writer *writer)
{
	if (writer->begun)
		return;
	writer->begun = true;
	cJSON *data = cJSON_CreateObject();
	json_add_str(data, "run_id", writer->turn->run_id);
	if (!writer->turn->apart)
		json_add_str(data, "thread_id", writer->turn->thread.thread_id);
	json_add_int(data, "attempt", 1);
	lg_event(writer, "metadata", data);
}

/* ---- messages ---- */

static cJSON *lg_metadata(const struct lg_writer *writer, const struct run_event *event)
{
	cJSON *metadata = cJSON_CreateObject();
	json_add_str(metadata, "run_id", writer->turn->run_id);
	json_add_str(metadata, "thread_id", writer->turn->thread.thread_id);
	json_add_str(metadata, "langgraph_node", event->node);
	json_add_int(metadata, "langgraph_step", event->step);
	if (event->branch)
		json_add_str(metadata, "branch", event->branch);
	return metadata;
}

/* A line of the mode events. */
static void lg_trace(struct lg_writer *writer, const struct run_event *event, const char *kind,
    const char *name, cJSON *data)
{
	if (!(writer->modes & LG_EVENTS)) {
		cJSON_Delete(data);
		return;
	}
	cJSON *out = cJSON_CreateObject();
	json_add_str(out, "event", kind);
	json_add_str(out, "name", name);
	json_add_str(out, "run_id", writer->turn->run_id);
	json_add(out, "data", data ? data : cJSON_CreateObject());
	json_add(out, "metadata", lg_metadata(writer, event));
	json_add(out, "tags", cJSON_CreateArray());
	json_add(out, "parent_ids", cJSON_CreateArray());
	lg_event(writer, "events", out);
}

static void lg_tell_message(
    struct lg_writer *writer, const struct run_event *event, const char *partial)
{
	if (writer->modes & LG_TUPLES) {
		cJSON *pair = cJSON_CreateArray();
		json_append(pair, lg_message_view(event->message));
		json_append(pair, lg_metadata(writer, event));
		lg_event(writer, "messages", pair);
	}
	if (writer->modes & LG_MESSAGES) {
		cJSON *one = cJSON_CreateArray();
		json_append(one, lg_message_view(event->message));
		lg_event(writer, partial, one);
	}
}

static void lg_on_piece(struct lg_writer *writer, const struct run_event *event)
{
	const char *id = message_id(event->message);
	if (!json_get(writer->streamed, id)) {
		cJSON_AddTrueToObject(writer->streamed, id);
		if (writer->modes & LG_MESSAGES) {
			cJSON *of = cJSON_CreateObject(), *inner = cJSON_AddObjectToObject(of, id);
			json_add(inner, "metadata", lg_metadata(writer, event));
			lg_event(writer, "messages/metadata", of);
		}
	}
	lg_tell_message(writer, event, "messages/partial");
	cJSON *data = cJSON_CreateObject();
	json_add(data, "chunk", lg_message_view(event->message));
	lg_trace(writer, event, "on_chat_model_stream", event->node, data);
}

static cJSON *lg_said(struct lg_writer *writer, const struct run_event *event)
{
	const char *branch = event->branch ? event->branch : "";
	cJSON *said = json_get(writer->said, branch);
	return said ? said : cJSON_AddArrayToObject(writer->said, branch);
}

/* Clients append pieces, so what was told in pieces is not told again as a whole. */
static void lg_on_message(struct lg_writer *writer, const struct run_event *event)
{
	if (writer->modes & LG_UPDATES)
		json_append(lg_said(writer, event), lg_message_view(event->message));
	if (!json_get(writer->streamed, message_id(event->message)))
		lg_tell_message(writer, event, "messages/complete");
}

/* ---- nodes ---- */

/* What a node said, and which fields it set; null where it did neither. */
static cJSON *lg_update(
    struct lg_writer *writer, const struct run_event *event, const cJSON *fields)
{
	const char *branch = event->branch ? event->branch : "";
	cJSON *out = cJSON_CreateObject(), *update = cJSON_CreateObject();
	cJSON *said = cJSON_DetachItemFromObjectCaseSensitive(writer->said, branch);
	const cJSON *field;
	if (said && said->child)
		cJSON_AddItemToObject(update, "messages", said);
	else
		cJSON_Delete(said);
	cJSON_ArrayForEach(field, fields) {
		if (!json_equal(field, json_get(writer->fields, field->string)))
			cJSON_AddItemToObject(update, field->string, cJSON_Duplicate(field, true));
	}
	cJSON_Delete(writer->fields);
	writer->fields = cJSON_Duplicate(fields, true);
	if (!update->child) {
		cJSON_Delete(update);
		update = cJSON_CreateNull();
	}
	cJSON_AddItemToObject(out, event->node, update);
	return out;
}

static void lg_on_event(struct run_observer *observer, ag_run *run, const struct run_event *event)
{
	struct lg_writer *writer = (struct lg_writer *)observer;
	if (event->hidden)
		return;
	switch (event->kind) {
	case RUN_NODE_STARTS:
		if (!writer->begun) {
			lg_begin(writer);
			lg_send_beginning(writer, run);
		}
		if (!writer->fields && writer->modes & LG_UPDATES)
			writer->fields = cJSON_Duplicate(run_fields(run), true);
		lg_trace(writer, event, "on_chain_start", event->node, NULL);
		return;
	case RUN_PIECE:
		lg_on_piece(writer, event);
		return;
	case RUN_MESSAGE:
		lg_on_message(writer, event);
		return;
	case RUN_CUSTOM:
		if (writer->modes & LG_CUSTOM)
			lg_event(writer, "custom", cJSON_Duplicate(event->data, true));
		lg_trace(writer, event, "on_custom_event", json_str(event->data, "name"),
		    cJSON_Duplicate(json_get(event->data, "data"), true));
		return;
	case RUN_ATTEMPT_FAILS: /* it runs again, and that is told */
		return;
	case RUN_NODE_ENDS:
		if (writer->modes & LG_UPDATES)
			lg_event(writer, "updates", lg_update(writer, event, run_fields(run)));
		lg_send_values(
		    writer, writer->turn->run ? writer->turn->run : run, run_fields(run), NULL);
		lg_trace(writer, event, "on_chain_end", event->node, NULL);
		return;
	}
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
	buf_release(&writer->event);
	cJSON_Delete(writer->streamed);
	cJSON_Delete(writer->said);
	cJSON_Delete(writer->fields);
}

/* When the run's start could not be written, what came before is lost, and the stream begins here.
 */
static void lg_open_end(struct lg_writer *writer)
{
	if (!gate_open(&writer->gate))
		writer->begun = false;
	lg_begin(writer);
}

/* Also a pause before or behind a node, which asks nothing. */
static void lg_tell_pause(struct lg_writer *writer)
{
	struct turn *turn = writer->turn;
	const struct thread *thread = turn->run ? run_thread(turn->run) : &turn->thread;
	if (thread->status != RUN_INTERRUPTED || !thread->pause_json)
		return;
	cJSON *asked = lg_interrupts(thread);
	cJSON *fields = turn->run ? cJSON_Duplicate(run_fields(turn->run), true)
				  : state_fields(turn->call->service->graph, thread->fields_json);
	if (writer->modes & LG_UPDATES) {
		cJSON *update = cJSON_CreateObject();
		cJSON_AddItemToObject(update, "__interrupt__", cJSON_Duplicate(asked, true));
		lg_event(writer, "updates", update);
	}
	lg_send_values(writer, turn->run, fields, asked);
	cJSON_Delete(fields);
	cJSON_Delete(asked);
}

void lg_writer_finish(struct lg_writer *writer)
{
	lg_open_end(writer);
	lg_tell_pause(writer);
	lg_event(writer, "end", cJSON_CreateNull());
}

void lg_writer_fail(struct lg_writer *writer)
{
	struct error_view view;
	call_error_view(writer->turn->call, &view);
	lg_open_end(writer);
	cJSON *data = cJSON_CreateObject();
	json_add_str(data, "error", view.code);
	json_add_str(data, "message", view.detail);
	lg_event(writer, "error", data);
}
