/* SPDX-License-Identifier: ISC */
/* Writing records of each kind, and parsing lines with one or several of them. */
#include "ws-bridge/record.h"

#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

#define ESCAPE RECORD_JOINT
#define LONGEST_REASON 123 /* RFC 6455, 5.5: what a close frame has room for beside its code */

/* The letter that stands, after an escape, for a byte that a line cannot hold; 0 for other
 * bytes. */
static const char stuffing[256] = {
    ['\n'] = 'n', ['\r'] = 'r', ['\0'] = '0', [(unsigned char) ESCAPE] = 'e'};

static const char digits64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void record_ready(struct buf *out)
{
	buf_printf(out, "%c%d", RECORD_READY, RECORD_VERSION);
}

/* Appends text with a blank for each byte that a line cannot hold. */
static void record_put_line(struct buf *out, const char *text, size_t len)
{
	size_t start = out->len;
	buf_add(out, text, len);
	for (size_t i = start; i < out->len; i++)
		if (stuffing[(unsigned char)out->data[i]])
			out->data[i] = ' ';
}

void record_refuse(struct buf *out, int status, const char *json)
{
	buf_printf(out, "%c%d ", RECORD_REFUSE, status);
	record_put_line(out, json, strlen(json));
}

static void record_stuff(struct buf *out, enum record_kind kind, const char *text, size_t len)
{
	buf_reserve(out, len + 1);
	buf_putc(out, (char)kind);
	for (size_t i = 0, from = 0; i <= len; i++) {
		char stands = i < len ? stuffing[(unsigned char)text[i]] : 0;
		if (i < len && !stands)
			continue;
		buf_add(out, text + from, i - from);
		if (stands) {
			buf_putc(out, ESCAPE);
			buf_putc(out, stands);
		}
		from = i + 1;
	}
}

void record_text(struct buf *out, const char *text, size_t len)
{
	record_stuff(out, RECORD_TEXT, text, len);
}

void record_more(struct buf *out, const char *text, size_t len)
{
	record_stuff(out, RECORD_MORE, text, len);
}

void record_binary(struct buf *out, const void *data, size_t len)
{
	const unsigned char *in = data;
	size_t size = (len + 2) / 3 * 4;
	char *to = buf_reserve(out, size + 1);
	*to++ = RECORD_BINARY;
	for (size_t i = 0; i < len; i += 3) {
		size_t left = len - i;
		uint32_t three = (uint32_t)in[i] << 16 | (left > 1 ? (uint32_t)in[i + 1] << 8 : 0) |
		    (left > 2 ? in[i + 2] : 0);
		*to++ = digits64[three >> 18];
		*to++ = digits64[three >> 12 & 63];
		*to++ = left > 1 ? digits64[three >> 6 & 63] : '=';
		*to++ = left > 2 ? digits64[three & 63] : '=';
	}
	*to = '\0';
	out->len += size + 1;
}

void record_close(struct buf *out, int code, const char *reason)
{
	size_t len = reason ? strlen(reason) : 0;
	buf_printf(out, "%c%d", RECORD_CLOSE, code);
	if (!len)
		return;
	buf_putc(out, ' ');
	record_put_line(out, reason, len > LONGEST_REASON ? utf8_cut(reason, LONGEST_REASON) : len);
}

void record_gone(struct buf *out, int code)
{
	buf_printf(out, "%c%d", RECORD_GONE, code);
}

void record_signal(struct buf *out, enum record_kind kind)
{
	buf_putc(out, (char)kind);
}

char *record_next(char **rest, size_t *left, size_t *len)
{
	char *record = *rest;
	char *end = record ? record + *left : NULL;
	char *joint = record;
	if (!record)
		return NULL;
	while ((joint = memchr(joint, RECORD_JOINT, (size_t)(end - joint)))) {
		joint++;
		if (joint < end && *joint >= 'A' && *joint <= 'Z')
			break;
	}
	*len = (size_t)((joint ? joint - 1 : end) - record);
	*left = joint ? (size_t)(end - joint) : 0;
	*rest = joint;
	return record;
}

