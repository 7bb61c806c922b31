/* SPDX-License-Identifier: ISC */
/*
 * Messages that go to the client as they are read.
 *
 * A thread may hold more than a process should keep in memory for each of its readers.  So where an
 * answer, or a chunk, has a context or a page of messages, its tree has only a mark, and the call
 * has the feed that belongs there.  The printed tree is then passed to feed_put.  All marks of one
 * text stand for the same list.
 */
#ifndef AGENTGRAPH_SERVICE_THREAD_FEED_H
#define AGENTGRAPH_SERVICE_THREAD_FEED_H

#include "base/buf.h"
#include "service/service.h"

/* Stands in the printed tree where the list's items belong; no JSON has it. */
#define FEED_MARK '\x01'

/* Makes the context that a thread shows (view NULL: now), or a page of its list, the feed of the
 * call.  Returns a new tree with the mark, to be put into the answer; NULL with the error set. */
cJSON *feed_context(struct call *call, int64_t thread_row, const struct thread_view *view);
cJSON *feed_messages(
    struct call *call, int64_t thread_row, const struct thread_view *view, const struct page *page);

/* The same for the whole list in that view, beside such a context. */
cJSON *feed_beside(struct call *call, int64_t thread_row, const struct thread_view *view);

/* Sends a part, which is not the last one; false when nobody is there to read the next. */
typedef bool (*feed_fn)(void *arg, struct buf *part);

/*
 * Appends text to part, with the messages in place of its marks.  Whenever part has some hundred
 * kilobytes, or a larger message, send is called and part emptied; the last part is left to the
 * caller.  False when send has stopped it, or with call->error set.
 */
bool feed_put(struct call *call, const char *text, struct buf *part, feed_fn send, void *arg);

#endif
