/* SPDX-License-Identifier: ISC */
/* search, offset and limit of the listings (doc/protocol-threads.md#listing). */
#ifndef AGENTGRAPH_SERVICE_THREAD_PAGE_H
#define AGENTGRAPH_SERVICE_THREAD_PAGE_H

#include "service/thread/threads.h"

/* Reads a query; false with every mistake in call->error.  A larger limit counts as the largest. */
bool page_read(struct call *call, const struct list_query *query, struct page *page);

#endif
