/* SPDX-License-Identifier: ISC */
/* The order of the checks, the questions a web server asks ahead, and the access log. */
#include "fcgi/server.h"

#include "base/log/log.h"
#include "base/metrics/metrics.h"
#include "fcgi/admission/admit.h"
#include "fcgi/admission/upgrade.h"
#include "fcgi/follow.h"
#include "fcgi/request/body.h"
#include "fcgi/request/request.h"
#include "fcgi/route/mount.h"
#include "service/files/files.h"

#include <malloc.h>
#include <string.h>
#include <strings.h>

/* After a body or an answer of more bytes, free memory goes back to the system. */
#define LARGE (1 << 20)

static bool server_is_preflight(const struct request *rq)
{
	return rq->method == METHOD_OPTIONS && *rq->head.origin && *rq->head.cors_method;
}

/* Whether the path has a row for the method.  OPTIONS needs none. */
static bool server_check_route(struct request *rq)
{
	char allow[METHOD_LIST_SIZE];
	const struct dialect *dialect = rq->match.dialect;
	const char *says = dialect ? dialect->lacks_says : NULL;
	unsigned allowed = rq->match.allowed;
	if (!allowed)
		return says ? error_set(&rq->call.error, ERR_NOT_FOUND, "%s", says)
			    : error_set(&rq->call.error, ERR_NOT_FOUND, NULL);
	if (rq->match.route)
		return !(rq->match.route->flags & ROUTE_WEBSOCKET) || upgrade_check(rq);
	if (dialect && dialect->allow_rows && rq->method != METHOD_OPTIONS)
		allowed &= ~(unsigned)METHOD_OPTIONS;
	response_header(rq, "Allow", method_list(allowed, allow));
	return rq->method == METHOD_OPTIONS ||
	    error_set(&rq->call.error, ERR_METHOD_NOT_ALLOWED, NULL);
}

/* Pages of unknown origins may not use protocols that are meant for programs: if somebody's domain
 * name is made to point at this machine (DNS rebinding), their page looks like one of our own. */
static bool server_check_origin(struct request *rq)
{
	const struct dialect *dialect = rq->match.dialect;
	if (!dialect || !dialect->own_origins || !*rq->head.origin ||
	    hygiene_allows_origin(rq->server->hygiene, rq->head.origin))
		return true;
	return error_set(&rq->call.error, ERR_PERMISSION, "This origin is not allowed");
}

static bool server_find_route(struct request *rq)
{
	bool valid = path_parse(&rq->path, arena_strdup(rq->call.arena, rq->head.uri));
	if (valid)
		route_find(rq->server->routes, &rq->path, rq->method, &rq->match);
	bool open = atomic_load(&rq->server->open);
	if (open)
		follow_read_ticket(rq);
	rq->handshake = upgrade_is_asked(rq);
	if (!limit_admit(rq))
		return false;
	if (!(rq->match.flags & ROUTE_ANY_HOST) &&
	    !hygiene_allows_host(rq->server->hygiene, rq->head.host))
		return error_set(&rq->call.error, ERR_INVALID_HOST, NULL);
	if (!valid)
		return error_set(&rq->call.error, ERR_BAD_REQUEST, "Invalid path");
	/* rights are read from the database as well, so no route that needs one is served yet */
	if (!open && rq->match.route && rq->match.route->resource)
		return error_set(&rq->call.error, ERR_TRANSIENT_STORAGE, NULL);
	return server_check_origin(rq) && server_check_route(rq);
}

/* Checks the announced length of a body that its handler reads, which has a limit of its own. */
static bool server_check_stream(struct request *rq)
{
	return body_length(rq->head.content_length, INT64_MAX, &rq->length, &rq->call.error) &&
	    (rq->length <= upload_max_body(rq->server->service->config) ||
		upload_too_large(&rq->call));
}

/* The announced size counts on every route; only routes that take a body read it. */
static bool server_read_body(struct request *rq, struct buf *text)
{
	int64_t max = rq->server->service->config->env.max_request_size;
	enum body_rule rule = rq->match.route->body;
	struct error *err = &rq->call.error;
	bool fits = rule == BODY_STREAM
	    ? server_check_stream(rq)
	    : body_length(rq->head.content_length, max, &rq->length, err);
	if (!fits || rule == BODY_NONE)
		return fits;
	/* the body will never be there, and the reason is known */
	if (rq->client->lacking == ERR_RATE_LIMIT) {
		response_header(rq, "Retry-After", "1");
		return error_set(
		    err, ERR_RATE_LIMIT, "Too many requests of this address are still arriving");
	}
	if (rq->client->lacking)
		return error_set(err, rq->client->lacking, NULL);
	return rule == BODY_STREAM || body_read(rq->client, rq->length, max, text, err);
}

/* Steps 7 to 9.  Step 7 needs the body, but complains of the permission before it complains of
 * that. */
static bool server_admit_body(struct request *rq, const struct buf *text)
{
	struct error mistake = {0};
	enum body_rule rule = rq->match.route->body;
	const struct dialect *dialect = rq->match.route->dialect;
	const char *not_json =
	    dialect && dialect->not_json ? dialect->not_json : "must be valid JSON";
	bool parsed = rule == BODY_NONE || rule == BODY_STREAM ||
	    (rule == BODY_LINES ? body_parse_lines(rq->call.arena, text, rq->head.content_type,
				      rq->call.values, &rq->body, &mistake)
				: body_parse(rq->call.arena, text, rq->head.content_type, rule,
				      not_json, &rq->call.values, &rq->body, &mistake));
	bool admitted = admit_action(rq) && admit_feature(rq);
	const char *coding = param_find(rq->client->params, "HTTP_CONTENT_ENCODING");
	if (admitted && !parsed && text->len && coding && *coding &&
	    strcasecmp(coding, "identity") != 0)
		error_field(&rq->call.error, ERR_VALIDATION, "header.content-encoding",
		    "value_error",
		    "Content-Encoding must be identity: compressed bodies are not read");
	else if (admitted && !parsed)
		error_move(&rq->call.error, &mistake);
	error_release(&mistake);
	return admitted && parsed;
}

