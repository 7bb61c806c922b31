/* SPDX-License-Identifier: ISC */
/* Records of the engine in memory: lists that are searched from end to end, below one lock. */
#include "memory_records_fixture.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "storage/memory_filter.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define HASH_SIZE 32
#define MODELS 8

struct kept_file {
	struct kept_file *next;
	struct file_record record;
};

struct kept_memory {
	struct kept_memory *next; /* older */
	int64_t row;              /* higher than those of older ones */
	struct memory memory;
	struct memory_links links;
	size_t model; /* of its vector, from 1; 0: it has none */
	const float *vector;
	const unsigned char *hash;
	bool waits; /* for a vector */
};

struct kept_run {
	struct kept_run *next; /* of a lower number */
	struct trace_run run;
	struct kept_piece {
		struct kept_piece *next;
		int first;
		const char *records;
	} * pieces; /* in order */
};

/* All that belongs to a state directory. */
struct kept {
	struct kept *next;
	const char *state_dir;
	struct kept_file *files;
	struct kept_memory *memories; /* newest first */
	int64_t rows;
	struct memory_model models[MODELS];
	size_t model_count;
	struct kept_run *runs; /* highest number first */
};

static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct arena *kept_texts;
static struct kept *kept_all;

struct kept *records_kept(const char *state_dir)
{
	pthread_mutex_lock(&kept_lock);
	struct kept *k = kept_all;
	while (k && strcmp(k->state_dir, state_dir) != 0)
		k = k->next;
	if (!k) {
		if (!kept_texts)
			kept_texts = arena_new();
		k = arena_alloc(kept_texts, sizeof(*k));
		*k = (struct kept){
		    .next = kept_all, .state_dir = arena_strdup(kept_texts, state_dir)};
		kept_all = k;
	}
	pthread_mutex_unlock(&kept_lock);
	return k;
}

/* What an operation begins and ends with. */
static bool records_leave(bool result)
{
	pthread_mutex_unlock(&kept_lock);
	return result;
}

static void *texts_copy(const void *data, size_t size)
{
	return data ? memcpy(arena_alloc(kept_texts, size), data, size) : NULL;
}

static bool records_twice(struct error *err, const char *id)
{
	error_set(err, ERR_STORAGE, NULL);
	return error_cause(err, "%s is there already", id);
}

/* ---- records of files ---- */

struct memory_files {
	struct file_records records; /* first */
	struct kept *kept;
};

static struct kept *files_kept(struct file_records *records)
{
	pthread_mutex_lock(&kept_lock);
	return ((struct memory_files *)records)->kept;
}

static struct file_records *files_open_kept(struct storage *st)
{
	struct memory_files *f = xcalloc(1, sizeof(*f));
	*f = (struct memory_files){{&memory_file_records}, ((struct records_storage *)st)->kept};
	return &f->records;
}

static void files_close_kept(struct file_records *records)
{
	free(records);
}

static bool files_prepare(
    struct file_records *records, const struct storage_context *ctx, bool make, struct error *err)
{
	(void)records, (void)ctx, (void)make, (void)err;
	return true;
}

static struct file_record file_copy(struct arena *a, const struct file_record *r)
{
	struct file_record copy = *r;
	copy.file_id = arena_strdup(a, r->file_id);
	copy.owner = arena_strdup(a, r->owner);
	copy.filename = arena_strdup(a, r->filename);
	copy.mime_type = arena_strdup(a, r->mime_type);
	copy.sha256 = arena_strdup(a, r->sha256);
	copy.backend = arena_strdup(a, r->backend);
	copy.key = arena_strdup(a, r->key);
	copy.text = arena_strdup(a, r->text);
	return copy;
}

/* Where the pointer to the record is; to NULL when there is none. */
static struct kept_file **file_find(struct kept *k, const char *file_id)
{
	struct kept_file **at = &k->files;
	while (*at && strcmp((*at)->record.file_id, file_id) != 0)
		at = &(*at)->next;
	return at;
}

