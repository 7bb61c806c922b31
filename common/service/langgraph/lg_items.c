/* SPDX-License-Identifier: ISC */
/* Searching items, and the namespaces that there are. */
#include "base/fields.h"
#include "base/json/json.h"
#include "service/langgraph/lg_item.h"
#include "service/langgraph/lg_store.h"
#include "service/memory/memory_calls.h"
#include "storage/memory_filter.h"

#include <string.h>

#define FOUND_MOST 100   /* most memories that one search finds */
#define LISTED_MOST 1000 /* most memories of one list (doc/protocol-store.md#calls) */
#define SEARCH_TOKENS 16000

struct lg_items_body {
	const cJSON *prefix, *suffix, *filter;
	const char *query;
	int64_t limit, offset, max_depth;
};

static const struct field_row lg_page_rows[] = {
    FIELD(lg_items_body, limit, .kind = &field_integer, .min = 1, .max = LISTED_MOST,
	.expected = "between 1 and 1000"),
    FIELD(lg_items_body, offset, .kind = &field_integer, .max = LISTED_MOST,
	.expected = "between 0 and 1000"),
    FIELDS_END,
};

static const struct field_row lg_search_rows[] = {
    FIELD_AT("namespace_prefix", lg_items_body, prefix, .kind = &field_json, .types = TYPE_ARRAY,
	.expected = "an array of texts"),
    FIELD(lg_items_body, filter, FIELD_OBJECT),
    FIELD(lg_items_body, query, .kind = &field_text),
    FIELDS_END,
};

static const struct field_row lg_namespace_rows[] = {
    FIELD(lg_items_body, prefix, .kind = &field_json, .types = TYPE_ARRAY,
	.expected = "an array of texts"),
    FIELD(lg_items_body, suffix, .kind = &field_json, .types = TYPE_ARRAY,
	.expected = "an array of texts"),
    FIELD(lg_items_body, max_depth, .kind = &field_integer, .min = 1, .max = LG_LABELS_MOST,
	.expected = "between 1 and 16"),
    FIELDS_END,
};

/* ---- conditions ---- */

static bool lg_filter_is_plain(const cJSON *value)
{
	return !cJSON_IsObject(value) && !cJSON_IsArray(value);
}

/* Adds {"$gt": 1} as {"gt": 1}; false for what no memory can be asked for. */
static bool lg_filter_compare(cJSON *out, const cJSON *operand)
{
	static const char *const names[] = {"ne", "gt", "gte", "lt", "lte"};
	size_t i = 0;
	while (i < sizeof(names) / sizeof(*names) &&
	    (*operand->string != '$' || strcmp(operand->string + 1, names[i]) != 0))
		i++;
	if (i == sizeof(names) / sizeof(*names))
		return false;
	cJSON_AddItemToObject(out, names[i], cJSON_Duplicate(operand, true));
	return i == 0 ? lg_filter_is_plain(operand)
		      : cJSON_IsString(operand) || json_is_number(operand);
}

/* Makes of a member of the filter what a memory's condition calls the same: {"$eq": x} is x, and
 * {"$in": [x, y]} is [x, y]. */
static bool lg_filter_convert(const cJSON *value, cJSON **out)
{
	const cJSON *first = cJSON_IsObject(value) ? value->child : NULL, *item;
	const char *only = first && !first->next ? first->string : "";
	const cJSON *equal = strcmp(only, "$eq") == 0 ? first : value;
	bool ok = true;
	if (strcmp(only, "$in") == 0) {
		*out = cJSON_Duplicate(first, true);
		ok = cJSON_IsArray(first);
		cJSON_ArrayForEach(item, first)
			ok = ok && lg_filter_is_plain(item);
	} else if (equal == value && first) {
		*out = cJSON_CreateObject();
		cJSON_ArrayForEach(item, value)
			ok = lg_filter_compare(*out, item) && ok;
	} else {
		*out = cJSON_Duplicate(equal, true);
		ok = lg_filter_is_plain(equal);
	}
	return ok;
}

/* The conditions: below the first depth labels of the prefix, and those of the filter. */
static cJSON *lg_items_filters(struct call *call, const struct lg_items_body *b, int depth)
{
	cJSON *filters = cJSON_CreateObject();
	const cJSON *item;
	if (depth)
		json_add_str(filters, arena_printf(call->arena, LG_DEPTH_KEY, depth),
		    lg_labels_text(call, b->prefix, depth));
	cJSON_ArrayForEach(item, b->filter) {
		cJSON *condition = NULL;
		if (!lg_filter_convert(item, &condition))
			lg_wrong(call, "filter",
			    "must have texts, numbers, booleans, {\"$eq\": value}, {\"$in\": "
			    "[values]}, or objects of $ne, $gt, $gte, $lt, $lte");
		cJSON_AddItemToObject(
		    filters, arena_printf(call->arena, LG_VALUE_KEY, item->string), condition);
	}
	return filters;
}

/* ---- calls ---- */

static bool lg_items_read(struct call *call, const cJSON *body, const struct field_row *rows,
    int64_t limit, struct lg_items_body *b)
{
	*b = (struct lg_items_body){.limit = limit};
	if (!memory_configured(call))
		return false;
	fields_read_body(&call->error, "body", body, lg_page_rows, b);
	fields_read_body(&call->error, "body", body, rows, b);
	return true;
}

