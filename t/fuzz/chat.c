/* SPDX-License-Identifier: ISC */
/* Answers of chat providers, streamed and whole: whatever they say, the message has the right form.
 * The first byte chooses the provider. */
#include "base/http/sse.h"
#include "base/json/json.h"
#include "model/provider.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

static const struct chat_provider *const providers[] = {
    &chat_openai, &chat_anthropic, &chat_gemini, &chat_openai_responses};

static bool piece(const char *text, void *arg)
{
	(void)arg;
	require(*text && utf8_valid(text, strlen(text)));
	return true;
}

static bool on_event(const struct sse_event *event, void *arg)
{
	struct chat_answer *a = arg;
	char *copy = malloc(event->len + 1);
	memcpy(copy, event->data, event->len + 1);
	cJSON *data = chat_parse(copy, event->len);
	if (data)
		a->target->provider->take_event(a, event->name, data);
	cJSON_Delete(data);
	free(copy);
	return !a->fault;
}

static void check_message(struct chat_answer *a)
{
	a->ended = true;
	cJSON *message = chat_answer_message(a);
	char *text = json_print(message);
	cJSON *again = json_parse(text, strlen(text), JSON_TRUSTED_DEPTH, NULL);
	const cJSON *block;
	require(again && json_get(message, "content")->child);
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		const char *id = json_str(block, "id");
		require(!chat_block_is_call(block) || (id && *id));
	}
	cJSON_Delete(again);
	free(text);
	cJSON_Delete(message);
}

static void feed(const struct chat_target *t, const uint8_t *data, size_t size)
{
	struct chat_request rq = {.on_text = piece, .on_reasoning = piece};
	struct chat_answer a;
	chat_answer_init(&a, t, &rq);
	struct sse s = {.on_event = on_event, .arg = &a};
	if (sse_feed(&s, (const char *)data, size))
		sse_finish(&s);
	sse_release(&s);
	check_message(&a);
	chat_answer_release(&a);
}

static void take(const struct chat_target *t, const uint8_t *data, size_t size)
{
	struct chat_request rq = {.on_text = piece, .on_reasoning = piece};
	struct chat_answer a;
	char *text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = '\0';
	cJSON *body = chat_parse(text, size);
	chat_answer_init(&a, t, &rq);
	if (body)
		t->provider->take_whole(&a, body);
	check_message(&a);
	chat_answer_release(&a);
	free(chat_error_message(body));
	cJSON_Delete(body);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	struct chat_target t = {.provider = providers[data[0] % 4], .model = "m"};
	feed(&t, data + 1, size - 1);
	take(&t, data + 1, size - 1);
	return 0;
}
