/* SPDX-License-Identifier: ISC */
/* A run told as server-sent events of LangGraph's stream modes (doc/protocol-langgraph.md#streams).
 */
#ifndef AGENTGRAPH_SERVICE_LANGGRAPH_LG_WRITER_H
#define AGENTGRAPH_SERVICE_LANGGRAPH_LG_WRITER_H

#include "base/buf.h"
#include "service/run/gate.h"
#include "service/run/turn.h"

struct lg_writer {
	struct run_observer observer; /* first: what the engine sees */
	struct turn *turn;
	struct gate gate;
	unsigned modes;  /* enum lg_mode */
	int64_t steps;   /* that were told */
	struct buf text; /* of the one at hand */
	cJSON *streamed; /* ids of messages that were told in pieces and are not yet whole */
	cJSON *said;     /* of open nodes, by branch: what they said */
	cJSON *fields;   /* of the graph, as they were told last; NULL: not yet */
	bool in_branch;  /* the latest node was in one, and nothing has told the whole since */
};

/* lg_writer_release gives its memory back. */
void lg_writer_init(
    struct lg_writer *writer, struct turn *turn, unsigned modes, struct chunk_sink *sink);
void lg_writer_release(struct lg_writer *writer);

/* The end: what is asked, where something is, and `end`.  Before any event the first comes first.
 */
void lg_writer_finish(struct lg_writer *writer);

/* The end of a run that failed: the error in the turn's call. */
void lg_writer_fail(struct lg_writer *writer);

#endif
