/* SPDX-License-Identifier: ISC */
/*
 * A general parser makes an object of every number.  So the arrays of numbers are read here, and in
 * a copy of the text each is replaced by its ordinal; the little that is left is parsed and checked
 * as all JSON is.
 */
#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "model/embed/embed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KEY "\"embedding\""

struct scan {
	const char *p, *end;
	size_t count, dimensions;
	float *rows;  /* the vectors in the order of the text */
	size_t found; /* how many arrays were found so far */
	struct buf rest;
	const char *wrong;
};

static void embed_scan_skip_space(struct scan *s)
{
	s->p += strspn(s->p, " \t\r\n");
}

/* One number of JSON; strtof would take more. */
static bool embed_scan_read_number(struct scan *s, float *value)
{
	size_t len = strspn(s->p, "+-.0123456789eE");
	size_t digit = *s->p == '-' ? 1 : 0;
	char *after;
	if (s->p[digit] < '0' || s->p[digit] > '9')
		return false;
	*value = strtof(s->p, &after);
	if (after != s->p + len || !isfinite(*value))
		return false;
	s->p = after;
	return true;
}

/* "1, 2, 3]" into a row. */
static const char *embed_scan_read_row(struct scan *s, float *row)
{
	static const char few[] = "a vector has too few numbers";
	for (size_t i = 0; i < s->dimensions; i++) {
		embed_scan_skip_space(s);
		if (*s->p == ']')
			return few;
		if (!embed_scan_read_number(s, &row[i]))
			return "a vector holds something that is not a finite number";
		embed_scan_skip_space(s);
		char expected = i + 1 == s->dimensions ? ']' : ',';
		if (*s->p != expected)
			return *s->p == ',' ? "a vector has too many numbers" : few;
		s->p++;
	}
	return NULL;
}

/* Behind the key, reads the array that follows, if one does. */
static void embed_scan_take_array(struct scan *s)
{
	const char *colon = s->p + strspn(s->p, " \t\r\n");
	if (*colon != ':')
		return;
	s->p = colon + 1;
	embed_scan_skip_space(s);
	buf_putc(&s->rest, ':');
	if (*s->p != '[')
		return;
	if (s->found == s->count) {
		s->wrong = "there are more vectors than texts";
		return;
	}
	s->p++;
	s->wrong = embed_scan_read_row(s, s->rows + s->found * s->dimensions);
	buf_printf(&s->rest, "%zu", s->found++);
}

/* Reads over a whole string, so that nothing in it is taken for a key. */
static void embed_scan_take_string(struct scan *s)
{
	const char *from = s->p++;
	while (s->p < s->end && *s->p != '"')
		s->p += *s->p == '\\' && s->p + 1 < s->end ? 2 : 1;
	if (s->p < s->end)
		s->p++;
	buf_add(&s->rest, from, (size_t)(s->p - from));
	size_t len = (size_t)(s->p - from);
	if (len == strlen(KEY) && memcmp(from, KEY, len) == 0)
		embed_scan_take_array(s);
}

/* Puts the rows where their indices say. */
static const char *embed_scan_place(const struct scan *s, const cJSON *data, float *vectors)
{
	const cJSON *item;
	bool *seen = xcalloc(s->count, sizeof(*seen));
	const char *wrong = NULL;
	int64_t i = 0;
	cJSON_ArrayForEach(item, data) {
		int64_t row, index = i++;
		json_integer(json_opt(item, "index"), &index);
		if (cJSON_IsString(json_opt(item, "embedding"))) {
			wrong = "a vector is a text, where numbers were asked for";
			break;
		}
		if (!json_integer(json_opt(item, "embedding"), &row) || row < 0 ||
		    (size_t)row >= s->found || index < 0 || (size_t)index >= s->count ||
		    seen[index]) {
			wrong = "the vectors do not belong to the texts";
			break;
		}
		seen[index] = true;
		memcpy(vectors + (size_t)index * s->dimensions,
		    s->rows + (size_t)row * s->dimensions, s->dimensions * sizeof(float));
	}
	if (!wrong && (size_t)i != s->count)
		wrong = "there are fewer vectors than texts";
	free(seen);
	return wrong;
}

const char *embed_scan(
    const char *text, size_t len, size_t count, size_t dimensions, float *vectors)
{
	struct scan s = {.p = text,
	    .end = text + len,
	    .count = count,
	    .dimensions = dimensions,
	    .rows = xcalloc(count * dimensions, sizeof(float))};
	while (s.p < s.end && !s.wrong) {
		const char *quote = memchr(s.p, '"', (size_t)(s.end - s.p));
		const char *to = quote ? quote : s.end;
		buf_add(&s.rest, s.p, (size_t)(to - s.p));
		s.p = to;
		if (quote)
			embed_scan_take_string(&s);
	}
	if (!s.wrong) {
		cJSON *root = json_parse(buf_str(&s.rest), s.rest.len, JSON_REQUEST_DEPTH, NULL);
		const cJSON *data = json_opt(root, "data");
		s.wrong = !root            ? "the answer is not JSON"
		    : !cJSON_IsArray(data) ? "the answer has no data"
					   : embed_scan_place(&s, data, vectors);
		cJSON_Delete(root);
	}
	buf_release(&s.rest);
	free(s.rows);
	return s.wrong;
}
