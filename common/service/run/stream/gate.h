/* SPDX-License-Identifier: ISC */
/*
 * A gate in front of a sink: what a run shows is held back until the run's start is on disk (run.h,
 * struct run_observer), so that a run which is over at once costs one transaction and one write to
 * its client.
 *
 * What is held back is small and waits for milliseconds; a chunk that does not fit makes its writer
 * wait.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_STREAM_GATE_H
#define AGENTGRAPH_SERVICE_RUN_STREAM_GATE_H

#include "base/buf.h"
#include "service/run/runs.h"

#include <pthread.h>

struct gate {
	struct chunk_sink *behind;
	bool corked; /* by gate_cork */
	pthread_mutex_t lock;
	pthread_cond_t moved;
	/* guarded by lock */
	enum { GATE_CLOSED, GATE_OPEN, GATE_SHUT } state; /* SHUT: what comes is dropped */
	struct buf kept; /* chunks that are held back, each behind its length */
};

/* Makes a closed gate in front of a sink.  gate_release frees its memory. */
void gate_init(struct gate *gate, struct chunk_sink *behind);
void gate_release(struct gate *gate);

/* Sends a chunk. */
void gate_send(struct gate *gate, const struct buf *text);

/* Sends the beginning of a large chunk (struct chunk_sink), which is never held back: it waits
 * until the gate opens.  False also where the gate is shut. */
bool gate_send_part(struct gate *gate, const struct buf *text);

/*
 * Sends text as one chunk, with the messages of the call's feed in place of its marks (feed.h).  Of
 * a large chunk only a part is in memory at a time.  False with call->error set when the messages
 * cannot be read; *begun says whether the client has got a part of the chunk, and then it gets no
 * more of it.
 */
bool gate_feed(struct gate *gate, struct call *call, const char *text, bool *begun);

/* Lets chunks go out together that follow each other without a wait, as they do between the end of
 * a node and the start of the next one. */
void gate_cork(struct gate *gate, bool on);

/* Opens the gate when the run's start is on disk (ok), else shuts it.  May be called by any thread,
 * and more than once. */
void gate_settle(struct gate *gate, bool ok);

/* Opens the gate when nothing depends on the run's start any more: the run never began, or failed,
 * which its client will be told.  False when the gate is shut, and what was held back is lost. */
bool gate_open(struct gate *gate);

#endif
