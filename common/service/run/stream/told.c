/* SPDX-License-Identifier: ISC */
/* Reading kept chunks for the messages in them. */
#include "service/run/stream/told.h"

#include "base/json/json.h"
#include "base/memory.h"
#include "graph/message/message.h"
#include "service/run/stream/kept_line.h"

#include <stdlib.h>
#include <string.h>

struct told_pieces {
	struct told_pieces *next;
	const char *id;
	struct buf text;
};

struct told_reading {
	struct told told; /* first */
	struct arena *arena;
};

static void told_release(void *arg)
{
	struct told *told = arg;
	for (struct told_pieces *p = told->pieces; p; p = p->next)
		buf_release(&p->text);
	cJSON_Delete(told->last);
	free(told->ids);
}

static struct told_pieces **told_find(struct told *told, const char *id)
{
	struct told_pieces **at = &told->pieces;
	while (*at && strcmp((*at)->id, id) != 0)
		at = &(*at)->next;
	return at;
}

static void told_add_piece(struct told_reading *r, const char *id, const cJSON *message)
{
	struct told_pieces **at = told_find(&r->told, id);
	if (!*at) {
		*at = arena_alloc(r->arena, sizeof(**at));
		(*at)->id = arena_strdup(r->arena, id);
	}
	message_text(message, &(*at)->text);
}

static void told_add_whole(struct told_reading *r, const char *id)
{
	struct told *told = &r->told;
	struct told_pieces **at = told_find(told, id);
	told->ids = xgrow(told->ids, told->count, sizeof(*told->ids));
	told->ids[told->count++] = arena_strdup(r->arena, id);
	if (*at) {
		buf_release(&(*at)->text);
		*at = (*at)->next;
	}
}

static bool told_batch(void *arg, const struct chunk_batch *batch)
{
	struct told_reading *r = arg;
	const char *text = batch->lines, *end = text + batch->len;
	const char *state;
	size_t state_len;
	struct kept_line line;
	for (; text < end; text += line.len + 1) {
		if (!kept_line_read(&line, text, (size_t)(end - text)))
			continue;
		cJSON *chunk = kept_line_json(&line, &state, &state_len);
		const cJSON *message = json_get(chunk, "message");
		const char *id = message_id(message);
		if (id && cJSON_IsTrue(json_get(message, "delta")))
			told_add_piece(r, id, message);
		else if (id)
			told_add_whole(r, id);
		cJSON_Delete(r->told.last);
		r->told.last = chunk;
	}
	r->told.seq = batch->seq + batch->count - 1;
	return true;
}

static int told_order(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

const struct told *told_read(struct call *call, const struct run_record *record)
{
	struct storage *storage = call->service->storage;
	struct told_reading *r = arena_alloc(call->arena, sizeof(*r));
	r->arena = call->arena;
	arena_defer(call->arena, told_release, &r->told);
	if (!storage->runs->chunks_read(
		storage, &call->ctx, record_key(record), 0, told_batch, r, &call->error))
		return NULL;
	if (r->told.count)
		qsort(r->told.ids, r->told.count, sizeof(*r->told.ids), told_order);
	return &r->told;
}

bool told_whole(const struct told *told, const char *id)
{
	return told->count && bsearch(&id, told->ids, told->count, sizeof(*told->ids), told_order);
}

const char *told_in_pieces(const struct told *told, const char *id)
{
	for (const struct told_pieces *p = told->pieces; p; p = p->next)
		if (strcmp(p->id, id) == 0)
			return buf_str(&p->text);
	return NULL;
}

const char *told_node(const struct told *told, int64_t *step)
{
	const cJSON *metadata = json_get(told->last, "metadata");
	return !json_str(metadata, "branch") && json_integer(json_get(metadata, "step"), step)
	    ? json_str(metadata, "node")
	    : NULL;
}
