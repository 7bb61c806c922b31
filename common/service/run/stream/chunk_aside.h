/* SPDX-License-Identifier: ISC */
/*
 * Asides: what is kept beside chunks (kept_line.h), so that each chunk can be told in other words
 * by itself, wherever a reader begins: where its node began, which fields the node set, what its
 * run was given.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_STREAM_CHUNK_ASIDE_H
#define AGENTGRAPH_SERVICE_RUN_STREAM_CHUNK_ASIDE_H

#include "service/run/stream/told_fields.h"
#include "service/run/turn.h"

#include <stdint.h>

/* Most bytes of a thread that is told whole at the beginning of its run. */
#define BEGINNING_MAX (128 << 10)

/* What must be known of the chunks so far; all-zero at first. */
struct chunk_asides {
	int64_t count; /* how many there were */
	cJSON *open;   /* ids of messages of which pieces were told, but not yet the whole */
	cJSON *begun;  /* for each branch ("": outside of them) that has told something since its
			  last node ended, how many chunks there were before that */
	struct told_fields fields;
	bool inside; /* the latest node was in a branch or a subgraph, and no state of the whole
			thread was told since */
	bool failed; /* it was told that the run has failed */
	char *done;  /* what chunk_aside_done returned, before the lease was given back */
};

void chunk_asides_release(struct chunk_asides *asides);

/* Whether the event is a piece of a message, or a whole one, of which pieces were told before. */
bool chunk_asides_told(struct chunk_asides *asides, const struct run_event *event);

/*
 * The aside of a chunk that says that a node starts, or ends; to be called before the chunk is
 * counted.  A JSON object as malloc'd text, or NULL:
 *
 * at the first one {"modes", "until", "brought", "fields"}: what the request wants to be told
 * (run_input.modes), and of a thread that is told then where its list ended, the ids that were
 * added, all fields; at each end {"back", "set"}: how many chunks before this one the node began,
 * and which fields it set (told_fields.h), with "modes" if nothing has started before.
 */
char *chunk_aside_start(
    struct chunk_asides *asides, const struct turn *turn, const struct run_event *event);
char *chunk_aside_end(struct chunk_asides *asides, const struct turn *turn, const ag_run *run,
    const struct run_event *event);

/* The aside of the terminator: {"until", "fields"} where the latest node was in a branch or a
 * subgraph, so that the state of the whole thread was not told since. */
char *chunk_aside_done(const struct chunk_asides *asides, struct turn *turn);

#endif
