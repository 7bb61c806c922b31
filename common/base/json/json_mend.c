/* SPDX-License-Identifier: ISC */
/* JSON of programs that cut texts between bytes, or between the halves of a character. */
#include "base/json/json.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define ESCAPE_LEN 6 /* of \uXXXX */

/* What the escape at p stands for; -1: there is none. */
static long json_mend_unit(const char *p)
{
	char digits[5] = "";
	if (p[0] != '\\' || p[1] != 'u')
		return -1;
	for (int i = 0; i < 4; i++) {
		if (!isxdigit((unsigned char)p[2 + i]))
			return -1;
		digits[i] = p[2 + i];
	}
	return strtol(digits, NULL, 16);
}

cJSON *json_parse_mended(const char *text, size_t len, unsigned max_depth)
{
	cJSON *json = json_parse(text, len, max_depth, NULL);
	if (json)
		return json;
	char *copy = xstrndup(text, len), *mended = utf8_mend(copy);
	/* escapes of U+0000 and of halves of a pair are as long as what they become */
	for (char *p = mended; (p = strchr(p, '\\')) && p[1]; p += 2) {
		long unit = json_mend_unit(p);
		long next = unit >= 0 ? json_mend_unit(p + ESCAPE_LEN) : -1;
		if (unit >= 0xD800 && unit < 0xDC00 && next >= 0xDC00 && next <= 0xDFFF)
			p += ESCAPE_LEN;
		else if (unit == 0 || (unit >= 0xD800 && unit <= 0xDFFF))
			memcpy(p + 2, "fffd", 4);
	}
	json = json_parse(mended, strlen(mended), max_depth, NULL);
	free(copy);
	free(mended);
	return json;
}
