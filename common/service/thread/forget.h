/* SPDX-License-Identifier: ISC */
/* Removing kept chunks of a thread's runs that show what is deleted from the thread
 * (doc/protocol-runs.md#resumable-streams).  The chunks are removed first, so that
 * nothing is left if the process dies in between. */
#ifndef AGENTGRAPH_SERVICE_THREAD_FORGET_H
#define AGENTGRAPH_SERVICE_THREAD_FORGET_H

#include "service/service.h"

/* Removes the chunks of these messages, pieces and whole ones.  False with the error set. */
bool forget_messages(struct call *call, int64_t thread_row, const char *const *ids, size_t count);

/* Those that show a state, where no history keeps it.  False with the error set. */
bool forget_states(struct call *call, int64_t thread_row);

#endif
