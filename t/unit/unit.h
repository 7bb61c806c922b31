/* SPDX-License-Identifier: ISC */
/*
 * What every unit test program shares: a table of sentences and functions, run under CUnit and
 * reported as TAP.
 *
 *     static void empty_text_is_refused(void) { CU_ASSERT_PTR_NULL(...); }
 *
 *     static const struct unit_test tests[] = {
 *             {"empty text is refused", empty_text_is_refused},
 *     };
 *
 *     int main(void)
 *     {
 *             return unit_main("json", tests, UNIT_COUNT(tests));
 *     }
 */
#ifndef AGENTGRAPH_UNIT_UNIT_H
#define AGENTGRAPH_UNIT_UNIT_H

#include <CUnit/CUnit.h>
#include <stddef.h>
#include <sys/types.h>

struct unit_test {
	const char *sentence; /* one fact, without a dot at its end */
	void (*run)(void);
};

#define UNIT_COUNT(tests) (sizeof(tests) / sizeof((tests)[0]))

/*
 * Runs the tests in the table's order and prints TAP.  Returns 0 once every test was reported,
 * failed ones too, because the harness reads the lines; another value when they could not be run.
 */
int unit_main(const char *name, const struct unit_test *tests, size_t count);

/* Names the row of a table that a test looks at, until the next call or the end of the test: if
 * something fails meanwhile, the output has the name. */
void unit_row(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Processes for tests that have threads, or SQLite open: a fork would copy locks that others hold.
 * They are forked from the program as it was at unit_fork_early, which comes first in main.
 *
 * unit_fork has a copy of arg (at most UNIT_FORK_ARG bytes) handed to fn in such a process, which
 * ends with what that returns; the caller waits for it as for any child.  unit_fork_stopped waits
 * until it has stopped itself by raise(SIGSTOP), and returns 0 when it ended instead.
 */
#define UNIT_FORK_ARG 64
void unit_fork_early(void);
pid_t unit_fork(int (*fn)(const void *arg), const void *arg, size_t size);
pid_t unit_fork_stopped(int (*fn)(const void *arg), const void *arg, size_t size);

/* A private, empty directory for this program, the same at each call; it is removed with all that
 * is in it when the program ends. */
const char *unit_dir(void);

/* Returns "<unit_dir>/<name>" in one of a few buffers that the thread uses in turn. */
const char *unit_path(const char *name);

#endif
