/* SPDX-License-Identifier: ISC */
/* Deciding what the input means for the thread that was opened, and running the graph. */
#include "service/run/turn.h"

#include "base/json/json.h"
#include "base/log/log.h"
#include "base/os/clock.h"
#include "graph/message/message.h"
#include "graph/state.h"
#include "service/files/media.h"
#include "service/history/earlier.h"
#include "service/memory/memory_calls.h"
#include "service/run/answers.h"
#include "service/run/records.h"
#include "service/thread/change.h"
#include "service/thread/feed.h"
#include "service/thread/messages.h"
#include "service/thread/names.h"
#include "service/trace/trace.h"
#include "storage/runs.h"

#include <stdlib.h>
#include <string.h>

/* ---- what the input brings ---- */

/* Collects the messages that the thread does not have yet.  Where there are none, the last user
 * message is said again under a new id (doc/protocol-messages.md#messages). */
static bool turn_collect_new(struct turn *turn)
{
	const bool *repeated = messages_repeated(turn->call, turn->in.messages);
	const struct message_known *known =
	    messages_known(turn->call, &turn->thread, turn->in.messages, turn->in.given_id);
	cJSON *message, *next;
	char id[UUID_SIZE];
	bool user_repeated = false;
	int i = 0;
	if (!known)
		return false;
	turn->bring = arena_json(turn->call->arena, cJSON_CreateArray());
	for (message = turn->in.messages->child; message; message = next, i++) {
		next = message->next;
		user_repeated |= repeated[i] && message == turn->user;
		if (!repeated[i] && !known[i].known)
			cJSON_AddItemToArray(
			    turn->bring, cJSON_DetachItemViaPointer(turn->in.messages, message));
	}
	if (user_repeated && turn->bring->child) /* of two with one id the first counts */
		turn->user = message_last(turn->bring, "user");
	if (!turn->bring->child && turn->user && !turn->in.has_resume && !turn->in.only_new) {
		cJSON *again = cJSON_Duplicate(turn->user, true);
		json_set(again, "message_id",
		    cJSON_CreateString(id_make(&turn->call->service->ids, id)));
		cJSON_AddItemToArray(turn->bring, again);
		turn->user = again;
		turn->again = true;
	}
	return true;
}

/* ---- what the thread makes of it ---- */

/* Whether the request only names a checkpoint. */
static bool turn_brings_nothing(const struct turn *turn)
{
	return turn->checkpoint && !turn->in.has_resume && !turn->bring->child &&
	    !turn->in.by_state;
}

/* A user message may answer the pause, where the request or the configuration says so. */
static void turn_take_text_as_answer(struct turn *turn)
{
	struct arena *a = turn->call->arena;
	const cJSON *user = message_last(turn->bring, "user");
	struct buf text = {0};
	if (!user || !(turn->in.message_resumes || turn->call->service->config->message_resumes))
		return;
	message_text(user, &text);
	turn->in.resume = arena_json(a, cJSON_CreateString(buf_str(&text)));
	turn->in.has_resume = true;
	buf_release(&text);
}

static bool turn_continue_paused(struct turn *turn)
{
	cJSON *pause = arena_json(turn->call->arena, json_parse_own(turn->thread.pause_json));
	if (pause_is_missed(pause, turn->in.resume))
		return error_set(&turn->call->error, ERR_INVALID_INPUT,
		    "resume does not answer the open interrupt '%s'",
		    json_str(json_get(pause, "interrupt"), "id"));
	/* a resume that names some of several interrupts answers those, even if the first pause is
	 * not a node's */
	enum pause_kind kind = interrupts_named(json_get(pause, "interrupts"), turn->in.resume)
	    ? PAUSE_BY_NODE
	    : pause_kind_of(pause);
	if (kind == PAUSE_BY_NODE && !turn->in.has_resume)
		turn_take_text_as_answer(turn);
	if (kind == PAUSE_BY_NODE && turn->in.by_state && !turn->bring->child &&
	    !turn->in.has_resume)
		return error_set(&turn->call->error, ERR_INVALID_INPUT,
		    "This thread is paused: the fields can be set beside an answer");
	if ((kind == PAUSE_BY_NODE || turn_brings_nothing(turn)) && !turn->in.has_resume) {
		turn->action = TURN_REPORT_PAUSE;
		return true;
	}
	if (kind == PAUSE_BY_NODE) {
		/* the node gets the answers that it had before, and the one of this request
		 * (doc/protocol-runs.md#pauses); an object may name what it answers */
		cJSON *answers = json_get(pause, "answers");
		const char *id = json_str(json_get(pause, "interrupt"), "id");
		const cJSON *resume = turn->in.resume, *own = id ? json_get(resume, id) : NULL;
		bool named = own && cJSON_GetArraySize(resume) == 1;
		cJSON_AddItemToArray(answers, cJSON_Duplicate(named ? own : resume, true));
		turn->answers = answers;
		turn->entry = RUN_AGAIN;
	} else {
		turn->entry = kind == PAUSE_AFTER_NODE ? RUN_AFTER_NODE : RUN_AT_NEXT;
	}
	return answers_none_waiting(turn->call, turn->bring);
}

