/* SPDX-License-Identifier: ISC */
/* Earlier states of a thread: listing, reading, going back and copying (doc/protocol-history.md).
 * thread_id and checkpoint_id come percent-decoded from the path. */
#ifndef AGENTGRAPH_SERVICE_HISTORY_HISTORY_H
#define AGENTGRAPH_SERVICE_HISTORY_HISTORY_H

#include "service/service.h"
#include "service/thread/feed.h"

#include <stdio.h>

/* Query parameters as they came, percent-decoded; NULL when absent. */
struct history_query {
	const char *limit;
	const char *before; /* a checkpoint's id */
	const char *run_id;
};

/* Each returns the data of its route.  What is wrong with the query's form may be in call->error
 * already; the list adds what is wrong with its values. */
cJSON *history_list(struct call *call, const char *thread_id, const struct history_query *query);
cJSON *history_read(struct call *call, const char *thread_id, const char *checkpoint_id);
cJSON *history_rewind(struct call *call, const char *thread_id, const cJSON *body);
cJSON *history_copy(struct call *call, const char *thread_id, const cJSON *body);

/*
 * Appends the lines of a thread to part (lines.h).  Whenever part has some hundred kilobytes, send
 * is called and part emptied; the last part is left to the caller.  False when send has stopped it,
 * or with call->error set.
 */
bool history_export(
    struct call *call, const char *thread_id, struct buf *part, feed_fn send, void *arg);

/* Makes a thread from lines (lines_open explains trusted), under the wanted id (NULL: the id in the
 * lines).  The thread belongs to the caller.  Returns the data of GET thread. */
cJSON *history_import(struct call *call, FILE *lines, const char *wanted, bool trusted);

#endif
