/* SPDX-License-Identifier: ISC */
/*
 * The values of a thread (doc/protocol-langgraph.md#values): its messages and the fields of the
 * graph, and answers that have them.
 *
 * A thread may hold more than a process should have in memory for each of its readers, so messages
 * are read while the answer is sent, a part at a time (feed.h).
 */
#ifndef AGENTGRAPH_SERVICE_LANGGRAPH_LG_VALUES_H
#define AGENTGRAPH_SERVICE_LANGGRAPH_LG_VALUES_H

#include "service/service.h"
#include "service/thread/feed.h"

/* Where parts go: what is in part when send was called last is gone. */
struct lg_out {
	struct call *call;
	struct buf *part;
	feed_fn send;
	void *arg;
};

/* Appends the messages of a view, without brackets; last NULL: all of them, else up to the one of
 * that id.  False when it was stopped: by send, or with the call's error set. */
bool lg_messages_put(
    struct lg_out *out, int64_t thread_row, const struct thread_view *view, const char *last);

/* What is asked (doc/protocol-langgraph.md#interrupts), a new array, empty where nothing is, also
 * at a pause before or behind a node. */
cJSON *lg_interrupts(const struct thread *thread);

/* The same of an object that has interrupt and, where there are several, interrupts. */
cJSON *lg_interrupts_of(const cJSON *holder);

/* An object that has values, or the values alone. */
struct lg_item {
	cJSON *head;          /* all but values, in the arena; NULL: the values alone */
	struct thread thread; /* whose they are, as it is or was; its row 0: it has none */
	const char *last;     /* id of the message that they end with; NULL: of the view */
	bool whole;           /* values belong there */
	cJSON *more; /* members of values beside messages and fields, in the arena, or NULL */
};

/* Makes the items that stand at a place of a list, in the call's arena, which ends behind them; how
 * many, or -1 with the error set. */
#define LG_PLACE_ITEMS 2
typedef int (*lg_make_fn)(
    struct call *call, void *list, size_t place, struct lg_item items[LG_PLACE_ITEMS]);

/* One item, or a list of them, each of which is made while the answer is sent: a state may be
 * large, and a list has a thousand. */
struct lg_reply {
	struct lg_item *item;
	lg_make_fn make; /* NULL: it is no list */
	void *list;      /* in the call's arena */
	size_t places;
};

/* Appends a reply (struct lg_reply), as lines_fn does. */
bool lg_reply_put(struct call *call, const void *reply, struct buf *part, feed_fn send, void *arg);

#endif
