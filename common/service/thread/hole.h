/* SPDX-License-Identifier: ISC */
/*
 * Lists of messages that are written to the client as they are read.
 *
 * A thread may hold more than a process should have in memory for each of its readers, so where an
 * answer has a context or a page of messages, its tree has only a mark.  Who prints the tree puts
 * in what hole_fill gives, piece by piece.  An answer has at most one.
 */
#ifndef AGENTGRAPH_SERVICE_THREAD_HOLE_H
#define AGENTGRAPH_SERVICE_THREAD_HOLE_H

#include "base/buf.h"
#include "service/service.h"

/* Stands in the printed tree where the list's items belong; no JSON has it. */
#define HOLE_MARK '\x01'

/* The context as it is now, and a page of the list: the member that has the mark, a new tree.  NULL
 * with the error set. */
cJSON *hole_context(struct call *call, int64_t thread_row);
cJSON *hole_messages(struct call *call, int64_t thread_row, const struct page *page);

/* Appends the next messages to out, with commas between them: some hundred kilobytes, or one that
 * is larger.  *more becomes false when there are none left.  False with call->error set. */
bool hole_fill(struct call *call, struct buf *out, bool *more);

#endif
