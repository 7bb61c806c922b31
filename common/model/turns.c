/* SPDX-License-Identifier: ISC */
/* Messages in an order that every provider takes. */
#include "base/json/json.h"
#include "base/memory.h"
#include "base/texts.h"
#include "model/provider.h"

#include <stdlib.h>
#include <string.h>

bool chat_block_is(const cJSON *block, const char *type)
{
	return json_str_is(block, "type", type);
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

static struct chat_turn *turns_add_turn(struct chat_turns *turns, enum chat_role role)
{
	turns->items = xgrow(turns->items, turns->count, sizeof(*turns->items));
	turns->items[turns->count] = (struct chat_turn){.role = role};
	return &turns->items[turns->count++];
}

static void turns_add_block(struct chat_turn *turn, const cJSON *block)
{
	turn->blocks = xgrow(turn->blocks, turn->count, sizeof(cJSON *));
	turn->blocks[turn->count++] = block;
}

/* ---- Results */

/* A call or a result of the conversation.  They are sorted by the calls' ids, so that a long
 * conversation is looked through once. */
struct result {
	const char *call_id;
	size_t at, place;   /* the number of its message, and its own among all calls and results */
	const cJSON *block; /* NULL of a call */
	size_t taken;       /* how many results from this one on were given to calls */
};

struct results {
	struct result *items;
	size_t count;
};

static int turns_by_call_and_place(const void *a, const void *b)
{
	const struct result *x = a, *y = b;
	int order = strcmp(x->call_id, y->call_id);
	if (order == 0)
		order = (x->at > y->at) - (x->at < y->at);
	return order ? order : (x->place > y->place) - (x->place < y->place);
}

static void results_init(struct results *results, const cJSON *messages)
{
	const cJSON *message, *block;
	size_t at = 0;
	*results = (struct results){0};
	cJSON_ArrayForEach(message, messages) {
		cJSON_ArrayForEach(block, json_get(message, "content")) {
			bool is_call = chat_block_is_call(block);
			const char *id = json_str(block, is_call ? "id" : "call_id");
			size_t place = results->count;
			if (!id || (!is_call && !chat_block_is(block, "tool_result")))
				continue;
			results->items =
			    xgrow(results->items, results->count, sizeof(*results->items));
			results->items[results->count++] = (struct result){.call_id = id,
			    .at = at,
			    .place = place,
			    .block = is_call ? NULL : block};
		}
		at++;
	}
	if (results->count)
		qsort(results->items, results->count, sizeof(*results->items),
		    turns_by_call_and_place);
}

/* The result of a call of message `after`: the first that no call has yet, in the messages behind
 * it and before the next call of that id; or NULL. */
static const cJSON *turns_take_result(
    const struct results *results, size_t after, const char *call_id)
{
	const struct result wanted = {.call_id = call_id, .at = after + 1};
	size_t low = 0, high = results->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (turns_by_call_and_place(&results->items[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	size_t next = low < results->count ? low + results->items[low].taken : low;
	if (next >= results->count || strcmp(results->items[next].call_id, call_id) != 0 ||
	    !results->items[next].block)
		return NULL;
	results->items[low].taken++;
	return results->items[next].block;
}

/* ---- Images in results */

/* Bytes of base64; some providers refuse more in one image, and then all of the request. */
#define IMAGE_MOST ((size_t)5 << 20)

/* An image as tools of MCP servers have it, of a type that all providers take. */
static bool turns_is_image(const cJSON *item)
{
	static const char *const types[] = {
	    "image/png", "image/jpeg", "image/gif", "image/webp", NULL};
	const char *data = json_str(item, "data_base64"), *type = json_str(item, "mime_type");
	return chat_block_is(item, "image") && data && strlen(data) <= IMAGE_MOST &&
	    texts_has(types, type);
}

/* The result without the data of its images, which are added to images and counted in *count; the
 * result itself when it has none. */
static const cJSON *turns_take_images(
    struct chat_turns *turns, const cJSON *result, cJSON *images, int64_t *count)
{
	const cJSON *output = json_get(result, "output"), *item;
	int64_t before = *count;
	if (!turns->images || !cJSON_IsArray(output))
		return result;
	cJSON *rest = cJSON_CreateArray();
	cJSON_ArrayForEach(item, output) {
		if (!turns_is_image(item)) {
			cJSON_AddItemReferenceToArray(rest, (cJSON *)item);
			continue;
		}
		cJSON *named = json_append(rest, json_typed("image"));
		json_add_str(named, "mime_type", json_str(item, "mime_type"));
		/* as a block of a message; its data is large and stays where it is */
		cJSON *image = json_append(images, json_typed("image"));
		cJSON *media = cJSON_AddObjectToObject(image, "media");
		json_refer(media, "mime_type", json_get(item, "mime_type"));
		json_refer(media, "data_base64", json_get(item, "data_base64"));
		json_add_int(named, "image", ++*count);
	}
	if (*count == before) {
		cJSON_Delete(rest);
		return result;
	}
	cJSON *block = cJSON_CreateObject();
	cJSON_AddItemToArray(turns->made_up, block);
	json_add_str(block, "type", "tool_result");
	json_add_str(block, "call_id", json_str(result, "call_id"));
	cJSON_AddItemToObject(block, "output", rest);
	cJSON_AddBoolToObject(block, "is_error", cJSON_IsTrue(json_get(result, "is_error")));
	return block;
}

static void turns_add_results(struct chat_turns *turns, const struct chat_turn *calls,
    const struct results *results, size_t at)
{
	const cJSON **blocks = calls->blocks; /* turns->items may move */
	size_t count = calls->count;
	struct chat_turn *turn = NULL;
	cJSON *images = cJSON_CreateArray();
	int64_t shown = 0;
	for (size_t i = 0; i < count; i++) {
		const char *id = json_str(blocks[i], "id");
		if (!chat_block_is_call(blocks[i]) || !id)
			continue;
		if (!turn)
			turn = turns_add_turn(turns, ROLE_TOOL);
		const cJSON *result = turns_take_result(results, at, id);
		if (result) {
			turns_add_block(turn, turns_take_images(turns, result, images, &shown));
			continue;
		}
		/* its run was stopped, or nobody has answered it */
		cJSON *none = json_append(turns->made_up, json_typed("tool_result"));
		json_add_str(none, "call_id", id);
		json_add_str(none, "output", "There is no result: the call was not run.");
		cJSON_AddTrueToObject(none, "is_error");
		turns_add_block(turn, none);
	}
	/* the images follow as what a user shows: every provider takes them there */
	if (images->child) {
		cJSON *text = json_append(turns->made_up, json_typed("text"));
		json_add_str(text, "text", "The images of the results, by their numbers:");
		turn = turns_add_turn(turns, ROLE_USER);
		turn->of_results = true;
		turns_add_block(turn, text);
		while (images->child) {
			cJSON *image = cJSON_DetachItemViaPointer(images, images->child);
			turns_add_block(turn, json_append(turns->made_up, image));
		}
	}
	cJSON_Delete(images);
}

/* ---- Turns */

/* Whether the block is sent in a turn of that role; results have a turn of their own. */
static bool turns_has_place(enum chat_role role, const cJSON *block)
{
	const char *text = json_str(block, "text");
	if (chat_block_is(block, "text"))
		return text && *text;
	if (role == ROLE_ASSISTANT)
		return chat_block_is_call(block) || chat_block_is(block, "reasoning") ||
		    chat_block_is_media(block);
	return role == ROLE_USER && chat_block_is_media(block);
}

void chat_turns_init(struct chat_turns *turns, const cJSON *messages, bool images)
{
	const cJSON *message, *block;
	struct results results;
	size_t at = 0;
	*turns = (struct chat_turns){.images = images, .made_up = cJSON_CreateArray()};
	results_init(&results, messages);
	cJSON_ArrayForEach(message, messages) {
		enum chat_role role = json_str_is(message, "role", "assistant") ? ROLE_ASSISTANT
		    : json_str_is(message, "role", "system")                    ? ROLE_SYSTEM
		    : json_str_is(message, "role", "tool")                      ? ROLE_TOOL
										: ROLE_USER;
		struct chat_turn *turn = NULL;
		cJSON_ArrayForEach(block, json_get(message, "content")) {
			if (role == ROLE_TOOL || !turns_has_place(role, block))
				continue;
			if (!turn)
				turn = turns_add_turn(turns, role);
			turns_add_block(turn, block);
		}
		if (turn && role == ROLE_ASSISTANT)
			turns_add_results(turns, turn, &results, at);
		at++;
	}
	free(results.items);
}

void chat_turns_release(struct chat_turns *turns)
{
	for (size_t i = 0; i < turns->count; i++)
		free(turns->items[i].blocks);
	free(turns->items);
	cJSON_Delete(turns->made_up);
}
