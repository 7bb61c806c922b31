/* SPDX-License-Identifier: ISC */
/* What a host is told of a turn (doc/protocol-mcp.md#the-result): the result of a call, its
 * progress, and what the agent asks. */
#ifndef AGENTGRAPH_SERVICE_MCP_MCP_ANSWER_H
#define AGENTGRAPH_SERVICE_MCP_MCP_ANSWER_H

#include "base/buf.h"
#include "service/mcp/mcp_request.h"
#include "service/run/stream/gate.h"
#include "service/run/turn.h"

/* A result with only the members that every result has in this version, in the arena. */
cJSON *mcp_result(struct call *call, const struct mcp_request *rq);

/* The result of a turn that has ended well, or waits for an answer. */
cJSON *mcp_result_of(const struct turn *turn, const struct mcp_request *rq);

/* The result of a run that failed, or of wrong arguments (turn is NULL), with the error in the
 * call. */
cJSON *mcp_result_failed(struct call *call, const struct turn *turn, const struct mcp_request *rq);

/* Notifications of one turn. */
struct mcp_writer {
	struct run_observer observer; /* first: what the engine sees */
	struct gate gate;             /* in front of the sink */
	const cJSON *token;           /* NULL: no progress is wanted, and there is no gate */
	int64_t progress;             /* how many nodes have begun */
	struct buf line;
};

/* mcp_writer_release frees its memory. */
void mcp_writer_init(
    struct mcp_writer *writer, const struct mcp_request *rq, const struct mcp_post *post);
void mcp_writer_release(struct mcp_writer *writer);

/* Sends the last message, after notifications. */
void mcp_writer_end(struct mcp_writer *writer, const cJSON *message);

/*
 * ---- mcp_ask.c: questions in the stateless version (doc/protocol-mcp.md#elicitation): a pause
 * becomes a result that asks for input, and the same call again, with the answers, goes on with the
 * run.
 *
 * requestState connects the two.  It is signed with the key of tickets, and valid only for the user
 * who was asked, the tool, the thread, and the pauses that were open.  An answered pause is not
 * open any more, so a state can be used only once.
 */

/* Whether the host can show a form. */
bool mcp_asks(const struct mcp_request *rq);

/* The result that asks what the turn's pauses ask, in the arena; NULL with call->error set. */
cJSON *mcp_question(struct turn *turn, const struct mcp_request *rq);

/* What comes back with a call that answers a question. */
struct mcp_reply {
	const char *thread_id; /* NULL: nothing came back, so the call is a new one */
	const char *interrupts;
	const cJSON *responses; /* an object, or NULL */
};

/* Reads that; false with the fault in call->error when the state is not one of ours. */
bool mcp_reply_read(struct call *call, const struct mcp_request *rq, struct mcp_reply *reply);

enum mcp_verdict {
	MCP_REPLY_ANSWERS,  /* turn->in resumes */
	MCP_REPLY_LACKS,    /* an answer is missing, or does not fit: ask again */
	MCP_REPLY_DECLINES, /* the person does not want to answer; the pause stays */
	MCP_REPLY_STALE     /* call->error is set: these pauses are not open (any more) */
};

/* What the reply means for the turn's thread, which must be open. */
enum mcp_verdict mcp_reply_take(
    struct turn *turn, const struct mcp_request *rq, const struct mcp_reply *reply);

/* Whether a form can be made of a schema: it is an object of plain values. */
bool mcp_schema_is_flat(const cJSON *schema);

#endif
