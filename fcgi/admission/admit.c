/* SPDX-License-Identifier: ISC */
/* Authentication once a request, and permission for an action or a feature. */
#include "fcgi/admission/admit.h"

#include "access/ticket/run_ticket.h"
#include "fcgi/admission/upgrade.h"
#include "fcgi/request/credential.h"
#include "fcgi/request/request.h"
#include "fcgi/server.h"
#include "service/memory/memory_calls.h"
#include "service/run/background/background.h"
#include "service/thread/ident.h"

#include <ctype.h>
#include <string.h>

/* ---- who ---- */

/* A header as CGI has it; the length and type of the body have names without HTTP_. */
static const char *admit_find_header(void *arg, const char *name)
{
	const struct request *rq = arg;
	bool plain = !strcmp(name, "content-type") || !strcmp(name, "content-length");
	char *variable = arena_printf(rq->call.arena, "%s%s", plain ? "" : "HTTP_", name);
	for (char *c = variable; *c; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	const char *value = param_find(rq->client->params, variable);
	return *value ? value : NULL;
}

/* The credential is checked once for a request, however often its user is asked for. */
static bool admit_authenticate(struct request *rq)
{
	char *const *params = rq->client->params;
	struct arena *a = rq->call.arena;
	if (rq->asked)
		return !error_is_set(&rq->refusal);
	rq->asked = true;
	if (rq->vouched) {
		rq->identity = rq->vouched->identity;
		return !error_is_set(&rq->refusal);
	}
	struct presented presented = {
	    .websocket = rq->match.flags & ROUTE_WEBSOCKET,
	    .method = rq->head.method,
	    /* without its query, which can hold a token that a custom backend may log */
	    .path = arena_strndup(a, rq->head.uri, strcspn(rq->head.uri, "?")),
	    .address = caller_address(rq),
	    .header = admit_find_header,
	    .arg = rq,
	};
	presented.credential = presented.websocket
	    ? upgrade_credential(rq)
	    : credential_bearer(param_find(params, "HTTP_AUTHORIZATION"), a);
	if (!presented.credential && rq->match.dialect && rq->match.dialect->api_key)
		presented.credential = credential_key(param_find(params, "HTTP_X_API_KEY"), a);
	access_authenticate(
	    rq->server->service->access, &presented, a, &rq->identity, &rq->refusal);
	return !error_is_set(&rq->refusal);
}

const char *admit_verified_user(struct request *rq)
{
	return admit_authenticate(rq) && rq->identity.verified ? rq->identity.user_id : NULL;
}

bool admit_user(struct request *rq)
{
	const struct service *service = rq->server->service;
	if (!rq->match.route->resource || service->config->auth == AUTH_NONE)
		return true;
	if (admit_authenticate(rq)) {
		call_identify(&rq->call, &rq->identity);
		return true;
	}
	struct error *err = &rq->call.error;
	error_move(err, &rq->refusal);
	if (error_is_of_token(err->kind) && (rq->match.route->flags & ROUTE_UNAUTHORIZED))
		err->status = 401;
	return false;
}

/* ---- what ---- */

static bool admit_is(const char *a, const char *b)
{
	return !strcmp(a, b);
}

static const char *admit_resource_id(struct request *rq)
{
	const struct route *route = rq->match.route;
	bool of_thread =
	    admit_is(route->resource, "graph") || admit_is(route->resource, "checkpointer");
	/* the id in a path may be that of a model or an assistant */
	if (rq->match.ids[0] && (!of_thread || strstr(route->path, "{thread_id}")))
		return *rq->match.ids[0] ? rq->match.ids[0] : NULL;
	if (route->dialect && route->dialect->late_thread)
		return NULL; /* doc/protocol-access.md#scopes */
	if (!of_thread)
		return NULL;
	return thread_id_of(&rq->call, rq->body,
	    admit_is(route->action, "invoke") || admit_is(route->action, "stream") ||
		admit_is(route->action, "write"));
}

bool admit_action(struct request *rq)
{
	const struct route *route = rq->match.route;
	if (!route->resource)
		return true;
	const struct permission permission = {
	    route->resource, route->action, admit_resource_id(rq)};
	return call_permit(&rq->call, &permission);
}

bool admit_feature(struct request *rq)
{
	const struct route *route = rq->match.route;
	if (route->flags & ROUTE_BACKGROUND)
		return background_configured(&rq->call);
	return !route->resource || !admit_is(route->resource, "store") ||
	    memory_configured(&rq->call);
}
