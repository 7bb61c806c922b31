/* SPDX-License-Identifier: ISC */
/* Threads and leases of the engine in memory. */
#include "memory_engine_fixture.h"

#include "base/arena.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "config/config.h"
#include "memory_history_fixture.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A thread with its texts in another arena; those of the identity are from who. */
struct thread memory_thread_copy(struct arena *a, const struct thread *who, const struct thread *t)
{
	struct thread copy = *t;
	copy.thread_id = arena_strdup(a, who->thread_id);
	copy.user_id = arena_strdup(a, who->user_id);
	copy.created_at = who->created_at;
	copy.thread_name = arena_strdup(a, t->thread_name);
	copy.metadata_json = arena_strdup(a, t->metadata_json);
	copy.run_id = arena_strdup(a, t->run_id);
	copy.node = arena_strdup(a, t->node);
	copy.next = arena_strdup(a, t->next);
	copy.pause_json = arena_strdup(a, t->pause_json);
	copy.waiting_json = arena_strdup(a, t->waiting_json);
	copy.fields_json = arena_strdup(a, t->fields_json);
	copy.summary = arena_strdup(a, t->summary);
	return copy;
}

/* ---- threads read ---- */

static bool memory_thread_get(struct storage *st, const struct storage_context *ctx,
    struct arena *a, const char *thread_id, struct thread *thread, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	const struct kept_thread *k = memory_find_id(m, thread_id);
	(void)ctx, (void)err;
	if (k) {
		*thread = memory_thread_copy(a, &k->thread, &k->thread);
		thread->view = memory_view_now(k);
	}
	return memory_unlock(m, k != NULL);
}

static bool memory_thread_owner(struct storage *st, const struct storage_context *ctx,
    struct arena *a, const char *thread_id, const char **owner, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	const struct kept_thread *k = memory_find_id(m, thread_id);
	(void)ctx, (void)err;
	*owner = k ? arena_strdup(a, k->thread.user_id) : NULL;
	return memory_unlock(m, true);
}

static bool waits_for(const struct thread *t, const char *call_id)
{
	bool found = false;
	const cJSON *call;
	cJSON *waiting;
	if (!t->waiting_json)
		return false;
	waiting = json_parse(t->waiting_json, strlen(t->waiting_json), JSON_TRUSTED_DEPTH, NULL);
	cJSON_ArrayForEach(call, json_get(waiting, "calls")) {
		const char *id = json_str(call, "id");
		found = found || (id && strcmp(id, call_id) == 0);
	}
	cJSON_Delete(waiting);
	return found;
}

static bool memory_thread_waiting(struct storage *st, const struct storage_context *ctx,
    struct arena *a, const char *owner, const char *call_id, const char **thread_id,
    struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	const struct kept_thread *latest = NULL;
	(void)ctx, (void)err;
	for (const struct kept_thread *k = m->threads; k; k = k->next) {
		if (strcmp(k->thread.user_id, owner) == 0 && waits_for(&k->thread, call_id) &&
		    (!latest || k->since > latest->since ||
			(k->since == latest->since && k->thread.row > latest->thread.row)))
			latest = k;
	}
	*thread_id = latest ? arena_strdup(a, latest->thread.thread_id) : NULL;
	return memory_unlock(m, true);
}

