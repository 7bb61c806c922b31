/* SPDX-License-Identifier: ISC */
/* Taking a head apart in place. */
#include "base/http/http_head.h"

#include <string.h>

size_t http_head_length(const char *data, size_t len)
{
	const char *end = memmem(data, len, "\r\n\r\n", 4);
	return end ? (size_t)(end - data) + 4 : 0;
}

char *http_head_line(char **rest)
{
	char *line = *rest;
	char *end = strstr(line, "\r\n");
	if (!end || end == line)
		return NULL;
	*end = '\0';
	*rest = end + 2;
	return line;
}

bool http_head_once(const char **field, const char *value)
{
	if (*field)
		return false;
	*field = value;
	return true;
}
