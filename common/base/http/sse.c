/* SPDX-License-Identifier: ISC */
/* Putting lines and events together from bytes cut anywhere, within limits on both. */
#include "base/http/sse.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_MAX ((size_t)1 << 20)
#define MAX_RETRY 86400000 /* a day */

static const char byte_order_mark[] = "\xef\xbb\xbf";

static size_t sse_most(const struct sse *s)
{
	return s->max ? s->max : DEFAULT_MAX;
}

static bool sse_too_large(struct sse *s)
{
	s->too_large = true;
	return false;
}

static bool sse_dispatch(struct sse *s)
{
	bool more = true;
	if (s->has_data) {
		struct sse_event event = {.name = s->name.len ? buf_str(&s->name) : "message",
		    .data = buf_str(&s->data),
		    .len = s->data.len,
		    .id = buf_str(&s->id)};
		more = s->on_event(&event, s->arg);
	}
	buf_reset(&s->data);
	buf_reset(&s->name);
	s->has_data = false;
	return more;
}

static bool sse_add_data(struct sse *s, const char *value, size_t len)
{
	if (len + 1 > sse_most(s) || s->data.len > sse_most(s) - len - 1)
		return sse_too_large(s);
	if (s->has_data)
		buf_putc(&s->data, '\n');
	buf_add(&s->data, value, len);
	s->has_data = true;
	return true;
}

/* Takes a whole line, "name: value" or "name" alone. */
static bool sse_take_field(struct sse *s, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len);
	size_t name_len = colon ? (size_t)(colon - line) : len;
	const char *value = colon ? colon + 1 : line + len;
	if (*value == ' ')
		value++;
	if (name_len == 4 && memcmp(line, "data", 4) == 0)
		return sse_add_data(s, value, len - (size_t)(value - line));
	bool event = name_len == 5 && memcmp(line, "event", 5) == 0;
	if (event || (name_len == 2 && memcmp(line, "id", 2) == 0)) {
		struct buf *text = event ? &s->name : &s->id;
		buf_reset(text);
		buf_puts(text, value);
	} else if (name_len == 5 && memcmp(line, "retry", 5) == 0) {
		bool digits = *value && value[strspn(value, "0123456789")] == '\0';
		long long ms = digits ? strtoll(value, NULL, 10) : -1;
		s->retry_ms = ms < MAX_RETRY ? ms : MAX_RETRY;
	}
	return true;
}

static bool sse_take_line(struct sse *s)
{
	const char *line = buf_str(&s->line);
	size_t len = s->line.len;
	if (!s->started && strncmp(line, byte_order_mark, 3) == 0) {
		line += 3;
		len -= 3;
	}
	s->started = true;
	bool more = len == 0 ? sse_dispatch(s) : sse_take_field(s, line, len);
	buf_reset(&s->line);
	return more;
}

static bool sse_add_to_line(struct sse *s, const char *bytes, size_t len)
{
	if (len > sse_most(s) || s->line.len > sse_most(s) - len)
		return sse_too_large(s);
	size_t from = s->line.len;
	buf_add(&s->line, bytes, len);
	for (char *nul; len > 0 && (nul = memchr(s->line.data + from, '\0', s->line.len - from));)
		*nul = '?';
	return true;
}

static const char *sse_find_lf(const char *bytes, const char *end)
{
	const char *lf = memchr(bytes, '\n', (size_t)(end - bytes));
	return lf ? lf : end;
}

/* Whether this is a line of data that came whole, as most that models send: it need not be put
 * together. */
static bool sse_is_whole_data(const struct sse *s, const char *line, size_t len)
{
	static const char field[] = "data: ";
	const size_t name = sizeof(field) - 1;
	return s->started && s->line.len == 0 && len > name && len <= sse_most(s) &&
	    memcmp(line, field, name) == 0 && !memchr(line, '\0', len);
}

bool sse_feed(struct sse *s, const char *bytes, size_t len)
{
	const char *end = bytes + len, *lf = sse_find_lf(bytes, end);
	while (bytes < end) {
		bool second_half = s->after_cr && *bytes == '\n'; /* of a CRLF */
		s->after_cr = false;
		if (second_half) {
			bytes++;
			continue;
		}
		if (lf < bytes)
			lf = sse_find_lf(bytes, end);
		const char *line = bytes, *cr = memchr(bytes, '\r', (size_t)(lf - bytes));
		bytes = cr ? cr : lf;
		size_t n = (size_t)(bytes - line);
		bool whole = bytes < end && sse_is_whole_data(s, line, n);
		if (!whole && !sse_add_to_line(s, line, n))
			return false;
		if (bytes == end)
			break;
		s->after_cr = *bytes++ == '\r';
		if (!(whole ? sse_take_field(s, line, n) : sse_take_line(s)))
			return false;
	}
	return true;
}

bool sse_finish(struct sse *s)
{
	return (s->line.len == 0 || sse_take_line(s)) && sse_dispatch(s);
}

void sse_release(struct sse *s)
{
	buf_release(&s->line);
	buf_release(&s->name);
	buf_release(&s->data);
	buf_release(&s->id);
}