static bool files_get_kept(struct file_records *records, const struct storage_context *ctx,
    struct arena *a, const char *file_id, struct file_record *record, struct error *err)
{
	const struct kept_file *f = *file_find(files_kept(records), file_id);
	(void)ctx, (void)err;
	if (f) {
		*record = file_copy(a, &f->record);
		record->text = NULL;
	}
	return records_leave(f != NULL);
}

static char *files_text_kept(struct file_records *records, const struct storage_context *ctx,
    const char *file_id, struct error *err)
{
	const struct kept_file *f = *file_find(files_kept(records), file_id);
	char *text = f && f->record.text ? xstrdup(f->record.text) : NULL;
	(void)ctx, (void)err;
	records_leave(true);
	return text;
}

static char *files_same_text_kept(struct file_records *records, const struct storage_context *ctx,
    const char *sha256, const char *mime_type, struct error *err)
{
	char *text = NULL;
	(void)ctx, (void)err;
	for (struct kept_file *f = files_kept(records)->files; f && !text; f = f->next)
		if (f->record.text_state == TEXT_EXTRACTED &&
		    strcmp(f->record.sha256, sha256) == 0 &&
		    strcmp(f->record.mime_type, mime_type) == 0)
			text = xstrdup(f->record.text);
	records_leave(true);
	return text;
}

static int file_longest_untouched(const void *a, const void *b)
{
	const struct file_record *x = *(struct file_record *const *)a;
	const struct file_record *y = *(struct file_record *const *)b;
	return (x->touched_at > y->touched_at) - (x->touched_at < y->touched_at);
}

static bool files_untouched_kept(struct file_records *records, const struct storage_context *ctx,
    struct arena *a, struct untouched *asked, struct error *err)
{
	struct kept *k = files_kept(records);
	size_t room = asked->count, n = 0;
	(void)ctx, (void)err;
	for (struct kept_file *f = k->files; f; f = f->next)
		n += f->record.touched_at < asked->before;
	const struct file_record **old = xcalloc(n + 1, sizeof(*old));
	n = 0;
	for (struct kept_file *f = k->files; f; f = f->next)
		if (f->record.touched_at < asked->before)
			old[n++] = &f->record;
	qsort(old, n, sizeof(*old), file_longest_untouched);
	asked->count = 0;
	for (size_t i = (size_t)asked->skip; i < n && asked->count < room; i++)
		asked->ids[asked->count++] = arena_strdup(a, old[i]->file_id);
	free(old);
	return records_leave(true);
}

static bool files_add_kept(struct file_records *records, const struct storage_context *ctx,
    const struct file_record *record, struct error *err)
{
	struct kept *k = files_kept(records);
	(void)ctx;
	if (*file_find(k, record->file_id))
		return records_leave(records_twice(err, record->file_id));
	struct kept_file *f = arena_alloc(kept_texts, sizeof(*f));
	*f = (struct kept_file){k->files, file_copy(kept_texts, record)};
	f->record.touched_at = record->created_at;
	k->files = f;
	return records_leave(true);
}

static bool files_touch_kept(struct file_records *records, const struct storage_context *ctx,
    const char *file_id, int64_t now, struct error *err)
{
	struct kept_file *f = *file_find(files_kept(records), file_id);
	(void)ctx, (void)err;
	if (f && f->record.touched_at < now)
		f->record.touched_at = now;
	return records_leave(true);
}

static bool files_remove_kept(struct file_records *records, const struct storage_context *ctx,
    const char *file_id, struct error *err)
{
	struct kept_file **at = file_find(files_kept(records), file_id);
	(void)ctx, (void)err;
	if (*at)
		*at = (*at)->next;
	return records_leave(true);
}

