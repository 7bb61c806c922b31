/* SPDX-License-Identifier: ISC */
/* Building the head, and writing documents, errors, bytes and streams. */
#include "fcgi/request/response.h"

#include "base/json/json.h"
#include "base/log/log.h"
#include "base/os/clock.h"
#include "fcgi/request/hygiene.h"
#include "fcgi/request/request.h"
#include "fcgi/server.h"
#include "service/files/files.h"
#include "telemetry/telemetry.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGE "OK" /* of an answer that says nothing else */
#define JSON_TYPE "Content-Type: application/json\r\nCache-Control: no-store\r\n"
#define LINES_TYPE "Content-Type: " BODY_LINES_TYPE "\r\nCache-Control: no-store\r\n"
#define STREAM_TYPE                                          \
	"Content-Type: text/event-stream; charset=utf-8\r\n" \
	"Cache-Control: no-cache, no-transform\r\n"          \
	"X-Accel-Buffering: no\r\n"                          \
	"Content-Encoding: identity\r\n"
#define KEEP_SIZE 65536 /* a buffer that grew over this is not kept for the next request */

/* How long a client may take for an answer that is read from the database while it is sent: once
 * the web server's buffer is full, a thread of the pool waits for the client. */
#define SEND_MS 300000

static void response_buf_reset(struct buf *b)
{
	if (b->size > KEEP_SIZE)
		buf_release(b);
	else
		buf_reset(b);
}

