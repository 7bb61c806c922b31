/* SPDX-License-Identifier: ISC */
/* Names in the file system: whether they stand for what they stood for. */
#include "base/bound.h"

#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *made(const char *name)
{
	const char *path = unit_path(name);
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	CU_ASSERT_TRUE_FATAL(fd >= 0);
	close(fd);
	return path;
}

static void a_name_that_stays_is_the_same(void)
{
	const char *path = made("stays");
	struct bound bound = bound_at(path);
	CU_ASSERT_FALSE(bound_is_other(bound, path));
	chmod(path, 0660);
	CU_ASSERT_FALSE(bound_is_other(bound, path));
	bound_remove(bound, path);
	CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
	CU_ASSERT_TRUE(bound_is_other(bound, path));
}

static struct timespec changed(const char *path)
{
	struct stat info;
	CU_ASSERT_EQUAL_FATAL(stat(path, &info), 0);
	return info.st_ctim;
}

/* Until another time is told of what is written: file systems tell it by the kernel's tick. */
static void tick(void)
{
	struct timespec first = changed(made("tick")), now = first;
	while (now.tv_sec == first.tv_sec && now.tv_nsec == first.tv_nsec) {
		usleep(1000);
		now = changed(made("tick"));
	}
}

/* The number of a file that is gone is mostly that of the next one. */
static void a_successor_is_another(void)
{
	made("tick"); /* now, because it is not to have a number that is free */
	for (int i = 0; i < 20; i++) {
		const char *path = made("again");
		struct bound bound = bound_at(path);
		unlink(path);
		tick();
		made("again");
		CU_ASSERT_TRUE(bound_is_other(bound, path));
		bound_remove(bound, path);
		CU_ASSERT_EQUAL(access(path, F_OK), 0);
		unlink(path);
	}
}

static void nothing_is_never_removed(void)
{
	struct bound nothing = bound_at(unit_path("absent"));
	const char *path = made("present");
	CU_ASSERT_EQUAL(nothing.inode, 0);
	bound_remove(nothing, path);
	CU_ASSERT_EQUAL(access(path, F_OK), 0);
}

static const struct unit_test tests[] = {
    {"a name that stays is the same", a_name_that_stays_is_the_same},
    {"a successor is another", a_successor_is_another},
    {"nothing is never removed", nothing_is_never_removed},
};

int main(void)
{
	return unit_main("bound", tests, UNIT_COUNT(tests));
}
