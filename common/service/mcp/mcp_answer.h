/* SPDX-License-Identifier: ISC */
/* What hosts are told of a turn (doc/protocol-mcp.md#the-result): the result of a call, and its
 * progress. */
#ifndef AGENTGRAPH_SERVICE_MCP_MCP_ANSWER_H
#define AGENTGRAPH_SERVICE_MCP_MCP_ANSWER_H

#include "base/buf.h"
#include "service/mcp/mcp_request.h"
#include "service/run/gate.h"
#include "service/run/turn.h"

/* A result without members but those that each has in this version, in the arena. */
cJSON *mcp_result(struct call *call, const struct mcp_request *rq);

/* Of a turn that has ended well, or that waits for an answer; again: which it did before. */
cJSON *mcp_result_of(const struct turn *turn, const struct mcp_request *rq);

/* Of a run that failed, or of arguments that do not fit (turn is NULL): the error in the call. */
cJSON *mcp_result_failed(struct call *call, const struct turn *turn, const struct mcp_request *rq);

/* Notifications of one turn. */
struct mcp_writer {
	struct run_observer observer; /* first: what the engine sees */
	struct gate gate;             /* before the sink */
	const cJSON *token;           /* NULL: nobody wants to know, and there is no gate */
	int64_t progress;             /* nodes that were begun */
	struct buf line;
};

/* mcp_writer_release gives its memory back. */
void mcp_writer_init(
    struct mcp_writer *writer, const struct mcp_request *rq, const struct mcp_post *post);
void mcp_writer_release(struct mcp_writer *writer);

/* The last message, when notifications went before it. */
void mcp_writer_end(struct mcp_writer *writer, const cJSON *message);

#endif
