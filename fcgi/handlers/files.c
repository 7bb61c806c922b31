/* SPDX-License-Identifier: ISC */
/* /v1/files: what is stored, and its bytes (doc/protocol-files.md). */
#include "service/files/files.h"

#include "base/memory.h"
#include "fcgi/handlers/handlers.h"
#include "fcgi/request/range.h"
#include "fcgi/request/request.h"
#include "fcgi/server.h"
#include "service/files/media_type.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEND_SIZE 65536

void get_file_info(struct request *rq)
{
	reply_data(rq, file_info(&rq->call, rq->match.ids[0]));
}

void get_file_url(struct request *rq)
{
	reply_data(rq, file_url(&rq->call, rq->match.ids[0]));
}

void get_multimodal(struct request *rq)
{
	reply_data(rq, multimodal_info(&rq->call));
}

/* ---- the bytes ---- */

struct download {
	struct request *rq;
	struct file_record record;
	char etag[80];
	char modified[HTTP_DATE_SIZE];
	struct range range;
};

static const char *files_asked(const struct download *d, const char *name)
{
	return param_find(d->rq->client->params, name);
}

/* What every answer about the bytes has, 304 included. */
static void download_add_validators(struct download *d)
{
	response_header(d->rq, "ETag", d->etag);
	response_header(d->rq, "Last-Modified", d->modified);
	response_header(d->rq, "Cache-Control", "private, no-cache");
}

static void download_add_description(struct download *d)
{
	response_header(d->rq, "Content-Type", d->record.mime_type);
	response_header(
	    d->rq, "Content-Disposition", file_disposition(d->rq->call.arena, &d->record));
}

/* ---- by this process ---- */

/* When the bytes cannot be read to their end the answer is cut short, which the client sees by its
 * length.  Nothing more is fetched once the client has left. */
static void download_send_bytes(struct download *d, struct blob *blob)
{
	struct request *rq = d->rq;
	int64_t at = d->range.first, left = d->range.last - d->range.first + 1;
	char *buffer = xmalloc(SEND_SIZE);
	while (left > 0) {
		size_t want = left < SEND_SIZE ? (size_t)left : SEND_SIZE;
		ssize_t n = blob->blobs->ops->read(blob, buffer, want, at, &rq->call.error);
		if (n <= 0)
			break;
		if (rq->client->gone && rq->client->gone(rq->client)) {
			left = 0;
			break;
		}
		rq->client->write(rq->client, buffer, (size_t)n);
		at += n;
		left -= n;
	}
	if (left > 0)
		log_error("file %s broke off %" PRId64 " bytes before its end: %s",
		    d->record.file_id, left, rq->call.error.cause);
	/* nginx would keep the client's connection, and that wait, after an end in good order */
	if (left > 0 && rq->client->abort)
		rq->client->abort(rq->client);
	free(buffer);
}

static void download_send_here(struct download *d, enum range_kind kind)
{
	struct request *rq = d->rq;
	const struct range *r = &d->range;
	struct arena *a = rq->call.arena;
	struct blob *blob = file_open(&rq->call, &d->record);
	if (!blob) {
		reply_error(rq);
		return;
	}
	download_add_description(d);
	download_add_validators(d);
	response_header(rq, "Accept-Ranges", "bytes");
	response_header(rq, "Content-Length", arena_printf(a, "%" PRId64, r->last - r->first + 1));
	if (kind == RANGE_PART)
		response_header(rq, "Content-Range",
		    arena_printf(a, "bytes %" PRId64 "-%" PRId64 "/%" PRId64, r->first, r->last,
			d->record.size));
	reply_empty(rq, kind == RANGE_PART ? 206 : 200);
	if (rq->method != METHOD_HEAD)
		download_send_bytes(d, blob);
	blob->blobs->ops->shut(blob);
}

/* ---- by the web server ---- */

/*
 * Whether the web server is to send the bytes: it says where it finds them (fastcgi_param
 * AGENTGRAPH_FILES, which no client can set).  It looks at ranges by itself, and sees the tag
 * only after it has looked at other conditions; those are answered here.
 */
