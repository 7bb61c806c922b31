/* SPDX-License-Identifier: ISC */
/*
 * A gate before a sink: what a run shows is kept back until the run's start is on disk (run.h,
 * struct run_observer), so that a run which is over at once costs one transaction and one write to
 * its client.
 *
 * What is kept back is small and waits for milliseconds; a chunk that does not fit waits with it.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_STREAM_GATE_H
#define AGENTGRAPH_SERVICE_RUN_STREAM_GATE_H

#include "base/buf.h"
#include "service/run/runs.h"

#include <pthread.h>

struct gate {
	struct chunk_sink sink; /* first: what writers write to */
	struct chunk_sink *behind;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	/* guarded by lock */
	enum { GATE_CLOSED, GATE_OPEN, GATE_SHUT } state; /* shut: what comes is dropped */
	struct buf kept;                                  /* each chunk behind its length */
};

/* A closed gate before a sink.  gate_release gives its memory back. */
void gate_init(struct gate *gate, struct chunk_sink *behind);
void gate_release(struct gate *gate);

/*
 * Sends text as one chunk, with the messages of the call's feed in the places of its marks
 * (feed.h): of a large one no more is in memory than a part.  False with call->error set when they
 * cannot be read; *begun says whether the client has a part of it, and then nothing more reaches
 * it.
 */
bool gate_feed(struct gate *gate, struct call *call, const char *text, bool *begun);

/* The run's start is on disk, so everything may pass, or it is not, and nothing may.  From any
 * thread; again is fine. */
void gate_settle(struct gate *gate, bool ok);

/* Nothing depends on the run any more: it failed as its client will be told, or never began.  False
 * when the gate was shut, so that what came before is lost. */
bool gate_open(struct gate *gate);

#endif
