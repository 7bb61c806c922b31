/* SPDX-License-Identifier: ISC */
/* Finding functions in libraries that are loaded when they are needed. */
#ifndef AGENTGRAPH_BASE_OS_LIBRARY_H
#define AGENTGRAPH_BASE_OS_LIBRARY_H

#include <stdbool.h>

/* Sets the function pointer at function to the library's function with this name; false where there
 * is none.  dlsym returns an object pointer, which ISO C does not convert to a function pointer. */
bool library_find(void *library, const char *name, void *function);

#endif
