/* SPDX-License-Identifier: ISC */
/*
 * Child processes that cannot outlive this one.  Each leads a process group of its own, so that
 * Ctrl-C reaches only the supervisor.  Its standard output is standard error, because the
 * supervisor's standard output carries one line and no more.  It starts with no signal blocked or
 * ignored, and gets SIGTERM when this process dies, however it dies.
 */
#ifndef AGENTGRAPH_CLI_SPAWN_H
#define AGENTGRAPH_CLI_SPAWN_H

#include <stddef.h>
#include <sys/types.h>

/* fork(2); the child goes on with standard input from /dev/null. */
pid_t spawn_fork(void);

struct spawn {
	char *const *argv;    /* argv[0] is the program's path */
	const char *variable; /* "NAME=value" added to its environment, or NULL */
	int input;            /* descriptor for its standard input, or -1 */
	int inherit;          /* another descriptor that it may keep, or -1 */
};

/* Starts a program; -1 with errno when there can be no process.  One that cannot be executed says
 * so and ends with 127. */
pid_t spawn_program(const struct spawn *spawn);

/* Sets *pids, malloc'd, to the process ids of all children of this process; returns their
 * number. */
size_t spawn_children(pid_t **pids);

#endif
