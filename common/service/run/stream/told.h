/* SPDX-License-Identifier: ISC */
/* What kept chunks have told of the messages of a run.  Needed to go on after a process that died,
 * because a checkpoint is on disk before the chunks that tell of it. */
#ifndef AGENTGRAPH_SERVICE_RUN_STREAM_TOLD_H
#define AGENTGRAPH_SERVICE_RUN_STREAM_TOLD_H

#include "service/service.h"
#include "storage/runs.h"

struct told_pieces;

struct told {
	const char **ids; /* ids of messages that were told whole, in order */
	size_t count;
	struct told_pieces *pieces; /* what was told of the others */
	cJSON *last;                /* the last chunk, without its state; NULL: there is none */
	int64_t seq; /* number of the last chunk, even if that was forgotten; 0: there is none */
};

/* Reads all that is kept of a run.  The result lives as long as the call; NULL with call->error
 * set. */
const struct told *told_read(struct call *call, const struct run_record *record);

/* Whether the message with this id was told whole. */
bool told_whole(const struct told *told, const char *id);

/* The text that pieces of a message have told; NULL where there were none. */
const char *told_in_pieces(const struct told *told, const char *id);

/* Node (or NULL) and step of the last chunk, unless that was in a branch. */
const char *told_node(const struct told *told, int64_t *step);

#endif
