/* SPDX-License-Identifier: ISC */
/*
 * Kept chunks on their way to whoever follows a run (doc/inside.md#kept-chunks), in pieces that a
 * reader takes one at a time and that are the same for all who stand at the same place.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_STREAM_REPLAY_H
#define AGENTGRAPH_SERVICE_RUN_STREAM_REPLAY_H

#include "service/run/stream/kept_line.h"
#include "service/run/stream/told.h"
#include "storage/runs.h"

/* What a reader sees. */
struct replay {
	struct kept_reader reader;
	bool events; /* chunks as server-sent events; else lines */
};

/* How far a reader has read; its after alone is the place behind that chunk. */
struct replay_place {
	int64_t after; /* seq of the latest that was shown, or left out */
	struct kept_place in;
	size_t len; /* of the line that was shown in part, 0: of none */
};

bool replay_same(const struct replay_place *a, const struct replay_place *b);

/*
 * Appends what comes next, about KEPT_PART bytes or one message that is larger, nothing where there
 * is nothing yet; *place moves on.  *ends says that the terminator was the last.  False with err
 * set: storage, or the rest of a chunk that was begun is not there any more.
 */
bool replay_read(const struct replay *replay, struct replay_place *place, struct buf *out,
    bool *ends, struct error *err);

/* What is kept of a run's end. */
struct replay_tail {
	int64_t seq;  /* of the last chunk; 0: there is none */
	bool outcome; /* it says how the run ended */
	bool done;    /* it is the terminator */
};

/* False with call->error set. */
bool replay_find_tail(struct call *call, const struct run_record *record, struct replay_tail *tail);

/*
 * Before a run is taken up again: keeps the messages that its earlier attempts have stored and did
 * not live to tell, up to record->until.  Chunks have numbers up to *seq then.  What was told
 * before that; NULL with call->error set.
 */
const struct told *replay_go_on(struct call *call, const struct run_record *record, int64_t *seq);

/*
 * Gives a run that is over the end that its process did not live to write, made from its record and
 * its thread: its messages that were not told, the chunk that says how it ended, where there is
 * one, and the terminator.  States are null.  They are kept as others are, so that of several who
 * try one has done it, and a run that has its end stays as it is.  False with call->error set.
 */
bool replay_end(struct call *call, const struct run_record *record, const struct thread *thread);

#endif
