/*
 * The files that the interactive pages are made of.
 *
 * Two short scripts are inside this program; what npm delivered lies in a directory `web`: beside
 * the program in a build directory, in share/agentgraph when it is installed.  The service works
 * without it, and the pages then say what is missing.
 */
#ifndef AGENTGRAPH_FCGI_PAGES_H
#define AGENTGRAPH_FCGI_PAGES_H

#include <stdbool.h>

/* Where the directory is, malloc'd; NULL when there is none. */
char *pages_directory(void);

#endif
