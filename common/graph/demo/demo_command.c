/* SPDX-License-Identifier: ISC */
/* What the demo does for each of its commands, the first word that a user says. */
#include "graph/demo/demo.h"

#include "base/json/json.h"
#include "base/memory.h"
#include "graph/message/message.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHITE " \t\r\n"
#define FILE_TEXT 80 /* characters of a file's text that are shown */

static int demo_command_count_words(const char *text)
{
	int words = 0;
	for (;;) {
		text += strspn(text, WHITE);
		if (!*text)
			return words;
		words++;
		text += strcspn(text, WHITE);
	}
}

/* An assistant message whose usage counts words in and out, so that traces have content. */
static ag_result demo_command_answer(struct demo *d, cJSON *content, const char *said)
{
	cJSON *message = cJSON_CreateObject();
	int in = demo_command_count_words(d->text), out = demo_command_count_words(said);
	json_add_str(message, "role", "assistant");
	json_add(message, "content", content);
	cJSON *usages = json_add(message, "usages", cJSON_CreateObject());
	json_add_int(usages, "prompt_tokens", in);
	json_add_int(usages, "completion_tokens", out);
	json_add_int(usages, "total_tokens", in + out);
	cJSON *metadata = json_add(message, "metadata", cJSON_CreateObject());
	json_add_str(metadata, "model", "demo");
	return ag_message(d->run, message);
}

/* One delta a word. */
static void demo_command_stream(ag_run *run, const char *text)
{
	for (size_t len; *text; text += len) {
		len = message_word(text);
		char *word = xstrndup(text, len);
		ag_delta(run, word);
		free(word);
	}
}

ag_result demo_say(struct demo *d, const char *prefix, const char *text)
{
	char *said = xasprintf("%s%s", prefix, text);
	demo_command_stream(d->run, said);
	ag_result result = demo_command_answer(d, content_text(said), said);
	free(said);
	return result;
}

/* ---- commands that ask for tools ---- */

static cJSON *demo_command_call_block(const char *name, cJSON *args)
{
	char id[HEX_ID_SIZE], call_id[HEX_ID_SIZE + 8];
	snprintf(call_id, sizeof(call_id), "call_%s", hex_id(id));
	cJSON *block = json_typed("tool_call");
	json_add_str(block, "id", call_id);
	json_add_str(block, "name", name);
	json_add(block, "args", args);
	return block;
}

static ag_result demo_command_ask_for(struct demo *d, cJSON *block)
{
	cJSON *content = cJSON_CreateArray();
	cJSON_AddItemToArray(content, block);
	return demo_command_answer(d, content, "");
}

static ag_result demo_command_do_add(struct demo *d)
{
	size_t first = strcspn(d->rest, WHITE);
	char *a_text = xstrndup(d->rest, first);
	cJSON *a = json_parse(a_text, first, 1, NULL);
	cJSON *b = json_parse(d->rest + first, strlen(d->rest + first), 1, NULL);
	bool numbers = json_is_number(a) && json_is_number(b);
	free(a_text);
	if (!numbers) {
		cJSON_Delete(a);
		cJSON_Delete(b);
		return demo_say(d, "echo: ", d->text);
	}
	cJSON *args = cJSON_CreateObject();
	json_add(args, "a", a);
	json_add(args, "b", b);
	return demo_command_ask_for(d, demo_command_call_block("add", args));
}

static ag_result demo_command_do_fail_tool(struct demo *d)
{
	return demo_command_ask_for(d, demo_command_call_block("fail", cJSON_CreateObject()));
}

/* One NAME JSON pair as a call block; NULL when it is not one.  *name is malloc'd. */
static cJSON *demo_command_remote_call(const char *pair, size_t len, char **name)
{
	size_t blank = strspn(pair, WHITE);
	blank = blank < len ? blank : len;
	size_t n = strcspn(pair + blank, WHITE);
	n = n < len - blank ? n : len - blank;
	*name = xstrndup(pair + blank, n);
	const char *json = pair + blank + n;
	cJSON *args = json_parse(json, len - blank - n, JSON_REQUEST_DEPTH, NULL);
	if (!args && strspn(json, WHITE) >= len - blank - n)
		args = cJSON_CreateObject();
	if (cJSON_IsObject(args))
		return demo_command_call_block(*name, args);
	cJSON_Delete(args);
	return NULL;
}

static ag_result demo_command_do_remote(struct demo *d)
{
	cJSON *content = cJSON_CreateArray();
	ag_result result = AG_OK;
	const char *pair = d->rest;
	for (bool more = true; more;) {
		const char *next = strstr(pair, " && ");
		char *name;
		cJSON *call = demo_command_remote_call(
		    pair, next ? (size_t)(next - pair) : strlen(pair), &name);
		bool known = ag_remote_tool(d->run, name);
		if (!known || !call) {
			cJSON_Delete(content);
			cJSON_Delete(call);
			result = known ? demo_say(d, "echo: ", d->text)
				       : demo_say(d, "unknown remote tool: ", name);
			free(name);
			return result;
		}
		free(name);
		cJSON_AddItemToArray(content, call);
		more = next != NULL;
		pair = more ? next + 4 : pair;
	}
	return demo_command_answer(d, content, "");
}

/* ---- the other commands ---- */

