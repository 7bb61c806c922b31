/* SPDX-License-Identifier: ISC */
/*
 * The values of a thread (doc/protocol-langgraph.md#values), which are its messages and the graph's
 * fields, and answers that have values.
 *
 * A thread may hold more than a process should have in memory for each of its readers, so messages
 * are read while the answer is sent, a part at a time (feed.h).
 */
#ifndef AGENTGRAPH_SERVICE_LANGGRAPH_LG_VALUES_H
#define AGENTGRAPH_SERVICE_LANGGRAPH_LG_VALUES_H

#include "service/service.h"
#include "service/thread/feed.h"

/* Where parts go: whenever part is full, send is called and part emptied. */
struct lg_out {
	struct call *call;
	struct buf *part;
	feed_fn send;
	void *arg;
};

/* Appends the messages of a view, without brackets: all of them, or up to the one with the id last.
 * False when send has stopped it, or with the call's error set. */
bool lg_messages_put(
    struct lg_out *out, int64_t thread_row, const struct thread_view *view, const char *last);

/* What the thread asks (doc/protocol-langgraph.md#interrupts), a new array; empty where it asks
 * nothing, as at a pause before or behind a node. */
cJSON *lg_interrupts(const struct thread *thread);

/* The same for an object that has interrupt and, where there are several, interrupts. */
cJSON *lg_interrupts_of(const cJSON *holder);

/* What a run that failed answers instead of values; in the arena. */
cJSON *lg_failure(struct call *call, const struct error_view *view);

/* An object that has values, or only the values. */
struct lg_item {
	cJSON *head;          /* the object without values, in the arena; NULL: only the values */
	struct thread thread; /* the thread, as it is or was; row 0: it has no messages */
	const char *last; /* id of the message that the values end with; NULL: the view's last */
	bool whole;       /* values are to be put in */
	cJSON *more;      /* members of values beside messages and fields, in the arena, or NULL */
};

/* Makes the items at one place of a list, in the arena of call, which is released behind them.
 * Returns how many, or -1 with the error set. */
#define LG_PLACE_ITEMS 2
typedef int (*lg_make_fn)(
    struct call *call, void *list, size_t place, struct lg_item items[LG_PLACE_ITEMS]);

/* One item, or a list of them, which are made one by one while the answer is sent: a state may be
 * large, and a list may have a thousand. */
struct lg_reply {
	struct lg_item *item;
	lg_make_fn make; /* NULL: there is only item */
	void *list;      /* in the call's arena */
	size_t places;   /* places of the list */
};

/* Appends a reply (struct lg_reply), as lines_fn does. */
bool lg_reply_put(struct call *call, const void *reply, struct buf *part, feed_fn send, void *arg);

#endif
