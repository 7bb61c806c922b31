/* SPDX-License-Identifier: ISC */
/*
 * Traces of runs (doc/protocol-traces.md#what-is-recorded): kept while the service is up, and
 * shared by its processes.
 *
 * A process hands over runs, as a whole or piece by piece, by copying them into a ring in shared
 * memory.  From there they go into the storage (trace_records.h), many in one transaction: when the
 * ring is more than half full, by a thread of the process that noticed, and whenever somebody
 * reads.  So handing over takes microseconds and touches no file, and a reader finds everything
 * that was handed over before.  A full ring takes nothing more; what is lost is counted.
 *
 * What is there is thrown away when the first process of an instance needs it.
 */
#ifndef AGENTGRAPH_STORAGE_TRACE_TRACES_H
#define AGENTGRAPH_STORAGE_TRACE_TRACES_H

#include "base/os/shared.h"
#include "storage/trace/trace_records.h"

/* Records of a run that are kept. */
#define TRACES_RECORDS 2000

struct traces;

/* Opens nothing yet.  The storage outlives it. */
struct traces *traces_new(struct storage *storage, struct shared *shared);

/* Ends the thread, where there is one.  NULL is fine. */
void traces_free(struct traces *traces);

/* A number for a run that begins. */
uint64_t traces_number(struct traces *traces);

/*
 * Hands over a run as it is now.  *place then says where it lies.  If it is passed to the next
 * call, that replaces this one, so its piece must have the same first record and all of this one's.
 * For a new piece *place is 0.  False when there is no room.
 */
bool traces_put(struct traces *traces, const struct trace_run *run, const struct trace_piece *piece,
    uint64_t *place);

/* Forgets a thread's runs; false with err set when the database cannot be written. */
bool traces_forget(struct traces *traces, const struct storage_context *ctx, const char *thread_id,
    struct error *err);

/* Reads the run run_id of a thread, or its latest when that is NULL.  False with err set. */
bool traces_read(struct traces *traces, const struct storage_context *ctx, struct arena *a,
    const char *thread_id, const char *run_id, struct trace_view *view, struct error *err);

#endif
