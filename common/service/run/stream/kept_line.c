/* SPDX-License-Identifier: ISC */
/* Writing, reading and printing chunks in the form in which they are kept. */
#include "service/run/stream/kept_line.h"

#include "base/json/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define EVENT "{\"event\":\""
#define SEQ "\"seq\":"
#define UPDATE "{\"event\":\"updates\",\"message\":null,\"state\":"
#define STATUS ",\"data\":{\"status\":\""

/* ---- writing ---- */

void kept_line_add_state(struct buf *out, const struct thread_view *view, const char *state)
{
	const char *mark;
	buf_putc(out, KEPT_STATE);
	for (; (mark = strchr(state, FEED_MARK)); state = mark + 1) {
		buf_add(out, state, (size_t)(mark - state));
		buf_printf(out, "%c%" PRId64 ",%" PRId64 "%c", KEPT_SPAN, view->after, view->until,
		    KEPT_SPAN);
	}
	buf_puts(out, state);
	buf_putc(out, KEPT_STATE);
}

void kept_line_add(struct buf *out, const char *json, size_t len, int64_t seq)
{
	const char *mark = memchr(json, KEPT_NUMBER, len);
	size_t head = (size_t)(mark - json) + 2;
	buf_add(out, json, head);
	if (seq) {
		buf_puts(out, SEQ);
		buf_int(out, seq);
		buf_putc(out, ',');
	}
	buf_add(out, json + head, len - head);
	buf_putc(out, '\n');
}

/* ---- reading ---- */

static bool kept_line_starts(const char *text, size_t len, const char *with)
{
	size_t size = strlen(with);
	return len >= size && memcmp(text, with, size) == 0;
}

bool kept_line_read(struct kept_line *line, const char *text, size_t len)
{
	const char *end = memchr(text, '\n', len);
	*line = (struct kept_line){.text = text, .len = end ? (size_t)(end - text) : len};
	const char *mark = memchr(text, KEPT_NUMBER, line->len);
	if (!mark || !kept_line_starts(text, line->len, EVENT))
		return false;
	const char *number = mark + 2;
	size_t left = line->len - (size_t)(number - text);
	line->least = (enum granularity)((mark[1] - '0') & ~KEPT_TOLD);
	line->told = (mark[1] - '0') & KEPT_TOLD;
	line->event = text + strlen(EVENT);
	line->event_len =
	    (size_t)((const char *)memchr(line->event, '"', line->len - strlen(EVENT)) -
		line->event);
	const char *aside = memchr(number, KEPT_ASIDE, left);
	line->shown = aside ? (size_t)(aside - text) : line->len;
	if (kept_line_starts(number, left, SEQ))
		line->seq = strtoll(number + strlen(SEQ), NULL, 10);
	line->ends = kept_line_has_status(line, "done");
	return true;
}

bool kept_line_is(const struct kept_line *line, const char *event)
{
	return line->event_len == strlen(event) && memcmp(line->event, event, line->event_len) == 0;
}

/* Where a state that begins at from ends. */
static size_t kept_line_state_end(const struct kept_line *line, size_t from)
{
	const char *end = memchr(line->text + from, KEPT_STATE, line->len - from);
	return end ? (size_t)(end - line->text) : line->len - 1;
}

bool kept_line_has_status(const struct kept_line *line, const char *status)
{
	size_t at = strlen(UPDATE), size = strlen(status);
	if (!kept_line_starts(line->text, line->len, UPDATE))
		return false;
	at = line->text[at] == KEPT_STATE ? kept_line_state_end(line, at + 1) + 1
					  : at + strlen("null");
	if (at >= line->len || !kept_line_starts(line->text + at, line->len - at, STATUS))
		return false;
	at += strlen(STATUS);
	return kept_line_starts(line->text + at, line->len - at, status) && at + size < line->len &&
	    line->text[at + size] == '"';
}

cJSON *kept_line_json(const struct kept_line *line, const char **state, size_t *len)
{
	const char *text = line->text, *end = text + line->shown;
	const char *mark = memchr(text, KEPT_STATE, line->shown);
	struct buf chunk = {0};
	*state = mark ? mark + 1 : NULL;
	*len = 0;
	if (mark) {
		const char *behind = text + kept_line_state_end(line, (size_t)(*state - text));
		*len = (size_t)(behind - *state);
		buf_add(&chunk, text, (size_t)(mark - text));
		buf_puts(&chunk, "null");
		text = behind + 1;
	}
	const char *number = memchr(text, KEPT_NUMBER, (size_t)(end - text));
	buf_add(&chunk, text, (size_t)(number - text));
	buf_add(&chunk, number + 2, (size_t)(end - number - 2));
	cJSON *tree = json_parse(buf_str(&chunk), chunk.len, JSON_TRUSTED_DEPTH, NULL);
	buf_release(&chunk);
	return tree;
}

