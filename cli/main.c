/* agentgraph: the one command a person types. */
#include "command.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WHERE "[--config FILE] [--state DIR]"

const struct command commands[] = {{"serve",
				       WHERE " [--listen HOST:PORT] [--processes N] [--threads T]\n"
					     "    [--socket PATH] [--no-nginx] [--drain SECONDS]",
				       "run the service in the foreground", cmd_serve},
    {"check", WHERE, "test configuration, environment, graph and databases", cmd_check},
    {"init", "DIR", "make a project to start from", cmd_init},
    {"nginx-conf", WHERE " [--socket PATH] [--full]",
	"print the nginx snippet for an existing server block", cmd_nginx_conf},
    {"routes", "", "print the route table with permissions", cmd_routes},
    {"backup", "PATH " WHERE, "copy all databases, also while the service runs", cmd_backup},
    {"version", "", "print the version", cmd_version},
    {"help", "[COMMAND]", "print this help, or that of one command", cmd_help},
    {NULL, NULL, NULL, NULL}};

const struct command *command_find(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

int complain(int status, const char *fmt, ...)
{
	char text[2048];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fprintf(stderr, "agentgraph: %s\n", text);
	return status;
}

static bool is_help(const char *arg)
{
	return strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0;
}

static bool asks_for_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (is_help(argv[i]))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	const struct command *command;
	const char *name = argc > 1 ? argv[1] : "";

	memory_init();
	if (!*name)
		return complain(EXIT_USAGE, "a command is needed; agentgraph --help lists them");
	if (is_help(name))
		name = "help";
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		name = "version";
	command = command_find(name);
	if (!command)
		return complain(
		    EXIT_USAGE, "there is no command \"%s\"; agentgraph --help lists them", name);
	if (command->run != cmd_help && asks_for_help(argc - 1, argv + 1)) {
		char *help[] = {"help", argv[1], NULL};

		return cmd_help(2, help);
	}
	return command->run(argc - 1, argv + 1);
}
