/* SPDX-License-Identifier: ISC */
/*
 * Deferred writes: they wait a few milliseconds for a successor that carries them, else a thread of
 * the process puts them on disk. The rules are those of storage.h.
 */
#ifndef AGENTGRAPH_STORAGE_SQLITE_DEFER_H
#define AGENTGRAPH_STORAGE_SQLITE_DEFER_H

#include "storage/sqlite/writer.h"
#include "storage/storage.h"

struct deferrals;

/* Starts the thread; NULL with err set.  max_bytes is what a thread may hold, 0 for no limit. */
struct deferrals *deferrals_new(struct writer *writer, int64_t max_bytes, struct error *err);

/* Puts on disk what still waits.  NULL is fine. */
void deferrals_free(struct deferrals *d);

/* thread_defer: w stays where it is until deferrals_write has settled *pending, the caller's. */
void deferrals_add(struct deferrals *d, struct thread_write *w, struct deferred **pending);

/* thread_flush, with after NULL, and thread_write_after. */
bool deferrals_write(
    struct deferrals *d, struct deferred **pending, struct thread_write *after, struct error *err);

#endif