void response_reset(struct response *response)
{
	response_buf_reset(&response->head);
	response_buf_reset(&response->extra);
	response_buf_reset(&response->body);
	response->status = 0;
	response->exposed = NULL;
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

static const char *response_reason(int status)
{
	static const struct {
		int status;
		const char *reason;
	} reasons[] = {{200, "OK"}, {202, "Accepted"}, {204, "No Content"},
	    {206, "Partial Content"}, {304, "Not Modified"}, {400, "Bad Request"},
	    {401, "Unauthorized"}, {403, "Forbidden"}, {404, "Not Found"},
	    {405, "Method Not Allowed"}, {408, "Request Timeout"}, {409, "Conflict"},
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

static void response_put_length(struct buf *out, size_t length)
{
	buf_puts(out, "Content-Length: ");
	buf_int(out, (int64_t)length);
	buf_puts(out, "\r\n");
}

/* Builds the head without its blank line; type has the lines that the kind of body brings. */
static void response_build_head(struct request *rq, int status, const char *type)
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
		buf_printf(head, "Status: %d %s\r\n", status, response_reason(status));
	buf_puts(head, type);
	response_put(head, "X-Request-ID: ", rq->id);
	response_put(head, "X-Timestamp: ", rq->time);
	if (fixed->len)
		buf_add(head, fixed->data, fixed->len);
	if (hygiene_allows_origin(hygiene, rq->head.origin))
		hygiene_add_cors(hygiene, rq->head.origin, rq->response->exposed, head);
	if (rq->response->extra.len)
		buf_add(head, rq->response->extra.data, rq->response->extra.len);
}

static void response_send_head(struct request *rq)
{
	buf_puts(&rq->response->head, "\r\n");
	rq->client->write(rq->client, rq->response->head.data, rq->response->head.len);
}

/* Head and body in one write: the connection's buffer mostly holds both. */
static void response_send_all(struct request *rq, int status, const char *type)
{
	struct response *response = rq->response;
	response_build_head(rq, status, type);
	response_put_length(&response->head, response->body.len);
	response_send_head(rq);
	if (rq->method != METHOD_HEAD)
		rq->client->write(rq->client, buf_str(&response->body), response->body.len);
}

static void response_send_json(struct request *rq, int status)
{
	rq->response->security = SECURITY_PLAIN;
	response_send_all(rq, status, JSON_TYPE);
}

void reply_empty(struct request *rq, int status)
{
	response_build_head(rq, status, "");
	response_send_head(rq);
}

void reply_text(struct request *rq, int status, const char *text)
{
	buf_puts(&rq->response->body, text);
	response_send_all(rq, status, "Content-Type: text/plain; charset=utf-8\r\n");
}

void reply_bytes(struct request *rq, const char *type, const char *data, size_t len)
{
	response_build_head(rq, 200, type);
	response_put_length(&rq->response->head, len);
	response_send_head(rq);
	if (rq->method != METHOD_HEAD)
		rq->client->write(rq->client, data, len);
}

static void response_open_envelope(struct request *rq)
{
	buf_puts(&rq->response->body, "{\"success\":true,\"data\":");
}

/* message has nothing that JSON escapes; extra is "", or further members of metadata as JSON text
 * with a leading comma. */
static void response_close_envelope(struct request *rq, const char *message, const char *extra)
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

void reply_json(struct request *rq, const char *data)
{
	response_open_envelope(rq);
	buf_puts(&rq->response->body, data);
	response_close_envelope(rq, MESSAGE, "");
	response_send_json(rq, 200);
}

void reply_accepted(struct request *rq, const cJSON *data)
{
	if (!data) {
		reply_error(rq);
		return;
	}
	response_open_envelope(rq);
	json_write(&rq->response->body, data);
	response_close_envelope(rq, MESSAGE, "");
	response_send_json(rq, 202);
}

/* An answer that has begun cannot become an error any more. */
static void response_break_off(struct request *rq, const char *why)
{
	log_warning("an answer was broken off: %s", why);
	if (rq->client->abort)
		rq->client->abort(rq->client);
}

/* An answer whose length is not known when it begins. */
struct response_feed {
	struct request *rq;
	const char *type;
	int64_t deadline;
};

/* Sends a part of the answer, after the head if it is the first one. */
static bool response_send_part(void *arg, struct buf *part)
{
	const struct response_feed *feed = arg;
	struct request *rq = feed->rq;
	if (!rq->response->status) {
		rq->response->security = SECURITY_PLAIN;
		response_build_head(rq, 200, feed->type);
		response_send_head(rq);
	}
	if (rq->method == METHOD_HEAD)
		return false;
	rq->client->write(rq->client, part->data, part->len);
	if (rq->client->gone && rq->client->gone(rq->client))
		return false;
	if (clock_monotonic_ms() <= feed->deadline)
		return true;
	response_break_off(rq, "the client reads too slowly");
	return false;
}

/* Ends the answer: with the last part, which is in the body; or, if it is not whole, with the
 * error. */
static void response_end_feed(struct response_feed *feed, bool whole)
{
	struct request *rq = feed->rq;
	if (whole && rq->response->status) {
		response_send_part(feed, &rq->response->body);
	} else if (whole) {
		rq->response->security = SECURITY_PLAIN;
		response_send_all(rq, 200, feed->type);
	} else if (error_is_set(&rq->call.error)) {
		if (rq->response->status)
			response_break_off(rq, rq->call.error.cause);
		else
			reply_error(rq);
	}
}

void reply_lines(struct request *rq, lines_fn put, const char *id)
{
	struct response_feed feed = {rq, LINES_TYPE, clock_monotonic_ms() + SEND_MS};
	response_end_feed(
	    &feed, put(&rq->call, id, &rq->response->body, response_send_part, &feed));
}

void reply_parts(struct request *rq, parts_fn put, const void *of)
{
	struct response_feed feed = {rq, JSON_TYPE, clock_monotonic_ms() + SEND_MS};
	response_end_feed(
	    &feed, put(&rq->call, of, &rq->response->body, response_send_part, &feed));
}

static void response_send_tree(
    struct request *rq, const cJSON *data, const char *message, const char *extra)
{
	if (!data) {
		reply_error(rq);
		return;
	}
	if (rq->call.feed.kind == FEED_NONE) {
		response_open_envelope(rq);
		json_write(&rq->response->body, data);
		response_close_envelope(rq, message, extra);
		response_send_json(rq, 200);
		return;
	}
	/* The messages of the call's feed replace the marks in data.  A small answer is sent as a
	 * whole; of a larger one no more than a part is in memory. */
	char *text = json_print(data);
	struct response_feed feed = {rq, JSON_TYPE, clock_monotonic_ms() + SEND_MS};
	response_open_envelope(rq);
	bool whole = feed_put(&rq->call, text, &rq->response->body, response_send_part, &feed);
	if (whole)
		response_close_envelope(rq, message, extra);
	response_end_feed(&feed, whole);
	free(text);
}

void reply_data(struct request *rq, const cJSON *data)
{
	response_send_tree(rq, data, MESSAGE, "");
}

void reply_done(struct request *rq, const cJSON *data, const char *message)
{
	response_send_tree(rq, data, message, "");
}

void reply_run(struct request *rq, const cJSON *data)
{
	const cJSON *meta = json_get(data, "meta");
	struct buf extra = {0};
	buf_puts(&extra, ",\"thread_id\":");
	json_write(&extra, json_get(meta, "thread_id"));
	buf_puts(&extra, ",\"is_new_thread\":");
	json_write(&extra, json_get(meta, "is_new_thread"));
	response_send_tree(rq, data, MESSAGE, buf_str(&extra));
	buf_release(&extra);
}

void reply_bare(struct request *rq, const cJSON *body)
{
	if (!body) {
		reply_error(rq);
		return;
	}
	json_write(&rq->response->body, body);
	response_send_json(rq, 200);
}

/* Adds the limit that was exceeded, for the kinds of errors that have one. */
static void response_add_bounds(struct request *rq, cJSON *error)
{
	const struct config *config = rq->server->service->config;
	enum error_kind kind = rq->call.error.kind;
	if (kind == ERR_REQUEST_TOO_LARGE || kind == ERR_THREAD_TOO_LARGE) {
		int64_t max = kind == ERR_THREAD_TOO_LARGE ? config->thread_max_bytes
							   : config->env.max_request_size;
		json_add_int(error, "max_size_bytes", max);
		cJSON_AddItemToObject(
		    error, "max_size_mb", json_new_double((double)max / (1 << 20)));
	} else if (kind == ERR_FILE_TOO_LARGE) {
		json_add_int(error, "max_size_bytes", upload_max_file(config));
		cJSON_AddItemToObject(
		    error, "max_size_mb", json_new_double(config->env.media_max_size_mb));
	} else if (kind == ERR_RATE_LIMIT && rq->client->lacking != ERR_RATE_LIMIT) {
		limit_describe(&rq->call.limit, error);
	}
}

/* Reports an answer with 500 to the error tracker, unless the run did so when it ended. */
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
		error_set(&rq->call.error, ERR_INTERNAL, NULL);
		error_cause(&rq->call.error, "the handler failed without saying why");
	}
	const struct dialect *dialect = rq->match.dialect;
	call_error_view(&rq->call, &view);
	if (dialect && dialect->mistakes && view.status == 422)
		view.status = dialect->mistakes;
	/* the one place where a failed request is logged; why one was refused, with IS_DEBUG */
	const struct error *err = &rq->call.error;
	enum log_level refused = rq->server->service->config->env.is_debug ? LOG_INFO : LOG_DEBUG;
	char *why = error_logged(err);
	log_at(view.status >= 500 ? LOG_ERROR : refused, "%d %s: %s", view.status,
	    error_code_of(err), why);
	free(why);
	response_report_failure(rq, view.status);
	if (rq->call.error.kind == ERR_TRANSIENT_STORAGE || rq->call.error.kind == ERR_QUEUE_FULL)
		response_header(rq, "Retry-After", "1");
	if (view.status == 401)
		response_header(rq, "WWW-Authenticate",
		    dialect && dialect->challenge ? dialect->challenge(rq) : "Bearer");
	cJSON *body;
	if (dialect && dialect->error_body) {
		body = dialect->error_body(rq, &view);
	} else {
		body = arena_json(rq->call.arena, error_body(&view, rq->id, rq->time));
		response_add_bounds(rq, json_get(body, "error"));
		/* what a WebSocket would have been closed with
		 * (doc/protocol-sockets.md#the-handshake) */
		int code = rq->handshake ? error_close_code(err->kind) : 0;
		if (code) {
			json_add_int(body, "close_code", code);
			response_header(
			    rq, "X-WebSocket-Close-Code", arena_printf(rq->call.arena, "%d", code));
		}
	}
	buf_reset(&rq->response->body);
	json_write(&rq->response->body, body);
	response_send_json(rq, view.status);
}

