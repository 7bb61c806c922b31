/* SPDX-License-Identifier: ISC */
/* Options of the command line. */
#include "base/options.h"

#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *name;
static long count;
static bool loud;

static const struct option_spec specs[] = {
    {"--name", OPTION_TEXT, &name, 0, 0},
    {"--count", OPTION_NUMBER, &count, 1, 10},
    {"--loud", OPTION_FLAG, &loud, 0, 0},
    OPTION_END,
};

static struct error err;

/* Parses up to four arguments behind the program's name; argv[0] is then the first operand. */
static int parse(const char **argv, const char *const arguments[4])
{
	int argc = 1;
	name = NULL;
	count = 5;
	loud = false;
	argv[0] = "greet";
	while (argc <= 4 && arguments[argc - 1]) {
		argv[argc] = arguments[argc - 1];
		argc++;
	}
	argv[argc] = NULL;
	error_release(&err);
	return options_parse(specs, argc, (char **)argv, &err);
}

#define PARSE(...) parse(argv, (const char *const[4]){__VA_ARGS__})

static void refused(int operands, const char *why)
{
	CU_ASSERT_EQUAL(operands, -1);
	CU_ASSERT_STRING_EQUAL(err.detail, why);
}

static void options_that_are_not_given_stay(void)
{
	const char *argv[6];
	CU_ASSERT_EQUAL(PARSE(NULL), 0);
	CU_ASSERT_PTR_NULL(name);
	CU_ASSERT_EQUAL(count, 5);
	CU_ASSERT_FALSE(loud);
}

static void values_follow_or_are_joined(void)
{
	const char *argv[6];
	CU_ASSERT_EQUAL(PARSE("--name", "Ada", "--count=7", "--loud"), 0);
	CU_ASSERT_STRING_EQUAL(name, "Ada");
	CU_ASSERT_EQUAL(count, 7);
	CU_ASSERT_TRUE(loud);
	CU_ASSERT_EQUAL(PARSE("--name=a=b"), 0);
	CU_ASSERT_STRING_EQUAL(name, "a=b");
}

static void operands_may_stand_anywhere(void)
{
	const char *argv[6];
	CU_ASSERT_EQUAL(PARSE("--count", "2", "world", "--loud"), 1);
	CU_ASSERT_STRING_EQUAL(argv[0], "world");
	CU_ASSERT_TRUE(loud);
}

static void two_dashes_end_the_options(void)
{
	const char *argv[6];
	CU_ASSERT_EQUAL(PARSE("--", "--loud"), 1);
	CU_ASSERT_STRING_EQUAL(argv[0], "--loud");
	CU_ASSERT_FALSE(loud);
}

static void a_dash_alone_is_an_operand(void)
{
	const char *argv[6];
	CU_ASSERT_EQUAL(PARSE("--loud", "-"), 1);
	CU_ASSERT_STRING_EQUAL(argv[0], "-");
	CU_ASSERT_TRUE(loud);
}

static void unknown_options_are_refused(void)
{
	const char *argv[6];
	refused(PARSE("--nam", "x"), "there is no option --nam");
	refused(PARSE("--names", "x"), "there is no option --names");
	refused(PARSE("-n"), "there is no option -n");
}

static void values_are_needed(void)
{
	const char *argv[6];
	refused(PARSE("--name"), "--name needs a value");
	refused(PARSE("--name="), "--name needs a value");
	refused(PARSE("--name", ""), "--name needs a value");
	refused(PARSE("--loud=yes"), "--loud takes no value");
}

static void numbers_are_whole_and_within_bounds(void)
{
	static const char *const wrong[] = {"0", "11", "2.5", "two", "99999999999999999999"};
	const char *argv[6];
	for (size_t i = 0; i < UNIT_COUNT(wrong); i++)
		CU_ASSERT_EQUAL(PARSE("--count", wrong[i]), -1);
	refused(PARSE("--count", "0"), "--count must be a whole number from 1 to 10, not \"0\"");
	CU_ASSERT_EQUAL(count, 5);
	CU_ASSERT_EQUAL(PARSE("--count", "10"), 0);
}

static void operands_are_counted(void)
{
	const char *argv[6];
	CU_ASSERT_EQUAL(PARSE("x", "y"), 2);
	CU_ASSERT_STRING_EQUAL(argv[0], "x");
	CU_ASSERT_STRING_EQUAL(argv[1], "y");
}

/* What a program that takes options only prints on both streams, or on standard error when its
 * output goes to a file instead; its exit status in *status. */
static const char *take_to(const char *file, const char *argument, int *status)
{
	static char text[256], answer[] = "greet 1.0\n";
	const struct option_spec rows[] = {{"--version", OPTION_ANSWER, answer, 0, 0}, OPTION_END};
	char *argv[] = {"greet", (char *)argument, NULL};
	int ends[2];
	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	fflush(stdout); /* the child would flush it once more */
	pid_t pid = fork();
	if (pid == 0) {
		dup2(file ? open(file, O_WRONLY) : ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		options_take("greet", rows, 2, argv);
		_exit(99);
	}
	close(ends[1]);
	ssize_t n = read(ends[0], text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	close(ends[0]);
	waitpid(pid, status, 0);
	*status = WEXITSTATUS(*status);
	return text;
}

static const char *take(const char *argument, int *status)
{
	return take_to(NULL, argument, status);
}

static void an_answer_that_is_not_written_is_a_failure(void)
{
	int status;
	CU_ASSERT_PTR_NOT_NULL(strstr(take_to("/dev/full", "--version", &status),
	    ": cannot write all of the output: No space left on device\n"));
	CU_ASSERT_EQUAL(status, EXIT_FAILURE);
}

static void an_answer_ends_the_program(void)
{
	int status;
	CU_ASSERT_STRING_EQUAL(take("--version", &status), "greet 1.0\n");
	CU_ASSERT_EQUAL(status, 0);
}

static void so_does_a_mistake(void)
{
	int status;
	CU_ASSERT_STRING_EQUAL(take("--nope", &status),
	    "greet: there is no option --nope; --help lists the options\n");
	CU_ASSERT_EQUAL(status, EXIT_USAGE);
	CU_ASSERT_STRING_EQUAL(take("here", &status),
	    "greet: takes options only, not \"here\"; --help lists the options\n");
	CU_ASSERT_EQUAL(status, EXIT_USAGE);
}

static const struct unit_test tests[] = {
    {"options that are not given stay", options_that_are_not_given_stay},
    {"values follow or are joined", values_follow_or_are_joined},
    {"operands may stand anywhere", operands_may_stand_anywhere},
    {"two dashes end the options", two_dashes_end_the_options},
    {"a dash alone is an operand", a_dash_alone_is_an_operand},
    {"unknown options are refused", unknown_options_are_refused},
    {"values are needed", values_are_needed},
    {"numbers are whole and within bounds", numbers_are_whole_and_within_bounds},
    {"operands are counted", operands_are_counted},
    {"an answer ends the program", an_answer_ends_the_program},
    {"so does a mistake", so_does_a_mistake},
    {"an answer that is not written is a failure", an_answer_that_is_not_written_is_a_failure},
};

int main(void)
{
	return unit_main("options", tests, UNIT_COUNT(tests));
}