/* For a thread whose calls wait at the client: the request brings answers, or is a new turn, which
 * closes the calls (doc/protocol-runs.md#client-side-tools).  One that brings nothing new, such
 * as an answer that is sent twice, does neither. */
static bool turn_continue_waiting(struct turn *turn)
{
	cJSON *waiting = arena_json(turn->call->arena, json_parse_own(turn->thread.waiting_json));
	cJSON *calls = json_get(waiting, "calls");
	int answered = 0;
	if (!answers_match(turn->call, turn->bring, calls, &answered))
		return false;
	turn->waiting = calls;
	turn->waiting_id = json_str(waiting, "message_id");
	if (answered == 0 && (turn->bring->child || turn->in.by_state))
		answers_close(turn->call, turn->bring, calls);
	else if (calls->child)
		turn->action = TURN_REPORT_WAITING;
	else
		turn->entry = RUN_AFTER_NODE;
	return true;
}

/* Whether the latest run of the thread came to its recursion limit. */
static bool turn_follows_limit(const struct turn *turn)
{
	const struct thread *t = &turn->thread;
	struct run_record record;
	struct error failure = {0};
	if (!t->run_id || !call_record(turn->call, t->thread_id, t->run_id, &record))
		return false;
	record_failure(&record, &failure);
	bool limit = failure.kind == ERR_RECURSION_LIMIT;
	error_release(&failure);
	return limit;
}

/* The latest message with calls, if the user has said nothing since. */
struct turn_asked {
	struct arena *arena;
	const char *id;
};

static bool turn_note_asked(void *arg, const char *id, const char *body_json)
{
	struct turn_asked *asked = arg;
	cJSON *message = json_parse_own(body_json);
	if (message_has_calls(message))
		asked->id = arena_strdup(asked->arena, id);
	else if (message_is(message, "user"))
		asked->id = NULL;
	cJSON_Delete(message);
	return true;
}

/* What run_recall takes, with the message whose calls the failed run may have left open. */
static const char *turn_calls_left(struct turn *turn)
{
	struct call *call = turn->call;
	struct storage *storage = call->service->storage;
	struct turn_asked asked = {.arena = call->arena};
	storage->threads->context(storage, &call->ctx, turn->thread.row, &turn->thread.view,
	    turn_note_asked, &asked, &call->error);
	cJSON *kept = arena_json(call->arena, cJSON_CreateObject());
	json_add_str(kept, "asked", asked.id);
	return asked.id ? arena_print(call->arena, kept) : NULL;
}

/* Goes on with the node that failed; with the whole subgraph, or all branches, where it was in
 * one.  At the recursion limit the node had ended. */
static bool turn_continue_failed(struct turn *turn)
{
	struct call *call = turn->call;
	const ag_graph *graph = call->service->graph;
	struct thread *t = &turn->thread;
	bool limit = !t->next && turn_follows_limit(turn);
	const char *node = t->next ? t->next : t->node ? t->node : "";
	int i = graph_node_index(graph, node);
	bool inside = i < 0 || graph->nodes[i].fork;
	turn->bring = arena_json(call->arena, cJSON_CreateArray());
	if (i < 0) {
		node = arena_printf(call->arena, "%.*s", (int)strcspn(node, "/"), node);
		i = graph_node_index(graph, node);
	}
	t->next = node;
	/* that of one that lost its process says how far its subgraph was */
	t->pause_json = inside ? NULL : turn_calls_left(turn);
	if (i >= 0)
		turn->entry = limit && !inside ? RUN_AFTER_NODE : RUN_AT_NEXT;
	return !error_is_set(&call->error);
}

/* Whether an earlier attempt has begun the run: then what the request brings is stored already. */
static bool turn_goes_on(const struct turn *turn)
{
	return turn->background && turn->background->entered;
}

/* Decides for a request that has the whole conversation.  If it ends with answers to calls, the run
 * goes on behind the tools node. */
