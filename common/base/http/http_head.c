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

size_t http_token_length(const char *text)
{
	return strspn(
	    text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~");
}

bool http_is_token(const char *text)
{
	size_t len = http_token_length(text);
	return len && !text[len];
}

bool http_head_once(const char **field, const char *value)
{
	if (*field)
		return false;
	*field = value;
	return true;
}
