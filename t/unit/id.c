/* SPDX-License-Identifier: ISC */
/* Ids and chance. */
#include "base/id.h"
#include "base/os/clock.h"
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, 16);
}

static void random_bytes_do_not_repeat(void)
{
	enum { COUNT = 5000 };
	static unsigned char value[COUNT][16];
	for (int i = 0; i < COUNT; i++)
		random_bytes(value[i], 16);
	qsort(value, COUNT, 16, by_bytes);
	for (int i = 1; i < COUNT; i++)
		CU_ASSERT(memcmp(value[i - 1], value[i], 16) != 0);
}

static void random_bytes_fill_any_length(void)
{
	static const size_t sizes[] = {0, 1, 511, 512, 513, 5000};
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		unsigned char bytes[5001] = {0}, any = 0;
		for (int i = 0; i < 40; i++) { /* no place stays zero forty times */
			random_bytes(bytes, sizes[s]);
			CU_ASSERT_EQUAL(bytes[sizes[s]], 0);
			any |= sizes[s] ? bytes[sizes[s] - 1] : 1;
		}
		CU_ASSERT(any != 0);
	}
}

/* What a forked child draws first. */
static void draw_in_child(unsigned char out[16])
{
	int ends[2];
	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		random_bytes(out, 16);
		_exit(write(ends[1], out, 16) != 16);
	}
	close(ends[1]);
	CU_ASSERT_EQUAL(read(ends[0], out, 16), 16);
	close(ends[0]);
	waitpid(child, NULL, 0);
}

static void a_child_draws_other_bytes_than_its_parent(void)
{
	unsigned char first[16], second[16], own[16];
	random_bytes(own, 1); /* the pool has bytes left that a child could inherit */
	draw_in_child(first);
	draw_in_child(second);
	random_bytes(own, 16);
	CU_ASSERT(memcmp(first, second, 16) != 0);
	CU_ASSERT(memcmp(first, own, 16) != 0);
	CU_ASSERT(memcmp(second, own, 16) != 0);
}

/* In the form, x stands for a digit, y for a variant digit. */
static void assert_form(const char *text, const char *form)
{
	CU_ASSERT_EQUAL_FATAL(strlen(text), strlen(form));
	for (size_t i = 0; form[i]; i++) {
		char own[2] = {form[i]};
		const char *allowed = form[i] == 'x' ? "0123456789abcdef"
		    : form[i] == 'y'                 ? "89ab"
						     : own;
		CU_ASSERT_PTR_NOT_NULL(strchr(allowed, text[i]));
	}
}

