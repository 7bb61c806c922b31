/* SPDX-License-Identifier: ISC */
/*
 * Questions of the stateless version (doc/protocol-mcp.md#questions): a pause becomes a result that
 * asks for input, and the same call with the answers goes on with the run.
 *
 * What stands between the two is requestState, signed with the key of tickets: good for the user
 * who was asked, the tool, the thread, and the pauses that were open.  A pause that was answered is
 * open no more, so a state is good for one use.
 */
#ifndef AGENTGRAPH_SERVICE_MCP_MCP_ASK_H
#define AGENTGRAPH_SERVICE_MCP_MCP_ASK_H

#include "service/mcp/mcp_request.h"
#include "service/run/turn.h"

#define MCP_STATE_SECONDS 86400 /* that an answer may take */

/* Whether its host can show a form. */
bool mcp_asks(const struct mcp_request *rq);

/* The result that asks what the pauses of the turn ask, in the arena; NULL with call->error set. */
cJSON *mcp_question(struct turn *turn, const struct mcp_request *rq);

/* What comes back with a call. */
struct mcp_reply {
	const char *thread_id; /* NULL: nothing came back, it is a call of its own */
	const char *interrupts;
	const cJSON *responses; /* an object, or NULL */
};

/* Reads it; false with the fault in call->error when its state is not one of ours. */
bool mcp_reply_read(struct call *call, const struct mcp_request *rq, struct mcp_reply *reply);

enum mcp_verdict {
	MCP_REPLY_ANSWERS,  /* turn->in resumes */
	MCP_REPLY_LACKS,    /* something is missing, or does not fit: ask again */
	MCP_REPLY_DECLINES, /* the person does not want to; the pause stays */
	MCP_REPLY_STALE     /* call->error is set: these pauses are not open (any more) */
};

/* What the reply means for the thread, which is open. */
enum mcp_verdict mcp_reply_take(
    struct turn *turn, const struct mcp_request *rq, const struct mcp_reply *reply);

/* Whether a schema is one that forms are made of: an object of plain values. */
bool mcp_schema_is_flat(const cJSON *schema);

#endif
