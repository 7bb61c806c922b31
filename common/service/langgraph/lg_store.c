/* SPDX-License-Identifier: ISC */
/* Writing, reading and removing an item. */
#include "service/langgraph/lg_store.h"

#include "base/fields.h"
#include "base/json/json.h"
#include "base/json/json_members.h"
#include "base/os/clock.h"
#include "service/langgraph/lg_item.h"
#include "service/memory/memory_calls.h"

#include <openssl/evp.h>
#include <string.h>

#define LG_LIST_MOST 1000 /* entries of a list in a body */

struct lg_item_body {
	const cJSON *name_space, *value, *index;
	const char *key;
};

static const struct field_row lg_item_rows[] = {
    FIELD_AT("namespace", lg_item_body, name_space, .kind = &field_json, .types = TYPE_ARRAY,
	.required = true, .expected = "an array of texts"),
    FIELD(lg_item_body, key, .kind = &field_text, .required = true),
    FIELDS_END,
};

static const struct field_row lg_put_rows[] = {
    FIELD(lg_item_body, value, .kind = &field_json, .types = TYPE_OBJECT, .required = true,
	.expected = "an object"),
    FIELD(lg_item_body, index, .kind = &field_json, .types = TYPE_ARRAY | TYPE_BOOLEAN,
	.expected = "false or an array of members of value"),
    FIELDS_END,
};

bool lg_wrong(struct call *call, const char *member, const char *must)
{
	return error_wrong(
	    &call->error, arena_printf(call->arena, "body.%s", member), "value_error", "%s", must);
}

void lg_list_check(struct call *call, const char *member, const cJSON *list)
{
	if (cJSON_IsArray(list) && cJSON_GetArraySize(list) > LG_LIST_MOST)
		lg_wrong(call, member,
		    arena_printf(call->arena, "must be an array of at most %d", LG_LIST_MOST));
}

void lg_labels_check(struct call *call, const char *member, const cJSON *labels, bool may_be_empty)
{
	const cJSON *label;
	int count = cJSON_GetArraySize(labels);
	bool ok = cJSON_IsArray(labels) && count <= LG_LABELS_MOST && (count || may_be_empty);
	cJSON_ArrayForEach(label, labels) {
		const char *text = cJSON_GetStringValue(label);
		ok = ok && text && *text && !strchr(text, '.');
	}
	if (!ok)
		lg_wrong(call, member,
		    "must be of at most 16 labels, texts without a point that are not empty");
}

const char *lg_labels_text(struct call *call, const cJSON *labels, int most)
{
	struct buf out = {0};
	const cJSON *label;
	cJSON_ArrayForEach(label, labels) {
		if (most-- == 0)
			break;
		if (out.len)
			buf_putc(&out, '.');
		buf_puts(&out, label->valuestring);
	}
	return out.len ? arena_take(call->arena, &out) : "";
}

/* ---- the memory of an item ---- */

/* 32 digits of a digest over owner, namespace and key, with newlines between them. */
static const char *lg_item_id(struct call *call, const char *name_space, const char *key)
{
	unsigned char digest[32];
	const char *text = arena_printf(
	    call->arena, "%s\n%zu\n%s\n%s", call->user_id, strlen(name_space), name_space, key);
	if (EVP_Digest(text, strlen(text), digest, NULL, EVP_sha256(), NULL) != 1) {
		error_set(&call->error, ERR_INTERNAL, NULL);
		return NULL;
	}
	return hex_text(digest, HEX_ID_SIZE / 2, arena_alloc(call->arena, HEX_ID_SIZE));
}

/* Appends all texts in a value, at any depth. */
static void lg_item_texts(struct buf *out, const cJSON *value)
{
	const cJSON *item;
	if (cJSON_IsString(value)) {
		buf_puts(out, value->valuestring);
		buf_putc(out, '\n');
	}
	if (cJSON_IsObject(value) || cJSON_IsArray(value))
		cJSON_ArrayForEach(item, value)
			lg_item_texts(out, item);
}

/* Appends the texts of the named members, each once, however often it is named. */
static void lg_item_named_texts(struct buf *out, const cJSON *value, const cJSON *names)
{
	const cJSON *taken[LG_LIST_MOST], *name;
	struct json_members members;
	size_t count = 0;
	json_members_init(&members, value);
	cJSON_ArrayForEach(name, names) {
		const char *key = cJSON_GetStringValue(name);
		const cJSON *member = key ? json_members_get(&members, key) : NULL;
		size_t i = 0;
		while (i < count && taken[i] != member)
			i++;
		if (!member || i < count)
			continue;
		taken[count++] = member;
		lg_item_texts(out, member);
	}
	json_members_release(&members);
}

/* The memory of an item.  Searches find it by all texts of its value, or by those of the members
 * that index names; with index false, only by its key.  Members of the value that a filter can ask
 * for are in the metadata once more, under a prefix of their own. */
