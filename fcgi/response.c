/* SPDX-License-Identifier: ISC */
/* Building the head, and writing documents, errors, bytes and streams. */
#include "response.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "hygiene.h"
#include "request.h"
#include "server.h"
#include "service/files/files.h"
#include "service/thread/hole.h"
#include "telemetry/telemetry.h"
#include "upgrade.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGE "OK" /* of an answer that says nothing else */
#define JSON_TYPE "Content-Type: application/json\r\nCache-Control: no-store\r\n"
#define KEEP_SIZE 65536 /* a buffer that grew over this is not kept for the next request */

/* How long a client may take for an answer that is read while it is sent: a thread of the pool
 * waits with it, once what the web server keeps for it is full. */
#define SEND_MS 300000

static void reset(struct buf *b)
{
	if (b->size > KEEP_SIZE)
		buf_release(b);
	else
		buf_reset(b);
}

void response_reset(struct response *response)
{
	reset(&response->head);
	reset(&response->extra);
	reset(&response->body);
	response->status = 0;
	response->security = SECURITY_PLAIN;
}

void response_release(struct response *response)
{
	buf_release(&response->head);
	buf_release(&response->extra);
	buf_release(&response->body);
}

void response_header(struct request *rq, const char *name, const char *value)
{
	buf_printf(&rq->response->extra, "%s: %s\r\n", name, value);
}

static const char *reason(int status)
{
	static const struct {
		int status;
		const char *reason;
	} reasons[] = {{200, "OK"}, {204, "No Content"}, {206, "Partial Content"},
	    {304, "Not Modified"}, {400, "Bad Request"}, {401, "Unauthorized"}, {403, "Forbidden"},
	    {404, "Not Found"}, {405, "Method Not Allowed"}, {409, "Conflict"},
	    {413, "Content Too Large"}, {415, "Unsupported Media Type"},
	    {416, "Range Not Satisfiable"}, {422, "Unprocessable Content"},
	    {426, "Upgrade Required"}, {429, "Too Many Requests"}, {500, "Internal Server Error"},
	    {503, "Service Unavailable"}};
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "Status";
}

static void response_put(struct buf *out, const char *name, const char *value)
{
	buf_puts(out, name);
	buf_puts(out, value);
	buf_puts(out, "\r\n");
}

static void response_put_number(struct buf *out, const char *name, size_t number)
{
	char digits[24];
	char *start = digits + sizeof(digits) - 1;
	*start = '\0';
	do
		*--start = (char)('0' + number % 10);
	while (number /= 10);
	response_put(out, name, start);
}

/* Everything of the head but the blank line; type is the lines that the kind of body brings. */
static void build_head(struct request *rq, int status, const char *type)
{
	const struct hygiene *hygiene = rq->server->hygiene;
	struct buf *head = &rq->response->head;
	enum hygiene_place place = !head_is_https(&rq->head) ? HYGIENE_PLAIN
	    : *rq->head.prefix                               ? HYGIENE_HTTPS_BELOW
							     : HYGIENE_HTTPS;
	const struct buf *fixed = hygiene_headers(hygiene, rq->response->security, place);
	rq->response->status = status;
	if (status == 200)
		buf_puts(head, "Status: 200 OK\r\n");
	else
		buf_printf(head, "Status: %d %s\r\n", status, reason(status));
	buf_puts(head, type);
	response_put(head, "X-Request-ID: ", rq->id);
	response_put(head, "X-Timestamp: ", rq->time);
	if (fixed->len)
		buf_add(head, fixed->data, fixed->len);
	if (hygiene_allows_origin(hygiene, rq->head.origin))
		hygiene_add_cors(hygiene, rq->head.origin, head);
	if (rq->response->extra.len)
		buf_add(head, rq->response->extra.data, rq->response->extra.len);
}

static void response_send_head(struct request *rq)
{
	buf_puts(&rq->response->head, "\r\n");
	rq->client->write(rq->client, rq->response->head.data, rq->response->head.len);
}

/* Head and body in one write: the connection's buffer mostly holds both. */
static void send_all(struct request *rq, int status, const char *type)
{
	struct response *response = rq->response;
	build_head(rq, status, type);
	response_put_number(&response->head, "Content-Length: ", response->body.len);
	response_send_head(rq);
	if (rq->method != METHOD_HEAD)
		rq->client->write(rq->client, buf_str(&response->body), response->body.len);
}

static void send_json(struct request *rq, int status)
{
	rq->response->security = SECURITY_PLAIN;
	send_all(rq, status, JSON_TYPE);
}

void reply_empty(struct request *rq, int status)
{
	build_head(rq, status, "");
	response_send_head(rq);
}

void reply_text(struct request *rq, int status, const char *text)
{
	buf_puts(&rq->response->body, text);
	send_all(rq, status, "Content-Type: text/plain; charset=utf-8\r\n");
}

