/* SPDX-License-Identifier: ISC */
/* A tokenizer for nginx's syntax, and the few directives of which something is kept. */
#include "cli/nginx/nginx_file.h"

#include "base/memory.h"

#include <errno.h>
#include <glob.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_DEPTH 10 /* of includes */
#define MAX_WORDS 3
#define MAX_TEXT (16 * 1024 * 1024)

struct reader {
	struct nginx_file *file;
	const char *dir; /* of the main file; NULL: includes have been followed */
	struct problems *problems;
};

bool nginx_file_text(const char *path, struct buf *text)
{
	bool from_input = strcmp(path, "-") == 0;
	FILE *f = from_input ? stdin : fopen(path, "re");
	size_t len;
	bool whole;
	if (!f)
		return false;
	while (text->len < MAX_TEXT && (len = fread(buf_reserve(text, 65536), 1, 65536, f)) > 0)
		text->len += len;
	whole = !ferror(f);
	if (!from_input)
		fclose(f);
	buf_add(text, "", 0);
	return whole;
}

/* ---- words ---- */

static void nginx_file_skip_blanks(const char **p)
{
	for (;; (*p)++) {
		*p += strspn(*p, " \t\r\n");
		if (**p != '#')
			return;
		*p += strcspn(*p, "\n");
		if (!**p)
			return;
	}
}

/* The word at *p without its quotes, malloc'd. */
static char *nginx_file_take_word(const char **p)
{
	struct buf word = {0};
	char quote = **p == '"' || **p == '\'' ? *(*p)++ : '\0';
	buf_add(&word, "", 0);
	while (**p && (quote ? **p != quote : !strchr(" \t\r\n;{}", **p))) {
		if (**p == '\\' && (*p)[1])
			(*p)++;
		buf_putc(&word, *(*p)++);
	}
	if (quote && **p)
		(*p)++;
	return buf_detach(&word);
}

/* The first words of the next directive, or of what stands before a brace; false at the end. */
static bool nginx_file_next_directive(const char **p, char *words[MAX_WORDS])
{
	size_t count = 0;
	for (nginx_file_skip_blanks(p); **p && !strchr(";{}", **p); nginx_file_skip_blanks(p)) {
		char *word = nginx_file_take_word(p);
		if (count < MAX_WORDS)
			words[count++] = word;
		else
			free(word);
	}
	if (!**p)
		return count > 0;
	(*p)++;
	return true;
}

/* ---- directives ---- */

static void nginx_file_slurp(struct reader *r, const char *path, int depth);

static void nginx_file_apply(struct reader *r, char *const words[MAX_WORDS], int depth)
{
	if (!words[0] || !words[1])
		return;
	if (strcmp(words[0], "include") == 0) {
		if (r->dir) {
			/* In nginx, a pattern that matches nothing is no mistake. */
			char *path = *words[1] == '/' ? xstrdup(words[1])
						      : xasprintf("%s/%s", r->dir, words[1]);
			glob_t found;
			if (glob(path, 0, NULL, &found) == 0) {
				for (size_t i = 0; i < found.gl_pathc; i++)
					nginx_file_slurp(r, found.gl_pathv[i], depth + 1);
				globfree(&found);
			}
			free(path);
		}
	} else if (strcmp(words[0], "user") == 0) {
		string_replace(&r->file->user, words[1]);
		string_replace(&r->file->group, words[2]);
	} else if (strcmp(words[0], "worker_connections") == 0) {
		r->file->connections = strtol(words[1], NULL, 10);
	} else if (strcmp(words[0], "worker_processes") == 0) {
		r->file->workers = strcmp(words[1], "auto") == 0 ? sysconf(_SC_NPROCESSORS_ONLN)
								 : strtol(words[1], NULL, 10);
	} else if (strcmp(words[0], "fastcgi_pass") == 0 && strncmp(words[1], "unix:", 5) == 0) {
		buf_printf(&r->file->sockets, "%s\n", words[1] + 5);
	}
}

static void nginx_file_read_text(struct reader *r, const char *text, int depth)
{
	char *words[MAX_WORDS] = {NULL};
	while (nginx_file_next_directive(&text, words)) {
		nginx_file_apply(r, words, depth);
		for (size_t i = 0; i < MAX_WORDS; i++) {
			free(words[i]);
			words[i] = NULL;
		}
	}
}

static void nginx_file_slurp(struct reader *r, const char *path, int depth)
{
	struct buf text = {0};
	if (depth > MAX_DEPTH)
		problems_warn(r->problems, "%s: too many includes in each other", path);
	else if (!nginx_file_text(path, &text))
		problems_add(r->problems,
		    "nginx's configuration %s cannot be read (%s): do it as root, or pipe nginx -T "
		    "into --nginx-conf -",
		    path, strerror(errno));
	else
		nginx_file_read_text(r, buf_str(&text), depth);
	buf_release(&text);
}

bool nginx_file_read(struct nginx_file *file, const char *path, struct problems *problems)
{
	size_t errors = problems->errors;
	char *copy = xstrdup(path);
	struct reader r = {file, dirname(copy), problems};
	nginx_file_slurp(&r, path, 0);
	free(copy);
	return problems->errors == errors;
}

void nginx_file_parse(struct nginx_file *file, const char *text, struct problems *problems)
{
	struct reader r = {file, NULL, problems};
	nginx_file_read_text(&r, text, 0);
}

bool nginx_file_passes(const struct nginx_file *file, const char *socket)
{
	size_t len = strlen(socket);
	for (const char *p = buf_str(&file->sockets); *p; p += strcspn(p, "\n") + 1)
		if (strncmp(p, socket, len) == 0 && p[len] == '\n')
			return true;
	return false;
}

void nginx_file_release(struct nginx_file *file)
{
	free(file->user);
	free(file->group);
	buf_release(&file->sockets);
	*file = (struct nginx_file){0};
}
