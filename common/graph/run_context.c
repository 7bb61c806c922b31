/* SPDX-License-Identifier: ISC */
/* The messages of a run, and what its nodes read of the thread: the context. */
#include "base/json/json.h"
#include "base/log/log.h"
#include "graph/message/message.h"
#include "graph/run_internal.h"
#include "storage/history.h"

#include <string.h>

void run_append(ag_run *run, cJSON *message)
{
	struct run_messages *m = &run->messages;
	if (m->count == m->size) {
		struct new_message *old = m->stored;
		m->size = m->size ? 2 * m->size : 8;
		m->stored = arena_alloc(run->setup.arena, m->size * sizeof(*m->stored));
		if (old)
			memcpy(m->stored, old, m->count * sizeof(*old));
	}
	char *json = run->setup.lease ? json_print(message) : NULL;
	if (json)
		arena_defer(run->setup.arena, cJSON_free, json);
	m->stored[m->count++] = (struct new_message){message_id(message), json};
	cJSON_AddItemToArray(m->array, message);
	if (run->context)
		cJSON_AddItemReferenceToArray(run->context, message);
}

void run_bring(ag_run *run, cJSON *message)
{
	run_append(run, message);
	run->messages.brought = run->messages.count;
}

bool run_answers_other(const cJSON *message, const cJSON *calls, const struct others *others)
{
	const cJSON *block;
	if (!message_is(message, "tool"))
		return false;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		const char *id = json_str(block, "call_id");
		if (id && (json_has_str(calls, id) || others_have(others, id)))
			return true;
	}
	return false;
}

/* The context before this run is what lies before its first message. */
struct context_walk {
	cJSON *context;
	const char *first;
	const ag_run *run;
};

static bool context_add(void *arg, const char *id, const char *body_json)
{
	struct context_walk *walk = arg;
	if (walk->first && strcmp(walk->first, id) == 0)
		return false;
	if (others_have(walk->run->hidden, id))
		return true;
	cJSON *message = json_parse_own(body_json);
	if (message && run_answers_other(message, NULL, walk->run->not_its))
		cJSON_Delete(message);
	else if (message)
		cJSON_AddItemToArray(walk->context, message);
	return true;
}

void run_drop_context(ag_run *run)
{
	if (!run->context)
		return;
	cJSON_Delete(run->context->child);
	run->context->child = NULL;
	run->context = NULL;
}

void run_note_unread(ag_run *run, const struct error *err)
{
	log_error("context of thread %s cannot be read: %s", run->thread.thread_id, err->cause);
	run->frame.failure = "the conversation cannot be read";
	run->frame.away = err->kind == ERR_TRANSIENT_STORAGE;
	run->frame.unread = true;
}

const cJSON *run_context(ag_run *run)
{
	if (run->context)
		return run->context;
	struct storage *storage = run->setup.storage;
	struct context_walk walk = {
	    .context = arena_json(run->setup.arena, cJSON_CreateArray()), .run = run};
	const struct run_messages *m = &run->messages;
	/* a run that begins at a checkpoint reads there, whether or not the thread is back there
	 * yet */
	const struct thread_view *view =
	    run->setup.rewind && !run->rolled_back ? &run->setup.rewind->thread.view : NULL;
	size_t i = 0, own = run->rolled_back ? m->count : m->restored;
	const cJSON *message;
	struct error err = {0};
	/* its own messages are added below, whether or not its first write is on disk yet */
	if (own < m->count)
		walk.first = m->stored[own].message_id;
	if (run->thread.row && !run->apart &&
	    !storage->threads->context(
		storage, &run->setup.ctx, run->thread.row, view, context_add, &walk, &err)) {
		run_note_unread(run, &err);
		error_release(&err);
		return NULL;
	}
	cJSON_ArrayForEach(message, m->array) {
		if (i++ >= own)
			cJSON_AddItemReferenceToArray(walk.context, (cJSON *)message);
	}
	run->context = walk.context;
	return run->context;
}

void run_set_failure(const ag_run *run, struct error *err)
{
	const struct node_frame *frame = &run->frame;
	const char *name = frame->node ? frame->node->name : AG_START;
	const char *why = frame->failure ? frame->failure : "the node failed";
	if (frame->unread && frame->away) {
		error_set(err, ERR_TRANSIENT_STORAGE, NULL);
		error_cause(err, "node %s: %s", name, why);
		return;
	}
	const char *at = arena_printf(run->setup.arena, "node.%s", name);
	error_set(err, ERR_NODE, GRAPH_FAILED "%s", why);
	error_field(err, ERR_NODE, at, "node_error", "%s", why);
}

bool run_could_read(ag_run *run, struct error *err)
{
	if (!run->frame.unread)
		return true;
	run_set_failure(run, err);
	run->frame.unread = false;
	return false;
}

bool run_has_read(const ag_run *run)
{
	return !run->frame.unread;
}

const cJSON *run_messages(const ag_run *run)
{
	return run->messages.array;
}

const char *run_message_json(const ag_run *run, size_t place)
{
	return run->messages.stored[place].body_json;
}
