/* SPDX-License-Identifier: ISC */
/* Opening the thread, deciding what the input means, and running the graph. */
#include "service/run/turn.h"

#include "base/json.h"
#include "graph/message.h"
#include "graph/state.h"
#include "service/files/media.h"
#include "service/memory/memory_calls.h"
#include "service/run/answers.h"
#include "service/thread/change.h"
#include "service/thread/messages.h"
#include "service/thread/names.h"
#include "service/trace/trace.h"

#include <string.h>

#define ID_ATTEMPTS 5 /* doc/protocol.md#ids */

static const struct storage_ops *turn_ops_of(const struct turn *turn)
{
	return turn->call->service->storage->ops;
}

/* Takes the lease of thread_id and reads the thread; what does not exist yet becomes a blank one.
 */
static bool turn_open_thread(struct turn *turn, const char *thread_id)
{
	struct call *call = turn->call;
	struct storage *storage = call->service->storage;
	turn->lease = lease_take(call, thread_id);
	if (!turn->lease)
		return false;
	turn->is_new =
	    !storage->ops->thread_get(storage, call->arena, thread_id, &turn->thread, &call->error);
	if (turn->is_new)
		thread_blank(&turn->thread, thread_id, call->user_id);
	return !error_is_set(&call->error);
}

/* A new thread under an id that nothing has yet. */
static bool open_new_thread(struct turn *turn)
{
	for (int i = 0; i < ID_ATTEMPTS; i++) {
		char *id = arena_alloc(turn->call->arena, UUID_SIZE);
		if (!turn_open_thread(turn, id_make(&turn->call->service->ids, id)))
			return false;
		if (turn->is_new)
			return true;
		turn_end(turn);
	}
	return error_set(&turn->call->error, ERR_INTERNAL, NULL);
}

static const cJSON *turn_last_user_message(const cJSON *messages)
{
	const cJSON *message, *found = NULL;
	cJSON_ArrayForEach(message, messages) {
		if (message_is(message, "user"))
			found = message;
	}
	return found;
}

void turn_init(struct turn *turn, struct call *call, const struct run_input *in)
{
	*turn = (struct turn){.call = call, .in = *in, .run_id = in->run_id};
	turn->user = turn_last_user_message(in->messages);
	if (!turn->run_id)
		turn->run_id = id_make(&call->service->ids, arena_alloc(call->arena, UUID_SIZE));
}

bool turn_read(struct turn *turn, struct call *call, const cJSON *body, const char *key)
{
	struct run_input in;
	*turn = (struct turn){.call = call};
	if (call->service->graph->live)
		return error_set(&call->error, ERR_GRAPH_IS_LIVE, NULL);
	if (!run_input_read(call, body, key, &in))
		return false;
	turn_init(turn, call, &in);
	return true;
}

/* The call that the first of the messages answers, when all of them do nothing else. */
static const char *first_answer(const cJSON *messages)
{
	const cJSON *message;
	cJSON_ArrayForEach(message, messages) {
		if (!message_is(message, "tool") || !answers_call(message))
			return NULL;
	}
	return answers_call(messages->child);
}

/* Existing clients forget the id of a thread that their first request made: answers without one go
 * to the caller's thread where the call waits.  The route's permission knew no thread. */
static bool find_waiting(struct turn *turn)
{
	struct call *call = turn->call;
	struct storage *storage = call->service->storage;
	const char *call_id = first_answer(turn->in.messages);
	if (turn->in.thread_id || !call_id)
		return true;
	if (!storage->ops->thread_waiting(
		storage, call->arena, call->user_id, call_id, &turn->in.thread_id, &call->error))
		return false;
	struct permission permission = call->permission;
	permission.resource_id = turn->in.thread_id;
	return !permission.resource || !permission.resource_id || call_permit(call, &permission);
}

bool turn_open(struct turn *turn)
{
	if (!find_waiting(turn))
		return false;
	if (!turn->in.thread_id)
		return open_new_thread(turn);
	return turn_open_thread(turn, turn->in.thread_id) &&
	    (turn->is_new || call_owns(turn->call, &turn->thread));
}

void turn_end(struct turn *turn)
{
	if (turn->lease)
		turn_ops_of(turn)->lease_release(turn->lease);
	turn->lease = NULL;
}

/* ---- what the input brings ---- */

static bool turn_is_known(struct turn *turn, const cJSON *message)
{
	bool known = false, in_context = false;
	struct storage *storage = turn->call->service->storage;
	if (!turn->is_new)
		storage->ops->message_known(storage, turn->thread.row, message_id(message), &known,
		    &in_context, &turn->call->error);
	return known;
}

