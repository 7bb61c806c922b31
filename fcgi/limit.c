/* SPDX-License-Identifier: ISC */
/* What a request is counted under, and the header lines and the refusal of a verdict. */
#include "limit.h"

#include "access/limit.h"
#include "admit.h"
#include "request.h"
#include "server.h"
#include "upgrade.h"

#include <inttypes.h>
#include <string.h>

#define FORWARDED_PARAM "HTTP_X_FORWARDED_FOR="

/* ---- who ---- */

/* The lines of the header, each as a variable of its own or joined by the web server. */
static const char **forwarded_lines(struct request *rq, size_t *count)
{
	char *const *params = rq->client->params;
	const char **lines;
	*count = 0;
	for (size_t i = 0; params[i]; i++)
		*count += !strncmp(params[i], FORWARDED_PARAM, strlen(FORWARDED_PARAM));
	lines = arena_alloc(rq->call.arena, *count * sizeof(char *) + 1);
	for (size_t i = 0, n = 0; params[i]; i++)
		if (!strncmp(params[i], FORWARDED_PARAM, strlen(FORWARDED_PARAM)))
			lines[n++] = params[i] + strlen(FORWARDED_PARAM);
	return lines;
}

const char *limit_address(struct request *rq)
{
	const struct limiter *limiter = rq->server->service->limiter;
	if (!*rq->address) {
		size_t count;
		const char **lines = forwarded_lines(rq, &count);
		address_client(limiter_trust(limiter), rq->head.address, lines, count, rq->address);
	}
	return rq->address;
}

/* ---- how often ---- */

static bool is_counted(const struct request *rq)
{
	const struct limiter *limiter = rq->server->service->limiter;
	return limiter_is_on(limiter) && !(rq->match.flags & ROUTE_UNCOUNTED) &&
	    !limiter_excludes(limiter, rq->head.uri, strcspn(rq->head.uri, "?"));
}

static const char *fcgi_limit_key_of(struct request *rq)
{
	const struct limiter *limiter = rq->server->service->limiter;
	const char *user_id = limiter_needs_user(limiter) ? admit_verified_user(rq) : NULL;
	return limiter_key(limiter, user_id, limit_address(rq), rq->call.arena);
}

static void fcgi_limit_add_header(struct request *rq, const char *name, int64_t value)
{
	response_header(rq, name, arena_printf(rq->call.arena, "%" PRId64, value));
}

static void fcgi_limit_add_headers(struct request *rq, const struct limit_verdict *verdict)
{
	fcgi_limit_add_header(rq, "X-RateLimit-Limit", verdict->limit);
	fcgi_limit_add_header(rq, "X-RateLimit-Remaining", verdict->remaining);
	fcgi_limit_add_header(rq, "X-RateLimit-Reset-After", verdict->reset_after);
	fcgi_limit_add_header(
	    rq, "X-RateLimit-Reset", clock_now() / 1000000 + verdict->reset_after);
	if (!verdict->allowed)
		fcgi_limit_add_header(rq, "Retry-After", verdict->reset_after);
}

static bool fcgi_limit_refuse(struct request *rq, const struct limit_verdict *verdict)
{
	if (upgrade_is_asked(rq))
		return error_set(&rq->call.error, ERR_RATE_LIMIT, "Rate limit exceeded");
	return error_set(&rq->call.error, ERR_RATE_LIMIT,
	    "Too many requests. Limit: %" PRId64 " per %" PRId64 "s. Retry after %" PRId64 "s.",
	    verdict->limit, verdict->window, verdict->reset_after);
}

bool limit_admit(struct request *rq)
{
	struct limit_verdict *verdict = &rq->call.limit;
	if (!is_counted(rq))
		return true;
	if (rq->counted)
		*verdict = *rq->counted;
	else
		limit_check(rq->server->service->limiter, fcgi_limit_key_of(rq), verdict);
	if (verdict->counted || !verdict->allowed)
		fcgi_limit_add_headers(rq, verdict);
	return verdict->allowed || fcgi_limit_refuse(rq, verdict);
}