static bool files_forget_kept(struct file_records *records, const struct storage_context *ctx,
    const char *backend, struct error *err)
{
	struct kept_file **at = &files_kept(records)->files;
	(void)ctx, (void)err;
	while (*at)
		if (strcmp((*at)->record.backend, backend) == 0)
			*at = (*at)->next;
		else
			at = &(*at)->next;
	return records_leave(true);
}

const struct file_record_ops memory_file_records = {
    .open = files_open_kept,
    .close = files_close_kept,
    .prepare = files_prepare,
    .get = files_get_kept,
    .text = files_text_kept,
    .same_text = files_same_text_kept,
    .untouched = files_untouched_kept,
    .add = files_add_kept,
    .touch = files_touch_kept,
    .remove = files_remove_kept,
    .forget = files_forget_kept,
};

/* ---- records of traces ---- */

struct memory_traces {
	struct trace_records records; /* first */
	struct kept *kept;
};

static struct kept *traces_kept(struct trace_records *records)
{
	pthread_mutex_lock(&kept_lock);
	return ((struct memory_traces *)records)->kept;
}

static struct trace_records *traces_open_kept(struct storage *st)
{
	struct memory_traces *t = xcalloc(1, sizeof(*t));
	*t = (struct memory_traces){{&memory_trace_records}, ((struct records_storage *)st)->kept};
	return &t->records;
}

static void traces_close_kept(struct trace_records *records)
{
	free(records);
}

static bool traces_begin_kept(
    struct trace_records *records, const struct storage_context *ctx, bool anew, struct error *err)
{
	struct kept *k = traces_kept(records);
	(void)ctx, (void)err;
	if (anew)
		k->runs = NULL;
	return records_leave(true);
}

/* A run goes by its thread, and by its id too where that is not NULL;
 * the run of that number stays. */
static void runs_drop(struct kept *k, const char *thread_id, const char *run_id, uint64_t number)
{
	struct kept_run **at = &k->runs;
	while (*at) {
		const struct trace_run *r = &(*at)->run;
		if (r->number != number && strcmp(r->thread_id, thread_id) == 0 &&
		    (!run_id || strcmp(r->run_id, run_id) == 0))
			*at = (*at)->next;
		else
			at = &(*at)->next;
	}
}

static void run_put(struct kept *k, const struct trace_run *run, const struct trace_piece *piece)
{
	struct kept_run **at = &k->runs, *r;
	while (*at && (*at)->run.number > run->number)
		at = &(*at)->next;
	r = *at;
	if (!r || r->run.number != run->number) {
		r = arena_alloc(kept_texts, sizeof(*r));
		*r = (struct kept_run){.next = *at};
		*at = r;
	}
	if (!r->run.run_id ||
	    r->run.status == TRACE_RUNNING) { /* one that is over stays as it is */
		r->run = *run;
		r->run.thread_id = arena_strdup(kept_texts, run->thread_id);
		r->run.run_id = arena_strdup(kept_texts, run->run_id);
	}
	if (!piece->len)
		return;
	struct kept_piece **place = &r->pieces;
	while (*place && (*place)->first < piece->first)
		place = &(*place)->next;
	if (!*place || (*place)->first != piece->first) {
		struct kept_piece *p = arena_alloc(kept_texts, sizeof(*p));
		*p = (struct kept_piece){.next = *place, .first = piece->first};
		*place = p;
	}
	(*place)->records = arena_strdup(kept_texts, piece->records);
}

/* Of each thread the latest runs stay, and of the threads those whose latest runs are the latest;
 * the list has the latest run first. */
static void runs_trim(struct kept *k)
{
	struct kept_run **at = &k->runs;
	while (*at) {
		const struct trace_run *r = &(*at)->run;
		int of_thread = 0, threads = 0;
		for (const struct kept_run *i = k->runs; i != *at; i = i->next) {
			bool seen = false;
			of_thread += strcmp(i->run.thread_id, r->thread_id) == 0;
			for (const struct kept_run *j = k->runs; j != i && !seen; j = j->next)
				seen = strcmp(j->run.thread_id, i->run.thread_id) == 0;
			threads += !seen;
		}
		if (of_thread >= TRACES_RUNS || (of_thread == 0 && threads >= TRACES_THREADS))
			*at = (*at)->next;
		else
			at = &(*at)->next;
	}
}

