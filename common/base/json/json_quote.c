/* SPDX-License-Identifier: ISC */
/* Writing strings as JSON. */
#include "base/json/json_quote.h"

#include "base/utf8.h"

#include <string.h>

/* Appends the bytes from text to end, of which the first plain ones need no escapes. */
static void json_quote_mixed(struct buf *out, const char *text, const char *end, size_t plain)
{
	static const char short_forms[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	static const char digits[] = "0123456789abcdef";
	buf_putc(out, '"');
	for (size_t len = plain;; len = utf8_plain(text, (size_t)(end - text))) {
		while ((unsigned char)text[len] >= ' ' && text[len] != '"' && text[len] != '\\')
			len++; /* other scripts are not escaped */
		buf_add(out, text, len);
		text += len;
		if (text == end)
			break;
		unsigned char c = (unsigned char)*text++;
		const char *form = strchr(short_forms, c);
		if (form && (form - short_forms) % 2 == 0)
			buf_add(out, (const char[]){'\\', form[1]}, 2);
		else
			buf_add(out,
			    (const char[]){'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]}, 6);
	}
	buf_putc(out, '"');
}

void json_quote(struct buf *out, const char *text)
{
	if (!text) {
		buf_puts(out, "null");
		return;
	}
	size_t len = strlen(text), plain = utf8_plain(text, len);
	char *to = buf_reserve(out, len + 2);
	if (plain < len) {
		json_quote_mixed(out, text, text + len, plain);
		return;
	}
	to[0] = '"';
	memcpy(to + 1, text, len);
	to[len + 1] = '"';
	to[len + 2] = '\0';
	out->len += len + 2;
}