static bool turn_decide_apart(struct turn *turn)
{
	const ag_graph *graph = turn->call->service->graph;
	turn->bring = turn->in.messages;
	turn->entry = RUN_FROM_START;
	if (message_is(json_last(turn->bring), "tool")) {
		for (size_t i = 0; i < graph->node_count && turn->entry == RUN_FROM_START; i++) {
			if (!graph->nodes[i].is_tools)
				continue;
			turn->thread.node = graph->nodes[i].name;
			turn->entry = RUN_AFTER_NODE;
		}
	}
	return files_resolve(turn->call, turn->bring);
}

/* Whether the thread waits for what the request answers, if it must answer a pause
 * (run_input.answers). */
static bool turn_is_asked(const struct turn *turn, bool paused)
{
	const char *answers = turn->in.answers, *asks = turn->thread.run_id;
	size_t len = answers ? strlen(answers) : 0;
	return !answers ||
	    (paused && asks && strncmp(asks, answers, len) == 0 &&
		(!asks[len] || asks[len] == '.'));
}

static bool turn_decide(struct turn *turn)
{
	struct call *call = turn->call;
	const struct thread *t = &turn->thread;
	bool paused = t->status == RUN_INTERRUPTED && t->pause_json;
	turn->action = TURN_RUN;
	if (turn_goes_on(turn)) {
		turn->entry = RUN_ON;
		turn->bring = arena_json(call->arena, cJSON_CreateArray());
		return true;
	}
	turn->entry = RUN_FROM_START;
	if (!turn_is_asked(turn, paused))
		return error_set(&call->error, ERR_INVALID_INPUT,
		    "Nothing to answer: run %.200s does not wait any more", turn->in.answers);
	if (turn->in.has_resume && !paused)
		return error_set(&call->error, ERR_INVALID_INPUT,
		    "Nothing to resume: this thread is not paused at an interrupt");
	if (turn->apart)
		return turn_decide_apart(turn);
	if (turn->after_failure)
		return turn_continue_failed(turn);
	if (!turn_collect_new(turn))
		return false;
	if (turn->in.only_new && !turn->in.has_resume && !turn->bring->child) {
		turn->action = TURN_NOTHING_NEW;
		return true;
	}
	if (paused)
		return turn_continue_paused(turn) && files_resolve(call, turn->bring);
	if (turn_brings_nothing(turn)) {
		/* do what follows the checkpoint
		 * (doc/protocol-history.md#running-from-a-checkpoint) */
		turn->entry = RUN_AT_NEXT;
		return earlier_goes_on(call, turn->checkpoint);
	}
	if (t->status == RUN_COMPLETED && t->waiting_json)
		return turn_continue_waiting(turn) && files_resolve(call, turn->bring);
	if (t->status == RUN_COMPLETED && !turn->bring->child && !turn->in.by_state) {
		/* such as an answer that is sent twice, after the run that got it has completed */
		turn->action = TURN_NOTHING_NEW;
		return true;
	}
	return answers_none_waiting(call, turn->bring) && files_resolve(call, turn->bring);
}

/* ---- doing it ---- */

/* Whether the turn gives the thread its name: the thread is new, or was made without a name and is
 * still empty. */
static bool turn_names_thread(const struct turn *turn)
{
	const struct thread *t = &turn->thread;
	bool is_empty =
	    !t->run_id && !t->summary && t->view.last == 0 && strcmp(t->fields_json, "{}") == 0;
	return (turn->is_new || is_empty) && !turn->apart && !*t->thread_name &&
	    !turn_goes_on(turn);
}

static bool turn_execute(struct turn *turn, struct run_observer *observer)
{
	struct call *call = turn->call;
	cJSON *config = turn->in.config, *bring = turn->bring;
	struct trace *trace = trace_begin(turn, observer);
	json_set(config, "thread_id", cJSON_CreateString(turn->thread.thread_id));
	json_set(config, "run_id", cJSON_CreateString(turn->run_id));
	if (turn->background)
		json_set(config, "attempt", json_new_int(turn->background->attempt));
	if (turn_names_thread(turn))
		turn->thread.thread_name = names_make(&call->service->names, bring, call->arena);
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
	    .replaces = turn->replaces,
	    .keeps = turn->keeper,
	    .push = turn->push,
	    .thread = &turn->thread,
	    .rewind = turn->checkpoint,
	    .stored = &turn->stored,
	    .history = call->service->config->history_level,
	    .observer = trace_observer(trace),
	    .recursion_limit = turn->in.recursion_limit,
	    .parallel = (int)call->service->config->graph_parallel,
	    .elements = call->service->config->graph_elements,
	    .node_timeout = turn->in.node_timeout,
	    .tool_timeout = turn->in.tool_timeout,
	    .cache_dir = arena_printf(call->arena, "%s/nodes", call->service->config->state_dir),
	    .trace = {trace_parent(trace), call->trace.state},
	    .client_tools = turn->in.client_tools,
	    .background = turn->background,
	    .ctx = {.request_id = call->ctx.request_id},
	    .client = turn->apart || turn->in.ends_with_client ? call->ctx.waiter : NULL,
	};
	turn->run = run_new(&setup);
	if (!turn_goes_on(turn) &&
	    !run_initial_state(turn->run, turn->in.initial_state, &call->error))
		return false;
	turn->brought = cJSON_GetArraySize(bring);
	while (bring->child)
		run_bring(turn->run, cJSON_DetachItemViaPointer(bring, bring->child));
	bool ok = run_execute(turn->run, turn->entry, turn->answers, &call->error);
	trace_end(trace, ok);
	return ok;
}

