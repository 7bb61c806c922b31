/* SPDX-License-Identifier: ISC */
/* The inside of the SQLite engine: what its files share.  The functions are the operations of
 * storage.h under the same names. */
#ifndef AGENTGRAPH_STORAGE_SQLITE_ENGINE_H
#define AGENTGRAPH_STORAGE_SQLITE_ENGINE_H

#include "base/shared.h"
#include "storage/lease.h"
#include "storage/sqlite/defer.h"
#include "storage/sqlite/pool.h"
#include "storage/sqlite/sweep.h"
#include "storage/sqlite/wal.h"
#include "storage/sqlite/writer.h"
#include "storage/storage.h"

struct engine {
	struct storage storage; /* first, so that one pointer is both */
	char *path;             /* of threads.db */
	char *reserve;          /* path of the reserve */
	struct shared *shared;
	struct writer *writer;
	struct deferrals *deferrals;
	struct wal_keeper *wal_keeper;
	struct sweeper *sweeper;
	struct pool *pool;
	struct leases *leases;
};

static inline struct engine *engine_of(struct storage *st)
{
	return (struct engine *)st;
}

/* threads.c */
bool engine_thread_get(struct storage *st, struct arena *a, const char *thread_id,
    struct thread *thread, struct error *err);
bool engine_thread_owner(struct storage *st, struct arena *a, const char *thread_id,
    const char **owner, struct error *err);
bool engine_thread_waiting(struct storage *st, struct arena *a, const char *owner,
    const char *call_id, const char **thread_id, struct error *err);
bool engine_thread_list(struct storage *st, const char *owner, const struct page *page,
    thread_fn fn, void *arg, struct error *err);
bool engine_threads_untouched(struct storage *st, struct arena *a, int64_t before, int64_t skip,
    const char **ids, size_t *count, struct error *err);
bool engine_thread_write(struct storage *st, struct thread_write *w, struct error *err);
void engine_thread_defer(struct storage *st, struct thread_write *w, struct deferred **pending);
bool engine_thread_flush(struct storage *st, struct deferred **pending, struct error *err);
bool engine_thread_write_after(
    struct storage *st, struct deferred **pending, struct thread_write *w, struct error *err);
bool engine_thread_delete(struct storage *st, int64_t thread_row, struct error *err);

/* messages.c */
bool engine_message_list(struct storage *st, int64_t thread_row, const struct page *page,
    message_fn fn, void *arg, struct error *err);
bool engine_message_part(struct storage *st, int64_t thread_row, struct page *page, message_fn fn,
    void *arg, struct error *err);
bool engine_message_get(struct storage *st, struct arena *a, int64_t thread_row,
    const char *message_id, const char **body, struct error *err);
bool engine_message_known(struct storage *st, int64_t thread_row, const char *message_id,
    bool *known, bool *in_context, struct error *err);
bool engine_context(
    struct storage *st, int64_t thread_row, message_fn fn, void *arg, struct error *err);
bool engine_context_span(
    struct storage *st, int64_t thread_row, struct context_span *span, struct error *err);
bool engine_context_part(struct storage *st, int64_t thread_row, struct context_span *span,
    message_fn fn, void *arg, struct error *err);
bool engine_context_count(
    struct storage *st, int64_t thread_row, int64_t *count, struct error *err);

/* backup.c */
bool engine_backup(struct storage *st, const char *path, struct error *err);

/* False when a restore into the directory was interrupted in the middle of it. */
bool restore_check(const char *state_dir, struct error *err);

/* How databases are opened for writing: full, commits survive a power cut; else the last moments
 * may be lost with it. */
static inline enum db_mode engine_write_mode(bool full)
{
	return full ? DB_DURABLE : DB_WRITE;
}

/* Runs a statement that takes :before, :skip and :limit and gives ids, in a pool. */
bool engine_untouched(struct pool *pool, enum sql_id sql, struct arena *a, int64_t before,
    int64_t skip, const char **ids, size_t *count, struct error *err);

/* Binds :search, :limit and :offset; an empty search is none. */
void engine_bind_page(struct query *q, const struct page *page);

#endif
