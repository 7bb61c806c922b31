/* SPDX-License-Identifier: ISC */
/* The byte that an escape stands for, and texts with escapes. */
#include "base/http/percent.h"

#include <string.h>

static int percent_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int percent_byte(const char *s)
{
	int high = percent_digit(s[0]);
	if (high < 0)
		return -1;
	int low = percent_digit(s[1]);
	return low < 0 ? -1 : high << 4 | low;
}

void percent_add(struct buf *out, const char *text, const char *also)
{
	for (;;) {
		const char *end = text; /* of what needs no escapes */
		while ((*end >= 'a' && *end <= 'z') || (*end >= 'A' && *end <= 'Z') ||
		    (*end >= '0' && *end <= '9') ||
		    (*end && (strchr("-._~", *end) || strchr(also, *end))))
			end++;
		buf_add(out, text, (size_t)(end - text));
		if (!*end)
			return;
		buf_printf(out, "%%%02X", (unsigned char)*end);
		text = end + 1;
	}
}
