/* SPDX-License-Identifier: ISC */
/* Copying, freeing and searching lists of texts. */
#include "base/texts.h"

#include "base/memory.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

char **texts_copy(const char *const *texts)
{
	size_t count = 0;
	if (!texts)
		return NULL;
	while (texts[count])
		count++;
	char **copy = xcalloc(count + 1, sizeof(*copy));
	for (size_t i = 0; i < count; i++)
		copy[i] = xstrdup(texts[i]);
	return copy;
}

void texts_free(char **texts)
{
	for (size_t i = 0; texts && texts[i]; i++)
		free(texts[i]);
	free(texts);
}

bool texts_has(char *const *texts, const char *text)
{
	for (size_t i = 0; texts && texts[i]; i++) {
		if (strcmp(texts[i], text) == 0)
			return true;
	}
	return false;
}
