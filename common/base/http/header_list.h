/* SPDX-License-Identifier: ISC */
/* Values of HTTP headers that are lists: entries between commas, with blanks around them, and empty
 * ones that do not count (RFC 9110, 5.6.1). */
#ifndef AGENTGRAPH_BASE_HTTP_HEADER_LIST_H
#define AGENTGRAPH_BASE_HTTP_HEADER_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the next entry, of *len bytes and not ended by NUL, and moves *list behind it; NULL when
 * none is left. */
const char *header_list_next(const char **list, size_t *len);

/* Whether an entry is word; case does not matter. */
bool header_list_has(const char *list, const char *word);

#endif
