/* SPDX-License-Identifier: ISC */
/* POST /v1/ag-ui (doc/protocol-ag-ui.md): the run of a browser that speaks the AG-UI protocol, and
 * what it is made of. */
#ifndef AGENTGRAPH_SERVICE_AGUI_AGUI_H
#define AGENTGRAPH_SERVICE_AGUI_AGUI_H

#include "base/buf.h"
#include "graph/run.h"
#include "service/run/run_input.h"
#include "service/run/runs.h"
#include "service/run/stream/gate.h"
#include "service/run/turn.h"
#include "service/service.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/*
 * Sends every event, RUN_STARTED first and one of RUN_FINISHED and RUN_ERROR last.  False with
 * call->error set when the request was refused before the first event; then nothing was sent.
 */
bool run_agui(struct call *call, const cJSON *body, struct chunk_sink *sink);

/*
 * ---- agui_input.c: the body of POST /v1/ag-ui, AG-UI's RunAgentInput
 * (doc/protocol-ag-ui.md#the-request), checked and brought into the shape of a run.
 *
 * Of the conversation that a browser sends, only what follows the last assistant message is looked
 * at: the thread has the rest.
 */

struct agui_input {
	struct run_input run; /* without resume, which the thread decides on */
	const cJSON
	    *resume; /* entries that answer interrupts, an array; NULL when there are none */
	bool reads;  /* it sends nothing at all: a page that was loaded again asks what there is */
	const cJSON *state; /* what the client has of the state, an object, or NULL */
};

/*
 * Reads a body; false with every mistake in call->error.  All of it lives in the call's arena or is
 * borrowed from the body.
 */
bool agui_input_read(struct call *call, const cJSON *body, struct agui_input *in);

/* ---- agui_message.c: messages as clients write them (doc/protocol-ag-ui.md#what-is-new) */

/*
 * The message of a run (doc/protocol-messages.md#messages, output form) that the user or tool
 * message item stands for, a new tree; NULL with every mistake in call->error.  at is where it
 * stands: "messages[3]".
 */
cJSON *agui_message_read(struct call *call, const cJSON *item, const char *at);

/*
 * One mistake in the body of POST /v1/ag-ui: "Invalid AG-UI RunAgentInput: <field>: <expected>".
 * type as for error_field.  Returns false.
 */
bool agui_invalid(struct call *call, const char *field, const char *type, const char *expected);

/*
 * ---- agui_events.c: events (doc/protocol-ag-ui.md#events): what a run tells, as the events
 * of a browser's protocol.
 *
 * A writer keeps their order legal: what it opens it closes, of text and reasoning at most one is
 * open in each branch, and nothing follows the terminal event.
 */

/* Which stream of the message at hand is open. */
enum agui_open { AGUI_NONE, AGUI_TEXT, AGUI_REASONING };

/* What happens one after the other: in the run, or in one of its branches. */
struct agui_lane {
	struct agui_lane *next;
	const char *branch;   /* NULL: outside of branches */
	const char *step;     /* the node whose step is open, or NULL */
	struct buf message;   /* id of the message at hand, "" before the first */
	bool text, reasoning; /* whether it has sent any of these */
	enum agui_open open;
};

struct agui_writer {
	struct run_observer observer; /* first: what the engine sees */
	struct turn *turn;
	struct gate gate; /* before the sink */
	bool corked;
	struct buf line;
	struct agui_lane *lanes, *lane; /* of the run and its branches; that of the event */
	const cJSON *state; /* as the client has it: what it sent, then the last snapshot */
	cJSON *calls;       /* array of the ids of tool calls sent in this run */
};

/* A writer for one turn; state (borrowed, may be NULL) is what the client sent of it.
 * agui_writer_release gives its memory back. */
void agui_writer_init(
    struct agui_writer *writer, struct turn *turn, const cJSON *state, struct chunk_sink *sink);
void agui_writer_release(struct agui_writer *writer);

/* RUN_STARTED. */
void agui_run_started(struct agui_writer *writer);

/* STATE_SNAPSHOT of the graph's own state fields, unless they all have their defaults or are what
 * the client has.  fields is as long-lived as the turn's arena. */
void agui_state(struct agui_writer *writer, const cJSON *fields);

/* MESSAGES_SNAPSHOT of what the thread has stored, unless that is nothing; for a turn without a
 * run.  False with the call's error set. */
bool agui_messages(struct agui_writer *writer);

/*
 * The terminal event, behind the ends of what is open: RUN_FINISHED, with the interrupt
 * (doc/protocol-messages.md#interrupts; borrowed) as its outcome where there is one, and all of
 * them where there are several (else NULL), or RUN_ERROR.
 */
void agui_run_finished(struct agui_writer *writer, const cJSON *interrupt, const cJSON *interrupts);
void agui_run_error(struct agui_writer *writer, const char *message, const char *code);

/* ---- agui_parts.c: results as text, interrupts */

/* Appends the content of a tool_result block as a browser sees it: always text. */
void agui_put_output(struct buf *out, const cJSON *block);

/*
 * Appends a stored message as AG-UI has it, where it has one: of a tool message one for each of its
 * results.  What has been appended before is followed by a comma.
 */
void agui_put_message(struct buf *out, const cJSON *message);

/* The id in AG-UI of the message that a tool_result block becomes: that of its own message for the
 * first of its results. */
void agui_put_result_id(struct buf *out, const cJSON *message, const cJSON *block);

/* The outcome of a run that paused at interrupt (doc/protocol-messages.md#interrupts), or at
 * several interrupts where that is no NULL, in AG-UI's names and without what is null, a new tree.
 */
cJSON *agui_outcome(const cJSON *interrupt, const cJSON *interrupts);

#endif
