/* SPDX-License-Identifier: ISC */
/* The body of a run as LangGraph's clients send it (doc/protocol-langgraph.md#runs), as the one
 * that every run is made of (run_input.h). */
#ifndef AGENTGRAPH_SERVICE_LANGGRAPH_LG_INPUT_H
#define AGENTGRAPH_SERVICE_LANGGRAPH_LG_INPUT_H

#include "service/service.h"

/* What a stream tells, a bit each. */
enum lg_mode {
	LG_VALUES = 1,
	LG_UPDATES = 2,
	LG_MESSAGES = 4,
	LG_TUPLES = 8,
	LG_CUSTOM = 16,
	LG_EVENTS = 32,
	LG_ASKED = 64 /* tells nothing: the request has named modes, if only such */
};

/* Adds the bits of a mode of that name; false with the error set. */
bool lg_mode_read(struct call *call, const char *name, unsigned *modes);

/* Whether a member of what stands at `at` fits the graph's field of its name, if there is one; else
 * false with the error set. */
bool lg_field_check(struct call *call, const cJSON *item, const char *at);

/* What messages are called in that body, so that mistakes in them are told by their place. */
#define LG_MESSAGES_KEY "input.messages"

/* The node by which such clients say that a thread is done. */
#define LG_END_NODE "__end__"

struct lg_input {
	cJSON *body;      /* in the arena */
	unsigned modes;   /* enum lg_mode */
	bool goes_on;     /* neither input nor an answer: the thread goes on where it is */
	bool goes_to_end; /* what it asks is asked no more, and nothing runs */
	bool ends_with_client;
	bool resumable; /* its stream is kept */
};

/*
 * Reads a body; thread_id NULL: the run is about no thread.  background: what only runs in the
 * background have may be in it, and their names of members are used.  False with every mistake in
 * call->error, or an unknown thread, assistant or checkpoint.
 */
bool lg_input_read(struct call *call, const char *thread_id, const cJSON *body, bool background,
    struct lg_input *in);

#endif
