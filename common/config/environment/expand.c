/* SPDX-License-Identifier: ISC */
/* Replacing $NAME and ${NAME} in a text. */
#include "config/environment/expand.h"

#include "base/buf.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

size_t variable_name_length(const char *text)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	return *text >= '0' && *text <= '9' ? 0 : strspn(text, letters);
}

/* The length of the reference at text, which is a dollar sign, with a copy of its name; 0 when it
 * is none. */
static size_t read_reference(const char *text, char **name)
{
	bool braces = text[1] == '{';
	const char *start = text + 1 + braces;
	size_t len = braces ? strcspn(start, "}") : variable_name_length(start);
	if (len == 0 || (braces && start[len] != '}'))
		return 0;
	*name = xstrndup(start, len);
	return 1 + len + (braces ? 2 : 0);
}

char *expand_variables(const char *text, char **unset)
{
	struct buf out = {0};
	while (*text) {
		char *name;
		size_t len = *text == '$' ? read_reference(text, &name) : 0;
		if (len == 0) {
			buf_putc(&out, *text++);
			continue;
		}
		const char *value = getenv(name);
		if (!value) {
			*unset = name;
			buf_release(&out);
			return NULL;
		}
		free(name);
		buf_puts(&out, value);
		text += len;
	}
	return buf_detach(&out);
}
