/* SPDX-License-Identifier: ISC */
/* Lines of kept chunks, packed as what differs. */
#include "storage/sql/run/line_pack.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

/* Packs and unpacks again; the bytes that are kept. */
static size_t there_and_back(const char *lines, size_t len)
{
	struct buf packed = {0}, plain = {0};
	size_t kept;
	buf_puts(&plain, "before");
	lines_pack(&packed, lines, len);
	lines_unpack(&plain, buf_str(&packed), packed.len);
	CU_ASSERT_EQUAL(plain.len, len + 6);
	CU_ASSERT(memcmp(plain.data + 6, lines, len) == 0);
	CU_ASSERT(utf8_valid(buf_str(&packed), packed.len));
	kept = packed.len;
	buf_release(&packed);
	buf_release(&plain);
	return kept;
}

#define CHUNK(text, time, seq)                                                                  \
	"{\"event\":\"message\",\"message\":{\"id\":\"0193\",\"content\":[{\"type\":\"text\","  \
	"\"text\":\"" text "\"}],\"timestamp\":17639280" time "},\"state\":null,\"thread_id\":" \
	"\"t\",\"metadata\":{\x02"                                                              \
	"0\"seq\":" seq ",\"node\":\"agent\",\"step\":1},\"timestamp\":17639280" time "9}\n"

static void lines_come_back_as_they_were(void)
{
	static const char *const texts[] = {"", "\n", "a", "a\n", "a\na\n", "a\n\n\nb\n", "\n\na",
	    "abc\nabd\nab\nabcd\n", "\"a\"\n\"b\"\n\"\n\"\"\"\n",
	    "{\"a\":1}\n{\"a\":12}\n{\"a\":\"1\"}\n", "\\\n\\\\\n\"\\\"\n\\\"\\\n",
	    "1\n12\n2\n\"\n",
	    CHUNK("one", "01.5", "9") CHUNK("two", "01.61", "10") CHUNK("", "02", "11"),
	    CHUNK("h\xc3\xa9", "01", "1") CHUNK("h\xc3\xa8", "02", "2")
		CHUNK("h\xc2\xa9", "3", "3"),
	    CHUNK("say \\\"", "01", "1") CHUNK("say \\n", "02", "2") CHUNK("\\\\", "3", "3")};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		unit_row("%s", texts[i]);
		there_and_back(texts[i], strlen(texts[i]));
	}
	unit_row("%s", "");
}

static void what_lines_have_in_common_is_kept_once(void)
{
	static const struct {
		const char *next;
		size_t most; /* bytes that it takes */
	} rows[] = {{CHUNK("two ", "02.123456", "2"), 40},
	    {CHUNK(", \\\"quoted\\\", ", "02.123456", "10"), 50}, {CHUNK("", "02.1", "2"), 40},
	    {CHUNK("\xc3\xa8", "01.123456", "2"), 30}};
	const char first[] = CHUNK("one ", "01.123456", "1");
	char lines[1024];
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unit_row("%s", rows[i].next);
		snprintf(lines, sizeof(lines), "%s%s", first, rows[i].next);
		CU_ASSERT(there_and_back(lines, strlen(lines)) < strlen(first) + rows[i].most);
		CU_ASSERT_EQUAL(
		    there_and_back(rows[i].next, strlen(rows[i].next)), strlen(rows[i].next));
	}
	unit_row("%s", "");
}

#define UPDATE(message, state, data, rest)                                                  \
	"{\"event\":\"updates\",\"message\":" message ",\"state\":" state ",\"data\":" data \
	",\"t\""                                                                            \
	":\"a thread of some name\",\"run_id\":\"a run of some other name\",\"time\":1}" rest "\n"
#define MESSAGE "{\"content\":[{\"type\":\"text\",\"text\":\"a } and \\\"\"}],\"usages\":null}"
#define STATE                    \
	"\x03{\"context\":[\x01" \
	"0,2\x01],\"fields\":{\"notes\":[]}}\x03"

