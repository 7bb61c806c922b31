/* SPDX-License-Identifier: ISC */
/*
 * What is kept of runs, as a storage engine keeps it; traces.h is what the rest of the program
 * sees.
 *
 * It is worth nothing beyond the life of an instance, so nothing has to wait for the disk.  One
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

/* What is kept (doc/protocol-traces.md#what-is-recorded): of each thread the latest runs, and the
 * threads whose latest runs are the latest. */
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

/* Records in a row; none at all is fine. */
struct trace_piece {
	int first;           /* number of the first of them */
	const char *records; /* JSON objects, each followed by a comma */
	size_t len;
};

/* What is written at once of a run; number 0: its thread is to be forgotten, as far as its runs
 * began before .started_at, and there is no piece. */
struct trace_record {
	struct trace_run run;
	struct trace_piece piece;
};

/* What is known of a thread, in the arena. */
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

	/* To be done before what follows, and again after a failure of it that does not pass by
	 * itself.  anew: all that is there is thrown away first, also where it cannot be read,
	 * unless it is that of other instances. */
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
