/* SPDX-License-Identifier: ISC */
/* A scanner without recursion: syntax, UTF-8, depth, and the numbers worth noting. */
#include "base/json/json_scan.h"

#include "base/buf.h"
#include "base/http/percent.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of so many digits survive a double, and printing it. */
#define EXACT_DIGITS 15

static bool json_scan_fail(struct json_scan *s, enum json_fault fault)
{
	s->fault = fault;
	return false;
}

/* The next byte, NUL at the end: no rule accepts a NUL, so the end needs no check of its own. */
static inline char json_scan_peek(const struct json_scan *s)
{
	return s->p < s->end ? *s->p : '\0';
}

static inline void json_scan_skip_space(struct json_scan *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\r' || *s->p == '\t'))
		s->p++;
}

static bool json_scan_expect(struct json_scan *s, char c)
{
	if (json_scan_peek(s) != c)
		return json_scan_fail(s, JSON_INVALID);
	s->p++;
	return true;
}

static bool scan_word(struct json_scan *s, const char *word)
{
	size_t len = strlen(word);
	if ((size_t)(s->end - s->p) < len || memcmp(s->p, word, len) != 0)
		return json_scan_fail(s, JSON_INVALID);
	s->p += len;
	return true;
}

/* ---- Strings ---- */

/* The four digits after "\u"; a negative value when they are none. */
static int scan_hex4(struct json_scan *s)
{
	if (s->end - s->p < 4)
		return -1;
	int high = percent_byte(s->p), low = percent_byte(s->p + 2);
	if (high < 0 || low < 0)
		return -1;
	s->p += 4;
	return high << 8 | low;
}

static bool scan_unicode_escape(struct json_scan *s)
{
	int unit = scan_hex4(s);
	if (unit < 0)
		return json_scan_fail(s, JSON_INVALID);
	if (unit == 0)
		return json_scan_fail(s, JSON_NUL);
	if (unit < 0xD800 || unit > 0xDFFF)
		return true;
	/* the first half of a surrogate pair, and the second behind it */
	if (unit >= 0xDC00 || s->end - s->p < 2 || s->p[0] != '\\' || s->p[1] != 'u')
		return json_scan_fail(s, JSON_HALF);
	s->p += 2;
	unit = scan_hex4(s);
	return unit >= 0xDC00 && unit <= 0xDFFF ? true : json_scan_fail(s, JSON_HALF);
}

static bool scan_escape(struct json_scan *s)
{
	s->p++;
	char c = json_scan_peek(s);
	if (c == '\0' || !strchr("\"\\/bfnrtu", c))
		return json_scan_fail(s, JSON_INVALID);
	s->p++;
	return c == 'u' ? scan_unicode_escape(s) : true;
}

/* Scans a string, from the opening quote to behind the closing one. */
static bool scan_string(struct json_scan *s)
{
	if (!json_scan_expect(s, '"'))
		return false;
	for (;;) {
		s->p += utf8_plain(s->p, (size_t)(s->end - s->p));
		unsigned char c = (unsigned char)json_scan_peek(s);
		if (c == '"')
			break;
		if (c < 0x20) /* a control character, or the end */
			return json_scan_fail(s, JSON_INVALID);
		if (c == '\\') {
			if (!scan_escape(s))
				return false;
			continue;
		}
		size_t len = utf8_sequence(s->p, (size_t)(s->end - s->p));
		if (!len)
			return json_scan_fail(s, JSON_INVALID);
		s->p += len;
	}
	s->p++;
	return true;
}

/* ---- Numbers ---- */

static size_t scan_digits(struct json_scan *s)
{
	const char *from = s->p;
	while (s->p < s->end && *s->p >= '0' && *s->p <= '9')
		s->p++;
	return (size_t)(s->p - from);
}

static bool scan_note_number(struct json_scan *s, const char *from)
{
	size_t len = (size_t)(s->p - from);
	char *text = xstrndup(from, len);
	double value = strtod(text, NULL);
	free(text);
	if (isinf(value)) /* by an exponent, or by hundreds of digits */
		return json_scan_fail(s, JSON_RANGE);
	s->noted = xgrow(s->noted, s->noted_count, sizeof(*s->noted));
	s->noted[s->noted_count++] = (struct json_noted){
	    .ordinal = s->numbers, .offset = (size_t)(from - s->text), .len = len};
	s->oversized |= len > JSON_CJSON_NUMBER;
	return true;
}

/* A fraction comes back as it was when it has few digits, no zero at the end, and is not so small
 * that it would be printed with an exponent. */
static bool scan_fraction_survives(const char *number, const char *point, const char *end)
{
	bool below_one = point - number == 1 && number[0] == '0';
	if (below_one && end - point > 4 && memcmp(point, ".0000", 5) == 0)
		return false;
	return (point - number) + (end - point - 1) <= EXACT_DIGITS && end[-1] != '0';
}

