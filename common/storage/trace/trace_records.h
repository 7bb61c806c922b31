/* SPDX-License-Identifier: ISC */
/*
 * Traces of runs, as a storage engine keeps them; the rest of the program uses traces.h.
 *
 * Traces are worth nothing beyond the life of an instance, so nothing waits for the disk.  Only one
 * call is made at a time, over all processes of an instance.
 */
#ifndef AGENTGRAPH_STORAGE_TRACE_TRACE_RECORDS_H
#define AGENTGRAPH_STORAGE_TRACE_TRACE_RECORDS_H

#include "base/arena.h"
#include "base/error.h"
#include "storage/storage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many threads are kept, those that ran last, and how many of the latest runs of each
 * (doc/protocol-traces.md#what-is-recorded). */
#define TRACES_THREADS 200
#define TRACES_RUNS 20

enum trace_status { TRACE_RUNNING, TRACE_DONE, TRACE_ERROR, TRACE_STOPPED };

struct trace_totals {
	int64_t prompt, completion, reasoning, total; /* tokens */
	int64_t llm_calls, tool_calls, iterations;
};

/* A run at some moment.  Times are microseconds since 1970. */
struct trace_run {
	uint64_t number; /* the higher the later it began, over all instances */
	const char *thread_id, *run_id;
	enum trace_status status;
	int64_t started_at;
	int64_t finished_at; /* 0 while it runs */
	int64_t last_at;     /* of the latest record */
	struct trace_totals totals;
};

/* Consecutive records of a run; may be empty. */
struct trace_piece {
	int first;           /* number of the first of them */
	const char *records; /* JSON objects, each followed by a comma */
	size_t len;
};

/* A run, and a piece of its records, to be written.  Number 0: runs of its thread that began before
 * .started_at are to be forgotten, and there is no piece. */
struct trace_record {
	struct trace_run run;
	struct trace_piece piece;
};

/* The runs of a thread, and one of them; in the arena. */
struct trace_view {
	size_t run_count;
	const char **run_ids; /* oldest first */
	bool found;           /* run and records are set: */
	struct trace_run run;
	const char *records; /* a JSON array */
};

struct trace_record_ops;

struct trace_records {
	const struct trace_record_ops *ops;
};

struct trace_record_ops {
	/* Opens nothing yet. */
	struct trace_records *(*open)(struct storage *st);
	void (*close)(struct trace_records *records);

	/* To be called before the functions below, and again after they failed for good.  anew:
	 * throws all traces away first, even if they cannot be read, unless they are other
	 * instances'. */
	bool (*begin)(struct trace_records *records, const struct storage_context *ctx, bool anew,
	    struct error *err);

	/*
	 * Writes records in their order, all or none, and then forgets what is not kept.  A piece
	 * whose first record has number 0 begins the run: an earlier one of that id, with a lower
	 * number, goes; where there is a later one, which another instance has told of before,
	 * nothing is written.  What there is of a run that is not over is replaced, and so is a
	 * piece with the same first record; to write the same again changes nothing.
	 */
	bool (*write)(struct trace_records *records, const struct storage_context *ctx,
	    const struct trace_record *list, size_t count, struct error *err);

	/* Reads the run run_id of a thread, or that with the highest number when it is NULL. */
	bool (*read)(struct trace_records *records, const struct storage_context *ctx,
	    struct arena *a, const char *thread_id, const char *run_id, struct trace_view *view,
	    struct error *err);
};

#endif
