/* SPDX-License-Identifier: ISC */
/* Adding, splitting at commas, searching and releasing. */
#include "config/string_list.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\r\n";

void string_list_add(struct string_list *list, const char *text, size_t len)
{
	list->items = xrealloc(list->items, (list->count + 1) * sizeof(list->items[0]));
	list->items[list->count++] = xstrndup(text, len);
}

void string_list_split(struct string_list *list, const char *text)
{
	while (*text) {
		size_t whole = strcspn(text, ",");
		const char *start = text + strspn(text, blanks);
		const char *end = text + whole;
		while (end > start && strchr(blanks, end[-1]))
			end--;
		if (end > start)
			string_list_add(list, start, (size_t)(end - start));
		text += whole + (text[whole] == ',');
	}
}

bool string_list_has(const struct string_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], text) == 0)
			return true;
	return false;
}

void string_list_release(struct string_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct string_list){0};
}
