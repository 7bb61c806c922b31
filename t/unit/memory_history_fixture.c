/* SPDX-License-Identifier: ISC */
/* Checkpoints of the engine in memory. */
#include "memory_history_fixture.h"

#include "base/memory.h"
#include "base/os/clock.h"
#include "storage/runs.h"

#include <stdlib.h>

static struct checkpoint *checkpoint_find(const struct kept_thread *k, int64_t number)
{
	for (size_t i = 0; i < k->checkpoint_count; i++) {
		if (k->checkpoints[i].number == number)
			return &k->checkpoints[i];
	}
	return NULL;
}

/* ---- written ---- */

void memory_history_keep(struct kept_thread *k, enum checkpoint_source source)
{
	const struct checkpoint *newest =
	    k->checkpoint_count ? &k->checkpoints[k->checkpoint_count - 1] : NULL;
	struct checkpoint c = {.number = clock_now(), .parent = k->checkpoint, .source = source};
	size_t count;
	if (newest && c.number <= newest->number)
		c.number = newest->number + 1;
	free(memory_list_of(k, NULL, &count));
	c.message_count = (int64_t)count;
	c.thread = k->thread;
	c.thread.view = memory_view_now(k);
	k->checkpoints[k->checkpoint_count++] = c;
	k->checkpoint = c.number;
	k->changed = false;
}

bool memory_history_rewind(struct kept_thread *k, const struct checkpoint *to, struct error *err)
{
	if (!checkpoint_find(k, to->number))
		return error_set(err, ERR_RESOURCE_NOT_FOUND, "Checkpoint not found");
	if (k->changed)
		memory_history_keep(k, CHECKPOINT_UPDATE);
	k->checkpoint = to->number;
	k->until = to->thread.view.until;
	k->after = to->thread.view.after;
	return true;
}

static bool checkpoint_goes(const struct checkpoint *c, int64_t last, const struct run_record *run)
{
	return c->thread.view.until > last ||
	    (run && c->source == CHECKPOINT_STEP && strcmp(c->thread.run_id, run->run_id) == 0);
}

void memory_history_back(struct kept_thread *k, const struct thread_write *w)
{
	const struct thread_view *to = w->back_to;
	size_t left = 0;
	for (int64_t n = to->last + 1; n <= k->last; n++)
		memory_place_clear(k, n);
	k->until = to->until;
	k->after = to->after;
	for (size_t i = 0; i < k->checkpoint_count; i++) {
		if (!checkpoint_goes(&k->checkpoints[i], to->last, w->run))
			k->checkpoints[left++] = k->checkpoints[i];
	}
	k->checkpoint_count = left;
	k->checkpoint = left ? k->checkpoints[left - 1].number : 0;
}

static void mark_shown(const struct kept_thread *k, int64_t until, bool *shown)
{
	for (int64_t n = until; n && !shown[n]; n = k->places[n - 1].before)
		shown[n] = true;
}

void memory_history_trim(const struct memory_storage *m, struct kept_thread *k)
{
	size_t keep = (size_t)m->with.storage.history_keep;
	bool *shown;
	if (!keep || k->checkpoint_count <= keep)
		return;
	memmove(k->checkpoints, k->checkpoints + k->checkpoint_count - keep,
	    keep * sizeof(*k->checkpoints));
	k->checkpoint_count = keep;
	shown = xcalloc((size_t)k->last + 1, sizeof(*shown));
	mark_shown(k, k->until, shown);
	for (size_t i = 0; i < keep; i++)
		mark_shown(k, k->checkpoints[i].thread.view.until, shown);
	for (int64_t n = 1; n <= k->last; n++) {
		if (!shown[n])
			memory_place_clear(k, n);
	}
	free(shown);
	k->thread.message_bytes = k->bytes;
}

/* ---- read ---- */

/* How many of the oldest cannot be read any more. */
static size_t checkpoints_over(const struct memory_storage *m, const struct kept_thread *k)
{
	size_t keep = (size_t)m->with.storage.history_keep;
	return keep && k->checkpoint_count > keep ? k->checkpoint_count - keep : 0;
}

/* With what the thread is now in place of what it was. */
static struct checkpoint checkpoint_shown(
    const struct checkpoint *kept, const struct thread *now, const struct kept_thread *k)
{
	struct checkpoint c = *kept;
	c.thread.row = now->row;
	c.thread.thread_id = now->thread_id;
	c.thread.user_id = now->user_id;
	c.thread.thread_name = now->thread_name;
	c.thread.metadata_json = now->metadata_json;
	c.thread.created_at = now->created_at;
	c.thread.updated_at = now->updated_at;
	c.thread.message_bytes = now->message_bytes;
	c.thread.view.last = k->last;
	return c;
}