static bool traces_write_kept(struct trace_records *records, const struct storage_context *ctx,
    const struct trace_record *list, size_t count, struct error *err)
{
	struct kept *k = traces_kept(records);
	(void)ctx, (void)err;
	for (size_t i = 0; i < count; i++) {
		const struct trace_run *run = &list[i].run;
		if (!run->number) {
			runs_drop(k, run->thread_id, NULL, 0);
			continue;
		}
		if (list[i].piece.first == 0)
			runs_drop(k, run->thread_id, run->run_id, run->number);
		run_put(k, run, &list[i].piece);
	}
	runs_trim(k);
	return records_leave(true);
}

static bool traces_read_kept(struct trace_records *records, const struct storage_context *ctx,
    struct arena *a, const char *thread_id, const char *run_id, struct trace_view *view,
    struct error *err)
{
	struct kept *k = traces_kept(records);
	struct buf all = {0};
	size_t count = 0;
	(void)ctx, (void)err;
	*view = (struct trace_view){.run.thread_id = arena_strdup(a, thread_id)};
	view->run_ids = arena_alloc(a, (TRACES_RUNS + 1) * sizeof(*view->run_ids));
	for (const struct kept_run *r = k->runs; r; r = r->next)
		count += strcmp(r->run.thread_id, thread_id) == 0;
	view->run_count = count;
	for (const struct kept_run *r = k->runs; r; r = r->next) {
		if (strcmp(r->run.thread_id, thread_id) != 0)
			continue;
		view->run_ids[--count] = arena_strdup(a, r->run.run_id);
		if (view->found || (run_id && strcmp(r->run.run_id, run_id) != 0))
			continue;
		view->found = true;
		view->run = r->run;
		view->run.thread_id = arena_strdup(a, thread_id);
		view->run.run_id = view->run_ids[count];
		for (const struct kept_piece *p = r->pieces; p; p = p->next)
			buf_puts(&all, p->records);
		size_t len = all.len ? all.len - 1 : 0; /* without the last comma */
		view->records = arena_printf(a, "[%.*s]", (int)len, buf_str(&all));
	}
	buf_release(&all);
	return records_leave(true);
}

const struct trace_record_ops memory_trace_records = {
    .open = traces_open_kept,
    .close = traces_close_kept,
    .begin = traces_begin_kept,
    .write = traces_write_kept,
    .read = traces_read_kept,
};

/* ---- memories ---- */

struct memory_list {
	struct memory_set set; /* first */
	struct kept *kept;
	size_t model, dimension;
};

static struct memory_list *set_enter(struct memory_set *set)
{
	pthread_mutex_lock(&kept_lock);
	return (struct memory_list *)set;
}

static struct memory_set *set_open(struct storage *st, const struct storage_context *ctx,
    const char *model, size_t dimension, struct error *err)
{
	struct memory_list *l = xcalloc(1, sizeof(*l));
	struct kept *k = ((struct records_storage *)st)->kept;
	size_t i = 0;
	(void)ctx, (void)err;
	pthread_mutex_lock(&kept_lock);
	while (i < k->model_count &&
	    (strcmp(k->models[i].name, model) != 0 || (size_t)k->models[i].dimension != dimension))
		i++;
	if (i == k->model_count)
		k->models[k->model_count++] = (struct memory_model){
		    .name = arena_strdup(kept_texts, model), .dimension = (int64_t)dimension};
	*l = (struct memory_list){{&memory_memories}, k, i + 1, dimension};
	records_leave(true);
	return &l->set;
}

