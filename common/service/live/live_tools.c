/* SPDX-License-Identifier: ISC */
/* Starting calls, counting their places, and collecting what they returned. */
#include "service/live/live_parts.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "graph/run.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOOL_TIMEOUT 300.0 /* seconds, as in runs */
#define CALLS_MOST 16      /* calls at a time; more are refused, which the model is told */

struct live_tools {
	struct live_tools_setup setup;
	_Atomic bool stop;
	size_t open; /* started and not taken */
	pthread_mutex_t lock;
	pthread_cond_t ended;
	/* guarded by lock */
	struct tool_done *first, **last;
	size_t running; /* threads */
};

/* One call, owned by its thread. */
struct call_of_tool {
	struct live_tools *tools;
	struct tool_done *done;
	cJSON *args;
};

struct live_tools *live_tools_new(const struct live_tools_setup *setup)
{
	struct live_tools *tools = xcalloc(1, sizeof(*tools));
	tools->setup = *setup;
	tools->last = &tools->first;
	pthread_mutex_init(&tools->lock, NULL);
	pthread_cond_init(&tools->ended, NULL);
	return tools;
}

void tool_done_free(struct tool_done *done)
{
	free(done->id);
	free(done->name);
	cJSON_Delete(done->output);
	free(done);
}

bool live_tools_free(struct live_tools *tools, int64_t wait_ms)
{
	struct tool_done *done;
	if (!tools)
		return true;
	live_tools_stop(tools);
	int64_t end = clock_monotonic_ms() + wait_ms;
	pthread_mutex_lock(&tools->lock);
	while (tools->running > 0 && clock_cond_wait(&tools->ended, &tools->lock, end))
		continue;
	bool all_ended = tools->running == 0;
	pthread_mutex_unlock(&tools->lock);
	if (!all_ended)
		return false;
	while ((done = live_tools_take(tools)))
		tool_done_free(done);
	pthread_cond_destroy(&tools->ended);
	pthread_mutex_destroy(&tools->lock);
	free(tools);
	return true;
}

/* ---- the thread of a call ---- */

/* Adds a call that has ended.  Call with the lock held. */
static void live_tools_add_done(struct live_tools *tools, struct tool_done *done)
{
	uint64_t one = 1;
	*tools->last = done;
	tools->last = &done->next;
	if (write(tools->setup.wake, &one, sizeof(one)) < 0)
		return; /* it is full of wake-ups already */
}

static void *live_tools_work(void *arg)
{
	struct call_of_tool *call = arg;
	struct tool_done *done = call->done;
	struct live_tools *tools = call->tools;
	struct arena *arena = arena_new();
	const struct run_setup run = {
	    .graph = tools->setup.service->graph,
	    .storage = tools->setup.service->storage,
	    .files = tools->setup.service->files,
	    .arena = arena,
	    .ids = &tools->setup.service->ids,
	    .config = tools->setup.config,
	    .thread = tools->setup.thread,
	    .tool_timeout = TOOL_TIMEOUT,
	    .stop = &tools->stop,
	};
	log_request(tools->setup.request_id);
	done->is_error = !run_tool(&run, tools->setup.node, done->name, call->args, &done->output);
	if (!done->output)
		done->output = cJSON_CreateNull();
	arena_free(arena);
	log_request(NULL);
	cJSON_Delete(call->args);
	pthread_mutex_lock(&tools->lock);
	live_tools_add_done(tools, done);
	free(call);
	tools->running--;
	pthread_cond_signal(&tools->ended);
	pthread_mutex_unlock(&tools->lock);
	return NULL;
}

/* ---- the session's side ---- */

static struct tool_done *live_tools_new_call(
    struct live_tools *tools, const char *id, const char *name, unsigned epoch)
{
	struct tool_done *done = xcalloc(1, sizeof(*done));
	*done = (struct tool_done){.id = xstrdup(id), .name = xstrdup(name), .epoch = epoch};
	tools->open++;
	return done;
}

static void live_tools_drop(struct live_tools *tools, struct tool_done *done, const char *why)
{
	done->output = cJSON_CreateString(why);
	done->is_error = true;
	pthread_mutex_lock(&tools->lock);
	live_tools_add_done(tools, done);
	pthread_mutex_unlock(&tools->lock);
}

void live_tools_start(
    struct live_tools *tools, const char *id, const char *name, cJSON *args, unsigned epoch)
{
	struct tool_done *done = live_tools_new_call(tools, id, name, epoch);
	struct call_of_tool *call;
	pthread_attr_t attributes;
	pthread_t thread;
	pthread_mutex_lock(&tools->lock);
	bool room = tools->running < CALLS_MOST;
	tools->running += room;
	pthread_mutex_unlock(&tools->lock);
	if (!room) {
		cJSON_Delete(args);
		live_tools_drop(tools, done, "too many tool calls at a time");
		return;
	}
	call = xcalloc(1, sizeof(*call));
	*call = (struct call_of_tool){tools, done, args};
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	int code = pthread_create(&thread, &attributes, live_tools_work, call);
	pthread_attr_destroy(&attributes);
	if (code == 0)
		return;
	log_error("cannot start a thread: %s", strerror(code));
	pthread_mutex_lock(&tools->lock);
	tools->running--;
	pthread_mutex_unlock(&tools->lock);
	free(call);
	cJSON_Delete(args);
	live_tools_drop(tools, done, "the tool could not be started");
}

void live_tools_refuse(struct live_tools *tools, const char *id, const char *name, unsigned epoch)
{
	char *why = xasprintf("unknown tool: %s", name);
	live_tools_drop(tools, live_tools_new_call(tools, id, name, epoch), why);
	free(why);
}

struct tool_done *live_tools_take(struct live_tools *tools)
{
	pthread_mutex_lock(&tools->lock);
	struct tool_done *done = tools->first;
	if (done) {
		tools->first = done->next;
		if (!tools->first)
			tools->last = &tools->first;
		tools->open--;
	}
	pthread_mutex_unlock(&tools->lock);
	return done;
}

void live_tools_stop(struct live_tools *tools)
{
	atomic_store(&tools->stop, true);
}

size_t live_tools_open(struct live_tools *tools)
{
	return tools->open;
}
