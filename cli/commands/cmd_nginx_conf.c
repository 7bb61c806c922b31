/* SPDX-License-Identifier: ISC */
/* agentgraph nginx-conf: the nginx configuration on standard output. */
#include "cli/command.h"
#include "cli/nginx/nginx_conf.h"
#include "cli/nginx/nginx_prefix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FULL_LISTEN "127.0.0.1:8080"

struct wish {
	const char *socket, *prefix;
	bool full;
};

/* The prefix in the snippet; NULL for a private nginx, which has the root for itself. */
static const char *prefix_of(
    const struct config *config, const struct wish *wish, struct problems *problems)
{
	const char *prefix = wish->prefix ? wish->prefix : config->env.root_path;
	size_t len = strlen(prefix);

	if (wish->full)
		return NULL;
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
	struct wish wish = {0};
	const struct option_spec specs[] = {
	    COMMAND_SOURCE(source),
	    {"--socket", OPTION_TEXT, &wish.socket, 0, 0},
	    {"--prefix", OPTION_TEXT, &wish.prefix, 0, 0},
	    {"--full", OPTION_FLAG, &wish.full, 0, 0},
	    OPTION_END,
	};
	struct problems problems = {0};
	struct config *config;
	char *text = NULL;

	if (!command_options(specs, argc, argv, 0))
		return EXIT_USAGE;
	if (wish.prefix && !nginx_prefix_option(wish.prefix))
		return EXIT_USAGE;
	if (wish.full && wish.prefix)
		return complain(EXIT_USAGE, "--full and --prefix exclude each other");
	config = config_load(&source, &problems);
	if (config) {
		const struct nginx_place place = {.socket = wish.socket,
		    .listen = wish.full ? FULL_LISTEN : NULL,
		    .prefix = prefix_of(config, &wish, &problems),
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