static void set_close(struct memory_set *set)
{
	free(set);
}

static bool memory_same(const char *wanted, const char *text)
{
	return !wanted || (text && strcmp(wanted, text) == 0);
}

static bool memory_in_scope(const struct memory_filter *f, const struct memory *m)
{
	return memory_same(f->user_id, m->user_id) && memory_same(f->thread_id, m->thread_id);
}

static bool memory_held(const struct memory_filter *f, const struct memory *m)
{
	if (!memory_in_scope(f, m) || !memory_same(f->memory_type, m->memory_type) ||
	    !memory_same(f->category, m->category))
		return false;
	if (!f->filters_json)
		return true;
	cJSON *metadata =
	    json_parse(m->metadata_json, strlen(m->metadata_json), JSON_TRUSTED_DEPTH, NULL);
	cJSON *filters =
	    json_parse(f->filters_json, strlen(f->filters_json), JSON_TRUSTED_DEPTH, NULL);
	bool fits = memory_filter_fits(metadata, filters);
	cJSON_Delete(metadata);
	cJSON_Delete(filters);
	return fits;
}

static struct memory memory_copy(struct arena *a, const struct memory *m)
{
	struct memory copy = *m;
	copy.memory_id = arena_strdup(a, m->memory_id);
	copy.user_id = arena_strdup(a, m->user_id);
	copy.thread_id = arena_strdup(a, m->thread_id);
	copy.memory_type = arena_strdup(a, m->memory_type);
	copy.category = arena_strdup(a, m->category);
	copy.metadata_json = arena_strdup(a, m->metadata_json);
	copy.content = arena_strdup(a, m->content);
	return copy;
}

static void memory_relate(struct kept_memory *k, const struct memory_links *links)
{
	const char **ids = arena_alloc(kept_texts, (links->relation_count + 1) * sizeof(*ids));
	for (size_t i = 0; i < links->relation_count; i++)
		ids[i] = arena_strdup(kept_texts, links->relations[i]);
	k->links = (struct memory_links){
	    arena_strdup(kept_texts, links->entity), ids, links->relation_count};
}

static void memory_embed(
    struct memory_list *l, struct kept_memory *k, const float *numbers, const unsigned char *hash)
{
	k->model = numbers ? l->model : 0;
	k->vector = texts_copy(numbers, l->dimension * sizeof(*numbers));
	k->hash = texts_copy(hash, HASH_SIZE);
	k->waits = !numbers;
}

static struct kept_memory **memory_at(struct kept *k, const char *memory_id)
{
	struct kept_memory **at = &k->memories;
	while (*at && strcmp((*at)->memory.memory_id, memory_id) != 0)
		at = &(*at)->next;
	return at;
}

static struct kept_memory *memory_row(struct kept *k, int64_t row)
{
	struct kept_memory *m = k->memories;
	while (m && m->row != row)
		m = m->next;
	return m;
}

static bool set_put(struct memory_set *set, const struct storage_context *ctx,
    const struct memory *m, const struct memory_links *links, const struct memory_vector *vector,
    struct error *err)
{
	struct memory_list *l = set_enter(set);
	struct kept *k = l->kept;
	(void)ctx;
	if (*memory_at(k, m->memory_id))
		return records_leave(records_twice(err, m->memory_id));
	struct kept_memory *new = arena_alloc(kept_texts, sizeof(*new));
	*new = (struct kept_memory){
	    .next = k->memories, .row = ++k->rows, .memory = memory_copy(kept_texts, m)};
	memory_relate(new, links);
	memory_embed(l, new, vector->numbers, vector->hash);
	k->memories = new;
	return records_leave(true);
}

static bool set_get(struct memory_set *set, const struct storage_context *ctx, struct arena *a,
    const struct memory_filter *scope, const char *memory_id, struct memory *m, struct error *err)
{
	const struct kept_memory *k = *memory_at(set_enter(set)->kept, memory_id);
	bool found = k && memory_in_scope(scope, &k->memory);
	(void)ctx, (void)err;
	if (found)
		*m = memory_copy(a, &k->memory);
	return records_leave(found);
}