static char folded(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool memory_has_text(const char *text, const char *search)
{
	for (; text; text = *text ? text + 1 : NULL) {
		size_t i = 0;
		while (search[i] && folded(text[i]) == folded(search[i]))
			i++;
		if (!search[i])
			return true;
	}
	return false;
}

static bool tree_has_text(const cJSON *tree, const char *search)
{
	const cJSON *item;
	if (cJSON_IsString(tree))
		return memory_has_text(tree->valuestring, search);
	cJSON_ArrayForEach(item, tree) {
		if (tree_has_text(item, search))
			return true;
	}
	return false;
}

static bool thread_matches(const struct thread *t, const char *search)
{
	cJSON *metadata;
	bool found;
	if (!search || !*search || memory_has_text(t->thread_id, search) ||
	    memory_has_text(t->thread_name, search))
		return true;
	metadata = json_parse(t->metadata_json, strlen(t->metadata_json), JSON_TRUSTED_DEPTH, NULL);
	found = tree_has_text(metadata, search);
	cJSON_Delete(metadata);
	return found;
}

struct label_search {
	const struct thread_filter *filter;
	size_t found;
};

static bool label_is_sought(void *arg, const struct label *label)
{
	struct label_search *s = arg;
	for (size_t i = 0; i < s->filter->count; i++)
		s->found += strcmp(s->filter->labels[i].key, label->key) == 0 &&
		    strcmp(s->filter->labels[i].value, label->value) == 0;
	return true;
}

static bool thread_passes(const struct thread *t, const struct thread_filter *filter)
{
	struct label_search s = {filter, 0};
	if (!filter)
		return true;
	labels_each(t->metadata_json, label_is_sought, &s);
	return (!filter->statuses || filter->statuses >> t->status & 1) && s.found == filter->count;
}

static int latest_first(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;
	if (x->updated_at != y->updated_at)
		return x->updated_at < y->updated_at ? 1 : -1;
	return strcmp(x->thread_id, y->thread_id);
}

/* All threads, malloc'd, in the order of a listing. */
static struct thread *all_threads(struct storage *st, size_t *count)
{
	struct memory_storage *m = memory_lock(st);
	struct thread *list;
	*count = 0;
	for (const struct kept_thread *k = m->threads; k; k = k->next)
		++*count;
	list = xcalloc(*count + 1, sizeof(*list));
	*count = 0;
	for (const struct kept_thread *k = m->threads; k; k = k->next)
		list[(*count)++] = k->thread;
	memory_unlock(m, true);
	qsort(list, *count, sizeof(*list), latest_first);
	return list;
}

static bool memory_thread_list(struct storage *st, const struct storage_context *ctx,
    const char *owner, const struct page *page, const struct thread_filter *filter, thread_fn fn,
    void *arg, struct error *err)
{
	size_t count;
	struct thread *list = all_threads(st, &count);
	int64_t skip = page->offset, left = page->limit;
	(void)ctx, (void)err;
	for (size_t i = 0; i < count && left > 0; i++) {
		struct thread *t = &list[i];
		if ((owner && strcmp(t->user_id, owner) != 0) || !thread_matches(t, page->search) ||
		    !thread_passes(t, filter) || skip-- > 0)
			continue;
		t->next = t->pause_json = t->waiting_json = t->summary = NULL;
		t->fields_json = "{}";
		left = fn(arg, t) ? left - 1 : 0;
	}
	free(list);
	return true;
}

static bool memory_threads_untouched(struct storage *st, const struct storage_context *ctx,
    struct arena *a, struct untouched *old, struct error *err)
{
	size_t total, room = old->count;
	int64_t skip = old->skip;
	struct thread *list = all_threads(st, &total);
	(void)ctx, (void)err;
	old->count = 0;
	for (size_t i = total; i-- > 0 && old->count < room;) {
		if (list[i].updated_at < old->before && !memory_run_waits(st, list[i].row) &&
		    skip-- <= 0)
			old->ids[old->count++] = arena_strdup(a, list[i].thread_id);
	}
	free(list);
	return true;
}

/* ---- writes ---- */

bool memory_holds(const struct memory_storage *m, const struct lease *lease)
{
	const struct place *p = m->line;
	while (p && strcmp(p->lease.thread_id, lease->thread_id) != 0)
		p = p->next;
	return p && p->lease.generation == lease->generation;
}

struct kept_thread *memory_thread_add(struct memory_storage *m)
{
	struct kept_thread *k = xcalloc(1, sizeof(*k));
	k->thread.row = ++m->rows;
	k->next = m->threads;
	m->threads = k;
	return k;
}

void memory_thread_make(struct memory_storage *m, struct thread *t)
{
	struct kept_thread *k = memory_thread_add(m);
	t->row = k->thread.row;
	k->thread = memory_thread_copy(m->arena, t, t);
	k->changed = true;
}

/* k is NULL for a new thread. */
static bool has_room(const struct storage *st, const struct kept_thread *k,
    const struct thread *rest, int64_t added, struct error *err)
{
	int64_t max = st->thread_max_bytes, state = thread_state_size(rest);
	return !max || (k ? k->bytes : 0) + added + state <= max ||
	    (k && !added && state <= thread_state_size(&k->thread)) ||
	    thread_too_large(rest, max, err);
}

static bool differ(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) != 0 : a != b;
}

