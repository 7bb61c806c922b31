/* SPDX-License-Identifier: ISC */
/* agentgraph version: one line. */
#include "cli/command.h"

#include <stdio.h>

int cmd_version(int argc, char **argv)
{
	static const struct option_spec none[] = {OPTION_END};
	if (!command_options(none, argc, argv, 0))
		return EXIT_USAGE;
	puts("agentgraph " AGENTGRAPH_VERSION);
	return 0;
}
