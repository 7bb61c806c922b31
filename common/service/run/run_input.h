/* SPDX-License-Identifier: ISC */
/* The body of a run (doc/protocol-runs.md#invoke), checked and brought into shape. */
#ifndef AGENTGRAPH_SERVICE_RUN_RUN_INPUT_H
#define AGENTGRAPH_SERVICE_RUN_RUN_INPUT_H

#include "graph/run.h"
#include "service/service.h"

enum granularity { GRANULARITY_LOW, GRANULARITY_PARTIAL, GRANULARITY_FULL };

/* Reads the value of response_granularity (NULL: the default); false with the error set at path
 * where. */
bool granularity_read(struct call *call, const char *where, const char *text, enum granularity *g);

#define RUN_INPUT_NO_CALLS "carries a tool call; only the model may request tools"

struct run_input {
	const char *thread_id;     /* NULL: a new thread */
	const char *run_id;        /* NULL: one is made */
	const char *checkpoint_id; /* checkpoint of the thread that the run begins at; NULL: the
				      thread as it is */
	enum lease_claim claim;    /* multitask_strategy */
	cJSON *config;             /* without server-owned keys, with the user */
	cJSON *messages;           /* array of messages in output form */
	const char **at;           /* for each message, its path in the request */
	bool *given_id;            /* for each message, whether its id came from the client */
	bool has_resume;
	const cJSON *resume; /* borrowed from the body */
	const cJSON *initial_state;
	int64_t recursion_limit;
	enum granularity granularity;
	bool resumable; /* the chunks of the stream are kept */
	int64_t modes; /* for chunks that are told in other words (kept_line.h); kept beside them */
	double node_timeout, tool_timeout; /* seconds */
	/* Where no message is new: true: nothing runs (doc/protocol-ag-ui.md#new-messages); false:
	 * the last user message is said again (doc/protocol-messages.md#messages). */
	bool only_new;
	bool whole;           /* the messages may be the whole conversation, with the calls in it */
	bool by_state;        /* there may be no messages, because fields of the graph are given */
	bool message_resumes; /* a user message answers a pause, whatever the configuration says */
	/* Not NULL: the run must answer a pause of the run of this id, or of one whose id is this,
	 * a point and more, and is refused where there is none. */
	const char *answers;
	bool ends_with_client; /* a run whose client leaves ends before its next node */
	struct client_tools client_tools;
};

/* Fills in the defaults: the limits, and a config that has the user. */
void run_input_default(struct call *call, struct run_input *in);

/* Reads a body, whose messages are the member key; whole says what they are (run_input.whole), and
 * that fields of the graph alone are an input, too.  False with every mistake in call->error.  All
 * lives in the call's arena. */
bool run_input_read(
    struct call *call, const cJSON *body, const char *key, bool whole, struct run_input *in);

#endif
