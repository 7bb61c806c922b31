/* SPDX-License-Identifier: ISC */
/* A state machine over delimiters, heads and data. */
#include "fcgi/request/multipart.h"

#include <string.h>

#define BAD_LINE "a boundary must be followed by the end of its line"

static bool multipart_malformed(struct multipart *mp, const char *fault)
{
	mp->state = MULTIPART_MALFORMED;
	mp->fault = fault;
	return false;
}

static bool multipart_stopped(struct multipart *mp)
{
	mp->state = MULTIPART_STOPPED;
	return false;
}

/* The body, and the data of each part, begin as if behind a newline, which is none of their
 * bytes. */
static void multipart_begin_line(struct multipart *mp)
{
	mp->matched = mp->before = 2;
}

bool multipart_init(struct multipart *mp, const char *content_type, struct multipart_sink *sink)
{
	char boundary[MULTIPART_BOUNDARY_MAX + 1];
	*mp = (struct multipart){.sink = sink};
	if (!multipart_boundary(content_type, boundary))
		return false;
	memcpy(mp->delimiter, "\r\n--", 4);
	strcpy(mp->delimiter + 4, boundary);
	mp->length = strlen(mp->delimiter);
	multipart_begin_line(mp);
	return true;
}

void multipart_release(struct multipart *mp)
{
	buf_release(&mp->head);
}

static bool multipart_tell_data(struct multipart *mp, const char *data, size_t len)
{
	if (len == 0 || !mp->in_part || mp->sink->data(mp->sink, data, len))
		return true;
	return multipart_stopped(mp);
}

/* Where the delimiter, or as much of it as has come, begins; end when there is none. */
static const char *multipart_find_delimiter(
    const struct multipart *mp, const char *data, const char *end)
{
	for (; (data = memchr(data, '\r', (size_t)(end - data))); data++) {
		size_t len = (size_t)(end - data);
		if (memcmp(data, mp->delimiter, len < mp->length ? len : mp->length) == 0)
			return data;
	}
	return end;
}

/*
 * Takes data up to the next delimiter.  A delimiter has one carriage return, at its start.  So
 * bytes that began like one and turn out to be none are all data: no delimiter begins among them.
 */
static bool multipart_take_data(struct multipart *mp, const char **data, const char *end)
{
	while (*data < end && mp->matched < mp->length && **data == mp->delimiter[mp->matched]) {
		mp->matched++;
		++*data;
	}
	if (mp->matched == mp->length) {
		mp->matched = mp->before = 0;
		mp->state = MULTIPART_DELIMITER;
		return true;
	}
	if (*data == end)
		return true;
	if (!multipart_tell_data(mp, mp->delimiter + mp->before, mp->matched - mp->before))
		return false;
	mp->matched = mp->before = 0;
	const char *start = *data;
	*data = multipart_find_delimiter(mp, start, end);
	return multipart_tell_data(mp, start, (size_t)(*data - start));
}

static bool multipart_take_head(struct multipart *mp, char c)
{
	struct buf *head = &mp->head;
	struct multipart_part part;
	buf_putc(head, c);
	bool none = head->len == 2 && memcmp(head->data, "\r\n", 2) == 0;
	if (!none && (head->len < 4 || memcmp(head->data + head->len - 4, "\r\n\r\n", 4) != 0))
		return head->len < MULTIPART_HEAD_MAX ||
		    multipart_malformed(
			mp, "a part's header lines must not have more than 16384 bytes");
	if (!multipart_head(head, &part))
		return multipart_malformed(mp, "a part's header lines must be \"Name: value\"");
	mp->state = MULTIPART_DATA;
	mp->in_part = true;
	multipart_begin_line(mp);
	return mp->sink->part(mp->sink, &part) || multipart_stopped(mp);
}

bool multipart_feed(struct multipart *mp, const char *data, size_t len)
{
	const char *end = data + len;
	bool ok = true;
	while (ok && data < end) {
		switch (mp->state) {
		case MULTIPART_DATA:
			ok = multipart_take_data(mp, &data, end);
			break;
		case MULTIPART_DELIMITER:
			if (*data == '\r')
				mp->state = MULTIPART_LINE_END;
			else if (*data == '-')
				mp->state = MULTIPART_CLOSE;
			else if (*data != ' ' && *data != '\t')
				return multipart_malformed(mp, BAD_LINE);
			data++;
			break;
		case MULTIPART_LINE_END:
			if (*data++ != '\n')
				return multipart_malformed(mp, BAD_LINE);
			buf_reset(&mp->head);
			mp->state = MULTIPART_HEAD;
			break;
		case MULTIPART_CLOSE:
			if (*data++ != '-')
				return multipart_malformed(mp, BAD_LINE);
			mp->state = MULTIPART_END;
			break;
		case MULTIPART_HEAD:
			ok = multipart_take_head(mp, *data++);
			break;
		case MULTIPART_END:
			return true;
		case MULTIPART_MALFORMED:
		case MULTIPART_STOPPED:
			return false;
		}
	}
	return ok;
}
