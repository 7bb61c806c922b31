/* SPDX-License-Identifier: ISC */
/* Growing and releasing a struct string_list; an all-zero one is an empty, valid list. */
#ifndef AGENTGRAPH_CONFIG_STRING_LIST_H
#define AGENTGRAPH_CONFIG_STRING_LIST_H

#include "config/config.h"

/* Appends a copy of the first len bytes of text. */
void string_list_add(struct string_list *list, const char *text, size_t len);

/* Appends the parts of text between commas, without the blanks around them
 * and without empty ones. */
void string_list_split(struct string_list *list, const char *text);

/* Whether an entry is text, to the letter. */
bool string_list_has(const struct string_list *list, const char *text);

/* Frees the entries; the list is then empty. */
void string_list_release(struct string_list *list);

#endif
