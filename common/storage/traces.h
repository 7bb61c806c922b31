/* SPDX-License-Identifier: ISC */
/*
 * What runs did (doc/protocol-traces.md#what-is-recorded): kept while the service is up, seen by
 * all of its processes.
 *
 * A process hands over runs, as a whole or piece by piece, by copying them into a ring in shared
 * memory.  From there they go into telemetry.db, many in one transaction: when the ring is a
 * quarter full, by a thread of the process that noticed, and whenever somebody reads.  So handing
 * over costs microseconds and touches no file, and who reads finds everything that was handed over
 * before.  A ring that is full takes nothing more, and what is lost is counted.
 *
 * The file is made anew when the first process of an instance needs it.
 */
#ifndef AGENTGRAPH_STORAGE_TRACES_H
#define AGENTGRAPH_STORAGE_TRACES_H

#include "base/arena.h"
#include "base/error.h"
#include "base/shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is kept (doc/protocol-traces.md#what-is-recorded). */
#define TRACES_THREADS 200
#define TRACES_RUNS 20
#define TRACES_RECORDS 2000

/* Bytes of records that one call of traces_put takes at most. */
#define TRACES_PIECE_MAX (256u << 10)

enum trace_status { TRACE_RUNNING, TRACE_DONE, TRACE_ERROR, TRACE_STOPPED };

struct trace_totals {
	int64_t prompt, completion, reasoning, total; /* tokens */
	int64_t llm_calls, tool_calls, iterations;
};

/* A run at some moment.  Times are microseconds since 1970. */
struct trace_run {
	uint64_t number; /* of traces_number */
	const char *thread_id, *run_id;
	enum trace_status status;
	int64_t started_at;
	int64_t finished_at; /* 0 while it runs */
	int64_t last_at;     /* of the latest record */
	struct trace_totals totals;
};

/* Records in a row; none at all is fine. */
struct trace_piece {
	int first;           /* number of the first of them */
	const char *records; /* JSON objects, each followed by a comma */
	size_t len;
};

struct traces;

/* Opens nothing yet.  state_dir is copied. */
struct traces *traces_new(struct shared *shared, const char *state_dir);

/* Ends the thread, where there is one.  NULL is fine. */
void traces_free(struct traces *traces);

/* A number for a run that begins. */
uint64_t traces_number(struct traces *traces);

/*
 * Hands over a run as it is now.  *place says where it lies then.  Given to the next call, that
 * takes the place of this one, so it must hold all that this one did: a piece that has the same
 * first record, and more.  For another piece *place is 0.  False when there is no room.
 */
bool traces_put(struct traces *traces, const struct trace_run *run, const struct trace_piece *piece,
    uint64_t *place);

/* Forgets a thread's runs; false with err set when the database cannot be written. */
bool traces_forget(struct traces *traces, const char *thread_id, struct error *err);

/* What is known of a thread, in the arena. */
struct trace_view {
	size_t run_count;
	const char **run_ids; /* oldest first */
	bool found;           /* run and records are set: */
	struct trace_run run;
	const char *records; /* a JSON array */
};

/* Reads the run run_id of a thread, or its latest when that is NULL.  False with err set. */
bool traces_read(struct traces *traces, struct arena *a, const char *thread_id, const char *run_id,
    struct trace_view *view, struct error *err);

#endif
