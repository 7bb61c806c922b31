/* SPDX-License-Identifier: ISC */
/* What kept chunks have told of the messages of a run, for who goes on behind a process that died:
 * its checkpoints were on disk before the chunks that tell of them. */
#ifndef AGENTGRAPH_SERVICE_RUN_STREAM_TOLD_H
#define AGENTGRAPH_SERVICE_RUN_STREAM_TOLD_H

#include "service/service.h"
#include "storage/runs.h"

struct told_pieces;

struct told {
	const char **ids; /* of messages that were told whole, in order */
	size_t count;
	struct told_pieces *pieces; /* of those that were not */
	cJSON *last;                /* chunk, without its state; NULL: there is none */
	int64_t seq;                /* its number, or of one that was forgotten behind it; or 0 */
};

/* Reads all that is kept of a run.  It lives as long as the call; NULL with call->error set. */
const struct told *told_read(struct call *call, const struct run_record *record);

/* Whether the message of that id was told whole. */
bool told_whole(const struct told *told, const char *id);

/* The text that pieces of it have told; NULL where there were none. */
const char *told_in_pieces(const struct told *told, const char *id);

/* Where the last chunk stood, unless that was in a branch: its node, or NULL, and step. */
const char *told_node(const struct told *told, int64_t *step);

#endif
