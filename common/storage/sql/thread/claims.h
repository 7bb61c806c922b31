/* SPDX-License-Identifier: ISC */
/*
 * Who has a thread, of several instances over one database.
 *
 * Leases (lease.h) are the queue within an instance; whoever has the lease claims the thread in its
 * row, for its process, and each claim counts up the thread's fence.  A write is refused unless the
 * claim that it is made under is the latest and its process lives (instances.h).  So one that was
 * cut off writes nothing, whenever it comes back.
 *
 * With an engine that has one instance all of this is the lease alone.
 */
#ifndef AGENTGRAPH_STORAGE_SQL_THREAD_CLAIMS_H
#define AGENTGRAPH_STORAGE_SQL_THREAD_CLAIMS_H

#include "storage/sql/db/db.h"
#include "storage/threads.h"

/* The operations of threads.h. */
struct lease *claims_acquire(struct storage *st, const char *thread_id, enum lease_claim claim,
    int64_t wait_ms, struct error *err);
bool claims_release(struct storage *st, struct lease *lease, struct error *err);
bool claims_running(struct storage *st, const struct storage_context *ctx, const char *thread_id,
    bool *running, bool *stop_requested, struct error *err);
bool claims_held(struct storage *st, const struct storage_context *ctx, const char *thread_id,
    bool *held, struct error *err);
bool claims_stop(struct storage *st, const struct storage_context *ctx, const char *thread_id,
    const struct lease_aim *aim, bool *running, struct error *err);

/* The thread as it was when it was claimed, once; false where nobody knows. */
bool claims_thread(const struct lease *lease, struct arena *a, struct thread *thread);

/* At the beginning of a transaction that writes to the lease's thread, whose row is locked then
 * where there is one: false with ERR_THREAD_BUSY when somebody else has the thread by now. */
bool claim_holds(struct db *db, const struct lease *lease, struct error *err);

/* The same in two steps, so that others may ask meanwhile (query_send).  Where the first one has
 * failed there is no second. */
bool claim_ask(struct db *db, const struct lease *lease, struct query *q, struct error *err);
bool claim_answer(const struct lease *lease, struct query *q, struct error *err);

/*
 * Where transactions run side by side, has others that lock the same thread's row wait until this
 * one ends, also those of its holder: SQL_THREAD_LOCK with its row, SQL_JOB_LOCK with that of a job
 * of it.  What goes by a thread's queue, records or checkpoints and has no claim begins with that,
 * and reads behind it.
 */
bool claim_lock(struct db *db, enum sql_id id, int64_t row, struct error *err);

/* The holder that a thread is to have that is made under the lease and not given back with that;
 * 0: none is needed. */
bool claim_holder(
    struct storage *st, const struct lease *lease, int64_t *holder, struct error *err);

/* When a transaction is on disk that has made the thread of that row, or has given it back. */
void claim_made(const struct lease *lease, int64_t row, int64_t holder);
void claim_freed(const struct lease *lease);

/* Gives the thread back as part of a transaction; claim_freed when that is on disk. */
bool claim_drop(struct db *db, const struct lease *lease, struct error *err);

#endif
