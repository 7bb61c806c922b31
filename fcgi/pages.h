/* SPDX-License-Identifier: ISC */
/*
 * The files that the interactive pages are made of.
 *
 * What the program has inside is enough for a page of our own.  The two well-known ones, which npm
 * delivered, lie in a directory `web`: beside the program in a build directory, in share/agentgraph
 * when it is installed.  Where they are, they are shown instead.
 */
#ifndef AGENTGRAPH_FCGI_PAGES_H
#define AGENTGRAPH_FCGI_PAGES_H

#include <stdbool.h>

/* Where the directory is, malloc'd; NULL when there is none. */
char *pages_directory(void);

#endif
