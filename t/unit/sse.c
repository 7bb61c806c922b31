/* SPDX-License-Identifier: ISC */
/* Server-sent events out of bytes. */
#include "base/http/sse.h"
#include "base/os/clock.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

/* Writes events down as "name|data|id;". */
static bool note(const struct sse_event *event, void *arg)
{
	struct buf *out = arg;
	CU_ASSERT_EQUAL(strlen(event->data), event->len);
	buf_printf(out, "%s|%s|%s;", event->name, event->data, event->id);
	return strcmp(event->data, "enough") != 0;
}

/* The events of text, fed in pieces of that size; "too large" or "ended" when it did not go on. */
static char *events(const char *text, size_t len, size_t piece, size_t max)
{
	struct buf out = {0};
	struct sse s = {.on_event = note, .arg = &out, .max = max};
	bool more = true;
	for (size_t i = 0; more && i < len; i += piece) {
		/* exactly as large as the piece, so that a sanitizer sees a byte too many */
		size_t n = len - i < piece ? len - i : piece;
		char *copy = malloc(n);
		memcpy(copy, text + i, n);
		more = sse_feed(&s, copy, n);
		free(copy);
	}
	if (!more)
		buf_puts(&out, s.too_large ? "too large" : "ended");
	else
		sse_finish(&s);
	sse_release(&s);
	return buf_detach(&out);
}

static void check(const char *text, size_t len, const char *expected)
{
	for (size_t piece = 1; piece <= len; piece++) {
		char *got = events(text, len, piece, 0);
		CU_ASSERT_STRING_EQUAL(got, expected);
		free(got);
	}
}

#define CHECK(text, expected) check(text, sizeof(text) - 1, expected)

static void events_end_at_a_blank_line(void)
{
	CHECK("data: a\n\ndata: b\n\n", "message|a|;message|b|;");
	CHECK("\n\n\ndata: a\n\n\n", "message|a|;");
}

static void lines_end_in_three_ways(void)
{
	CHECK("data: a\r\n\r\ndata: b\r\rdata: c\n\n", "message|a|;message|b|;message|c|;");
	CHECK("data: a\r\ndata: b\r\ndata: c\r\n\r\n", "message|a\nb\nc|;");
}

static void data_lines_are_joined(void)
{
	CHECK("data: a\ndata:  b\ndata\ndata:c\n\n", "message|a\n b\n\nc|;");
	CHECK("data\n\n", "message||;");
}

static void events_have_names_and_ids(void)
{
	CHECK("event: x\nid: 7\ndata: a\n\ndata: b\n\n", "x|a|7;message|b|7;");
	CHECK("event: nothing\n\ndata: a\n\n", "message|a|;");
}

static void comments_and_unknown_fields_are_left_out(void)
{
	CHECK(": hello\ndata: a\nother: b\n:\n\n", "message|a|;");
	CHECK("databank: 1\n\n", "");
}

static void a_byte_order_mark_is_left_out(void)
{
	CHECK("\xef\xbb\xbf"
	      "data: a\n\n",
	    "message|a|;");
}

static void an_event_without_its_blank_line_counts_at_the_end(void)
{
	CHECK("data: a\n", "message|a|;");
	CHECK("data: a", "message|a|;");
}

static void nul_becomes_a_question_mark(void)
{
	CHECK("data: a\0b\n\n", "message|a?b|;");
}

static void the_reader_can_end_it(void)
{
	CHECK("data: enough\n\ndata: b\n\n", "message|enough|;ended");
}

static void what_is_too_large_ends_it(void)
{
	static const char line[] = "data: 0123456789\n\n";
	static const char lines[] = "data:01\ndata:23\ndata:45\ndata:67\n\n";
	for (size_t piece = 1; piece < sizeof(line); piece++) {
		char *got = events(line, sizeof(line) - 1, piece, 12);
		CU_ASSERT_STRING_EQUAL(got, "too large");
		free(got);
		got = events(lines, sizeof(lines) - 1, piece, 10);
		CU_ASSERT_STRING_EQUAL(got, "too large");
		free(got);
		got = events(lines, sizeof(lines) - 1, piece, 11);
		CU_ASSERT_STRING_EQUAL(got, "message|01\n23\n45\n67|;");
		free(got);
	}
}

static void the_time_to_wait_is_noted(void)
{
	struct buf out = {0};
	struct sse s = {.on_event = note, .arg = &out};
	sse_feed(&s, "retry: 1500\n", 12);
	CU_ASSERT_EQUAL(s.retry_ms, 1500);
	sse_feed(&s, "retry: soon\n", 12);
	CU_ASSERT_EQUAL(s.retry_ms, -1);
	sse_feed(&s, "retry: 99999999999999999999\n", 28);
	CU_ASSERT_EQUAL(s.retry_ms, 86400000);
	sse_release(&s);
}

/* A peer may end every line with CR, and have nothing in it. */
static void many_short_lines_take_no_quadratic_time(void)
{
	size_t len = (size_t)4 << 20;
	char *text = malloc(len);
	int64_t from = clock_monotonic_ms();
	memset(text, '\r', len);
	memcpy(text + len - 9, "data: a\r\r", 9);
	char *got = events(text, len, len, 0);
	CU_ASSERT_STRING_EQUAL(got, "message|a|;");
	CU_ASSERT(clock_monotonic_ms() - from < 20000); /* minutes, if it were */
	free(got);
	free(text);
}

static const struct unit_test tests[] = {
    {"events end at a blank line", events_end_at_a_blank_line},
    {"lines end in three ways", lines_end_in_three_ways},
    {"data lines are joined", data_lines_are_joined},
    {"events have names and ids", events_have_names_and_ids},
    {"comments and unknown fields are left out", comments_and_unknown_fields_are_left_out},
    {"a byte order mark is left out", a_byte_order_mark_is_left_out},
    {"an event without its blank line counts at the end",
	an_event_without_its_blank_line_counts_at_the_end},
    {"NUL becomes a question mark", nul_becomes_a_question_mark},
    {"the reader can end it", the_reader_can_end_it},
    {"what is too large ends it", what_is_too_large_ends_it},
    {"the time to wait is noted", the_time_to_wait_is_noted},
    {"many short lines take no quadratic time", many_short_lines_take_no_quadratic_time},
};

int main(void)
{
	return unit_main("sse", tests, UNIT_COUNT(tests));
}
