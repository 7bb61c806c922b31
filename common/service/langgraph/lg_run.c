/* SPDX-License-Identifier: ISC */
/* Running the graph for such a client, and the records of its runs. */
#include "service/langgraph/lg_run.h"

#include "base/fields.h"
#include "base/http/percent.h"
#include "base/json/json.h"
#include "graph/message/message.h"
#include "service/files/media.h"
#include "service/history/earlier.h"
#include "service/langgraph/lg_assistant.h"
#include "service/langgraph/lg_item.h"
#include "service/langgraph/lg_message.h"
#include "service/langgraph/stream/lg_tell.h"
#include "service/langgraph/stream/lg_words.h"
#include "service/run/answers.h"
#include "service/run/background/background.h"
#include "service/run/halt.h"
#include "service/run/records.h"
#include "service/thread/change.h"
#include "service/thread/messages.h"

#include <string.h>

/* ---- a run that is waited for ---- */

#define LG_KEPT "!*'()" /* kept by encodeURIComponent, with which clients put ids into paths */

const char *lg_run_location(struct call *call, const char *thread_id, const char *run_id)
{
	struct buf out = {0};
	if (thread_id) {
		buf_puts(&out, "/threads/");
		percent_add(&out, thread_id, LG_KEPT);
	}
	buf_puts(&out, "/runs/");
	percent_add(&out, run_id, LG_KEPT);
	return arena_take(call->arena, &out);
}

/* Closes the thread's pause, under the lease of the run, which then does nothing. */
static bool lg_run_to_end(struct lg_run *run)
{
	struct turn *turn = &run->turn;
	struct change change = {.call = turn->call,
	    .lease = turn->lease,
	    .thread = turn->thread,
	    .rewind = turn->checkpoint,
	    .checkpoint = earlier_of_update(turn->call)};
	if (!run->in.goes_to_end)
		return true;
	thread_close_pause(&change.thread);
	bool ok = change_append(&change, NULL);
	turn->thread = change.thread;
	turn->in.has_resume = false;
	turn->in.only_new = true;
	return ok;
}

/* Whether the results that the input has fit what the thread will then wait for. */
static bool lg_run_may_answer(struct lg_run *run)
{
	const struct turn *turn = &run->turn;
	struct call *call = turn->call;
	const struct lg_removal *removal = &run->in.removal;
	cJSON *waiting = arena_json(call->arena, json_parse_own(turn->thread.waiting_json));
	cJSON *bring = arena_json(call->arena, cJSON_Duplicate(turn->in.messages, true));
	int answered = 0;
	if (!waiting || turn->thread.status != RUN_COMPLETED || removal->all ||
	    json_has_str(removal->ids, json_str(waiting, "message_id")))
		return answers_none_waiting(call, bring);
	return answers_match(call, bring, json_get(waiting, "calls"), &answered);
}

/* Whether the rest of the input will do once its messages are deleted. */
static bool lg_run_may_drop(struct lg_run *run)
{
	struct turn *turn = &run->turn;
	struct call *call = turn->call;
	const struct lg_removal *removal = &run->in.removal;
	const cJSON *message;
	if (turn->checkpoint || turn->thread.status == RUN_INTERRUPTED)
		return error_wrong(&call->error, removal->at, "value_error",
		    "must remove nothing at an earlier checkpoint, or from a paused thread");
	cJSON_ArrayForEach(message, turn->in.messages) {
		if (message_has_calls(message) &&
		    (removal->all || json_has_str(removal->ids, message_id(message))))
			return error_wrong(&call->error, removal->at, "value_error",
			    "must not have messages with tool calls that it removes");
	}
	return files_resolve(call, turn->in.messages) && lg_run_may_answer(run);
}

/* Deletes the messages that the input removes, under the lease of the run. */
static bool lg_run_drop(struct lg_run *run)
{
	struct turn *turn = &run->turn;
	struct change change = {.call = turn->call, .lease = turn->lease, .thread = turn->thread};
	if (!lg_removes(&run->in.removal))
		return true;
	bool ok = lg_run_may_drop(run) &&
	    messages_drop(&change, run->in.removal.ids, run->in.removal.all, turn->in.messages,
		turn->in.given_id);
	turn->thread = change.thread;
	/* what is left is an input, even without messages */
	turn->in.has_resume = false;
	turn->in.by_state = true;
	return ok;
}

