/* SPDX-License-Identifier: ISC */
/* The start of a child process, for process.c. */
#ifndef AGENTGRAPH_BASE_OS_PROCESS_PROCESS_SPAWN_H
#define AGENTGRAPH_BASE_OS_PROCESS_PROCESS_SPAWN_H

#include "base/os/process/process.h"

#include <stdbool.h>
#include <sys/types.h>

/* A child that runs its executable and leads its group, and our ends of its streams,
 * nonblocking. */
struct spawned {
	pid_t pid;
	int pidfd; /* readable when the child is a zombie */
	int in, out, err;
};

/* Starts a child; false with *result set to PROCESS_NOT_STARTED. */
bool process_spawn(const struct process *p, struct spawned *spawned, struct process_result *result);

/* Waits for the child to end; its status as of waitpid(2). */
int process_reap(pid_t pid);

#endif
