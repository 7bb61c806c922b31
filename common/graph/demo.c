/*
 * builtin:demo, how a newcomer, a smoke test and a load test meet the service (ARCHITECTURE 9).  It
 * needs no model and no network: what the last user said decides what happens.
 */
#include "base/json.h"
#include "base/memory.h"
#include "graph/message.h"
#include "graph/run.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WHITE " \t\r\n"
#define FILE_TEXT 80 /* characters of a file's text that are shown */

struct demo {
	ag_run *run;
	const ag_state *state;
	const char *text; /* what the user said */
	const char *rest; /* what follows the command */
};

static int count_words(const char *text)
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
static ag_result answer(struct demo *d, cJSON *content, const char *said)
{
	cJSON *message = cJSON_CreateObject();
	int in = count_words(d->text), out = count_words(said);
	cJSON_AddStringToObject(message, "role", "assistant");
	cJSON_AddItemToObject(message, "content", content);
	cJSON *usages = cJSON_AddObjectToObject(message, "usages");
	json_add_int(usages, "prompt_tokens", in);
	json_add_int(usages, "completion_tokens", out);
	json_add_int(usages, "total_tokens", in + out);
	cJSON *metadata = cJSON_AddObjectToObject(message, "metadata");
	cJSON_AddStringToObject(metadata, "model", "demo");
	return ag_message(d->run, message);
}

/* One delta a word, with the space before it; what trails goes with the last one. */
static void stream(ag_run *run, const char *text)
{
	while (*text) {
		size_t space = strspn(text, WHITE);
		size_t len = space + strcspn(text + space, WHITE);
		if (!text[len + strspn(text + len, WHITE)])
			len = strlen(text);
		char *word = xstrndup(text, len);
		ag_delta(run, word);
		free(word);
		text += len;
	}
}

static ag_result say(struct demo *d, const char *prefix, const char *text)
{
	char *said = xasprintf("%s%s", prefix, text);
	stream(d->run, said);
	ag_result result = answer(d, content_text(said), said);
	free(said);
	return result;
}

/* ---- tools ---- */

static cJSON *call_block(const char *name, cJSON *args)
{
	char id[HEX_ID_SIZE], call_id[HEX_ID_SIZE + 8];
	snprintf(call_id, sizeof(call_id), "call_%s", hex_id(id));
	cJSON *block = cJSON_CreateObject();
	cJSON_AddStringToObject(block, "type", "tool_call");
	cJSON_AddStringToObject(block, "id", call_id);
	cJSON_AddStringToObject(block, "name", name);
	cJSON_AddItemToObject(block, "args", args);
	return block;
}

static ag_result ask_for(struct demo *d, cJSON *block)
{
	cJSON *content = cJSON_CreateArray();
	cJSON_AddItemToArray(content, block);
	return answer(d, content, "");
}

static ag_result do_add(struct demo *d)
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
		return say(d, "echo: ", d->text);
	}
	cJSON *args = cJSON_CreateObject();
	cJSON_AddItemToObject(args, "a", a);
	cJSON_AddItemToObject(args, "b", b);
	return ask_for(d, call_block("add", args));
}

static ag_result do_fail_tool(struct demo *d)
{
	return ask_for(d, call_block("fail", cJSON_CreateObject()));
}

/* One NAME JSON pair as a call block; NULL when it is not one.  *name is malloc'd. */
static cJSON *remote_call(const char *pair, size_t len, char **name)
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
		return call_block(*name, args);
	cJSON_Delete(args);
	return NULL;
}

static ag_result do_remote(struct demo *d)
{
	cJSON *content = cJSON_CreateArray();
	ag_result result = AG_OK;
	const char *pair = d->rest;
	for (bool more = true; more;) {
		const char *next = strstr(pair, " && ");
		char *name;
		cJSON *call = remote_call(pair, next ? (size_t)(next - pair) : strlen(pair), &name);
		bool known = ag_remote_tool(d->run, name);
		if (!known || !call) {
			cJSON_Delete(content);
			cJSON_Delete(call);
			result = known ? say(d, "echo: ", d->text)
				       : say(d, "unknown remote tool: ", name);
			free(name);
			return result;
		}
		free(name);
		cJSON_AddItemToArray(content, call);
		more = next != NULL;
		pair = more ? next + 4 : pair;
	}
	return answer(d, content, "");
}

/* ---- the other commands ---- */

static ag_result do_ask(struct demo *d)
{
	const cJSON *given;
	cJSON *value = cJSON_CreateObject();
	cJSON_AddStringToObject(value, "question", d->rest);
	if (ag_interrupt(d->run, NULL, value, &given) == AG_PAUSE)
		return AG_PAUSE;
	if (cJSON_IsNull(given))
		return say(d, "", "cancelled");
	if (cJSON_IsString(given))
		return say(d, "answer: ", given->valuestring);
	char *text = json_print(given);
	ag_result result = say(d, "answer: ", text);
	cJSON_free(text);
	return result;
}

/* Reads a whole number and moves on behind it; false for one that no int holds. */
static bool take_int(const char **text, int *value)
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

