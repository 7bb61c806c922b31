/* Messages with tool calls that nothing answers (doc/protocol-threads.md#repair). */
#ifndef AGENTGRAPH_SERVICE_ORPHANS_H
#define AGENTGRAPH_SERVICE_ORPHANS_H

#include "base/arena.h"

/*
 * Ids of the messages that a repair removes from messages (a thread's, in output form and order):
 * assistant messages one of whose calls has no result in a later message, and the tool messages
 * that answered their other calls.  An array of strings, tied to the arena.  Takes time in
 * proportion to the messages, however calls and results depend on each other.
 */
cJSON *orphans_find(struct arena *arena, const cJSON *messages);

#endif
