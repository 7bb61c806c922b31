/* SPDX-License-Identifier: ISC */
/* Templates: names in braces. */
#include "graph/message/template.h"

#include "base/memory.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void marked_name(const char *name, struct buf *out, void *arg)
{
	buf_printf(out, "<%s%s>", (const char *)arg, name);
}

/* The text with each name NAME as <*NAME>; in a static buffer. */
static const char *rendered(const char *text)
{
	static struct buf out;
	char *error = NULL;
	struct template *t = template_parse(text, &error);
	buf_reset(&out);
	if (!t) {
		buf_printf(&out, "error: %s", error);
		free(error);
		return buf_str(&out);
	}
	template_render(t, marked_name, "*", &out);
	template_free(t);
	return buf_str(&out);
}

static void text_without_names_stays(void)
{
	CU_ASSERT_STRING_EQUAL(rendered(""), "");
	CU_ASSERT_STRING_EQUAL(rendered("plain { text } % s }}"), "plain { text } % s }}");
}

static void names_are_replaced(void)
{
	CU_ASSERT_STRING_EQUAL(rendered("{{a}}"), "<*a>");
	CU_ASSERT_STRING_EQUAL(rendered("x{{a}}y{{b.c}}z"), "x<*a>y<*b.c>z");
	CU_ASSERT_STRING_EQUAL(rendered("{{a}}{{a}}"), "<*a><*a>");
}

static void blanks_around_a_name_do_not_count(void)
{
	CU_ASSERT_STRING_EQUAL(rendered("{{ a }}|{{\tb c\n}}"), "<*a>|<*b c>");
}

static void four_braces_are_two(void)
{
	CU_ASSERT_STRING_EQUAL(rendered("{{{{"), "{{");
	CU_ASSERT_STRING_EQUAL(rendered("{{{{a}}"), "{{a}}");
	CU_ASSERT_STRING_EQUAL(rendered("{{{{{{a}}"), "{{<*a>");
}

static void a_brace_after_a_name_is_text(void)
{
	CU_ASSERT_STRING_EQUAL(rendered("{{a}}}"), "<*a>}");
}

static void a_name_that_does_not_end_is_a_mistake(void)
{
	CU_ASSERT_STRING_EQUAL(
	    rendered("hello {{name"), "error: '{{name' opens a name that no }} closes");
	CU_ASSERT_STRING_EQUAL(rendered("{{"), "error: '{{' opens a name that no }} closes");
	CU_ASSERT_STRING_EQUAL(rendered("{{a}"), "error: '{{a}' opens a name that no }} closes");
}

static void an_empty_name_is_a_mistake(void)
{
	CU_ASSERT_STRING_EQUAL(
	    rendered("{{}}"), "error: expected a name between {{ and }}, found '{{}}'");
	CU_ASSERT_STRING_EQUAL(
	    rendered("{{  }}"), "error: expected a name between {{ and }}, found '{{  }}'");
}

static void a_brace_in_a_name_is_a_mistake(void)
{
	CU_ASSERT_STRING_EQUAL(
	    rendered("{{{a}}"), "error: expected a name between {{ and }}, found '{{{a}}'");
	CU_ASSERT_STRING_EQUAL(
	    rendered("{{a {{b}}"), "error: expected a name between {{ and }}, found '{{a {{b}}'");
}

static void a_long_rest_is_cut_at_a_character(void)
{
	const char *text = rendered("{{äääääääääääääääääääääääääääääää");
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "ä' opens"));
	CU_ASSERT_TRUE(strlen(text) < 90);
}

static void names_can_be_listed(void)
{
	char *error = NULL;
	struct template *t = template_parse("a {{x}} b {{y}} {{x}}", &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	CU_ASSERT_EQUAL_FATAL(template_name_count(t), 3);
	CU_ASSERT_STRING_EQUAL(template_name(t, 0), "x");
	CU_ASSERT_STRING_EQUAL(template_name(t, 1), "y");
	CU_ASSERT_STRING_EQUAL(template_name(t, 2), "x");
	CU_ASSERT_PTR_NULL(template_name(t, 3));
	template_free(t);
}

static void only_a_lone_name_is_an_only_name(void)
{
	static const struct {
		const char *text, *name;
	} cases[] = {{"{{x}}", "x"}, {"{{ x }}", "x"}, {" {{x}}", NULL}, {"{{x}}{{y}}", NULL},
	    {"x", NULL}, {"", NULL}};
	for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
		char *error = NULL;
		struct template *t = template_parse(cases[i].text, &error);
		const char *name = template_only_name(t);
		CU_ASSERT_TRUE(cases[i].name ? name && strcmp(name, cases[i].name) == 0 : !name);
		template_free(t);
	}
}

static const struct unit_test tests[] = {
    {"text without names stays as it is", text_without_names_stays},
    {"names are replaced", names_are_replaced},
    {"blanks around a name do not count", blanks_around_a_name_do_not_count},
    {"four braces stand for two", four_braces_are_two},
    {"a brace after a name is text", a_brace_after_a_name_is_text},
    {"a name that does not end is a mistake", a_name_that_does_not_end_is_a_mistake},
    {"an empty name is a mistake", an_empty_name_is_a_mistake},
    {"a brace in a name is a mistake", a_brace_in_a_name_is_a_mistake},
    {"a long rest is cut at a character", a_long_rest_is_cut_at_a_character},
    {"names can be listed", names_can_be_listed},
    {"only a lone name is an only name", only_a_lone_name_is_an_only_name},
};

int main(void)
{
	memory_init();
	return unit_main("template", tests, UNIT_COUNT(tests));
}
