/* SPDX-License-Identifier: ISC */
/* What a process in the cage can still do. */
#include "extract/cage.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "/usr/bin/cat"

/* Runs the function in a child; its result is the child's status. */
static int in_child(int (*run)(void))
{
	int status = -1;
	pid_t child = fork();
	if (child == 0)
		_exit(run());
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int compute(void)
{
	if (!cage_close())
		return 1;
	char *memory = malloc(10 << 20);
	for (size_t i = 0; i < 10 << 20; i += 4096)
		memory[i] = (char)i;
	free(memory);
	return write(STDERR_FILENO, "", 0) == 0 ? 0 : 2;
}

static int open_file(void)
{
	if (!cage_close())
		return 1;
	return open("/etc/passwd", O_RDONLY) < 0 ? 0 : 2;
}

static int make_socket(void)
{
	if (!cage_close())
		return 1;
	return socket(AF_INET, SOCK_STREAM, 0) < 0 && socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? 0 : 2;
}

static int make_process(void)
{
	if (!cage_close())
		return 1;
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	return child < 0 ? 0 : 2;
}

static int become(const char *path, const char *argument)
{
	char *const environment[] = {NULL};
	char *const argv[] = {"cat", (char *)argument, NULL};
	int null = open("/dev/null", O_RDWR);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	if (cage_close_for(PROGRAM))
		execve(path, argv, environment);
	return 100;
}

static int read_input(void)
{
	return become(PROGRAM, "-");
}

static int read_library(void)
{
	return become(PROGRAM, "/etc/ld.so.cache");
}

static int read_passwd(void)
{
	return become(PROGRAM, "/etc/passwd");
}

static int read_own_file(void)
{
	return become(PROGRAM, unit_path("secret"));
}

static int become_another(void)
{
	return become("/usr/bin/true", NULL);
}

static int write_in_the_other(void)
{
	if (!cage_close_for(PROGRAM))
		return 1;
	bool opened = open(unit_path("new"), O_WRONLY | O_CREAT, 0600) >= 0;
	return !opened && socket(AF_INET, SOCK_STREAM, 0) < 0 && fork() < 0 ? 0 : 2;
}

static void it_can_compute(void)
{
	CU_ASSERT_EQUAL(in_child(compute), 0);
}

static void it_can_open_nothing(void)
{
	CU_ASSERT_EQUAL(in_child(open_file), 0);
	CU_ASSERT_EQUAL(in_child(make_socket), 0);
	CU_ASSERT_EQUAL(in_child(make_process), 0);
}

static void another_program_can_read_what_programs_are_made_of(void)
{
	CU_ASSERT_EQUAL(in_child(read_input), 0);
	CU_ASSERT_EQUAL(in_child(read_library), 0);
}

static void another_program_can_read_nothing_else(void)
{
	FILE *f = fopen(unit_path("secret"), "w");
	fclose(f);
	CU_ASSERT_EQUAL(in_child(read_passwd), 1);
	CU_ASSERT_EQUAL(in_child(read_own_file), 1);
}

static void another_program_can_neither_write_nor_call_nor_fork(void)
{
	CU_ASSERT_EQUAL(in_child(write_in_the_other), 0);
	CU_ASSERT_NOT_EQUAL(access(unit_path("new"), F_OK), 0);
}

static void no_third_program_can_be_executed(void)
{
	CU_ASSERT_EQUAL(in_child(become_another), 100);
}

static const struct unit_test tests[] = {
    {"a process in the cage can compute", it_can_compute},
    {"it can open no file and no socket, and start nothing", it_can_open_nothing},
    {"another program can read what programs are made of",
	another_program_can_read_what_programs_are_made_of},
    {"it can read nothing else", another_program_can_read_nothing_else},
    {"it can neither write, nor call anybody, nor fork",
	another_program_can_neither_write_nor_call_nor_fork},
    {"no third program can be executed", no_third_program_can_be_executed},
};

int main(void)
{
	unit_dir();
	return unit_main("cage", tests, UNIT_COUNT(tests));
}
