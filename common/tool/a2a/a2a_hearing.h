/* SPDX-License-Identifier: ISC */
/*
 * What a peer says of one message, in one answer or in several, as events or as documents: put
 * together in the exchange.
 */
#ifndef AGENTGRAPH_TOOL_A2A_A2A_HEARING_H
#define AGENTGRAPH_TOOL_A2A_A2A_HEARING_H

#include "base/http/sse.h"
#include "tool/a2a/a2a_peer.h"

/* What is known of the message's task. */
enum a2a_hearing_state {
	A2A_UNKNOWN,
	A2A_WORKS,
	A2A_DONE,
	A2A_ASKS,
	A2A_FAILED,
	A2A_ELSEWHERE, /* in another state */
	A2A_SAID       /* a message came, and no task */
};

/* All-zero but for the first three. */
struct a2a_hearing {
	struct a2a_exchange *x;
	const struct http_header *headers; /* whose values are shown to nobody */
	size_t header_count;

	enum a2a_hearing_state state;
	bool wrong;   /* x->why is set */
	bool refused; /* by the peer, with a reason */
	bool decided; /* something came of the latest answer, so that events is known */

	/* its own */
	struct buf status; /* the text of the latest state, or its name */
	struct buf first;  /* the bytes of an answer that is one document */
	bool events;
	int64_t over_at;   /* when an event said that no more comes (monotonic ms), or 0 */
	char *artifact;    /* id of the artifact that text came of last */
	struct buf *texts; /* the text of each artifact so far, in the order of x->artifacts */
	struct sse sse;
};

/* An answer begins; its bytes go to a2a_hearing_data, whose arg is the hearing. */
void a2a_hearing_begin(struct a2a_hearing *h);
bool a2a_hearing_data(const char *data, size_t len, void *arg);

/* Ends an answer that came whole.  False where it, or one before, was wrong. */
bool a2a_hearing_finish(struct a2a_hearing *h);

/* What has become of the message when there is nothing more to hear. */
enum a2a_outcome a2a_hearing_end(struct a2a_hearing *h);

void a2a_hearing_release(struct a2a_hearing *h);

/* Sets x->why, "what: why", cleaned; why may be NULL or empty.  Returns A2A_PEER_FAILED. */
enum a2a_outcome a2a_exchange_fail(struct a2a_exchange *x, const char *what, const char *why);

#endif
