/* SPDX-License-Identifier: ISC */
/*
 * One connection, from READY to the end of the input: records in, records out.
 *
 * The rules (agentgraph-record(7)): the input is always read; a run goes on when its client is
 * gone, and BYE is sent when its result is stored; after the last record the input is read to its
 * end.
 */
#ifndef AGENTGRAPH_WS_BRIDGE_WS_SESSION_H
#define AGENTGRAPH_WS_BRIDGE_WS_SESSION_H

#include "access/ticket/ticket.h"
#include "service/service.h"

#include <stdbool.h>

struct session_setup {
	const struct ticket *ticket;
	int signals; /* a signalfd, or -1: SIGINT, SIGTERM or SIGHUP there let the run in hand end,
			and nothing begins any more */
	bool joins;  /* a relay reads the records, and knows several on one line */
};

/* Serves the turn socket on standard input and output. */
void session_run(struct service *service, const struct session_setup *setup);

/* Serves the live socket, from READY to the end of the input.  False when a tool of the graph does
 * not end: then the service must be left alone, and the process end. */
bool ws_live_run(struct service *service, const struct session_setup *setup);

#endif
