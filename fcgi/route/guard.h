/* SPDX-License-Identifier: ISC */
/* The boot-time guard (doc/protocol-access.md#public-routes): no route is open by mistake. */
#ifndef AGENTGRAPH_FCGI_ROUTE_GUARD_H
#define AGENTGRAPH_FCGI_ROUTE_GUARD_H

#include "base/problems.h"
#include "fcgi/route/route.h"

#include <stdbool.h>

/* Adds one problem that names every row without resource and action which is not on the allowlist
 * of public paths.  True when there is none. */
bool guard_check(const struct route_table *table, struct problems *problems);

#endif
