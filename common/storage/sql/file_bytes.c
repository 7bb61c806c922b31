/* SPDX-License-Identifier: ISC */
/* Bytes of files as rows of a quarter of a mebibyte each.  Every row is written by itself, so that
 * a large file holds nobody up; nobody reads a file that has no record yet. */
#include "base/memory.h"
#include "storage/blob/blob.h"
#include "storage/sql/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE (256 << 10)

static bool bytes_failed(const char *key, const char *why, struct error *err)
{
	error_set(err, ERR_STORAGE, NULL);
	return error_cause(err, "bytes of the file %s: %s", key, why);
}

static bool bytes_put(void *place, const char *key, int fd, int64_t size, struct error *err)
{
	char *piece = xmalloc(PIECE);
	struct query q;
	engine_query(place, NULL, &q, SQL_BYTES_INSERT, err);
	query_text(&q, ":key", key);
	query_int(&q, ":size", size);
	query_row(&q);
	bool ok = pool_query_end(engine_of(place)->pool, &q);
	for (int64_t at = 0; ok && at < size; at += PIECE) {
		size_t len = size - at < PIECE ? (size_t)(size - at) : PIECE;
		ssize_t got = pread(fd, piece, len, at);
		if (got != (ssize_t)len) {
			ok = bytes_failed(key, got < 0 ? strerror(errno) : "cut short", err);
			break;
		}
		engine_query(place, NULL, &q, SQL_BYTES_PIECE, err);
		query_text(&q, ":key", key);
		query_int(&q, ":number", at / PIECE);
		query_blob(&q, ":bytes", piece, len);
		query_row(&q);
		ok = pool_query_end(engine_of(place)->pool, &q);
	}
	free(piece);
	return ok;
}

static int64_t bytes_size(void *place, const char *key, struct error *err)
{
	struct query q;
	int64_t size = -1;
	engine_query(place, NULL, &q, SQL_BYTES_SIZE, err);
	query_text(&q, ":key", key);
	if (query_row(&q))
		size = query_column_int(&q, BYTES_SIZE_SIZE);
	if (pool_query_end(engine_of(place)->pool, &q) && size < 0)
		bytes_failed(key, "there are none", err);
	return size;
}

static bool bytes_get(
    void *place, const char *key, int64_t offset, char *out, size_t len, struct error *err)
{
	int64_t end = offset + (int64_t)len, at = offset;
	struct query q;
	engine_query(place, NULL, &q, SQL_BYTES_READ, err);
	query_text(&q, ":key", key);
	query_int(&q, ":first", offset / PIECE);
	query_int(&q, ":last", (end - 1) / PIECE);
	while (at < end && query_row(&q)) {
		int64_t begins = query_column_int(&q, BYTES_READ_NUMBER) * PIECE, ends;
		size_t size;
		const char *piece = query_column_blob(&q, BYTES_READ_BYTES, &size);
		ends = begins + (int64_t)size;
		if (begins > at || ends <= at)
			break; /* a piece is missing */
		if (ends > end)
			ends = end;
		memcpy(out + (at - offset), piece + (at - begins), (size_t)(ends - at));
		at = ends;
	}
	return pool_query_end(engine_of(place)->pool, &q) &&
	    (at == end || bytes_failed(key, "some are missing", err));
}

static bool bytes_remove(void *place, const char *key, struct error *err)
{
	struct query q;
	engine_query(place, NULL, &q, SQL_BYTES_DELETE, err);
	query_text(&q, ":key", key);
	query_row(&q);
	return pool_query_end(engine_of(place)->pool, &q);
}

static void bytes_tidy(void *place)
{
	struct error ignored = {0};
	struct query q;
	engine_query(place, NULL, &q, SQL_BYTES_TIDY, &ignored);
	query_row(&q);
	pool_query_end(engine_of(place)->pool, &q);
	error_release(&ignored);
}

const struct blob_bytes sql_file_bytes = {
    .tidy = bytes_tidy,
    .put = bytes_put,
    .size = bytes_size,
    .get = bytes_get,
    .remove = bytes_remove,
};
