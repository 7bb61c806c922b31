/* SPDX-License-Identifier: ISC */
/* agentgraph nginx-conf: the nginx configuration on standard output. */
#include "cli/command.h"
#include "cli/nginx/nginx_conf.h"
#include "cli/nginx/nginx_prefix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FULL_LISTEN "127.0.0.1:8080"

/* The prefix in the snippet, with a warning if the environment says another one. */
static const char *cmd_nginx_conf_prefix_of(
    const struct config *config, const char *chosen, struct problems *problems)
{
	const char *prefix = chosen ? chosen : config->env.root_path;
	size_t len = strlen(prefix);
	len -= len && prefix[len - 1] == '/';
	if (len &&
	    (strlen(config->env.root_path) != len ||
		memcmp(config->env.root_path, prefix, len) != 0))
		problems_warn(problems,
		    "ROOT_PATH is \"%s\" and the prefix %s; set ROOT_PATH=%.*s, or the links of the "
		    "API reference lead elsewhere",
		    config->env.root_path, prefix, (int)len, prefix);
	return prefix;
}

int cmd_nginx_conf(int argc, char **argv)
{
	struct config_source source = {0};
	const char *socket = NULL, *prefix = NULL;
	bool full = false;
	const struct option_spec specs[] = {
	    COMMAND_SOURCE(source),
	    {"--socket", OPTION_TEXT, &socket, 0, 0},
	    {"--prefix", OPTION_TEXT, &prefix, 0, 0},
	    {"--full", OPTION_FLAG, &full, 0, 0},
	    OPTION_END,
	};
	struct problems problems = {0};
	struct config *config;
	char *text = NULL;
	if (!command_options(specs, argc, argv, 0))
		return EXIT_USAGE;
	if (prefix && !nginx_prefix_option(prefix))
		return EXIT_USAGE;
	if (full && prefix)
		return complain(EXIT_USAGE, "--full and --prefix exclude each other");
	config = config_load(&source, &problems);
	if (config) {
		/* a private nginx has the root for itself */
		const struct nginx_place place = {.socket = socket,
		    .listen = full ? FULL_LISTEN : NULL,
		    .prefix = full ? NULL : cmd_nginx_conf_prefix_of(config, prefix, &problems),
		    .drain = (long)config->env.drain};
		text = nginx_conf(config, &place, &problems);
	}
	problems_print(&problems);
	if (text)
		fputs(text, stdout);
	free(text);
	config_free(config);
	problems_release(&problems);
	return text ? 0 : 1;
}
