/* SPDX-License-Identifier: ISC */
/* Threads in the storage of a state directory, by the use cases that the routes have. */
#include "base/json/json.h"
#include "base/memory.h"
#include "cli/source/ask_state.h"
#include "cli/source/thread_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static bool thread_state_write(void *arg, struct buf *part)
{
	return fwrite(buf_str(part), 1, part->len, arg) == part->len;
}

static bool thread_state_take_out(
    struct thread_source *source, const char *thread_id, FILE *out, struct error *err)
{
	struct state_service *at = thread_state_of(source);
	struct call *call = state_begin(at);
	struct buf part = {0};
	bool ok = history_export(call, thread_id, &part, thread_state_write, out);
	if (!(ok && thread_state_write(out, &part) && fflush(out) == 0) &&
	    !error_is_set(&call->error))
		error_set(&call->error, ERR_INTERNAL, "cannot write: %s", strerror(errno));
	buf_release(&part);
	state_end(at, NULL, err);
	return !error_is_set(err);
}

static cJSON *thread_state_bring_in(
    struct thread_source *source, FILE *lines, const char *wanted, struct error *err)
{
	struct state_service *at = thread_state_of(source);
	const char *asks = at->user_id;
	char *first = NULL;
	size_t size = 0;
	/* the first line names the owner, whose the thread is where nobody asks */
	ssize_t len = asks ? -1 : getline(&first, &size, lines);
	cJSON *head = len < 0 ? NULL : json_parse(first, (size_t)len, JSON_TRUSTED_DEPTH, NULL);
	if (!asks)
		rewind(lines);
	if (json_str(head, "user_id"))
		at->user_id = json_str(head, "user_id");
	struct call *call = state_begin(at);
	state_identify(at, NULL);
	cJSON *data = state_end(at, history_import(call, lines, wanted, true), err);
	at->user_id = asks;
	cJSON_Delete(head);
	free(first);
	return data;
}

static void thread_state_close(struct thread_source *source)
{
	state_service_close(thread_state_of(source));
	free(source);
}

struct thread_source *thread_source_of_state(const struct config_source *where, const char *user_id)
{
	struct thread_state *at = xcalloc(1, sizeof(*at));
	at->source = (struct thread_source){.list = thread_state_list,
	    .read = thread_state_read,
	    .history = thread_state_history,
	    .checkpoint = thread_state_checkpoint,
	    .copy = thread_state_copy,
	    .take_out = thread_state_take_out,
	    .bring_in = thread_state_bring_in,
	    .close = thread_state_close};
	if (state_service_open(&at->service, where, user_id))
		return &at->source;
	free(at);
	return NULL;
}
