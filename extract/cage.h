/* SPDX-License-Identifier: ISC */
/*
 * The cage of a process that reads files from outside, in which it can do almost nothing.
 *
 * It is made of resource limits, no_new_privs, a list of system calls (seccomp), and for programs
 * that must load their libraries a list of files (Landlock); it needs no namespaces and no
 * privileges. There is no way out, for children and executed programs either.
 */
#ifndef AGENTGRAPH_EXTRACT_CAGE_H
#define AGENTGRAPH_EXTRACT_CAGE_H

#include <stdbool.h>

#define CAGE_CPU_SECONDS 30
#define CAGE_MEMORY (1LL << 30) /* bytes of address space */

/* Closes the cage around this process, which can then compute, use the descriptors that it has, and
 * exit.  False with errno set when the kernel refuses. */
bool cage_close(void);

/*
 * Closes the cage for the program at path, which this process is to execute next.  It can read what
 * programs are made of (libraries, character sets), but start no process, open no socket and write
 * no file.  False with errno set when the kernel refuses.
 */
bool cage_close_for(const char *path);

#endif
