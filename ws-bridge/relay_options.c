#include "relay_options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define EXIT_USAGE 2
#define LONGEST 86400 /* seconds */

static const char usage[] =
    "usage: " RELAY_PROGRAM " --websocketd HOST:PORT [OPTION]...\n"
    "Carries WebSockets between the web server and the helpers that websocketd starts.\n"
    "`agentgraph serve` starts it.\n"
    "\n"
    "  --websocketd HOST:PORT  where websocketd listens\n"
    "  --socket PATH           listen there (default: descriptor 0 is the listening socket)\n"
    "  --config FILE           configuration (default $GRAPH_PATH, else ./agentgraph.json)\n"
    "  --state DIR             state directory (default $AGENTGRAPH_STATE_DIR, else ./.agentgraph)\n"
    "  --ping SECONDS          of silence before a client gets a ping (default 25)\n"
    "  --stall SECONDS         a client may take nothing of what waits for it (default 30)\n"
    "  --slow-bytes N          may wait for a client before its helper must (default 1048576)\n"
    "  --linger MS             a client may take to close its end (default 3000)\n"
    "  --bye SECONDS           a helper may take for its last word (default\n"
    "                          REALTIME_DRAIN_TIMEOUT and 5 more)\n"
    "  --unlink PATH           remove this socket when the parent process has died\n"
    "  --help, --version\n";

static void wrong(const char *what)
{
	fprintf(stderr, RELAY_PROGRAM ": %s\n", what);
	exit(EXIT_USAGE);
}

static long number(const char *name, long min, long max)
{
	char *end;
	errno = 0;
	long value = strtol(optarg, &end, 10);
	if (!*optarg || *end || errno || value < min || value > max) {
		fprintf(stderr, RELAY_PROGRAM ": --%s must be a number from %ld to %ld\n", name,
		    min, max);
		exit(EXIT_USAGE);
	}
	return value;
}

static void take(struct relay_options *options, int option)
{
	switch (option) {
	case 'w':
		options->websocketd = optarg;
		break;
	case 'o':
		options->socket = optarg;
		break;
	case 'c':
		options->source.file = optarg;
		break;
	case 's':
		options->source.state_dir = optarg;
		break;
	case 'u':
		options->unlink = optarg;
		break;
	case 'p':
		options->ping = number("ping", 1, LONGEST);
		break;
	case 't':
		options->stall = number("stall", 1, LONGEST);
		break;
	case 'b':
		options->bye = number("bye", 0, LONGEST);
		break;
	case 'y':
		options->slow_bytes = number("slow-bytes", 1, LONG_MAX);
		break;
	case 'l':
		options->linger_ms = number("linger", 0, LONGEST * 1000L);
		break;
	case 'h':
		fputs(usage, stdout);
		exit(EXIT_SUCCESS);
	case 'v':
		puts(RELAY_PROGRAM " " AGENTGRAPH_VERSION);
		exit(EXIT_SUCCESS);
	default:
		wrong("--help lists the options");
	}
}

void relay_options_parse(struct relay_options *options, int argc, char **argv)
{
	static const struct option names[] = {{"websocketd", required_argument, NULL, 'w'},
	    {"socket", required_argument, NULL, 'o'}, {"config", required_argument, NULL, 'c'},
	    {"state", required_argument, NULL, 's'}, {"unlink", required_argument, NULL, 'u'},
	    {"ping", required_argument, NULL, 'p'}, {"stall", required_argument, NULL, 't'},
	    {"bye", required_argument, NULL, 'b'}, {"slow-bytes", required_argument, NULL, 'y'},
	    {"linger", required_argument, NULL, 'l'}, {"help", no_argument, NULL, 'h'},
	    {"version", no_argument, NULL, 'v'}, {NULL, 0, NULL, 0}};
	int option;
	*options = (struct relay_options){
	    .ping = 25, .stall = 30, .bye = -1, .slow_bytes = 1 << 20, .linger_ms = 3000};
	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1)
		take(options, option);
	if (optind < argc)
		wrong("takes options only; --help lists them");
	if (!options->websocketd)
		wrong("--websocketd HOST:PORT is missing");
}
