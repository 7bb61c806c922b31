/* SPDX-License-Identifier: ISC */
/* agentgraph routes: becomes a worker, which has the table and prints it. */
#include "cli/command.h"
#include "cli/programs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cmd_routes(int argc, char **argv)
{
	const char *config = NULL;
	const struct option_spec specs[] = {
	    {"--config", OPTION_TEXT, &config, 0, 0},
	    OPTION_END,
	};
	char *path;

	if (!command_options(specs, argc, argv, 0))
		return EXIT_USAGE;
	path = program_own("agentgraph-fcgi");
	if (!path)
		return 1;
	execl(path, path, "--routes", config ? "--config" : (char *)NULL, config, (char *)NULL);
	complain(1, "cannot run %s: %s", path, strerror(errno));
	free(path);
	return 1;
}
