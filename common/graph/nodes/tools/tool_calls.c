/* SPDX-License-Identifier: ISC */
/* The threads that make the calls of a message, and whose turn it is. */
#include "graph/nodes/tools/tool_calls.h"

#include "base/memory.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* As that of the threads that serve requests: a tool may be any C function. */
#define STACK_SIZE (1 << 20)

#define CALLS_AT_ONCE 8

/* Hands on what calls have said, in their order, up to the first that has not ended. */
static void tool_calls_pass_turn(struct tool_calls *calls)
{
	while (calls->turn < calls->count && calls->items[calls->turn].ended && !calls->paused) {
		struct tool_call *call = &calls->items[calls->turn];
		tool_call_say_kept(call);
		if (call->result == AG_PAUSE) {
			calls->paused = true;
			break;
		}
		tool_answer_add(calls->run, call->block, call->output, call->result);
		call->output = NULL;
		calls->turn++;
		if (calls->turn < calls->count)
			tool_call_say_kept(&calls->items[calls->turn]);
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
		call->result = tool_answer_block(&call->view, calls->asking, call->block, &output);
		call->output = output;
		arena_free(call->view.setup.arena);
		pthread_mutex_lock(&calls->lock);
		call->ended = true;
		tool_calls_pass_turn(calls);
	}
	pthread_mutex_unlock(&calls->lock);
	return NULL;
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
	size_t wanted = count < CALLS_AT_ONCE ? count : CALLS_AT_ONCE, started = 0;
	pthread_t threads[CALLS_AT_ONCE];
	pthread_attr_t attr;
	for (size_t i = 0; i < count; i++) {
		struct tool_call *call = &calls.items[i];
		*call = (struct tool_call){.calls = &calls, .block = blocks[i]};
		memcpy(&call->view, run, offsetof(struct ag_run, begun));
		call->view.state.run = &call->view;
		call->view.call = call;
		call->view.frame.updates = call->view.frame.messages = call->view.frame.held = NULL;
	}
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	while (started + 1 < wanted &&
	    pthread_create(&threads[started], &attr, tool_calls_work, &calls) == 0)
		started++;
	pthread_attr_destroy(&attr);
	tool_calls_work(&calls); /* so that calls are made even where no thread can be had */
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
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
