/* SPDX-License-Identifier: ISC */
/* The writer of chunks: it takes the events of a run and writes lines, the terminator last. */
#include "service/run/stream/chunk.h"

#include "base/json/json.h"
#include "base/log/log.h"
#include "graph/message/message.h"
#include "graph/state.h"
#include "service/run/stream/keeper.h"

void chunk_writer_release(struct chunk_writer *writer)
{
	gate_release(&writer->gate);
	chunk_form_release(&writer->form);
	chunk_asides_release(&writer->asides);
}

/* Sending a state reads from the storage.  That may fail, which is no fault of the run; and the run
 * may have failed before, which must be told afterwards.  So the run's error is put aside
 * meanwhile, and then put back in place of the state's. */
static void chunk_put_error_aside(struct chunk_writer *writer, struct error *of_run)
{
	error_move(of_run, &writer->turn->call->error);
}

static void chunk_put_error_back(struct chunk_writer *writer, struct error *of_run)
{
	struct error *err = &writer->turn->call->error;
	if (error_is_set(err) && error_status_of(err) != ERROR_NOBODY_WAITS)
		log_error("state of thread %s cannot be shown: %s", writer->turn->thread.thread_id,
		    err->cause);
	error_release(err);
	error_move(err, of_run);
}

/* Writes a chunk; without its state, where that cannot be read. */
static void chunk_write(struct chunk_writer *writer, const struct chunk *chunk)
{
	struct chunk stateless = *chunk;
	struct error of_run = {0};
	bool begun;
	writer->asides.count++;
	chunk_form_print(&writer->form, chunk, &writer->turn->call->feed.view);
	if (chunk->state && !writer->form.kept) {
		chunk_put_error_aside(writer, &of_run);
		bool sent = gate_feed(
		    &writer->gate, writer->turn->call, buf_str(&writer->form.line), &begun);
		chunk_put_error_back(writer, &of_run);
		if (sent || begun)
			return;
		stateless.state = NULL;
		chunk_form_print(&writer->form, &stateless, NULL);
	}
	gate_send(&writer->gate, &writer->form.line);
}

/* The AgentState as text, malloc'd, or NULL; that of a branch, if run is a branch's. */
static char *chunk_state_text(struct chunk_writer *writer, const ag_run *run, bool in_node)
{
	if (writer->granularity == GRANULARITY_LOW)
		return NULL;
	struct error of_run = {0};
	chunk_put_error_aside(writer, &of_run);
	cJSON *state = turn_state(writer->turn, run, in_node);
	chunk_put_error_back(writer, &of_run);
	char *text = state ? json_print(state) : NULL;
	cJSON_Delete(state);
	return text;
}

/* Sends the chunk with data, which is taken over, and state, which may be NULL. */
static void chunk_send_update(
    struct chunk_writer *writer, struct chunk *chunk, cJSON *data, const char *state)
{
	char *text = data ? json_print(data) : NULL;
	chunk->data = text;
	chunk->state = state;
	chunk_write(writer, chunk);
	cJSON_Delete(data);
	cJSON_free(text);
}

static int64_t chunk_max_steps(const struct chunk_writer *writer)
{
	return writer->turn->in.recursion_limit;
}

static void chunk_on_node_starts(struct chunk_writer *writer, const struct run_event *event)
{
	char *aside =
	    writer->asides_kept ? chunk_aside_start(&writer->asides, writer->turn, event) : NULL;
	struct chunk chunk = {.event = "updates",
	    .least = GRANULARITY_PARTIAL,
	    .node = event->node,
	    .step = event->step,
	    .branch = event->branch,
	    .aside = aside};
	if (writer->granularity != GRANULARITY_LOW)
		chunk_send_update(writer, &chunk,
		    chunk_node_data(
			"invoking_node", event->node, event->step, chunk_max_steps(writer)),
		    NULL);
	cJSON_free(aside);
}

static void chunk_on_message(struct chunk_writer *writer, const struct run_event *event)
{
	const struct told *told = event->again ? writer->told : NULL;
	if (told && told_whole(told, message_id(event->message)))
		return;
	char *text = event->json ? NULL : json_print(event->message);
	const struct chunk chunk = {.event = "message",
	    .message = event->json ? event->json : text,
	    .node = event->node,
	    .step = event->step,
	    .branch = event->branch,
	    .told = writer->asides_kept && chunk_asides_told(&writer->asides, event)};
	chunk_write(writer, &chunk);
	cJSON_free(text);
}

