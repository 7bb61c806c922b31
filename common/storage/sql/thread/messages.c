/* SPDX-License-Identifier: ISC */
/* Reading the messages of a thread, and its context. */
#include "storage/sql/thread/view.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void engine_bind_page(struct query *q, const struct page *page)
{
	bool all = !page->search || page->search[0] == '\0';
	query_text(q, ":search", all ? NULL : page->search);
	query_int(q, ":limit", page->limit);
	query_int(q, ":offset", page->offset);
}

/* A walk through the messages of a view, range by range, and who is handed them. */
struct messages_walk {
	struct storage *st;
	const struct storage_context *ctx;
	message_fn fn;
	void *arg;
	struct view view;
};

static bool messages_hand_out(struct messages_walk *w, struct query *q)
{
	return w->fn(
	    w->arg, query_column_text(q, CONTEXT_MESSAGE_ID), query_column_text(q, CONTEXT_BODY));
}

/* ---- the list ---- */

/* Hands out what the page still wants of one range; false when it wants no more, or with err
 * set. */
static bool messages_walk_page(
    struct messages_walk *w, const struct view_range *range, struct page *page, struct error *err)
{
	bool all = !page->search || page->search[0] == '\0', more = true;
	int64_t most = page->limit;
	struct query q;
	if (page->limit && page->offset && __builtin_add_overflow(most, page->offset, &most))
		most = INT64_MAX;
	engine_query(w->st, w->ctx, &q, SQL_MESSAGE_LIST, err);
	query_int(&q, ":thread", w->view.thread);
	query_int(&q, ":after", range->after > page->after ? range->after : page->after);
	query_int(&q, ":until", range->until);
	query_text(&q, ":search", all ? NULL : page->search);
	query_int(&q, ":limit", most);
	while (more && query_row(&q)) {
		if (page->offset) {
			page->offset--;
			continue;
		}
		page->after = query_column_int(&q, CONTEXT_PLACE);
		page->limit--;
		more = messages_hand_out(w, &q);
	}
	return pool_query_end(engine_of(w->st)->pool, &q) && more && page->limit;
}

bool engine_message_part(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, struct page *page, message_fn fn, void *arg, struct error *err)
{
	struct messages_walk w = {st, ctx, fn, arg, {0}};
	bool more = view_read(&w.view, st, ctx, thread_row, view, err) && page->limit;
	for (size_t i = 0; more && i < w.view.list_count; i++) {
		if (w.view.list[i].until > page->after)
			more = messages_walk_page(&w, &w.view.list[i], page, err);
	}
	view_release(&w.view);
	return !error_is_set(err);
}

bool engine_message_list(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, const struct page *page, message_fn fn, void *arg,
    struct error *err)
{
	struct page copy = *page;
	return engine_message_part(st, ctx, thread_row, view, &copy, fn, arg, err);
}

/* ---- some messages ---- */

bool engine_messages_get(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, const char *const *message_ids, size_t count, message_fn fn,
    void *arg, struct error *err)
{
	struct view v;
	struct query q;
	bool ok = view_read(&v, st, ctx, thread_row, view, err), more = true;
	for (size_t i = 0; ok && more && i < count; i++) {
		bool found = false;
		engine_query(st, ctx, &q, SQL_MESSAGE_GET, err);
		query_int(&q, ":thread", thread_row);
		query_text(&q, ":message_id", message_ids[i]);
		while (!found && query_row(&q)) {
			found = view_has(&v, query_column_int(&q, MESSAGE_GET_SEQ));
			if (found)
				more = fn(
				    arg, message_ids[i], query_column_text(&q, MESSAGE_GET_BODY));
		}
		ok = pool_query_end(engine_of(st)->pool, &q);
	}
	view_release(&v);
	return ok;
}

/* ---- which there are ---- */

/* With KNOWN_MANY or more questions it may be cheaper to read the whole list: KNOWN_PLACES places
 * of it cost about as much as a search for one message. */
#define KNOWN_MANY 4
#define KNOWN_PLACES 16

static void message_is_at(struct message_known *m, const struct view *v, int64_t seq)
{
	m->known = view_has(v, seq);
	m->in_context = m->known && view_place(v, seq) > v->shown.after;
}

static int known_by_id(const void *a, const void *b)
{
	const struct message_known *x = *(struct message_known *const *)a;
	const struct message_known *y = *(struct message_known *const *)b;
	return strcmp(x->message_id, y->message_id);
}

