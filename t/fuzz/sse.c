/* SPDX-License-Identifier: ISC */
/* Server-sent events: the same events come out wherever the bytes are cut. */
#include "base/http/sse.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

static bool note(const struct sse_event *event, void *arg)
{
	struct buf *out = arg;
	require(strlen(event->data) == event->len);
	buf_printf(out, "%s\n%s\n%s\n", event->name, event->id, event->data);
	return event->len != 3;
}

static char *events(const uint8_t *data, size_t size, size_t piece)
{
	struct buf out = {0};
	struct sse s = {.max = 64, .on_event = note, .arg = &out};
	bool more = true;
	for (size_t i = 0; more && i < size; i += piece) {
		size_t n = size - i < piece ? size - i : piece;
		char *copy = malloc(n);
		memcpy(copy, data + i, n);
		more = sse_feed(&s, copy, n);
		free(copy);
	}
	if (more)
		more = sse_finish(&s);
	buf_puts(&out, more ? "." : s.too_large ? "!" : "?");
	sse_release(&s);
	return buf_detach(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *whole = events(data, size, size ? size : 1);
	for (size_t piece = 1; piece <= 3; piece++) {
		char *split = events(data, size, piece);
		require(strcmp(whole, split) == 0);
		free(split);
	}
	free(whole);
	return 0;
}
