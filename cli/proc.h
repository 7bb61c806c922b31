/* SPDX-License-Identifier: ISC */
/* Other processes, as proc(5) shows them. */
#ifndef AGENTGRAPH_CLI_PROC_H
#define AGENTGRAPH_CLI_PROC_H

#include <dirent.h>
#include <stdbool.h>
#include <sys/types.h>

struct proc {
	char name[16]; /* as the kernel cuts it */
	pid_t parent, group;
	unsigned long long started; /* clock ticks after the machine */
};

/* False when there is no such process. */
bool proc_read(pid_t pid, struct proc *proc);

/* The next process in the open directory /proc; 0 behind the last one, or where dir is NULL. */
pid_t proc_next(DIR *dir);

/* The process id that the file <state_dir>/run/<name> has; 0 where there is none. */
pid_t proc_noted(const char *state_dir, const char *name);

#endif
