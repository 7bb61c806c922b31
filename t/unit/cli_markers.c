/* SPDX-License-Identifier: ISC */
/* Markers in templates, and what takes their place. */
#include "cli/nginx/nginx_conf.h"

#include "unit.h"

static const struct marker values[] = {
    {"NAME", "world"},
    {"LINES", "one\n\n  two\n"},
    {"EMPTY", ""},
    {NULL, NULL},
};

static void becomes(const char *text, const char *expected)
{
	struct buf out = {0};
	markers_fill(&out, text, values);
	CU_ASSERT_STRING_EQUAL(buf_str(&out), expected);
	buf_release(&out);
}

static void a_marker_within_a_line_is_replaced(void)
{
	becomes("hello @NAME@, @NAME@!\n", "hello world, world!\n");
}

static void other_at_signs_stay(void)
{
	becomes("a@b @ @@ @name@ @NAME\n", "a@b @ @@ @name@ @NAME\n");
}

static void a_marker_on_its_own_line_keeps_the_indentation(void)
{
	becomes("a\n  @LINES@\nb\n", "a\n  one\n\n    two\nb\n");
}

static void a_line_that_is_an_empty_marker_goes(void)
{
	becomes("a\n  @EMPTY@\nb\n", "a\nb\n");
	becomes("a@EMPTY@\n", "a\n");
}

static void a_last_line_without_newline_gets_one(void)
{
	becomes("@NAME@", "world\n");
	becomes("x", "x\n");
	becomes("", "");
}

static const struct unit_test tests[] = {
    {"a marker within a line is replaced", a_marker_within_a_line_is_replaced},
    {"other at signs stay", other_at_signs_stay},
    {"a marker on its own line keeps the indentation",
	a_marker_on_its_own_line_keeps_the_indentation},
    {"a line that is an empty marker goes", a_line_that_is_an_empty_marker_goes},
    {"a last line without newline gets one", a_last_line_without_newline_gets_one},
};

int main(void)
{
	return unit_main("cli_markers", tests, UNIT_COUNT(tests));
}