/* Reads a number of up to four digits and moves the record's data behind it. */
static bool record_take_number(struct record *record)
{
	size_t n = 0;
	record->code = 0;
	while (n < record->len && record->data[n] >= '0' && record->data[n] <= '9') {
		if (n == 4)
			return false;
		record->code = record->code * 10 + (record->data[n++] - '0');
	}
	record->data += n;
	record->len -= n;
	return n > 0;
}

/* Skips the blank between a number and text; false when the number is followed by anything else. */
static bool record_take_rest(struct record *record)
{
	if (record->len == 0)
		return true;
	if (record->data[0] != ' ')
		return false;
	record->data++;
	record->len--;
	return true;
}

/* Whether a code may stand in a close frame (RFC 6455, 7.4). */
static bool record_can_send(int code)
{
	return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
	    (code >= 3000 && code <= 4999);
}

static bool record_unstuff(char *text, struct record *record)
{
	char *end = text + record->len;
	char *from = memchr(text, ESCAPE, record->len);
	char *to = from;
	if (!from)
		return true;
	for (; from < end; from++) {
		if (*from != ESCAPE) {
			*to++ = *from;
			continue;
		}
		if (++from == end || !strchr("nre0", *from))
			return false;
		*to++ = *from == 'n' ? '\n' : *from == 'r' ? '\r' : *from == 'e' ? ESCAPE : '\0';
	}
	record->len = (size_t)(to - text);
	return true;
}

/* The value of a digit of base64; 64 for any other character. */
static uint32_t record_value64(char digit)
{
	if (digit >= 'A' && digit <= 'Z')
		return (uint32_t)(digit - 'A');
	if (digit >= 'a' && digit <= 'z')
		return (uint32_t)(digit - 'a') + 26;
	if (digit >= '0' && digit <= '9')
		return (uint32_t)(digit - '0') + 52;
	return digit == '+' ? 62 : digit == '/' ? 63 : 64;
}

static bool record_decode64(char *text, struct record *record)
{
	size_t len = record->len, bytes = 0;
	if (len % 4)
		return false;
	for (int padding = 0; padding < 2 && len && text[len - 1] == '='; padding++)
		len--;
	for (size_t i = 0; i < len; i += 4) {
		/* up to four digits, to up to three bytes; bits that nothing needs must be 0 */
		size_t count = len - i < 4 ? len - i : 4;
		uint32_t bits = 0;
		for (size_t k = 0; k < 4; k++) {
			uint32_t value = k < count ? record_value64(text[i + k]) : 0;
			if (value > 63)
				return false;
			bits = bits << 6 | value;
		}
		if (bits & (0xFFFFFFu >> 8 * (count - 1)))
			return false;
		for (size_t k = 0; k + 1 < count; k++)
			text[bytes++] = (char)(bits >> (16 - 8 * k));
	}
	record->len = bytes;
	return true;
}

bool record_parse(char *line, size_t len, struct record *record)
{
	if (len == 0 || !utf8_valid(line, len) || memchr(line, '\n', len) ||
	    memchr(line, '\r', len))
		return false;
	*record =
	    (struct record){.kind = (enum record_kind)line[0], .data = line + 1, .len = len - 1};
	switch (record->kind) {
	case RECORD_READY:
		return record_take_number(record) && record->len == 0;
	case RECORD_REFUSE:
		return record_take_number(record) && record->code >= 400 && record->code <= 599 &&
		    record_take_rest(record) && record->len > 0;
	case RECORD_TEXT:
	case RECORD_MORE:
		return record_unstuff(line + 1, record);
	case RECORD_BINARY:
		return record_decode64(line + 1, record);
	case RECORD_CLOSE:
		return record_take_number(record) && record_can_send(record->code) &&
		    record_take_rest(record) && record->len <= LONGEST_REASON;
	case RECORD_GONE: /* 1005 and 1006 are never sent, but they say how the client left */
		return record_take_number(record) && record->len == 0 &&
		    (record_can_send(record->code) || record->code == 1005 || record->code == 1006);
	case RECORD_BYE:
	case RECORD_HOLD:
	case RECORD_ON:
		return record->len == 0;
	}
	return false;
}