static bool memory_history_get(struct storage *st, const struct storage_context *ctx,
    struct arena *a, const struct thread *thread, int64_t number, struct checkpoint *checkpoint,
    struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	const struct kept_thread *k = memory_find_row(m, thread->row);
	const struct checkpoint *c = k ? checkpoint_find(k, number) : NULL;
	(void)ctx, (void)err;
	if (!c || c < k->checkpoints + checkpoints_over(m, k))
		return memory_unlock(m, false);
	*checkpoint = checkpoint_shown(c, thread, k);
	checkpoint->thread = memory_thread_copy(a, thread, &checkpoint->thread);
	return memory_unlock(m, true);
}

static bool filter_takes(const struct checkpoint_filter *filter, const struct checkpoint *c)
{
	bool of_run = c->source == CHECKPOINT_RUN || c->source == CHECKPOINT_STEP;
	if (filter->before && c->number >= filter->before)
		return false;
	return !filter->run_id ||
	    (of_run && c->thread.run_id && strcmp(c->thread.run_id, filter->run_id) == 0);
}

static bool memory_history_list(struct storage *st, const struct storage_context *ctx,
    const struct thread *thread, const struct checkpoint_filter *filter, checkpoint_fn fn,
    void *arg, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	const struct kept_thread *k = memory_find_row(m, thread->row);
	size_t over = k ? checkpoints_over(m, k) : 0, count = 0;
	struct checkpoint *list = xcalloc((k ? k->checkpoint_count : 0) + 1, sizeof(*list));
	int64_t left = filter->limit;
	(void)ctx, (void)err;
	for (size_t i = k ? k->checkpoint_count : 0; i-- > over;) {
		struct thread *t = &list[count].thread;
		if (!filter_takes(filter, &k->checkpoints[i]))
			continue;
		list[count] = checkpoint_shown(&k->checkpoints[i], thread, k);
		t->pause_json = t->waiting_json = t->summary = NULL;
		t->fields_json = "{}";
		count++;
	}
	memory_unlock(m, true);
	for (size_t i = 0; i < count && left > 0; i++)
		left = fn(arg, &list[i]) ? left - 1 : 0;
	free(list);
	return true;
}

/* ---- copied ---- */

/* All of the context enters again: it need not be the end of the list, nor in its order. */
static void copy_messages(
    struct kept_thread *k, const struct kept_thread *from, const struct thread_view *view)
{
	size_t count, in_context;
	struct kept_message *list = memory_list_of(from, view, &count);
	struct kept_message *context = memory_context_of(from, view, &in_context);
	k->places = xcalloc(count + in_context + 1, sizeof(*k->places));
	for (size_t i = 0; i < count; i++)
		memory_place_add(k, (struct kept_place){.id = list[i].id, .body = list[i].body});
	k->after = k->last;
	for (size_t i = 0; i < in_context; i++) {
		int64_t message = 1;
		while (strcmp(k->places[message - 1].id, context[i].id) != 0)
			message++;
		memory_place_add(k, (struct kept_place){.message = message});
	}
	free(list);
	free(context);
}

static bool memory_history_copy(struct storage *st, const struct storage_context *ctx,
    const struct lease *lease, const struct thread *from, struct thread *to, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	const struct kept_thread *source = memory_find_row(m, from->row);
	struct kept_thread copy = {0}, *k;
	(void)ctx;
	if (!memory_holds(m, lease))
		return memory_unlock(m, thread_lost(to->thread_id, err));
	if (!source || memory_find_id(m, to->thread_id))
		return memory_unlock(
		    m, memory_fails(err, source ? "there is such a thread" : "the thread is gone"));
	copy_messages(&copy, source, &from->view);
	if (st->thread_max_bytes && copy.bytes + thread_state_size(to) > st->thread_max_bytes) {
		free(copy.places);
		return memory_unlock(m, thread_too_large(to, st->thread_max_bytes, err));
	}
	k = memory_thread_add(m);
	to->row = k->thread.row;
	copy.next = k->next;
	copy.thread = memory_thread_copy(m->arena, to, to);
	copy.thread.message_bytes = copy.bytes;
	copy.since = to->waiting_json ? to->updated_at : 0;
	copy.checkpoints = xcalloc(1, sizeof(*copy.checkpoints));
	memory_history_keep(&copy, CHECKPOINT_COPY);
	*k = copy;
	return memory_unlock(m, true);
}

/* ---- in parts ---- */

static struct history_part part_of(const struct kept_place *p, int64_t number)
{
	if (p->message != number)
		return (struct history_part){
		    .kind = HISTORY_AGAIN, .place = number, .other = p->message};
	return (struct history_part){.kind = p->body ? HISTORY_MESSAGE : HISTORY_END,
	    .place = number,
	    .message_id = p->id,
	    .body_json = p->body};
}

static bool memory_history_places(struct storage *st, const struct storage_context *ctx,
    int64_t thread_row, int64_t after, int64_t until, history_part_fn fn, void *arg,
    struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	const struct kept_thread *k = memory_find_row(m, thread_row);
	int64_t last = k && k->last < until ? k->last : k ? until : 0;
	struct kept_place *places = xcalloc((size_t)last + 1, sizeof(*places));
	bool more = true;
	(void)ctx, (void)err;
	if (last)
		memcpy(places, k->places, (size_t)last * sizeof(*places));
	memory_unlock(m, true);
	for (int64_t n = after + 1; n <= last && more; n++) {
		const struct kept_place *p = &places[n - 1];
		const struct history_part part = part_of(p, n);
		if (p->before != n - 1)
			fn(arg,
			    &(struct history_part){
				.kind = HISTORY_BRANCH, .place = n, .other = p->before});
		more = part.kind == HISTORY_END || fn(arg, &part);
	}
	free(places);
	return true;
}

