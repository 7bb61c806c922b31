/* SPDX-License-Identifier: ISC */
/*
 * Retention: deletes what nobody has touched for as many days as the configuration says (threads
 * that were not changed, files that were not used), and kept chunks whose time is over.
 *
 * One of the processes over a state directory does it, once an hour, in small steps that let
 * everybody else in.
 */
#ifndef AGENTGRAPH_SERVICE_RETENTION_H
#define AGENTGRAPH_SERVICE_RETENTION_H

#include "service/service.h"

struct retention;

/* NULL with err set where it cannot be begun. */
struct retention *retention_new(struct service *service, struct error *err);
void retention_free(struct retention *retention); /* NULL is fine; waits for the step in hand */

#endif