/* Nothing new came: the last user message of the request is said again, under a new id
 * (doc/protocol-messages.md#messages).
 */
static void say_again(struct turn *turn)
{
	char id[UUID_SIZE];
	const cJSON *last = turn->user;
	if (!last || turn->in.has_resume || turn->in.only_new)
		return;
	cJSON *copy = cJSON_Duplicate(last, true);
	json_set(copy, "message_id", cJSON_CreateString(id_make(&turn->call->service->ids, id)));
	cJSON_AddItemToArray(turn->bring, copy);
	turn->again = true;
}

/* The messages of the request that the thread does not have yet. */
static bool collect_new(struct turn *turn)
{
	const bool *repeated = messages_repeated(turn->call, turn->in.messages);
	cJSON *message, *next;
	int i = 0;
	turn->bring = arena_json(turn->call->arena, cJSON_CreateArray());
	for (message = turn->in.messages->child; message; message = next) {
		bool given = turn->in.given_id[i];
		next = message->next;
		if (!repeated[i++] && !(given && turn_is_known(turn, message)))
			cJSON_AddItemToArray(
			    turn->bring, cJSON_DetachItemViaPointer(turn->in.messages, message));
	}
	if (!turn->bring->child)
		say_again(turn);
	return !error_is_set(&turn->call->error);
}

/* ---- what the thread makes of it ---- */

static cJSON *parse_stored(struct turn *turn, const char *text)
{
	return arena_json(
	    turn->call->arena, json_parse(text, strlen(text), JSON_TRUSTED_DEPTH, NULL));
}

/* Where the configuration says so, what a user says answers the pause. */
static void resume_by_message(struct turn *turn)
{
	const cJSON *user = turn_last_user_message(turn->bring);
	struct buf text = {0};
	if (!user || !turn->call->service->config->message_resumes)
		return;
	message_text(user, &text);
	turn->in.resume = arena_json(turn->call->arena, cJSON_CreateString(buf_str(&text)));
	turn->in.has_resume = true;
	buf_release(&text);
}

/* The answers the node had before, with the one that this request brings
 * (doc/protocol-runs.md#pauses). */
static void answer_interrupt(struct turn *turn, cJSON *pause)
{
	cJSON *answers = json_get(pause, "answers");
	cJSON_AddItemToArray(answers, cJSON_Duplicate(turn->in.resume, true));
	turn->answers = answers;
	turn->entry = RUN_AGAIN;
}

static bool continue_paused(struct turn *turn)
{
	cJSON *pause = parse_stored(turn, turn->thread.pause_json);
	enum pause_kind kind = pause_kind_of(pause);
	if (kind == PAUSE_BY_NODE && !turn->in.has_resume)
		resume_by_message(turn);
	if (kind == PAUSE_BY_NODE && !turn->in.has_resume) {
		turn->action = TURN_REPORT_PAUSE;
		return true;
	}
	if (kind == PAUSE_BY_NODE)
		answer_interrupt(turn, pause);
	else
		turn->entry = kind == PAUSE_AFTER_NODE ? RUN_AFTER_NODE : RUN_AT_NEXT;
	return answers_none_waiting(turn->call, turn->bring);
}

/* Calls wait at the client: its answers, or a new turn that closes them
 * (doc/protocol-runs.md#tools-at-the-client).  A request that brings nothing new, such as an answer
 * that is sent twice, does neither. */
static bool continue_waiting(struct turn *turn)
{
	cJSON *waiting = parse_stored(turn, turn->thread.waiting_json);
	cJSON *calls = json_get(waiting, "calls");
	int answered = 0;
	if (!answers_match(turn->call, turn->bring, calls, &answered))
		return false;
	turn->waiting = calls;
	turn->waiting_id = json_str(waiting, "message_id");
	if (answered == 0 && turn->bring->child)
		answers_close(turn->call, turn->bring, calls);
	else if (calls->child)
		turn->action = TURN_REPORT_WAITING;
	else
		turn->entry = RUN_AFTER_NODE;
	return true;
}

