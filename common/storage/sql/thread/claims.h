/* SPDX-License-Identifier: ISC */
/*
 * Claims: which process has a thread, where several instances work on one database.
 *
 * Leases (lease.h) queue the callers within an instance.  Whoever has the lease claims the thread
 * for its process, in the thread's row, and each claim increments the thread's fence.  A write is
 * refused unless its claim is the latest and its process lives (instances.h).  So a process that
 * was cut off writes nothing when it comes back.
 *
 * With an engine that has only one instance the lease is all there is.
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

/* Gives the thread as it was when it was claimed, but only once; false when it is not known. */
bool claims_thread(const struct lease *lease, struct arena *a, struct thread *thread);

/* Begins every transaction that writes to the lease's thread: locks the thread's row, where there
 * is one.  False with ERR_THREAD_BUSY when somebody else has the thread by now. */
bool claim_holds(struct db *db, const struct lease *lease, struct error *err);

/* The same in two steps, so that other units can ask in between (query_send).  claim_answer is not
 * called where claim_ask has failed. */
bool claim_ask(struct db *db, const struct lease *lease, struct query *q, struct error *err);
bool claim_answer(const struct lease *lease, struct query *q, struct error *err);

/*
 * Where transactions run side by side, locks a thread's row until this one ends, even against the
 * thread's holder: SQL_THREAD_LOCK with the thread's row, SQL_JOB_LOCK with that of one of its
 * jobs.  A transaction without a claim that depends on a thread's queue, records or checkpoints
 * must call this before it reads them.
 */
bool claim_lock(struct db *db, enum sql_id id, int64_t row, struct error *err);

/* The holder of a thread that is to be made under the lease, unless the same transaction gives it
 * back; 0: none is needed. */
bool claim_holder(
    struct storage *st, const struct lease *lease, int64_t *holder, struct error *err);

/* To be called when a transaction is on disk that has made the thread with this row, or has given
 * the thread back. */
void claim_made(const struct lease *lease, int64_t row, int64_t holder);
void claim_freed(const struct lease *lease);

/* Gives the thread back as part of a transaction; call claim_freed when that is on disk. */
bool claim_drop(struct db *db, const struct lease *lease, struct error *err);

#endif
