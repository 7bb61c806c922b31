/* SPDX-License-Identifier: ISC */
/* Lists of texts that end with NULL; NULL is none. */
#ifndef AGENTGRAPH_BASE_TEXTS_H
#define AGENTGRAPH_BASE_TEXTS_H

#include <stdbool.h>

/* A copy, malloc'd with its texts; NULL stays NULL. */
char **texts_copy(const char *const *texts);
void texts_free(char **texts);

/* texts NULL: it has none. */
bool texts_has(char *const *texts, const char *text);

#endif
