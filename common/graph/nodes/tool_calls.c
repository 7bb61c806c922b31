/* SPDX-License-Identifier: ISC */
/* The threads that make the calls, and keeping what they say until it is their turn. */
#include "graph/nodes/tool_calls.h"

#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "graph/message/message.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* As that of the threads that serve requests: a tool may be any C function. */
#define STACK_SIZE (1 << 20)

struct tool_calls;

struct tool_call {
	struct tool_calls *calls;
	const cJSON *block;
	ag_run view;   /* what the tool is given */
	cJSON *kept;   /* what it said before its turn: an array of objects with one member */
	cJSON *output; /* taken when it has ended */
	ag_result result;
	bool ended;
};

struct tool_calls {
	ag_run *run;
	const cJSON *asking;
	struct log_ids ids;
	pthread_mutex_t lock;
	pthread_cond_t turned; /* turn or paused changed */
	/* guarded by lock, and so is what calls have kept */
	struct tool_call *items;
	size_t count;
	size_t next; /* the first that has not begun */
	size_t turn; /* the first that has not ended; it alone changes run */
	bool paused;
};

/* ---- Speaking */

static void speak_kept(struct tool_call *call)
{
	ag_run *run = call->calls->run;
	cJSON *entry;
	cJSON_ArrayForEach(entry, call->kept) {
		cJSON *said = cJSON_DetachItemViaPointer(entry, entry->child);
		if (strcmp(said->string, "message") == 0) {
			node_add_message(run, said);
			continue;
		}
		if (strcmp(said->string, "piece") == 0) {
			run_show_piece(run, said, NULL);
		} else if (strcmp(said->string, "custom") == 0) {
			run_show_custom(run, said);
		} else {
			cJSON *value = cJSON_DetachItemViaPointer(said, said->child);
			cJSON_AddItemToObject(run->frame.updates, value->string, value);
		}
		cJSON_Delete(said);
	}
	cJSON_Delete(call->kept);
	call->kept = NULL;
}

static bool has_turn(const struct tool_call *call)
{
	return call == &call->calls->items[call->calls->turn];
}

static void tool_calls_keep(struct tool_call *call, const char *kind, cJSON *said)
{
	cJSON *entry = cJSON_CreateObject();
	cJSON_AddItemToObject(entry, kind, said);
	if (!call->kept)
		call->kept = cJSON_CreateArray();
	cJSON_AddItemToArray(call->kept, entry);
}

void tool_call_piece(struct tool_call *call, const cJSON *piece)
{
	pthread_mutex_lock(&call->calls->lock);
	if (has_turn(call))
		run_show_piece(call->calls->run, piece, NULL);
	else
		tool_calls_keep(call, "piece", cJSON_Duplicate(piece, true));
	pthread_mutex_unlock(&call->calls->lock);
}

void tool_call_custom(struct tool_call *call, const cJSON *event)
{
	pthread_mutex_lock(&call->calls->lock);
	if (has_turn(call))
		run_show_custom(call->calls->run, event);
	else
		tool_calls_keep(call, "custom", cJSON_Duplicate(event, true));
	pthread_mutex_unlock(&call->calls->lock);
}

void tool_call_streams(struct tool_call *call)
{
	pthread_mutex_lock(&call->calls->lock);
	call->calls->run->frame.streamed = true;
	pthread_mutex_unlock(&call->calls->lock);
}

void tool_call_message(struct tool_call *call, cJSON *message)
{
	pthread_mutex_lock(&call->calls->lock);
	if (has_turn(call))
		node_add_message(call->calls->run, message);
	else
		tool_calls_keep(call, "message", message);
	pthread_mutex_unlock(&call->calls->lock);
}

void tool_call_update(struct tool_call *call, const char *field, cJSON *value)
{
	pthread_mutex_lock(&call->calls->lock);
	if (has_turn(call)) {
		ag_update(call->calls->run, field, value);
	} else {
		cJSON *update = cJSON_CreateObject();
		cJSON_AddItemToObject(update, field, value ? value : cJSON_CreateNull());
		tool_calls_keep(call, "update", update);
	}
	pthread_mutex_unlock(&call->calls->lock);
}

