/* SPDX-License-Identifier: ISC */
/* Reading the messages of an answer in parts, each with a query of its own: a query that waited for
 * a slow client would keep the log of the database from being emptied. */
#include "service/thread/feed.h"

#include <string.h>

/* What FEED_MARK is, for the list beside a context (feed_beside). */
#define LIST_MARK '\x04'

#define PART_SIZE (256 << 10)
#define KEEP_SIZE 65536 /* a buffer that grew over this is not kept between two parts */

static cJSON *feed_mark(char sign)
{
	const char mark[] = {'[', sign, ']', '\0'};
	return cJSON_CreateRaw(mark);
}

/* Sets the feed's view.  All parts are read by the same view, so that a rewind in between is not
 * seen. */
static cJSON *feed_set(struct call *call, const struct thread_view *view)
{
	struct storage *storage = call->service->storage;
	struct feed *feed = &call->feed;
	if (view)
		feed->view = *view;
	else if (!storage->threads->view(
		     storage, &call->ctx, feed->thread_row, &feed->view, &call->error))
		return NULL;
	return feed_mark(FEED_MARK);
}

cJSON *feed_context(struct call *call, int64_t thread_row, const struct thread_view *view)
{
	call->feed = (struct feed){.kind = FEED_CONTEXT, .thread_row = thread_row};
	return feed_set(call, view);
}

cJSON *feed_messages(
    struct call *call, int64_t thread_row, const struct thread_view *view, const struct page *page)
{
	call->feed = (struct feed){.kind = FEED_MESSAGES, .thread_row = thread_row, .page = *page};
	return feed_set(call, view);
}

cJSON *feed_beside(struct call *call, int64_t thread_row, const struct thread_view *view)
{
	call->list = (struct feed){.kind = FEED_MESSAGES,
	    .thread_row = thread_row,
	    .view = *view,
	    .page = {.limit = INT64_MAX}};
	return feed_mark(LIST_MARK);
}

/* A list that is being read. */
struct feeding {
	struct feed feed;
	struct buf *part;
	size_t start; /* where in part the messages of the present query begin */
	bool begun;   /* there were messages before */
	bool more;    /* there may be more */
};

static bool feed_add(void *arg, const char *id, const char *body_json)
{
	struct feeding *f = arg;
	struct buf *part = f->part;
	size_t before = part->len;
	(void)id;
	if (f->begun)
		buf_putc(part, ',');
	size_t from = part->len;
	if (f->feed.put)
		f->feed.put(part, body_json);
	else
		buf_puts(part, body_json);
	if (part->len == from)
		part->len = before; /* this message is not shown */
	else
		f->begun = true;
	f->more = part->len - f->start >= PART_SIZE;
	return !f->more;
}

bool feed_put(struct call *call, const char *text, struct buf *part, feed_fn send, void *arg)
{
	static const char marks[] = {FEED_MARK, LIST_MARK, '\0'};
	struct storage *storage = call->service->storage;
	const char *mark;
	for (; (mark = strpbrk(text, marks)); text = mark + 1) {
		struct feeding f = {
		    .feed = *mark == FEED_MARK ? call->feed : call->list, .part = part};
		struct feed *feed = &f.feed;
		buf_add(part, text, (size_t)(mark - text));
		for (;;) {
			f.start = part->len;
			f.more = false;
			bool ok = feed->kind == FEED_CONTEXT
			    ? storage->threads->context_part(storage, &call->ctx, feed->thread_row,
				  &feed->view, feed_add, &f, &call->error)
			    : storage->threads->message_part(storage, &call->ctx, feed->thread_row,
				  &feed->view, &feed->page, feed_add, &f, &call->error);
			if (!ok || (f.more && !send(arg, part)))
				return false;
			if (!f.more)
				break;
			if (part->size > KEEP_SIZE)
				buf_release(part);
			buf_reset(part);
		}
	}
	buf_puts(part, text);
	return true;
}
