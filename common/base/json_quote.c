/* SPDX-License-Identifier: ISC */
/* Writing strings as JSON. */
#include "base/json_quote.h"

#include <string.h>

static void json_quote_put_escaped(struct buf *out, unsigned char c)
{
	static const char short_forms[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	static const char digits[] = "0123456789abcdef";
	const char *form = strchr(short_forms, c);
	if (form && (form - short_forms) % 2 == 0)
		buf_add(out, (const char[]){'\\', form[1]}, 2);
	else
		buf_add(
		    out, (const char[]){'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]}, 6);
}

static size_t plain_length(const char *text)
{
	size_t len = 0;
	while ((unsigned char)text[len] >= ' ' && text[len] != '"' && text[len] != '\\')
		len++;
	return len;
}

void json_quote(struct buf *out, const char *text)
{
	if (!text) {
		buf_puts(out, "null");
		return;
	}
	buf_putc(out, '"');
	for (;;) {
		size_t len = plain_length(text);
		buf_add(out, text, len);
		text += len;
		if (!*text)
			break;
		json_quote_put_escaped(out, (unsigned char)*text++);
	}
	buf_putc(out, '"');
}
