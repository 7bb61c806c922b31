/* SPDX-License-Identifier: ISC */
/*
 * Reading the kept chunks of a run for those who follow it (doc/inside.md#resumable-streams), in
 * pieces that a reader takes one at a time.  A piece is the same for all readers at the same place.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_STREAM_REPLAY_H
#define AGENTGRAPH_SERVICE_RUN_STREAM_REPLAY_H

#include "service/run/stream/kept_line.h"
#include "service/run/stream/told.h"
#include "storage/runs.h"

/* A reader, and what it sees. */
struct replay {
	struct kept_reader reader;
	bool events; /* chunks as server-sent events; else lines */
};

/* How far a reader has read.  With all else 0 it is the place behind the chunk after. */
struct replay_place {
	int64_t after;        /* seq of the latest chunk that was shown or left out */
	struct kept_place in; /* how far the next one was shown */
	size_t len;           /* length of the line that was shown in part; 0: none was */
};

/* Whether nothing was shown between the two places. */
bool replay_same(const struct replay_place *a, const struct replay_place *b);

/*
 * Appends the next piece, about KEPT_PART bytes or one larger message; nothing where there is
 * nothing yet.  *place moves on.  *ends says that the terminator was reached.  False with err set
 * when the storage fails, or the rest of a chunk that was begun does not exist any more.
 */
bool replay_read(const struct replay *replay, struct replay_place *place, struct buf *out,
    bool *ends, struct error *err);

/* What is kept of the end of a run. */
struct replay_tail {
	int64_t seq;  /* seq of the last chunk; 0: there is none */
	bool outcome; /* the last chunk says how the run ended */
	bool done;    /* the last chunk is the terminator */
};

/* Reads what is kept of a run's end; false with call->error set. */
bool replay_find_tail(struct call *call, const struct run_record *record, struct replay_tail *tail);

/*
 * To be called before a run is taken up again: keeps chunks for the messages that its earlier
 * attempts have stored, up to record->until, but did not live to tell.  *seq is then the number of
 * the last chunk.  Returns what was told before that; NULL with call->error set.
 */
const struct told *replay_go_on(struct call *call, const struct run_record *record, int64_t *seq);

/*
 * Writes the end of a run that is over but whose process did not live to write it, made from its
 * record and its thread: the messages that were not told, the chunk that says how the run ended, if
 * there is to be one, and the terminator.  States are null.  These chunks are kept like others, so
 * that only one of several callers adds them, and a run that has its end stays as it is.  False
 * with call->error set.
 */
bool replay_end(struct call *call, const struct run_record *record, const struct thread *thread);

#endif
