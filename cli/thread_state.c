/* SPDX-License-Identifier: ISC */
/* Threads in the storage of a state directory, by the use cases that the routes have. */
#include "ask_state.h"
#include "base/memory.h"
#include "thread_source.h"

#include <stdlib.h>

struct thread_state {
	struct thread_source source;
	struct state_service service;
};

static struct state_service *thread_state_of(struct thread_source *source)
{
	return &((struct thread_state *)source)->service;
}

static cJSON *thread_state_list(
    struct thread_source *source, const struct thread_query *query, struct error *err)
{
	struct state_service *at = thread_state_of(source);
	struct call *call = state_begin(at);
	state_identify(at, NULL);
	call->owner = at->user_id;
	return state_end(at, threads_list(call, query), err);
}

static cJSON *thread_state_read(
    struct thread_source *source, const char *thread_id, struct error *err)
{
	struct state_service *at = thread_state_of(source);
	struct call *call = state_begin(at);
	return state_end(at, thread_read(call, thread_id), err);
}

static cJSON *thread_state_history(struct thread_source *source, const char *thread_id,
    const struct history_query *query, struct error *err)
{
	struct state_service *at = thread_state_of(source);
	struct call *call = state_begin(at);
	return state_end(at, history_list(call, thread_id, query), err);
}

static cJSON *thread_state_checkpoint(struct thread_source *source, const char *thread_id,
    const char *checkpoint_id, struct error *err)
{
	struct state_service *at = thread_state_of(source);
	struct call *call = state_begin(at);
	return state_end(at, history_read(call, thread_id, checkpoint_id), err);
}

static cJSON *thread_state_copy(
    struct thread_source *source, const char *thread_id, const cJSON *body, struct error *err)
{
	struct state_service *at = thread_state_of(source);
	struct call *call = state_begin(at);
	bool known = state_identify(at, thread_id);
	return state_end(at, known ? history_copy(call, thread_id, body) : NULL, err);
}

static void thread_state_close(struct thread_source *source)
{
	state_service_close(thread_state_of(source));
	free(source);
}

struct thread_source *thread_source_of_state(const struct config_source *where, const char *user_id)
{
	struct thread_state *at = xcalloc(1, sizeof(*at));
	at->source = (struct thread_source){thread_state_list, thread_state_read,
	    thread_state_history, thread_state_checkpoint, thread_state_copy, thread_state_close};
	if (state_service_open(&at->service, where, user_id))
		return &at->source;
	free(at);
	return NULL;
}