static bool memory_history_origin(struct storage *st, const struct storage_context *ctx,
    int64_t thread_row, struct history_origin *origin, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	const struct kept_thread *k = memory_find_row(m, thread_row);
	(void)ctx, (void)err;
	*origin =
	    k ? (struct history_origin){k->checkpoint, k->changed} : (struct history_origin){0};
	return memory_unlock(m, true);
}

/* Places in between were those of messages that are gone. */
static void kept_fill(struct kept_thread *k, int64_t last)
{
	k->places = xrealloc(k->places, ((size_t)last + 1) * sizeof(*k->places));
	while (k->last < last)
		memory_place_add(k, (struct kept_place){0});
}

static bool kept_add_message(struct memory_storage *m, struct kept_thread *k,
    const struct history_part *part, struct error *err)
{
	size_t count;
	struct kept_message *list = memory_list_of(k, NULL, &count);
	bool known = false;
	for (size_t i = 0; i < count; i++)
		known |= strcmp(list[i].id, part->message_id) == 0;
	free(list);
	if (known)
		return error_set(
		    err, ERR_INVALID_INPUT, "the list has a message %s already", part->message_id);
	memory_place_add(k,
	    (struct kept_place){.id = arena_strdup(m->arena, part->message_id),
		.body = arena_strdup(m->arena, part->body_json)});
	return true;
}

static void kept_add_checkpoint(
    struct memory_storage *m, struct kept_thread *k, const struct checkpoint *c)
{
	size_t count = k->checkpoint_count++;
	k->checkpoints = xrealloc(k->checkpoints, (count + 1) * sizeof(*k->checkpoints));
	k->checkpoints[count] = *c;
	k->checkpoints[count].thread = memory_thread_copy(m->arena, &k->thread, &c->thread);
}

static bool kept_add(struct memory_storage *m, struct kept_thread *k,
    const struct history_part *part, struct error *err)
{
	if (part->place)
		kept_fill(k, part->place - 1);
	k->places = xrealloc(k->places, ((size_t)k->last + 2) * sizeof(*k->places));
	switch (part->kind) {
	case HISTORY_BRANCH:
		k->until = part->other;
		break;
	case HISTORY_AGAIN:
		memory_place_add(k, (struct kept_place){.message = part->other});
		break;
	case HISTORY_MESSAGE:
		return kept_add_message(m, k, part, err);
	case HISTORY_CHECKPOINT:
		kept_add_checkpoint(m, k, part->checkpoint);
		break;
	case HISTORY_RUN:
		memory_run_add(m, k->thread.row, part->run);
		break;
	case HISTORY_END:
		break;
	}
	return true;
}

static bool kept_add_all(struct memory_storage *m, struct kept_thread *k,
    struct history_source *source, struct error *err)
{
	struct history_part part;
	if (!source->rewind(source, err))
		return false;
	do {
		if (!source->next(source, &part, err) || !kept_add(m, k, &part, err))
			return false;
	} while (part.kind != HISTORY_END);
	return true;
}

static bool memory_history_make(struct storage *st, const struct storage_context *ctx,
    const struct lease *lease, struct thread *t, const struct history_origin *origin,
    struct history_source *source, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	struct kept_thread made = {.thread = *t}, *k;
	(void)ctx;
	if (!memory_holds(m, lease))
		return memory_unlock(m, thread_lost(t->thread_id, err));
	made.thread.row = m->rows + 1; /* which its runs are to have */
	if (!kept_add_all(m, &made, source, err) ||
	    (st->thread_max_bytes && made.bytes + thread_state_size(t) > st->thread_max_bytes &&
		!thread_too_large(t, st->thread_max_bytes, err))) {
		memory_runs_remove(m, made.thread.row);
		free(made.places);
		free(made.checkpoints);
		return memory_unlock(m, false);
	}
	kept_fill(&made, t->view.last);
	k = memory_thread_add(m);
	t->row = made.thread.row;
	made.next = k->next;
	made.thread = memory_thread_copy(m->arena, t, t);
	made.thread.message_bytes = made.bytes;
	made.until = t->view.until;
	made.after = t->view.after;
	made.since = t->waiting_json ? t->updated_at : 0;
	made.checkpoint = origin->number;
	made.changed = origin->changed;
	*k = made;
	return memory_unlock(m, true);
}

const struct history_ops memory_history = {
    .get = memory_history_get,
    .list = memory_history_list,
    .copy = memory_history_copy,
    .places = memory_history_places,
    .origin = memory_history_origin,
    .make = memory_history_make,
};
