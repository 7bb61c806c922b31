/* SPDX-License-Identifier: ISC */
/*
 * Answers: status and header lines, the envelopes of doc/protocol.md#answers, and streams.
 *
 * A handler writes exactly one answer.  Errors need no decision by the handler: where data is
 * expected, NULL stands for the error in the request's call.
 */
#ifndef AGENTGRAPH_FCGI_REQUEST_RESPONSE_H
#define AGENTGRAPH_FCGI_REQUEST_RESPONSE_H

#include "base/buf.h"
#include "fcgi/request/hygiene.h"
#include "service/run/runs.h"
#include "service/thread/feed.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

struct request;

/* A thread's buffers; all-zero is ready to use. */
struct response {
	struct buf head, extra, body;
	int status;          /* of the answer that was sent; 0 before */
	const char *exposed; /* headers of the answer that pages of other origins may read besides
				the usual ones, or NULL; set before it is sent */
	enum security security; /* of the answer; set before it is sent, else SECURITY_PLAIN */
};

/* Empties the buffers, and gives large ones back. */
void response_reset(struct response *response);
void response_release(struct response *response);

/* Adds a header line to the answer that follows. */
void response_header(struct request *rq, const char *name, const char *value);

/* 200 with data in the envelope; here and in the next three data may be NULL, see above. */
void reply_data(struct request *rq, const cJSON *data);

/* The same with a message other than OK, which has nothing that JSON escapes. */
void reply_done(struct request *rq, const cJSON *data, const char *message);

/* 202 with data that is not yet what was asked for. */
void reply_accepted(struct request *rq, const cJSON *data);

/* 200, with thread_id and is_new_thread of data.meta also in the envelope's metadata. */
void reply_run(struct request *rq, const cJSON *data);

/* 200 with a body that has no envelope; NULL as in reply_data. */
void reply_bare(struct request *rq, const cJSON *body);

/* 200 with data given as JSON text. */
void reply_json(struct request *rq, const char *data);

/* 200 with len bytes outside the envelope; type is header lines, each ended by \r\n. */
void reply_bytes(struct request *rq, const char *type, const char *data, size_t len);

/* 200 with lines of JSON that put appends; many of them are sent in parts, as feed_put does.  If
 * put fails before the first part, the error in the request's call. */
typedef bool (*lines_fn)(
    struct call *call, const char *id, struct buf *part, feed_fn send, void *arg);
void reply_lines(struct request *rq, lines_fn put, const char *id);

/* The same with one JSON value, without an envelope. */
typedef bool (*parts_fn)(
    struct call *call, const void *of, struct buf *part, feed_fn send, void *arg);
void reply_parts(struct request *rq, parts_fn put, const void *of);

/* The error in the request's call, which must be set. */
void reply_error(struct request *rq);

/* The head of a stream, without a body: for HEAD. */
void reply_stream_head(struct request *rq);

/* A bare status with its header lines, which may announce a body that the caller writes. */
void reply_empty(struct request *rq, int status);

/* A status with a text, for OPTIONS alone. */
void reply_text(struct request *rq, int status, const char *text);

/*
 * Chunks as lines (doc/protocol-runs.md#stream), or as the data of server-sent events
 * (doc/protocol-ag-ui.md#events), each sent at once; the head goes out with the first.
 */
struct reply_stream {
	struct chunk_sink sink; /* first: a sink is its stream */
	struct request *rq;
	const char *before, *after;          /* what stands around a chunk */
	void (*on_head)(struct request *rq); /* adds to the head; or NULL */
	bool corked;
	bool begun; /* a chunk was begun whose end has not come yet */
};
void reply_stream_init(struct reply_stream *stream, struct request *rq);
void reply_events_init(struct reply_stream *stream, struct request *rq);

#endif
