/* Asking the service for /ping until it answers. */
#ifndef AGENTGRAPH_CLI_PROBE_H
#define AGENTGRAPH_CLI_PROBE_H

#include <sys/types.h>

struct probe {
	int tcp; /* nginx's listening socket; -1: asks straight at the FastCGI socket */
	const char *socket_path;
	int websocketd; /* its reserved port */
};

/*
 * Starts a child that asks several times a second.  It ends with 0 at the first answer with status
 * 200, if websocketd listens by then; with 1 when there was none for a minute.  -1 with errno when
 * there can be no child.
 */
pid_t probe_start(const struct probe *probe);

#endif
