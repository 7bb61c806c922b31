/* SPDX-License-Identifier: ISC */
/* Records between relay and helper: written, and read again. */
#include "ws-bridge/record.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static struct buf line;
static struct record record;

/* Parses a copy of what was written, and empties the line. */
static bool parse_line(void)
{
	static char copy[1024];
	size_t len = line.len;
	CU_ASSERT_FATAL(len < sizeof(copy));
	memcpy(copy, buf_str(&line), len);
	buf_release(&line);
	return record_parse(copy, len, &record);
}

static bool parse(const char *text)
{
	buf_puts(&line, text);
	return parse_line();
}

static void check_data(const char *data, size_t len)
{
	CU_ASSERT_EQUAL_FATAL(record.len, len);
	CU_ASSERT(len == 0 || memcmp(record.data, data, len) == 0);
}

static void written_records_are_read_again(void)
{
	record_ready(&line);
	CU_ASSERT(parse_line() && record.kind == RECORD_READY && record.code == RECORD_VERSION);
	record_refuse(&line, 503, "{\"a\":1}");
	CU_ASSERT(parse_line() && record.kind == RECORD_REFUSE && record.code == 503);
	check_data("{\"a\":1}", 7);
	record_close(&line, 1008, "Graph is live");
	CU_ASSERT(parse_line() && record.kind == RECORD_CLOSE && record.code == 1008);
	check_data("Graph is live", 13);
	record_close(&line, 1000, NULL);
	CU_ASSERT(parse_line() && record.code == 1000 && record.len == 0);
	record_gone(&line, 1006);
	CU_ASSERT(parse_line() && record.kind == RECORD_GONE && record.code == 1006);
	record_signal(&line, RECORD_BYE);
	CU_ASSERT(parse_line() && record.kind == RECORD_BYE);
}

static void texts_keep_what_would_end_a_line(void)
{
	static const char text[] = "a\nb\r\n\033c\033n\0d\n";
	record_text(&line, text, sizeof(text) - 1);
	CU_ASSERT_PTR_NULL(memchr(line.data, '\n', line.len));
	CU_ASSERT_PTR_NULL(memchr(line.data, '\r', line.len));
	CU_ASSERT_EQUAL(strlen(line.data), line.len);
	CU_ASSERT(parse_line() && record.kind == RECORD_TEXT);
	check_data(text, sizeof(text) - 1);
	record_more(&line, text, sizeof(text) - 1);
	CU_ASSERT_PTR_NULL(memchr(line.data, '\n', line.len));
	CU_ASSERT(parse_line() && record.kind == RECORD_MORE);
	check_data(text, sizeof(text) - 1);
	record_text(&line, "", 0);
	CU_ASSERT_STRING_EQUAL(line.data, "T");
	CU_ASSERT(parse_line() && record.len == 0);
}

static void bytes_of_every_length_come_back(void)
{
	unsigned char bytes[256];
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(255 - i);
	for (size_t len = 0; len <= sizeof(bytes); len++) {
		record_binary(&line, bytes, len);
		CU_ASSERT(parse_line() && record.kind == RECORD_BINARY);
		check_data((const char *)bytes, len);
	}
}

static void base64_is_that_of_everybody(void)
{
	record_binary(&line, "foob", 4);
	CU_ASSERT_STRING_EQUAL(line.data, "BZm9vYg==");
	buf_release(&line);
	record_binary(&line, "\xfb\xff", 2);
	CU_ASSERT_STRING_EQUAL(line.data, "B+/8=");
	buf_release(&line);
}

static void records_are_added_to_what_is_there(void)
{
	record_signal(&line, RECORD_HOLD);
	buf_putc(&line, '\n');
	record_binary(&line, "f", 1);
	buf_putc(&line, '\n');
	record_text(&line, "x\ny", 3);
	CU_ASSERT_STRING_EQUAL(line.data, "H\nBZg==\nTx\033ny");
	buf_release(&line);
}

static void a_refusal_stays_on_its_line(void)
{
	record_refuse(&line, 403, "{\n\"a\": 1}");
	CU_ASSERT_STRING_EQUAL(line.data, "J403 { \"a\": 1}");
	buf_release(&line);
}