static cJSON *lg_item_memory(struct call *call, const struct lg_item_body *b)
{
	char now[ISO_TIME_SIZE];
	struct buf content = {0};
	const cJSON *member;
	cJSON *body = arena_json(call->arena, cJSON_CreateObject());
	buf_puts(&content, b->key);
	buf_putc(&content, '\n');
	if (!b->index || cJSON_IsTrue(b->index))
		lg_item_texts(&content, b->value);
	else
		lg_item_named_texts(&content, b->value, b->index);
	json_add_str(body, "content", buf_str(&content));
	buf_release(&content);
	json_add_str(body, "memory_type", "custom");
	json_add_str(body, "category", LG_CATEGORY);
	cJSON *metadata = cJSON_AddObjectToObject(body, "metadata");
	cJSON *item = cJSON_AddObjectToObject(metadata, LG_ITEM_KEY);
	cJSON_AddItemToObject(item, "namespace", cJSON_Duplicate(b->name_space, true));
	json_add_str(item, "key", b->key);
	cJSON_AddItemToObject(item, "value", cJSON_Duplicate(b->value, true));
	json_add_str(item, "updated_at", clock_iso(clock_now(), now));
	for (int depth = 1; depth <= cJSON_GetArraySize(b->name_space); depth++)
		json_add_str(metadata, arena_printf(call->arena, LG_DEPTH_KEY, depth),
		    lg_labels_text(call, b->name_space, depth));
	cJSON_ArrayForEach(member, b->value) {
		if (!cJSON_IsObject(member) && !cJSON_IsArray(member))
			cJSON_AddItemToObject(metadata,
			    arena_printf(call->arena, LG_VALUE_KEY, member->string),
			    cJSON_Duplicate(member, true));
	}
	return body;
}

const cJSON *lg_item_of(struct call *call, const cJSON *memory)
{
	const cJSON *metadata = json_get(memory, "metadata"), *label;
	if (cJSON_IsRaw(metadata)) /* a stored one is text */
		metadata = arena_json(call->arena, json_parse_own(metadata->valuestring));
	const cJSON *item = json_get(metadata, LG_ITEM_KEY);
	const cJSON *labels = json_get(item, "namespace");
	bool ok = cJSON_IsArray(labels) && json_str(item, "key") &&
	    cJSON_IsObject(json_get(item, "value"));
	int count = 0;
	cJSON_ArrayForEach(label, labels)
		ok = ok && cJSON_IsString(label) && ++count <= LG_LABELS_MOST;
	return ok ? item : NULL;
}

cJSON *lg_item_view(const cJSON *memory, const cJSON *item, bool scored)
{
	const char *created = json_str(memory, "timestamp");
	const char *updated = json_str(item, "updated_at");
	bool is_new = !updated || (created && strcmp(created, updated) > 0);
	cJSON *out = cJSON_CreateObject();
	cJSON_AddItemToObject(out, "namespace", cJSON_Duplicate(json_get(item, "namespace"), true));
	json_add_str(out, "key", json_str(item, "key"));
	cJSON_AddItemToObject(out, "value", cJSON_Duplicate(json_get(item, "value"), true));
	json_add_str(out, "created_at", created);
	json_add_str(out, "updated_at", is_new ? created : updated);
	if (scored)
		cJSON_AddItemToObject(
		    out, "score", cJSON_Duplicate(json_get(memory, "score"), true));
	return out;
}

/* ---- calls ---- */

static const char *lg_item_read_body(
    struct call *call, const cJSON *body, bool puts, struct lg_item_body *b)
{
	*b = (struct lg_item_body){0};
	if (!memory_configured(call))
		return NULL;
	fields_read_body(&call->error, "body", body, lg_item_rows, b);
	if (puts)
		fields_read_body(&call->error, "body", body, lg_put_rows, b);
	if (puts && json_opt(body, "ttl"))
		lg_wrong(call, "ttl", "is not supported");
	if (b->name_space)
		lg_labels_check(call, "namespace", b->name_space, false);
	if (b->key && !*b->key)
		lg_wrong(call, "key", "must not be empty");
	lg_list_check(call, "index", b->index);
	if (error_is_set(&call->error))
		return NULL;
	return lg_item_id(call, lg_labels_text(call, b->name_space, LG_LABELS_MOST), b->key);
}

bool lg_item_put(struct call *call, const cJSON *body)
{
	struct lg_item_body b;
	const char *id = lg_item_read_body(call, body, true, &b);
	return id && memory_set_one(call, id, lg_item_memory(call, &b));
}

/* Whether an error says that there is no such item, which is then no error. */
static bool lg_item_is_absent(struct call *call)
{
	if (call->error.kind != ERR_RESOURCE_NOT_FOUND)
		return false;
	error_release(&call->error);
	return true;
}

bool lg_item_remove(struct call *call, const cJSON *body)
{
	struct lg_item_body b;
	const char *id = lg_item_read_body(call, body, false, &b);
	return id && (memory_remove(call, id, NULL) || lg_item_is_absent(call));
}

cJSON *lg_item_read(struct call *call, const char *name_space, const char *key)
{
	if (!memory_configured(call))
		return NULL;
	if (!name_space || !key)
		error_wrong(
		    &call->error, key ? "query.namespace" : "query.key", "missing", "is required");
	const char *id = error_is_set(&call->error) ? NULL : lg_item_id(call, name_space, key);
	const cJSON *data = id ? memory_read(call, id, NULL) : NULL;
	const cJSON *memory = json_get(data, "memory"), *item = lg_item_of(call, memory);
	if (item)
		return arena_json(call->arena, lg_item_view(memory, item, false));
	return data || (id && lg_item_is_absent(call)) ? arena_json(call->arena, cJSON_CreateNull())
						       : NULL;
}