static void fcgi_server_answer(struct request *rq)
{
	/* steps 1 to 4 */
	bool preflight = server_is_preflight(rq);
	if (preflight && !hygiene_allows_origin(rq->server->hygiene, rq->head.origin)) {
		reply_text(rq, 400, "Disallowed CORS origin");
		return;
	}
	if (preflight) {
		hygiene_add_preflight(rq->head.cors_headers, &rq->response->extra);
		reply_text(rq, 200, "OK");
		return;
	}
	if (!server_find_route(rq)) {
		reply_error(rq);
		return;
	}
	if (!rq->match.route) {
		reply_empty(rq, 204);
		return;
	}
	/* steps 5 to 10 */
	struct buf text = {0};
	bool ok = server_read_body(rq, &text) && admit_user(rq) && server_admit_body(rq, &text);
	rq->large = text.len > LARGE;
	if (ok && rq->match.route->body == BODY_LINES)
		rq->lines = &text;
	else
		buf_release(&text);
	if (ok)
		rq->match.route->handle(rq);
	else
		reply_error(rq);
	buf_release(&text);
}

static bool client_gone(void *arg)
{
	struct client *client = arg;
	return client->gone && client->gone(client);
}

/* Steps 2 to 8, as far as they need no body; nothing is answered yet. */
static bool server_admit_head(struct request *rq)
{
	if (server_is_preflight(rq))
		return true;
	if (!server_find_route(rq))
		return false;
	if (!rq->match.route)
		return true;
	enum body_rule rule = rq->match.route->body;
	struct buf none = {0};
	if (rule == BODY_STREAM)
		return server_check_stream(rq) && admit_user(rq) && server_admit_body(rq, &none);
	return body_length(rq->head.content_length,
		   rq->server->service->config->env.max_request_size, &rq->length,
		   &rq->call.error) &&
	    admit_user(rq);
}

static void request_init(struct request *rq, const struct server *server, struct client *client,
    struct response *buffers)
{
	metrics_gauge(GAUGE_BUSY, 1);
	memset(rq, 0, sizeof(*rq));
	rq->server = server;
	rq->client = client;
	rq->response = buffers;
	head_read(&rq->head, client->params);
	rq->method = method_parse(rq->head.method);
	uuid4(rq->id);
	clock_iso(clock_now(), rq->time);
	call_init(&rq->call, server->service, rq->id);
	rq->waiter = (struct waiter){client_gone, client};
	rq->call.ctx.waiter = &rq->waiter;
	rq->call.trace = trace_headers_valid(&rq->head.trace);
	log_request(rq->id);
}

static void request_release(struct request *rq)
{
	bool large = rq->large || rq->response->body.len > LARGE;
	log_request(NULL);
	error_release(&rq->refusal);
	call_release(&rq->call);
	response_reset(rq->response);
	if (large)
		malloc_trim(LARGE);
	metrics_gauge(GAUGE_BUSY, -1);
}

static void server_say(const struct request *rq, int64_t start)
{
	int64_t us = clock_uptime_us() - start;
	const struct route *route = rq->match.route;
	const struct route *row = route ? route_written(&routes, route) : NULL;
	if (!*rq->head.internal)
		metrics_request(row ? (size_t)(row - routes.rows) : METRIC_ROUTES - 1,
		    rq->response->status, us);
	/* the path without its query, which may hold a token (doc/protocol.md#logs) */
	if (rq->server->service->config->env.log_level == LOG_DEBUG)
		log_debug("%s %.*s %d %lld ms", rq->head.method, (int)strcspn(rq->head.uri, "?"),
		    rq->head.uri, rq->response->status, (long long)(us / 1000));
}

bool server_admit(const struct server *server, struct client *client, struct response *buffers,
    struct admission *admission)
{
	struct request rq;
	int64_t start = clock_uptime_us();
	request_init(&rq, server, client, buffers);
	bool admitted = *rq.head.internal || server_admit_head(&rq);
	const struct route *route = rq.match.route;
	if (!admitted) {
		reply_error(&rq);
		server_say(&rq, start);
	}
	const struct config *config = server->service->config;
	*admission = (struct admission){.limit = rq.call.limit, .most = -1};
	if (admitted && route && route->body != BODY_NONE) {
		admission->most = rq.length >= 0 ? rq.length
		    : route->body == BODY_STREAM ? upload_max_body(config)
						 : config->env.max_request_size;
		limiter_network(server->service->limiter, caller_address(&rq), admission->address);
	}
	request_release(&rq);
	return admitted;
}

void server_answer(const struct server *server, struct client *client, struct response *buffers,
    const struct admission *admission)
{
	struct request rq;
	int64_t start = clock_uptime_us();
	request_init(&rq, server, client, buffers);
	rq.counted = admission ? &admission->limit : NULL;
	if (*rq.head.internal)
		internal_answer(&rq);
	else
		fcgi_server_answer(&rq);
	server_say(&rq, start);
	request_release(&rq);
}
