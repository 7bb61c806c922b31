/* SPDX-License-Identifier: ISC */
/* Putting an answer together, piece by piece or at once. */
#include "base/id.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "model/provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PARTS 4096
#define MAX_BYTES ((size_t)8 << 20)
#define MAX_HELD 4096
#define MAX_SHOWN 1000 /* bytes that are shown of arguments that are no JSON */

void chat_answer_init(
    struct chat_answer *a, const struct chat_target *t, const struct chat_request *request)
{
	*a = (struct chat_answer){
	    .target = t, .request = request, .started = clock_monotonic_ms(), .first_piece_ms = -1};
}

void chat_answer_release(struct chat_answer *a)
{
	for (size_t i = 0; i < a->count; i++) {
		struct chat_part *part = &a->parts[i];
		buf_release(&part->text);
		free(part->id);
		free(part->name);
		cJSON_Delete(part->details);
	}
	buf_release(&a->held);
	cJSON_Delete(a->kept);
	free(a->parts);
	free(a->model);
	free(a->finish);
	free(a->fault);
}

void chat_answer_fault(struct chat_answer *a, enum chat_fault kind, const char *fmt, ...)
{
	if (a->fault)
		return;
	va_list args;
	va_start(args, fmt);
	a->fault = xvasprintf(fmt, args);
	va_end(args);
	a->fault_kind = kind;
}

struct chat_part *chat_answer_part_new(
    struct chat_answer *a, enum chat_part_kind kind, int64_t index)
{
	if (a->count == MAX_PARTS) {
		chat_answer_fault(a, FAULT_STAYS, "wrote more than %d blocks", MAX_PARTS);
		return &a->parts[a->count - 1];
	}
	a->parts = xgrow(a->parts, a->count, sizeof(*a->parts));
	a->parts[a->count] = (struct chat_part){.kind = kind, .index = index};
	return &a->parts[a->count++];
}

struct chat_part *chat_answer_part(struct chat_answer *a, enum chat_part_kind kind, int64_t index)
{
	for (size_t i = a->count; i-- > 0;)
		if (a->parts[i].kind == kind && a->parts[i].index == index)
			return &a->parts[i];
	return chat_answer_part_new(a, kind, index);
}

void chat_answer_hand_on(struct chat_answer *a)
{
	bool (*on_piece)(const char *piece, void *arg) =
	    a->held_kind == PART_TEXT ? a->request->on_text : a->request->on_reasoning;
	if (a->held.len == 0)
		return;
	if (on_piece && !a->unwanted) {
		a->handed_on = true;
		a->unwanted = !on_piece(a->held.data, a->request->arg);
	}
	buf_reset(&a->held);
}

void chat_answer_append(struct chat_answer *a, size_t at, const char *text, size_t len)
{
	struct chat_part *part = &a->parts[at];
	if (len > MAX_BYTES - a->bytes) {
		chat_answer_fault(a, FAULT_STAYS, "wrote too long an answer");
		return;
	}
	a->latest = at;
	a->bytes += len;
	buf_add(&part->text, text, len);
	if (part->kind == PART_CALL)
		return;
	if (a->first_piece_ms < 0)
		a->first_piece_ms = clock_monotonic_ms() - a->started;
	/* one delta of a line serves a client better than ten of a word that come at one instant */
	if (a->held_kind != part->kind || a->held.len + len > MAX_HELD)
		chat_answer_hand_on(a);
	a->held_kind = part->kind;
	buf_add(&a->held, text, len);
}

void chat_answer_add(
    struct chat_answer *a, enum chat_part_kind kind, int64_t index, const char *text)
{
	if (!text || !*text || a->fault)
		return;
	struct chat_part *part = chat_answer_part(a, kind, index);
	if (!a->fault)
		chat_answer_append(a, (size_t)(part - a->parts), text, strlen(text));
}