static bool set_load(struct memory_set *set, const struct storage_context *ctx, struct arena *a,
    const struct memory_filter *filter, int64_t row, struct memory *m, struct error *err)
{
	const struct kept_memory *k = memory_row(set_enter(set)->kept, row);
	bool found = k && memory_held(filter, &k->memory);
	(void)ctx, (void)err;
	if (found)
		*m = memory_copy(a, &k->memory);
	return records_leave(found);
}

static bool set_update(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *scope, const char *memory_id, const struct memory_update *update,
    bool *found, struct error *err)
{
	struct memory_list *l = set_enter(set);
	struct kept_memory *k = *memory_at(l->kept, memory_id);
	(void)ctx, (void)err;
	*found = k && memory_in_scope(scope, &k->memory);
	if (!*found)
		return records_leave(true);
	k->memory.content = arena_strdup(kept_texts, update->content);
	if (update->metadata_json) {
		cJSON *metadata = json_parse(
		    update->metadata_json, strlen(update->metadata_json), JSON_TRUSTED_DEPTH, NULL);
		cJSON_DeleteItemFromObjectCaseSensitive(metadata, "category");
		cJSON_AddStringToObject(metadata, "category", k->memory.category);
		char *text = json_print(metadata);
		k->memory.metadata_json = arena_strdup(kept_texts, text);
		free(text);
		cJSON_Delete(metadata);
		memory_relate(k, update->links);
	}
	memory_embed(l, k, update->vector->numbers, update->vector->hash);
	return records_leave(true);
}

static bool set_remove(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *scope, const char *memory_id, bool *found, struct error *err)
{
	struct kept_memory **at = memory_at(set_enter(set)->kept, memory_id);
	(void)ctx, (void)err;
	*found = *at && memory_in_scope(scope, &(*at)->memory);
	if (*found)
		*at = (*at)->next;
	return records_leave(true);
}

static bool set_forget(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *filter, int64_t *count, struct error *err)
{
	struct kept_memory **at = &set_enter(set)->kept->memories;
	(void)ctx, (void)err;
	*count = 0;
	while (*at)
		if (memory_held(filter, &(*at)->memory)) {
			*at = (*at)->next;
			++*count;
		} else {
			at = &(*at)->next;
		}
	return records_leave(true);
}

/* ---- searches: every memory is asked for its score ---- */

struct looking {
	struct memory_list *list;
	const struct memory_filter *filter;
	/* Whether the memory is a hit, and how good. */
	bool (*hit)(const struct looking *l, const struct kept_memory *m, struct memory_hit *hit);
	const float *vector;
	enum vector_metric metric;
	const char *text;
	const struct kept_memory *from;
};

static int memory_best_first(const void *a, const void *b)
{
	const struct memory_hit *x = a, *y = b;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return (x->row < y->row) - (x->row > y->row);
}

/* Leaves. */
static bool set_look(const struct looking *l, const struct storage_context *ctx,
    struct memory_hits *hits, struct error *err)
{
	struct memory_hit *all = NULL;
	size_t n = 0;
	bool waited_for = true;
	for (const struct kept_memory *m = l->list->kept->memories; m && waited_for; m = m->next) {
		struct memory_hit hit = {.row = m->row};
		if (ctx && ctx->waiter && l->filter->filters_json)
			waited_for = !ctx->waiter->gone(ctx->waiter->arg);
		if (!memory_held(l->filter, &m->memory) || !l->hit(l, m, &hit))
			continue;
		all = xrealloc(all, (n + 1) * sizeof(*all));
		all[n++] = hit;
	}
	if (n)
		qsort(all, n, sizeof(*all), memory_best_first);
	hits->count = n < hits->limit ? n : hits->limit;
	if (hits->count)
		memcpy(hits->items, all, hits->count * sizeof(*all));
	free(all);
	if (!waited_for) {
		error_set(err, ERR_TRANSIENT_STORAGE, NULL);
		err->status = 499;
	}
	return records_leave(waited_for);
}

