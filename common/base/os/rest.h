/* SPDX-License-Identifier: ISC */
/*
 * What a process holds for speed alone, connections and threads that a busy spell needed, and gives
 * back when the spell is over.
 */
#ifndef AGENTGRAPH_BASE_OS_REST_H
#define AGENTGRAPH_BASE_OS_REST_H

struct rest {
	void (*give_back)(void *arg);
	void *arg;
	struct rest *next;
};

/* From now on give_back is called at the end of each busy spell, by the thread that calls
 * rest_look; it may not call what stands here.  The struct is the caller's, until rest_leave. */
void rest_join(struct rest *rest, void (*give_back)(void *arg), void *arg);

/* Waits for a give_back that is under way. */
void rest_leave(struct rest *rest);

/*
 * To be called now and then, by one thread.  When some seconds with hardly anything to do follow
 * busy ones, all give back what they hold; what is free then lies scattered over the heap, and goes
 * to the system.
 */
void rest_look(void);

#endif