ag_run *tool_call_turn(struct tool_call *call)
{
	struct tool_calls *calls = call->calls;
	int64_t start = clock_monotonic_ms();
	pthread_mutex_lock(&calls->lock);
	while (!has_turn(call) && !calls->paused)
		pthread_cond_wait(&calls->turned, &calls->lock);
	bool turn = has_turn(call);
	pthread_mutex_unlock(&calls->lock);
	/* the time of others is not its own */
	int64_t *deadline = &call->view.frame.deadline, most = calls->run->frame.deadline;
	*deadline += clock_monotonic_ms() - start;
	if (*deadline > most)
		*deadline = most;
	return turn ? calls->run : NULL;
}

/* ---- Running */

/* Hands on what calls said that have ended in their turn, up to the first that has not. */
static void tool_calls_pass_turn(struct tool_calls *calls)
{
	while (calls->turn < calls->count && calls->items[calls->turn].ended && !calls->paused) {
		struct tool_call *call = &calls->items[calls->turn];
		speak_kept(call);
		if (call->result == AG_PAUSE) {
			calls->paused = true;
			break;
		}
		node_add_result(calls->run, call->block, call->output, call->result);
		call->output = NULL;
		calls->turn++;
		if (calls->turn < calls->count)
			speak_kept(&calls->items[calls->turn]);
	}
	pthread_cond_broadcast(&calls->turned);
}

static void *tool_calls_work(void *arg)
{
	struct tool_calls *calls = arg;
	log_request(calls->ids.request);
	log_run(calls->ids.run);
	pthread_mutex_lock(&calls->lock);
	while (!calls->paused && calls->next < calls->count) {
		struct tool_call *call = &calls->items[calls->next++];
		cJSON *output = NULL;
		pthread_mutex_unlock(&calls->lock);
		call->view.setup.arena = arena_new();
		call->result = tools_node_answer(&call->view, calls->asking, call->block, &output);
		call->output = output;
		arena_free(call->view.setup.arena);
		pthread_mutex_lock(&calls->lock);
		call->ended = true;
		tool_calls_pass_turn(calls);
	}
	pthread_mutex_unlock(&calls->lock);
	return NULL;
}

/* The calling thread works as well, so that calls are made even where no thread can be had. */
static void work_together(struct tool_calls *calls)
{
	size_t wanted = calls->count < TOOL_CALLS_AT_ONCE ? calls->count : TOOL_CALLS_AT_ONCE;
	pthread_t threads[TOOL_CALLS_AT_ONCE];
	pthread_attr_t attr;
	size_t started = 0;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	while (started + 1 < wanted &&
	    pthread_create(&threads[started], &attr, tool_calls_work, calls) == 0)
		started++;
	pthread_attr_destroy(&attr);
	tool_calls_work(calls);
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}

ag_result tool_calls_run(ag_run *run, const cJSON *asking, const cJSON *const *blocks, size_t count)
{
	struct tool_calls calls = {.run = run,
	    .asking = asking,
	    .ids = log_ids(),
	    .lock = PTHREAD_MUTEX_INITIALIZER,
	    .turned = PTHREAD_COND_INITIALIZER,
	    .items = xcalloc(count, sizeof(*calls.items)),
	    .count = count};
	for (size_t i = 0; i < count; i++) {
		struct tool_call *call = &calls.items[i];
		*call = (struct tool_call){.calls = &calls, .block = blocks[i], .view = *run};
		call->view.state.run = &call->view;
		call->view.call = call;
		call->view.frame.updates = call->view.frame.messages = call->view.frame.held = NULL;
	}
	work_together(&calls);
	run->frame.cached = true;
	for (size_t i = 0; i < count; i++) {
		run->frame.cached = run->frame.cached && calls.items[i].view.frame.cached;
		cJSON_Delete(calls.items[i].kept);
		cJSON_Delete(calls.items[i].output);
	}
	free(calls.items);
	pthread_mutex_destroy(&calls.lock);
	pthread_cond_destroy(&calls.turned);
	return calls.paused ? AG_PAUSE : AG_OK;
}
