/* SPDX-License-Identifier: ISC */
/* agentgraph: the one command a person types. */
#include "cli/command.h"

#include "base/memory.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static bool cli_main_is_help(const char *arg)
{
	return strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0;
}

int main(int argc, char **argv)
{
	const struct command *command;
	const char *name = argc > 1 ? argv[1] : "";
	/* A socket with the number of a missing standard stream would be lost to children; and what
	 * is written to a missing standard output must fail. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDERR_FILENO ? O_RDWR : O_RDONLY);
	signal(SIGCHLD, SIG_DFL); /* ignored by who started it, no child's end could be told */
	memory_init();
	if (!*name)
		return complain(EXIT_USAGE, "a command is needed; agentgraph --help lists them");
	if (cli_main_is_help(name))
		name = "help";
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		name = "version";
	command = command_find(name);
	if (!command)
		return complain(
		    EXIT_USAGE, "there is no command \"%s\"; agentgraph --help lists them", name);
	for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (cli_main_is_help(argv[i])) {
			char *help[] = {"help", (char *)command->name, NULL};
			return exit_status(cmd_help(2, help));
		}
	argv[1] = (char *)command->name; /* not one of its other names */
	return exit_status(command->run(argc - 1, argv + 1));
}
