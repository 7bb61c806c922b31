/* SPDX-License-Identifier: ISC */
/* The supervisor's children: when one is due again. */
#include "cli/serve/children.h"

#include "unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 1000000000 /* above any process id */

static void a_new_child_is_due_at_once(void)
{
	struct children c = {0};
	struct child *child = children_add(&c, ROLE_WORKER, 3);
	CU_ASSERT_EQUAL(child->pid, 0);
	CU_ASSERT_EQUAL(child->start_at, 0);
	CU_ASSERT_EQUAL(child->generation, 3);
	CU_ASSERT_EQUAL(children_next(&c), 0);
	children_release(&c);
}

static void running_children_are_found_and_counted(void)
{
	struct children c = {0};
	child_started(children_add(&c, ROLE_WORKER, 0), NOBODY, 10);
	child_started(children_add(&c, ROLE_NGINX, 0), NOBODY + 1, 10);
	children_add(&c, ROLE_WORKER, 0);
	CU_ASSERT_EQUAL(children_running(&c, ROLE_WORKER), 1);
	CU_ASSERT_PTR_EQUAL(children_find(&c, NOBODY + 1), &c.items[1]);
	CU_ASSERT_PTR_NULL(children_find(&c, NOBODY + 2));
	children_remove(&c, &c.items[0]);
	CU_ASSERT_EQUAL(c.count, 2);
	CU_ASSERT_PTR_NULL(children_find(&c, NOBODY));
	CU_ASSERT_PTR_NOT_NULL(children_find(&c, NOBODY + 1));
	children_release(&c);
}

static void one_that_lived_long_is_started_again_at_once(void)
{
	struct child child = {.role = ROLE_WORKER};
	child_started(&child, NOBODY, 1000);
	child_died(&child, 2000);
	CU_ASSERT_EQUAL(child.pid, 0);
	CU_ASSERT_EQUAL(child.start_at, 2000);
}

static void one_that_dies_young_waits_longer_each_time(void)
{
	static const int64_t delays[] = {0, 100, 200, 400, 800, 1600, 3200, 5000, 5000};
	struct child child = {.role = ROLE_WORKER};
	for (size_t i = 0; i < sizeof(delays) / sizeof(delays[0]); i++) {
		child_started(&child, NOBODY, 50);
		child_died(&child, 60);
		CU_ASSERT_EQUAL(child.start_at, 60 + delays[i]);
	}
	child_started(&child, NOBODY, 5000);
	child_died(&child, 7000);
	CU_ASSERT_EQUAL(child.start_at, 7000);
}

static void one_that_starts_is_waited_for_unless_it_died_young(void)
{
	struct children children = {0};
	struct child *child = children_add(&children, ROLE_WORKER, 0);
	CU_ASSERT_FALSE(children_start_well(&children));
	child_started(child, NOBODY, 50);
	CU_ASSERT_TRUE(children_start_well(&children));
	child->ready = true;
	CU_ASSERT_FALSE(children_start_well(&children));
	child->ready = false;
	child_died(child, 60);
	child_started(child, NOBODY, 60);
	CU_ASSERT_FALSE(children_start_well(&children));
	children_release(&children);
}

static void one_that_had_served_never_waits_long(void)
{
	struct child child = {.role = ROLE_WORKER};
	for (int i = 0; i < 9; i++) {
		child_started(&child, NOBODY, 50);
		child.ready = true;
		child_died(&child, 60);
		CU_ASSERT_EQUAL(child.start_at, i == 0 ? 60 : 160);
		CU_ASSERT_FALSE(child.ready);
	}
}

static void those_serve_that_are_ready_and_stay(void)
{
	struct children c = {0};
	for (int i = 0; i < 3; i++)
		child_started(children_add(&c, ROLE_WORKER, 0), NOBODY + i, 10);
	CU_ASSERT_EQUAL(children_serving(&c), 0);
	c.items[0].ready = c.items[1].ready = true;
	CU_ASSERT_EQUAL(children_serving(&c), 2);
	c.items[1].kill_at = 20;
	CU_ASSERT_EQUAL(children_serving(&c), 1);
	children_release(&c);
}

static void one_that_cannot_be_started_waits_too(void)
{
	struct child child = {.role = ROLE_WORKER};
	child_died(&child, 10);
	child_died(&child, 10);
	CU_ASSERT_EQUAL(child.start_at, 110);
}

static void nothing_is_due_while_all_run(void)
{
	struct children c = {0};
	CU_ASSERT_EQUAL(children_next(&c), INT64_MAX);
	child_started(children_add(&c, ROLE_WORKER, 0), NOBODY, 10);
	CU_ASSERT_EQUAL(children_next(&c), INT64_MAX);
	children_release(&c);
}

static void one_that_does_not_leave_is_killed(void)
{
	struct children c = {0};
	struct child *child = children_add(&c, ROLE_WORKER, 0);
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		signal(SIGTERM, SIG_IGN);
		for (;;)
			pause();
	}
	CU_ASSERT_FATAL(pid > 0);
	child_started(child, pid, 0);
	child_leave(child, SIGCONT, 100, 0);
	CU_ASSERT_EQUAL(children_next(&c), 100);
	children_kill_overdue(&c, 99);
	CU_ASSERT_EQUAL(waitpid(pid, &status, WNOHANG), 0);
	children_kill_overdue(&c, 100);
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	children_release(&c);
}

static const struct unit_test tests[] = {
    {"a new child is due at once", a_new_child_is_due_at_once},
    {"running children are found and counted", running_children_are_found_and_counted},
    {"one that lived long is started again at once", one_that_lived_long_is_started_again_at_once},
    {"one that dies young waits longer each time", one_that_dies_young_waits_longer_each_time},
    {"one that starts is waited for, unless it died young",
	one_that_starts_is_waited_for_unless_it_died_young},
    {"one that had served never waits long", one_that_had_served_never_waits_long},
    {"those serve that are ready and stay", those_serve_that_are_ready_and_stay},
    {"one that cannot be started waits too", one_that_cannot_be_started_waits_too},
    {"nothing is due while all run", nothing_is_due_while_all_run},
    {"one that does not leave is killed", one_that_does_not_leave_is_killed},
};

int main(void)
{
	return unit_main("cli_children", tests, UNIT_COUNT(tests));
}
