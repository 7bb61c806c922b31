/* The command line of agentgraph-relay. */
#ifndef AGENTGRAPH_WS_BRIDGE_RELAY_OPTIONS_H
#define AGENTGRAPH_WS_BRIDGE_RELAY_OPTIONS_H

#include "config/config.h"

#define RELAY_PROGRAM "agentgraph-relay"

struct relay_options {
	struct config_source source;
	const char *socket;     /* NULL: descriptor 0 is the listening socket */
	const char *unlink;     /* remove this when the parent process has died */
	const char *websocketd; /* HOST:PORT */
	long ping, stall, bye;  /* seconds; bye is -1 when it was not given */
	long slow_bytes, linger_ms;
};

/* Options that answer by themselves, and wrong ones, end the process. */
void relay_options_parse(struct relay_options *options, int argc, char **argv);

#endif