void reply_bytes(struct request *rq, const char *type, const char *data, size_t len)
{
	build_head(rq, 200, type);
	response_put_number(&rq->response->head, "Content-Length: ", len);
	response_send_head(rq);
	if (rq->method != METHOD_HEAD)
		rq->client->write(rq->client, data, len);
}

static void envelope_open(struct request *rq)
{
	buf_puts(&rq->response->body, "{\"success\":true,\"data\":");
}

/* message has nothing that JSON escapes; extra: further members of metadata, as JSON text with a
 * leading comma, or "". */
static void envelope_close(struct request *rq, const char *message, const char *extra)
{
	struct buf *body = &rq->response->body;
	buf_puts(body, ",\"message\":\"");
	buf_puts(body, message);
	buf_puts(body, "\",\"timestamp\":\"");
	buf_puts(body, rq->time);
	buf_puts(body, "\",\"metadata\":{\"request_id\":\"");
	buf_puts(body, rq->id);
	buf_puts(body, "\",\"timestamp\":\"");
	buf_puts(body, rq->time);
	buf_puts(body, "\",\"message\":\"");
	buf_puts(body, message);
	buf_puts(body, "\"");
	buf_puts(body, extra);
	buf_puts(body, "}}");
}

static void reply_envelope(
    struct request *rq, const char *data, const char *message, const char *extra)
{
	envelope_open(rq);
	buf_puts(&rq->response->body, data);
	envelope_close(rq, message, extra);
	send_json(rq, 200);
}

void reply_json(struct request *rq, const char *data)
{
	reply_envelope(rq, data, MESSAGE, "");
}

/* Sends what there is of an answer whose length is not known yet. */
static void response_send_part(struct request *rq)
{
	struct buf *body = &rq->response->body;
	if (!rq->response->status) {
		rq->response->security = SECURITY_PLAIN;
		build_head(rq, 200, JSON_TYPE);
		response_send_head(rq);
	}
	if (rq->method != METHOD_HEAD)
		rq->client->write(rq->client, body->data, body->len);
	reset(body);
}

/* An answer that has begun cannot become an error any more. */
static void break_off(struct request *rq, const char *why)
{
	log_warning("an answer was broken off: %s", why);
	if (rq->client->abort)
		rq->client->abort(rq->client);
}

/* Puts the messages of the call's hole where data has its mark.  What is small is sent as a whole;
 * of what is not, no more is in memory than a piece. */
static void reply_filled(
    struct request *rq, const char *data, const char *message, const char *extra)
{
	struct response *response = rq->response;
	const char *mark = strchr(data, HOLE_MARK);
	int64_t deadline = clock_monotonic_ms() + SEND_MS;
	bool more = true;
	envelope_open(rq);
	buf_add(&response->body, data, (size_t)(mark - data));
	while (more) {
		if (!hole_fill(&rq->call, &response->body, &more)) {
			if (response->status)
				break_off(rq, rq->call.error.cause);
			else
				reply_error(rq);
			return;
		}
		if (!more)
			break;
		response_send_part(rq);
		if (rq->method == METHOD_HEAD)
			return;
		if (rq->client->gone && rq->client->gone(rq->client))
			return;
		if (clock_monotonic_ms() > deadline) {
			break_off(rq, "the client reads too slowly");
			return;
		}
	}
	buf_puts(&response->body, mark + 1);
	envelope_close(rq, message, extra);
	if (response->status)
		response_send_part(rq);
	else
		send_json(rq, 200);
}

static void reply_printed(
    struct request *rq, const cJSON *data, const char *message, const char *extra)
{
	char *text = json_print(data);
	if (rq->call.hole.kind == HOLE_NONE)
		reply_envelope(rq, text, message, extra);
	else
		reply_filled(rq, text, message, extra);
	free(text);
}

void reply_data(struct request *rq, const cJSON *data)
{
	if (data)
		reply_printed(rq, data, MESSAGE, "");
	else
		reply_error(rq);
}

void reply_done(struct request *rq, const cJSON *data, const char *message)
{
	if (data)
		reply_printed(rq, data, message, "");
	else
		reply_error(rq);
}

void reply_run(struct request *rq, const cJSON *data)
{
	if (!data) {
		reply_error(rq);
		return;
	}
	const cJSON *meta = json_get(data, "meta");
	char *thread_id = json_print(json_get(meta, "thread_id"));
	const char *is_new = cJSON_IsTrue(json_get(meta, "is_new_thread")) ? "true" : "false";
	reply_printed(rq, data, MESSAGE,
	    arena_printf(
		rq->call.arena, ",\"thread_id\":%s,\"is_new_thread\":%s", thread_id, is_new));
	free(thread_id);
}

