/* SPDX-License-Identifier: ISC */
/* agentgraph check: what a start would look at, and the web server; nothing is started. */
#include "cli/command.h"
#include "cli/examine/examine.h"
#include "cli/nginx/nginx_file.h"
#include "cli/nginx/nginx_prefix.h"

#include <stdlib.h>
#include <string.h>

#define ANY_ADDRESS "127.0.0.1:8080" /* so that the private nginx's part is looked at too */

int cmd_check(int argc, char **argv)
{
	struct web_place place = {0};
	struct examine_request request = {.listen = ANY_ADDRESS, .drain = -1, .place = &place};
	const struct option_spec specs[] = {
	    COMMAND_SOURCE(request.source),
	    {"--socket", OPTION_TEXT, &place.socket, 0, 0},
	    {"--prefix", OPTION_TEXT, &place.prefix, 0, 0},
	    {"--snippet", OPTION_TEXT, &place.snippet, 0, 0},
	    {"--nginx-conf", OPTION_TEXT, &place.nginx_conf, 0, 0},
	    {"--web-user", OPTION_TEXT, &place.user, 0, 0},
	    OPTION_END,
	};
	struct examination result;
	struct buf text = {0};
	int status;
	if (!command_options(specs, argc, argv, 0) ||
	    (place.prefix && !nginx_prefix_option(place.prefix)))
		return EXIT_USAGE;
	if (place.nginx_conf && strcmp(place.nginx_conf, "-") == 0) {
		nginx_file_text("-", &text);
		place.nginx_text = buf_str(&text);
	}
	if (examine(&request, &result))
		status = complain(0, "configuration %s is ok", result.file);
	else
		status = complain(1, "configuration %s test failed: %lld error%s",
		    result.file ? result.file : "?", result.errors, result.errors == 1 ? "" : "s");
	examination_release(&result);
	buf_release(&text);
	return status;
}
