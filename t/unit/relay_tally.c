/* SPDX-License-Identifier: ISC */
/* How many connections each address and user has. */
#include "unit.h"
#include "ws-bridge/relay/relay.h"

#include <stdio.h>

static struct tally tally;

static void what_was_never_counted_is_zero(void)
{
	CU_ASSERT_EQUAL(tally_count(&tally, "nobody"), 0);
	CU_ASSERT_EQUAL(tally_count(&tally, ""), 0);
}

static void many_texts_are_counted_apart(void)
{
	char name[16];
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "user-%d", i % 2500);
		tally_add(&tally, name, 1);
	}
	for (int i = 0; i < 2500; i++) {
		snprintf(name, sizeof(name), "user-%d", i);
		CU_ASSERT_EQUAL(tally_count(&tally, name), 2);
	}
}

static void what_is_taken_back_is_forgotten(void)
{
	tally_add(&tally, "user-7", -1);
	CU_ASSERT_EQUAL(tally_count(&tally, "user-7"), 1);
	tally_add(&tally, "user-7", -1);
	CU_ASSERT_EQUAL(tally_count(&tally, "user-7"), 0);
	CU_ASSERT_EQUAL(tally_count(&tally, "user-8"), 2);
	tally_clear(&tally);
	CU_ASSERT_EQUAL(tally_count(&tally, "user-8"), 0);
}

static const struct unit_test tests[] = {
    {"what was never counted is zero", what_was_never_counted_is_zero},
    {"many texts are counted apart", many_texts_are_counted_apart},
    {"what is taken back is forgotten", what_is_taken_back_is_forgotten},
};

int main(void)
{
	return unit_main("relay_tally", tests, UNIT_COUNT(tests));
}