bool lg_run_open(struct call *call, const char *thread_id, const cJSON *body, struct lg_run *run)
{
	struct turn *turn = &run->turn;
	*run = (struct lg_run){0};
	if (!lg_input_read(call, thread_id, body, false, &run->in) ||
	    !lg_may_remove(call, thread_id, &run->in.removal) ||
	    !turn_read_whole(turn, call, run->in.body))
		return false;
	turn->in.ends_with_client = run->in.ends_with_client;
	turn->in.modes = run->in.modes;
	if (!thread_id)
		turn_open_apart(turn);
	else if (!turn_open(turn) || !answers_calls_known(call, &turn->thread, &turn->in) ||
	    !answers_drop_known(call, &turn->thread, &turn->in) || !lg_run_drop(run) ||
	    !lg_run_to_end(run)) {
		turn_end(turn);
		return false;
	}
	if (run->in.goes_on && !run->in.goes_to_end)
		turn_go_on(turn);
	run->location = lg_run_location(call, thread_id, turn->run_id);
	return true;
}

void lg_run_close(struct lg_run *run)
{
	turn_end(&run->turn);
}

/* The values of a run without a thread, or the first on its thread: all messages are its own. */
static cJSON *lg_values_own(struct turn *turn, const cJSON *asked)
{
	struct arena *a = turn->call->arena;
	const cJSON *message;
	const char *between = "";
	struct buf out = {0};
	buf_puts(&out, "{\"messages\":[");
	cJSON_ArrayForEach(message, run_messages(turn->run)) {
		buf_puts(&out, between);
		lg_message_write(&out, message);
		between = ",";
	}
	buf_putc(&out, ']');
	lg_put_members(&out, run_fields(turn->run));
	if (asked->child) {
		buf_puts(&out, ",\"__interrupt__\":");
		json_write(&out, asked);
	}
	buf_putc(&out, '}');
	return arena_json(a, json_raw_reference(arena_take(a, &out)));
}

bool lg_run_wait(struct lg_run *run, struct lg_reply *reply)
{
	struct run_observer observer = {.event = run_ignore_event};
	struct turn *turn = &run->turn;
	struct call *call = turn->call;
	if (!turn_run(turn, &observer)) {
		struct error_view view;
		if (!turn_has_run(turn))
			return false;
		call_error_view(call, &view);
		turn_log_failure(turn);
		run->failure = lg_failure(call, &view);
		return true;
	}
	*reply = (struct lg_reply){.item = arena_alloc(call->arena, sizeof(*reply->item))};
	const struct thread *thread = turn->run ? run_thread(turn->run) : &turn->thread;
	cJSON *asked = arena_json(call->arena, lg_interrupts(thread));
	if (turn->apart || (turn->is_new && turn->run)) {
		reply->item->head = lg_values_own(turn, asked);
		return true;
	}
	reply->item->thread = *thread;
	if (turn->run) {
		char *fields = json_print(run_fields(turn->run));
		arena_defer(call->arena, cJSON_free, fields);
		reply->item->thread.fields_json = fields;
	}
	if (asked->child) {
		reply->item->more = arena_json(call->arena, cJSON_CreateObject());
		json_refer(reply->item->more, "__interrupt__", asked);
	}
	return call->service->storage->threads->view(call->service->storage, &call->ctx,
	    thread->row, &reply->item->thread.view, &call->error);
}

bool lg_run_stream(struct lg_run *run, struct chunk_sink *sink)
{
	struct turn *turn = &run->turn;
	struct lg_writer writer;
	if (run->in.resumable && !turn->apart)
		return stream_turn_kept(turn, &lg_words, sink);
	lg_writer_init(&writer, turn, run->in.modes, sink);
	bool ok = turn_run(turn, &writer.observer);
	bool told = turn_end_told(turn, ok, writer.steps);
	if (ok)
		lg_writer_finish(&writer);
	else if (told)
		lg_writer_fail(&writer);
	lg_writer_release(&writer);
	return told;
}

/* ---- records ---- */

