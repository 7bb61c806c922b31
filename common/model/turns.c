/* Messages in an order that every provider takes. */
#include "base/json.h"
#include "base/memory.h"
#include "model/provider.h"

#include <stdlib.h>
#include <string.h>

bool chat_block_is(const cJSON *block, const char *type)
{
	const char *own = json_str(block, "type");
	return own && strcmp(own, type) == 0;
}

bool chat_block_is_call(const cJSON *block)
{
	return chat_block_is(block, "tool_call") || chat_block_is(block, "remote_tool_call");
}

bool chat_block_is_media(const cJSON *block)
{
	return chat_block_is(block, "image") || chat_block_is(block, "audio") ||
	    chat_block_is(block, "video") || chat_block_is(block, "document") ||
	    chat_block_is(block, "data");
}

static enum chat_role role_of(const cJSON *message)
{
	const char *role = json_str(message, "role");
	if (role && strcmp(role, "assistant") == 0)
		return ROLE_ASSISTANT;
	if (role && strcmp(role, "system") == 0)
		return ROLE_SYSTEM;
	return role && strcmp(role, "tool") == 0 ? ROLE_TOOL : ROLE_USER;
}

static struct chat_turn *add_turn(struct chat_turns *turns, enum chat_role role)
{
	if ((turns->count & (turns->count + 1)) == 0)
		turns->items =
		    xrealloc(turns->items, (turns->count * 2 + 1) * sizeof(*turns->items));
	turns->items[turns->count] = (struct chat_turn){.role = role};
	return &turns->items[turns->count++];
}

static void add_block(struct chat_turn *turn, const cJSON *block)
{
	if ((turn->count & (turn->count + 1)) == 0)
		turn->blocks = xrealloc(turn->blocks, (turn->count * 2 + 1) * sizeof(cJSON *));
	turn->blocks[turn->count++] = block;
}

/* ---- Results */

/* A result of the conversation.  In order of their calls' ids, so that a long one is looked through
 * once. */
struct result {
	const char *call_id;
	size_t at, place; /* its message, and its number among all results */
	const cJSON *block;
};

struct results {
	struct result *items;
	size_t count;
};

static int by_call_and_place(const void *a, const void *b)
{
	const struct result *x = a, *y = b;
	int order = strcmp(x->call_id, y->call_id);
	if (order == 0)
		order = (x->at > y->at) - (x->at < y->at);
	return order ? order : (x->place > y->place) - (x->place < y->place);
}

static void note_results(struct results *results, const cJSON *message, size_t at)
{
	const cJSON *block;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		const char *id = json_str(block, "call_id");
		size_t place = results->count;
		if (!id || !chat_block_is(block, "tool_result"))
			continue;
		if ((place & (place + 1)) == 0)
			results->items =
			    xrealloc(results->items, (place * 2 + 1) * sizeof(*results->items));
		results->items[results->count++] = (struct result){id, at, place, block};
	}
}

static void results_init(struct results *results, const cJSON *messages)
{
	const cJSON *message;
	size_t at = 0;
	*results = (struct results){0};
	cJSON_ArrayForEach(message, messages)
		note_results(results, message, at++);
	if (results->count)
		qsort(results->items, results->count, sizeof(*results->items), by_call_and_place);
}

/* The first result for a call in the messages after that one, or NULL. */
static const cJSON *find_result(const struct results *results, size_t after, const char *call_id)
{
	const struct result wanted = {call_id, after + 1, 0, NULL};
	size_t low = 0, high = results->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (by_call_and_place(&results->items[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	bool found = low < results->count && strcmp(results->items[low].call_id, call_id) == 0;
	return found ? results->items[low].block : NULL;
}

/* What a model is told of a call whose run was stopped, or that nobody has answered. */
static const cJSON *make_result(struct chat_turns *turns, const char *call_id)
{
	cJSON *block = cJSON_CreateObject();
	if (!turns->made_up)
		turns->made_up = cJSON_CreateArray();
	cJSON_AddItemToArray(turns->made_up, block);
	json_add_str(block, "type", "tool_result");
	json_add_str(block, "call_id", call_id);
	json_add_str(block, "output", "There is no result: the call was not run.");
	cJSON_AddTrueToObject(block, "is_error");
	return block;
}

static void add_results(struct chat_turns *turns, const struct chat_turn *calls,
    const struct results *results, size_t at)
{
	const cJSON **blocks = calls->blocks; /* turns->items may move */
	size_t count = calls->count;
	struct chat_turn *turn = NULL;
	for (size_t i = 0; i < count; i++) {
		const char *id = json_str(blocks[i], "id");
		if (!chat_block_is_call(blocks[i]) || !id)
			continue;
		if (!turn)
			turn = add_turn(turns, ROLE_TOOL);
		const cJSON *result = find_result(results, at, id);
		add_block(turn, result ? result : make_result(turns, id));
	}
}

/* ---- Turns */

/* What is worth sending: results have a turn of their own. */
static bool has_place(enum chat_role role, const cJSON *block)
{
	const char *text = json_str(block, "text");
	if (chat_block_is(block, "text"))
		return text && *text;
	if (role == ROLE_ASSISTANT)
		return chat_block_is_call(block) || chat_block_is(block, "reasoning") ||
		    chat_block_is_media(block);
	return role == ROLE_USER && chat_block_is_media(block);
}

static void add_message(
    struct chat_turns *turns, const cJSON *message, const struct results *results, size_t at)
{
	enum chat_role role = role_of(message);
	struct chat_turn *turn = NULL;
	const cJSON *block;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		if (role == ROLE_TOOL || !has_place(role, block))
			continue;
		if (!turn)
			turn = add_turn(turns, role);
		add_block(turn, block);
	}
	if (turn && role == ROLE_ASSISTANT)
		add_results(turns, turn, results, at);
}

void chat_turns_init(struct chat_turns *turns, const cJSON *messages)
{
	const cJSON *message;
	struct results results;
	size_t at = 0;
	*turns = (struct chat_turns){0};
	results_init(&results, messages);
	cJSON_ArrayForEach(message, messages)
		add_message(turns, message, &results, at++);
	free(results.items);
}

void chat_turns_release(struct chat_turns *turns)
{
	for (size_t i = 0; i < turns->count; i++)
		free(turns->items[i].blocks);
	free(turns->items);
	cJSON_Delete(turns->made_up);
}
