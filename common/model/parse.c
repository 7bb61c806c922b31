/* SPDX-License-Identifier: ISC */
/* JSON as providers write it. */
#include "base/json/json.h"
#include "model/provider.h"

#include <stdlib.h>
#include <string.h>

/* The value of the four hexadecimal digits of a \u escape at p; -1 when it is none. */
static long parse_escape_at(const char *p, const char *end)
{
	char digits[5] = "";
	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return -1;
	memcpy(digits, p + 2, 4);
	return strspn(digits, "0123456789abcdefABCDEF") == 4 ? strtol(digits, NULL, 16) : -1;
}

/* How many bytes of escapes at p make one character; 0 when they make none. */
static size_t parse_good_escape(const char *p, const char *end)
{
	long value = parse_escape_at(p, end);
	if (value == 0 || (value >= 0xDC00 && value <= 0xDFFF))
		return 0;
	if (value < 0xD800 || value > 0xDBFF)
		return value < 0 ? 2 : 6;
	long second = parse_escape_at(p + 6, end);
	return second >= 0xDC00 && second <= 0xDFFF ? 12 : 0;
}

cJSON *chat_parse(char *text, size_t len)
{
	cJSON *json = len ? json_parse(text, len, JSON_TRUSTED_DEPTH, NULL) : NULL;
	if (json || len == 0)
		return json;
	utf8_repair(text);
	/* U+FFFD for U+0000 and for surrogates that stand alone; these escapes are as long */
	char *end = text + len;
	for (char *p = text; (p = memchr(p, '\\', (size_t)(end - p)));) {
		size_t good = parse_good_escape(p, end);
		if (good == 0)
			memcpy(p, "\\ufffd", 6);
		good = good ? good : 6;
		p = (size_t)(end - p) > good ? p + good : end;
	}
	return json_parse(text, len, JSON_TRUSTED_DEPTH, NULL);
}
