/* SPDX-License-Identifier: ISC */
/* What a request is counted under, and the header lines and the refusal of a verdict. */
#include "fcgi/admission/admit.h"

#include "access/limit.h"
#include "access/ticket/run_ticket.h"
#include "fcgi/request/request.h"
#include "fcgi/server.h"

#include <inttypes.h>
#include <string.h>

static void fcgi_limit_add_header(struct request *rq, const char *name, int64_t value)
{
	response_header(rq, name, arena_printf(rq->call.arena, "%" PRId64, value));
}

bool limit_admit(struct request *rq)
{
	const struct limiter *limiter = rq->server->service->limiter;
	struct limit_verdict *verdict = &rq->call.limit;
	if (!limiter_is_on(limiter) || (rq->match.flags & ROUTE_UNCOUNTED) ||
	    limiter_excludes(limiter, rq->head.uri, strcspn(rq->head.uri, "?")))
		return true;
	if (rq->counted) {
		*verdict = *rq->counted;
	} else if (rq->vouched && rq->vouched->limit) {
		*verdict = *rq->vouched->limit;
	} else {
		const char *user = limiter_needs_user(limiter) ? admit_verified_user(rq) : NULL;
		limit_check(rq->server->service->limiter,
		    limiter_key(limiter, user, caller_address(rq), rq->call.arena), verdict);
	}
	if (verdict->counted || !verdict->allowed) {
		fcgi_limit_add_header(rq, "X-RateLimit-Limit", verdict->limit);
		fcgi_limit_add_header(rq, "X-RateLimit-Remaining", verdict->remaining);
		fcgi_limit_add_header(rq, "X-RateLimit-Reset-After", verdict->reset_after);
		fcgi_limit_add_header(
		    rq, "X-RateLimit-Reset", clock_now() / 1000000 + verdict->reset_after);
		if (!verdict->allowed)
			fcgi_limit_add_header(rq, "Retry-After", verdict->reset_after);
	}
	if (verdict->allowed)
		return true;
	if (rq->handshake)
		return error_set(&rq->call.error, ERR_RATE_LIMIT, "Rate limit exceeded");
	return error_set(&rq->call.error, ERR_RATE_LIMIT,
	    "Too many requests. Limit: %" PRId64 " per %" PRId64 "s. Retry after %" PRId64 "s.",
	    verdict->limit, verdict->window, verdict->reset_after);
}
