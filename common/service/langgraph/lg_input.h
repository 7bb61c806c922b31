/* SPDX-License-Identifier: ISC */
/* Reading the body of a run that LangGraph's clients send (doc/protocol-langgraph.md#runs), and
 * making a usual body of it (run_input.h). */
#ifndef AGENTGRAPH_SERVICE_LANGGRAPH_LG_INPUT_H
#define AGENTGRAPH_SERVICE_LANGGRAPH_LG_INPUT_H

#include "service/langgraph/lg_message.h"
#include "service/service.h"

/* The modes of a stream, a bit each. */
enum lg_mode {
	LG_VALUES = 1,
	LG_UPDATES = 2,
	LG_MESSAGES = 4,
	LG_TUPLES = 8,
	LG_CUSTOM = 16,
	LG_EVENTS = 32,
	/* no mode: says that the request has named modes, even if they tell nothing */
	LG_ASKED = 64,
	/* no mode: the run has not begun, so it is not known yet what its request has named */
	LG_LATER = 128
};

/* Adds the bits of the mode with this name; false with the error set. */
bool lg_mode_read(struct call *call, const char *name, unsigned *modes);

/* Whether a member of the object at path at fits the graph's field with its name, if there is one;
 * else false with the error set. */
bool lg_field_check(struct call *call, const cJSON *item, const char *at);

/* The name of a node by which such clients say that a thread is done. */
#define LG_END_NODE "__end__"

struct lg_input {
	cJSON *body;      /* the body that was made, in the arena */
	unsigned modes;   /* enum lg_mode */
	bool goes_on;     /* there is neither input nor an answer: the thread goes on where it is */
	bool goes_to_end; /* the thread's pause is closed, and nothing runs */
	bool ends_with_client;
	bool resumable; /* the chunks of its stream are kept */
	struct lg_removal removal;
};

/*
 * Reads a body; thread_id NULL: the run has no thread.  background: the body may have members that
 * only background runs have, and is made into the body of one.  False with every mistake in
 * call->error, or an unknown thread, assistant or checkpoint.
 */
bool lg_input_read(struct call *call, const char *thread_id, const cJSON *body, bool background,
    struct lg_input *in);

#endif