static void uuids_have_their_form(void)
{
	char text[UUID_SIZE];
	for (int i = 0; i < 200; i++) {
		assert_form(uuid4(text), "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx");
		assert_form(uuid7(text), "xxxxxxxx-xxxx-7xxx-yxxx-xxxxxxxxxxxx");
	}
	char other[UUID_SIZE];
	assert_form(uuid8("one", text), "xxxxxxxx-xxxx-8xxx-yxxx-xxxxxxxxxxxx");
	CU_ASSERT_STRING_EQUAL(uuid8("one", other), text);
	CU_ASSERT_STRING_NOT_EQUAL(uuid8("two", other), text);
	char id[HEX_ID_SIZE];
	assert_form(hex_id(id), "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
}

static void every_uuid7_is_greater_than_the_last(void)
{
	char last[UUID_SIZE], next[UUID_SIZE];
	uuid7(last);
	for (int i = 0; i < 20000; i++) {
		CU_ASSERT(strcmp(uuid7(next), last) > 0);
		memcpy(last, next, sizeof(last));
	}
}

static void a_uuid7_tells_its_time(void)
{
	char text[UUID_SIZE], ms[13] = {0};
	int64_t before = clock_now() / 1000;
	uuid7(text);
	int64_t after = clock_now() / 1000;
	memcpy(ms, text, 8);
	memcpy(ms + 8, text + 9, 4);
	int64_t told = strtoll(ms, NULL, 16);
	CU_ASSERT(told >= before && told <= after + 1);
}

static const struct snowflake defaults = {
    .epoch_ms = 1723323246031, .total_bits = 64, .time_bits = 39, .node_bits = 7, .worker_bits = 5};

static void snowflake_sequence_takes_the_rest(void)
{
	struct snowflake s = defaults;
	CU_ASSERT_EQUAL(snowflake_sequence_bits(&s), 12);
	s.time_bits = 51;
	CU_ASSERT_EQUAL(snowflake_sequence_bits(&s), 0);
	s.total_bits = 53;
	CU_ASSERT_EQUAL(snowflake_sequence_bits(&s), -11);
}

static void snowflakes_hold_their_parts(void)
{
	struct snowflake s = defaults;
	s.node_id = 100;
	s.worker_id = 17;
	_Atomic uint64_t last = 0;
	int64_t before = clock_now() / 1000 - s.epoch_ms;
	int64_t id = snowflake_next(&s, &last);
	int64_t after = clock_now() / 1000 - s.epoch_ms;
	CU_ASSERT(id > 0);
	CU_ASSERT(id >> 24 >= before && id >> 24 <= after);
	CU_ASSERT_EQUAL(id >> 17 & 127, 100);
	CU_ASSERT_EQUAL(id >> 12 & 31, 17);
	CU_ASSERT_EQUAL(id & 4095, 0);
}

static void a_full_sequence_waits(void)
{
	struct snowflake s = defaults;
	s.time_bits = 50; /* one bit of sequence is left: two ids a millisecond */
	CU_ASSERT_EQUAL_FATAL(snowflake_sequence_bits(&s), 1);
	_Atomic uint64_t last = 0;
	int64_t from = clock_now(), previous = 0;
	for (int i = 0; i < 21; i++) {
		int64_t id = snowflake_next(&s, &last);
		CU_ASSERT(id > previous);
		previous = id;
	}
	CU_ASSERT(clock_now() - from >= 9000);
}

static void a_clock_that_stepped_back_waits(void)
{
	struct snowflake s = defaults;
	uint64_t ahead = (uint64_t)(clock_now() / 1000 - s.epoch_ms + 30);
	_Atomic uint64_t last = ahead << 12 | 5;
	int64_t id = snowflake_next(&s, &last);
	CU_ASSERT((uint64_t)id >> 24 >= ahead);
	CU_ASSERT((id >> 24) > (int64_t)ahead || (id & 4095) == 6);
}

enum { THREADS = 4, IDS = 2000 };

static _Atomic uint64_t shared_last;
static int64_t drawn[THREADS][IDS];

static void *draw_snowflakes(void *out)
{
	for (int i = 0; i < IDS; i++)
		((int64_t *)out)[i] = snowflake_next(&defaults, &shared_last);
	return NULL;
}

static int by_value(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return (a > b) - (a < b);
}

static void snowflakes_of_many_threads_are_unique(void)
{
	pthread_t thread[THREADS];
	for (int t = 0; t < THREADS; t++)
		pthread_create(&thread[t], NULL, draw_snowflakes, drawn[t]);
	for (int t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
	int64_t *all = drawn[0];
	qsort(all, THREADS * IDS, sizeof(*all), by_value);
	int repeated = 0;
	for (int i = 1; i < THREADS * IDS; i++)
		repeated += all[i] == all[i - 1];
	CU_ASSERT_EQUAL(repeated, 0);
}

static void ids_have_1_to_255_characters(void)
{
	char ascii[257], wide[2 * 256 + 1] = "";
	memset(ascii, 'x', 256);
	ascii[256] = '\0';
	CU_ASSERT_FALSE(id_valid(ascii));
	CU_ASSERT_TRUE(id_valid(ascii + 1));
	CU_ASSERT_TRUE(id_valid("x"));
	CU_ASSERT_FALSE(id_valid(""));
	for (int i = 0; i < 256; i++)
		memcpy(wide + 2 * i, "é", 3);
	CU_ASSERT_FALSE(id_valid(wide));
	CU_ASSERT_TRUE(id_valid(wide + 2));
}

static void ids_have_no_control_characters(void)
{
	CU_ASSERT_TRUE(id_valid("a b/c?ü€😀~"));
	CU_ASSERT_TRUE(id_valid("\xC2\xA0"));
	CU_ASSERT_FALSE(id_valid("a\nb"));
	CU_ASSERT_FALSE(id_valid("\x01"));
	CU_ASSERT_FALSE(id_valid("a\x1F"));
	CU_ASSERT_FALSE(id_valid("a\x7F"));
	CU_ASSERT_FALSE(id_valid("a\xC2\x80"));
	CU_ASSERT_FALSE(id_valid("\xC2\x9Fz"));
}

static void white_space_is_blank(void)
{
	static const char *const blank[] = {"", " ", "\t\n\v\f\r ", "\xC2\x85", "\xC2\xA0",
	    "\xE1\x9A\x80", "\xE2\x80\x80", "\xE2\x80\x8A", "\xE2\x80\xA8", "\xE2\x80\xA9",
	    "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80", " \xE3\x80\x80 "};
	static const char *const text[] = {
	    "a", " a", "a ", "\xE2\x80\x8B", "\x1C", "0", "\xC2\xA1"};
	for (size_t i = 0; i < sizeof(blank) / sizeof(blank[0]); i++)
		CU_ASSERT_TRUE(id_blank(blank[i]));
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		CU_ASSERT_FALSE(id_blank(text[i]));
}

static void numbers_below_one_are_not_positive(void)
{
	static const char *const yes[] = {
	    "0", "-1", "+0", "-0", "000", "-007", "-99999999999999999999999999"};
	static const char *const no[] = {"", "+", "-", "1", "+1", "007", "10", "1.5", "-1.5", "-x",
	    "0x", " 0", "0 ", "--1", "99999999999999999999999999", "+-0"};
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		CU_ASSERT_TRUE(id_not_positive(yes[i]));
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		CU_ASSERT_FALSE(id_not_positive(no[i]));
}

static const struct unit_test tests[] = {
    {"random bytes do not repeat", random_bytes_do_not_repeat},
    {"random bytes fill any length", random_bytes_fill_any_length},
    {"a child draws other bytes than its parent", a_child_draws_other_bytes_than_its_parent},
    {"UUIDs and hexadecimal ids have their form", uuids_have_their_form},
    /* Before the next one, which draws faster than the time in them can tick. */
    {"a version 7 UUID tells its time", a_uuid7_tells_its_time},
    {"every version 7 UUID is greater than the last", every_uuid7_is_greater_than_the_last},
    {"a snowflake's sequence takes the bits that are left", snowflake_sequence_takes_the_rest},
    {"snowflakes hold their parts", snowflakes_hold_their_parts},
    {"a full sequence waits for the next millisecond", a_full_sequence_waits},
    {"a clock that stepped back is waited for", a_clock_that_stepped_back_waits},
    {"snowflakes of many threads are unique", snowflakes_of_many_threads_are_unique},
    {"ids have 1 to 255 characters", ids_have_1_to_255_characters},
    {"ids have no control characters", ids_have_no_control_characters},
    {"white space is blank", white_space_is_blank},
    {"whole numbers below one are not positive", numbers_below_one_are_not_positive},
};

int main(void)
{
	return unit_main("id", tests, UNIT_COUNT(tests));
}
