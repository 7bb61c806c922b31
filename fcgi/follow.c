/* SPDX-License-Identifier: ISC */
/* Streams that are taken up again, waits, and the tickets for both. */
#include "fcgi/follow.h"

#include "access/ticket/run_ticket.h"
#include "base/log/log.h"
#include "base/os/clock.h"
#include "fcgi/handlers/handlers.h"
#include "fcgi/request/query.h"
#include "fcgi/request/request.h"
#include "fcgi/server.h"
#include "service/run/records.h"
#include "service/run/stream/follow.h"

#include <string.h>

static void follow_redirect(struct request *rq, const char *to, const struct run_ticket *ticket)
{
	const char *place = param_find(rq->client->params, FOLLOW_PARAM);
	response_header(
	    rq, TICKET_HEADER, run_ticket_sign(&rq->server->ticket_key, ticket, rq->call.arena));
	response_header(rq, "X-Accel-Redirect",
	    arena_printf(rq->call.arena, "%s/%s", *place ? place : FOLLOW_REDIRECT, to));
	reply_empty(rq, 200);
}

struct run_ticket follow_ticket(
    const struct request *rq, enum run_ticket_kind kind, const struct run_record *record)
{
	return (struct run_ticket){.kind = kind,
	    .request_id = rq->id,
	    .thread_id = rq->match.ids[0],
	    .run_id = rq->match.ids[1],
	    .thread_row = record->thread_row,
	    .number = record->number};
}

/* ---- streams ---- */

void get_run_stream(struct request *rq)
{
	static const char *const types[] = {"text/event-stream", "application/x-ndjson"};
	char *const *params = rq->client->params;
	struct query_field fields[] = {{.name = "after"}, {.name = "response_granularity"}};
	const char *last = param_find(params, "HTTP_LAST_EVENT_ID");
	struct follow_place place;
	if (!query_read(rq->call.arena, rq->path.query, fields, 2, &rq->call.error)) {
		reply_error(rq);
		return;
	}
	const struct follow_query query = {.after = fields[0].value,
	    .granularity = fields[1].value,
	    .last_event_id = *last ? last : NULL};
	if (!run_follow(&rq->call, rq->match.ids[0], rq->match.ids[1], &query, &place)) {
		reply_error(rq);
		return;
	}
	struct run_ticket ticket = follow_ticket(rq, RUN_TICKET_STREAM, &place.record);
	ticket.after = place.after;
	ticket.granularity = (int)place.granularity;
	/* a client gets events if it accepts them and names no lines of JSON before them */
	ticket.events = accept_first(param_find(params, "HTTP_ACCEPT"), types, 2) == 0;
	if (ticket.events && place.at_end)
		reply_empty(rq, 204); /* by which an EventSource knows that there is nothing more */
	else if (rq->method == METHOD_HEAD)
		reply_stream_head(rq);
	else
		follow_stream(rq, &ticket);
}

void follow_stream(struct request *rq, const struct run_ticket *ticket)
{
	follow_redirect(rq, "stream", ticket);
}

void follow_task(struct request *rq, const struct run_record *record, const char *spec)
{
	const struct run_ticket ticket = {.kind = RUN_TICKET_STREAM,
	    .request_id = rq->id,
	    .thread_id = record->thread_id,
	    .run_id = record->run_id,
	    .thread_row = record->thread_row,
	    .number = record->number,
	    .granularity = GRANULARITY_LOW,
	    .a2a = spec};
	follow_redirect(rq, "stream", &ticket);
}

/* ---- waits ---- */

void follow_wait(struct request *rq, const struct follow_wish *wish)
{
	struct call *call = &rq->call;
	struct thread thread;
	struct run_record record;
	if (!record_find(call, rq->match.ids[0], rq->match.ids[1], &thread, &record)) {
		reply_error(rq);
		return;
	}
	struct run_ticket ticket = follow_ticket(rq, RUN_TICKET_WAIT, &record);
	ticket.until = clock_now() + (int64_t)(wish->seconds * 1000000);
	ticket.cancels = wish->cancels;
	ticket.silent = wish->silent;
	ticket.identity = call->identity;
	ticket.identity.user = (cJSON *)call->user;
	ticket.limit = call->limit.counted ? &call->limit : NULL;
	follow_redirect(rq, "wait", &ticket);
}

void follow_read_ticket(struct request *rq)
{
	const char *text = param_find(rq->client->params, FOLLOW_TICKET_PARAM);
	struct run_ticket *ticket = arena_alloc(rq->call.arena, sizeof(*ticket));
	struct error err = {0};
	if (!*text)
		return;
	rq->waited = true;
	bool good = run_ticket_verify(&rq->server->ticket_key, text, rq->call.arena, ticket, &err);
	bool fits = good && ticket->kind == RUN_TICKET_WAITED && rq->match.ids[1] &&
	    strcmp(ticket->thread_id, rq->match.ids[0]) == 0 &&
	    strcmp(ticket->run_id, rq->match.ids[1]) == 0;
	if (fits)
		rq->vouched = ticket;
	else
		log_warning("a ticket was refused: %s", good ? "for another run" : err.cause);
	error_release(&err);
}
