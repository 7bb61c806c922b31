/* SPDX-License-Identifier: ISC */
/* The address of a client behind the proxies that are trusted. */
#include "fcgi/admission/admit.h"

#include "access/limit.h"
#include "fcgi/request/request.h"
#include "fcgi/server.h"

#include <string.h>

#define FORWARDED_PARAM "HTTP_X_FORWARDED_FOR="

const char *caller_address(struct request *rq)
{
	const struct limiter *limiter = rq->server->service->limiter;
	char *const *params = rq->client->params;
	size_t count = 0, n = 0;
	if (*rq->address)
		return rq->address;
	/* the lines of the header, each as a variable of its own or joined by the web server */
	for (size_t i = 0; params[i]; i++)
		count += !strncmp(params[i], FORWARDED_PARAM, strlen(FORWARDED_PARAM));
	const char **lines = arena_alloc(rq->call.arena, count * sizeof(char *) + 1);
	for (size_t i = 0; params[i]; i++)
		if (!strncmp(params[i], FORWARDED_PARAM, strlen(FORWARDED_PARAM)))
			lines[n++] = params[i] + strlen(FORWARDED_PARAM);
	address_client(limiter_trust(limiter), rq->head.address, lines, count, rq->address);
	return rq->address;
}