static ag_result demo_command_do_ask(struct demo *d)
{
	const cJSON *given;
	cJSON *value = cJSON_CreateObject();
	json_add_str(value, "question", d->rest);
	if (ag_interrupt(d->run, NULL, value, &given) == AG_PAUSE)
		return AG_PAUSE;
	if (cJSON_IsNull(given))
		return demo_say(d, "", "cancelled");
	if (cJSON_IsString(given))
		return demo_say(d, "answer: ", given->valuestring);
	char *text = json_print(given);
	ag_result result = demo_say(d, "answer: ", text);
	cJSON_free(text);
	return result;
}

/* Reads a whole number and moves on behind it; false for one that no int holds. */
static bool demo_take_int(const char **text, int *value)
{
	char *end;
	errno = 0;
	long number = strtol(*text, &end, 10);
	if (end == *text || errno || number < INT_MIN || number > INT_MAX)
		return false;
	*text = end;
	*value = (int)number;
	return true;
}

static ag_result demo_command_do_slow(struct demo *d)
{
	const char *at = d->rest;
	int steps, ms;
	char tick[32];
	if (!demo_take_int(&at, &steps) || !demo_take_int(&at, &ms))
		return demo_say(d, "echo: ", d->text);
	if (ag_sleep_ms(d->run, ms) != AG_OK)
		return AG_ERROR;
	snprintf(tick, sizeof(tick), "tick %d", ag_step(d->run));
	ag_delta(d->run, tick);
	if (demo_command_answer(d, content_text(tick), tick) != AG_OK)
		return AG_ERROR;
	return ag_step(d->run) >= steps ? demo_say(d, "", "done") : AG_OK;
}

static ag_result demo_command_do_loop(struct demo *d)
{
	return demo_say(d, "", "again");
}

static ag_result demo_command_do_error(struct demo *d)
{
	return ag_fail(d->run, "%s", d->rest);
}

static ag_result demo_command_do_think(struct demo *d)
{
	cJSON *content = cJSON_CreateArray(), *block = cJSON_CreateObject();
	char *said = xasprintf("thought: %s", d->rest);
	json_add_str(block, "type", "reasoning");
	json_add_str(block, "summary", d->rest);
	cJSON_AddItemToArray(content, block);
	cJSON_AddItemToArray(content, block_text(said));
	ag_reasoning_delta(d->run, d->rest);
	demo_command_stream(d->run, said);
	ag_result result = demo_command_answer(d, content, said);
	free(said);
	return result;
}

static ag_result demo_command_do_note(struct demo *d)
{
	ag_update(d->run, "notes", cJSON_CreateString(d->rest));
	return demo_say(d, "", "noted");
}

static ag_result demo_command_do_context(struct demo *d)
{
	char number[24];
	snprintf(number, sizeof(number), "%zu", ag_context_length(d->state));
	return demo_say(d, "context: ", number);
}

static ag_result demo_command_do_files(struct demo *d)
{
	struct buf lines = {0};
	const cJSON *block;
	const cJSON *asked = message_last(ag_context(d->state), "user");
	cJSON_ArrayForEach(block, json_get(asked, "content")) {
		const cJSON *media = json_get(block, "media");
		int64_t size = 0;
		const char *type = json_str(media, "mime_type");
		const char *data = json_str(media, "data_base64");
		if (!media)
			continue;
		if (!json_integer(json_get(media, "size_bytes"), &size) && data)
			size = (int64_t)(strcspn(data, "=") * 3 / 4);
		buf_printf(&lines, "%s%s %s %" PRId64, lines.len ? "\n" : "",
		    json_str(block, "type"), type ? type : "unknown", size);
		/* Adds the beginning of the text that was extracted from a block's file. */
		char *text = ag_media_text(d->run, block);
		size_t end = 0;
		for (int i = 0; text && text[end] && i < FILE_TEXT; i++)
			end += utf8_sequence(text + end, strlen(text + end));
		if (text) {
			buf_puts(&lines, ": ");
			buf_add(&lines, text, end);
		}
		free(text);
	}
	ag_result result = demo_say(d, "", lines.len ? buf_str(&lines) : "none");
	buf_release(&lines);
	return result;
}

static ag_result demo_command_do_whoami(struct demo *d)
{
	const char *id = json_str(json_get(ag_config(d->run), "user"), "user_id");
	return demo_say(d, "", id ? id : "anonymous");
}

static const struct {
	const char *name;
	ag_result (*run)(struct demo *d);
} commands[] = {
    {"/add", demo_command_do_add},
    {"/fail-tool", demo_command_do_fail_tool},
    {"/remote", demo_command_do_remote},
    {"/ask", demo_command_do_ask},
    {"/slow", demo_command_do_slow},
    {"/loop", demo_command_do_loop},
    {"/error", demo_command_do_error},
    {"/think", demo_command_do_think},
    {"/note", demo_command_do_note},
    {"/context", demo_command_do_context},
    {"/files", demo_command_do_files},
    {"/whoami", demo_command_do_whoami},
};

bool demo_is_command(const char *text, const char *name)
{
	size_t len = strlen(name);
	return strncmp(text, name, len) == 0 && (!text[len] || strchr(WHITE, text[len]));
}

ag_result demo_answer(struct demo *d)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (!demo_is_command(d->text, commands[i].name))
			continue;
		d->rest = d->text + strlen(commands[i].name);
		d->rest += strspn(d->rest, WHITE);
		return commands[i].run(d);
	}
	return demo_say(d, "echo: ", d->text);
}