static ag_result do_slow(struct demo *d)
{
	const char *at = d->rest;
	int steps, ms;
	char tick[32];
	if (!take_int(&at, &steps) || !take_int(&at, &ms))
		return say(d, "echo: ", d->text);
	if (ag_sleep_ms(d->run, ms) != AG_OK)
		return AG_ERROR;
	snprintf(tick, sizeof(tick), "tick %d", ag_step(d->run));
	ag_delta(d->run, tick);
	if (answer(d, content_text(tick), tick) != AG_OK)
		return AG_ERROR;
	return ag_step(d->run) >= steps ? say(d, "", "done") : AG_OK;
}

static ag_result do_loop(struct demo *d)
{
	return say(d, "", "again");
}

static ag_result do_error(struct demo *d)
{
	return ag_fail(d->run, "%s", d->rest);
}

static ag_result do_think(struct demo *d)
{
	cJSON *content = cJSON_CreateArray(), *block = cJSON_CreateObject();
	char *said = xasprintf("thought: %s", d->rest);
	cJSON_AddStringToObject(block, "type", "reasoning");
	cJSON_AddStringToObject(block, "summary", d->rest);
	cJSON_AddItemToArray(content, block);
	cJSON_AddItemToArray(content, block_text(said));
	ag_reasoning_delta(d->run, d->rest);
	stream(d->run, said);
	ag_result result = answer(d, content, said);
	free(said);
	return result;
}

static ag_result do_note(struct demo *d)
{
	ag_update(d->run, "notes", cJSON_CreateString(d->rest));
	return say(d, "", "noted");
}

static ag_result do_context(struct demo *d)
{
	char number[24];
	snprintf(number, sizeof(number), "%zu", ag_context_length(d->state));
	return say(d, "context: ", number);
}

static const cJSON *last_user_message(const ag_state *state)
{
	const cJSON *message, *found = NULL;
	cJSON_ArrayForEach(message, ag_context(state)) {
		if (message_is(message, "user"))
			found = message;
	}
	return found;
}

/* Adds the beginning of the text that was extracted from a block's file. */
static void add_extract(struct buf *line, ag_run *run, const cJSON *block)
{
	char *text = ag_media_text(run, block);
	size_t end = 0;
	for (int i = 0; text && text[end] && i < FILE_TEXT; i++)
		end += utf8_sequence(text + end, strlen(text + end));
	if (text) {
		buf_puts(line, ": ");
		buf_add(line, text, end);
	}
	free(text);
}

static ag_result do_files(struct demo *d)
{
	struct buf lines = {0};
	const cJSON *block;
	cJSON_ArrayForEach(block, json_get(last_user_message(d->state), "content")) {
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
		add_extract(&lines, d->run, block);
	}
	ag_result result = say(d, "", lines.len ? buf_str(&lines) : "none");
	buf_release(&lines);
	return result;
}

static ag_result do_whoami(struct demo *d)
{
	const char *id = json_str(json_get(ag_config(d->run), "user"), "user_id");
	return say(d, "", id ? id : "anonymous");
}

static const struct {
	const char *name;
	ag_result (*run)(struct demo *d);
} commands[] = {
    {"/add", do_add},
    {"/fail-tool", do_fail_tool},
    {"/remote", do_remote},
    {"/ask", do_ask},
    {"/slow", do_slow},
    {"/loop", do_loop},
    {"/error", do_error},
    {"/think", do_think},
    {"/note", do_note},
    {"/context", do_context},
    {"/files", do_files},
    {"/whoami", do_whoami},
};

/* ---- after a tool message ---- */

/* The latest message of an array that asks for tools, or NULL. */
static const cJSON *asking_message(const cJSON *messages)
{
	const cJSON *message, *found = NULL;
	cJSON_ArrayForEach(message, messages) {
		if (message_has_calls(message))
			found = message;
	}
	return found;
}

static void add_output(struct buf *out, const cJSON *output)
{
	if (cJSON_IsString(output)) {
		buf_puts(out, output->valuestring);
		return;
	}
	char *text = json_print(output);
	buf_puts(out, text);
	cJSON_free(text);
}

static const char *result_prefix(const cJSON *call, const cJSON *result)
{
	if (block_is(call, "remote_tool_call"))
		return "remote: ";
	return cJSON_IsTrue(json_get(result, "is_error")) ? "tool failed: " : "sum: ";
}

/* The result of a call among the messages after the one that asked; NULL when there is none. */
static const cJSON *find_result(const cJSON *asking, const char *call_id)
{
	const cJSON *block;
	for (const cJSON *message = asking->next; message; message = message->next) {
		cJSON_ArrayForEach(block, json_get(message, "content")) {
			const char *id = json_str(block, "call_id");
			if (block_is(block, "tool_result") && id && strcmp(id, call_id) == 0)
				return block;
		}
	}
	return NULL;
}

