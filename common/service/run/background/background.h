/* SPDX-License-Identifier: ISC */
/*
 * Runs in the background (doc/protocol-runs.md#in-the-background): they are queued by a request and
 * executed later, by a process that answers none.
 *
 * What is queued is the body of the request and who sent it; whoever executes it opens the thread
 * and runs the graph as for a request that came in that moment.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_BACKGROUND_BACKGROUND_H
#define AGENTGRAPH_SERVICE_RUN_BACKGROUND_BACKGROUND_H

#include "service/service.h"
#include "storage/runs.h"

#define BACKGROUND_DELAY_MAX 2592000.0 /* seconds */
#define BACKGROUND_DELAY_EXPECTED "between 0 and 2592000"

/* What other protocols want beside a run, and no body says. */
#define BACKGROUND_MODES "lg_modes" /* in the body that is kept with a job, as are the next */
#define BACKGROUND_GOES_ON "lg_goes_on"
#define BACKGROUND_MESSAGE_RESUMES "message_resumes"
#define BACKGROUND_ANSWERS "answers_run"
struct background_beside {
	int64_t modes;        /* run_input.modes */
	bool goes_on;         /* turn_go_on */
	bool message_resumes; /* run_input.message_resumes */
	const char *answers;  /* run_input.answers */
	const struct push *push;
};

/* Whether there are such runs at all; false with RUNS_NOT_CONFIGURED set. */
bool background_configured(struct call *call);

/* data of POST /v1/graph/runs: the record; beside NULL: nothing. */
cJSON *background_submit(
    struct call *call, const cJSON *body, const struct background_beside *beside);

/* What the process that executes a job offers and wants. */
struct background_host {
	const _Atomic bool *yield; /* true: the run is to be given back after its current node */

	/* The run waits for a busy thread from now on, or has it: what it took of the process can
	 * be somebody else's meanwhile. */
	void (*waits)(void *arg, bool waiting);
	/* The run's nodes have ended, and what it took is needed no more; it is over when that is
	 * on disk. */
	void (*stores)(void *arg);
	void *arg;

	struct run_claim *claims; /* what it takes up next, claimed as the run ends; or NULL */
};

/* Executes a job that this process has claimed, to its end, or gives it back; it is nobody's then.
 * The next one may be this process's already. */
void background_execute(
    struct service *service, const struct run_job *job, const struct background_host *host);

#endif
