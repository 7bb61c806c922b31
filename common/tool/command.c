/* SPDX-License-Identifier: ISC */
/* The environment of such a child, and running it in a run's remaining time. */
#include "tool/command.h"

#include "base/memory.h"
#include "base/os/clock.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const passed[] = {"PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR"};

void command_release(struct command *command)
{
	for (size_t i = 0; command->argv && command->argv[i]; i++)
		free(command->argv[i]);
	for (size_t i = 0; i < command->env_count; i++)
		free(command->env[i]);
	free(command->argv);
	free(command->env);
	free(command->path);
	free(command->cwd);
	*command = (struct command){0};
}

void command_setenv(struct command *command, const char *name, const char *value)
{
	char *entry = xasprintf("%s=%s", name, value);
	size_t prefix = strlen(name) + 1;
	for (size_t i = 0; i < command->env_count; i++) {
		if (strncmp(command->env[i], entry, prefix) == 0) {
			free(command->env[i]);
			command->env[i] = entry;
			return;
		}
	}
	command->env = xrealloc(command->env, (command->env_count + 2) * sizeof(char *));
	command->env[command->env_count++] = entry;
	command->env[command->env_count] = NULL;
}

void command_pass_environment(struct command *command)
{
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
		const char *value = getenv(passed[i]);
		if (value)
			command_setenv(command, passed[i], value);
	}
	for (char **entry = environ; entry && *entry; entry++) {
		const char *equals = strchr(*entry, '=');
		if (strncmp(*entry, "LC_", 3) != 0 || !equals)
			continue;
		char *name = xstrndup(*entry, (size_t)(equals - *entry));
		command_setenv(command, name, equals + 1);
		free(name);
	}
}

void command_run(
    const struct command *command, const struct command_call *call, struct process_result *result)
{
	int64_t left = ag_time_left_ms(call->run);
	int64_t ms = command->timeout_ms < left ? command->timeout_ms : left;
	size_t n = command->env_count;
	char **env = xcalloc(n + 4, sizeof(*env)), why[512];
	for (size_t i = 0; i < n; i++)
		env[i] = command->env[i];
	env[n] = xasprintf("AGENTGRAPH_THREAD_ID=%s", ag_thread_id(call->run));
	env[n + 1] = xasprintf("AGENTGRAPH_RUN_ID=%s", ag_run_id(call->run));
	env[n + 2] = xasprintf("AGENTGRAPH_NODE=%s", ag_node_name(call->run));
	struct process p = {.path = command->path,
	    .argv = command->argv,
	    .envp = env,
	    .cwd = command->cwd,
	    .input = call->input,
	    .input_len = call->input_len,
	    .deadline_ms = clock_monotonic_ms() + ms,
	    .max_line = command->max_line,
	    .max_output = command->max_output,
	    .on_line = call->on_line,
	    .arg = call->arg};
	process_run(&p, result);
	while (env[n])
		free(env[n++]);
	free(env);
	/* For the log alone; what clients are told names no paths
	 * (doc/protocol-errors.md#errors-in-production). */
	if (result->end == PROCESS_NOT_STARTED)
		ag_log(call->run, "%s %s", command->argv[0],
		    process_describe(result, why, sizeof(why)));
}