static bool scan_number(struct json_scan *s)
{
	const char *from = s->p;
	if (json_scan_peek(s) == '-')
		s->p++;
	const char *digits = s->p;
	size_t count = scan_digits(s);
	if (!count || (count > 1 && *digits == '0'))
		return json_scan_fail(s, JSON_INVALID);
	bool minus_zero = digits > from && *digits == '0'; /* newer cJSON drops the sign */
	bool exact = count <= EXACT_DIGITS && !minus_zero;
	if (json_scan_peek(s) == '.') {
		const char *point = s->p++;
		if (!scan_digits(s))
			return json_scan_fail(s, JSON_INVALID);
		exact = scan_fraction_survives(digits, point, s->p);
	}
	if (json_scan_peek(s) == 'e' || json_scan_peek(s) == 'E') {
		s->p++;
		if (json_scan_peek(s) == '+' || json_scan_peek(s) == '-')
			s->p++;
		if (!scan_digits(s))
			return json_scan_fail(s, JSON_INVALID);
		exact = false;
	}
	if (!exact && !scan_note_number(s, from))
		return false;
	s->numbers++;
	return true;
}

/* ---- Structure ---- */

static bool scan_key(struct json_scan *s)
{
	if (!scan_string(s))
		return false;
	json_scan_skip_space(s);
	return json_scan_expect(s, ':');
}

/* Steps into an array or object.  *closed is set when it is empty, and then already left. */
static bool scan_open(struct json_scan *s, bool *closed)
{
	if (s->depth >= s->max_depth)
		return json_scan_fail(s, JSON_TOO_DEEP);
	char end = *s->p == '{' ? '}' : ']';
	s->p++;
	json_scan_skip_space(s);
	*closed = json_scan_peek(s) == end;
	if (*closed) {
		s->p++;
		return true;
	}
	s->open[s->depth++] = end;
	return end == '}' ? scan_key(s) : true;
}

/* Scans one value's beginning: all of a scalar, or the way into a container.  *complete tells
 * whether the value is over. */
static bool scan_value(struct json_scan *s, bool *complete)
{
	*complete = true;
	if (s->values == s->max_values)
		return json_scan_fail(s, JSON_MANY);
	s->values++;
	json_scan_skip_space(s);
	switch (json_scan_peek(s)) {
	case '{':
	case '[':
		return scan_open(s, complete);
	case '"':
		return scan_string(s);
	case 't':
		return scan_word(s, "true");
	case 'f':
		return scan_word(s, "false");
	case 'n':
		return scan_word(s, "null");
	default:
		return scan_number(s);
	}
}

/* After a value: leaves the containers that end here, up to the comma before the next value.
 * Returns false at a fault, and with depth 0 when the text's value is over. */
static bool scan_next(struct json_scan *s)
{
	while (s->depth) {
		json_scan_skip_space(s);
		char c = json_scan_peek(s), end = s->open[s->depth - 1];
		if (c != ',' && c != end)
			return json_scan_fail(s, JSON_INVALID);
		s->p++;
		if (c == end) {
			s->depth--;
			continue;
		}
		json_scan_skip_space(s);
		return end == '}' ? scan_key(s) : true;
	}
	return false;
}

enum json_fault json_scan(
    struct json_scan *s, const char *text, size_t len, unsigned max_depth, size_t max_values)
{
	memset(s, 0, offsetof(struct json_scan, open));
	s->text = s->p = text;
	s->end = text + len;
	s->max_depth = max_depth < JSON_DEPTH_LIMIT ? max_depth : JSON_DEPTH_LIMIT;
	s->max_values = max_values;
	bool complete;
	do {
		if (!scan_value(s, &complete))
			return s->fault;
	} while (!complete || scan_next(s));
	json_scan_skip_space(s);
	if (s->fault == JSON_OK && s->p < s->end)
		s->fault = JSON_INVALID;
	return s->fault;
}

void json_scan_release(struct json_scan *s)
{
	free(s->noted);
}

/* ---- Telling people ---- */

static const char *json_scan_expected_at(const struct json_scan *s)
{
	const char *before = s->p;
	char open = s->depth ? s->open[s->depth - 1] : '\0';
	/* blanks are skipped everywhere but in strings */
	if (s->p < s->end && (unsigned char)*s->p < ' ')
		return "the closing quote of a text";
	if (s->p < s->end && !utf8_sequence(s->p, (size_t)(s->end - s->p)))
		return "UTF-8";
	if (before > s->text && before[-1] == '\\')
		return "one of \"\\/bfnrtu behind a backslash";
	while (before > s->text && strchr(" \n\r\t", before[-1]))
		before--;
	switch (before > s->text ? before[-1] : '\0') {
	case '\0':
	case ':':
		return "a value";
	case '{':
		return "a key in double quotes, or }";
	case '[':
		return "a value, or ]";
	case ',':
		return open == '}' ? "a key in double quotes" : "a value";
	}
	if (!open)
		return "nothing behind the value";
	return open == '}' ? "a comma or } (behind a key, a colon)" : "a comma or ]";
}

size_t json_scan_explain(const char *text, size_t len, char **more)
{
	struct json_scan s;
	struct buf out = {0};
	size_t line = 1;
	enum json_fault fault = json_scan(&s, text, len, JSON_REQUEST_DEPTH, SIZE_MAX);
	const char *start = text;
	for (const char *p = text; p < s.p; p++) {
		if (*p == '\n') {
			line++;
			start = p + 1;
		}
	}
	if (fault == JSON_INVALID || fault == JSON_HALF)
		buf_printf(&out, ": column %zu", (size_t)(s.p - start) + 1);
	if (fault == JSON_INVALID)
		buf_printf(&out, ": expected %s", json_scan_expected_at(&s));
	*more = buf_detach(&out);
	json_scan_release(&s);
	return line;
}