/* Finds memories: the best first where words are asked for, else the newest first. */
static const cJSON *lg_items_find(
    struct call *call, const struct lg_items_body *b, cJSON *filters, bool scored, int64_t count)
{
	cJSON *body = arena_json(call->arena, cJSON_CreateObject());
	json_add_str(body, "category", LG_CATEGORY);
	cJSON_AddItemToObject(body, "filters", filters);
	json_add_int(body, "limit", count);
	if (!scored)
		return json_get(memory_list_of(call, body), "memories");
	json_add_str(body, "query", b->query);
	json_add_str(body, "retrieval_strategy", "hybrid");
	json_add_int(body, "max_tokens", SEARCH_TOKENS);
	return json_get(memory_search(call, body), "results");
}

cJSON *lg_items_search(struct call *call, const cJSON *body)
{
	struct lg_items_body b;
	const cJSON *memory;
	if (!lg_items_read(call, body, lg_search_rows, 10, &b))
		return NULL;
	bool scored = b.query && *b.query;
	int64_t most = scored ? FOUND_MOST : LISTED_MOST, place = 0;
	if (b.prefix)
		lg_labels_check(call, "namespace_prefix", b.prefix, true);
	if (b.limit + b.offset > most)
		lg_wrong(call, "offset",
		    scored ? "and limit must be at most 100 together where words are searched for"
			   : "and limit must be at most 1000 together");
	if (error_is_set(&call->error))
		return NULL;
	cJSON *filters = lg_items_filters(call, &b, cJSON_GetArraySize(b.prefix));
	if (error_is_set(&call->error) || /* a mistake in the filter, or that it has too much */
	    !memory_filter_check(filters, "body.filter", &call->error)) {
		cJSON_Delete(filters);
		return NULL;
	}
	const cJSON *found = lg_items_find(call, &b, filters, scored, b.limit + b.offset);
	if (!found)
		return NULL;
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	cJSON *items = cJSON_AddArrayToObject(data, "items");
	cJSON_ArrayForEach(memory, found) {
		const cJSON *item = lg_item_of(call, memory);
		if (item && place++ >= b.offset)
			cJSON_AddItemToArray(items, lg_item_view(memory, item, scored));
	}
	return data;
}

/* ---- namespaces ---- */

#define ANY_LABEL "*"

/* Whether labels has part at its beginning or end; NULL is at each. */
static bool lg_labels_match(const cJSON *labels, const cJSON *part, bool at_end)
{
	int most = cJSON_GetArraySize(labels), size = cJSON_GetArraySize(part);
	for (int i = 0; i < size && size <= most; i++) {
		const cJSON *label = cJSON_GetArrayItem(labels, at_end ? most - size + i : i);
		const char *wanted = cJSON_GetArrayItem(part, i)->valuestring;
		if (strcmp(wanted, ANY_LABEL) != 0 && strcmp(label->valuestring, wanted) != 0)
			return false;
	}
	return size <= most;
}

cJSON *lg_namespaces(struct call *call, const cJSON *body)
{
	struct lg_items_body b;
	const cJSON *memory;
	int64_t place = 0;
	if (!lg_items_read(call, body, lg_namespace_rows, 100, &b))
		return NULL;
	if (b.prefix)
		lg_labels_check(call, "prefix", b.prefix, true);
	if (b.suffix)
		lg_labels_check(call, "suffix", b.suffix, true);
	if (error_is_set(&call->error))
		return NULL;
	int fixed = 0; /* labels before the first wildcard */
	const cJSON *label = b.prefix ? b.prefix->child : NULL;
	for (; label && strcmp(label->valuestring, ANY_LABEL) != 0; label = label->next)
		fixed++;
	cJSON *filters = lg_items_filters(call, &b, fixed);
	const cJSON *found = lg_items_find(call, &b, filters, false, LISTED_MOST);
	if (!found)
		return NULL;
	cJSON *seen = arena_json(call->arena, cJSON_CreateObject());
	int depth = b.max_depth ? (int)b.max_depth : LG_LABELS_MOST;
	cJSON_ArrayForEach(memory, found) {
		const cJSON *all = json_get(lg_item_of(call, memory), "namespace");
		const char *text = lg_labels_text(call, all, depth);
		if (!all || !lg_labels_match(all, b.prefix, false) ||
		    !lg_labels_match(all, b.suffix, true) || json_get(seen, text))
			continue;
		cJSON *cut = cJSON_Duplicate(all, true);
		while (cJSON_GetArraySize(cut) > depth)
			cJSON_DeleteItemFromArray(cut, depth);
		cJSON_AddItemToObject(seen, text, cut);
	}
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	cJSON *out = cJSON_AddArrayToObject(data, "namespaces");
	cJSON *labels;
	while ((labels = seen->child)) {
		cJSON_DetachItemViaPointer(seen, labels);
		if (place++ >= b.offset && place <= b.offset + b.limit)
			json_append(out, labels);
		else
			cJSON_Delete(labels);
	}
	return data;
}
