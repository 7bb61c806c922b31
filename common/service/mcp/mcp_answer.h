/* SPDX-License-Identifier: ISC */
/* What hosts are told of a turn (doc/protocol-mcp.md#the-result): the result of a call, its
 * progress, and what the agent asks. */
#ifndef AGENTGRAPH_SERVICE_MCP_MCP_ANSWER_H
#define AGENTGRAPH_SERVICE_MCP_MCP_ANSWER_H

#include "base/buf.h"
#include "service/mcp/mcp_request.h"
#include "service/run/stream/gate.h"
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

/*
 * ---- mcp_ask.c: questions of the stateless version (doc/protocol-mcp.md#questions): a pause
 * becomes a result that asks for input, and the same call with the answers goes on with the run.
 *
 * What stands between the two is requestState, signed with the key of tickets: good for the user
 * who was asked, the tool, the thread, and the pauses that were open.  A pause that was answered is
 * open no more, so a state is good for one use.
 */

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
