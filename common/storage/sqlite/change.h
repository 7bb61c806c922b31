/* SPDX-License-Identifier: ISC */
/* What a thread_write does to the database. */
#ifndef AGENTGRAPH_STORAGE_SQLITE_CHANGE_H
#define AGENTGRAPH_STORAGE_SQLITE_CHANGE_H

#include "storage/sqlite/writer.h"
#include "storage/storage.h"

/*
 * One thread_write, or two to the same thread in one transaction.  The second replaces the columns
 * of the first anyway, so the thread's row is written once: identity from the first, the rest from
 * the last.
 */
struct change {
	struct unit unit;
	struct thread_write *writes[2];
	int count;
	int64_t max_bytes; /* what the thread may hold; 0: no limit */
	int64_t row;       /* result: the thread's row */
};

/* second may be NULL. */
void change_init(
    struct change *c, int64_t max_bytes, struct thread_write *first, struct thread_write *second);

/* After the unit was executed: tells the writes' threads their row.  Returns ok. */
bool change_finish(struct change *c, bool ok);

#endif
