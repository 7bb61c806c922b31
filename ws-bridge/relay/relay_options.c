/* SPDX-License-Identifier: ISC */
/* The table of the relay's options, its usage, and the check of websocketd's address. */
#include "ws-bridge/relay/relay.h"

#include "base/options.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 86400 /* seconds */

static char usage[] =
    "usage: " RELAY_PROGRAM " --websocketd HOST:PORT [OPTION]...\n"
    "Carries WebSockets between the web server and the helpers that websocketd starts.\n"
    "`agentgraph serve` starts it.\n"
    "\n"
    "  --websocketd HOST:PORT  where websocketd listens\n"
    "  --socket PATH           listen there (default: descriptor 0 is the listening socket)\n"
    "  --config FILE           configuration (default $GRAPH_PATH, else ./agentgraph.json)\n"
    "  --state DIR             state directory (default $AGENTGRAPH_STATE_DIR, else ./.agentgraph)\n"
    "  --accepted FILE         use these text files, as accepted by `agentgraph serve`\n"
    "  --ping SECONDS          ping a client after so long a silence (default 25)\n"
    "  --stall SECONDS         close a client that leaves data unread for so long (default 30)\n"
    "  --slow-bytes N          pause a helper while so many bytes wait (default 1048576)\n"
    "  --linger MS             time for a client to close its end (default 3000)\n"
    "  --bye SECONDS           time for the last record of a helper (default\n"
    "                          REALTIME_DRAIN_TIMEOUT plus 5)\n"
    "  --unlink PATH           remove this socket if the parent process dies\n"
    "  --help, --version\n";

static char version_text[] = RELAY_PROGRAM " " AGENTGRAPH_VERSION "\n";

void relay_options_parse(struct relay_options *options, int argc, char **argv)
{
	const struct option_spec specs[] = {
	    {"--websocketd", OPTION_TEXT, &options->websocketd, 0, 0},
	    {"--socket", OPTION_TEXT, &options->socket, 0, 0},
	    {"--config", OPTION_TEXT, &options->source.file, 0, 0},
	    {"--state", OPTION_TEXT, &options->source.state_dir, 0, 0},
	    {"--accepted", OPTION_TEXT, &options->source.accepted, 0, 0},
	    {"--ping", OPTION_NUMBER, &options->ping, 1, LONGEST},
	    {"--stall", OPTION_NUMBER, &options->stall, 1, LONGEST},
	    {"--slow-bytes", OPTION_NUMBER, &options->slow_bytes, 1, LONG_MAX},
	    {"--linger", OPTION_NUMBER, &options->linger_ms, 0, LONGEST * 1000L},
	    {"--bye", OPTION_NUMBER, &options->bye, 0, LONGEST},
	    {"--unlink", OPTION_TEXT, &options->unlink, 0, 0},
	    {"--help", OPTION_ANSWER, usage, 0, 0},
	    {"--version", OPTION_ANSWER, version_text, 0, 0},
	    OPTION_END,
	};
	*options = (struct relay_options){
	    .ping = 25, .stall = 30, .bye = -1, .slow_bytes = 1 << 20, .linger_ms = 3000};
	options_take(RELAY_PROGRAM, specs, argc, argv);
	/* "127.0.0.1:9000", "[::1]:9000" or a name */
	const char *colon = options->websocketd ? strrchr(options->websocketd, ':') : NULL;
	const char *port = colon ? colon + 1 : "";
	size_t digits = strspn(port, "0123456789");

	if (digits && digits < 6 && !port[digits] && colon > options->websocketd &&
	    atoi(port) <= UINT16_MAX)
		return;
	if (options->websocketd)
		fprintf(stderr,
		    RELAY_PROGRAM ": --websocketd must be HOST:PORT with a port up to 65535, "
				  "not \"%s\"\n",
		    options->websocketd);
	else
		fputs(RELAY_PROGRAM ": --websocketd HOST:PORT is missing\n", stderr);
	exit(EXIT_USAGE);
}
