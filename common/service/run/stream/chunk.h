/* SPDX-License-Identifier: ISC */
/* StreamChunks (doc/protocol-messages.md#chunks, doc/protocol-runs.md#chunks-and-granularity): what
 * a run tells, as lines of JSON. */
#ifndef AGENTGRAPH_SERVICE_RUN_STREAM_CHUNK_H
#define AGENTGRAPH_SERVICE_RUN_STREAM_CHUNK_H

#include "graph/run.h"
#include "service/run/runs.h"
#include "service/run/stream/chunk_aside.h"
#include "service/run/stream/chunk_form.h"
#include "service/run/stream/gate.h"
#include "service/run/stream/told.h"
#include "service/run/turn.h"

struct chunk_writer {
	struct run_observer observer; /* first: what the engine sees */
	struct turn *turn;
	struct gate gate;             /* in front of the sink */
	enum granularity granularity; /* GRANULARITY_FULL where the chunks are kept */
	struct chunk_form form;
	const struct told *told; /* what earlier attempts have told, or NULL */
	bool asides_kept; /* asides are kept, because some protocol in use has other words for
			     chunks */
	struct chunk_asides asides; /* if asides_kept */
};

/* Makes a writer for one turn; it writes to the turn's keeper or, where there is none, to sink.
 * chunk_writer_release frees its memory. */
void chunk_writer_init(struct chunk_writer *writer, struct turn *turn, struct chunk_sink *sink);
void chunk_writer_release(struct chunk_writer *writer);

/* Tells that a background run is taken up again after its process has died. */
void chunk_restarted(struct chunk_writer *writer, int64_t attempt);

/* Tells how the turn ended, if there is anything to tell: calls that still wait, a pause, a stop or
 * a failure.  ok is what turn_run returned. */
void chunk_outcome(struct chunk_writer *writer, bool ok);

/* Writes the terminator. */
void chunk_done(struct chunk_writer *writer);

#endif