/* A thread to change, in whose place it is put when all went well; from may be NULL. */
static struct kept_thread kept_copy(const struct kept_thread *from, size_t added)
{
	struct kept_thread k = from ? *from : (struct kept_thread){0};
	k.places = xcalloc((size_t)k.last + added + 1, sizeof(*k.places));
	k.checkpoints = xcalloc(k.checkpoint_count + 4, sizeof(*k.checkpoints));
	if (from && from->last)
		memcpy(k.places, from->places, (size_t)k.last * sizeof(*k.places));
	if (k.checkpoint_count)
		memcpy(
		    k.checkpoints, from->checkpoints, k.checkpoint_count * sizeof(*k.checkpoints));
	return k;
}

static void kept_clear(struct kept_thread *k)
{
	free(k->places);
	free(k->checkpoints);
}

static bool apply(struct memory_storage *m, struct kept_thread *k, const struct thread_write *w,
    struct error *err)
{
	struct thread was = k->thread;
	if (w->rewind && !memory_history_rewind(k, w->rewind, err))
		return false;
	if (w->back_to)
		memory_history_back(k, w);
	else if (!memory_messages_apply(m, k, w, err))
		return false;
	k->thread = memory_thread_copy(m->arena, was.thread_id ? &was : w->thread, w->thread);
	k->thread.row = was.row;
	k->thread.message_bytes = k->bytes;
	k->changed = true;
	if (w->checkpoint)
		memory_history_keep(k, w->checkpoint);
	return true;
}

/* All of a change is made to a copy, which takes the place of the thread when nothing failed. */
static bool write_one_change(struct memory_storage *m, const struct thread_change *c)
{
	const struct thread *first = c->writes[0]->thread;
	const struct thread *rest = c->writes[1] ? c->writes[1]->thread : first;
	struct kept_thread *k = first->row ? memory_find_row(m, first->row) : NULL, copy;
	size_t added = 0;
	int64_t bytes = 0;
	bool ok = true;
	if (!memory_holds(m, c->lease) || !memory_run_may_write(m, c))
		return thread_lost(first->thread_id, c->err);
	if (first->row ? !k : memory_find_id(m, first->thread_id) != NULL)
		return memory_fails(c->err, k ? "there is such a thread" : "the thread is gone");
	for (int i = 0; i < 2 && c->writes[i]; i++) {
		added += c->writes[i]->message_count;
		bytes += thread_write_size(c->writes[i]);
	}
	if (!c->writes[c->writes[1] != NULL]->back_to &&
	    !has_room(&m->with.storage, k, rest, bytes, c->err))
		return false;
	copy = kept_copy(k, added);
	for (int i = 0; ok && i < 2 && c->writes[i]; i++)
		ok = apply(m, &copy, c->writes[i], c->err);
	if (!ok) {
		kept_clear(&copy);
		return false;
	}
	memory_history_trim(m, &copy);
	if (!k)
		k = memory_thread_add(m);
	struct memory_run_place place = {k->thread.row, k->last, copy.last};
	if (differ(k->thread.waiting_json, rest->waiting_json))
		copy.since = rest->updated_at;
	memory_run_bury(m, c, k);
	copy.next = k->next;
	copy.thread.row = k->thread.row;
	for (int i = 0; i < 2 && c->writes[i]; i++)
		c->writes[i]->thread->row = k->thread.row;
	kept_clear(k);
	*k = copy;
	for (int i = 0; i < 2 && c->writes[i]; i++)
		c->writes[i]->thread->view = memory_view_now(k);
	memory_run_write(m, c, &place);
	if (c->writes[c->writes[1] != NULL]->run && k->thread.status != RUN_RUNNING)
		*((struct place *)c->lease)->run_id = '\0';
	return true;
}

