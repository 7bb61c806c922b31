/* SPDX-License-Identifier: ISC */
/* Chunks that are kept of a thread's runs, and go with what is deleted from the thread
 * (doc/protocol-runs.md#streams-that-can-be-taken-up-again): before it goes, so that nothing of it
 * is left when somebody dies in between. */
#ifndef AGENTGRAPH_SERVICE_THREAD_FORGET_H
#define AGENTGRAPH_SERVICE_THREAD_FORGET_H

#include "service/service.h"

/* Of messages: all their pieces and the whole ones.  False with the error set. */
bool forget_messages(struct call *call, int64_t thread_row, const char *const *ids, size_t count);

/* Those that show a state, where no history keeps it.  False with the error set. */
bool forget_states(struct call *call, int64_t thread_row);

#endif
