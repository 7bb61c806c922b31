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

char *chat_request_body(
    const struct chat_target *t, const struct chat_request *request, char **problem)
{
	struct chat_turns turns;
	chat_turns_init(
	    &turns, request->messages, !cJSON_IsFalse(json_opt(t->settings, "tool_images")));
	char *system = request_system_text(t, request, &turns), *text = NULL;
	struct chat_build b = {t, request, &turns, system, NULL, problem};
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
	return text;
}