void chat_answer_refuse(struct chat_answer *a, int64_t index, const char *text)
{
	a->refused = a->refused || (text && *text);
	chat_answer_add(a, PART_TEXT, index, text);
}

void chat_answer_keep(struct chat_answer *a, const cJSON *piece)
{
	char *text = json_print(piece);
	size_t len = strlen(text);
	free(text);
	if (len > MAX_BYTES - a->bytes) {
		chat_answer_fault(a, FAULT_STAYS, "wrote too long an answer");
		return;
	}
	a->bytes += len;
	if (!a->kept)
		a->kept = cJSON_CreateArray();
	cJSON_AddItemToArray(a->kept, cJSON_Duplicate(piece, true));
}

/* Only what a text grows by counts: some servers repeat names in every piece. */
static void answer_replace(struct chat_answer *a, char **text, const char *with)
{
	size_t len = with ? strlen(with) : 0, before = *text ? strlen(*text) : 0;
	size_t more = len > before ? len - before : 0;
	if (len == 0)
		return;
	if (more > MAX_BYTES - a->named) {
		chat_answer_fault(a, FAULT_STAYS, "wrote too long an answer");
		return;
	}
	a->named += more;
	free(*text);
	*text = xstrdup(with);
}

void chat_part_name(struct chat_answer *a, struct chat_part *part, const char *id, const char *name)
{
	answer_replace(a, &part->id, id);
	answer_replace(a, &part->name, name);
}

void chat_answer_detail(struct chat_answer *a, int64_t index, cJSON *detail)
{
	char *text = json_print(detail);
	struct chat_part *part = chat_answer_part(a, PART_REASONING, index);
	if (strlen(text) > MAX_BYTES - a->bytes) {
		chat_answer_fault(a, FAULT_STAYS, "wrote too long an answer");
	} else if (!a->fault) {
		a->bytes += strlen(text);
		if (!part->details)
			part->details = cJSON_CreateArray();
		cJSON_AddItemToArray(part->details, cJSON_CreateString(text));
	}
	free(text);
	cJSON_Delete(detail);
}

void chat_answer_finish(struct chat_answer *a, const char *word, const char *const known[][2])
{
	if (!word)
		return;
	while ((*known)[0] && strcmp((*known)[0], word) != 0)
		known++;
	answer_replace(a, &a->finish, (*known)[0] ? (*known)[1] : word);
}

char *chat_error_message(const cJSON *body)
{
	if (cJSON_IsArray(body)) /* Gemini, now and then */
		body = body->child;
	const cJSON *error = json_opt(body, "error"), *detail = json_opt(body, "detail");
	detail = cJSON_IsArray(detail) ? detail->child : detail;
	const cJSON *errors = json_opt(body, "errors"); /* Cloudflare */
	const char *texts[] = {json_str(error, "message"),
	    cJSON_IsString(error) ? error->valuestring : NULL, json_str(body, "message"),
	    cJSON_IsString(detail) ? detail->valuestring : NULL, json_str(detail, "message"),
	    cJSON_IsArray(errors) ? json_str(errors->child, "message") : NULL,
	    json_str(json_opt(body, "base_resp"), "status_msg"), /* MiniMax */
	    json_str(error, "status"), json_str(error, "type")};
	/* what the provider behind OpenRouter says; its own message says only that it said it */
	const char *raw = json_str(json_opt(error, "metadata"), "raw");
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i] && *texts[i])
			return raw && *raw ? xasprintf("%s: %s", texts[i], raw) : xstrdup(texts[i]);
	/* one of the mistakes that FastAPI's servers list, "body.model: Field required"; its input
	 * may be what somebody wrote to the model */
	const char *text = json_str(detail, "msg");
	struct buf out = {0};
	const cJSON *step;
	if (!text)
		return NULL;
	cJSON_ArrayForEach(step, json_opt(detail, "loc")) {
		char *name = cJSON_IsString(step) ? xstrdup(step->valuestring) : json_print(step);
		buf_printf(&out, "%s%s", out.len ? "." : "", name);
		free(name);
	}
	buf_printf(&out, "%s%s", out.len ? ": " : "", text);
	return buf_detach(&out);
}

