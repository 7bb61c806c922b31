/* SPDX-License-Identifier: ISC */
/* The messages of an answer, read in pieces, each with a query of its own: one that waited for a
 * slow client in the middle would keep the log of the database from being emptied. */
#include "service/thread/hole.h"

#define PIECE_SIZE (256 << 10)

static cJSON *hole_mark(void)
{
	static const char mark[] = {'[', HOLE_MARK, ']', '\0'};
	return cJSON_CreateRaw(mark);
}

cJSON *hole_context(struct call *call, int64_t thread_row)
{
	struct storage *storage = call->service->storage;
	call->hole = (struct hole){.kind = HOLE_CONTEXT, .thread_row = thread_row};
	if (!storage->ops->context_span(storage, thread_row, &call->hole.span, &call->error))
		return NULL;
	return hole_mark();
}

cJSON *hole_messages(struct call *call, int64_t thread_row, const struct page *page)
{
	call->hole = (struct hole){.kind = HOLE_MESSAGES, .thread_row = thread_row, .page = *page};
	return hole_mark();
}

struct piece {
	struct buf *out;
	size_t start;
	bool filled; /* so that there may be more */
	bool first;
};

static bool piece_add(void *arg, const char *id, const char *body_json)
{
	struct piece *piece = arg;
	(void)id;
	if (!piece->first)
		buf_putc(piece->out, ',');
	piece->first = false;
	buf_puts(piece->out, body_json);
	piece->filled = piece->out->len - piece->start >= PIECE_SIZE;
	return !piece->filled;
}

bool hole_fill(struct call *call, struct buf *out, bool *more)
{
	struct storage *storage = call->service->storage;
	struct hole *hole = &call->hole;
	struct piece piece = {.out = out, .start = out->len, .first = !hole->begun};
	bool ok = hole->kind == HOLE_CONTEXT ? storage->ops->context_part(storage, hole->thread_row,
						   &hole->span, piece_add, &piece, &call->error)
					     : storage->ops->message_part(storage, hole->thread_row,
						   &hole->page, piece_add, &piece, &call->error);
	hole->begun = !piece.first;
	*more = piece.filled;
	return ok;
}
