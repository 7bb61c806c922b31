/* SPDX-License-Identifier: ISC */
/*
 * What a process that reads files from outside may still do: almost nothing.
 *
 * No namespaces and no privileges are needed: resource limits, no_new_privs, a list of system calls
 * (seccomp), and for programs that must load their libraries a list of files (Landlock).  There is
 * no way back, and children and executed programs stay inside.
 */
#ifndef AGENTGRAPH_EXTRACT_CAGE_H
#define AGENTGRAPH_EXTRACT_CAGE_H

#include <stdbool.h>

#define CAGE_CPU_SECONDS 30
#define CAGE_MEMORY (1LL << 30) /* bytes of address space */

/* For this process: it can compute, use the descriptors that it has, and exit.  False when the
 * kernel refuses, with errno set. */
bool cage_close(void);

/*
 * For the program at path, which this process is to execute next: it can read what programs are
 * made of (libraries, character sets), start no process, open no socket and write no file.  False
 * when the kernel refuses, with errno set.
 */
bool cage_close_for(const char *path);

#endif
