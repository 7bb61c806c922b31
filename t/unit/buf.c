/* SPDX-License-Identifier: ISC */
/* Growing buffers. */
#include "base/buf.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void an_empty_buf_is_an_empty_string(void)
{
	struct buf b = {0};
	CU_ASSERT_STRING_EQUAL(buf_str(&b), "");
	buf_reset(&b);
	buf_add(&b, NULL, 0);
	CU_ASSERT_STRING_EQUAL(buf_str(&b), "");
	CU_ASSERT_EQUAL(b.len, 0);
	buf_release(&b);
	buf_release(&b);
}

static void pieces_are_joined(void)
{
	struct buf b = {0};
	buf_puts(&b, "one");
	buf_putc(&b, ' ');
	buf_add(&b, "twofold", 3);
	buf_printf(&b, " %s %d", "three", 4);
	CU_ASSERT_STRING_EQUAL(buf_str(&b), "one two three 4");
	CU_ASSERT_EQUAL(b.len, strlen("one two three 4"));
	buf_release(&b);
}

static void bytes_may_hold_nul(void)
{
	struct buf b = {0};
	buf_add(&b, "a\0b", 3);
	CU_ASSERT_EQUAL(b.len, 3);
	CU_ASSERT_EQUAL(memcmp(b.data, "a\0b", 4), 0);
	buf_release(&b);
}

static void it_grows_without_losing_anything(void)
{
	struct buf b = {0};
	for (int i = 0; i < 100000; i++)
		buf_putc(&b, (char)('a' + i % 26));
	CU_ASSERT_EQUAL(b.len, 100000);
	CU_ASSERT_EQUAL(strlen(b.data), 100000);
	CU_ASSERT_EQUAL(b.data[0], 'a');
	CU_ASSERT_EQUAL(b.data[99999], 'a' + 99999 % 26);
	buf_release(&b);
}

static void printf_fits_at_every_length(void)
{
	for (int len = 0; len < 300; len++) {
		struct buf b = {0};
		buf_puts(&b, "x");
		buf_printf(&b, "%*s", len, "");
		CU_ASSERT_EQUAL(b.len, (size_t)len + 1);
		CU_ASSERT_EQUAL(strlen(b.data), (size_t)len + 1);
		buf_release(&b);
	}
}

static void integers_are_written_whole(void)
{
	struct buf b = {0};
	buf_int(&b, 0);
	buf_int(&b, -7);
	buf_int(&b, INT64_MAX);
	buf_int(&b, INT64_MIN);
	CU_ASSERT_STRING_EQUAL(b.data, "0-79223372036854775807-9223372036854775808");
	buf_release(&b);
}

static void reserved_room_is_filled_by_the_caller(void)
{
	struct buf b = {0};
	buf_puts(&b, "ab");
	char *to = buf_reserve(&b, 1000);
	CU_ASSERT_STRING_EQUAL(b.data, "ab");
	memset(to, 'c', 1000);
	b.len += 1000;
	b.data[b.len] = '\0';
	CU_ASSERT_EQUAL(strlen(b.data), 1002);
	buf_release(&b);
}

static void reset_keeps_the_memory(void)
{
	struct buf b = {0};
	buf_puts(&b, "something");
	char *data = b.data;
	buf_reset(&b);
	CU_ASSERT_STRING_EQUAL(buf_str(&b), "");
	buf_puts(&b, "new");
	CU_ASSERT_PTR_EQUAL(b.data, data);
	CU_ASSERT_STRING_EQUAL(b.data, "new");
	buf_release(&b);
}

static void detach_hands_the_text_over(void)
{
	struct buf b = {0};
	char *empty = buf_detach(&b);
	CU_ASSERT_STRING_EQUAL(empty, "");
	buf_puts(&b, "mine");
	char *text = buf_detach(&b);
	CU_ASSERT_STRING_EQUAL(text, "mine");
	CU_ASSERT_PTR_NULL(b.data);
	CU_ASSERT_EQUAL(b.len, 0);
	free(empty);
	free(text);
}

static void join_line(void *arg, char *line, size_t len)
{
	line[len] = '|';
	buf_add(arg, line, len + 1);
}

static void whole_lines_are_taken(void)
{
	static const char *const pieces[] = {"", "on", "e\n\ntwo\nth", "ree", "\n", "rest"};
	struct buf b = {0}, lines = {0};
	size_t scanned = 0;
	buf_take_lines(&b, &scanned, join_line, &lines);
	for (size_t i = 0; i < UNIT_COUNT(pieces); i++) {
		buf_puts(&b, pieces[i]);
		buf_take_lines(&b, &scanned, join_line, &lines);
		CU_ASSERT_EQUAL(scanned, b.len);
	}
	CU_ASSERT_STRING_EQUAL(buf_str(&lines), "one||two|three|");
	CU_ASSERT_STRING_EQUAL(buf_str(&b), "rest");
	buf_release(&b);
	buf_release(&lines);
}

static const struct unit_test tests[] = {
    {"an empty buf is an empty string", an_empty_buf_is_an_empty_string},
    {"pieces are joined", pieces_are_joined},
    {"bytes may hold NUL", bytes_may_hold_nul},
    {"it grows without losing anything", it_grows_without_losing_anything},
    {"printf fits at every length", printf_fits_at_every_length},
    {"integers are written whole", integers_are_written_whole},
    {"reserved room is filled by the caller", reserved_room_is_filled_by_the_caller},
    {"reset keeps the memory", reset_keeps_the_memory},
    {"whole lines are taken, the rest stays", whole_lines_are_taken},
    {"detach hands the text over", detach_hands_the_text_over},
};

int main(void)
{
	return unit_main("buf", tests, UNIT_COUNT(tests));
}
