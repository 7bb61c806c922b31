/* SPDX-License-Identifier: ISC */
/* What is the same for every engine: reading and writing a single one, and the sizes of writes. */
#include "storage/threads.h"

#include "base/arena.h"

#include <inttypes.h>
#include <string.h>

struct one_message {
	struct arena *arena;
	const char **body;
};

static bool thread_take_message(void *arg, const char *message_id, const char *body_json)
{
	const struct one_message *one = arg;
	(void)message_id;
	*one->body = arena_strdup(one->arena, body_json);
	return true;
}

bool thread_message_get(struct storage *st, const struct storage_context *ctx, struct arena *a,
    int64_t thread_row, const struct thread_view *view, const char *message_id, const char **body,
    struct error *err)
{
	struct one_message one = {a, body};
	*body = NULL;
	return st->threads->messages_get(
	    st, ctx, thread_row, view, &message_id, 1, thread_take_message, &one, err);
}

bool thread_write(struct storage *st, const struct storage_context *ctx, const struct lease *lease,
    struct thread_write *w, struct error *err)
{
	struct thread_change change = {.lease = lease, .writes = {w}, .err = err};
	return st->threads->write(st, ctx, &change, 1);
}

static int64_t thread_text_size(const char *text)
{
	return text ? (int64_t)strlen(text) : 0;
}

int64_t thread_write_size(const struct thread_write *w)
{
	int64_t size = 0;
	for (size_t i = 0; i < w->message_count; i++)
		size += thread_text_size(w->messages[i].body_json);
	return size;
}

int64_t thread_state_size(const struct thread *t)
{
	return thread_text_size(t->fields_json) + thread_text_size(t->summary) +
	    thread_text_size(t->pause_json) + thread_text_size(t->waiting_json);
}

bool thread_lost(const char *thread_id, struct error *err)
{
	return error_set(
	    err, ERR_THREAD_BUSY, "Thread %s was taken over by another run", thread_id);
}

bool thread_too_large(const struct thread *t, int64_t max, struct error *err)
{
	return error_set(err, ERR_THREAD_TOO_LARGE, "Thread %s exceeds maximum %" PRId64 " bytes",
	    t->thread_id, max);
}

bool thread_write_fits(const struct storage *st, const struct thread_write *w, struct error *err)
{
	int64_t added = thread_write_size(w), max = st->thread_max_bytes;
	const struct thread *t = w->thread;
	return !max || !added || t->message_bytes + added + thread_state_size(t) <= max ||
	    thread_too_large(t, max, err);
}