static bool memory_thread_write(struct storage *st, const struct storage_context *ctx,
    struct thread_change *changes, size_t count)
{
	struct memory_storage *m = memory_lock(st);
	bool ok = true;
	(void)ctx;
	for (size_t i = 0; i < count; i++)
		ok &= write_one_change(m, &changes[i]);
	return memory_unlock(m, ok);
}

static bool memory_thread_remove(struct storage *st, const struct storage_context *ctx,
    const struct lease *lease, int64_t thread_row, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	struct kept_thread **link = &m->threads, *k;
	(void)ctx;
	if (!memory_holds(m, lease))
		return memory_unlock(m, thread_lost(lease->thread_id, err));
	while (*link && (*link)->thread.row != thread_row)
		link = &(*link)->next;
	k = *link;
	memory_runs_remove(m, thread_row);
	if (k) {
		*link = k->next;
		kept_clear(k);
		free(k);
	}
	return memory_unlock(m, true);
}

/* ---- leases ---- */

static struct place *first_in_line(const struct memory_storage *m, const char *thread_id)
{
	struct place *p = m->line;
	while (p && strcmp(p->lease.thread_id, thread_id) != 0)
		p = p->next;
	return p;
}

bool memory_run_held(const struct memory_storage *m, const char *thread_id)
{
	const struct place *p = first_in_line(m, thread_id);
	return p && *p->run_id;
}

static void leave_line(struct memory_storage *m, struct place *p)
{
	struct place **link = &m->line;
	while (*link != p)
		link = &(*link)->next;
	*link = p->next;
	free((char *)p->lease.thread_id);
	free(p);
	pthread_cond_broadcast(&m->moved);
}

static struct lease *memory_lease_acquire(struct storage *st, const struct storage_context *ctx,
    const char *thread_id, enum lease_claim claim, int64_t wait_ms, struct error *err)
{
	static const enum lease_order orders[] = {
	    [CLAIM_INTERRUPT] = ORDER_STOP, [CLAIM_ROLLBACK] = ORDER_ROLLBACK};
	struct memory_storage *m = memory_lock(st);
	struct place *holder = first_in_line(m, thread_id);
	struct place *p = xcalloc(1, sizeof(*p)), **link = &m->line;
	int64_t until = clock_monotonic_ms() + wait_ms;
	bool in_time;
	(void)ctx, (void)err;
	p->lease.thread_id = xstrdup(thread_id);
	if (holder && orders[claim] > holder->order)
		holder->order = orders[claim];
	if (holder && orders[claim])
		link = &holder->next;
	else
		while (*link)
			link = &(*link)->next;
	p->next = *link;
	*link = p;
	in_time = claim != CLAIM_REJECT && wait_ms > 0 && m->waiting < m->room;
	m->waiting++;
	while (first_in_line(m, thread_id) != p && in_time)
		in_time = clock_cond_wait(&m->moved, &m->lock, until);
	m->waiting--;
	if (first_in_line(m, thread_id) == p) {
		p->lease.generation = ++m->generations;
	} else {
		leave_line(m, p);
		p = NULL;
	}
	memory_unlock(m, true);
	return p ? &p->lease : NULL;
}

static void memory_lease_room(struct storage *st, unsigned callers)
{
	struct memory_storage *m = memory_lock(st);
	m->room = callers;
	memory_unlock(m, true);
}

static bool memory_lease_run(struct storage *st, const struct storage_context *ctx,
    struct lease *lease, const char *run_id, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	struct place *p = (struct place *)lease;
	(void)ctx, (void)err;
	snprintf(p->run_id, sizeof(p->run_id), "%s", run_id ? run_id : "");
	return memory_unlock(m, true);
}

static bool memory_lease_ordered(struct storage *st, const struct storage_context *ctx,
    const struct lease *lease, enum lease_order *order, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	(void)ctx, (void)err;
	*order = ((const struct place *)lease)->order;
	return memory_unlock(m, true);
}

