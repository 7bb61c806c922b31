#include "command.h"

#include <stdio.h>

static void print_all(void)
{
	printf("usage: agentgraph COMMAND [OPTION]...\n\n");
	for (const struct command *c = commands; c->name; c++)
		printf("  %-12s %s\n", c->name, c->summary);
	printf(
	    "\nagentgraph help COMMAND shows a command's options; the manual page agentgraph(1)\n"
	    "explains them.\n");
}

int cmd_help(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2) {
		print_all();
		return 0;
	}
	if (argc > 2)
		return complain(EXIT_USAGE, "help takes one command, got %d", argc - 1);
	c = command_find(argv[1]);
	if (!c)
		return complain(EXIT_USAGE, "there is no command \"%s\"", argv[1]);
	printf("usage: agentgraph %s%s%s\n\n%s\n", c->name, *c->arguments ? " " : "", c->arguments,
	    c->summary);
	return 0;
}