static const char *download_redirect_of(const struct download *d)
{
	const char *prefix = files_asked(d, "AGENTGRAPH_FILES");
	const char *if_range = files_asked(d, "HTTP_IF_RANGE");
	struct error ignored = {0};
	const struct blobs *blobs =
	    files_store_of(d->rq->server->service->files, &d->record, &ignored);
	error_release(&ignored);
	if (!*prefix || !blobs || !blobs->ops->has_paths || (*if_range && *if_range != '"') ||
	    *files_asked(d, "HTTP_IF_NONE_MATCH") || *files_asked(d, "HTTP_IF_MODIFIED_SINCE") ||
	    *files_asked(d, "HTTP_IF_MATCH") || *files_asked(d, "HTTP_IF_UNMODIFIED_SINCE"))
		return NULL;
	return arena_printf(d->rq->call.arena, "%s%s/%s", prefix, d->record.backend, d->record.key);
}

/* Whether the header asks for no part, or for one in a form that nginx understands just as we do.
 * Numbers of 19 digits may be more than one of the two can hold. */
static bool download_is_plain_range(const struct download *d, enum range_kind kind)
{
	const char *header = files_asked(d, "HTTP_RANGE");
	return !*header ||
	    (kind == RANGE_PART && strncmp(header, "bytes=", 6) == 0 && strlen(header + 6) < 20 &&
		strspn(header + 6, "0123456789-") == strlen(header + 6));
}

/* Whether the bytes are there: where they are not, the web server would have nothing to say. */
static bool download_is_there(struct download *d)
{
	struct blob *blob = file_open(&d->rq->call, &d->record);
	if (blob)
		blob->blobs->ops->shut(blob);
	return blob;
}

static void fcgi_files_send_file(struct download *d)
{
	struct request *rq = d->rq;
	/* If-Range: a part is wanted only of exactly these bytes */
	const char *wanted = files_asked(d, "HTTP_IF_RANGE");
	bool applies = !*wanted || strcmp(wanted, d->etag) == 0 || strcmp(wanted, d->modified) == 0;
	enum range_kind kind =
	    range_parse(applies ? files_asked(d, "HTTP_RANGE") : "", d->record.size, &d->range);
	const char *redirect = download_is_plain_range(d, kind) ? download_redirect_of(d) : NULL;
	if (kind == RANGE_OUTSIDE) {
		response_header(rq, "Content-Range",
		    arena_printf(rq->call.arena, "bytes */%" PRId64, d->record.size));
		error_set(&rq->call.error, ERR_RANGE_NOT_SATISFIABLE, NULL);
		reply_error(rq);
	} else if (redirect && !download_is_there(d)) {
		reply_error(rq);
	} else if (redirect) {
		download_add_description(d);
		download_add_validators(d);
		if (kind == RANGE_PART) /* nginx says so by itself, but not of a part */
			response_header(rq, "Accept-Ranges", "bytes");
		response_header(rq, "X-Accel-Redirect", redirect);
		reply_empty(rq, 200);
	} else {
		download_send_here(d, kind);
	}
}

void get_file(struct request *rq)
{
	struct download d = {.rq = rq};
	if (!file_find(&rq->call, rq->match.ids[0], &d.record)) {
		reply_error(rq);
		return;
	}
	const char *essence = media_type_essence(rq->call.arena, d.record.mime_type);
	int64_t modified_at = d.record.created_at / 1000000;
	http_date(modified_at, d.modified);
	snprintf(d.etag, sizeof(d.etag), "\"%s\"", d.record.sha256);
	/* what a browser may display in place needs no sandbox */
	rq->response->security = media_type_is_shown(essence) ? SECURITY_FILE : SECURITY_SANDBOX;
	/* If-None-Match, and where that is not there If-Modified-Since */
	const char *tags = files_asked(&d, "HTTP_IF_NONE_MATCH");
	const char *since = files_asked(&d, "HTTP_IF_MODIFIED_SINCE");
	if (*tags ? etag_listed(tags, d.etag) : *since && http_date_parse(since) >= modified_at) {
		download_add_validators(&d);
		reply_empty(rq, 304);
	} else {
		fcgi_files_send_file(&d);
	}
}
