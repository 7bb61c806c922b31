/* SPDX-License-Identifier: ISC */
/* Copying, freeing and searching lists of texts. */
#include "base/texts.h"

#include "base/memory.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char *const *texts_copy(const char *const *texts)
{
	size_t count = 0;
	if (!texts)
		return NULL;
	while (texts[count])
		count++;
	const char **copy = xcalloc(count + 1, sizeof(*copy));
	for (size_t i = 0; i < count; i++)
		copy[i] = xstrdup(texts[i]);
	return copy;
}

void texts_free(const char *const *texts)
{
	for (size_t i = 0; texts && texts[i]; i++)
		free((void *)texts[i]);
	free((void *)texts);
}

bool texts_has(const char *const *texts, const char *text)
{
	while (texts && text && *texts && strcmp(*texts, text) != 0)
		texts++;
	return texts && text && *texts;
}
