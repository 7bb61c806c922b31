/* SPDX-License-Identifier: ISC */
/* Cutting a context and having the model sum up what leaves it, part by part. */
#include "graph/nodes/model_node.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "graph/message/message.h"
#include "graph/nodes/ask.h"
#include "graph/run_internal.h"

#include <stdlib.h>
#include <string.h>

#define SUMMARY_PROMPT                                                                             \
	"You keep the notes of a long conversation.  You are given the notes so far and the next " \
	"part of the conversation.  Write the new notes: every fact, name, number, decision, "     \
	"wish and open question that matters later, nothing else.  Answer with the notes only."

/* One request for notes must itself fit the model, and a run must not ask for notes without end:
 * what is left over is summed up by the next one. */
#define PART_BYTES (64 * 1024)
#define LEAST_PART_BYTES (8 * 1024)
#define MOST_PARTS 8
#define LINE_BYTES 4000 /* of a message, at most; the notes need no whole files */

/* ---- A part of the conversation as text */

static void shorten_add_cut(struct buf *out, const char *text)
{
	size_t len = strlen(text);
	size_t kept = len > LINE_BYTES ? utf8_cut(text, LINE_BYTES) : len;
	buf_add(out, text, kept);
	if (kept < len)
		buf_puts(out, "…");
}

static void shorten_add_line(struct buf *out, const cJSON *message)
{
	const cJSON *block;
	char *text = ag_message_text(message);
	buf_printf(out, "%s: ", message_role(message));
	shorten_add_cut(out, text);
	free(text);
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		bool call = block_is_call(block);
		if (!call && !block_is(block, "tool_result"))
			continue;
		char *json = json_print(json_get(block, call ? "args" : "output"));
		buf_printf(
		    out, call ? "[calls %s " : "[result ", call ? json_str(block, "name") : "");
		shorten_add_cut(out, json);
		buf_putc(out, ']');
		free(json);
	}
	buf_putc(out, '\n');
}

/* The messages that leave and are not in the notes yet, and who sums them up for whom. */
struct leaving {
	const struct shortening *how;
	const struct chat_model *chat;
	ag_run *run;
	const cJSON *next;
	size_t count;
	size_t part_bytes;
};

/* The notes so far and the next part, as the one message of a request of its own. */
static cJSON *leaving_next_part(struct leaving *leaving, const char *notes)
{
	struct buf text = {0};
	if (notes)
		buf_printf(&text, "The notes so far:\n%s\n\n", notes);
	buf_puts(&text, "The next part of the conversation:\n");
	do {
		shorten_add_line(&text, leaving->next);
		leaving->next = leaving->next->next;
		/* it ends where a turn can end, so that no call goes without its result */
	} while (--leaving->count > 0 &&
	    (text.len < leaving->part_bytes || message_is(leaving->next, "tool")));
	cJSON *messages = cJSON_CreateArray();
	cJSON_AddItemToArray(messages, message_new("user", "notes", content_text(buf_str(&text))));
	buf_release(&text);
	return messages;
}

/* ---- The notes */

/* The new notes, malloc'd; NULL when the model gave none. */
static char *leaving_sum_up(const struct leaving *leaving, const cJSON *messages)
{
	ag_run *run = leaving->run;
	const struct model_question question = {
	    .chat = leaving->chat,
	    .system = leaving->how->prompt ? leaving->how->prompt : SUMMARY_PROMPT,
	    .messages = messages,
	    .choice = CHAT_TOOLS_NONE,
	    .plain = true,
	};
	cJSON *answer;
	char *text = NULL;
	if (model_ask(run, &question, &answer) == AG_OK)
		text = ag_message_text(answer);
	model_spent(run, answer);
	cJSON_Delete(answer);
	if (text && text[strspn(text, " \t\r\n")])
		return text;
	ag_log(run, "the context could not be summed up and is shown in part only: %s",
	    run->frame.failure ? run->frame.failure : "the model wrote nothing");
	free(text);
	return NULL;
}

static size_t shorten_part_bytes(const struct window *window)
{
	size_t bytes = window->max_tokens * WINDOW_BYTES_PER_TOKEN;
	if (!bytes || bytes > PART_BYTES)
		return PART_BYTES;
	return bytes < LEAST_PART_BYTES ? LEAST_PART_BYTES : bytes;
}

const cJSON *shorten(const struct shortening *how, const struct chat_model *chat, ag_run *run,
    const cJSON *context, char **notes)
{
	size_t count = window_cut(&how->window, context);
	struct leaving leaving = {.how = how,
	    .chat = chat,
	    .run = run,
	    .next = context->child,
	    .count = count,
	    .part_bytes = shorten_part_bytes(&how->window)};
	const cJSON *first = cJSON_GetArrayItem(context, (int)count);
	*notes = xstrdup(run->thread.summary);
	if (!count)
		return first;
	/* the context loses all up to this one: with a summary only what is in the notes */
	const cJSON *last = how->summary ? NULL : first->prev;
	for (int i = 0; how->summary && i < MOST_PARTS && leaving.count > 0; i++) {
		cJSON *messages = leaving_next_part(&leaving, *notes);
		char *made = leaving_sum_up(&leaving, messages);
		cJSON_Delete(messages);
		if (!made)
			break;
		free(*notes);
		*notes = made;
		last = leaving.next->prev;
	}
	if (last)
		ag_trim(run, last, how->summary ? *notes : NULL);
	return first;
}