/* ---- printing ---- */

/* A part of a context that is being printed. */
struct kept_filling {
	struct buf *out;
	void (*put)(struct buf *out, const char *body_json);
	size_t most;
	bool behind;
	bool full;
};

static bool kept_line_fill(void *arg, const char *id, const char *body_json)
{
	struct kept_filling *f = arg;
	(void)id;
	if (f->behind)
		buf_putc(f->out, ',');
	f->put(f->out, body_json);
	f->behind = true;
	f->full = f->out->len >= f->most;
	return !f->full;
}

/* Prints the messages of the span at place, as many as belong into this part.  Where there are
 * none, the comma behind them is left out as well. */
static bool kept_line_print_span(const struct kept_reader *reader, const char *text,
    struct kept_place *place, size_t most, struct buf *out, struct error *err)
{
	const struct thread_ops *threads = reader->storage->threads;
	char *rest;
	bool ok;
	struct kept_filling filling = {.out = out,
	    .put = reader->words ? reader->words->put : buf_puts,
	    .most = most,
	    .behind = place->behind};
	struct thread_view view = {.after = strtoll(text + place->at + 1, &rest, 10)};
	view.until = view.last = strtoll(rest + 1, &rest, 10);
	if (place->in_span)
		view.after = place->after;
	if (reader->words) { /* from the thread's list, else from the context */
		struct page page = {.limit = INT64_MAX, .after = view.after};
		ok = threads->message_part(reader->storage, NULL, reader->run.thread, &view, &page,
		    kept_line_fill, &filling, err);
		view.after = page.after;
	} else {
		ok = threads->context_part(reader->storage, NULL, reader->run.thread, &view,
		    kept_line_fill, &filling, err);
	}
	if (!ok)
		return false;
	place->in_span = filling.full;
	place->behind = filling.full;
	place->after = view.after;
	if (!filling.full)
		place->at = (size_t)(rest + 1 - text) + (!filling.behind && rest[1] == ',');
	return true;
}

/* The offset behind the mark of a number, and behind the number where the reader is not to see
 * it. */
static size_t kept_line_number_end(const struct kept_line *line, size_t from)
{
	const char *number = line->text + from + 2;
	const char *end = memchr(number, ',', line->len - from - 2);
	bool hidden =
	    !line->seq && kept_line_starts(number, line->len - (size_t)(number - line->text), SEQ);
	return hidden && end ? (size_t)(end + 1 - line->text) : from + 2;
}

/* How many bytes stand before the next mark. */
static size_t kept_line_plain(const struct kept_line *line, size_t from)
{
	static const char marks[] = {KEPT_NUMBER, KEPT_STATE, KEPT_SPAN};
	const char *text = line->text + from, *mark;
	size_t plain = line->shown - from;
	for (size_t i = 0; i < sizeof(marks); i++)
		if ((mark = memchr(text, marks[i], plain)))
			plain = (size_t)(mark - text);
	return plain;
}

static bool kept_line_print_text(const struct kept_line *line, const struct kept_reader *reader,
    struct kept_place *place, struct buf *out, bool *more, struct error *err)
{
	size_t most = out->len + KEPT_PART;
	while (place->at < line->shown && out->len < most) {
		size_t plain = kept_line_plain(line, place->at);
		buf_add(out, line->text + place->at, plain);
		place->at += plain;
		if (place->at == line->shown)
			break;
		char mark = line->text[place->at];
		if (mark == KEPT_SPAN) {
			if (!kept_line_print_span(reader, line->text, place, most, out, err))
				return false;
		} else if (mark == KEPT_STATE && reader->granularity == GRANULARITY_LOW) {
			buf_puts(out, "null");
			place->at = kept_line_state_end(line, place->at + 1) + 1;
		} else {
			place->at = mark == KEPT_NUMBER ? kept_line_number_end(line, place->at)
							: place->at + 1;
		}
	}
	*more = place->at < line->shown;
	return true;
}

bool kept_line_print(const struct kept_line *line, const struct kept_reader *reader,
    struct kept_place *place, struct buf *out, bool *more, struct error *err)
{
	struct buf told = {0};
	if (!reader->words)
		return kept_line_print_text(line, reader, place, out, more, err);
	reader->words->tell(reader, line, place->skip, &told);
	const struct kept_line other = {.text = buf_str(&told), .shown = told.len};
	bool ok = kept_line_print_text(&other, reader, place, out, more, err);
	buf_release(&told);
	return ok;
}
