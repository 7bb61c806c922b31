/* SPDX-License-Identifier: ISC */
/* Opening a report safely, and mending numbers and escapes that JSON does not have. */
#include "service/evals/eval_file.h"

#include "base/buf.h"
#include "base/json/json_scan.h"
#include "base/os/descriptor.h"
#include "base/utf8.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HUGE_DIGITS 300 /* a number of fewer characters without exponent fits a double */

/* ---- Beyond JSON ---- */

static bool eval_file_ends_token(char c)
{
	return c == '\0' || strchr(" \t\r\n,]}", c);
}

static bool eval_file_is_word(const char *token, size_t len)
{
	static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == len && !memcmp(words[i], token, len))
			return true;
	return false;
}

/* Returns where the token ends. */
static char *eval_file_mend_token(const char *text, char *p)
{
	char *end = p + 1;
	while (!eval_file_ends_token(*end) && *end != '"')
		end++;
	size_t len = (size_t)(end - p);
	bool starts = p == text || strchr(" \t\r\n,:[", p[-1]);
	/* a number that may be too large for a double */
	bool suspect = strspn(p, "+-.0123456789eE") == len &&
	    (len > HUGE_DIGITS || memchr(p, 'e', len) || memchr(p, 'E', len));
	if (starts && eval_file_ends_token(*end) &&
	    (eval_file_is_word(p, len) || (suspect && isinf(strtod(p, NULL))))) {
		memset(p, ' ', len);
		*p = '0';
	}
	return end;
}

/* The UTF-16 unit of the escape at p, or -1 when there is none. */
static long eval_file_escaped_unit(const char *p)
{
	char digits[5] = "";
	if (p[0] != '\\' || p[1] != 'u' || strspn(p + 2, "0123456789abcdefABCDEF") < 4)
		return -1;
	memcpy(digits, p + 2, 4);
	return strtol(digits, NULL, 16);
}

/* p is at a backslash; returns where the escape ends. */
static char *eval_file_mend_escape(char *p)
{
	long unit = eval_file_escaped_unit(p);
	if (unit < 0)
		return p + (p[1] ? 2 : 1);
	long next = unit >= 0xD800 && unit <= 0xDBFF ? eval_file_escaped_unit(p + 6) : -1;
	if (next >= 0xDC00 && next <= 0xDFFF)
		return p + 12;
	if (!unit || (unit >= 0xD800 && unit <= 0xDFFF))
		memcpy(p + 2, "fffd", 4);
	return p + 6;
}

static char *eval_file_mend_string(char *p, const char *end)
{
	for (p++; p < end && *p != '"';) {
		p += utf8_plain(p, (size_t)(end - p));
		if (p < end && *p == '\\')
			p = eval_file_mend_escape(p);
		else if (p < end && *p != '"')
			p++;
	}
	return p < end ? p + 1 : p;
}

void eval_text_mend(char *text, size_t len)
{
	const char *end = text + len;
	for (char *p = text; p < end;) {
		if (*p == '"')
			p = eval_file_mend_string(p, end);
		else if (*p == '-' || (*p >= '0' && *p <= '9') || *p == 'N' || *p == 'I')
			p = eval_file_mend_token(text, p);
		else
			p++;
	}
}

/* ---- Files ---- */

bool eval_file_counts(const char *name, const struct stat *st)
{
	size_t len = strlen(name), suffix = strlen(EVAL_SUFFIX);
	return S_ISREG(st->st_mode) && st->st_size <= EVAL_FILE_MAX && len > suffix &&
	    !strcmp(name + len - suffix, EVAL_SUFFIX) && utf8_valid(name, len);
}

static bool eval_file_is_json(const char *text, size_t len)
{
	struct json_scan scan;
	bool valid = json_scan(&scan, text, len, JSON_DEPTH_LIMIT, SIZE_MAX) == JSON_OK;
	json_scan_release(&scan);
	return valid;
}

bool eval_file_read(struct eval_file *file, int dir, const char *name, struct stat *st)
{
	struct buf text = {0};
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	bool counts = fstat(fd, st) == 0 && eval_file_counts(name, st);
	buf_reserve(&text, counts ? (size_t)st->st_size + 1 : 0); /* so that one read has it all */
	bool whole = counts && descriptor_read_all(fd, &text, EVAL_FILE_MAX);
	size_t len = text.len;
	file->text = whole ? buf_detach(&text) : NULL;
	buf_release(&text);
	close(fd);
	if (!whole)
		return false;
	bool valid = eval_file_is_json(file->text, len);
	/* NUL would end the mending early, and is in no JSON */
	if (!valid && !memchr(file->text, '\0', len)) {
		eval_text_mend(file->text, len);
		valid = eval_file_is_json(file->text, len);
	}
	if (valid)
		file->root = json_skim_text(file->text, len);
	if (valid && json_skim_is_object(file->root))
		return true;
	eval_file_release(file);
	return false;
}

void eval_file_release(struct eval_file *file)
{
	free(file->text);
	file->text = NULL;
}
