/* SPDX-License-Identifier: ISC */
/* Walking a list in the value of a header. */
#include "base/http/header_list.h"

#include <string.h>
#include <strings.h>

#define BLANKS " \t"

const char *header_list_next(const char **list, size_t *len)
{
	*list += strspn(*list, BLANKS ",");
	const char *entry = *list;
	*len = strcspn(entry, ",");
	*list += *len;
	while (*len && strchr(BLANKS, entry[*len - 1]))
		(*len)--;
	return *len ? entry : NULL;
}

bool header_list_has(const char *list, const char *word)
{
	size_t len;
	const char *entry;
	while ((entry = header_list_next(&list, &len)))
		if (len == strlen(word) && !strncasecmp(entry, word, len))
			return true;
	return false;
}
