/* SPDX-License-Identifier: ISC */
/* One request to S3: signed, sent, and sent again where that helps. */
#include "storage/blob/s3_call.h"

#include "base/id.h"
#include "base/memory.h"
#include "base/os/clock.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONNECT_MS 5000
#define ANSWER_MS 15000 /* to the first byte, and between two */
#define PAUSE_MS 200    /* before the second attempt; twice that before the third, ... */
#define PAUSE_MAX_MS 5000
#define ANSWER_SIZE (1 << 20) /* of XML */
#define COPY_SIZE 65536
#define HEADERS_MAX 8

/* What one attempt needs. */
struct attempt {
	const struct s3_call *call;
	size_t sent, got;
	int status;
	struct buf complaint; /* the body of an answer that is an error */
};

struct sigv4_key s3_signer(const struct s3 *s3)
{
	return (struct sigv4_key){s3->id, s3->secret, s3->region};
}

void s3_path(const struct s3 *s3, const char *key, struct buf *out)
{
	sigv4_encode(out, s3->base, true);
	if (key)
		sigv4_encode(out, key, true);
	else if (out->len > 1)
		out->data[--out->len] = '\0';
}

/* ---- bodies ---- */

static size_t s3_call_give(char *into, size_t size, void *arg)
{
	struct attempt *a = arg;
	size_t left = a->call->len - a->sent;
	ssize_t n =
	    pread(a->call->fd, into, size < left ? size : left, a->call->offset + (int64_t)a->sent);
	if (n <= 0)
		return SIZE_MAX;
	a->sent += (size_t)n;
	return (size_t)n;
}

static bool s3_call_note_head(int status, void *arg)
{
	((struct attempt *)arg)->status = status;
	return true;
}

static bool s3_call_is_good(int status)
{
	return status >= 200 && status < 300;
}

static bool s3_call_take(const char *data, size_t len, void *arg)
{
	struct attempt *a = arg;
	if (!s3_call_is_good(a->status)) {
		if (a->complaint.len < COPY_SIZE)
			buf_add(&a->complaint, data, len);
		return true;
	}
	if (len > a->call->out_len - a->got)
		return false;
	memcpy(a->call->out + a->got, data, len);
	a->got += len;
	return true;
}

/* The hash of the part of a file; false when it cannot be read. */
static bool s3_call_hash_file(const struct s3_call *call, char out[SIGV4_HASH_SIZE])
{
	unsigned char hash[32];
	char *piece = xmalloc(COPY_SIZE);
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	size_t at = 0;
	bool ok = EVP_DigestInit_ex(md, EVP_sha256(), NULL);
	while (ok && at < call->len) {
		size_t want = call->len - at < COPY_SIZE ? call->len - at : COPY_SIZE;
		ssize_t n = pread(call->fd, piece, want, call->offset + (int64_t)at);
		ok = n > 0 && EVP_DigestUpdate(md, piece, (size_t)n);
		at += n > 0 ? (size_t)n : 0;
	}
	ok = ok && EVP_DigestFinal_ex(md, hash, NULL);
	EVP_MD_CTX_free(md);
	free(piece);
	if (ok)
		hex_text(hash, SIGV4_HASH_SIZE / 2, out);
	return ok;
}

/* ---- one attempt ---- */

struct head {
	struct http_header items[HEADERS_MAX];
	size_t count;
	char date[SIGV4_DATE_SIZE], hash[SIGV4_HASH_SIZE];
	struct buf path, url, authorization;
};

static void s3_call_add(struct head *h, const char *name, const char *value)
{
	if (value)
		h->items[h->count++] = (struct http_header){name, value};
}

/* Makes the headers, in the order that the signature needs. */
static void s3_call_make_head(struct s3 *s3, const struct s3_call *call, struct head *h)
{
	const struct sigv4_key key = s3_signer(s3);
	const char *query = call->query ? call->query : "";
	sigv4_date(clock_now() / 1000000, h->date);
	s3_path(s3, call->key, &h->path);
	buf_printf(&h->url, "%s://%s%s%s%s", s3->scheme, s3->authority, buf_str(&h->path),
	    *query ? "?" : "", query);
	s3_call_add(h, "host", s3->authority);
	s3_call_add(h, "range", call->range);
	s3_call_add(h, "x-amz-content-sha256", h->hash);
	s3_call_add(h, "x-amz-date", h->date);
	s3_call_add(h, "x-amz-security-token", s3->token);
	struct sigv4_request request = {.method = call->method,
	    .path = buf_str(&h->path),
	    .query = query,
	    .headers = h->items,
	    .header_count = h->count,
	    .payload = h->hash,
	    .date = ""};
	memcpy(request.date, h->date, sizeof(h->date));
	sigv4_authorization(&h->authorization, &key, &request);
	s3_call_add(h, "authorization", buf_str(&h->authorization));
	if (call->text)
		s3_call_add(h, "content-type", "application/xml");
	else if (call->len > 0)
		s3_call_add(h, "content-type", "application/octet-stream");
}

