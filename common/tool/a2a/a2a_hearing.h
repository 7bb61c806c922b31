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
	A2A_ELSEWHERE, /* in a state that is none of these */
	A2A_SAID       /* a message came, and no task */
};

/* All-zero but for the first three. */
struct a2a_hearing {
	struct a2a_exchange *x;
	const struct http_header *headers; /* whose values are told to nobody */
	size_t header_count;

	enum a2a_hearing_state state;
	bool wrong;   /* x->why is set */
	bool decided; /* something came of the answer that was begun last */

	/* its own */
	struct buf status; /* what the latest state says, or its name */
	struct buf first;  /* bytes of an answer that is one document */
	bool events;
	char *artifact;    /* that was told last */
	struct buf *texts; /* of artifacts as far as they were told, in the order of their ids */
	struct sse sse;
};

/* An answer begins; its bytes go to a2a_hearing_data, whose arg is the hearing. */
void a2a_hearing_begin(struct a2a_hearing *h);
bool a2a_hearing_data(const char *data, size_t len, void *arg);

/* An answer that came whole has ended.  False where it, or one before, was wrong. */
bool a2a_hearing_finish(struct a2a_hearing *h);

/* What has come of the message when there is nothing more to hear. */
enum a2a_outcome a2a_hearing_end(struct a2a_hearing *h);

void a2a_hearing_release(struct a2a_hearing *h);

/* Sets x->why, "what: why", cleaned; why may be NULL or empty.  Returns A2A_PEER_FAILED. */
enum a2a_outcome a2a_exchange_fail(struct a2a_exchange *x, const char *what, const char *why);

#endif
