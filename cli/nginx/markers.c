/* SPDX-License-Identifier: ISC */
/* Filling in templates line by line: a marker alone on its line takes a whole block. */
#include "cli/nginx/nginx_conf.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#define NAME_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"

/* Length of the marker at p with both its signs; 0 when there is none. */
static size_t marker_length(const char *p)
{
	size_t len = *p == '@' ? strspn(p + 1, NAME_CHARACTERS) : 0;
	return len && p[len + 1] == '@' ? len + 2 : 0;
}

static const char *markers_lookup(const struct marker *values, const char *marker, size_t len)
{
	while (values->name &&
	    (strlen(values->name) != len - 2 || memcmp(values->name, marker + 1, len - 2) != 0))
		values++;
	assert(values->name);
	return values->text;
}

/* Each line of text behind indent; empty lines stay empty. */
static void markers_add_block(
    struct buf *out, const char *indent, size_t indent_len, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		if (len)
			buf_add(out, indent, indent_len);
		buf_add(out, text, len);
		buf_putc(out, '\n');
		text += len + (text[len] == '\n');
	}
}

static void markers_add_line(
    struct buf *out, const char *line, size_t len, const struct marker *values)
{
	for (const char *end = line + len; line < end; line++) {
		size_t marker = marker_length(line);
		if (!marker) {
			buf_putc(out, *line);
			continue;
		}
		buf_puts(out, markers_lookup(values, line, marker));
		line += marker - 1;
	}
	buf_putc(out, '\n');
}

void markers_fill(struct buf *out, const char *text, const struct marker *values)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		size_t indent = strspn(text, " ");
		size_t marker = marker_length(text + indent);
		if (marker && indent + marker == len)
			markers_add_block(
			    out, text, indent, markers_lookup(values, text + indent, marker));
		else
			markers_add_line(out, text, len, values);
		text += len + (text[len] == '\n');
	}
}
