#include "cli/options.h"

#include "unit.h"

static const char *name;
static long count;
static bool loud;

static const struct option_spec specs[] = {
    {"--name", OPTION_TEXT, &name, 0, 0},
    {"--count", OPTION_NUMBER, &count, 1, 10},
    {"--loud", OPTION_FLAG, &loud, 0, 0},
    {NULL, OPTION_FLAG, NULL, 0, 0},
};

/* Parses up to four arguments behind the command's name; argv[0] is then the first operand. */
static bool parse(const char **argv, int wanted, const char *const arguments[4])
{
	int argc = 1, operands;

	name = NULL;
	count = 5;
	loud = false;
	argv[0] = "greet";
	while (argc <= 4 && arguments[argc - 1]) {
		argv[argc] = arguments[argc - 1];
		argc++;
	}
	argv[argc] = NULL;
	return options_parse(specs, argc, (char **)argv, wanted, &operands);
}

#define PARSE(wanted, ...) parse(argv, wanted, (const char *const[4]){__VA_ARGS__})

static void options_that_are_not_given_stay(void)
{
	const char *argv[6];
	CU_ASSERT_TRUE(PARSE(0, NULL));
	CU_ASSERT_PTR_NULL(name);
	CU_ASSERT_EQUAL(count, 5);
	CU_ASSERT_FALSE(loud);
}

static void values_follow_or_are_joined(void)
{
	const char *argv[6];
	CU_ASSERT_TRUE(PARSE(0, "--name", "Ada", "--count=7", "--loud"));
	CU_ASSERT_STRING_EQUAL(name, "Ada");
	CU_ASSERT_EQUAL(count, 7);
	CU_ASSERT_TRUE(loud);
	CU_ASSERT_TRUE(PARSE(0, "--name=a=b"));
	CU_ASSERT_STRING_EQUAL(name, "a=b");
}

static void operands_may_stand_anywhere(void)
{
	const char *argv[6];
	CU_ASSERT_TRUE(PARSE(1, "--count", "2", "world", "--loud"));
	CU_ASSERT_STRING_EQUAL(argv[0], "world");
	CU_ASSERT_TRUE(loud);
}

static void two_dashes_end_the_options(void)
{
	const char *argv[6];
	CU_ASSERT_TRUE(PARSE(1, "--", "--loud"));
	CU_ASSERT_STRING_EQUAL(argv[0], "--loud");
	CU_ASSERT_FALSE(loud);
}

static void unknown_options_are_refused(void)
{
	const char *argv[6];
	CU_ASSERT_FALSE(PARSE(0, "--nam", "x"));
	CU_ASSERT_FALSE(PARSE(0, "--names", "x"));
	CU_ASSERT_FALSE(PARSE(0, "-n"));
}

static void values_are_needed(void)
{
	const char *argv[6];
	CU_ASSERT_FALSE(PARSE(0, "--name"));
	CU_ASSERT_FALSE(PARSE(0, "--name="));
	CU_ASSERT_FALSE(PARSE(0, "--name", ""));
	CU_ASSERT_FALSE(PARSE(0, "--loud=yes"));
}

static void numbers_are_whole_and_within_bounds(void)
{
	const char *argv[6];
	CU_ASSERT_FALSE(PARSE(0, "--count", "0"));
	CU_ASSERT_FALSE(PARSE(0, "--count", "11"));
	CU_ASSERT_FALSE(PARSE(0, "--count", "2.5"));
	CU_ASSERT_FALSE(PARSE(0, "--count", "two"));
	CU_ASSERT_FALSE(PARSE(0, "--count", "99999999999999999999"));
	CU_ASSERT_TRUE(PARSE(0, "--count", "10"));
}

static void the_number_of_operands_counts(void)
{
	const char *argv[6];
	CU_ASSERT_FALSE(PARSE(0, "x"));
	CU_ASSERT_FALSE(PARSE(1, NULL));
	CU_ASSERT_FALSE(PARSE(1, "x", "y"));
}

static const struct unit_test tests[] = {
    {"options that are not given stay", options_that_are_not_given_stay},
    {"values follow or are joined", values_follow_or_are_joined},
    {"operands may stand anywhere", operands_may_stand_anywhere},
    {"two dashes end the options", two_dashes_end_the_options},
    {"unknown options are refused", unknown_options_are_refused},
    {"values are needed", values_are_needed},
    {"numbers are whole and within bounds", numbers_are_whole_and_within_bounds},
    {"the number of operands counts", the_number_of_operands_counts},
};

int main(void)
{
	return unit_main("cli_options", tests, UNIT_COUNT(tests));
}