/* Answers all questions, which have ids, in one walk through the list. */
static bool messages_look_through(struct storage *st, const struct storage_context *ctx,
    const struct view *v, struct message_known **asked, size_t count, struct error *err)
{
	bool ok = true;
	qsort(asked, count, sizeof(*asked), known_by_id);
	for (size_t i = 0; ok && i < v->list_count; i++) {
		struct query q;
		engine_query(st, ctx, &q, SQL_MESSAGE_IDS, err);
		query_int(&q, ":thread", v->thread);
		query_int(&q, ":after", v->list[i].after);
		query_int(&q, ":until", v->list[i].until);
		while (query_row(&q)) {
			const struct message_known row = {
			    .message_id = query_column_text(&q, MESSAGE_IDS_MESSAGE_ID)};
			const struct message_known *key = &row;
			struct message_known **found =
			    bsearch(&key, asked, count, sizeof(*asked), known_by_id);
			if (!found)
				continue;
			while (found > asked && known_by_id(found - 1, &key) == 0)
				found--;
			for (; found < asked + count && known_by_id(found, &key) == 0; found++)
				message_is_at(*found, v, query_column_int(&q, MESSAGE_IDS_SEQ));
		}
		ok = pool_query_end(engine_of(st)->pool, &q);
	}
	return ok;
}

bool engine_messages_known(struct storage *st, const struct storage_context *ctx,
    int64_t thread_row, const struct thread_view *view, struct message_known *messages,
    size_t count, struct error *err)
{
	struct message_known **asked = xcalloc(count + 1, sizeof(struct message_known *));
	size_t asked_count = 0;
	struct view v;
	struct query q;
	bool ok = view_read(&v, st, ctx, thread_row, view, err);
	for (size_t i = 0; i < count; i++) {
		messages[i].known = messages[i].in_context = false;
		if (messages[i].message_id)
			asked[asked_count++] = &messages[i];
	}
	if (ok && asked_count >= KNOWN_MANY &&
	    v.shown.until / KNOWN_PLACES <= (int64_t)asked_count) {
		ok = messages_look_through(st, ctx, &v, asked, asked_count, err);
	} else {
		for (size_t i = 0; ok && i < asked_count; i++) {
			struct message_known *m = asked[i];
			engine_query(st, ctx, &q, SQL_MESSAGE_PLACES, err);
			query_int(&q, ":thread", thread_row);
			query_text(&q, ":message_id", m->message_id);
			while (!m->known && query_row(&q))
				message_is_at(m, &v, query_column_int(&q, MESSAGE_PLACES_SEQ));
			ok = pool_query_end(engine_of(st)->pool, &q);
		}
	}
	view_release(&v);
	free(asked);
	return ok;
}

/* ---- the context ---- */

bool engine_view(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    struct thread_view *view, struct error *err)
{
	struct view v;
	bool ok = view_read(&v, st, ctx, thread_row, NULL, err);
	*view = v.shown;
	view_release(&v);
	return ok;
}

/* Hands out the messages of the context, until fn wants no more; *after becomes the place of the
 * last one. */
static bool messages_walk_context(struct messages_walk *w, int64_t *after, struct error *err)
{
	size_t count;
	struct view_range *ranges = view_context(&w->view, &count);
	bool more = true;
	for (size_t i = 0; more && i < count; i++) {
		const struct view_range *range = &ranges[i];
		struct query q;
		engine_query(w->st, w->ctx, &q, SQL_CONTEXT, err);
		query_int(&q, ":thread", w->view.thread);
		query_int(&q, ":after", range->after);
		query_int(&q, ":until", range->until);
		while (more && query_row(&q)) {
			*after =
			    range->second ? range->second : query_column_int(&q, CONTEXT_PLACE);
			more = messages_hand_out(w, &q);
		}
		more = pool_query_end(engine_of(w->st)->pool, &q) && more;
	}
	free(ranges);
	return !error_is_set(err);
}

bool engine_context_part(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    struct thread_view *view, message_fn fn, void *arg, struct error *err)
{
	struct messages_walk w = {st, ctx, fn, arg, {0}};
	bool ok = view_read(&w.view, st, ctx, thread_row, view, err) &&
	    messages_walk_context(&w, &view->after, err);
	view_release(&w.view);
	return ok;
}

bool engine_context(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, message_fn fn, void *arg, struct error *err)
{
	struct messages_walk w = {st, ctx, fn, arg, {0}};
	int64_t after;
	bool ok = view_read(&w.view, st, ctx, thread_row, view, err) &&
	    messages_walk_context(&w, &after, err);
	view_release(&w.view);
	return ok;
}

bool engine_context_count(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, int64_t *count, struct error *err)
{
	struct view_range *ranges = NULL;
	size_t range_count = 0;
	struct view v;
	bool ok = view_read(&v, st, ctx, thread_row, view, err);
	*count = 0;
	if (ok)
		ranges = view_context(&v, &range_count);
	for (size_t i = 0; ok && i < range_count; i++) {
		struct query q;
		engine_query(st, ctx, &q, SQL_CONTEXT_COUNT, err);
		query_int(&q, ":thread", thread_row);
		query_int(&q, ":after", ranges[i].after);
		query_int(&q, ":until", ranges[i].until);
		if (query_row(&q))
			*count += query_column_int(&q, CONTEXT_COUNT_COUNT);
		ok = pool_query_end(engine_of(st)->pool, &q);
	}
	free(ranges);
	view_release(&v);
	return ok;
}
