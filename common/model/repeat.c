/* SPDX-License-Identifier: ISC */
/* Learning the bytes around a text, and taking the text from events that have the same. */
#include "model/repeat.h"

#include "base/json/json_skim.h"
#include "base/utf8.h"

#include <string.h>

/* Whether JSON writes the text as it is, without escapes. */
static bool repeat_is_plain(const char *text, size_t len)
{
	const char *end = text + len;
	while ((text += utf8_plain(text, (size_t)(end - text))) < end) {
		size_t n =
		    (unsigned char)*text < 0x80 ? 0 : utf8_sequence(text, (size_t)(end - text));
		if (n == 0)
			return false;
		text += n;
	}
	return true;
}

bool chat_repeat_take(
    const struct chat_repeat *r, struct chat_answer *a, const struct sse_event *event)
{
	if (r->event.len == 0 || event->len <= r->before + r->after)
		return false;
	const char *text = event->data + r->before;
	size_t len = event->len - r->before - r->after;
	if (memcmp(event->data, r->event.data, r->before) != 0 ||
	    memcmp(text + len, r->event.data + r->event.len - r->after, r->after) != 0)
		return false;
	if (strcmp(event->name, buf_str(&r->name)) != 0 || !repeat_is_plain(text, len))
		return false;
	chat_answer_append(a, r->part, text, len);
	return true;
}

/* Bytes are only ever added to an answer: when as many came as the text has, nothing else did. */
void chat_repeat_learn(
    struct chat_repeat *r, const struct chat_answer *a, size_t bytes, const struct sse_event *event)
{
	size_t len = a->bytes - bytes;
	if (len == 0 || a->fault || a->ended || !a->parts)
		return;
	/* Where the provider's events have their text. */
	struct json_span text = json_skim_text(event->data, event->len), first;
	for (const char *const *step = a->target->provider->text_path; *step; step++) {
		first = (struct json_span){0};
		text = json_skim_next(text, &first) ? first : text;
		text = json_skim_member(text, *step);
	}
	const struct buf *last = &a->parts[a->latest].text;
	if (text.len != len + 2 || text.start[0] != '"' || !repeat_is_plain(text.start + 1, len) ||
	    last->len < len || memcmp(last->data + last->len - len, text.start + 1, len) != 0)
		return;
	r->before = (size_t)(text.start + 1 - event->data);
	r->after = event->len - r->before - len;
	r->part = a->latest;
	buf_reset(&r->name);
	buf_puts(&r->name, event->name);
	buf_reset(&r->event);
	buf_add(&r->event, event->data, event->len);
}

void chat_repeat_release(struct chat_repeat *r)
{
	buf_release(&r->name);
	buf_release(&r->event);
}