/* Of each next one only what is put in, and what says where. */
static void values_of_other_kinds_are_kept_once_too(void)
{
	static const struct {
		const char *first, *next;
		const char *put_in;
	} rows[] = {
	    {UPDATE(MESSAGE, "null", "null", ""), UPDATE("null", STATE, "null", ""), "null" STATE},
	    {UPDATE("null", STATE, "null", ""), UPDATE("null", STATE, "{\"status\":\"on\"}", ""),
		"{\"status\":\"on\"}"},
	    {UPDATE("null", "null", "{\"status\":\"on\",\"step\":[1,2]}", ""),
		UPDATE("null", "null", "{\"status\":\"off\"}", ""), "off"},
	    {UPDATE("null", "null", "{}", ""), UPDATE("null", "null", "{\"a\":{\"b\":\"}\"}}", ""),
		"\"a\":{\"b\":\"}\"}"},
	    {UPDATE("null", "true", "12", ""), UPDATE("null", "false", "null", ""), "falsenull"},
	    {UPDATE("null", "null", "null", ""),
		UPDATE("null", "null", "null", "\x05{\"set\":[\"a\",\"b\"]}"),
		"\x05{\"set\":[\"a\",\"b\"]}"},
	    {UPDATE("null", "null", "null", "\x05{\"set\":[\"a\",\"b\"]}"),
		UPDATE("null", "null", "\"\"", ""), "\"\""},
	};
	char lines[1024];
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unit_row("%zu", i);
		snprintf(lines, sizeof(lines), "%s%s", rows[i].first, rows[i].next);
		CU_ASSERT(there_and_back(lines, strlen(lines)) <
		    strlen(rows[i].first) + strlen(rows[i].put_in) + 22);
	}
	unit_row("%s", "");
}

static void what_is_unlike_takes_no_more_than_before(void)
{
	const char lines[] =
	    "one line\nanother one\n\"\"\"\"\"\"\"\"\n'\"'\"'\"'\"'\"'\n12345678\n1.2.3.4.5\n";
	CU_ASSERT(there_and_back(lines, strlen(lines)) <= strlen(lines));
}

/* Lines made of few bytes, each often like the one before: whatever edits there can be. */
static void lines_by_chance_come_back(void)
{
	static const char *const pieces[] = {
	    "\"", "\\", "1", "9", ".", ",", "a", "\xc3\xa9", "\xc3\xa8", "\x02"};
	struct buf lines = {0};
	srand(7);
	for (int i = 0; i < 2000; i++) {
		char line[16][3] = {{0}};
		buf_reset(&lines);
		for (int k = 0; k < 6; k++) {
			for (size_t at = 0; at < 16; at++) {
				if (k && rand() % 4)
					continue;
				snprintf(line[at], 3, "%s", rand() % 8 ? pieces[rand() % 10] : "");
			}
			for (size_t at = 0; at < 16; at++)
				buf_puts(&lines, line[at]);
			buf_putc(&lines, '\n');
		}
		there_and_back(buf_str(&lines), lines.len);
	}
	buf_release(&lines);
}

static void what_is_not_packed_reads_as_it_is(void)
{
	struct buf plain = {0};
	CU_ASSERT_FALSE(lines_packed("{\"a\":1}\n{\"a\":2}\n", 16));
	lines_unpack(&plain, "{\"a\":1}\n{\"a\":2}\n", 16);
	CU_ASSERT_STRING_EQUAL(buf_str(&plain), "{\"a\":1}\n{\"a\":2}\n");
	buf_release(&plain);
}

static void a_line_that_cannot_be_read_is_empty(void)
{
	static const char *const rows[] = {"\x04", "\x04@",
	    "\x04"
	    "D@",
	    "\x04"
	    "@D",
	    "\x04"
	    "BB",
	    "\x04"
	    "!!",
	    "\x04````````````````@",
	    "\x04"
	    "AAx\x04"
	    "C@",
	    "\x04"
	    "A\x7f\x5f",
	    "\x04\x04\x04"};
	char packed[64];
	struct buf plain = {0};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unit_row("%zu", i);
		snprintf(packed, sizeof(packed), "abc\n%s\ndef\n", rows[i]);
		CU_ASSERT(lines_packed(packed, strlen(packed)));
		lines_unpack(&plain, packed, strlen(packed));
		CU_ASSERT_STRING_EQUAL(buf_str(&plain), "abc\n\ndef\n");
		buf_reset(&plain);
	}
	unit_row("%s", "");
	buf_release(&plain);
}

static const struct unit_test tests[] = {
    {"lines come back as they were", lines_come_back_as_they_were},
    {"what lines have in common is kept once", what_lines_have_in_common_is_kept_once},
    {"values of other kinds are kept once, too", values_of_other_kinds_are_kept_once_too},
    {"what is unlike takes no more than before", what_is_unlike_takes_no_more_than_before},
    {"lines by chance come back", lines_by_chance_come_back},
    {"what is not packed reads as it is", what_is_not_packed_reads_as_it_is},
    {"a line that cannot be read is empty", a_line_that_cannot_be_read_is_empty},
};

int main(void)
{
	memory_init();
	return unit_main("line_pack", tests, UNIT_COUNT(tests));
}
