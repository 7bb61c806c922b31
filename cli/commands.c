/* SPDX-License-Identifier: ISC */
/* The table of the commands. */
#include "command.h"

#include <string.h>

#define WHERE "[--config FILE] [--state DIR]"
#define SERVICE WHERE " [--environment FILE]"
#define SERVE_OPTIONS                                                                          \
	WHERE " [--listen [HOST:]PORT] [--processes N] [--threads T]\n"                        \
	      "    [--socket PATH] [--socket-mode MODE] [--socket-group GROUP] [--no-nginx]\n" \
	      "    [--drain SECONDS]"

#define CHECK_OPTIONS                                                 \
	SERVICE " [--socket PATH] [--prefix PATH] [--snippet FILE]\n" \
		"    [--nginx-conf FILE | -] [--web-user NAME]"

const struct command commands[] = {
    {"serve", SERVE_OPTIONS, "run the service in the foreground", cmd_serve},
    {"check", CHECK_OPTIONS, "test configuration, environment, graph, databases and web server",
	cmd_check},
    {"init", "DIR [TEMPLATE] | --list | --from FILE [DIR]",
	"make a project to start from, or one of another service's configuration", cmd_init},
    {"nginx-conf", SERVICE " [--socket PATH] [--prefix PATH | --full]",
	"print the nginx snippet for an existing server block", cmd_nginx_conf},
    {"chat", "[URL] [--thread ID]", "talk to a service on the terminal", cmd_chat},
    {"status", WHERE " [--json]", "say whether the service is up, and how it goes", cmd_status},
    {"routes", "[--config FILE]", "print the route table with permissions", cmd_routes},
    {"backup", "DIR " SERVICE, "copy all databases, also while the service runs", cmd_backup},
    {"restore", "DIR [--files DIR] [--force] " SERVICE,
	"put the databases of a backup back, while no service runs", cmd_restore},
    {"embed", SERVICE " [--show]", "make the vectors of memories anew, after a change of model",
	cmd_embed},
    {"version", "", "print the version", cmd_version},
    {"help", "[COMMAND]", "print this help, or that of one command", cmd_help},
    {NULL, NULL, NULL, NULL},
};

const struct command *command_find(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}
