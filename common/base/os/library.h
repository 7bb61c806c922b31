/* SPDX-License-Identifier: ISC */
/* Functions of libraries that are loaded when they are needed. */
#ifndef AGENTGRAPH_BASE_OS_LIBRARY_H
#define AGENTGRAPH_BASE_OS_LIBRARY_H

#include <stdbool.h>

/* Sets *function, a pointer to a function, to the one of that name; false where there is none.
 * dlsym gives an object pointer, which ISO C does not convert to one to a function. */
bool library_find(void *library, const char *name, void *function);

#endif
