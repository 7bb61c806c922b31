/* SPDX-License-Identifier: ISC */
/*
 * Giving back what a process holds only for speed, such as connections and threads that a busy
 * spell needed, when the spell is over.
 */
#ifndef AGENTGRAPH_BASE_OS_REST_H
#define AGENTGRAPH_BASE_OS_REST_H

struct rest {
	void (*give_back)(void *arg);
	void *arg;
	struct rest *next;
};

/* From now on give_back is called at the end of each busy spell, by the thread that calls
 * rest_look; it must not call functions of this header.  *rest belongs to this module until
 * rest_leave. */
void rest_join(struct rest *rest, void (*give_back)(void *arg), void *arg);

/* Ends that; waits for a give_back that is under way. */
void rest_leave(struct rest *rest);

/*
 * To be called now and then, by one thread.  When some seconds with hardly anything to do follow
 * busy ones, calls every give_back, and then gives free memory, which lies scattered over the heap,
 * back to the system.
 */
void rest_look(void);

#endif
