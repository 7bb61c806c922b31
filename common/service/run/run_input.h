/* SPDX-License-Identifier: ISC */
/* The body of a run (doc/protocol-runs.md#invoke), checked and brought into shape. */
#ifndef AGENTGRAPH_SERVICE_RUN_RUN_INPUT_H
#define AGENTGRAPH_SERVICE_RUN_RUN_INPUT_H

#include "graph/run.h"
#include "service/service.h"

enum granularity { GRANULARITY_LOW, GRANULARITY_PARTIAL, GRANULARITY_FULL };

/* The value of response_granularity, which stands at where; false with the error set.  NULL is the
 * default. */
bool granularity_read(struct call *call, const char *where, const char *text, enum granularity *g);

#define RUN_INPUT_NO_CALLS "carries a tool call; only the model may request tools"

struct run_input {
	const char *thread_id;     /* NULL: a new thread */
	const char *run_id;        /* NULL: one is made */
	const char *checkpoint_id; /* of the thread, where the run begins; NULL: as it is */
	enum lease_claim claim;    /* multitask_strategy */
	cJSON *config;             /* without server-owned keys, with the user */
	cJSON *messages;           /* array of messages in output form */
	bool *given_id;            /* per message: its id came from the client */
	bool has_resume;
	const cJSON *resume; /* borrowed from the body */
	const cJSON *initial_state;
	int64_t recursion_limit;
	enum granularity granularity;
	bool resumable; /* a stream's chunks are kept */
	int64_t modes;  /* of other words for them (kept_line.h), which are kept beside them */
	double node_timeout, tool_timeout; /* seconds */
	/* Without anything new nothing runs (doc/protocol-ag-ui.md#what-is-new); else the last user
	 * message is said again (doc/protocol-messages.md#messages). */
	bool only_new;
	bool whole; /* the messages are more than what is new: calls may stand in what was said */
	bool message_resumes; /* what a user says answers a pause, whatever the config says */
	/* It is for a pause of that run, or of one whose id is that and another one behind a point,
	 * and refused without it; NULL: for whatever is asked. */
	const char *answers;
	bool ends_with_client; /* a run whose client leaves ends before its next node */
	struct client_tools client_tools;
};

/* What holds for a run of which nothing else is said: the limits, and a config with the user. */
void run_input_default(struct call *call, struct run_input *in);

/* Reads a body, whose messages are the member key, and whole or not; false with every mistake in
 * call->error.  All of it lives in the call's arena. */
bool run_input_read(
    struct call *call, const cJSON *body, const char *key, bool whole, struct run_input *in);

#endif
