/* SPDX-License-Identifier: ISC */
/*
 * Asks a chat model, for the tests against providers that others wrote.
 *
 *   chat_ask SETTINGS REQUEST     both are JSON; REQUEST: {system, text, tools}
 *
 * Prints each piece as it comes ("text …", "reasoning …"), answers calls with "result of NAME" and
 * asks again, and prints the result of the last call: "done", "failed", "timed out" or "stopped",
 * the tries, and the message or the error.
 */
#include "base/http/http.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "model/chat.h"
#include "model/embed/embed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROUNDS 4
#define MAX_TOOLS 16

static cJSON *parse(const char *text)
{
	cJSON *json = json_parse(text, strlen(text), JSON_TRUSTED_DEPTH, NULL);
	if (!json) {
		fprintf(stderr, "chat_ask: not JSON: %s\n", text);
		exit(2);
	}
	return json;
}

static bool on_text(const char *piece, void *arg)
{
	(void)arg;
	printf("text %s\n", piece);
	return true;
}

static bool on_reasoning(const char *piece, void *arg)
{
	(void)arg;
	printf("reasoning %s\n", piece);
	return true;
}

static void on_problem(const char *path, const char *text, void *arg)
{
	(void)arg;
	printf("problem %s: %s\n", path, text);
}

static cJSON *add_message(cJSON *messages, const char *role)
{
	cJSON *message = cJSON_CreateObject();
	cJSON_AddItemToArray(messages, message);
	json_add_str(message, "role", role);
	return cJSON_AddArrayToObject(message, "content");
}

static cJSON *add_block(cJSON *content, const char *type)
{
	cJSON *block = cJSON_CreateObject();
	cJSON_AddItemToArray(content, block);
	json_add_str(block, "type", type);
	return block;
}

static void add_result(cJSON *messages, const cJSON *call)
{
	cJSON *block = add_block(add_message(messages, "tool"), "tool_result");
	char *output = xasprintf("result of %s", json_str(call, "name"));
	json_add_str(block, "call_id", json_str(call, "id"));
	json_add_str(block, "output", output);
	free(output);
}

/* Adds the answer and the results of its calls; false when it makes none. */
static bool go_on(cJSON *messages, const cJSON *message)
{
	const cJSON *block;
	bool calls = false;
	cJSON_AddItemToArray(messages, cJSON_Duplicate(message, true));
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		if (strcmp(json_str(block, "type"), "tool_call") != 0)
			continue;
		char *args = json_print(json_get(block, "args"));
		printf("call %s %s\n", json_str(block, "name"), args);
		free(args);
		add_result(messages, block);
		calls = true;
	}
	return calls;
}

static size_t read_tools(const cJSON *list, struct chat_tool *tools)
{
	const cJSON *item;
	size_t count = 0;
	cJSON_ArrayForEach(item, list) {
		if (count < MAX_TOOLS)
			tools[count++] = (struct chat_tool){json_str(item, "name"),
			    json_str(item, "description"), json_opt(item, "parameters")};
	}
	return count;
}

static void print_result(const struct chat_result *r)
{
	static const char *const ends[] = {[CHAT_DONE] = "done",
	    [CHAT_FAILED] = "failed",
	    [CHAT_TIMED_OUT] = "timed out",
	    [CHAT_STOPPED] = "stopped"};
	char *message = r->message ? json_print(r->message) : xstrdup(r->error ? r->error : "");
	printf("%s after %u: %s\n", ends[r->end], r->tries, message);
	free(message);
}

static void converse(const struct chat_model *m, const cJSON *asked)
{
	struct chat_tool tools[MAX_TOOLS];
	cJSON *messages = cJSON_CreateArray();
	struct chat_request rq = {.system = json_str(asked, "system"),
	    .messages = messages,
	    .tools = tools,
	    .tool_count = read_tools(json_opt(asked, "tools"), tools),
	    .on_text = on_text,
	    .on_reasoning = on_reasoning};
	json_add_str(
	    add_block(add_message(messages, "user"), "text"), "text", json_str(asked, "text"));
	for (int round = 0; round < MAX_ROUNDS; round++) {
		struct chat_result r;
		bool more = chat_call(m, &rq, &r) == CHAT_DONE && go_on(messages, r.message);
		if (!more)
			print_result(&r);
		chat_result_release(&r);
		if (!more)
			break;
	}
	cJSON_Delete(messages);
}

/* embed BASE_URL DIMENSIONS TEXT...: prints the first number of each vector. */
static int ask_for_vectors(char **args)
{
	char *problem = NULL;
	struct error err = {0};
	size_t dimensions = strtoul(args[1], NULL, 10), count = 0;
	struct embedder *e = embedder_new(
	    &(struct embed_target){
		.base_url = args[0], .model = "embed-x", .dimensions = dimensions},
	    &problem);
	while (args[2 + count])
		count++;
	float *vectors = xcalloc(count * dimensions, sizeof(float));
	bool done =
	    e && embed_texts(e, (const char *const *)args + 2, count, vectors, NULL, NULL, &err);
	for (size_t i = 0; done && i < count; i++)
		printf("%g\n", (double)vectors[i * dimensions]);
	if (!done)
		printf("failed: %s\n", problem ? problem : err.cause);
	free(problem);
	free(vectors);
	error_release(&err);
	embedder_free(e);
	return 0;
}

int main(int argc, char **argv)
{
	memory_init();
	if (argc > 4 && strcmp(argv[1], "embed") == 0)
		return ask_for_vectors(argv + 2);
	if (argc != 3) {
		fprintf(
		    stderr, "usage: chat_ask SETTINGS REQUEST | embed URL DIMENSIONS TEXT...\n");
		return 2;
	}
	cJSON *settings = parse(argv[1]), *asked = parse(argv[2]);
	struct chat_model *m = chat_model_new(settings, &(struct chat_reporter){on_problem, NULL});
	if (m)
		converse(m, asked);
	chat_model_free(m);
	cJSON_Delete(asked);
	cJSON_Delete(settings);
	http_close_kept();
	return 0;
}
