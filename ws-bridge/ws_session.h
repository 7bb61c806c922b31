/*
 * One connection, from READY to the end of the input: records in, records out.
 *
 * The rules (agentgraph-record(7)): the input is always read; a run goes on when its client is
 * gone, and BYE is sent when its result is stored; after the last record the input is read to its
 * end.
 */
#ifndef AGENTGRAPH_WS_BRIDGE_WS_SESSION_H
#define AGENTGRAPH_WS_BRIDGE_WS_SESSION_H

#include "access/ticket.h"
#include "service/service.h"

/* Serves the ticket's route on standard input and output.  signals is a signalfd, or -1: SIGINT,
 * SIGTERM or SIGHUP there let the run in hand end, and nothing begins any more. */
void session_run(struct service *service, const struct ticket *ticket, int signals);

#endif
