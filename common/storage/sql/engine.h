/* SPDX-License-Identifier: ISC */
/* The inside of the engines that keep rows in a database: what their files share.  Most functions
 * are operations of threads.h, history.h or runs.h under the same names. */
#ifndef AGENTGRAPH_STORAGE_SQL_ENGINE_H
#define AGENTGRAPH_STORAGE_SQL_ENGINE_H

#include "base/memory.h"
#include "base/os/shared.h"
#include "storage/history.h"
#include "storage/sql/db/pool.h"
#include "storage/sql/db/writer.h"
#include "storage/sql/instances.h"
#include "storage/sql/sweep.h"
#include "storage/threads.h"

struct claimer;
struct leases;

struct engine {
	struct storage storage; /* first, so that one pointer is both */
	char *state_dir;
	enum db_mode mode;       /* how databases are opened for writing */
	struct db_source source; /* threads.db */
	char *reserve;           /* path of the reserve; NULL: there is none */
	struct shared *shared;
	struct writer *writer;
	void *keeper; /* the driver's helper, or NULL */
	struct sweeper *sweeper;
	struct pool *pool;
	struct leases *leases;
	struct claimer *claimer;
	struct instances *instances; /* NULL: this is the only one */
	_Atomic bool queue_flows;    /* the latest claim got a job, so most likely there are more */
};

static inline struct engine *engine_of(struct storage *st)
{
	return (struct engine *)st;
}

/* The source of the database of this name; the caller frees its path. */
static inline void engine_source(const struct engine *e, const char *name, struct db_source *source)
{
	*source = e->source;
	source->path = e->source.path ? xasprintf("%s/%s.db", e->state_dir, name) : NULL;
}

/* The turnstile before a database file, in this region; NULL where the database has its own
 * order. */
static inline struct turnstile *engine_turnstile(const struct engine *e, enum shared_region region)
{
	return e->source.path ? shared_region(e->shared, region) : NULL;
}

/*
 * Opens threads.db and starts all that works for the engine; e already has its state_dir, mode,
 * source, reserve and shared.  After a failure engine_release must still be called.
 */
bool engine_start(struct engine *e, struct error *err);

/* Ends what engine_start began and frees e, but not the server of its source. */
void engine_release(struct engine *e);

/* Starts a read for ctx, which pool_query_end ends. */
static inline void engine_query(struct storage *st, const struct storage_context *ctx,
    struct query *q, enum sql_id id, struct error *err)
{
	pool_query(engine_of(st)->pool, q, id, err);
	if (ctx)
		query_watch(q, ctx->waiter);
}

/* threads.c */
/* Copies the texts of a thread's latest run and state into the arena. */
void engine_thread_hold(struct arena *a, struct thread *t);
bool engine_thread_get(struct storage *st, const struct storage_context *ctx, struct arena *a,
    const char *thread_id, struct thread *thread, struct error *err);
bool engine_thread_owner(struct storage *st, const struct storage_context *ctx, struct arena *a,
    const char *thread_id, const char **owner, struct error *err);
bool engine_thread_waiting(struct storage *st, const struct storage_context *ctx, struct arena *a,
    const char *owner, const char *call_id, const char **thread_id, struct error *err);
bool engine_thread_list(struct storage *st, const struct storage_context *ctx, const char *owner,
    const struct page *page, const struct thread_filter *filter, thread_fn fn, void *arg,
    struct error *err);
bool engine_threads_untouched(struct storage *st, const struct storage_context *ctx,
    struct arena *a, struct untouched *old, struct error *err);
bool engine_thread_delete(struct storage *st, const struct storage_context *ctx,
    const struct lease *lease, int64_t thread_row, struct error *err);

/* labels.c */

/* Replaces the stored labels of a thread by those of its new metadata. */
bool engine_labels_write(
    struct db *db, int64_t thread_row, const char *metadata_json, struct error *err);

/*
 * Finds the rows of all threads that may pass the filter, as a JSON array for free(), where these
 * are few.  Else, or without a filter, *rows is NULL and a listing has to go through all threads.
 * False with err set.
 */
bool engine_labels_narrow(struct storage *st, const struct storage_context *ctx, const char *owner,
    const struct thread_filter *filter, char **rows, struct error *err);

/* Binds :statuses and :labels; the caller frees *labels after the query. */
void engine_bind_filter(struct query *q, const struct thread_filter *filter, char **labels);

/* change.c */
bool engine_thread_write(struct storage *st, const struct storage_context *ctx,
    struct thread_change *changes, size_t count);

/* Makes a thread without messages; *row is its row.  Also in two steps, so that other units can ask
 * in between (query_send). */
bool engine_thread_insert(
    struct storage *st, struct db *db, const struct thread *t, int64_t *row, struct error *err);
bool engine_thread_insert_ask(
    struct storage *st, struct db *db, const struct thread *t, struct query *q, struct error *err);
bool engine_thread_insert_answer(
    struct db *db, const struct thread *t, struct query *q, int64_t *row, struct error *err);

/* messages_write.c */
/* Applies a write to the list and the context of a thread; *now (checkpoints.h) says where the
 * thread stands before, and then after. */
struct standing;
bool engine_messages_write(struct db *db, int64_t thread_row, const struct thread_write *w,
    struct standing *now, struct error *err);

/* Adds a message at that place of the list; plain: as the thread's row will be. */
bool engine_message_insert(struct db *db, int64_t thread_row, int64_t place,
    const struct new_message *m, bool plain, struct error *err);

/* messages.c */
bool engine_message_list(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, const struct page *page, message_fn fn, void *arg,
    struct error *err);
bool engine_message_part(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, struct page *page, message_fn fn, void *arg, struct error *err);
bool engine_messages_get(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, const char *const *message_ids, size_t count, message_fn fn,
    void *arg, struct error *err);
bool engine_messages_known(struct storage *st, const struct storage_context *ctx,
    int64_t thread_row, const struct thread_view *view, struct message_known *messages,
    size_t count, struct error *err);
bool engine_context(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, message_fn fn, void *arg, struct error *err);
bool engine_view(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    struct thread_view *view, struct error *err);
bool engine_context_part(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    struct thread_view *view, message_fn fn, void *arg, struct error *err);
bool engine_context_count(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, int64_t *count, struct error *err);

/* parts.c: threads in parts, as history_ops has them: taken out whole, and made of them */
bool parts_places(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    int64_t after, int64_t until, history_part_fn fn, void *arg, struct error *err);
bool parts_origin(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    struct history_origin *origin, struct error *err);
bool parts_make(struct storage *st, const struct storage_context *ctx, const struct lease *lease,
    struct thread *thread, const struct history_origin *origin, struct history_source *source,
    struct error *err);

/* The operations that such an engine offers. */
extern const struct thread_ops sql_threads;
extern const struct run_ops sql_runs;
extern const struct history_ops sql_history;
extern const struct memory_ops sql_memories;
extern const struct file_record_ops sql_file_records;
extern const struct blob_bytes sql_file_bytes; /* not for SQLite, which has no tables for them */
extern const struct trace_record_ops sql_trace_records;

/* How databases are opened for writing: with full, commits survive a power cut; else the latest
 * ones may be lost. */
static inline enum db_mode engine_write_mode(bool full)
{
	return full ? DB_DURABLE : DB_WRITE;
}

/* Runs a statement that takes :before, :skip and :limit and gives ids. */
bool engine_untouched(
    struct pool *pool, enum sql_id sql, struct arena *a, struct untouched *old, struct error *err);

/* Binds :search, :limit and :offset; an empty search is none. */
void engine_bind_page(struct query *q, const struct page *page);

#endif