static bool hit_any(const struct looking *l, const struct kept_memory *m, struct memory_hit *hit)
{
	(void)l;
	hit->created_at = m->memory.created_at;
	return true;
}

static bool set_recent(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *filter, struct memory_hits *hits, struct error *err)
{
	const struct looking l = {set_enter(set), filter, .hit = hit_any};
	return set_look(&l, ctx, hits, err);
}

static bool hit_near(const struct looking *l, const struct kept_memory *m, struct memory_hit *hit)
{
	double dot = 0, squares = 0, manhattan = 0, length = 0, own = 0;
	if (m->model != l->list->model)
		return false;
	for (size_t i = 0; i < l->list->dimension; i++) {
		double x = (double)l->vector[i], y = (double)m->vector[i];
		dot += x * y;
		length += x * x;
		own += y * y;
		squares += (x - y) * (x - y);
		manhattan += fabs(x - y);
	}
	double rank = 0;
	switch (l->metric) {
	case METRIC_COSINE:
		rank = length > 0 && own > 0 ? dot / sqrt(length * own) : 0;
		break;
	case METRIC_DOT_PRODUCT:
		rank = dot;
		break;
	case METRIC_EUCLIDEAN:
		rank = -squares;
		break;
	case METRIC_MANHATTAN:
		rank = -manhattan;
		break;
	}
	hit->score = vector_similarity(l->metric, (float)rank);
	return true;
}

static bool set_similar(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *filter, const float *vector, enum vector_metric metric,
    struct memory_hits *hits, struct error *err)
{
	const struct looking l = {
	    set_enter(set), filter, .hit = hit_near, .vector = vector, .metric = metric};
	return set_look(&l, ctx, hits, err);
}

/* The next word, in lower case; false at the end.  Beyond ASCII bytes are letters as they are. */
static bool memory_word(const char **text, char word[64])
{
	size_t len = 0;
	while (**text && !isalnum((unsigned char)**text) && !(**text & 0x80))
		++*text;
	for (; isalnum((unsigned char)**text) || (**text & 0x80); ++*text)
		if (len < 63)
			word[len++] = (char)tolower((unsigned char)**text);
	word[len] = '\0';
	return len > 0;
}

static bool hit_words(const struct looking *l, const struct kept_memory *m, struct memory_hit *hit)
{
	char wanted[64], word[64];
	int words = 0, found = 0;
	for (const char *t = l->text; memory_word(&t, wanted);) {
		bool has = false;
		words = 0;
		for (const char *c = m->memory.content; memory_word(&c, word); words++)
			has = has || strcmp(word, wanted) == 0;
		found += has;
	}
	hit->score = found / (1.0 + words / 1000.0);
	return found > 0;
}

static bool set_matching(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *filter, const char *text, struct memory_hits *hits,
    struct error *err)
{
	const struct looking l = {set_enter(set), filter, .hit = hit_words, .text = text};
	return set_look(&l, ctx, hits, err);
}

static bool memory_names(const struct kept_memory *m, const struct kept_memory *other)
{
	for (size_t i = 0; i < m->links.relation_count; i++)
		if (strcmp(m->links.relations[i], other->memory.memory_id) == 0)
			return true;
	return false;
}

static bool hit_linked(const struct looking *l, const struct kept_memory *m, struct memory_hit *hit)
{
	const char *entity = l->from ? l->from->links.entity : NULL;
	hit->created_at = m->memory.created_at;
	return l->from && m != l->from &&
	    (memory_names(l->from, m) || memory_names(m, l->from) ||
		(entity && m->links.entity && strcmp(entity, m->links.entity) == 0));
}

