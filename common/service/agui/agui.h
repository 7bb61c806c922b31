/* SPDX-License-Identifier: ISC */
/* POST /v1/ag-ui (doc/protocol-ag-ui.md): runs for browsers that speak the AG-UI protocol. */
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
 * Runs the graph and sends every event, RUN_STARTED first, RUN_FINISHED or RUN_ERROR last.  False
 * with call->error set when the request was refused before the first event; then nothing was sent.
 */
bool run_agui(struct call *call, const cJSON *body, struct chunk_sink *sink);

/*
 * ---- agui_input.c: the body of POST /v1/ag-ui, AG-UI's RunAgentInput
 * (doc/protocol-ag-ui.md#the-request), checked and brought into the shape of a run.
 *
 * A browser sends the whole conversation; only what follows the last assistant message is read,
 * since the thread has the rest.
 */

struct agui_input {
	struct run_input run; /* without resume: what that means depends on the thread */
	/* entries that answer interrupts, an array; NULL when there are none */
	const cJSON *resume;
	bool reads; /* the request brings nothing: a page that was loaded again asks what the thread
		       has */
	const cJSON *state; /* the state as the client has it, an object, or NULL */
};

/*
 * Reads a body; false with every mistake in call->error.  All of it lives in the call's arena or is
 * borrowed from the body.
 */
bool agui_input_read(struct call *call, const cJSON *body, struct agui_input *in);

/* ---- agui_message.c: messages as clients write them (doc/protocol-ag-ui.md#new-messages) */

/*
 * Makes the message of a run (doc/protocol-messages.md#messages, output form) from item, a user or
 * tool message; a new tree, NULL with every mistake in call->error.  at is its path, such as
 * "messages[3]".
 */
cJSON *agui_message_read(struct call *call, const cJSON *item, const char *at);

/*
 * Adds a mistake in the body of POST /v1/ag-ui: "Invalid AG-UI RunAgentInput: <field>: <expected>".
 * type is as for error_field.  Always false.
 */
bool agui_invalid(struct call *call, const char *field, const char *type, const char *expected);

/*
 * ---- agui_events.c: events (doc/protocol-ag-ui.md#events): what a run tells, as the events of a
 * browser's protocol.
 *
 * A writer keeps their order legal: it closes what it opens, in each branch at most one of text and
 * reasoning is open, and nothing follows the terminal event.
 */

/* Which stream of the present message is open. */
enum agui_open { AGUI_NONE, AGUI_TEXT, AGUI_REASONING };

/* A sequence of events: those of the run, or of one of its branches. */
struct agui_lane {
	struct agui_lane *next;
	const char *branch;   /* NULL: outside of branches */
	const char *step;     /* the node whose step is open, or NULL */
	struct buf message;   /* id of the present message; "" before the first */
	bool text, reasoning; /* whether the message has sent any */
	enum agui_open open;
};

struct agui_writer {
	struct run_observer observer; /* first: what the engine sees */
	struct turn *turn;
	struct gate gate; /* in front of the sink */
	struct buf line;
	struct agui_lane *lanes, *lane; /* all lanes, and that of the present event */
	/* the state as the client has it: what it sent, then the last snapshot */
	const cJSON *state;
	bool inside;  /* the latest node was in a branch or a subgraph */
	cJSON *calls; /* array of the ids of tool calls sent in this run */
};

/* Makes a writer for one turn; state (borrowed, may be NULL) is what the client sent.
 * agui_writer_release frees its memory. */
void agui_writer_init(
    struct agui_writer *writer, struct turn *turn, const cJSON *state, struct chunk_sink *sink);
void agui_writer_release(struct agui_writer *writer);

/* Sends RUN_STARTED. */
void agui_run_started(struct agui_writer *writer);

/* Sends a STATE_SNAPSHOT of the graph's own state fields, unless they all have their defaults or
 * the client has the same.  fields must live as long as the turn's arena. */
void agui_state(struct agui_writer *writer, const cJSON *fields);

/* Sends a MESSAGES_SNAPSHOT of the thread's messages, if there are any; for a turn without a run.
 * False with the call's error set. */
bool agui_messages(struct agui_writer *writer);

/*
 * Close what is open and send the terminal event: RUN_FINISHED, whose outcome is interrupt
 * (doc/protocol-messages.md#interrupts; borrowed) if that is not NULL, or all of interrupts if that
 * is not NULL; or RUN_ERROR.
 */
void agui_run_finished(struct agui_writer *writer, const cJSON *interrupt, const cJSON *interrupts);
void agui_run_error(struct agui_writer *writer, const char *message, const char *code);

/* ---- agui_parts.c: results as text, interrupts */

/* Appends the content of a tool_result block as a browser sees it: always text. */
void agui_put_output(struct buf *out, const cJSON *block);

/*
 * Appends a stored message in AG-UI's form, if it has one; a tool message becomes one for each of
 * its results.  A comma separates it from what stands before.
 */
void agui_put_message(struct buf *out, const cJSON *message);

/* Appends the id, in AG-UI, of the message that a tool_result block becomes; for the first result
 * of a message that is the message's own. */
void agui_put_result_id(struct buf *out, const cJSON *message, const cJSON *block);

/* The outcome of a run that paused at interrupt (doc/protocol-messages.md#interrupts), or at
 * several interrupts if that is not NULL: with AG-UI's names and without what is null, a new
 * tree. */
cJSON *agui_outcome(const cJSON *interrupt, const cJSON *interrupts);

#endif
