/* SPDX-License-Identifier: ISC */
/* What the requests to all providers have in common. */
#include "base/json/json.h"
#include "base/memory.h"
#include "model/provider.h"

#include <stdlib.h>
#include <string.h>

void chat_copy_setting(const struct chat_build *b, const char *key, cJSON *to, const char *name)
{
	const cJSON *value = json_opt(b->target->settings, key);
	if (value)
		cJSON_AddItemToObject(to, name, cJSON_Duplicate(value, true));
}

char *chat_output_text(const cJSON *block)
{
	const cJSON *output = json_get(block, "output");
	if (cJSON_IsString(output))
		return xstrdup(output->valuestring);
	return output ? json_print(output) : xstrdup("");
}

const cJSON *chat_details(const cJSON *block)
{
	const cJSON *details = json_get(block, "details");
	return details ? details->child : NULL;
}

cJSON *chat_details_next(const cJSON **at, const char *provider)
{
	while (*at) {
		const cJSON *item = *at;
		*at = item->next;
		if (!cJSON_IsString(item))
			continue;
		cJSON *detail = json_parse(
		    item->valuestring, strlen(item->valuestring), JSON_REQUEST_DEPTH, NULL);
		if (json_str_is(detail, "provider", provider))
			return detail;
		cJSON_Delete(detail);
	}
	return NULL;
}

cJSON *chat_parts_for(cJSON *list, const char *role, const char *name)
{
	cJSON *last = json_last(list);
	if (json_str_is(last, "role", role))
		return json_get(last, name);
	cJSON *message = json_append(list, cJSON_CreateObject());
	json_add_str(message, "role", role);
	return cJSON_AddArrayToObject(message, name);
}

/* ---- The body */

/* The system prompt; joined with the system messages where the provider takes these only before all
 * others. */
static char *request_system_text(
    const struct chat_target *t, const struct chat_request *request, const struct chat_turns *turns)
{
	struct buf text = {0};
	buf_puts(&text, request->system ? request->system : "");
	for (size_t i = 0; t->provider->user_first_and_last && i < turns->count; i++) {
		const struct chat_turn *turn = &turns->items[i];
		for (size_t j = 0; turn->role == ROLE_SYSTEM && j < turn->count; j++) {
			buf_puts(&text, text.len ? "\n\n" : "");
			buf_puts(&text, json_str(turn->blocks[j], "text"));
		}
	}
	return buf_detach(&text);
}

static void request_apply_extra(cJSON *body, const cJSON *extra)
{
	const cJSON *member;
	cJSON_ArrayForEach(member, extra) {
		cJSON *own = json_get(body, member->string);
		if (cJSON_IsNull(member))
			cJSON_DeleteItemFromObjectCaseSensitive(body, member->string);
		else if (cJSON_IsObject(own) && cJSON_IsObject(member))
			request_apply_extra(own, member);
		else
			json_set(body, member->string, cJSON_Duplicate(member, true));
	}
}

cJSON *chat_request_names(const struct chat_request *request)
{
	cJSON *tools = cJSON_CreateArray();
	for (size_t i = 0; i < request->tool_count; i++)
		json_add_str(
		    json_append(tools, cJSON_CreateObject()), "name", request->tools[i].name);
	cJSON *names = chat_names_new(tools);
	cJSON_Delete(tools);
	return names;
}

/* Replaces calls of tools whose names are not sent as they are. */
static void request_name_calls(struct chat_turn *turn, cJSON *made_up, const cJSON *names)
{
	char room[CHAT_NAME_SIZE];
	for (size_t i = 0; i < turn->count; i++) {
		const cJSON *call = turn->blocks[i];
		const char *own = chat_block_is_call(call) ? json_str(call, "name") : NULL;
		const char *sent = own ? chat_name_sent(names, own, room) : NULL;
		if (sent == own)
			continue;
		cJSON *named = json_append(made_up, json_typed("tool_call"));
		json_add_str(named, "name", sent);
		json_refer(named, "id", json_get(call, "id"));
		json_refer(named, "args", json_get(call, "args"));
		turn->blocks[i] = named;
	}
}

char *chat_request_body(
    const struct chat_target *t, const struct chat_request *request, char **problem)
{
	struct chat_tool *tools = xcalloc(request->tool_count + 1, sizeof(*tools));
	struct chat_request sent = *request;
	cJSON *names = chat_request_names(request);
	char room[CHAT_NAME_SIZE];
	for (size_t i = 0; i < request->tool_count; i++) {
		tools[i] = request->tools[i];
		tools[i].name = chat_name_sent(names, tools[i].name, room);
	}
	sent.tools = tools;
	if (request->tool_name)
		sent.tool_name = chat_name_sent(names, request->tool_name, room);
	struct chat_turns turns;
	chat_turns_init(
	    &turns, request->messages, !cJSON_IsFalse(json_opt(t->settings, "tool_images")));
	for (size_t i = 0; i < turns.count; i++)
		request_name_calls(&turns.items[i], turns.made_up, names);
	char *system = request_system_text(t, request, &turns), *text = NULL;
	struct chat_build b = {
	    .target = t, .request = &sent, .turns = &turns, .system = system, .problem = problem};
	cJSON *body = cJSON_CreateObject();
	*problem = NULL;
	b.media = chat_media_list_new(&b);
	if (!*problem)
		t->provider->build(&b, body);
	chat_media_list_free(b.media);
	if (!*problem) {
		request_apply_extra(body, json_opt(t->settings, "extra"));
		text = json_print(body);
	}
	cJSON_Delete(body);
	free(system);
	chat_turns_release(&turns);
	free(tools);
	cJSON_Delete(names);
	return text;
}