/* What errors of some kinds say besides. */
static void add_bounds(struct request *rq, cJSON *error)
{
	const struct config *config = rq->server->service->config;
	enum error_kind kind = rq->call.error.kind;
	if (kind == ERR_REQUEST_TOO_LARGE || kind == ERR_THREAD_TOO_LARGE) {
		int64_t max = kind == ERR_THREAD_TOO_LARGE ? config->thread_max_bytes
							   : config->env.max_request_size;
		json_add_int(error, "max_size_bytes", max);
		json_add_raw(error, "max_size_mb",
		    arena_printf(rq->call.arena, "%.1f", (double)max / (1 << 20)));
	} else if (kind == ERR_FILE_TOO_LARGE) {
		json_add_int(error, "max_size_bytes", upload_max_file(config));
		cJSON_AddItemToObject(
		    error, "max_size_mb", json_new_double(config->env.media_max_size_mb));
	} else if (kind == ERR_RATE_LIMIT) {
		limit_describe(&rq->call.limit, error);
	}
}

/* A refused WebSocket is told the code that it would have been closed with
 * (doc/protocol-sockets.md#the-handshake). */
static void add_close_code(struct request *rq, cJSON *body)
{
	int code = upgrade_close_code(rq);
	if (!code)
		return;
	json_add_int(body, "close_code", code);
	response_header(rq, "X-WebSocket-Close-Code", arena_printf(rq->call.arena, "%d", code));
}

/* The one place where a failed request is logged; why one was refused, with IS_DEBUG. */
static void response_log_failure(const struct request *rq, int status)
{
	const struct error *err = &rq->call.error;
	enum log_level refused = rq->server->service->config->env.is_debug ? LOG_INFO : LOG_DEBUG;
	log_at(status >= 500 ? LOG_ERROR : refused, "%d %s: %s%s%s", status, error_code_of(err),
	    err->detail, *err->cause ? ": " : "", err->cause);
}

/* What is our fault; a run's own failures are reported where it ended. */
static void response_report_failure(struct request *rq, int status)
{
	struct call *call = &rq->call;
	const struct failure_report report = {
	    .code = error_code_of(&call->error),
	    .message = call->error.detail,
	    .cause = call->error.cause,
	    .route = rq->match.route ? rq->match.route->path : NULL,
	    .request_id = rq->id,
	};
	if (status != 500 || call->reported || !call->service->telemetry)
		return;
	call->reported = true;
	telemetry_failure(call->service->telemetry, &report);
}

void reply_error(struct request *rq)
{
	struct error_view view;
	if (!error_is_set(&rq->call.error)) {
		error_set(&rq->call.error, ERR_INTERNAL, "%s", error_fixed_text(ERR_INTERNAL));
		error_cause(&rq->call.error, "the handler failed without saying why");
	}
	call_error_view(&rq->call, &view);
	response_log_failure(rq, view.status);
	response_report_failure(rq, view.status);
	if (rq->call.error.kind == ERR_TRANSIENT_STORAGE)
		response_header(rq, "Retry-After", "1");
	if (view.status == 401)
		response_header(rq, "WWW-Authenticate", "Bearer");
	cJSON *body = arena_json(rq->call.arena, error_body(&view, rq->id, rq->time));
	add_bounds(rq, json_get(body, "error"));
	add_close_code(rq, body);
	char *text = json_print(body);
	buf_reset(&rq->response->body);
	buf_puts(&rq->response->body, text);
	free(text);
	send_json(rq, view.status);
}

static void response_send_chunk(struct chunk_sink *sink, const char *json, size_t len)
{
	const struct reply_stream *stream = (struct reply_stream *)sink;
	struct request *rq = stream->rq;
	if (!rq->response->status) {
		build_head(rq, 200,
		    "Content-Type: text/event-stream; charset=utf-8\r\n"
		    "Cache-Control: no-cache, no-transform\r\n"
		    "X-Accel-Buffering: no\r\n"
		    "Content-Encoding: identity\r\n");
		response_send_head(rq);
	}
	rq->client->write(rq->client, stream->before, strlen(stream->before));
	rq->client->write(rq->client, json, len);
	rq->client->write(rq->client, stream->after, strlen(stream->after));
	if (!stream->corked)
		rq->client->flush(rq->client);
}

static void cork_stream(struct chunk_sink *sink, bool on)
{
	struct reply_stream *stream = (struct reply_stream *)sink;
	if (stream->corked && !on)
		stream->rq->client->flush(stream->rq->client);
	stream->corked = on;
}

void reply_stream_init(struct reply_stream *stream, struct request *rq)
{
	*stream = (struct reply_stream){
	    .sink = {response_send_chunk, cork_stream}, .rq = rq, .before = "", .after = "\n"};
}

void reply_events_init(struct reply_stream *stream, struct request *rq)
{
	reply_stream_init(stream, rq);
	stream->before = "data: ";
	stream->after = "\n\n";
}