/* The results in the order of the calls.  The history is read only when an earlier run asked. */
static ag_result answer_results(struct demo *d)
{
	const cJSON *asking = asking_message(run_messages(d->run)), *call;
	const char *prefix = NULL;
	struct buf outputs = {0};
	if (!asking)
		asking = asking_message(ag_context(d->state));
	cJSON_ArrayForEach(call, json_get(asking, "content")) {
		const cJSON *result =
		    block_is_call(call) ? find_result(asking, json_str(call, "id")) : NULL;
		if (!result)
			continue;
		buf_puts(&outputs, prefix ? ", " : "");
		prefix = prefix ? prefix : result_prefix(call, result);
		add_output(&outputs, json_get(result, "output"));
	}
	ag_result result = say(d, prefix ? prefix : "", buf_str(&outputs));
	buf_release(&outputs);
	return result;
}

/*
 * Whether a tool message came after the last assistant message of this run: then its result is what
 * to act on, whatever user message came with it.  In a new turn, tool messages before the user's
 * only close calls that were never answered.
 */
static bool has_results(ag_run *run)
{
	const cJSON *message;
	bool found = false, new_turn = run_is_new_turn(run);
	cJSON_ArrayForEach(message, run_messages(run)) {
		bool ends = new_turn || message_is(message, "assistant");
		found = message_is(message, "tool") || (found && !ends);
	}
	return found;
}

/* A node that runs again after a pause acts on the command that paused it, not on what came with
 * the answer. */
static const char *paused_command(ag_run *run, const ag_state *state)
{
	int own = cJSON_GetArraySize(run_messages(run));
	int left = cJSON_GetArraySize(ag_context(state)) - own;
	const cJSON *message, *found = NULL;
	cJSON_ArrayForEach(message, ag_context(state)) {
		if (left-- > 0 && message_is(message, "user"))
			found = message;
	}
	char *text = ag_message_text(found);
	arena_defer(run_arena(run), free, text);
	return text;
}

static bool is_command(const char *text, const char *name)
{
	size_t len = strlen(name);
	return strncmp(text, name, len) == 0 && (!text[len] || strchr(WHITE, text[len]));
}

static ag_result agent_node(ag_run *run, const ag_state *state, void *data)
{
	bool again = ag_answers(run) != NULL;
	struct demo d = {run, state, again ? paused_command(run, state) : ag_user_text(state), ""};
	(void)data;
	if (!again && has_results(run))
		return answer_results(&d);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (!is_command(d.text, commands[i].name))
			continue;
		d.rest = d.text + strlen(commands[i].name);
		d.rest += strspn(d.rest, WHITE);
		return commands[i].run(&d);
	}
	return say(&d, "echo: ", d.text);
}

/* To the tools after a call, back to the agent while a slow or endless command goes on, else to the
 * end. */
static const char *agent_route(const ag_state *state, void *data)
{
	const cJSON *last = ag_last_message(state);
	(void)data;
	if (message_has_calls(last))
		return "tools";
	char *said = ag_message_text(last);
	const char *asked = ag_user_text(state);
	bool again = (is_command(asked, "/slow") && strncmp(said, "tick ", 5) == 0) ||
	    (is_command(asked, "/loop") && strcmp(said, "again") == 0);
	free(said);
	return again ? "agent" : AG_END;
}

static ag_result tool_add(ag_run *run, const cJSON *args, cJSON **output, void *data)
{
	const cJSON *a = json_get(args, "a"), *b = json_get(args, "b");
	int64_t x, y, sum;
	double u, v;
	(void)data;
	if (json_integer(a, &x) && json_integer(b, &y) && !__builtin_add_overflow(x, y, &sum)) {
		*output = json_new_int(sum);
		return AG_OK;
	}
	if (!json_number(a, &u) || !json_number(b, &v))
		return ag_fail(run, "a and b must be numbers");
	*output = json_new_double(u + v);
	return AG_OK;
}

static ag_result tool_fail(ag_run *run, const cJSON *args, cJSON **output, void *data)
{
	(void)args, (void)output, (void)data;
	return ag_fail(run, "demo failure");
}

void graph_demo_add(ag_graph *graph, const char *node)
{
	ag_graph_tool(graph, node, "add", "Adds two numbers",
	    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"number\"},\"b\":{\"type\":"
	    "\"number\"}},\"required\":[\"a\",\"b\"]}",
	    tool_add, NULL);
}

int graph_demo(ag_graph *graph)
{
	static const char *const targets[] = {"tools", "agent", AG_END, NULL};
	ag_graph_state_type(graph, "DemoState");
	ag_graph_field(graph, "notes", "array", AG_APPEND, NULL, "What /note was told");
	ag_graph_node(graph, "agent", agent_node, NULL);
	ag_graph_tools(graph, "tools");
	graph_demo_add(graph, "tools");
	ag_graph_tool(graph, "tools", "fail", "Always fails", NULL, tool_fail, NULL);
	ag_graph_edge(graph, AG_START, "agent");
	ag_graph_branch(graph, "agent", agent_route, NULL, targets);
	ag_graph_edge(graph, "tools", "agent");
	return 0;
}