static bool memory_lease_release(
    struct storage *st, const struct storage_context *ctx, struct lease *lease, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	(void)ctx, (void)err;
	leave_line(m, (struct place *)lease);
	return memory_unlock(m, true);
}

static bool memory_lease_running(struct storage *st, const struct storage_context *ctx,
    const char *thread_id, bool *running, bool *stop_requested, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	const struct place *p = first_in_line(m, thread_id);
	(void)ctx, (void)err;
	*running = p && *p->run_id;
	*stop_requested = *running && p->order;
	return memory_unlock(m, true);
}

static bool memory_lease_held(struct storage *st, const struct storage_context *ctx,
    const char *thread_id, bool *held, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	(void)ctx, (void)err;
	*held = first_in_line(m, thread_id) != NULL;
	return memory_unlock(m, true);
}

static bool memory_lease_stop(struct storage *st, const struct storage_context *ctx,
    const char *thread_id, const struct lease_aim *aim, bool *running, struct error *err)
{
	static const struct lease_aim whichever = {.order = ORDER_STOP};
	struct memory_storage *m = memory_lock(st);
	struct place *p = first_in_line(m, thread_id);
	(void)ctx, (void)err;
	aim = aim ? aim : &whichever;
	*running = p && *p->run_id && (!aim->only || strcmp(aim->only, p->run_id) == 0) &&
	    (!aim->but || strcmp(aim->but, p->run_id) != 0);
	if (*running && p->order < aim->order)
		p->order = aim->order;
	return memory_unlock(m, true);
}

/* ---- the engine ---- */

static struct storage *memory_open(
    const struct config *config, struct shared *shared, struct error *err)
{
	struct memory_storage *m = xcalloc(1, sizeof(*m));
	(void)err;
	m->shared = shared;
	m->with.kept = records_kept(config->state_dir);
	pthread_cond_init(&m->moved, NULL);
	pthread_mutex_init(&m->lock, NULL);
	m->arena = arena_new();
	m->room = UINT_MAX;
	return &m->with.storage;
}

static void memory_close(struct storage *st)
{
	struct memory_storage *m = memory_of(st);
	struct kept_thread *next;
	for (struct kept_thread *k = m->threads; k; k = next) {
		next = k->next;
		kept_clear(k);
		free(k);
	}
	arena_free(m->arena);
	pthread_cond_destroy(&m->moved);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

static bool memory_lease_thread(struct storage *st, const struct storage_context *ctx,
    struct arena *a, const struct lease *lease, const struct run_job *job, struct thread *thread,
    struct error *err)
{
	(void)job;
	return memory_thread_get(st, ctx, a, lease->thread_id, thread, err);
}

static const struct thread_ops memory_threads = {
    .get = memory_thread_get,
    .owner = memory_thread_owner,
    .waiting = memory_thread_waiting,
    .list = memory_thread_list,
    .untouched = memory_threads_untouched,
    .message_list = memory_message_list,
    .message_part = memory_message_part,
    .messages_get = memory_messages_get,
    .messages_known = memory_messages_known,
    .context = memory_context,
    .view = memory_thread_view,
    .context_part = memory_context_part,
    .context_count = memory_context_count,
    .write = memory_thread_write,
    .remove = memory_thread_remove,
    .lease_acquire = memory_lease_acquire,
    .lease_thread = memory_lease_thread,
    .lease_room = memory_lease_room,
    .lease_run = memory_lease_run,
    .lease_ordered = memory_lease_ordered,
    .lease_release = memory_lease_release,
    .lease_running = memory_lease_running,
    .lease_held = memory_lease_held,
    .lease_stop = memory_lease_stop,
};

const struct storage_engine memory_engine = {
    .name = "memory",
    .open = memory_open,
    .close = memory_close,
    .threads = &memory_threads,
    .memories = &memory_memories,
    .file_records = &memory_file_records,
    .trace_records = &memory_trace_records,
    .runs = &memory_runs,
    .history = &memory_history,
};