/* A run as these clients see it, from the service's record. */
static cJSON *lg_run_view(struct call *call, const cJSON *record)
{
	static const char *const names[][2] = {{"queued", "pending"}, {"running", "running"},
	    {"completed", "success"}, {"interrupted", "interrupted"}, {"stopped", "interrupted"},
	    {"error", "error"}};
	const char *status = "error";
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (json_str_is(record, "status", names[i][0]))
			status = names[i][1];
	const char *finished = json_str(record, "finished_at");
	const char *started = json_str(record, "started_at");
	const char *created = json_str(record, "created_at");
	cJSON *out = cJSON_CreateObject();
	cJSON_AddStringToObject(out, "run_id", json_str(record, "run_id"));
	cJSON_AddStringToObject(out, "thread_id", json_str(record, "thread_id"));
	cJSON_AddStringToObject(out, "assistant_id", lg_assistant_id(call));
	cJSON_AddStringToObject(out, "created_at", created);
	cJSON_AddStringToObject(out, "updated_at",
	    finished      ? finished
		: started ? started
			  : created);
	cJSON_AddStringToObject(out, "status", status);
	cJSON_AddItemToObject(out, "metadata", cJSON_Duplicate(json_get(record, "metadata"), true));
	cJSON_AddNullToObject(out, "multitask_strategy");
	return out;
}

static cJSON *lg_run_answer(struct call *call, const cJSON *record)
{
	return record ? arena_json(call->arena, lg_run_view(call, record)) : NULL;
}

cJSON *lg_run_create(struct call *call, const char *thread_id, const cJSON *body)
{
	struct lg_input in;
	if (!lg_input_read(call, thread_id, body, true, &in))
		return NULL;
	const struct background_beside beside = {.modes = in.modes, .goes_on = in.goes_on};
	return lg_run_answer(call, background_submit(call, in.body, &beside));
}

cJSON *lg_runs_list(struct call *call, const char *thread_id, struct record_query *query)
{
	static const struct choice asked[] = {{"pending", 1 << RUN_QUEUED},
	    {"running", 1 << RUN_RUNNING}, {"success", 1 << RUN_COMPLETED},
	    {"interrupted", 1 << RUN_INTERRUPTED | 1 << RUN_STOPPED}, {"error", 1 << RUN_ERROR},
	    {"timeout", 1 << RUN_IDLE /* no run has it */}, {NULL, 0}};
	const char *status = query->status;
	const cJSON *record;
	int statuses = 0;
	query->status = NULL;
	if (status && !choice_find(asked, status, &statuses))
		error_wrong(&call->error, "query.status", "value_error",
		    "must be one of pending, running, success, interrupted, error, timeout");
	query->statuses = (unsigned)statuses;
	const cJSON *data = records_of_thread(call, thread_id, query);
	if (!data)
		return NULL;
	cJSON *out = arena_json(call->arena, cJSON_CreateArray());
	cJSON_ArrayForEach(record, json_get(data, "runs"))
		json_append(out, lg_run_view(call, record));
	return out;
}

cJSON *lg_run_read(struct call *call, const char *thread_id, const char *run_id)
{
	return lg_run_answer(call, record_read(call, thread_id, run_id));
}

bool lg_run_remove(struct call *call, const char *thread_id, const char *run_id)
{
	return record_remove(call, thread_id, run_id, NULL);
}

bool lg_run_cancel(struct call *call, const char *thread_id, const char *run_id, const char *action)
{
	struct thread thread;
	struct run_record record;
	if (!action || strcmp(action, "interrupt") == 0)
		return record_stop(call, thread_id, run_id, NULL);
	if (strcmp(action, "rollback") != 0)
		return error_wrong(&call->error, "query.action", "value_error",
		    "must be one of interrupt, rollback");
	return record_find(call, thread_id, run_id, &thread, &record) &&
	    halt_one(call, thread_id, run_id, ORDER_ROLLBACK);
}

struct lg_cancel {
	const char *thread_id;
	const cJSON *run_ids;
};

static const struct field_row lg_cancel_rows[] = {
    FIELD(lg_cancel, thread_id, .kind = &field_filled, .required = true),
    FIELD(lg_cancel, run_ids, .kind = &field_json, .types = TYPE_ARRAY, .required = true,
	.expected = "an array of ids"),
    FIELDS_END,
};

bool lg_runs_cancel(struct call *call, const cJSON *body, const char *action)
{
	struct lg_cancel cancel = {0};
	const cJSON *id;
	if (json_opt(body, "status"))
		lg_wrong(call, "status", "is not supported: run_ids names the runs");
	fields_read_body(&call->error, "body", body, lg_cancel_rows, &cancel);
	lg_list_check(call, "run_ids", cancel.run_ids);
	cJSON_ArrayForEach(id, cancel.run_ids) {
		if (error_is_set(&call->error))
			return false;
		if (cJSON_IsString(id) &&
		    !lg_run_cancel(call, cancel.thread_id, id->valuestring, action) &&
		    call->error.kind == ERR_RESOURCE_NOT_FOUND)
			error_release(&call->error);
	}
	return !error_is_set(&call->error);
}
