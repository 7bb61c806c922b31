/* SPDX-License-Identifier: ISC */
/* Files of environment variables as systemd reads them. */
#include "config/environment/dotenv.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "config/environment/expand.h"
#include "config/text_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r"

/* Reads the value behind the equals sign, and returns where it ends: at the end of the line, or of
 * a later one after quotes and backslashes. */
static const char *env_file_read_value(const char *p, struct buf *value)
{
	size_t kept = 0; /* the length of the value without the blanks at its end */
	char quote = '\0';
	bool plain = false; /* text without quotes was read */
	p += strspn(p, BLANKS);
	for (; *p && (quote || *p != '\n'); p++) {
		if (quote && *p == quote) {
			quote = '\0';
			p += strspn(p + 1, BLANKS); /* another part may follow */
			continue;
		}
		if (!quote && !plain && (*p == '"' || *p == '\'')) {
			quote = *p;
			continue;
		}
		bool keeps = *p == '\\' && quote != '\'' && p[1] &&
		    (quote != '"' || strchr("\"\\`$\n", p[1]));
		if (keeps && *++p == '\n')
			continue;
		plain = plain || !quote;
		buf_putc(value, *p);
		if (quote || keeps || !strchr(BLANKS, *p))
			kept = value->len;
	}
	if (value->len > kept) {
		value->len = kept;
		value->data[kept] = '\0';
	}
	return p;
}

cJSON *env_file_parse(const char *text)
{
	cJSON *variables = cJSON_CreateObject();
	for (const char *p = text; *p; p += *p == '\n') {
		size_t len, end;
		p += strspn(p, BLANKS);
		len = variable_name_length(p);
		end = len + strspn(p + len, BLANKS);
		if (!len || p[end] != '=') {
			/* a backslash at the end continues a comment, as it does any line */
			for (; *p && *p != '\n'; p++)
				p += *p == '\\' && p[1];
			continue;
		}
		struct buf value = {0};
		char *name = xstrndup(p, len);

		p = env_file_read_value(p + end + 1, &value);
		json_set(variables, name, cJSON_CreateString(buf_str(&value)));
		free(name);
		buf_release(&value);
	}
	return variables;
}

void env_file_load(const char *path, struct problems *problems)
{
	size_t len;
	char *text = text_file_read(path, &len);
	cJSON *variables, *v;
	if (!text) {
		problems_add(problems, "--environment: cannot read %s: %s", path, strerror(errno));
		return;
	}
	variables = env_file_parse(text);
	cJSON_ArrayForEach(v, variables) {
		setenv(v->string, v->valuestring, 1);
	}
	cJSON_Delete(variables);
	free(text);
}
