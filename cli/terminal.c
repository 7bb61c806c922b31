/* SPDX-License-Identifier: ISC */
/* Text without what a terminal would obey. */
#include "cli/terminal.h"

#include "base/json/json.h"
#include "base/memory.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *terminal_clean(char *text)
{
	char *to = text;
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		bool c1 = p[0] == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f;
		bool control = c1 || *p == 0x7f || (*p < 0x20 && *p != '\n' && *p != '\t');
		*to++ = control ? '?' : (char)*p;
		p += c1;
	}
	*to = '\0';
	return text;
}

void terminal_put(const char *text)
{
	char *copy = xstrdup(text);
	fputs(terminal_clean(copy), stdout);
	free(copy);
}

void terminal_printf(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	fputs(isatty(STDOUT_FILENO) ? terminal_clean(text) : text, stdout);
	free(text);
}

void terminal_json(const cJSON *item)
{
	char *text = json_print(item);
	puts(text);
	free(text);
}

void terminal_members(const cJSON *object, int width, const char *const *without)
{
	const cJSON *member;
	cJSON_ArrayForEach(member, object) {
		const char *const *name = without;
		while (*name && strcmp(*name, member->string) != 0)
			name++;
		if (*name)
			continue;
		char *text = cJSON_IsString(member) ? NULL : json_print(member);
		terminal_printf(
		    "%-*s %s\n", width, member->string, text ? text : member->valuestring);
		free(text);
	}
}

const char *terminal_text(const cJSON *object, const char *key)
{
	const char *text = json_str(object, key);
	return text && *text ? text : "-";
}
