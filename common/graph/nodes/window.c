/* SPDX-License-Identifier: ISC */
/* Estimating tokens, and finding a place where no result is cut off from its call. */
#include "graph/nodes/model_node.h"

#include "base/json/json.h"
#include "base/memory.h"
#include "graph/message/message.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_BYTES 16 /* role and framing */
#define MEDIA_BYTES 4096 /* an image or a page, roughly; never its base64 */

static size_t window_json_bytes(const cJSON *item)
{
	if (!item)
		return 0;
	char *text = json_print(item);
	size_t len = strlen(text);
	free(text);
	return len;
}

static size_t window_text_bytes(const cJSON *block, const char *key)
{
	const char *text = json_str(block, key);
	return text ? strlen(text) : 0;
}

size_t window_tokens(const cJSON *message)
{
	size_t bytes = MESSAGE_BYTES;
	const cJSON *block;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		if (block_is_call(block))
			bytes += window_text_bytes(block, "name") +
			    window_json_bytes(json_get(block, "args"));
		else if (block_is(block, "tool_result"))
			bytes += window_json_bytes(json_get(block, "output"));
		else if (json_get(block, "media"))
			bytes += MEDIA_BYTES;
		else
			bytes +=
			    window_text_bytes(block, "text") + window_text_bytes(block, "summary");
	}
	return bytes / WINDOW_BYTES_PER_TOKEN + 1;
}

/* The messages of a context, by index. */
struct view {
	size_t count;
	const cJSON **messages;
	size_t *oldest; /* by index: the oldest message that is asked or answered from there on */
};

/* A call of a context.  They are sorted by id, so that a long context is looked through once. */
struct call {
	const char *id;
	size_t at; /* the message that made it */
};

struct calls {
	struct call *items;
	size_t count;
};

static int call_by_id_and_place(const void *a, const void *b)
{
	const struct call *x = a, *y = b;
	int order = strcmp(x->id, y->id);
	return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* The latest message before i that made the call; i when there is none. */
static size_t calls_asked_at(const struct calls *calls, size_t i, const char *call_id)
{
	const struct call wanted = {call_id, i};
	size_t low = 0, high = calls->count;
	while (call_id && low < high) {
		size_t middle = low + (high - low) / 2;
		if (call_by_id_and_place(&calls->items[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	bool found = low > 0 && strcmp(calls->items[low - 1].id, call_id) == 0;
	return found ? calls->items[low - 1].at : i;
}

static void view_init(struct view *v, const cJSON *context)
{
	struct calls calls = {0};
	const cJSON *message, *block;
	size_t i = 0;
	v->count = (size_t)cJSON_GetArraySize(context);
	v->messages = xcalloc(v->count + 1, sizeof(const cJSON *));
	v->oldest = xcalloc(v->count + 1, sizeof(size_t));
	cJSON_ArrayForEach(message, context) {
		cJSON_ArrayForEach(block, json_get(message, "content")) {
			const char *id = json_str(block, "id");
			if (!block_is_call(block) || !id)
				continue;
			calls.items = xgrow(calls.items, calls.count, sizeof(*calls.items));
			calls.items[calls.count++] = (struct call){id, i};
		}
		v->messages[i++] = message;
	}
	if (calls.count)
		qsort(calls.items, calls.count, sizeof(*calls.items), call_by_id_and_place);
	v->oldest[v->count] = v->count;
	for (i = v->count; i-- > 0;) {
		v->oldest[i] = i < v->oldest[i + 1] ? i : v->oldest[i + 1];
		cJSON_ArrayForEach(block, json_get(v->messages[i], "content")) {
			if (!block_is(block, "tool_result"))
				continue;
			size_t at = calls_asked_at(&calls, i, json_str(block, "call_id"));
			if (at < v->oldest[i])
				v->oldest[i] = at;
		}
	}
	free(calls.items);
}

/* Whether everything before i can go. */
static bool view_can_cut(const struct view *v, size_t i)
{
	return v->oldest[i] >= i;
}

/* The first message that fits when as much as possible of the end stays. */
static size_t view_first_fitting(const struct view *v, const struct window *limits)
{
	size_t tokens = 0, i = v->count;
	while (i > 0) {
		tokens += window_tokens(v->messages[i - 1]);
		if ((limits->max_messages && v->count - i + 1 > limits->max_messages) ||
		    (limits->max_tokens && tokens > limits->max_tokens))
			break;
		i--;
	}
	return i;
}

/* Where to cut: at the next user message from `from` on, else at the next message there, else at
 * the one before.  Everything before it must be able to go. */
static size_t view_cut_near(const struct view *v, size_t from)
{
	for (size_t i = from; i < v->count; i++)
		if (view_can_cut(v, i) && message_is(v->messages[i], "user"))
			return i;
	for (size_t i = from; i < v->count; i++)
		if (view_can_cut(v, i))
			return i;
	for (size_t i = from; i-- > 0;)
		if (i < v->count && view_can_cut(v, i))
			return i;
	return 0;
}

static size_t window_share(size_t limit, double keep)
{
	size_t kept = (size_t)((double)limit * keep);
	return limit && !kept ? 1 : kept;
}

size_t window_cut(const struct window *window, const cJSON *context)
{
	const struct window kept = {window_share(window->max_messages, window->keep),
	    window_share(window->max_tokens, window->keep), 1};
	struct view v;
	size_t cut = 0;
	if (!window->max_messages && !window->max_tokens)
		return 0;
	view_init(&v, context);
	if (v.count && view_first_fitting(&v, window) > 0)
		cut = view_cut_near(&v, view_first_fitting(&v, &kept));
	free(v.messages);
	free(v.oldest);
	return cut;
}
