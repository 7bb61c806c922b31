/* SPDX-License-Identifier: ISC */
/* Parameters of header fields: quoted, extended, plain. */
#include "fcgi/request/multipart.h"

#include "base/http/percent.h"

#include <string.h>
#include <strings.h>

#define BLANKS " \t"

/* ---- parameters ---- */

/* A part of a header's value; at is NULL where there is none. */
struct span {
	const char *at;
	size_t len;
};

struct parameter {
	struct span name, value; /* the value with its quotes */
};

/* The length of the quoted string at text, quotes included; 0 when it has no end. */
static size_t multipart_head_quoted_length(const char *text)
{
	for (size_t i = 1; text[i]; i++) {
		if (text[i] == '"')
			return i + 1;
		if (text[i] == '\\' && text[i + 1])
			i++;
	}
	return 0;
}

/* Reads ";name=value" at *at and moves behind it; false at the end, or before anything else. */
static bool parameter_next(const char **at, struct parameter *p)
{
	const char *text = *at + strspn(*at, BLANKS);
	if (*text != ';')
		return false;
	text += 1 + strspn(text + 1, BLANKS);
	p->name = (struct span){text, strcspn(text, "=; \t")};
	text += p->name.len;
	p->value = (struct span){text, 0};
	if (*text == '=') {
		p->value.at = ++text;
		p->value.len =
		    *text == '"' ? multipart_head_quoted_length(text) : strcspn(text, "; \t");
		if (*text == '"' && p->value.len == 0)
			return false;
	}
	*at = text + p->value.len;
	return true;
}

static bool parameter_is_named(const struct parameter *p, const char *name)
{
	return strlen(name) == p->name.len && strncasecmp(p->name.at, name, p->name.len) == 0;
}

/*
 * The value as text of its own, made where it lies.  A backslash protects a quote or another
 * backslash; one before anything else stays, because some clients send paths as they are.
 */
static char *multipart_head_value_text(const struct span *value)
{
	char *text = (char *)value->at, *to = text;
	size_t from = 0, end = value->len;
	if (!text)
		return NULL;
	bool quoted = value->len > 1 && *text == '"';
	from += quoted;
	end -= quoted;
	for (; from < end; from++) {
		if (quoted && text[from] == '\\' && strchr("\"\\", text[from + 1]))
			from++;
		*to++ = text[from];
	}
	*to = '\0';
	return text;
}

/* ---- the boundary ---- */

bool multipart_boundary(const char *content_type, char out[MULTIPART_BOUNDARY_MAX + 1])
{
	static const char type[] = "multipart/form-data";
	const char *at = content_type + strlen(type);
	struct parameter p;
	if (strncasecmp(content_type, type, strlen(type)) != 0)
		return false;
	while (parameter_next(&at, &p)) {
		if (!parameter_is_named(&p, "boundary"))
			continue;
		bool quoted = p.value.len > 1 && *p.value.at == '"';
		const char *text = p.value.at + quoted;
		size_t len = p.value.len - (quoted ? 2 : 0);
		if (len == 0 || len > MULTIPART_BOUNDARY_MAX || text[len - 1] == ' ')
			return false;
		for (size_t i = 0; i < len; i++)
			if (text[i] < ' ' || text[i] > '~')
				return false;
		if (memchr(text, '\\', len))
			return false;
		memcpy(out, text, len);
		out[len] = '\0';
		return true;
	}
	return false;
}

/* ---- header lines ---- */

/* Joins lines that are continued with a blank, and cuts the others apart.  False when a line has a
 * lone CR or LF, or a NUL.  Other control characters may be in a filename, from which they are
 * dropped (doc/protocol-files.md#upload). */
static bool multipart_head_split_lines(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		if (c == '\r' && i + 1 < len && text[i + 1] == '\n') {
			bool goes_on = i > 0 && i + 2 < len && strchr(BLANKS, text[i + 2]);
			text[i] = text[i + 1] = goes_on ? ' ' : '\0';
			i++;
		} else if (c == '\r' || c == '\n' || c == '\0') {
			return false;
		}
	}
	return true;
}

/* Points *value to what follows "name:", if the line is that header and *value is not set yet. */
static bool multipart_head_take_header(const char *line, const char *name, const char **value)
{
	size_t len = strlen(name);
	if (*value || strncasecmp(line, name, len) != 0 || line[len] != ':')
		return false;
	*value = line + len + 1 + strspn(line + len + 1, BLANKS);
	return true;
}

/* Decodes a name in UTF-8 with escapes (RFC 8187) in place; NULL when it is no such name. */
static char *multipart_head_extended_text(char *text)
{
	static const char charset[] = "utf-8'";
	char *quote = text && strncasecmp(text, charset, strlen(charset)) == 0
	    ? strchr(text + strlen(charset), '\'')
	    : NULL;
	if (!quote)
		return NULL;
	char *to = text;
	for (const char *from = quote + 1; *from; from++) {
		int byte = *from == '%' ? percent_byte(from + 1) : -1;
		*to++ = byte > 0 ? (char)byte : *from;
		from += byte > 0 ? 2 : 0;
	}
	*to = '\0';
	return text;
}

static void multipart_head_read_disposition(const char *value, struct multipart_part *part)
{
	static const char kind[] = "form-data";
	struct span name = {0}, filename = {0}, extended = {0};
	struct parameter p;
	if (!value || strncasecmp(value, kind, strlen(kind)) != 0)
		return;
	value += strlen(kind);
	while (parameter_next(&value, &p)) {
		if (!name.at && parameter_is_named(&p, "name"))
			name = p.value;
		else if (!filename.at && parameter_is_named(&p, "filename"))
			filename = p.value;
		else if (!extended.at && parameter_is_named(&p, "filename*"))
			extended = p.value;
	}
	part->name = multipart_head_value_text(&name);
	part->filename = multipart_head_extended_text(multipart_head_value_text(&extended));
	if (!part->filename)
		part->filename = multipart_head_value_text(&filename);
}

bool multipart_head(struct buf *head, struct multipart_part *part)
{
	const char *disposition = NULL;
	*part = (struct multipart_part){0};
	if (!multipart_head_split_lines(head->data, head->len))
		return false;
	for (const char *line = head->data; *line; line += strlen(line) + 2) {
		size_t name = strcspn(line, ": \t");
		if (name == 0 || line[name] != ':')
			return false;
		if (!multipart_head_take_header(line, "Content-Disposition", &disposition))
			multipart_head_take_header(line, "Content-Type", &part->content_type);
	}
	multipart_head_read_disposition(disposition, part);
	size_t len = part->content_type ? strlen(part->content_type) : 0;
	while (len > 0 && strchr(BLANKS, part->content_type[len - 1]))
		((char *)part->content_type)[--len] = '\0';
	return true;
}
