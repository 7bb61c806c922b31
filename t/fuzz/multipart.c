/* SPDX-License-Identifier: ISC */
/* multipart/form-data: whatever the bytes, and however they are cut, the same parts come out. */
#include "fcgi/request/multipart.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

struct collector {
	struct multipart_sink sink; /* first */
	struct buf out;
};

static void add_text(struct buf *out, const char *text)
{
	buf_puts(out, text ? text : "-");
	buf_putc(out, '|');
}

static bool take_part(struct multipart_sink *sink, const struct multipart_part *part)
{
	struct buf *out = &((struct collector *)sink)->out;
	add_text(out, part->name);
	add_text(out, part->filename);
	add_text(out, part->content_type);
	return true;
}

static bool take_data(struct multipart_sink *sink, const char *data, size_t len)
{
	require(len > 0);
	buf_add(&((struct collector *)sink)->out, data, len);
	return true;
}

/* Feeds pieces of this size. */
static enum multipart_state run(
    const char *type, const uint8_t *body, size_t size, size_t piece, struct buf *out)
{
	struct collector c = {.sink = {take_part, take_data}};
	struct multipart mp;
	enum multipart_state state = MULTIPART_MALFORMED;
	if (multipart_init(&mp, type, &c.sink)) {
		for (size_t at = 0; at < size; at += piece)
			if (!multipart_feed(&mp, (const char *)body + at,
				size - at < piece ? size - at : piece))
				break;
		state = mp.state;
		multipart_release(&mp);
	}
	require(c.out.len <= 2 * size + 64);
	*out = c.out;
	return state;
}

/* The first line is the Content-Type, the rest the body. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
	size_t head = newline ? (size_t)(newline - data) : size;
	size_t rest = newline ? head + 1 : size;
	char *type = strndup((const char *)data, head);
	struct buf whole = {0};
	enum multipart_state state = run(type, data + rest, size - rest, size + 1, &whole);
	for (size_t piece = 1; piece <= 7; piece += 3) {
		struct buf cut = {0};
		require(run(type, data + rest, size - rest, piece, &cut) == state);
		require(strcmp(buf_str(&whole), buf_str(&cut)) == 0 && whole.len == cut.len);
		buf_release(&cut);
	}
	buf_release(&whole);
	free(type);
	return 0;
}
