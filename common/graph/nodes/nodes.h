/* SPDX-License-Identifier: ISC */
/*
 * The nodes and tools that a graph document describes by their keys alone, models apart: what the
 * document fills in of each, and the function that the graph calls with it.
 */
#ifndef AGENTGRAPH_GRAPH_NODES_NODES_H
#define AGENTGRAPH_GRAPH_NODES_NODES_H

#include "agentgraph.h"
#include "base/http/http.h"
#include "tool/command.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * ---- exec_node.c: the node that is an executable, the CGI way.
 *
 * One JSON object with the state arrives on standard input, followed by a newline:
 *
 *     {"context": [messages], "context_summary": text or null, "user_text": text, "config": {...},
 *      "thread_id", "run_id", "node": text, "step": number, "answers": [...], and every field of
 *      the graph's own}
 *
 * Each line of standard output is a JSON object with exactly one of these members; empty lines are
 * skipped:
 *
 *     {"delta": text}         a piece of the answer; all pieces are one message, which is closed by
 *                             a "message" line or by the end of the program
 *     {"reasoning": text}     a piece of a reasoning summary, before the text
 *     {"message": text}       a message of the assistant, or an object with "content" and "role"
 *     {"update": {field: value, ...}}
 *     {"interrupt": {"reason": text, "value": any}}   both may be left out
 *     {"error": text}         the run fails
 *     {"log": text}           a line in the service's log
 *
 * An interrupt pauses the run and ends the program.  When the run is resumed the program is started
 * again, with all answers so far in "answers"; it writes its interrupts in the same order as
 * before, and those that have an answer are passed over.  A stop of the run lets the program go on
 * to its end, as it does with every node (doc/protocol-runs.md#stop).  A status other than 0 is an
 * error of the node, and so are a signal, output that is not understood, and a time-out.
 */

#define EXEC_NODE_TIMEOUT_MS 900000  /* the default, and the most (doc/protocol-runs.md#invoke) */
#define EXEC_NODE_MAX_LINE (1 << 20) /* default, bytes */
#define EXEC_NODE_MAX_OUTPUT (16 << 20) /* default, bytes */

/* What "context" holds: all messages, or the last one alone. */
enum exec_input { EXEC_INPUT_FULL, EXEC_INPUT_LAST };

struct exec_node {
	struct command command;
	enum exec_input input;
};

/* The function of such a node (ag_node_fn); data is its struct exec_node. */
ag_result exec_node_run(ag_run *run, const ag_state *state, void *data);

/*
 * ---- a2a_node.c: nodes that ask another agent (doc/agents.md#calling-other-agents-over-a2a).
 *
 * What the node has to remember of the conversation stands in the metadata of its messages, under
 * "a2a", and while it waits for an answer in the value of the pause: so it is of the branch of the
 * thread that it was said in, and goes with it.
 */

#define A2A_NODE_TIMEOUT_MS 900000 /* the default, and the most (doc/protocol-runs.md#invoke) */

struct a2a_peer;

struct a2a_node {
	struct a2a_peer *peer;
	int64_t timeout_ms;
	/* What is said, malloc'd, or NULL for the last text of the user; arg is passed through. */
	char *(*text)(ag_run *run, const ag_state *state, const void *arg);
	const void *arg;
};

/* The function of such a node (ag_node_fn); data is its struct a2a_node. */
ag_result a2a_node_run(ag_run *run, const ag_state *state, void *data);

/*
 * ---- http_tool.c: tools that are requests over HTTP.
 *
 * Names in {{ }} stand for members of the arguments ({{city}}, {{place.lat}}).  In the URL their
 * values are percent-encoded, and none may stand before its path, so that arguments decide nothing
 * about where a request goes.  A member that is missing is empty in texts; a query member or body
 * member that is nothing but such a name is left out.  Objects and arrays become their JSON.
 *
 * The answer is the result, as JSON when it is that, else as text; a status of 300 and above is an
 * error result that names it.
 */

#define HTTP_TOOL_TIMEOUT_MS 300000    /* the default, and the most (doc/protocol-runs.md#invoke) */
#define HTTP_TOOL_MAX_OUTPUT (1 << 20) /* the default: a result is read by a model */

struct template;

struct http_tool {
	struct template *url;
	const char *method;          /* lives in the document; NULL: GET, or POST with a body */
	struct http_header *headers; /* malloc'd */
	size_t header_count;
	const cJSON *query; /* lives in the document, as does body; or NULL */
	const cJSON *body;  /* the text "arguments" stands for all of them */
	int64_t timeout_ms;
	size_t max_output;
};

/* Whether no name stands in the scheme, host or port of url, which is http or https. */
bool http_tool_url_fits(const char *url);

/* The function of such a tool (ag_tool_fn); data is its struct http_tool. */
ag_result http_tool(ag_run *run, const cJSON *args, cJSON **output, void *data);

/* Frees tool and what it owns. */
void http_tool_free(void *tool);

/* ---- memory_tool.c: the tool by which a model reads and writes the memories of the run's user */

enum memory_action {
	MEMORY_SEARCH,
	MEMORY_LIST,
	MEMORY_REMEMBER,
	MEMORY_UPDATE,
	MEMORY_FORGET,
	MEMORY_ACTIONS
};

extern const char *const memory_actions[MEMORY_ACTIONS];

struct memory_tool {
	bool may[MEMORY_ACTIONS];
	int limit; /* memories that a search or a list gives at most */
};

#define MEMORY_TOOL_NAME "memory"
#define MEMORY_TOOL_LIMIT 10

/* What the model is told of it, malloc'd: by which actions it may. */
char *memory_tool_description(const struct memory_tool *tool);
char *memory_tool_parameters(const struct memory_tool *tool);

/* ag_tool_fn; data is a struct memory_tool. */
ag_result memory_tool(ag_run *run, const cJSON *args, cJSON **output, void *data);

#endif
