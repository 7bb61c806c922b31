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

/* The first result for a call in the messages from this one on, or NULL. */
static const cJSON *find_result(const cJSON *message, const char *call_id)
{
	for (; message; message = message->next) {
		const cJSON *block;
		cJSON_ArrayForEach(block, json_get(message, "content")) {
			const char *id = json_str(block, "call_id");
			if (id && chat_block_is(block, "tool_result") && strcmp(id, call_id) == 0)
				return block;
		}
	}
	return NULL;
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

static void add_results(struct chat_turns *turns, const struct chat_turn *calls, const cJSON *later)
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
		const cJSON *result = find_result(later, id);
		add_block(turn, result ? result : make_result(turns, id));
	}
}

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

static void add_message(struct chat_turns *turns, const cJSON *message)
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
		add_results(turns, turn, message->next);
}

void chat_turns_init(struct chat_turns *turns, const cJSON *messages)
{
	const cJSON *message;
	*turns = (struct chat_turns){0};
	cJSON_ArrayForEach(message, messages)
		add_message(turns, message);
}

void chat_turns_release(struct chat_turns *turns)
{
	for (size_t i = 0; i < turns->count; i++)
		free(turns->items[i].blocks);
	free(turns->items);
	cJSON_Delete(turns->made_up);
}
