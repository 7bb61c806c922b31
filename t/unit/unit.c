/* SPDX-License-Identifier: ISC */
/* Runs the tests of a unit program, and prints TAP, one line for each. */
#include "unit.h"

#include <assert.h>
#include <ftw.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned reported; /* tests printed so far; CUnit runs them in one thread */

static void print_failures(const CU_FailureRecord *failure)
{
	for (; failure; failure = failure->pNext)
		printf("# %s:%u: %s\n", failure->strFileName ? failure->strFileName : "?",
		    failure->uiLineNumber, failure->strCondition ? failure->strCondition : "?");
}

static char row[300];        /* "" outside of tables */
static unsigned row_earlier; /* failures before this row */

void unit_row(const char *format, ...)
{
	va_list ap;
	unsigned failures = CU_get_number_of_failures();
	if (*row && failures > row_earlier)
		printf("# in the row: %s\n", row);
	va_start(ap, format);
	vsnprintf(row, sizeof(row), format, ap);
	va_end(ap);
	row_earlier = failures;
}

static void test_complete(
    const CU_pTest test, const CU_pSuite suite, const CU_pFailureRecord failure)
{
	(void)suite;
	unit_row("%s", "");
	reported++;
	printf("%s %u - %s\n", failure ? "not ok" : "ok", reported, test->pName);
	print_failures(failure);
	fflush(stdout);
}

static int bail_out(const char *name, const char *what)
{
	printf("Bail out! %s: %s: %s\n", name, what, CU_get_error_msg());
	return 1;
}

static int run(const char *name, const struct unit_test *tests, size_t count)
{
	CU_pSuite suite = CU_add_suite(name, NULL, NULL);
	if (!suite)
		return bail_out(name, "no suite");
	for (size_t i = 0; i < count; i++) {
		CU_add_test(suite, tests[i].sentence, tests[i].run);
		if (CU_get_error() != CUE_SUCCESS)
			return bail_out(name, tests[i].sentence);
	}
	CU_set_test_complete_handler(test_complete);
	CU_set_error_action(CUEA_IGNORE);
	printf("1..%zu\n", count);
	fflush(stdout);
	CU_run_all_tests();
	return reported == count ? 0 : bail_out(name, "not every test was run");
}

int unit_main(const char *name, const struct unit_test *tests, size_t count)
{
	if (CU_initialize_registry() != CUE_SUCCESS)
		return bail_out(name, "no registry");
	int status = run(name, tests, count);
	CU_cleanup_registry();
	return status;
}

static char directory[PATH_MAX];
static pid_t directory_owner; /* a forked child that exits leaves the directory alone */

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_directory(void)
{
	if (directory_owner == getpid())
		nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *unit_dir(void)
{
	if (directory[0])
		return directory;
	const char *parent = getenv("TMPDIR");
	snprintf(directory, sizeof(directory), "%s/agentgraph-unit-XXXXXX",
	    parent && *parent ? parent : "/tmp");
	if (!mkdtemp(directory)) {
		printf("Bail out! no directory %s\n", directory);
		exit(1);
	}
	directory_owner = getpid();
	atexit(remove_directory);
	return directory;
}

const char *unit_path(const char *name)
{
	static _Thread_local char paths[8][PATH_MAX + 256];
	static _Thread_local unsigned next;
	char *path = paths[next++ % 8];
	snprintf(path, sizeof(paths[0]), "%s/%s", unit_dir(), name);
	return path;
}

/* ---- Processes ---- */

struct fork_order {
	int (*fn)(const void *arg);
	_Alignas(max_align_t) char arg[UNIT_FORK_ARG];
};

static int forks = -1;            /* the socket to the process that forks */
static struct fork_order ordered; /* what a forked process is to do */
static int fork_status;

static void run_ordered(void)
{
	fork_status = ordered.fn(ordered.arg);
}

/* CU_ASSERT needs a test around it, also in a forked process.  A failure is printed, and counted.
 * */
static int run_as_test(void)
{
	CU_pSuite suite =
	    CU_initialize_registry() == CUE_SUCCESS ? CU_add_suite("", NULL, NULL) : NULL;
	if (!suite || !CU_add_test(suite, "a process", run_ordered))
		return 1;
	CU_set_error_action(CUEA_IGNORE);
	CU_run_all_tests();
	print_failures(CU_get_failure_list());
	fflush(stdout);
	return fork_status ? fork_status : CU_get_number_of_failures() > 0;
}

/* Forks a process for each order.  The parent in between ends at once, so that the test becomes the
 * child's parent. */
static void serve_forks(int orders, pid_t test)
{
	while (recv(orders, &ordered, sizeof(ordered), 0) == sizeof(ordered)) {
		pid_t between = fork(), child;
		if (between > 0) {
			waitpid(between, NULL, 0);
			continue;
		}
		child = fork();
		if (child > 0)
			_exit(send(orders, &child, sizeof(child), 0) != sizeof(child));
		while (getppid() != test)
			sched_yield();
		close(orders);
		_exit(run_as_test());
	}
	_exit(0);
}

void unit_fork_early(void)
{
	int ends[2];
	pid_t test = getpid();
	unit_dir(); /* so that all processes have the same one */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
		abort();
	if (fork() == 0) {
		close(ends[0]);
		serve_forks(ends[1], test);
	}
	close(ends[1]);
	forks = ends[0];
}

pid_t unit_fork(int (*fn)(const void *arg), const void *arg, size_t size)
{
	struct fork_order order = {.fn = fn};
	pid_t child;
	assert(size <= sizeof(order.arg));
	if (size > 0)
		memcpy(order.arg, arg, size);
	if (send(forks, &order, sizeof(order), 0) != sizeof(order) ||
	    recv(forks, &child, sizeof(child), 0) != sizeof(child))
		abort();
	while (waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOHANG | WNOWAIT) != 0)
		sched_yield(); /* the parent in between is about to end */
	return child;
}

pid_t unit_fork_stopped(int (*fn)(const void *arg), const void *arg, size_t size)
{
	int status;
	pid_t child = unit_fork(fn, arg, size);
	return waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) ? child : 0;
}
