/* Asking the service for /ping until it answers. */
#ifndef AGENTGRAPH_CLI_PROBE_H
#define AGENTGRAPH_CLI_PROBE_H

#include <sys/types.h>

/*
 * Starts a child that asks several times a second, through nginx when tcp is a listening socket,
 * else straight at the FastCGI socket.  It ends with 0 at the first answer with status 200, with 1
 * when there was none for a minute.  -1 with errno when there can be no child.
 */
pid_t probe_start(int tcp, const char *socket_path);

#endif
