/* The messages that version 2 of threads.db had, on their way to where version 3 has them. */
#ifndef AGENTGRAPH_STORAGE_MOVE_H
#define AGENTGRAPH_STORAGE_MOVE_H

#include "storage/db.h"

/*
 * Moves what is left in the old table.  It copies every message, so it takes time, and room on the
 * disk for as much as they are; the log tells its beginning and its end.  db is the one that was
 * opened for writing, before anybody else uses it.  A process that dies in the middle leaves the
 * rest to the next.
 */
bool messages_move(struct db *db, struct error *err);

#endif
