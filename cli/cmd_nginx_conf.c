#include "base/memory.h"
#include "command.h"
#include "examine.h"
#include "nginx_conf.h"
#include "options.h"

#include <stdio.h>
#include <stdlib.h>

#define FULL_LISTEN "127.0.0.1:8080"
#define FULL_DRAIN 30

/* The text for config, or NULL with problems. */
static char *make(
    const struct config *config, const char *socket, bool full, struct problems *problems)
{
	char *path = examine_socket_path(config->state_dir, socket);
	char *relay = examine_relay_path(config->state_dir, socket);
	char *run = xasprintf("%s/run", config->state_dir);
	const struct nginx_place place = {path, relay, full ? FULL_LISTEN : NULL, run, FULL_DRAIN};
	char *text = nginx_conf(config, &place, problems);

	free(path);
	free(relay);
	free(run);
	return text;
}

int cmd_nginx_conf(int argc, char **argv)
{
	struct config_source source = {0};
	const char *socket = NULL;
	bool full = false;
	const struct option_spec specs[] = {
	    {"--config", OPTION_TEXT, &source.file, 0, 0},
	    {"--state", OPTION_TEXT, &source.state_dir, 0, 0},
	    {"--socket", OPTION_TEXT, &socket, 0, 0},
	    {"--full", OPTION_FLAG, &full, 0, 0},
	    {NULL, OPTION_FLAG, NULL, 0, 0},
	};
	struct problems problems = {0};
	struct config *config;
	char *text;
	int operands;

	if (!options_parse(specs, argc, argv, 0, &operands))
		return EXIT_USAGE;
	config = config_load(&source, &problems);
	text = config ? make(config, socket, full, &problems) : NULL;
	problems_print(&problems);
	if (text)
		fputs(text, stdout);
	free(text);
	config_free(config);
	problems_release(&problems);
	return text ? 0 : 1;
}
