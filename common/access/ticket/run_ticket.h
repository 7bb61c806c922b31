/* SPDX-License-Identifier: ISC */
/*
 * Tickets of runs that are followed: what agentgraph-follow shows to somebody whom agentgraph-fcgi
 * let in, and, when a result was waited for, what a worker need not ask again
 * (doc/inside.md#resumable-streams).
 */
#ifndef AGENTGRAPH_ACCESS_TICKET_RUN_TICKET_H
#define AGENTGRAPH_ACCESS_TICKET_RUN_TICKET_H

#include "access/access.h"
#include "access/limit.h"
#include "access/ticket/ticket.h"

enum run_ticket_kind {
	RUN_TICKET_STREAM, /* its chunks */
	RUN_TICKET_WAIT,   /* the moment when the run is over, or when `until` is */
	RUN_TICKET_WAITED  /* what was waited for: the result, which a worker sends */
};

struct run_ticket {
	enum run_ticket_kind kind;
	const char *request_id;
	const char *thread_id, *run_id;
	int64_t thread_row, number; /* the engine's keys of the record */
	bool cancels;               /* who leaves before the end of the run ends it */

	/* Of a stream: */
	int64_t after;
	int granularity;
	bool events;    /* server-sent events, else lines */
	bool langgraph; /* events of LangGraph's protocol */
	/* for LangGraph: which events are told, and how many of the next chunk are known already */
	int64_t modes, skip;
	const char *a2a; /* events of a task instead, as it says (a2a_follow.h); or NULL */

	/* Of a wait: */
	int64_t until;            /* microseconds since 1970 */
	bool silent;              /* a 204 follows, and no result */
	struct identity identity; /* who asked */
	/* What the rate limit said of the request; NULL: it counts nothing. */
	const struct limit_verdict *limit;
};

/* The signed text, in the arena. */
const char *run_ticket_sign(
    const struct ticket_key *key, const struct run_ticket *ticket, struct arena *a);

/* Checks signature, algorithm and time, and fills ticket from the arena.  False with an error as of
 * ticket_verify. */
bool run_ticket_verify(const struct ticket_key *key, const char *text, struct arena *a,
    struct run_ticket *ticket, struct error *err);

#endif
