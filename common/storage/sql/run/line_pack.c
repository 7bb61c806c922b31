/* SPDX-License-Identifier: ISC */
/* Finding the edits between one line and the next, and applying them. */
#include "storage/sql/run/line_pack.h"

#include <stdint.h>
#include <string.h>

#define EDIT '\x04'
#define LAST 0x40 /* plus five bits of a number */
#define MORE 0x60

struct line {
	const char *text;
	size_t len;
};

/* The line that begins at text, without its newline. */
static struct line line_at(const char *text, const char *end)
{
	const char *newline = memchr(text, '\n', (size_t)(end - text));
	return (struct line){text, (size_t)((newline ? newline : end) - text)};
}

static void line_skip(struct line *line, size_t n)
{
	line->text += n;
	line->len -= n;
}

/* ---- packing ---- */

static size_t line_common(struct line a, struct line b)
{
	size_t most = a.len < b.len ? a.len : b.len, n = 0;
	uint64_t x, y;
	for (; n + sizeof(x) <= most; n += sizeof(x)) {
		memcpy(&x, a.text + n, sizeof(x));
		memcpy(&y, b.text + n, sizeof(y));
		if (x != y)
			break;
	}
	while (n < most && a.text[n] == b.text[n])
		n++;
	return n;
}

static bool line_has_digit(struct line line)
{
	return line.len && *line.text >= '0' && *line.text <= '9';
}

static bool line_closes(struct line line)
{
	return line.len && (*line.text == '}' || *line.text == ']');
}

static size_t line_string_end(struct line line, size_t at)
{
	while (at < line.len && line.text[at] != '"')
		at += line.text[at] == '\\' ? 2 : 1;
	return at;
}

/* Where the object or list ends that the line begins in. */
static size_t line_members_end(struct line line)
{
	size_t at = 0, depth = 0;
	for (; at < line.len; at++) {
		switch (line.text[at]) {
		case '"':
			at = line_string_end(line, at + 1);
			break;
		case '{':
		case '[':
			depth++;
			break;
		case '}':
		case ']':
			if (!depth)
				return at;
			depth--;
			break;
		default:
			break;
		}
	}
	return at;
}

/* Where the value ends that the line begins with. */
static size_t line_value_end(struct line line)
{
	size_t at = 0;
	if (!line.len)
		return 0;
	if (*line.text == '"')
		return line_string_end(line, 1) + 1;
	if (*line.text > 0 && *line.text < ' ') { /* a mark, which is at its end, too */
		const char *mark = memchr(line.text + 1, *line.text, line.len - 1);
		return mark ? (size_t)(mark - line.text) + 1 : line.len;
	}
	if (*line.text == '{' || *line.text == '[') {
		line_skip(&line, 1);
		return line_members_end(line) + 2;
	}
	while (at < line.len && !strchr(",}]\"", line.text[at]))
		at++;
	return at;
}

/*
 * How much to leave out of a line, at a place where it differs from the other one, so that both may
 * go on alike: the digits of a number, else a whole value, else the members up to the end of the
 * object or list where the other one has come to its end, else all before the next quote, which
 * ends a string or begins the key of the next member.  A wrong guess, as inside a text, only costs
 * room.
 */
static size_t line_differs(struct line line, struct line other, bool is_value)
{
	bool closes = line_closes(line), other_closes = line_closes(other);
	size_t at = 0;
	if (!other.len)
		at = line.len;
	else if (line_has_digit(line) && line_has_digit(other))
		while (at < line.len && line.text[at] >= '0' && line.text[at] <= '9')
			at++;
	else if (is_value)
		at = line_value_end(line);
	else if (closes != other_closes)
		at = closes ? 0 : line_members_end(line);
	else
		at = line_string_end(line, 0);
	return at < line.len ? at : line.len;
}

static char *line_put_number(char *to, size_t n)
{
	for (; n >> 5; n >>= 5)
		*to++ = (char)(MORE | (n & 31));
	*to++ = (char)(LAST | n);
	return to;
}

#define EDIT_MOST 32 /* bytes of an edit, apart from what it puts in */

/* Appends the edits that make line from old; false when they take more room than the line, or there
 * are none. */
static bool line_pack(struct buf *out, struct line old, struct line line)
{
	char *begun = buf_reserve(out, 2 * line.len + EDIT_MOST), *to = begun;
	const char *most = begun + line.len;
	while (to < most) {
		size_t same = line_common(old, line);
		if (same == old.len && same == line.len) {
			out->len += (size_t)(to - begun);
			*to = '\0';
			return to > begun;
		}
		/* no edit begins within a character, or behind a backslash */
		while (same && same < line.len &&
		    ((line.text[same] & 0xc0) == 0x80 || line.text[same - 1] == '\\'))
			same--;
		line_skip(&old, same);
		line_skip(&line, same);

		bool is_value = same && line.text[-1] == ':';
		size_t left_out = line_differs(old, line, is_value);
		size_t put_in = line_differs(line, old, is_value);

		*to++ = EDIT;
		to = line_put_number(to, same);
		to = line_put_number(to, left_out);
		memcpy(to, line.text, put_in);
		to += put_in;
		line_skip(&old, left_out);
		line_skip(&line, put_in);
	}
	return false;
}

void lines_pack(struct buf *out, const char *lines, size_t len)
{
	const char *end = lines + len;
	struct line old = {lines, 0};
	while (lines < end) {
		struct line line = line_at(lines, end);
		if (!line_pack(out, old, line))
			buf_add(out, line.text, line.len);
		lines += line.len;
		if (lines < end)
			buf_putc(out, *lines++);
		old = line;
	}
}

/* ---- as they were ---- */

bool lines_packed(const char *packed, size_t len)
{
	return memchr(packed, EDIT, len);
}

static bool line_take_number(struct line *packed, size_t *n)
{
	*n = 0;
	for (unsigned shift = 0; packed->len && shift < 60; shift += 5) {
		char c = *packed->text;
		line_skip(packed, 1);
		*n |= (size_t)(c & 31) << shift;
		if ((c & 0xe0) != MORE)
			return (c & 0xe0) == LAST;
	}
	return false;
}

/* Appends what the edits make of old, which lies in out itself; so out must have the room
 * already. */
static bool line_unpack(struct buf *out, struct line old, struct line packed)
{
	size_t same, left_out;
	while (packed.len) {
		line_skip(&packed, 1); /* the byte that begins an edit */
		if (!line_take_number(&packed, &same) || !line_take_number(&packed, &left_out) ||
		    same > old.len || left_out > old.len - same)
			return false;

		const char *next = memchr(packed.text, EDIT, packed.len);
		size_t put_in = next ? (size_t)(next - packed.text) : packed.len;

		buf_add(out, old.text, same);
		buf_add(out, packed.text, put_in);
		line_skip(&old, same + left_out);
		line_skip(&packed, put_in);
	}
	buf_add(out, old.text, old.len);
	return true;
}

void lines_unpack(struct buf *out, const char *packed, size_t len)
{
	const char *end = packed + len;
	size_t begun = out->len, old_len = 0;
	while (packed < end) {
		struct line line = line_at(packed, end);
		size_t old = begun;
		begun = out->len;
		buf_reserve(out, old_len + line.len + 1);
		if (!line.len || *line.text != EDIT)
			buf_add(out, line.text, line.len);
		else if (!line_unpack(out, (struct line){out->data + old, old_len}, line))
			out->len = begun;
		old_len = out->len - begun;
		packed += line.len;
		if (packed < end)
			buf_putc(out, *packed++);
	}
}