static void s3_call_send_once(struct s3 *s3, const struct s3_call *call, struct head *h,
    struct attempt *a, struct http_response *response)
{
	s3_call_make_head(s3, call, h);
	const struct http_request request = {
	    .method = call->method,
	    .url = buf_str(&h->url),
	    .headers = h->items,
	    .header_count = h->count,
	    .body = call->text,
	    .body_len = call->text ? strlen(call->text) : call->len,
	    .read = !call->text && call->len > 0 ? s3_call_give : NULL,
	    .connect_ms = CONNECT_MS,
	    .first_byte_ms = ANSWER_MS,
	    .idle_ms = ANSWER_MS,
	    .deadline_ms = call->deadline_ms,
	    .max_body = ANSWER_SIZE,
	    .on_head = s3_call_note_head,
	    .on_data = call->out ? s3_call_take : NULL,
	    .arg = a,
	};
	http_call(&request, response);
	if (response->end == HTTP_DONE && s3_call_is_good(response->status) &&
	    a->got != call->out_len)
		response->end = HTTP_CLOSED;
}

/* ---- until it is answered ---- */

static bool s3_call_helps(const struct s3_call *call, const struct http_response *response)
{
	if (response->end == HTTP_NO_CONNECT)
		return true;
	int status = response->status;
	if (response->end == HTTP_DONE)
		return status == 429 || status == 500 || status == 502 || status == 503 ||
		    status == 504;
	return !call->once && (response->end == HTTP_CLOSED || response->end == HTTP_TIMED_OUT);
}

/* How long to wait before the next attempt: growing, as the server asks, and with a random part. */
static int64_t s3_call_pause_ms(const struct http_response *response, int attempt)
{
	uint8_t dice;
	int64_t wanted = http_retry_after_ms(response);
	int64_t pause = (int64_t)PAUSE_MS << attempt;
	random_bytes(&dice, 1);
	pause += pause * dice / 512;
	if (wanted > pause)
		pause = wanted;
	return pause < PAUSE_MAX_MS ? pause : PAUSE_MAX_MS;
}

char *s3_element(const char *xml, const char *name)
{
	char *open = xasprintf("<%s>", name);
	const char *start = strstr(xml, open);
	char *value = NULL;
	if (start) {
		start += strlen(open);
		size_t len = strcspn(start, "<&");
		if (start[len] == '<')
			value = xstrndup(start, len);
	}
	free(open);
	return value;
}

/* Explains a failure by its code only, because the server's message quotes what was signed. */
static void s3_call_explain(const struct s3_call *call, const struct attempt *a,
    const struct http_response *response, struct error *err)
{
	const char *body = call->out ? buf_str(&a->complaint) : buf_str(&response->body);
	char *code = s3_element(body, "Code");
	bool missing = response->end == HTTP_DONE && response->status == 404 && call->key &&
	    (!code || strcmp(code, "NoSuchBucket") != 0);
	/* a redirect, which is not followed, says where the bucket is */
	char *region = http_response_header(response, "x-amz-bucket-region");
	bool elsewhere = region && response->status / 100 == 3;
	error_set(err, missing ? ERR_STORAGE : ERR_TRANSIENT_STORAGE, NULL);
	if (response->end == HTTP_DONE)
		error_cause(err, "the bucket's server answered %s %s with %d%s%.100s%s%.40s",
		    call->method, call->key ? call->key : "of the bucket", response->status,
		    code ? " " : "", code ? code : "",
		    elsewhere ? "; the bucket is in region " : "", elsewhere ? region : "");
	else
		error_cause(err, "the bucket's server did not answer %s %s: %s", call->method,
		    call->key ? call->key : "of the bucket", response->reason);
	free(region);
	free(code);
}

bool s3_run(
    struct s3 *s3, const struct s3_call *call, struct http_response *response, struct error *err)
{
	const char *text = call->text ? call->text : "";
	bool over = false;
	char hash[SIGV4_HASH_SIZE];
	if (call->text || call->len == 0) {
		sigv4_hash(text, strlen(text), hash);
	} else if (!s3_call_hash_file(call, hash)) {
		error_set(err, ERR_STORAGE, NULL);
		return error_cause(err, "a file on its way to the bucket cannot be read");
	}
	for (int number = 0; !over; number++) {
		struct head h = {.count = 0};
		struct attempt a = {.call = call};
		memcpy(h.hash, hash, sizeof(hash));
		s3_call_send_once(s3, call, &h, &a, response);
		bool good = response->end == HTTP_DONE && s3_call_is_good(response->status);
		int64_t pause = s3_call_pause_ms(response, number);
		over = good || !s3_call_helps(call, response) || number + 1 >= call->attempts ||
		    clock_monotonic_ms() + pause >= call->deadline_ms;
		if (over && !good)
			s3_call_explain(call, &a, response, err);
		buf_release(&a.complaint);
		buf_release(&h.path);
		buf_release(&h.url);
		buf_release(&h.authorization);
		if (!over) {
			http_response_release(response);
			*response = (struct http_response){0};
			clock_sleep_ms(pause);
		}
	}
	return !error_is_set(err);
}

bool s3_delete(
    struct s3 *s3, const char *key, const char *query, int64_t patience_ms, struct error *err)
{
	struct http_response response = {0};
	struct error failure = {0};
	const struct s3_call call = {
	    .method = "DELETE",
	    .key = key,
	    .query = query,
	    .deadline_ms = clock_monotonic_ms() + patience_ms,
	    .attempts = 1,
	};
	bool ok = s3_run(s3, &call, &response, &failure) || failure.kind == ERR_STORAGE;
	if (!ok)
		error_move(err, &failure);
	error_release(&failure);
	http_response_release(&response);
	return ok;
}
