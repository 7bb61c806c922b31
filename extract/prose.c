/* SPDX-License-Identifier: ISC */
/* Appending words, tabs and breaks, with runs of blanks made one. */
#include "extract/prose.h"

#include <string.h>

/* Appends as much of the text as there is room for. */
static void prose_put(struct prose *p, const char *text, size_t len)
{
	size_t at = 0;
	if (p->full)
		return;
	for (; at < len; at++) {
		if (((unsigned char)text[at] & 0xc0) == 0x80)
			continue; /* no start of a character */
		if (p->characters == PROSE_CHARACTERS) {
			p->full = true;
			break;
		}
		p->characters++;
	}
	buf_add(&p->out, text, at);
}

void prose_add(struct prose *p, const char *text, size_t len)
{
	if (p->space && len > 0)
		prose_put(p, " ", 1);
	p->space = false;
	prose_put(p, text, len);
}

void prose_puts(struct prose *p, const char *text)
{
	prose_add(p, text, strlen(text));
}

static bool prose_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static bool prose_at_line_start(const struct prose *p)
{
	return p->out.len == 0 || p->out.data[p->out.len - 1] == '\n';
}

void prose_words(struct prose *p, const char *text, size_t len)
{
	size_t at = 0;
	while (at < len && !p->full) {
		size_t end = at;
		while (end < len && !prose_is_space(text[end]))
			end++;
		if (end > at)
			prose_add(p, text + at, end - at);
		for (at = end; at < len && prose_is_space(text[at]); at++)
			p->space = !prose_at_line_start(p);
	}
}

void prose_break(struct prose *p)
{
	p->space = false;
	while (p->out.len > 0 && p->out.data[p->out.len - 1] == '\t') { /* no cell followed */
		p->out.data[--p->out.len] = '\0';
		p->characters--;
	}
	if (!prose_at_line_start(p))
		prose_put(p, "\n", 1);
}

void prose_release(struct prose *p)
{
	buf_release(&p->out);
}
