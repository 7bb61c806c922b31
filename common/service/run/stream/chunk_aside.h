/* SPDX-License-Identifier: ISC */
/*
 * What is kept beside chunks (kept_line.h), so that each can be told in other words by itself, from
 * whichever place on: where its node began, which fields that set, what its run was given.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_STREAM_CHUNK_ASIDE_H
#define AGENTGRAPH_SERVICE_RUN_STREAM_CHUNK_ASIDE_H

#include "service/run/turn.h"

#include <stdint.h>

/* Bytes of a thread that is told whole before it is run. */
#define BEGINNING_MAX (128 << 10)

/* What is to be known of the chunks so far; all-zero at first. */
struct chunk_asides {
	int64_t count;  /* of them */
	cJSON *open;    /* ids of messages that were told in pieces and are not yet whole */
	cJSON *begun;   /* by branch: how many were before the node that is at work */
	cJSON *fields;  /* of the graph, as they were told last; NULL: not yet */
	bool in_branch; /* the latest node was in one, and no whole state came since */
	bool failed;    /* the run, as was told */
	char *done;     /* what chunk_aside_done gave, before the thread was left */
};

void chunk_asides_release(struct chunk_asides *asides);

/* Whether a piece, or a whole message, is of one of which pieces were told before. */
bool chunk_asides_told(struct chunk_asides *asides, const struct run_event *event);

/*
 * A node starts, or ends, before its chunk is counted; malloc'd text, an object of JSON, or NULL:
 *
 * at the first one {"modes", "until", "brought", "fields"}: what the request wants to be told
 * (run_input.modes), and of a thread that is told then where its list ended, the ids that were
 * added, all fields;
 * at each end {"back", "set"}: how many chunks before this one the node began, and which fields are
 * not as they were told last.
 */
char *chunk_aside_start(
    struct chunk_asides *asides, const struct turn *turn, const struct run_event *event);
char *chunk_aside_end(
    struct chunk_asides *asides, const ag_run *run, const struct run_event *event);

/* With the terminator, {"until", "fields"} where the latest node was in a branch, so that nothing
 * has told the whole since. */
char *chunk_aside_done(const struct chunk_asides *asides, struct turn *turn);

#endif
