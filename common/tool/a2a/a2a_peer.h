/* SPDX-License-Identifier: ISC */
/*
 * Agents that are called by the Agent2Agent protocol (doc/agents.md#calling-other-agents-over-a2a),
 * as a client of JSON-RPC in its versions 1.0 and 0.3.
 *
 * A peer is known by its card, which is fetched when it is called first and kept until a message
 * fails before a task has begun; what the card says is what is spoken.  Calls come from any thread.
 */
#ifndef AGENTGRAPH_TOOL_A2A_A2A_PEER_H
#define AGENTGRAPH_TOOL_A2A_A2A_PEER_H

#include "base/buf.h"
#include "base/http/http.h"
#include "base/http/traceparent.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct a2a_peer;

/* url is the agent's, below which its card is, or, where it ends with ".json", the card's.
 * Headers, which are taken over with their texts, go along with every request to that site; where
 * the card names another site, none of them goes there. */
struct a2a_peer *a2a_peer_new(const char *url, struct http_header *headers, size_t header_count);
void a2a_peer_free(struct a2a_peer *peer); /* NULL is fine */

enum a2a_outcome {
	A2A_PEER_FAILED, /* why says why */
	A2A_PEER_DONE,   /* answer is complete */
	A2A_PEER_ASKS    /* answer is what came so far, question what the peer wants to know */
};

/* One message and what comes of it.  What is asked is borrowed; a2a_exchange_release frees what
 * came. */
struct a2a_exchange {
	const char *text;
	const cJSON *data;                /* sent instead of text, or NULL */
	const char *context_id, *task_id; /* what to go on with; NULL: nothing */
	const cJSON *told; /* ids of artifacts that are known already, an array; or NULL */
	struct trace_headers trace;
	int64_t deadline_ms; /* by clock_monotonic_ms */
	bool (*stop)(void *arg);
	void (*on_text)(const char *piece, void *arg); /* each piece of the answer as it comes */
	void *arg;

	struct buf answer, question;
	char *context, *task; /* what to go on with; malloc'd, or NULL */
	cJSON *artifacts;     /* ids of all artifacts of the task */
	char why[512];        /* for whoever reads the run's error */
};

/* Sends the message and follows its task until the answer is complete, the peer asks, time is up,
 * or stop says so; only then the task is cancelled. */
enum a2a_outcome a2a_peer_send(struct a2a_peer *peer, struct a2a_exchange *x);
void a2a_exchange_release(struct a2a_exchange *x);

#endif
