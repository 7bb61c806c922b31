/* SPDX-License-Identifier: ISC */
/* Lists of mistakes and warnings. */
#include "base/problems.h"
#include "unit.h"

static void an_empty_list_has_nothing(void)
{
	struct problems p = {0};
	CU_ASSERT_EQUAL(p.count, 0);
	problems_release(&p);
	CU_ASSERT_EQUAL(p.count, 0);
}

static void problems_keep_their_order(void)
{
	struct problems p = {0};
	problems_add(&p, "%s: key %s must be a string", "a.json", "agent");
	problems_add(&p, "second");
	CU_ASSERT_EQUAL_FATAL(p.count, 2);
	CU_ASSERT_STRING_EQUAL(p.items[0].text, "a.json: key agent must be a string");
	CU_ASSERT_STRING_EQUAL(p.items[1].text, "second");
	CU_ASSERT_FALSE(p.items[0].warning);
	problems_release(&p);
}

static void warnings_are_no_errors(void)
{
	struct problems p = {0};
	problems_warn(&p, "ALLOWED_HOST is *");
	CU_ASSERT_EQUAL(p.errors, 0);
	problems_add(&p, "bad");
	problems_warn(&p, "hm");
	CU_ASSERT_EQUAL(p.errors, 1);
	CU_ASSERT_EQUAL_FATAL(p.count, 3);
	CU_ASSERT_TRUE(p.items[0].warning);
	CU_ASSERT_FALSE(p.items[1].warning);
	problems_release(&p);
}

static void a_released_list_can_be_used_again(void)
{
	struct problems p = {0};
	problems_add(&p, "old");
	problems_release(&p);
	CU_ASSERT_EQUAL(p.errors, 0);
	problems_add(&p, "new");
	CU_ASSERT_EQUAL_FATAL(p.count, 1);
	CU_ASSERT_STRING_EQUAL(p.items[0].text, "new");
	problems_release(&p);
}

static const struct unit_test tests[] = {
    {"an empty list has nothing", an_empty_list_has_nothing},
    {"problems keep their order", problems_keep_their_order},
    {"warnings are no errors", warnings_are_no_errors},
    {"a released list can be used again", a_released_list_can_be_used_again},
};

int main(void)
{
	return unit_main("problems", tests, UNIT_COUNT(tests));
}