/* Sends the state behind a node, or a subgraph, to those who are shown all. */
static void chunk_send_state(struct chunk_writer *writer, const struct run_event *event,
    const char *state, const char *aside)
{
	struct chunk chunk = {.event = "state",
	    .least = GRANULARITY_FULL,
	    .node = event->node,
	    .step = event->step,
	    .branch = event->branch,
	    .aside = aside};
	if (writer->granularity == GRANULARITY_FULL)
		chunk_send_update(writer, &chunk, NULL, state);
}

static char *chunk_end_aside(
    struct chunk_writer *writer, const ag_run *run, const struct run_event *event)
{
	return writer->asides_kept ? chunk_aside_end(&writer->asides, writer->turn, run, event)
				   : NULL;
}

static void chunk_on_node_ends(
    struct chunk_writer *writer, const ag_run *run, const struct run_event *event)
{
	struct chunk chunk = {.event = "updates",
	    .least = GRANULARITY_PARTIAL,
	    .node = event->node,
	    .step = event->step,
	    .branch = event->branch};
	if (writer->granularity == GRANULARITY_LOW)
		return;
	char *state = chunk_state_text(writer, run, true);
	chunk_send_state(writer, event, state, NULL);
	char *aside = chunk_end_aside(writer, run, event);
	chunk.aside = aside;
	cJSON *data =
	    chunk_node_data("node_invoked", event->node, event->step, chunk_max_steps(writer));
	if (event->failure) {
		struct error_view view;
		call_view_of(writer->turn->call, event->failure, &view);
		cJSON_AddStringToObject(data, "reason", view.detail);
		cJSON_AddStringToObject(data, "error_code", view.code);
	} else if (event->reason) {
		cJSON_AddStringToObject(data, "reason", event->reason);
	}
	chunk_send_update(writer, &chunk, data, state);
	cJSON_free(aside);
	cJSON_free(state);
}

/* A subgraph is no step, so that there is only what it has set to tell. */
static void chunk_on_subgraph_ends(
    struct chunk_writer *writer, const ag_run *run, const struct run_event *event)
{
	if (writer->granularity != GRANULARITY_FULL)
		return;
	char *state = chunk_state_text(writer, run, true);
	char *aside = chunk_end_aside(writer, run, event);
	chunk_send_state(writer, event, state, aside);
	cJSON_free(aside);
	cJSON_free(state);
}

static void chunk_on_custom(struct chunk_writer *writer, const struct run_event *event)
{
	char *text = json_print(event->data);
	const struct chunk chunk = {.event = "custom",
	    .data = text,
	    .node = event->node,
	    .step = event->step,
	    .branch = event->branch};
	chunk_write(writer, &chunk);
	cJSON_free(text);
}

static void chunk_on_event(
    struct run_observer *observer, ag_run *run, const struct run_event *event)
{
	struct chunk_writer *writer = (struct chunk_writer *)observer;
	switch (event->kind) {
	case RUN_NODE_STARTS:
		chunk_on_node_starts(writer, event);
		gate_cork(&writer->gate, false);
		return;
	case RUN_PIECE:
		gate_cork(&writer->gate, false);
		chunk_on_message(writer, event);
		return;
	case RUN_MESSAGE:
		gate_cork(&writer->gate, event->json != NULL);
		chunk_on_message(writer, event);
		return;
	case RUN_ATTEMPT_FAILS:
		return;
	case RUN_CUSTOM:
		gate_cork(&writer->gate, false);
		chunk_on_custom(writer, event);
		return;
	case RUN_NODE_ENDS:
		gate_cork(&writer->gate, true);
		chunk_on_node_ends(writer, run, event);
		return;
	case RUN_SUBGRAPH_ENDS:
		chunk_on_subgraph_ends(writer, run, event);
		return;
	}
}

/* From here on there is a record that chunks belong to, so they can have numbers. */
static void chunk_on_settled(struct run_observer *observer, bool ok)
{
	struct chunk_writer *writer = (struct chunk_writer *)observer;
	const struct turn *turn = writer->turn;
	if (ok && turn->keeper)
		chunk_keeper_begin(turn->keeper, run_record_key(turn->run), 0);
	gate_settle(&writer->gate, ok);
}

void chunk_writer_init(struct chunk_writer *writer, struct turn *turn, struct chunk_sink *sink)
{
	*writer = (struct chunk_writer){
	    .observer = {.live = true, .event = chunk_on_event, .settled = chunk_on_settled},
	    .turn = turn,
	    .granularity = turn->keeper ? GRANULARITY_FULL : turn->in.granularity,
	    .asides_kept = turn->keeper && turn->call->service->config->langgraph_enabled};
	gate_init(&writer->gate, turn->keeper ? chunk_keeper_sink(turn->keeper) : sink);
	chunk_form_init(&writer->form, turn->thread.thread_id, turn->run_id, turn->is_new,
	    turn->keeper != NULL);
}

