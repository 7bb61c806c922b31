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

char *expand_variables(const char *text, char **unset)
{
	struct buf out = {0};
	while (*text) {
		bool dollar = *text == '$', braces = dollar && text[1] == '{';
		const char *start = text + 1 + braces;
		size_t len = braces ? strcspn(start, "}")
		    : dollar        ? variable_name_length(start)
				    : 0;
		if (len == 0 || (braces && start[len] != '}')) {
			buf_putc(&out, *text++); /* a dollar sign before no name, too */
			continue;
		}
		char *name = xstrndup(start, len);
		const char *value = getenv(name);
		if (!value) {
			*unset = name;
			buf_release(&out);
			return NULL;
		}
		free(name);
		buf_puts(&out, value);
		text = start + len + braces;
	}
	return buf_detach(&out);
}
