#include "base/json_quote.h"

#include <string.h>

static void put_escaped(struct buf *out, unsigned char c)
{
	static const char short_forms[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	const char *form = c ? strchr(short_forms, c) : NULL;
	if (form && (form - short_forms) % 2 == 0)
		buf_printf(out, "\\%c", form[1]);
	else
		buf_printf(out, "\\u%04x", c);
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
		put_escaped(out, (unsigned char)*text++);
	}
	buf_putc(out, '"');
}