void chunk_restarted(struct chunk_writer *writer, int64_t attempt)
{
	struct chunk chunk = {.event = "updates"};
	cJSON *data = chunk_node_data("restarted", NULL, 0, 0);
	json_add_int(data, "attempt", attempt);
	chunk_send_update(writer, &chunk, data, NULL);
}

/* Tells the calls that still wait, of a turn that did not run the graph. */
static void chunk_end_waiting(struct chunk_writer *writer)
{
	cJSON *message = thread_waiting_message(&writer->turn->thread);
	char *text = json_print(message);
	const struct chunk chunk = {.event = "message", .message = text};
	chunk_write(writer, &chunk);
	cJSON_free(text);
	cJSON_Delete(message);
}

static void chunk_end_paused(struct chunk_writer *writer, cJSON *interrupt)
{
	struct turn *turn = writer->turn;
	const char *node = json_str(interrupt, "node");
	int step = turn->run ? run_steps(turn->run) : (int)turn->thread.step;
	struct chunk chunk = {.event = "updates", .node = node, .step = step};
	cJSON *data = chunk_node_data("interrupted", node, step, chunk_max_steps(writer));
	cJSON_AddStringToObject(
	    data, "reason", chunk_pause_reason(turn->run ? run_thread(turn->run) : &turn->thread));
	char *state = chunk_state_text(writer, NULL, false);
	cJSON_AddItemToObject(data, "interrupt", interrupt);
	turn_add_interrupts(turn, data);
	turn_add_note(turn, data);
	chunk_send_update(writer, &chunk, data, state);
	cJSON_free(state);
}

static void chunk_end_stopped(struct chunk_writer *writer)
{
	ag_run *run = writer->turn->run;
	struct chunk chunk = {.event = "updates",
	    .least = GRANULARITY_PARTIAL,
	    .node = run_node(run),
	    .step = run_steps(run)};
	if (writer->granularity == GRANULARITY_LOW)
		return;
	cJSON *data = chunk_node_data("stopped", chunk.node, chunk.step, chunk_max_steps(writer));
	cJSON_AddStringToObject(data, "reason", CHUNK_STOPPED_REASON);
	char *state = chunk_state_text(writer, NULL, false);
	chunk_send_update(writer, &chunk, data, state);
	cJSON_free(state);
}

static void chunk_end_failed(struct chunk_writer *writer)
{
	struct turn *turn = writer->turn;
	struct error_view view;
	bool in_run = turn_has_run(turn);
	struct chunk chunk = {.event = "error",
	    .node = in_run ? run_node(turn->run) : NULL,
	    .step = in_run ? run_steps(turn->run) : 0};
	writer->asides.failed = true;
	call_error_view(turn->call, &view);
	turn_log_failure(turn);
	cJSON *data = chunk_node_data("error", chunk.node, chunk.step, chunk_max_steps(writer));
	cJSON_AddStringToObject(data, "reason", view.detail);
	cJSON_AddStringToObject(data, "error_code", view.code);
	chunk_send_update(writer, &chunk, data, NULL);
}

void chunk_outcome(struct chunk_writer *writer, bool ok)
{
	struct turn *turn = writer->turn;
	cJSON *interrupt = ok ? turn_interrupt(turn) : NULL;
	gate_open(&writer->gate); /* nothing has to wait for the start of a run any more */
	if (ok && turn->action == TURN_REPORT_WAITING)
		chunk_end_waiting(writer);
	gate_cork(&writer->gate, true);
	if (ok && !interrupt && writer->asides_kept)
		writer->asides.done = chunk_aside_done(&writer->asides, turn);
	if (!ok)
		chunk_end_failed(writer);
	else if (interrupt)
		chunk_end_paused(writer, interrupt);
	else if (turn->run && run_thread(turn->run)->status == RUN_STOPPED)
		chunk_end_stopped(writer);
}

void chunk_done(struct chunk_writer *writer)
{
	const struct chunk done = {.event = "updates",
	    .data = CHUNK_DONE,
	    .thread_name = turn_thread_name(writer->turn),
	    .told = writer->asides.failed,
	    .aside = writer->asides.done};
	chunk_write(writer, &done);
	gate_cork(&writer->gate, false);
}