static bool decide(struct turn *turn)
{
	const struct thread *t = &turn->thread;
	bool paused = t->status == RUN_INTERRUPTED && t->pause_json;
	turn->action = TURN_RUN;
	turn->entry = RUN_FROM_START;
	if (turn->in.has_resume && !paused)
		return error_set(&turn->call->error, ERR_INVALID_INPUT,
		    "Nothing to resume: this thread is not paused at an interrupt");
	if (!collect_new(turn))
		return false;
	if (turn->in.only_new && !turn->in.has_resume && !turn->bring->child) {
		turn->action = TURN_NOTHING_NEW;
		return true;
	}
	if (paused)
		return continue_paused(turn) && files_resolve(turn->call, turn->bring);
	if (t->status == RUN_COMPLETED && t->waiting_json)
		return continue_waiting(turn) && files_resolve(turn->call, turn->bring);
	return answers_none_waiting(turn->call, turn->bring) &&
	    files_resolve(turn->call, turn->bring);
}

/* ---- doing it ---- */

static void open_run(struct turn *turn, struct trace *trace)
{
	struct call *call = turn->call;
	cJSON *config = turn->in.config;
	json_set(config, "thread_id", cJSON_CreateString(turn->thread.thread_id));
	json_set(config, "run_id", cJSON_CreateString(turn->run_id));
	if (turn->is_new)
		turn->thread.thread_name =
		    names_make(&call->service->names, turn->bring, call->arena);
	const struct run_setup setup = {
	    .graph = call->service->graph,
	    .storage = call->service->storage,
	    .store = memories_of_run(call, config),
	    .files = call->service->files,
	    .lease = turn->lease,
	    .arena = call->arena,
	    .ids = &call->service->ids,
	    .config = config,
	    .run_id = turn->run_id,
	    .thread = &turn->thread,
	    .observer = trace_observer(trace),
	    .recursion_limit = turn->in.recursion_limit,
	    .node_timeout = turn->in.node_timeout,
	    .tool_timeout = turn->in.tool_timeout,
	    .traceparent = trace_parent(trace),
	    .client_tools = turn->in.client_tools,
	};
	turn->run = run_new(&setup);
}

static bool turn_execute(struct turn *turn, struct run_observer *observer)
{
	cJSON *bring = turn->bring;
	struct trace *trace = trace_begin(turn, observer);
	open_run(turn, trace);
	if (!run_initial_state(turn->run, turn->in.initial_state, &turn->call->error))
		return false;
	turn->brought = cJSON_GetArraySize(bring);
	while (bring->child)
		run_bring(turn->run, cJSON_DetachItemViaPointer(bring, bring->child));
	bool ok = run_execute(turn->run, turn->entry, turn->answers, &turn->call->error);
	trace_end(trace, ok);
	return ok;
}

/* Stores the answers that came while others are missing. */
static bool store_answers(struct turn *turn)
{
	struct call *call = turn->call;
	cJSON *waiting = arena_json(call->arena, cJSON_CreateObject());
	cJSON_AddStringToObject(waiting, "message_id", turn->waiting_id);
	cJSON_AddItemToObject(waiting, "calls", cJSON_Duplicate(turn->waiting, true));
	char *text = json_print(waiting);
	arena_defer(call->arena, cJSON_free, text);
	turn->thread.waiting_json = text;
	struct change change = {call, turn->lease, turn->thread};
	return change_append(&change, turn->bring);
}

bool turn_run(struct turn *turn, struct run_observer *observer)
{
	if (!decide(turn))
		return false;
	switch (turn->action) {
	case TURN_RUN:
		return turn_execute(turn, observer);
	case TURN_REPORT_WAITING:
		return store_answers(turn);
	case TURN_REPORT_PAUSE:
	case TURN_NOTHING_NEW:
		break;
	}
	return true;
}

/* ---- what is told of it ---- */

cJSON *turn_waiting_message(const struct turn *turn)
{
	cJSON *message =
	    message_new("assistant", turn->waiting_id, cJSON_Duplicate(turn->waiting, true));
	message_fill_calls(message);
	return message;
}

cJSON *turn_interrupt(const struct turn *turn)
{
	return thread_interrupt(turn->run ? run_thread(turn->run) : &turn->thread);
}

const char *turn_thread_name(const struct turn *turn)
{
	return turn->is_new && turn->run && *turn->thread.thread_name ? turn->thread.thread_name
								      : NULL;
}

cJSON *turn_state(struct turn *turn)
{
	struct call *call = turn->call;
	const struct run_flags flags = {0};
	if (turn->run)
		return run_state(turn->run, false, &call->error);
	cJSON *context = state_context(call->service->storage, turn->thread.row, &call->error);
	return context ? state_json(call->service->graph, &turn->thread, &flags, context) : NULL;
}
