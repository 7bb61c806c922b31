/* SPDX-License-Identifier: ISC */
/* Messages of the engine in memory, read and written. */
#include "memory_history_fixture.h"

#include "base/json/json.h"
#include "base/memory.h"

#include <stdlib.h>

struct thread_view memory_view_now(const struct kept_thread *k)
{
	return k ? (struct thread_view){k->after, k->until, k->last, false}
		 : (struct thread_view){0};
}

static const struct kept_place *place_of(const struct kept_thread *k, int64_t number)
{
	return &k->places[number - 1];
}

static void turn_round(struct kept_message *list, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		struct kept_message m = list[i];
		list[i] = list[count - 1 - i];
		list[count - 1 - i] = m;
	}
}

struct kept_message *memory_list_of(
    const struct kept_thread *k, const struct thread_view *view, size_t *count)
{
	struct kept_message *list = xcalloc((k ? (size_t)k->last : 0) + 1, sizeof(*list));
	int64_t until = view ? view->until : memory_view_now(k).until;
	*count = 0;
	for (int64_t n = k ? until : 0; n; n = place_of(k, n)->before) {
		const struct kept_place *p = place_of(k, n);
		if (p->body)
			list[(*count)++] = (struct kept_message){p->id, p->body, n};
	}
	turn_round(list, *count);
	return list;
}

struct kept_message *memory_context_of(
    const struct kept_thread *k, const struct thread_view *view, size_t *count)
{
	struct kept_message *list = xcalloc((k ? (size_t)k->last : 0) + 1, sizeof(*list));
	bool *seen = xcalloc((k ? (size_t)k->last : 0) + 1, sizeof(*seen));
	struct thread_view shown = view ? *view : memory_view_now(k);
	*count = 0;
	for (int64_t n = k ? shown.until : 0; n > shown.after; n = place_of(k, n)->before) {
		int64_t message = place_of(k, n)->message;
		const struct kept_place *p = place_of(k, message);
		/* it stands where it entered last */
		if (p->body && !seen[message])
			list[(*count)++] = (struct kept_message){p->id, p->body, n};
		seen[message] = true;
	}
	free(seen);
	turn_round(list, *count);
	return list;
}

/* The place of the message in the list that ends with until; 0: it has none of that id. */
static int64_t message_place(const struct kept_thread *k, int64_t until, const char *message_id)
{
	for (int64_t n = k ? until : 0; n; n = place_of(k, n)->before) {
		const struct kept_place *p = place_of(k, n);
		if (p->body && strcmp(p->id, message_id) == 0)
			return n;
	}
	return 0;
}

/* Where it entered the context last; 0: there is no such message. */
static int64_t message_entered(const struct kept_thread *k, int64_t until, const char *message_id)
{
	int64_t message = message_place(k, until, message_id), n = message ? until : 0;
	while (n && place_of(k, n)->message != message)
		n = place_of(k, n)->before;
	return n;
}

/* ---- read ---- */

static bool block_has_text(const cJSON *block, const char *search)
{
	const char *type = json_str(block, "type");
	if (type && strcmp(type, "text") == 0)
		return memory_has_text(json_str(block, "text"), search);
	return type && strcmp(type, "tool_result") == 0 &&
	    memory_has_text(json_str(block, "output"), search);
}

static bool message_matches(const struct kept_message *m, const char *search)
{
	const cJSON *block;
	bool found = false;
	cJSON *body;
	if (!search || !*search)
		return true;
	body = json_parse(m->body, strlen(m->body), JSON_TRUSTED_DEPTH, NULL);
	cJSON_ArrayForEach(block, json_get(body, "content"))
		found = found || block_has_text(block, search);
	cJSON_Delete(body);
	return found;
}

bool memory_message_part(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, struct page *page, message_fn fn, void *arg, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	size_t count;
	struct kept_message *list = memory_list_of(memory_find_row(m, thread_row), view, &count);
	int64_t skip = page->offset;
	bool more = true;
	(void)ctx, (void)err;
	memory_unlock(m, true);
	for (size_t i = 0; i < count && more && page->limit > 0; i++) {
		if (list[i].place <= page->after || !message_matches(&list[i], page->search) ||
		    skip-- > 0)
			continue;
		*page = (struct page){page->search, 0, page->limit - 1, list[i].place};
		more = fn(arg, list[i].id, list[i].body);
	}
	free(list);
	return true;
}

