/* SPDX-License-Identifier: ISC */
/* Values of HTTP headers that are lists: entries between commas, with blanks around them, and empty
 * ones that do not count (RFC 9110, 5.6.1). */
#ifndef AGENTGRAPH_BASE_HTTP_HEADER_LIST_H
#define AGENTGRAPH_BASE_HTTP_HEADER_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* The next entry, of *len bytes and without an end of its own, and *list moves behind it; NULL when
 * there is none left. */
const char *header_list_next(const char **list, size_t *len);

/* Whether an entry is word; case does not matter. */
bool header_list_has(const char *list, const char *word);

#endif
