/* SPDX-License-Identifier: ISC */
/* Rows of queries that have the columns of thread_get. */
#ifndef AGENTGRAPH_STORAGE_SQL_THREAD_THREAD_ROW_H
#define AGENTGRAPH_STORAGE_SQL_THREAD_THREAD_ROW_H

#include "base/arena.h"
#include "storage/sql/db/db.h"
#include "storage/threads.h"

/* Reads the columns that every query on threads begins with.  The texts live as long as the row. */
void thread_row_read(struct query *q, struct thread *t);

/* Reads all columns of thread_get, with texts copied into the arena. */
void thread_row_copy(struct query *q, struct arena *a, struct thread *t);

#endif
