/* SPDX-License-Identifier: ISC */
/* Keeping what such a service gave, and putting it back into the next request. */
#include "model/openai_parts.h"

#include "base/json/json.h"

/* ---- Keeping */

void openai_keep(
    struct chat_answer *a, int64_t index, const char *name, const char *call_id, cJSON *value)
{
	cJSON *detail = cJSON_CreateObject();
	json_add_str(detail, "provider", "openai");
	json_add_str(detail, "model", a->target->model);
	if (call_id)
		json_add_str(detail, "call", call_id);
	json_add_str(detail, "returns", name);
	cJSON_AddItemToObject(detail, "value", value);
	chat_answer_detail(a, index, detail);
}

void openai_keep_extra(struct chat_answer *a, const char *call_id, const cJSON *extra)
{
	if (cJSON_IsObject(extra) && extra->child)
		openai_keep(a, 0, "extra_content", call_id, cJSON_Duplicate(extra, true));
}

void openai_keep_details(struct chat_answer *a, const cJSON *details)
{
	const cJSON *detail;
	if (!cJSON_IsArray(details))
		return;
	cJSON_ArrayForEach(detail, details)
		chat_answer_keep(a, detail);
}

/* Whether the piece goes on with the text of the one before. */
static bool openai_returns_continues(const cJSON *last, const cJSON *piece)
{
	const char *type =
	    chat_block_is(last, "reasoning.text") ? "reasoning.text" : "reasoning.summary";
	int64_t index = -1, own = -1;
	json_integer(json_opt(last, "index"), &index);
	json_integer(json_opt(piece, "index"), &own);
	return chat_block_is(last, type) && chat_block_is(piece, type) && index == own;
}

/* Adds the text of pieces, first and those that continue it, under their name for it. */
static const cJSON *openai_returns_join(cJSON *out, const cJSON *first, const char *name)
{
	const cJSON *piece = first;
	struct buf text = {0};
	bool any = false;
	for (; piece && (piece == first || openai_returns_continues(first, piece));
	     piece = piece->next) {
		const char *own = json_str(piece, name);
		any = any || own;
		buf_puts(&text, own ? own : "");
	}
	if (any)
		json_set(out, name, cJSON_CreateString(buf_str(&text)));
	buf_release(&text);
	return piece;
}

void openai_keep_end(struct chat_answer *a)
{
	const cJSON *piece = a->kept ? a->kept->child : NULL, *next;
	if (!piece)
		return;
	cJSON *whole = cJSON_CreateArray();
	for (; piece; piece = next) {
		cJSON *out = cJSON_Duplicate(piece, true);
		cJSON_AddItemToArray(whole, out);
		openai_returns_join(out, piece, "summary");
		next = openai_returns_join(out, piece, "text");
		/* what comes once, a signature, may come with any of the pieces */
		for (const cJSON *other = piece->next; other != next; other = other->next) {
			const cJSON *member;
			cJSON_ArrayForEach(member, other) {
				if (!json_opt(out, member->string))
					json_set(
					    out, member->string, cJSON_Duplicate(member, true));
			}
		}
	}
	openai_keep(a, 0, "reasoning_details", NULL, whole);
	cJSON_Delete(a->kept);
	a->kept = NULL;
}

/* ---- Returning */

/* A walk through what a turn has kept for the model under one name. */
struct walk {
	const struct chat_target *target;
	const struct chat_turn *turn;
	const char *field;
	size_t block; /* the next block to look at */
	const cJSON *at;
};

/* The next value, a tree; NULL behind the last. */
static cJSON *openai_returns_next(struct walk *w)
{
	for (;;) {
		cJSON *detail;
		while ((detail = chat_details_next(&w->at, "openai"))) {
			if (json_str_is(detail, "model", w->target->model) &&
			    json_str_is(detail, "returns", w->field))
				return detail;
			cJSON_Delete(detail);
		}
		if (w->block == w->turn->count)
			return NULL;
		const cJSON *block = w->turn->blocks[w->block++];
		w->at = chat_block_is(block, "reasoning") ? chat_details(block) : NULL;
	}
}

static void openai_returns_move(cJSON *detail, cJSON *to, const char *name)
{
	cJSON *value = cJSON_DetachItemFromObjectCaseSensitive(detail, "value");
	if (value)
		json_set(to, name, value);
}

void openai_return(const struct chat_target *t, const struct chat_turn *turn, cJSON *message)
{
	struct walk w = {.target = t, .turn = turn, .field = "reasoning_details"};
	cJSON *call, *detail = openai_returns_next(&w);
	if (detail)
		openai_returns_move(detail, message, w.field);
	cJSON_Delete(detail);
	/* they were kept in the order of the calls, so one walk finds them all */
	w = (struct walk){.target = t, .turn = turn, .field = "extra_content"};
	detail = openai_returns_next(&w);
	cJSON_ArrayForEach(call, json_get(message, "tool_calls")) {
		const char *id = json_str(call, "id");
		if (!id || !json_str_is(detail, "call", id))
			continue;
		openai_returns_move(detail, call, w.field);
		cJSON_Delete(detail);
		detail = openai_returns_next(&w);
	}
	cJSON_Delete(detail);
}