static void a_long_reason_is_cut_at_a_character(void)
{
	char reason[200];
	memset(reason, 'x', sizeof(reason));
	reason[199] = '\0';
	memcpy(reason + 122, "\xc3\xa4", 2);
	record_close(&line, 1011, reason);
	CU_ASSERT_EQUAL(line.len, strlen("C1011 ") + 122);
	CU_ASSERT(parse_line());
}

static void lines_that_are_no_records_are_refused(void)
{
	static const char *const wrong[] = {"", "X", "t", "R", "Rx", "R1 ", "R10000", "J", "J403",
	    "J403 ", "J200 {}", "J600 {}", "J {}", "C", "C999", "C1004", "C1005", "C1006", "C1015",
	    "C1016", "C2999", "C5000", "C1000x", "G", "G999", "G1004", "G1000 x", "G 1000", "Yx",
	    "H1", "O ", "T\033", "M\033", "Ta\033x", "T\033\033", "Ta\nb", "Ta\rb", "T\xff",
	    "T\xc0\x80", "BA", "BAA", "BAAA", "BA===", "B====", "B=AAA", "BAA=A",
	    "BAAAA=", "BAA\n=", "BAB==", "BAAB=", "BAA-_", "B AAAA", "B\xc3\xa4\xc3\xa4"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_FALSE(parse(wrong[i]));
	buf_add(&line, "Ta\0b", 4);
	CU_ASSERT_FALSE(parse_line());
}

static void codes_that_may_be_sent_are_taken(void)
{
	static const char *const right[] = {"C1000", "C1003 ", "C1007", "C1011 Internal error",
	    "C1013", "C3000", "C4999 x", "G1005", "G1006", "G4000", "R7", "J599 x"};
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		CU_ASSERT(parse(right[i]));
}

/* The records of a line, each in brackets. */
static const char *records(const char *text)
{
	static char all[256], copy[256];
	char *rest = copy;
	size_t len = strlen(text), size;
	char *one;
	strcpy(copy, text);
	*all = '\0';
	while ((one = record_next(&rest, &len, &size))) {
		strcat(all, "[");
		strncat(all, one, size);
		strcat(all, "]");
	}
	return all;
}

static void a_line_can_have_several_records(void)
{
	CU_ASSERT_STRING_EQUAL(records("Ta"), "[Ta]");
	CU_ASSERT_STRING_EQUAL(records("Ta\033Tb\033C1008 x"), "[Ta][Tb][C1008 x]");
	CU_ASSERT_STRING_EQUAL(records("Ta\033nb\033eT\033rc"), "[Ta\033nb\033eT\033rc]");
	CU_ASSERT_STRING_EQUAL(records("Ta\033e\033Tb"), "[Ta\033e][Tb]");
	CU_ASSERT_STRING_EQUAL(records("T\033Y"), "[T][Y]");
	CU_ASSERT_STRING_EQUAL(records("Ta\033"), "[Ta\033]");
	CU_ASSERT_STRING_EQUAL(records(""), "[]");
}

static void joined_texts_come_apart_again(void)
{
	static const char text[] = "\033T\n\033";
	size_t len, size;
	record_text(&line, text, 4);
	buf_putc(&line, RECORD_JOINT);
	record_text(&line, text, 4);
	char *rest = line.data, *one;
	len = line.len;
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_FATAL((one = record_next(&rest, &len, &size)) != NULL);
		CU_ASSERT(record_parse(one, size, &record));
		check_data(text, 4);
	}
	CU_ASSERT_PTR_NULL(record_next(&rest, &len, &size));
	buf_release(&line);
}

static const struct unit_test tests[] = {
    {"written records are read again", written_records_are_read_again},
    {"texts keep what would end a line", texts_keep_what_would_end_a_line},
    {"bytes of every length come back", bytes_of_every_length_come_back},
    {"base64 is that of everybody", base64_is_that_of_everybody},
    {"records are added to what is there", records_are_added_to_what_is_there},
    {"a refusal stays on its line", a_refusal_stays_on_its_line},
    {"a long reason is cut at a character", a_long_reason_is_cut_at_a_character},
    {"a line can have several records", a_line_can_have_several_records},
    {"joined texts come apart again, whatever they hold", joined_texts_come_apart_again},
    {"lines that are no records are refused", lines_that_are_no_records_are_refused},
    {"codes that may be sent are taken", codes_that_may_be_sent_are_taken},
};

int main(void)
{
	return unit_main("record", tests, UNIT_COUNT(tests));
}
