/* SPDX-License-Identifier: ISC */
/* A parser for one assignment after another, with the line of each mistake. */
#include "config/environment/dotenv.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "config/environment/expand.h"
#include "config/text_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct parser {
	const char *at; /* what is to be read next; the only NUL is at the end of the text */
	const char *start;
	struct dotenv_fault *fault;
};

/* Notes a mistake in the line that where points into. */
static bool dotenv_refuse(struct parser *p, const char *where, const char *expected)
{
	p->fault->line = text_line_of(p->start, where);
	p->fault->expected = expected;
	return false;
}

static bool dotenv_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void dotenv_skip_blanks(struct parser *p)
{
	while (dotenv_is_blank(*p->at))
		p->at++;
}

/* Skips blanks and a comment; false when something else stands before the end of the line. */
static bool dotenv_finish_line(struct parser *p)
{
	dotenv_skip_blanks(p);
	if (*p->at == '#')
		p->at += strcspn(p->at, "\n");
	if (*p->at == '\n')
		p->at++;
	else if (*p->at)
		return false;
	return true;
}

/* Reads "NAME =", with or without "export" before it; NULL when there is something else. */
static char *dotenv_read_name(struct parser *p)
{
	static const char keyword[] = "export";
	size_t len = variable_name_length(p->at);
	if (len == strlen(keyword) && memcmp(p->at, keyword, len) == 0 &&
	    dotenv_is_blank(p->at[len])) {
		const char *name = p->at + len + strspn(p->at + len, " \t");
		if (*name != '=') { /* a variable may be called "export" */
			p->at = name;
			len = variable_name_length(name);
		}
	}
	const char *name = p->at;
	p->at += len;
	dotenv_skip_blanks(p);
	if (len == 0 || *p->at != '=')
		return NULL;
	p->at++;
	return xstrndup(name, len);
}

/* Reads the rest of the line up to " #", without the blanks around it. */
static void dotenv_read_plain(struct parser *p, struct buf *value)
{
	const char *start = p->at;
	const char *end = start + strcspn(start, "\n");
	p->at = end;
	for (const char *c = start; c < end; c++)
		if (*c == '#' && c > start && dotenv_is_blank(c[-1]))
			end = c;
	while (start < end && dotenv_is_blank(*start))
		start++;
	while (end > start && dotenv_is_blank(end[-1]))
		end--;
	if (end > start)
		buf_add(value, start, (size_t)(end - start));
}

/* Reads a quoted value, which may span lines; the end of a line becomes \n alone. */
static bool dotenv_read_quoted(struct parser *p, struct buf *value)
{
	static const char escapes[] = "nt\"\\", meant[] = "\n\t\"\\";
	const char *open = p->at;
	char quote = *p->at++;
	while (*p->at && *p->at != quote) {
		const char *escape = NULL;
		if (*p->at == '\r' && p->at[1] == '\n')
			p->at++;
		if (quote == '"' && *p->at == '\\' && p->at[1])
			escape = strchr(escapes, p->at[1]);
		buf_putc(value, escape ? meant[escape - escapes] : *p->at);
		p->at += escape ? 2 : 1;
	}
	if (!*p->at)
		return dotenv_refuse(p, open, "a closing quote for the one opened here");
	p->at++;
	return true;
}

/* Reads one line, or one assignment over several, into variables. */
static bool dotenv_read_line(struct parser *p, cJSON *variables)
{
	if (dotenv_finish_line(p))
		return true;
	const char *line = p->at;
	char *name = dotenv_read_name(p);
	if (!name)
		return dotenv_refuse(p, line, "KEY=VALUE");
	struct buf value = {0};
	const char *behind_equals = p->at;
	bool ok = true;
	dotenv_skip_blanks(p);
	if (*p->at == '"' || *p->at == '\'') {
		ok = dotenv_read_quoted(p, &value);
	} else {
		p->at = behind_equals; /* a blank before # matters */
		dotenv_read_plain(p, &value);
	}
	const char *behind = p->at;
	if (ok && !dotenv_finish_line(p))
		ok = dotenv_refuse(p, behind, "nothing behind the closing quote");
	if (ok)
		json_set(variables, name, cJSON_CreateString(buf_str(&value)));
	buf_release(&value);
	free(name);
	return ok;
}

cJSON *dotenv_parse(const char *text, size_t len, struct dotenv_fault *fault)
{
	size_t bad_line = text_bad_line(text, len);
	if (bad_line) {
		*fault = (struct dotenv_fault){bad_line, "UTF-8 without NUL"};
		return NULL;
	}
	char *copy = xstrndup(text, len);
	struct parser p = {.at = copy, .start = copy, .fault = fault};
	cJSON *variables = cJSON_CreateObject();
	bool ok = true;
	while (ok && *p.at)
		ok = dotenv_read_line(&p, variables);
	free(copy);
	if (ok)
		return variables;
	cJSON_Delete(variables);
	return NULL;
}

/* The variables that this process has from its file; NULL before the first one. */
static cJSON *dotenv_own;

/* Sets, changes and removes variables.  Those that stay the same are not touched: other threads of
 * a process that loads its configuration again may be reading them. */
static void dotenv_apply(const cJSON *variables)
{
	cJSON *own = cJSON_CreateObject();
	const cJSON *v;
	cJSON_ArrayForEach(v, variables) {
		const char *now = getenv(v->string);
		if (now && !json_get(dotenv_own, v->string))
			continue;
		if (!now || strcmp(now, v->valuestring) != 0)
			setenv(v->string, v->valuestring, 1);
		cJSON_AddStringToObject(own, v->string, v->valuestring);
	}
	cJSON_ArrayForEach(v, dotenv_own) {
		if (!json_get(own, v->string))
			unsetenv(v->string);
	}
	cJSON_Delete(dotenv_own);
	dotenv_own = own;
}

#define MOST_FAULTS 100

void dotenv_load(const char *path, const char *source, struct problems *problems)
{
	size_t len;
	char *text = text_file_read(path, &len);
	if (!text) {
		problems_add(problems, "%s: cannot read %s: %s", source, path, strerror(errno));
		return;
	}
	struct dotenv_fault fault = {0};
	cJSON *variables = NULL;
	for (int most = MOST_FAULTS; most && !variables; most--) {
		variables = dotenv_parse(text, len, &fault);
		if (variables)
			break;
		problems_add(
		    problems, "%s: line %zu: expected %s", path, fault.line, fault.expected);
		/* the line is taken away, so that the next mistake shows */
		char *p = text, *end = text + len;
		while (--fault.line && (p = memchr(p, '\n', (size_t)(end - p))))
			p++;
		for (; p && p < end && *p != '\n'; p++)
			*p = ' ';
	}
	if (variables)
		dotenv_apply(variables);
	cJSON_Delete(variables);
	free(text);
}
