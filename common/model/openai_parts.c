/* SPDX-License-Identifier: ISC */
/* Parts of requests that OpenAI's two interfaces have in common. */
#include "model/openai_parts.h"

#include "base/json/json.h"
#include "base/memory.h"

#include <stdlib.h>
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

void openai_add_text(cJSON *message, const struct chat_turn *turn)
{
	struct buf text = {0};
	for (size_t i = 0; i < turn->count; i++) {
		if (!chat_block_is(turn->blocks[i], "text"))
			continue;
		buf_puts(&text, text.len ? "\n" : "");
		buf_puts(&text, json_str(turn->blocks[i], "text"));
	}
	json_add_str(message, "content", text.len ? buf_str(&text) : NULL);
	buf_release(&text);
}

/* Adds the content of a user's message: where it is only text it is one string, which every server
 * takes. */
static void openai_add_user(const struct chat_build *b, cJSON *message,
    const struct chat_turn *turn, const struct openai_form *form)
{
	size_t texts = 0;
	while (texts < turn->count && chat_block_is(turn->blocks[texts], "text"))
		texts++;
	if (texts == turn->count) {
		openai_add_text(message, turn);
		return;
	}
	cJSON *parts = cJSON_AddArrayToObject(message, "content");
	for (size_t i = 0; i < turn->count; i++) {
		const cJSON *block = turn->blocks[i];
		if (!chat_block_is(block, "text")) {
			form->media(b, parts, block);
			continue;
		}
		cJSON *part = json_append(parts, json_typed(form->text_part));
		json_add_str(part, "text", json_str(block, "text"));
	}
}

void openai_add_turns(const struct chat_build *b, cJSON *list, const struct openai_form *form)
{
	const struct chat_turns *turns = b->turns;
	size_t at_work = turns->count;
	while (at_work > 0 &&
	    (turns->items[at_work - 1].role != ROLE_USER || turns->items[at_work - 1].of_results))
		at_work--;
	for (size_t i = 0; i < turns->count; i++) {
		const struct chat_turn *turn = &turns->items[i];
		switch (turn->role) {
		case ROLE_SYSTEM:
			openai_add_text(form->message(list, "system"), turn);
			break;
		case ROLE_USER:
			openai_add_user(b, form->message(list, "user"), turn, form);
			break;
		case ROLE_ASSISTANT:
			form->assistant(b->target, list, turn, i >= at_work);
			break;
		case ROLE_TOOL:
			for (size_t k = 0; k < turn->count; k++) {
				char *text = chat_output_text(turn->blocks[k]);
				form->result(list, json_str(turn->blocks[k], "call_id"), text);
				free(text);
			}
			break;
		}
	}
}

static void openai_add_function(cJSON *to, const struct chat_tool *tool)
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

/* The responses take functions as strict unless they say that they are not; then a schema with an
 * optional member is refused. */
void openai_add_tools(const struct chat_build *b, cJSON *body, const struct openai_form *form)
{
	static const char *const words[] = {[CHAT_TOOLS_AUTO] = NULL,
	    [CHAT_TOOLS_NONE] = "none",
	    [CHAT_TOOLS_REQUIRED] = "required",
	    [CHAT_TOOLS_NAMED] = NULL};
	const struct chat_request *request = b->request;
	if (request->tool_count == 0)
		return;
	cJSON *tools = cJSON_AddArrayToObject(body, "tools");
	for (size_t i = 0; i < request->tool_count; i++) {
		cJSON *tool = json_append(tools, json_typed("function"));
		if (form->apart) {
			openai_add_function(
			    cJSON_AddObjectToObject(tool, "function"), &request->tools[i]);
		} else {
			openai_add_function(tool, &request->tools[i]);
			cJSON_AddFalseToObject(tool, "strict");
		}
	}
	if (words[request->choice])
		json_add_str(body, "tool_choice", words[request->choice]);
	if (request->choice == CHAT_TOOLS_NAMED) {
		cJSON *choice = cJSON_AddObjectToObject(body, "tool_choice");
		json_add_str(choice, "type", "function");
		json_add_str(form->apart ? cJSON_AddObjectToObject(choice, "function") : choice,
		    "name", request->tool_name);
	}
	chat_copy_setting(b, "parallel_tool_calls", body, "parallel_tool_calls");
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
