/* SPDX-License-Identifier: ISC */
/* Who waits for a piece of work, so that long work can end when nobody does any more. */
#ifndef AGENTGRAPH_BASE_OS_WAITER_H
#define AGENTGRAPH_BASE_OS_WAITER_H

#include <stdbool.h>

struct waiter {
	/* Whether nobody waits any more; cheap enough to be asked thousands of times a second, by
	 * the thread that does the work. */
	bool (*gone)(void *arg);
	void *arg;
};

#endif