bool memory_message_list(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, const struct page *page, message_fn fn, void *arg,
    struct error *err)
{
	struct page copy = *page;
	return memory_message_part(st, ctx, thread_row, view, &copy, fn, arg, err);
}

bool memory_messages_get(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, const char *const *message_ids, size_t count, message_fn fn,
    void *arg, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	const struct kept_thread *k = memory_find_row(m, thread_row);
	int64_t until = view ? view->until : memory_view_now(k).until;
	bool more = true;
	(void)ctx, (void)err;
	for (size_t i = 0; more && i < count; i++) {
		int64_t place = message_place(k, until, message_ids[i]);
		more = !place || fn(arg, message_ids[i], place_of(k, place)->body);
	}
	return memory_unlock(m, true);
}

bool memory_messages_known(struct storage *st, const struct storage_context *ctx,
    int64_t thread_row, const struct thread_view *view, struct message_known *messages,
    size_t count, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	const struct kept_thread *k = memory_find_row(m, thread_row);
	struct thread_view shown = view ? *view : memory_view_now(k);
	(void)ctx, (void)err;
	for (size_t i = 0; i < count; i++) {
		struct message_known *asked = &messages[i];
		int64_t entered =
		    asked->message_id ? message_entered(k, shown.until, asked->message_id) : 0;
		asked->known = entered != 0;
		asked->in_context = entered > shown.after;
	}
	return memory_unlock(m, true);
}

bool memory_thread_view(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    struct thread_view *view, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	(void)ctx, (void)err;
	*view = memory_view_now(memory_find_row(m, thread_row));
	return memory_unlock(m, true);
}

bool memory_context_part(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    struct thread_view *view, message_fn fn, void *arg, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	size_t count;
	struct kept_message *list = memory_context_of(memory_find_row(m, thread_row), view, &count);
	bool more = true;
	(void)ctx, (void)err;
	memory_unlock(m, true);
	for (size_t i = 0; i < count && more; i++) {
		view->after = list[i].place;
		more = fn(arg, list[i].id, list[i].body);
	}
	free(list);
	return true;
}

bool memory_context(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, message_fn fn, void *arg, struct error *err)
{
	struct thread_view left = view ? *view : (struct thread_view){0};
	return (view || memory_thread_view(st, ctx, thread_row, &left, err)) &&
	    memory_context_part(st, ctx, thread_row, &left, fn, arg, err);
}

bool memory_context_count(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, int64_t *count, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	size_t found;
	(void)ctx, (void)err;
	free(memory_context_of(memory_find_row(m, thread_row), view, &found));
	*count = (int64_t)found;
	return memory_unlock(m, true);
}

/* ---- written ---- */

int64_t memory_place_add(struct kept_thread *k, struct kept_place place)
{
	place.before = k->until;
	if (place.body)
		k->bytes += (int64_t)strlen(place.body);
	k->until = ++k->last;
	if (!place.message)
		place.message = k->last;
	k->places[k->last - 1] = place;
	return k->last;
}

void memory_place_clear(struct kept_thread *k, int64_t place)
{
	struct kept_place *p = place ? &k->places[place - 1] : NULL;
	if (!p || !p->body)
		return;
	k->bytes -= (int64_t)strlen(p->body);
	p->id = p->body = NULL;
}

static bool message_add(struct memory_storage *m, struct kept_thread *k,
    const struct new_message *new, struct error *err)
{
	int64_t known = message_place(k, k->until, new->message_id);
	if (new->body_json && known)
		return memory_fails(err, "the thread has that message");
	if (new->body_json)
		memory_place_add(k,
		    (struct kept_place){.id = arena_strdup(m->arena, new->message_id),
			.body = arena_strdup(m->arena, new->body_json)});
	else
		memory_place_add(k, (struct kept_place){.message = known});
	return true;
}

bool memory_messages_apply(struct memory_storage *m, struct kept_thread *k,
    const struct thread_write *w, struct error *err)
{
	int64_t left;
	if (w->clear_context)
		k->after = k->last;
	for (size_t i = 0; i < w->remove_count; i++)
		memory_place_clear(k, message_place(k, k->until, w->remove[i]));
	for (size_t i = 0; i < w->message_count; i++) {
		if (!message_add(m, k, &w->messages[i], err))
			return false;
	}
	left = w->leave ? message_entered(k, k->until, w->leave) : 0;
	if (left > k->after)
		k->after = left;
	return true;
}
