/* SPDX-License-Identifier: ISC */
/* Growing by doubling, and appending bytes, characters and formatted text. */
#include "base/buf.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALLEST 64

void buf_release(struct buf *b)
{
	free(b->data);
	*b = (struct buf){0};
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

char *buf_reserve(struct buf *b, size_t n)
{
	if (n >= SIZE_MAX / 2 - b->len)
		n = SIZE_MAX / 2 - b->len; /* no machine has it: xrealloc ends the process */
	size_t needed = b->len + n + 1;
	if (needed > b->size) {
		size_t size = b->size ? b->size * 2 : SMALLEST;
		b->size = size < needed ? needed : size;
		b->data = xrealloc(b->data, b->size);
		b->data[b->len] = '\0';
	}
	return b->data + b->len;
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	char *to = buf_reserve(b, len);
	if (len)
		memcpy(to, data, len);
	to[len] = '\0';
	b->len += len;
}

void buf_puts(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_putc(struct buf *b, char c)
{
	char *to = buf_reserve(b, 1);
	to[0] = c;
	to[1] = '\0';
	b->len++;
}

void buf_int(struct buf *b, int64_t value)
{
	char digits[24], *start = digits + sizeof(digits);
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
	do
		*--start = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		*--start = '-';
	buf_add(b, start, (size_t)(digits + sizeof(digits) - start));
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list args, again;
	va_start(args, fmt);
	va_copy(again, args);
	char *to = buf_reserve(b, SMALLEST);
	size_t room = b->size - b->len;
	int len = vsnprintf(to, room, fmt, args);
	if (len > 0 && (size_t)len >= room)
		vsnprintf(buf_reserve(b, (size_t)len), (size_t)len + 1, fmt, again);
	if (len > 0)
		b->len += (size_t)len;
	va_end(again);
	va_end(args);
}

const char *buf_str(const struct buf *b)
{
	return b->data ? b->data : "";
}

void buf_take_lines(
    struct buf *b, size_t *scanned, void (*take)(void *arg, char *line, size_t len), void *arg)
{
	size_t start = 0;
	char *newline;
	if (!b->data)
		return;
	while ((newline = memchr(b->data + *scanned, '\n', b->len - *scanned))) {
		take(arg, b->data + start, (size_t)(newline - b->data) - start);
		start = *scanned = (size_t)(newline - b->data) + 1;
	}
	b->len -= start;
	memmove(b->data, b->data + start, b->len + 1);
	*scanned = b->len;
}

char *buf_detach(struct buf *b)
{
	char *text = b->data ? b->data : xstrdup("");
	*b = (struct buf){0};
	return text;
}
