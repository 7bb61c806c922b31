/* SPDX-License-Identifier: ISC */
/* Joining the texts of a turn. */
#include "service/run/said.h"

#include "base/json/json.h"
#include "graph/message/message.h"

const cJSON *turn_made(const struct turn *turn)
{
	const cJSON *messages = turn->run ? run_messages(turn->run) : NULL;
	const cJSON *message = messages ? messages->child : NULL;
	for (int i = 0; message && i < turn->brought; i++)
		message = message->next;
	return message;
}

/* Appends a text of the answer behind those that came before. */
static void said_add(struct buf *answer, const char *text)
{
	if (*text && answer->len)
		buf_puts(answer, SAID_BETWEEN);
	buf_puts(answer, text);
}

void turn_texts(const struct turn *turn, struct buf *out)
{
	for (const cJSON *message = turn_made(turn); message; message = message->next) {
		struct buf text = {0};
		if (message_is(message, "assistant"))
			message_text(message, &text);
		said_add(out, buf_str(&text));
		buf_release(&text);
	}
}

void turn_reasoning(const struct turn *turn, struct buf *out)
{
	for (const cJSON *message = turn_made(turn); message; message = message->next) {
		const char *reasoning = json_str(message, "reasoning");
		if (reasoning && message_is(message, "assistant"))
			said_add(out, reasoning);
	}
}

const char *interrupt_question(struct arena *a, const cJSON *interrupt)
{
	const cJSON *data = json_get(interrupt, "data");
	const char *question = json_str(data, "question");
	if (!question)
		question = json_str(interrupt, "message");
	if (question)
		return question;
	return arena_print(a, data);
}

const char *turn_question(const struct turn *turn)
{
	struct arena *a = turn->call->arena;
	const cJSON *interrupt =
	    turn->action == TURN_NOTHING_NEW ? NULL : arena_json(a, turn_interrupt(turn));
	return interrupt ? interrupt_question(a, interrupt) : NULL;
}

void turn_answer(const struct turn *turn, struct buf *out)
{
	const char *question = turn_question(turn);
	turn_texts(turn, out);
	if (question)
		said_add(out, question);
}