bool chat_answer_error(struct chat_answer *a, const cJSON *data)
{
	if (!json_opt(data, "error") && !json_str_is(data, "object", "error"))
		return false;
	char *message = chat_error_message(data);
	chat_answer_fault(
	    a, FAULT_PASSES, "failed while it answered: %s", message ? message : "no reason given");
	free(message);
	return true;
}

void chat_answer_model(struct chat_answer *a, const char *model)
{
	if (!a->model)
		answer_replace(a, &a->model, model);
}

void chat_usage_take(int64_t *number, const cJSON *object, const char *key)
{
	json_count(json_opt(object, key), number);
}

/* ---- The message */

static void answer_add_text(cJSON *content, const char *text)
{
	cJSON *block = json_append(content, json_typed("text"));
	json_add_str(block, "text", text);
	cJSON_AddArrayToObject(block, "annotations");
}

static void answer_add_call(const struct chat_answer *a, cJSON *content,
    const struct chat_part *part, const char *name, cJSON *metadata)
{
	const char *text = buf_str(&part->text);
	bool cut = a->finish &&
	    (strcmp(a->finish, "length") == 0 || strcmp(a->finish, "content_filter") == 0);
	cJSON *args = NULL, *block = json_append(content, json_typed("tool_call"));
	/* no text at all means no arguments, except in the last part of an answer that was cut off:
	 * there they may have been still to come */
	if (text[strspn(text, " \t\r\n")] != '\0')
		args = json_parse(text, part->text.len, JSON_REQUEST_DEPTH, NULL);
	else if (!cut || part != &a->parts[a->count - 1])
		args = cJSON_CreateObject();
	bool valid = cJSON_IsObject(args);
	json_add_str(block, "id", part->id);
	json_add_str(block, "name", name ? name : "");
	json_add(block, "args", valid ? args : cJSON_CreateObject());
	json_add_str(block, "tool_type", "local");
	if (valid)
		return;
	cJSON_Delete(args);
	cJSON *invalid = json_get(metadata, "invalid_arguments");
	if (!invalid)
		invalid = cJSON_AddObjectToObject(metadata, "invalid_arguments");
	char *shown = xstrndup(text, utf8_cut(text, strnlen(text, MAX_SHOWN)));
	cJSON_AddStringToObject(invalid, part->id, shown);
	free(shown);
}

char *chat_call_id(char out[CHAT_CALL_ID])
{
	char id[HEX_ID_SIZE];
	snprintf(out, CHAT_CALL_ID, "call_%s", hex_id(id));
	return out;
}

void chat_call_renew(cJSON *message, cJSON *call)
{
	cJSON *invalid = json_get(json_get(message, "metadata"), "invalid_arguments");
	cJSON *block, *item;
	char id[CHAT_CALL_ID], *old = xstrdup(json_str(call, "id"));
	cJSON *shown = cJSON_DetachItemFromObjectCaseSensitive(invalid, old);
	json_set(call, "id", cJSON_CreateString(chat_call_id(id)));
	if (shown)
		cJSON_AddItemToObject(invalid, id, shown);
	/* the id stands in those details, too, that a provider wants back with the call */
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		cJSON_ArrayForEach(item, json_get(block, "details")) {
			const char *text = cJSON_GetStringValue(item);
			cJSON *detail =
			    text ? json_parse(text, strlen(text), JSON_REQUEST_DEPTH, NULL) : NULL;
			if (json_str_is(detail, "call", old)) {
				json_set(detail, "call", cJSON_CreateString(id));
				char *renewed = json_print(detail);
				cJSON_SetValuestring(item, renewed);
				cJSON_free(renewed);
			}
			cJSON_Delete(detail);
		}
	}
	free(old);
}

