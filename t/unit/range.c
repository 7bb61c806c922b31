/* SPDX-License-Identifier: ISC */
/* Ranges, entity tags and dates of HTTP. */
#include "fcgi/request/range.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

/* The kind as a letter, with first-last of a part. */
static const char *parsed(const char *header, int64_t size)
{
	static char text[64];
	struct range range;
	switch (range_parse(header, size, &range)) {
	case RANGE_WHOLE:
		CU_ASSERT_EQUAL(range.first, 0);
		CU_ASSERT_EQUAL(range.last, size - 1);
		return "whole";
	case RANGE_OUTSIDE:
		return "outside";
	case RANGE_PART:
		break;
	}
	snprintf(text, sizeof(text), "%lld-%lld", (long long)range.first, (long long)range.last);
	return text;
}

static void one_range_is_a_part(void)
{
	CU_ASSERT_STRING_EQUAL(parsed("bytes=0-0", 10), "0-0");
	CU_ASSERT_STRING_EQUAL(parsed("bytes=2-5", 10), "2-5");
	CU_ASSERT_STRING_EQUAL(parsed("bytes=9-", 10), "9-9");
	CU_ASSERT_STRING_EQUAL(parsed("bytes=0-", 10), "0-9");
	CU_ASSERT_STRING_EQUAL(parsed("bytes=5-99999999999999999999", 10), "5-9");
	CU_ASSERT_STRING_EQUAL(parsed("bytes=-3", 10), "7-9");
	CU_ASSERT_STRING_EQUAL(parsed("bytes=-100", 10), "0-9");
	CU_ASSERT_STRING_EQUAL(parsed("BYTES= 1-2 ,", 10), "1-2");
}

static void a_range_without_a_byte_is_outside(void)
{
	CU_ASSERT_STRING_EQUAL(parsed("bytes=10-", 10), "outside");
	CU_ASSERT_STRING_EQUAL(parsed("bytes=10-20", 10), "outside");
	CU_ASSERT_STRING_EQUAL(parsed("bytes=99999999999999999999-", 10), "outside");
	CU_ASSERT_STRING_EQUAL(parsed("bytes=-0", 10), "outside");
}

static void anything_else_is_the_whole(void)
{
	static const char *const headers[] = {"", "bytes", "bytes=", "bytes=,", "bytes=-",
	    "bytes=5-2", "bytes=a-b", "bytes=1", "bytes=1-2x", "bytes=1--2", "bytes=+1-2",
	    "bytes=1 -2", "bytes =1-2", "items=1-2", "bytes=0-0,2-3", "bytes=0-0,99-",
	    "bytes=0-0,x"};
	for (size_t i = 0; i < UNIT_COUNT(headers); i++)
		CU_ASSERT_STRING_EQUAL(parsed(headers[i], 10), "whole");
}

static void tags_are_found_in_lists(void)
{
	CU_ASSERT(etag_listed("\"a\"", "\"a\""));
	CU_ASSERT(etag_listed(" \"b\" ,\"a\"", "\"a\""));
	CU_ASSERT(etag_listed("W/\"a\"", "\"a\""));
	CU_ASSERT(etag_listed("*", "\"a\""));
	CU_ASSERT_FALSE(etag_listed("\"b\"", "\"a\""));
	CU_ASSERT_FALSE(etag_listed("a", "\"a\""));
	CU_ASSERT_FALSE(etag_listed("\"a", "\"a\""));
	CU_ASSERT_FALSE(etag_listed("\"x\\\"a\"", "\"a\""));
	CU_ASSERT_FALSE(etag_listed("", "\"a\""));
	CU_ASSERT_FALSE(etag_listed("\"b\", *", "\"a\""));
}

static void dates_go_there_and_back(void)
{
	char text[HTTP_DATE_SIZE];
	CU_ASSERT_STRING_EQUAL(http_date(784111777, text), "Sun, 06 Nov 1994 08:49:37 GMT");
	CU_ASSERT_EQUAL(http_date_parse("Sun, 06 Nov 1994 08:49:37 GMT"), 784111777);
	CU_ASSERT_STRING_EQUAL(http_date(0, text), "Thu, 01 Jan 1970 00:00:00 GMT");
	CU_ASSERT_EQUAL(http_date_parse("Thu, 29 Feb 2024 23:59:59 GMT"), 1709251199);
}

static void other_texts_are_no_dates(void)
{
	static const char *const texts[] = {"", "yesterday", "Mon, 06 Nov 1994 08:49:37 GMT",
	    "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 GMT ",
	    "Sun, 06 anF 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
	    "Sun, 36 Nov 1994 08:49:37 GMT", "Thu, 29 Feb 2023 23:59:59 GMT"};
	for (size_t i = 0; i < UNIT_COUNT(texts); i++)
		CU_ASSERT_EQUAL(http_date_parse(texts[i]), -1);
}

static const struct unit_test tests[] = {
    {"one range is a part", one_range_is_a_part},
    {"a range without a byte is outside", a_range_without_a_byte_is_outside},
    {"anything else is the whole", anything_else_is_the_whole},
    {"tags are found in lists", tags_are_found_in_lists},
    {"dates go there and back", dates_go_there_and_back},
    {"other texts are no dates", other_texts_are_no_dates},
};

int main(void)
{
	return unit_main("range", tests, UNIT_COUNT(tests));
}
