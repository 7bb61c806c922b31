/* SPDX-License-Identifier: ISC */
/*
 * Deferred writes, above any engine: such a write waits a few milliseconds for a later write that
 * takes it into its transaction; if none comes, a thread of the process hands it to the engine,
 * with others.
 */
#ifndef AGENTGRAPH_STORAGE_DEFER_H
#define AGENTGRAPH_STORAGE_DEFER_H

#include "storage/threads.h"

/* A write that waits. */
struct deferred;

/* Starts the thread; NULL with err set. */
struct deferrals *deferrals_new(struct storage *st, struct error *err);

/* Writes what still waits.  NULL is fine. */
void deferrals_free(struct deferrals *d);

/*
 * Writes w now or soon, under a lease that is held until then.  *pending stands for it until
 * thread_flush or thread_write_after settles it; w and all that it points to must stay unchanged
 * until then.
 */
void thread_defer(struct storage *st, const struct lease *lease, struct thread_write *w,
    struct deferred **pending);

/* Waits until the deferred write is on disk.  *pending becomes NULL; NULL is fine. */
bool thread_flush(struct storage *st, const struct storage_context *ctx, struct deferred **pending,
    struct error *err);

/*
 * *pending, when not NULL, is applied before w in the same transaction if it was not applied yet,
 * and becomes NULL.  When it created the thread and w->thread->row is 0, w goes to that new thread.
 */
bool thread_write_after(struct storage *st, const struct storage_context *ctx,
    const struct lease *lease, struct deferred **pending, struct thread_write *w,
    struct error *err);

#endif
