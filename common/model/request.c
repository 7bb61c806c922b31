/* SPDX-License-Identifier: ISC */
/* What the requests to all providers have in common. */
#include "base/base64.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "model/provider.h"

#include <stdlib.h>
#include <string.h>

#define MAX_MEDIA ((size_t)256 << 20)

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

/* ---- Media */

/* The name that a media object or block goes by in texts; never NULL. */
static const char *request_media_name(const cJSON *media)
{
	const char *names[] = {
	    json_str(media, "filename"), json_str(media, "url"), json_str(media, "file_id")};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i] && *names[i])
			return names[i];
	return "unnamed";
}

/* Asks the caller for a stored file; one that cannot be had is named to the model. */
static bool request_file(
    const struct chat_build *b, const cJSON *media, struct chat_part_media *out)
{
	struct chat_media file = {0};
	if (!b->request->media) {
		out->kind = MEDIA_TEXT;
		out->text = xasprintf("[file %s]", out->filename);
		return true;
	}
	bool found = b->request->media(media, &file, b->request->arg);
	bool usable = found && file.len <= MAX_MEDIA && (file.data || file.text);
	if (usable) {
		out->kind = file.text ? MEDIA_TEXT : MEDIA_BYTES;
		out->text = file.text ? xstrdup(file.text) : base64_encode(file.data, file.len);
	} else if (!*b->problem) {
		*b->problem = xasprintf("the file %s cannot be %s", request_media_name(media),
		    found ? "sent" : "found");
	}
	if (usable && file.mime_type) {
		free(out->mime_type);
		out->mime_type = xstrdup(file.mime_type);
	}
	if (usable && file.filename) {
		free(out->filename);
		out->filename = xstrdup(file.filename);
	}
	free(file.data);
	free(file.mime_type);
	free(file.text);
	free(file.filename);
	return usable;
}

bool chat_media_get(const struct chat_build *b, const cJSON *block, struct chat_part_media *out)
{
	const cJSON *media = json_opt(block, "media");
	const char *data = json_str(media, "data_base64"), *url = json_str(media, "url");
	const char *mime_type = json_str(media, "mime_type");
	*out = (struct chat_part_media){.mime_type = xstrdup(mime_type ? mime_type : ""),
	    .filename = xstrdup(request_media_name(media))};
	if (json_str(media, "file_id")) {
		if (request_file(b, media, out))
			return true;
		chat_media_free(out);
		return false;
	}
	out->kind = data ? MEDIA_BYTES : MEDIA_URL;
	out->text = xstrdup(data ? data : url ? url : "");
	return true;
}

void chat_media_free(struct chat_part_media *media)
{
	free(media->text);
	free(media->mime_type);
	free(media->filename);
}

char *chat_media_note(const cJSON *block, const struct chat_part_media *media)
{
	if (media->kind == MEDIA_TEXT)
		return xasprintf("%s:\n%s", media->filename, media->text);
	const char *type = json_str(block, "type");
	return xasprintf("[%s %s%s%s: this model cannot read it]", type ? type : "file",
	    media->filename, *media->mime_type ? ", " : "", media->mime_type);
}

/* ---- The body */

/* Where the provider takes system messages only before all others, they are joined there. */
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
	struct chat_build b = {t, request, &turns, system, problem};
	cJSON *body = cJSON_CreateObject();
	*problem = NULL;
	t->provider->build(&b, body);
	if (!*problem) {
		request_apply_extra(body, json_opt(t->settings, "extra"));
		text = json_print(body);
	}
	cJSON_Delete(body);
	free(system);
	chat_turns_release(&turns);
	return text;
}
