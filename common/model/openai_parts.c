/* SPDX-License-Identifier: ISC */
/* Parts of requests that OpenAI's two interfaces have in common. */
#include "model/openai_parts.h"

#include "base/json/json.h"
#include "base/memory.h"

#include <string.h>

char *openai_address(const char *base_url, const char *path)
{
	size_t len = strcspn(base_url, "?"); /* Azure's has a query */
	return xasprintf("%.*s/%s%s", (int)len, base_url, path, base_url + len);
}

char *openai_data_url(const struct chat_part_media *media, const char *fallback)
{
	if (media->kind == MEDIA_URL)
		return xstrdup(media->text);
	return xasprintf(
	    "data:%s;base64,%s", *media->mime_type ? media->mime_type : fallback, media->text);
}

char *openai_turn_text(const struct chat_turn *turn)
{
	struct buf text = {0};
	for (size_t i = 0; i < turn->count; i++) {
		if (!chat_block_is(turn->blocks[i], "text"))
			continue;
		buf_puts(&text, text.len ? "\n" : "");
		buf_puts(&text, json_str(turn->blocks[i], "text"));
	}
	return text.len ? buf_detach(&text) : NULL;
}

bool openai_turn_is_plain(const struct chat_turn *turn)
{
	for (size_t i = 0; i < turn->count; i++)
		if (!chat_block_is(turn->blocks[i], "text"))
			return false;
	return true;
}

size_t openai_at_work(const struct chat_turns *turns)
{
	size_t i = turns->count;
	while (i > 0 && (turns->items[i - 1].role != ROLE_USER || turns->items[i - 1].of_results))
		i--;
	return i;
}

void openai_add_function(cJSON *to, const struct chat_tool *tool)
{
	json_add_str(to, "name", tool->name);
	if (tool->description)
		json_add_str(to, "description", tool->description);
	cJSON *schema =
	    tool->parameters ? cJSON_Duplicate(tool->parameters, true) : cJSON_CreateObject();
	json_add(to, "parameters", schema);
	if (!tool->parameters) {
		json_add_str(schema, "type", "object");
		cJSON_AddObjectToObject(schema, "properties");
	}
}

cJSON *openai_add_choice(const struct chat_request *request, cJSON *body)
{
	static const char *const words[] = {[CHAT_TOOLS_AUTO] = NULL,
	    [CHAT_TOOLS_NONE] = "none",
	    [CHAT_TOOLS_REQUIRED] = "required",
	    [CHAT_TOOLS_NAMED] = NULL};
	if (words[request->choice])
		json_add_str(body, "tool_choice", words[request->choice]);
	if (request->choice != CHAT_TOOLS_NAMED)
		return NULL;
	cJSON *choice = cJSON_AddObjectToObject(body, "tool_choice");
	json_add_str(choice, "type", "function");
	return choice;
}

void openai_add_schema(const struct chat_build *b, cJSON *to)
{
	const cJSON *format = json_get(b->target->settings, "response_format");
	const char *name = json_str(format, "name");
	json_add_str(to, "name", name ? name : "answer");
	cJSON_AddItemToObject(to, "schema", cJSON_Duplicate(json_get(format, "schema"), true));
	if (cJSON_IsBool(json_opt(format, "strict")))
		cJSON_AddBoolToObject(to, "strict", cJSON_IsTrue(json_get(format, "strict")));
}
