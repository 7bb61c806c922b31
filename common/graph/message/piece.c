/* SPDX-License-Identifier: ISC */
/* A printed message in which only the text and the time are replaced. */
#include "graph/message/message.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/json/json_quote.h"
#include "base/os/clock.h"

#include <stdlib.h>
#include <string.h>

struct piece {
	cJSON *message;
	cJSON *text, *time; /* in it; the time is raw text */
	struct buf json;
	char *form;                     /* the message as JSON, with an empty text and some time */
	size_t text_at, time_at, after; /* where they stand in it, and what follows the time */
};

static void piece_free(void *arg)
{
	struct piece *piece = arg;
	buf_release(&piece->json);
	cJSON_Delete(piece->message);
	free(piece->form);
}

/* Offset behind the first place from which on has text. */
static size_t piece_behind(const char *text, size_t from, const char *found)
{
	return (size_t)(strstr(text + from, found) - text) + strlen(found);
}

struct piece *piece_new(struct arena *arena, const char *id, bool reasoning)
{
	struct piece *piece = arena_alloc(arena, sizeof(*piece));
	*piece = (struct piece){
	    .message = reasoning ? message_reasoning_delta(id, "") : message_delta(id, "")};
	arena_defer(arena, piece_free, piece);
	const char *key = reasoning ? "summary" : "text";
	piece->text = json_get(json_get(piece->message, "content")->child, key);
	piece->time = json_get(piece->message, "timestamp");
	piece->form = json_print(piece->message);
	/* an id has no quote in it, so neither name can be found in one */
	piece->text_at = piece_behind(piece->form, 0, reasoning ? "\"summary\":" : "\"text\":");
	piece->time_at = piece_behind(piece->form, piece->text_at, "\"timestamp\":");
	piece->after = piece->time_at + strlen(piece->time->valuestring);
	return piece;
}

const char *piece_id(const struct piece *piece)
{
	return message_id(piece->message);
}

const cJSON *piece_next(struct piece *piece, const char *text, const char **json)
{
	struct buf *out = &piece->json;
	char *time = piece->time->valuestring, now[DECIMAL_TIME_SIZE];
	memcpy(time, clock_decimal(clock_now(), now), strlen(time));
	cJSON_SetValuestring(piece->text, text);
	buf_reset(out);
	buf_add(out, piece->form, piece->text_at);
	json_quote(out, text);
	/* behind the two quotes of the empty text */
	buf_add(out, piece->form + piece->text_at + 2, piece->time_at - piece->text_at - 2);
	buf_puts(out, time);
	buf_puts(out, piece->form + piece->after);
	*json = buf_str(out);
	return piece->message;
}
