#include "command.h"
#include "options.h"

#include <stdio.h>

int cmd_version(int argc, char **argv)
{
	static const struct option_spec none[] = {{NULL, OPTION_FLAG, NULL, 0, 0}};
	int operands;

	if (!options_parse(none, argc, argv, 0, &operands))
		return EXIT_USAGE;
	puts("agentgraph " AGENTGRAPH_VERSION);
	return 0;
}
