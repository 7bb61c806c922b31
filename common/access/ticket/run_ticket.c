/* SPDX-License-Identifier: ISC */
/* The claims of tickets of runs. */
#include "access/ticket/run_ticket.h"

#include "base/json/json.h"
#include "base/os/clock.h"

#include <string.h>

static const char *const routes[] = {[RUN_TICKET_STREAM] = "run/stream",
    [RUN_TICKET_WAIT] = "run/wait",
    [RUN_TICKET_WAITED] = "run/waited"};

/* ---- signing ---- */

const char *run_ticket_sign(
    const struct ticket_key *key, const struct run_ticket *ticket, struct arena *a)
{
	const struct limit_verdict *limit = ticket->limit;
	const struct identity *who = &ticket->identity;
	cJSON *claims = arena_json(a, cJSON_CreateObject());
	json_add_str(claims, "route", routes[ticket->kind]);
	json_add_str(claims, "request_id", ticket->request_id);
	json_add_str(claims, "thread_id", ticket->thread_id);
	json_add_str(claims, "run_id", ticket->run_id);
	json_add_int(claims, "thread", ticket->thread_row);
	json_add_int(claims, "number", ticket->number);
	if (ticket->cancels)
		cJSON_AddTrueToObject(claims, "cancels");
	if (ticket->kind == RUN_TICKET_STREAM) {
		json_add_int(claims, "after", ticket->after);
		json_add_int(claims, "granularity", ticket->granularity);
		cJSON_AddBoolToObject(claims, "events", ticket->events);
		if (ticket->langgraph) {
			json_add_int(claims, "modes", ticket->modes);
			json_add_int(claims, "skip", ticket->skip);
		}
		if (ticket->a2a)
			json_add_str(claims, "a2a", ticket->a2a);
	} else {
		json_add_int(claims, "until", ticket->until);
		if (ticket->silent)
			cJSON_AddTrueToObject(claims, "silent");
		ticket_add_user(claims, who->user);
		if (who->user_id)
			json_add_str(claims, "user_id", who->user_id);
		cJSON_AddBoolToObject(claims, "verified", who->verified);
		if (limit) {
			json_add_int(claims, "limit", limit->limit);
			json_add_int(claims, "remaining", limit->remaining);
			json_add_int(claims, "window", limit->window);
			json_add_int(claims, "reset", clock_now() / 1000000 + limit->reset_after);
		}
	}
	return ticket_sign_claims(key, claims, clock_of_machine(), TICKET_SECONDS, a);
}

/* ---- checking ---- */

static bool run_ticket_take_int(const cJSON *claims, const char *name, int64_t *value)
{
	return json_integer(json_get(claims, name), value);
}

static bool run_ticket_take_stream(const cJSON *claims, struct run_ticket *ticket)
{
	const cJSON *events = json_get(claims, "events");
	int64_t granularity;
	ticket->events = cJSON_IsTrue(events);
	ticket->a2a = json_str(claims, "a2a");
	if (!cJSON_IsBool(events) || !run_ticket_take_int(claims, "after", &ticket->after) ||
	    !run_ticket_take_int(claims, "granularity", &granularity))
		return false;
	ticket->granularity = (int)granularity;
	ticket->langgraph = json_get(claims, "modes");
	return !ticket->langgraph ||
	    (run_ticket_take_int(claims, "modes", &ticket->modes) &&
		run_ticket_take_int(claims, "skip", &ticket->skip));
}

static bool run_ticket_take_wait(const cJSON *claims, struct arena *a, struct run_ticket *ticket)
{
	const cJSON *verified = json_get(claims, "verified");
	ticket->identity = (struct identity){.user = ticket_user(claims, a),
	    .user_id = json_str(claims, "user_id"),
	    .verified = cJSON_IsTrue(verified)};
	ticket->silent = cJSON_IsTrue(json_get(claims, "silent"));
	if (!cJSON_IsObject(ticket->identity.user) || !cJSON_IsBool(verified) ||
	    !run_ticket_take_int(claims, "until", &ticket->until))
		return false;

	/* there may be no limit; half of one makes no ticket */
	struct limit_verdict *limit = arena_alloc(a, sizeof(*limit));
	int64_t reset;
	if (!json_get(claims, "limit"))
		return true;
	if (!run_ticket_take_int(claims, "limit", &limit->limit) ||
	    !run_ticket_take_int(claims, "remaining", &limit->remaining) ||
	    !run_ticket_take_int(claims, "window", &limit->window) ||
	    !run_ticket_take_int(claims, "reset", &reset))
		return false;
	int64_t left = reset - clock_now() / 1000000;
	limit->reset_after = left > 0 ? left : 0;
	limit->allowed = limit->counted = true;
	ticket->limit = limit;
	return true;
}

static bool run_ticket_take(const cJSON *claims, struct arena *a, struct run_ticket *ticket)
{
	const char *route = json_str(claims, "route");
	int kind = RUN_TICKET_STREAM;
	while (route && kind <= RUN_TICKET_WAITED && strcmp(route, routes[kind]) != 0)
		kind++;
	if (!route || kind > RUN_TICKET_WAITED)
		return false;
	ticket->kind = (enum run_ticket_kind)kind;
	ticket->request_id = json_str(claims, "request_id");
	ticket->thread_id = json_str(claims, "thread_id");
	ticket->run_id = json_str(claims, "run_id");
	ticket->cancels = cJSON_IsTrue(json_get(claims, "cancels"));
	return ticket->request_id && ticket->thread_id && ticket->run_id &&
	    run_ticket_take_int(claims, "thread", &ticket->thread_row) &&
	    run_ticket_take_int(claims, "number", &ticket->number) &&
	    (ticket->kind == RUN_TICKET_STREAM ? run_ticket_take_stream(claims, ticket)
					       : run_ticket_take_wait(claims, a, ticket));
}

bool run_ticket_verify(const struct ticket_key *key, const char *text, struct arena *a,
    struct run_ticket *ticket, struct error *err)
{
	*ticket = (struct run_ticket){0};
	const cJSON *claims = ticket_claims(key, text, clock_of_machine(), a, err);
	if (!claims)
		return false;
	return run_ticket_take(claims, a, ticket) ||
	    ticket_refuse(err, "a claim is missing or of a wrong type");
}
