/* SPDX-License-Identifier: ISC */
/*
 * The routes as one configuration has them.
 *
 * Most rows of the table stand as they are.  Those of the pages begin with the name of a setting,
 * "<DOCS_PATH>", in whose place its value comes; and rows of what is switched off go.
 */
#ifndef AGENTGRAPH_FCGI_ROUTE_MOUNT_H
#define AGENTGRAPH_FCGI_ROUTE_MOUNT_H

#include "base/arena.h"
#include "base/problems.h"
#include "config/config.h"
#include "fcgi/route/route.h"

/* The table of that configuration, in the arena.  A page at the path of another route is a
 * problem. */
const struct route_table *routes_mount(const struct route_table *table, const struct config *config,
    struct arena *arena, struct problems *problems);

/* The row of table that the mounted one was made from.  A page's path is "<DOCS_PATH>" there, and
 * the row's index does not depend on the configuration.  NULL for a row of another table. */
const struct route *route_written(const struct route_table *table, const struct route *mounted);

#endif
