/* SPDX-License-Identifier: ISC */
/* Lists of texts that end with NULL; NULL is none. */
#ifndef AGENTGRAPH_BASE_TEXTS_H
#define AGENTGRAPH_BASE_TEXTS_H

#include <stdbool.h>

/* A copy, malloc'd with its texts; NULL stays NULL. */
const char *const *texts_copy(const char *const *texts);
void texts_free(const char *const *texts);

/* Whether text, which may be NULL, is one of them. */
bool texts_has(const char *const *texts, const char *text);

#endif
