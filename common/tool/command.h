/* SPDX-License-Identifier: ISC */
/*
 * A command that a graph runs: what a document says of an executable, settled at start-up, and how
 * it is run within a run's time.
 *
 * A child sees little of the service's environment, because that is where secrets are: PATH, HOME,
 * USER, LANG, LC_*, TZ and TMPDIR, what the document adds, and AGENTGRAPH_THREAD_ID and
 * AGENTGRAPH_RUN_ID and AGENTGRAPH_NODE.
 */
#ifndef AGENTGRAPH_TOOL_COMMAND_H
#define AGENTGRAPH_TOOL_COMMAND_H

#include "agentgraph.h"
#include "base/os/process/process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command {
	char *path;  /* the executable, absolute */
	char **argv; /* ends with NULL; argv[0] is the name that the document gives */
	char *cwd;
	char **env; /* "NAME=value", ends with NULL */
	size_t env_count;
	int64_t timeout_ms;
	size_t max_line, max_output;
};

/* What one call of a command is given; see struct process. */
struct command_call {
	ag_run *run;
	const char *input;
	size_t input_len;
	bool (*on_line)(const char *line, size_t len, void *arg);
	void *arg;
};

/* Frees what command owns, not command itself. */
void command_release(struct command *command);

/* Adds a variable to the child's environment, or replaces it. */
void command_setenv(struct command *command, const char *name, const char *value);

/* Adds those variables of the service's environment that every child may see. */
void command_pass_environment(struct command *command);

/* Runs the command until it ends, or its own time is up, or what the run has left
 * (ag_time_left_ms). */
void command_run(
    const struct command *command, const struct command_call *call, struct process_result *result);

/*
 * ---- exec.c: tools that are executables.
 *
 * The arguments arrive as one JSON object on standard input; what the executable writes is the
 * result: JSON when it is that, else text.  A status other than 0 makes an error result of the last
 * line on standard error.
 */

#define EXEC_TOOL_TIMEOUT_MS 300000    /* the default, and the most (doc/protocol-runs.md#invoke) */
#define EXEC_TOOL_MAX_OUTPUT (1 << 20) /* the default: a result is read by a model */

/* The function of such a tool (ag_tool_fn); data is its struct command. */
ag_result exec_tool(ag_run *run, const cJSON *args, cJSON **output, void *data);

#endif