static cJSON *answer_content_of(const struct chat_answer *a, cJSON *metadata)
{
	cJSON *content = cJSON_CreateArray(), *block;
	/* A call needs an id of its own, which not every server gives. */
	char id[CHAT_CALL_ID];
	cJSON *names = chat_request_names(a->request);
	for (size_t i = 0; i < a->count; i++) {
		struct chat_part *part = &a->parts[i];
		bool own = part->id;
		if (part->kind != PART_CALL)
			continue;
		for (size_t k = 0; own && k < i; k++)
			own =
			    a->parts[k].kind != PART_CALL || strcmp(a->parts[k].id, part->id) != 0;
		if (own)
			continue;
		free(part->id);
		part->id = xstrdup(chat_call_id(id));
	}
	for (size_t i = 0; i < a->count; i++) {
		const struct chat_part *part = &a->parts[i];
		switch (part->kind) {
		case PART_TEXT:
			answer_add_text(content, buf_str(&part->text));
			break;
		case PART_REASONING:
			block = json_append(content, json_typed("reasoning"));
			json_add_str(block, "summary", buf_str(&part->text));
			json_add(block, "details",
			    part->details ? cJSON_Duplicate(part->details, true)
					  : cJSON_CreateArray());
			break;
		case PART_CALL:
			if (a->ended)
				answer_add_call(
				    a, content, part, chat_name_own(names, part->name), metadata);
			break;
		}
	}
	cJSON_Delete(names);
	if (!content->child)
		answer_add_text(content, "");
	return content;
}

/* The JSON that was asked for; models like to put it into a fence. */
static cJSON *answer_parsed(const struct chat_answer *a)
{
	struct buf text = {0};
	if (a->target->format == CHAT_FORMAT_TEXT)
		return cJSON_CreateNull();
	for (size_t i = 0; i < a->count; i++)
		if (a->parts[i].kind == PART_TEXT)
			buf_puts(&text, buf_str(&a->parts[i].text));
	const char *from = buf_str(&text), *to = from + text.len;
	from += strspn(from, " \t\r\n");
	if (strncmp(from, "```", 3) == 0) {
		from += strcspn(from, "\n");
		const char *fence = strstr(from, "\n```");
		to = fence ? fence : to;
	}
	cJSON *parsed = json_parse(from, (size_t)(to - from), JSON_REQUEST_DEPTH, NULL);
	buf_release(&text);
	return parsed ? parsed : cJSON_CreateNull();
}

cJSON *chat_answer_message(const struct chat_answer *a)
{
	cJSON *message = cJSON_CreateObject(), *metadata = cJSON_CreateObject();
	const struct chat_usage *u = &a->usage;
	const char *finish = a->refused ? "content_filter" : a->finish;
	json_add_str(metadata, "model", a->model ? a->model : a->target->model);
	json_add_str(metadata, "provider", a->target->provider->name);
	if (finish)
		json_add_str(metadata, "finish_reason", finish);
	json_add_str(message, "role", "assistant");
	json_add(message, "content", answer_content_of(a, metadata));
	cJSON *usages = json_add(message, "usages", cJSON_CreateObject());
	json_add_int(usages, "completion_tokens", u->completion);
	json_add_int(usages, "prompt_tokens", u->prompt);
	json_add_int(usages, "total_tokens", u->total ? u->total : u->prompt + u->completion);
	json_add_int(usages, "reasoning_tokens", u->reasoning);
	json_add_int(usages, "cache_creation_input_tokens", u->cache_creation);
	json_add_int(usages, "cache_read_input_tokens", u->cache_read);
	json_add_int(usages, "image_tokens", u->image);
	json_add_int(usages, "audio_tokens", u->audio);
	json_add(message, "metadata", metadata);
	json_add(message, "parsed_content", answer_parsed(a));
	return message;
}
