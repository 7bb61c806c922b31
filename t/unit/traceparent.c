/* SPDX-License-Identifier: ISC */
/* The headers traceparent and tracestate. */
#include "base/http/traceparent.h"
#include "unit.h"

#include <string.h>

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN "00f067aa0ba902b7"

static struct trace_context context;

static void a_header_is_read(void)
{
	CU_ASSERT_TRUE(traceparent_parse("00-" TRACE "-" SPAN "-01", &context));
	CU_ASSERT_STRING_EQUAL(context.trace_id, TRACE);
	CU_ASSERT_STRING_EQUAL(context.span_id, SPAN);
	CU_ASSERT_TRUE(context.sampled);
	CU_ASSERT_TRUE(traceparent_parse("00-" TRACE "-" SPAN "-00", &context));
	CU_ASSERT_FALSE(context.sampled);
	CU_ASSERT_TRUE(traceparent_parse("00-" TRACE "-" SPAN "-ff", &context));
	CU_ASSERT_TRUE(context.sampled);
}

static void a_later_version_is_read_as_far_as_it_is_known(void)
{
	CU_ASSERT_TRUE(traceparent_parse("cc-" TRACE "-" SPAN "-01", &context));
	CU_ASSERT_TRUE(traceparent_parse("cc-" TRACE "-" SPAN "-01-more", &context));
	CU_ASSERT_FALSE(traceparent_parse("cc-" TRACE "-" SPAN "-01more", &context));
}

static void everything_else_is_refused(void)
{
	static const char *const wrong[] = {NULL, "", "00", "00-" TRACE "-" SPAN,
	    "00-" TRACE "-" SPAN "-", "00-" TRACE "-" SPAN "-1", "00-" TRACE "-" SPAN "-01-",
	    "00-" TRACE "-" SPAN "-01 ", " 00-" TRACE "-" SPAN "-01", "ff-" TRACE "-" SPAN "-01",
	    "0-" TRACE "-" SPAN "-01", "00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01",
	    "00-00000000000000000000000000000000-" SPAN "-01", "00-" TRACE "-0000000000000000-01",
	    "00-" TRACE "0-" SPAN "-01", "00-" SPAN "-" TRACE "-01", "00-" TRACE "-" SPAN "-0g",
	    "00_" TRACE "-" SPAN "-01"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CU_ASSERT_FALSE(traceparent_parse(wrong[i], &context));
		CU_ASSERT_STRING_EQUAL(context.trace_id, "");
	}
}

static void a_state_comes_along_with_a_valid_parent(void)
{
	char large[514];
	struct http_header out[TRACE_HEADERS];
	memset(large, 'x', sizeof(large));
	large[513] = '\0';
	const struct {
		const char *parent, *state;
		size_t passed_on;
	} cases[] = {{"00-" TRACE "-" SPAN "-01", "a=1, b@c=2", 2},
	    {"00-" TRACE "-" SPAN "-01", large + 1, 2}, {"00-" TRACE "-" SPAN "-01", large, 1},
	    {"00-" TRACE "-" SPAN "-01", "a=\xff", 1}, {"00-" TRACE "-" SPAN "-01", "", 1},
	    {"00-" TRACE "-" SPAN "-01", NULL, 1}, {"00-" TRACE, "a=1", 0}, {NULL, "a=1", 0}};
	for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
		const struct trace_headers given = {cases[i].parent, cases[i].state};
		const struct trace_headers valid = trace_headers_valid(&given);
		CU_ASSERT_EQUAL(trace_headers_put(&valid, out), cases[i].passed_on);
	}
}

static void what_is_written_can_be_read(void)
{
	struct trace_context again;
	char text[TRACEPARENT_SIZE];
	trace_id_new(context.trace_id);
	span_id_new(context.span_id);
	context.sampled = true;
	CU_ASSERT_TRUE(traceparent_parse(traceparent_format(&context, text), &again));
	CU_ASSERT_STRING_EQUAL(again.trace_id, context.trace_id);
	CU_ASSERT_STRING_EQUAL(again.span_id, context.span_id);
	CU_ASSERT_TRUE(again.sampled);
	CU_ASSERT_EQUAL(strlen(text), TRACEPARENT_SIZE - 1);
}

static const struct unit_test tests[] = {
    {"a header is read", a_header_is_read},
    {"a later version is read as far as it is known",
	a_later_version_is_read_as_far_as_it_is_known},
    {"everything else is refused", everything_else_is_refused},
    {"a state comes along with a valid parent", a_state_comes_along_with_a_valid_parent},
    {"what is written can be read", what_is_written_can_be_read},
};

int main(void)
{
	return unit_main("traceparent", tests, UNIT_COUNT(tests));
}