/* Stores the answers that came, while others are missing.  That ends a background run. */
static bool turn_store_answers(struct turn *turn)
{
	struct call *call = turn->call;
	struct run_record ended;
	cJSON *waiting = arena_json(call->arena, cJSON_CreateObject());
	cJSON_AddStringToObject(waiting, "message_id", turn->waiting_id);
	cJSON_AddItemToObject(waiting, "calls", cJSON_Duplicate(turn->waiting, true));
	turn->thread.waiting_json = arena_print(call->arena, waiting);
	struct change change = {
	    .call = call, .lease = turn->lease, .thread = turn->thread, .rewind = turn->checkpoint};
	if (turn->background) {
		ended = *turn->background->record;
		ended.status = RUN_COMPLETED;
		ended.node = turn->thread.node;
		ended.step = turn->thread.step;
		ended.started_at = ended.finished_at = clock_now();
		ended.brought = cJSON_GetArraySize(turn->bring);
		change.run = &ended;
	}
	return change_append(&change, turn->bring);
}

/* Goes back to the checkpoint, so that a pause of it that is reported again is the thread's own. */
static bool turn_store_rewind(struct turn *turn)
{
	struct change change = {.call = turn->call,
	    .lease = turn->lease,
	    .thread = turn->thread,
	    .rewind = turn->checkpoint,
	    .checkpoint = CHECKPOINT_REWIND};
	return !turn->checkpoint || change_append(&change, NULL);
}

bool turn_run(struct turn *turn, struct run_observer *observer)
{
	if (!turn_decide(turn))
		return false;
	switch (turn->action) {
	case TURN_RUN:
		return turn_execute(turn, observer);
	case TURN_REPORT_WAITING:
		return turn_store_answers(turn);
	case TURN_REPORT_PAUSE:
		return turn_store_rewind(turn);
	case TURN_NOTHING_NEW:
		break;
	}
	return true;
}

bool turn_given_back(const struct turn *turn)
{
	return turn->run && run_thread(turn->run)->status == RUN_RUNNING;
}

/* ---- what is told of it ---- */

bool turn_has_run(const struct turn *turn)
{
	return turn->run && run_steps(turn->run) > 0;
}

void turn_log_failure(const struct turn *turn)
{
	const struct error *err = &turn->call->error;
	if (error_status_of(err) < 500)
		return;
	char *why = error_logged(err);
	if (turn->apart)
		log_error("run %s failed: %s", turn->run_id, why);
	else
		log_error(
		    "run %s of thread %s failed: %s", turn->run_id, turn->thread.thread_id, why);
	free(why);
}

bool turn_end_told(struct turn *turn, bool ok, bool begun)
{
	turn_end(turn);
	if (!ok && begun)
		turn_log_failure(turn);
	return ok || begun;
}

void turn_add_interrupts(const struct turn *turn, cJSON *out)
{
	thread_add_interrupts(turn->run ? run_thread(turn->run) : &turn->thread, out);
}

void turn_add_note(const struct turn *turn, cJSON *out)
{
	if (turn->action == TURN_REPORT_PAUSE && turn->bring->child && !turn->again)
		json_add_str(out, "note", MESSAGES_NOT_KEPT);
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

cJSON *turn_state(struct turn *turn, const ag_run *run, bool in_node)
{
	struct call *call = turn->call;
	const struct run_flags flags = {0};
	const struct thread *thread = turn->run ? run_thread(turn->run) : &turn->thread;
	cJSON *context = feed_context(call, thread->row, turn->run ? run_view(turn->run) : NULL);
	if (!context)
		return NULL;
	return turn->run ? run_state(run ? run : turn->run, in_node, context)
			 : state_json(call->service->graph, thread, &flags, context);
}
