/* SPDX-License-Identifier: ISC */
/* agentgraph routes: becomes a worker, which has the table and prints it. */
#include "cli/command.h"
#include "cli/programs.h"
#include "config/environment/dotenv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cmd_routes(int argc, char **argv)
{
	const char *config = NULL, *environment = NULL;
	const struct option_spec specs[] = {
	    {"--config", OPTION_TEXT, &config, 0, 0},
	    {"--environment", OPTION_TEXT, &environment, 0, 0},
	    OPTION_END,
	};
	struct problems problems = {0};
	char *path;
	if (!command_options(specs, argc, argv, 0))
		return EXIT_USAGE;
	if (environment)
		env_file_load(environment, &problems);
	problems_print_errors(&problems, COMMAND_MISTAKE);
	bool wrong = problems.errors;
	problems_release(&problems);
	if (wrong)
		return 1;
	path = program_own("agentgraph-fcgi");
	if (!path)
		return 1;
	execl(path, path, "--routes", config ? "--config" : (char *)NULL, config, (char *)NULL);
	complain(1, "cannot run %s: %s", path, strerror(errno));
	free(path);
	return 1;
}
