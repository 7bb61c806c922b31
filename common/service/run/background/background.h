/* SPDX-License-Identifier: ISC */
/*
 * Background runs (doc/protocol-runs.md#background-runs): a request queues them, and a process
 * that answers no requests executes them later.
 *
 * The body of the request and its sender are queued.  Whoever executes the run opens the thread and
 * runs the graph as for a request that has just come in.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_BACKGROUND_BACKGROUND_H
#define AGENTGRAPH_SERVICE_RUN_BACKGROUND_BACKGROUND_H

#include "service/service.h"
#include "storage/runs.h"

#define BACKGROUND_DELAY_MAX 2592000.0 /* seconds */
#define BACKGROUND_DELAY_EXPECTED "between 0 and 2592000"

/* What other protocols say of a run beside its body. */
#define BACKGROUND_MODES "lg_modes" /* stored as a member of the job's body, as are the next */
#define BACKGROUND_GOES_ON "lg_goes_on"
#define BACKGROUND_MESSAGE_RESUMES "message_resumes"
#define BACKGROUND_ANSWERS "answers_run"
struct background_beside {
	int64_t modes;        /* run_input.modes; unless 0 messages are sent again
				 (answers_calls_known) */
	bool goes_on;         /* turn_go_on */
	bool message_resumes; /* run_input.message_resumes */
	const char *answers;  /* run_input.answers */
	const struct push *push;
};

/* Whether runs in the background are configured; false with RUNS_NOT_CONFIGURED set. */
bool background_configured(struct call *call);

/* Queues a run.  Returns the data of POST /v1/graph/runs, the run's record.  beside may be NULL. */
cJSON *background_submit(
    struct call *call, const cJSON *body, const struct background_beside *beside);

/* The process that executes a job: what it is told, and what it wants. */
struct background_host {
	/* true: the run is to be given back to the queue after its current node */
	const _Atomic bool *yield;

	/* The run begins or ends to wait for a busy thread; meanwhile the process can use its place
	 * for another run. */
	void (*waits)(void *arg, bool waiting);
	/* The run's nodes have ended, so its place is free; but the run is over only when its end
	 * is on disk. */
	void (*stores)(void *arg);
	void *arg;

	struct run_claim *claims; /* where to put the next job, claimed as the run ends; or NULL */
};

/* Executes a job that this process has claimed, to its end, or gives it back; either way this
 * process does not have it any more.  It may have claimed the next one (host->claims). */
void background_execute(
    struct service *service, const struct run_job *job, const struct background_host *host);

#endif
