/* SPDX-License-Identifier: ISC */
/* POST /v1/files/upload: the file goes from the web server to the store while it arrives
 * (doc/protocol-files.md#upload). */
#include "base/memory.h"
#include "fcgi/handlers/handlers.h"
#include "fcgi/request/multipart.h"
#include "fcgi/request/request.h"
#include "fcgi/server.h"
#include "service/files/files.h"

#include <stdlib.h>
#include <string.h>

#define READ_SIZE (256 << 10)

/* Takes the parts of the body; the first one named file is the file. */
struct reception {
	struct multipart_sink sink; /* first */
	struct call *call;
	struct upload *upload; /* NULL until the file's part begins */
	bool in_file;          /* the part that arrives now is the file */
};

static bool fcgi_upload_take_part(struct multipart_sink *sink, const struct multipart_part *part)
{
	struct reception *r = (struct reception *)sink;
	r->in_file = !r->upload && part->name && strcmp(part->name, "file") == 0;
	if (!r->in_file)
		return true;
	r->upload = upload_begin(r->call, part->filename, part->content_type);
	return r->upload != NULL;
}

static bool upload_take_bytes(struct multipart_sink *sink, const char *data, size_t len)
{
	struct reception *r = (struct reception *)sink;
	return !r->in_file || upload_write(r->upload, data, len);
}

static bool upload_bad(struct call *call, const char *text)
{
	return error_set(&call->error, ERR_BAD_REQUEST, "%s", text);
}

/* Feeds the body to the parser; false with the error set when it is too long or breaks off. */
static bool fcgi_upload_receive(struct request *rq, struct multipart *mp, char *buffer)
{
	int64_t max = upload_max_body(rq->server->service->config), have = 0;
	ssize_t got;
	while ((got = rq->client->read(rq->client, buffer, READ_SIZE)) > 0) {
		have += got;
		if (have > max)
			return upload_too_large(&rq->call);
		if (!multipart_feed(mp, buffer, (size_t)got))
			return true;
	}
	if (got < 0 || (rq->length >= 0 && have != rq->length))
		return upload_bad(&rq->call, "Request body is incomplete");
	return true;
}

/* Whether the parser found a whole file in the body; false with the error set. */
static bool fcgi_upload_check(const struct multipart *mp, struct reception *r)
{
	if (error_is_set(&r->call->error))
		return false;
	if (mp->state == MULTIPART_MALFORMED)
		return upload_bad(r->call, mp->fault);
	if (mp->state != MULTIPART_END && (r->upload || mp->in_part))
		return upload_bad(r->call, "Request body is incomplete");
	return r->upload || upload_bad(r->call, "file is required");
}

void post_upload(struct request *rq)
{
	struct reception r = {
	    .sink = {.part = fcgi_upload_take_part, .data = upload_take_bytes}, .call = &rq->call};
	struct multipart mp;
	if (!multipart_init(&mp, rq->head.content_type, &r.sink)) {
		upload_bad(&rq->call, "file is required");
		reply_error(rq);
		return;
	}
	char *buffer = xmalloc(READ_SIZE);
	bool ok = fcgi_upload_receive(rq, &mp, buffer) && fcgi_upload_check(&mp, &r);
	free(buffer);
	multipart_release(&mp);
	reply_data(rq, ok ? upload_finish(r.upload) : NULL);
}
