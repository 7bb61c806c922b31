/* SPDX-License-Identifier: ISC */
/* The container that the configuration names as `injectq`: parts that stand in for built-in ones.
 */
#ifndef AGENTGRAPH_ACCESS_CONTAINER_H
#define AGENTGRAPH_ACCESS_CONTAINER_H

#include "agentgraph.h"
#include "base/problems.h"
#include "config/config.h"
#include "config/plugin.h"

#include <stdbool.h>

/* All-zero has nothing in it. */
struct container {
	struct plugin plugin;
	const struct ag_container *parts; /* NULL: none was configured */
	void *data;                       /* its own */
};

/* Loads and opens it, where one is configured.  False with a problem added and nothing to close. */
bool container_open(
    struct container *container, const struct config *config, struct problems *problems);
void container_close(struct container *container);

#endif
