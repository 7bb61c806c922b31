/* SPDX-License-Identifier: ISC */
/* Sending objects in parts; an object appears as a whole or not at all. */
#include "base/memory.h"
#include "base/os/clock.h"
#include "storage/blob/s3_call.h"

#include <stdlib.h>
#include <string.h>

#define ATTEMPTS 4
#define PARTS 9000 /* of the 10000 that there may be */
#define PART_MS 120000
#define SMALL_MS 30000
#define ABORTS 100 /* at a time */
#define AGAIN_MS 500

struct parts {
	struct s3 *s3;
	const char *key;
	int fd;
	int64_t size, part;
	char *id;        /* of the upload, encoded */
	struct buf list; /* what the last request says of the parts */
};

static bool s3_parts_unexpected(
    const char *what, const struct http_response *response, struct error *err)
{
	char *code = s3_element(buf_str(&response->body), "Code");
	error_set(err, ERR_TRANSIENT_STORAGE, NULL);
	error_cause(err, "the bucket's server answered %s with %.100s", what,
	    code ? code : "something else");
	free(code);
	return false;
}

static char *s3_parts_encoded(const char *text)
{
	struct buf out = {0};
	sigv4_encode(&out, text, false);
	return buf_detach(&out);
}

static bool s3_parts_begin(struct parts *p, struct error *err)
{
	struct http_response response = {0};
	const struct s3_call call = {
	    .method = "POST",
	    .key = p->key,
	    .query = "uploads=",
	    .text = "",
	    .deadline_ms = clock_monotonic_ms() + SMALL_MS,
	    .attempts = ATTEMPTS,
	    .once = true,
	};
	bool ok = s3_run(p->s3, &call, &response, err);
	char *id = ok ? s3_element(buf_str(&response.body), "UploadId") : NULL;
	if (id)
		p->id = s3_parts_encoded(id);
	else if (ok)
		s3_parts_unexpected("the beginning of an upload", &response, err);
	free(id);
	http_response_release(&response);
	return p->id != NULL;
}

/* Sends a part and keeps its tag, which the server gives and wants to see in the end. */
static bool s3_parts_send_part(struct parts *p, int number, int64_t offset, struct error *err)
{
	int64_t left = p->size - offset;
	char *query = xasprintf("partNumber=%d&uploadId=%s", number, p->id);
	struct http_response response = {0};
	const struct s3_call call = {
	    .method = "PUT",
	    .key = p->key,
	    .query = query,
	    .fd = p->fd,
	    .offset = offset,
	    .len = (size_t)(left < p->part ? left : p->part),
	    .deadline_ms = clock_monotonic_ms() + PART_MS,
	    .attempts = ATTEMPTS,
	};
	bool ok = s3_run(p->s3, &call, &response, err);
	char *tag = ok ? http_response_header(&response, "ETag") : NULL;
	if (tag && !strpbrk(tag, "<>&"))
		buf_printf(&p->list, "<Part><PartNumber>%d</PartNumber><ETag>%s</ETag></Part>",
		    number, tag);
	else if (ok)
		ok = s3_parts_unexpected("a part", &response, err);
	free(tag);
	http_response_release(&response);
	free(query);
	return ok;
}

/* Completes the upload.  The status comes before the server has finished: a 200 may have an error
 * in its body. */
static bool s3_parts_finish(struct parts *p, struct error *err)
{
	char *query = xasprintf("uploadId=%s", p->id);
	struct buf body = {0};
	struct http_response response = {0};
	buf_printf(
	    &body, "<CompleteMultipartUpload>%s</CompleteMultipartUpload>", buf_str(&p->list));
	const struct s3_call call = {
	    .method = "POST",
	    .key = p->key,
	    .query = query,
	    .text = body.data,
	    .deadline_ms = clock_monotonic_ms() + PART_MS,
	    .attempts = ATTEMPTS,
	};
	bool ok = true, over = false;
	for (int number = 1; ok && !over; number++) {
		ok = s3_run(p->s3, &call, &response, err);
		const char *said = buf_str(&response.body);
		over = strstr(said, "CompleteMultipartUploadResult");
		bool passing = strstr(said, "<Code>InternalError<") && number < ATTEMPTS;
		if (ok && !over && !passing)
			ok = s3_parts_unexpected("the end of an upload", &response, err);
		http_response_release(&response);
		response = (struct http_response){0};
		if (ok && !over)
			clock_sleep_ms(AGAIN_MS);
	}
	buf_release(&body);
	free(query);
	return ok;
}

bool s3_put_parts(
    struct s3 *s3, const char *key, int fd, int64_t size, bool *sent, struct error *err)
{
	struct parts p = {.s3 = s3, .key = key, .fd = fd, .size = size, .part = S3_PART};
	if (size / PARTS >= p.part)
		p.part = size / PARTS + 1;
	*sent = s3_parts_begin(&p, err);
	int number = 1;
	for (int64_t at = 0; *sent && at < size; at += p.part)
		*sent = s3_parts_send_part(&p, number++, at, err);
	bool ok = *sent && s3_parts_finish(&p, err);
	buf_release(&p.list);
	free(p.id);
	return ok;
}

/* ---- taking away ---- */

/* The keys in the list all begin with this one, which nothing else does. */
bool s3_abort_parts(struct s3 *s3, const char *key, struct error *err)
{
	char *prefix = s3_parts_encoded(key);
	char *query = xasprintf("max-uploads=%d&prefix=%s&uploads=", ABORTS, prefix);
	struct http_response response = {0};
	const struct s3_call call = {
	    .method = "GET",
	    .query = query,
	    .deadline_ms = clock_monotonic_ms() + SMALL_MS,
	    .attempts = 1,
	};
	bool ok = s3_run(s3, &call, &response, err);
	const char *at = strstr(buf_str(&response.body), "<Upload>");
	for (; ok && at; at = strstr(at + 1, "<Upload>")) {
		char *id = s3_element(at, "UploadId"), *upload = id ? s3_parts_encoded(id) : NULL;
		char *which = upload ? xasprintf("uploadId=%s", upload) : NULL;
		ok = which && s3_delete(s3, key, which, SMALL_MS, err);
		free(which);
		free(upload);
		free(id);
	}
	http_response_release(&response);
	free(query);
	free(prefix);
	return ok;
}