static bool set_linked(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *filter, int64_t row, struct memory_hits *hits, struct error *err)
{
	struct looking l = {set_enter(set), filter, .hit = hit_linked};
	l.from = memory_row(l.list->kept, row);
	return set_look(&l, ctx, hits, err);
}

/* ---- vectors ---- */

static bool set_known_vector(struct memory_set *set, const struct storage_context *ctx,
    const unsigned char *hash, float *vector, bool *found, struct error *err)
{
	struct memory_list *l = set_enter(set);
	(void)ctx, (void)err;
	*found = false;
	for (struct kept_memory *m = l->kept->memories; m && !*found; m = m->next) {
		*found = m->model == l->model && m->hash && memcmp(m->hash, hash, HASH_SIZE) == 0;
		if (*found)
			memcpy(vector, m->vector, l->dimension * sizeof(*vector));
	}
	return records_leave(true);
}

static bool set_unembedded(struct memory_set *set, const struct storage_context *ctx,
    struct arena *a, struct memory_batch *batch, struct error *err)
{
	struct memory_list *l = set_enter(set);
	(void)ctx, (void)err;
	batch->texts = arena_alloc(a, batch->limit * sizeof(*batch->texts));
	batch->count = 0;
	for (int64_t row = batch->after + 1; row <= l->kept->rows && batch->count < batch->limit;
	     row++) {
		const struct kept_memory *m = memory_row(l->kept, row);
		if (m && (batch->all ? m->model != l->model : m->waits))
			batch->texts[batch->count++] =
			    (struct memory_text){row, arena_strdup(a, m->memory.content)};
	}
	return records_leave(true);
}

static bool set_adopt(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_batch *batch, struct error *err)
{
	struct memory_list *l = set_enter(set);
	(void)ctx, (void)err;
	for (size_t i = 0; i < batch->count; i++) {
		const struct memory_text *text = &batch->texts[i];
		struct kept_memory *m = memory_row(l->kept, text->row);
		if (m && strcmp(m->memory.content, text->content) == 0)
			memory_embed(l, m, batch->vectors + i * l->dimension,
			    batch->hashes ? batch->hashes + i * HASH_SIZE : NULL);
	}
	return records_leave(true);
}

static bool set_census(struct memory_set *set, const struct storage_context *ctx, struct arena *a,
    struct memory_census *census, struct error *err)
{
	struct memory_list *l = set_enter(set);
	(void)ctx, (void)err;
	struct memory_model *models = arena_alloc(a, MODELS * sizeof(*models));
	*census = (struct memory_census){.models = models, .model_count = l->kept->model_count};
	memcpy(models, l->kept->models, census->model_count * sizeof(*models));
	for (const struct kept_memory *m = l->kept->memories; m; m = m->next) {
		census->memories++;
		if (m->model)
			models[m->model - 1].vectors++;
	}
	models[l->model - 1].current = true;
	return records_leave(true);
}

static bool set_has_foreign(
    struct memory_set *set, const struct storage_context *ctx, bool *foreign, struct error *err)
{
	struct memory_list *l = set_enter(set);
	(void)ctx, (void)err;
	*foreign = false;
	for (const struct kept_memory *m = l->kept->memories; m; m = m->next)
		*foreign = *foreign || (m->model && m->model != l->model);
	return records_leave(true);
}

const struct memory_ops memory_memories = {
    .open = set_open,
    .close = set_close,
    .put = set_put,
    .get = set_get,
    .load = set_load,
    .update = set_update,
    .remove = set_remove,
    .forget = set_forget,
    .recent = set_recent,
    .similar = set_similar,
    .matching = set_matching,
    .linked = set_linked,
    .known_vector = set_known_vector,
    .unembedded = set_unembedded,
    .adopt = set_adopt,
    .census = set_census,
    .has_foreign = set_has_foreign,
};
