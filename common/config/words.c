/* SPDX-License-Identifier: ISC */
/* Parsing booleans, numbers, tokens and paths out of plain text. */
#include "config/words.h"

#include "base/memory.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TOOL_NAME_MAX 128

static const char digits[] = "0123456789";

bool word_bool(const char *text, bool *value)
{
	static const struct {
		const char *word;
		bool value;
	} words[] = {
	    {"true", true},
	    {"1", true},
	    {"yes", true},
	    {"on", true},
	    {"false", false},
	    {"0", false},
	    {"no", false},
	    {"off", false},
	};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(text, words[i].word) == 0) {
			*value = words[i].value;
			return true;
		}
	}
	return false;
}

bool word_integer(const char *text, int64_t *value)
{
	const char *number = text + (*text == '-' || *text == '+');
	if (!*number || number[strspn(number, digits)])
		return false;
	errno = 0;
	*value = strtoll(text, NULL, 10);
	return errno == 0;
}

bool word_number(const char *text, double *value)
{
	/* strtod alone would take blanks, hexadecimal, "inf" and "nan" too. */
	if (!*text || text[strspn(text, "0123456789+-.eE")])
		return false;
	char *end;
	*value = strtod(text, &end);
	return end != text && !*end && isfinite(*value);
}

void drop_slashes(char *text)
{
	size_t len = strlen(text);
	while (len > 0 && text[len - 1] == '/')
		text[--len] = '\0';
}

bool import_split(const char *import_path, char **module, char **attribute)
{
	const char *colon = strrchr(import_path, ':');
	if (!colon || colon == import_path || !colon[1])
		return false;
	*module = xstrndup(import_path, (size_t)(colon - import_path));
	*attribute = xstrdup(colon + 1);
	return true;
}

bool word_tool(const char *text)
{
	static const char allowed[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	    "_-.";
	size_t len = strlen(text);
	return len >= 1 && len <= TOOL_NAME_MAX && strspn(text, allowed) == len;
}

bool word_path(const char *text)
{
	static const char characters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
					 "0123456789-._~!$&'()*+,;=:@/";
	return *text == '/' && !text[strspn(text, characters)];
}