void reply_stream_head(struct request *rq)
{
	response_build_head(rq, 200, STREAM_TYPE);
	response_send_head(rq);
}

/* Sends the head before the first chunk, and what stands before every chunk. */
static void response_open_chunk(struct reply_stream *stream)
{
	struct request *rq = stream->rq;
	if (!rq->response->status && stream->on_head)
		stream->on_head(rq);
	if (!rq->response->status)
		reply_stream_head(rq);
	if (!stream->begun)
		rq->client->write(rq->client, stream->before, strlen(stream->before));
	stream->begun = true;
}

static void response_send_chunk(struct chunk_sink *sink, const char *json, size_t len)
{
	struct reply_stream *stream = (struct reply_stream *)sink;
	struct request *rq = stream->rq;
	response_open_chunk(stream);
	rq->client->write(rq->client, json, len);
	rq->client->write(rq->client, stream->after, strlen(stream->after));
	stream->begun = false;
	if (!stream->corked)
		rq->client->flush(rq->client);
}

static bool response_begin_chunk(struct chunk_sink *sink, const char *json, size_t len)
{
	struct reply_stream *stream = (struct reply_stream *)sink;
	struct client *client = stream->rq->client;
	response_open_chunk(stream);
	client->write(client, json, len);
	return !(client->gone && client->gone(client));
}

static void response_cut_chunk(struct chunk_sink *sink, const char *why)
{
	response_break_off(((struct reply_stream *)sink)->rq, why);
}

static void response_cork_stream(struct chunk_sink *sink, bool on)
{
	struct reply_stream *stream = (struct reply_stream *)sink;
	if (stream->corked && !on)
		stream->rq->client->flush(stream->rq->client);
	stream->corked = on;
}

void reply_stream_init(struct reply_stream *stream, struct request *rq)
{
	*stream = (struct reply_stream){.sink = {.chunk = response_send_chunk,
					    .cork = response_cork_stream,
					    .part = response_begin_chunk,
					    .cut = response_cut_chunk},
	    .rq = rq,
	    .before = "",
	    .after = "\n"};
}

void reply_events_init(struct reply_stream *stream, struct request *rq)
{
	reply_stream_init(stream, rq);
	stream->before = "data: ";
	stream->after = "\n\n";
}
