/* SPDX-License-Identifier: ISC */
/*
 * Reports of evaluations, read from eval_reports/ in the working directory (doc/protocol-evals.md).
 * Nothing is evaluated here, and nothing is written.
 */
#ifndef AGENTGRAPH_SERVICE_EVALS_EVALS_H
#define AGENTGRAPH_SERVICE_EVALS_EVALS_H

#include "base/arena.h"
#include "service/service.h"

#include <stddef.h>
#include <stdint.h>

/* data of GET /v1/evals/runs. */
cJSON *evals_list(struct call *call);

/* data of GET /v1/evals/runs/{run_id}; NULL with "Eval run '<id>' not found" set. */
cJSON *evals_read(struct call *call, const char *run_id);

/*
 * ---- eval_reports.c: the reports in the directory, in the order of their runs, and what a process
 * remembers of them.
 *
 * Each request reads the directory again, but not a file whose name, inode, size and times are the
 * same as before.  A file that changed within the last seconds is not remembered, because it could
 * change again without a trace in its times.
 */

#define EVAL_DIRECTORY "eval_reports"

/* What a listing shows of one report; texts live in the arena. */
struct eval_report {
	const char *file;
	const char *set_id, *set_name; /* never NULL */
	double timestamp;              /* Unix seconds; 0: none */
	double pass_rate;
	int64_t cases;
	size_t run;                         /* its number within its set, from 1 */
	const struct eval_report *previous; /* the run before it in its set, or NULL */
};

struct eval_reports {
	struct eval_report *items; /* by timestamp, then by file name */
	size_t count;
};

struct eval_cache;

/* What was read, shared by all threads of the process. */
struct eval_cache *eval_cache_new(void);
void eval_cache_free(struct eval_cache *cache);

/* Reads the directory; a missing or unreadable one counts as empty.  Threads take turns. */
void eval_reports_load(struct eval_reports *reports, struct eval_cache *cache, struct arena *arena);

#endif
