/* SPDX-License-Identifier: ISC */
/*
 * The node that is an executable, the CGI way.
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
#ifndef AGENTGRAPH_GRAPH_NODES_EXEC_NODE_H
#define AGENTGRAPH_GRAPH_NODES_EXEC_NODE_H

#include "agentgraph.h"
#include "tool/command.h"

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

#endif
