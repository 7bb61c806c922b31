/* SPDX-License-Identifier: ISC */
/* A table of block types with their members, and the normalising of each kind. */
#include "graph/message/message.h"

#include "base/fields.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "graph/message/media_url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Kinds of members */

/* What fits is copied into the output form. */
struct block_kind {
	struct field_kind kind;        /* without take: what is given does not count */
	bool (*of)(const cJSON *item); /* what each element of an array must be */
	int count;                     /* how many elements, 0: any number */
	const char *absent;            /* JSON where the member is not given */
};

static bool block_all_of(const cJSON *array, bool (*test)(const cJSON *item))
{
	const cJSON *item;
	if (!cJSON_IsArray(array))
		return false;
	cJSON_ArrayForEach(item, array) {
		if (!test(item))
			return false;
	}
	return true;
}

static bool block_item_is_integer(const cJSON *item)
{
	int64_t value;
	return json_integer(item, &value);
}

static bool block_item_is_string(const cJSON *item)
{
	return cJSON_IsString(item);
}

static bool block_item_is_object(const cJSON *item)
{
	return cJSON_IsObject(item);
}

static bool block_item_is_pair(const cJSON *item)
{
	return cJSON_GetArraySize(item) == 2 && block_all_of(item, block_item_is_integer);
}

static enum field_fault block_take(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	const struct block_kind *kind = (const struct block_kind *)f->kind;
	int unused;
	(void)reader;
	if (kind->of && !block_all_of(value, kind->of))
		return FIELD_TYPE;
	if (kind->count && cJSON_GetArraySize(value) != kind->count)
		return FIELD_TYPE;
	if (f->choices && !choice_find(f->choices, value->valuestring, &unused))
		return FIELD_VALUE;
	json_add(slot, f->key, cJSON_Duplicate(value, true));
	return FIELD_FITS;
}

static enum field_fault block_take_refs(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot);
static enum field_fault block_take_thumbnail(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot);

#define KIND(name, type, says, ...)                                            \
	static const struct block_kind kind_##name = {                         \
	    .kind = {.types = (type), .expected = (says), .take = block_take}, \
	    .absent = __VA_ARGS__}

KIND(text, TYPE_STRING, "a string", "\"\"");
KIND(string, TYPE_STRING, "a string or null", "null");
KIND(number, TYPE_NUMBER, "a number or null", "null");
KIND(bool, TYPE_BOOLEAN, "true or false", "false");
KIND(object, TYPE_OBJECT, "an object", "{}");
KIND(array, TYPE_ARRAY, "an array", "[]");
KIND(any, TYPE_ANY, "any value", "null");
KIND(box, TYPE_ARRAY, "an array of four numbers", "null", .of = json_is_number, .count = 4);
KIND(integers, TYPE_ARRAY, "an array of integers", "null", .of = block_item_is_integer);
KIND(strings, TYPE_ARRAY, "an array of strings", "[]", .of = block_item_is_string);
KIND(spans, TYPE_ARRAY, "an array of pairs of integers", "[]", .of = block_item_is_pair);
static const struct block_kind kind_refs = {
    {.expected = "an array of objects", .take = block_take_refs}, .absent = "[]"};
static const struct block_kind kind_thumbnail = {
    {TYPE_OBJECT, .expected = "a media object or null", .take = block_take_thumbnail},
    .absent = "null"};
static const struct block_kind kind_null = {
    .absent = "null"};                      /* inline data stands in media alone */
static const struct block_kind kind_status; /* follows is_error */

/* ---- Types of blocks */

struct block_type {
	const char *name;
	bool has_media;
	struct field_row rows[5];
};

#define ROW(name, ...)                                     \
	{                                                  \
		.key = (name), .kind = &kind_##__VA_ARGS__ \
	}
#define NEED(name) ROW(name, text.kind, .required = true)

/* The first is meant where none is given. */
static const struct choice local_types[] = {{"local", 0}, {"mcp", 0}, {NULL, 0}};
static const struct choice remote_types[] = {{"remote", 0}, {NULL, 0}};
static const struct choice annotation_kinds[] = {{"citation", 0}, {"note", 0}, {NULL, 0}};

static const struct block_type block_types[] = {
    {"text", false, {NEED("text"), ROW("annotations", array.kind)}},
    {"image", true, {ROW("alt_text", string.kind), ROW("bbox", box.kind)}},
    {"audio", true,
	{ROW("transcript", string.kind), ROW("sample_rate", number.kind),
	    ROW("channels", number.kind)}},
    {"video", true, {ROW("thumbnail", thumbnail.kind)}},
    {"document", true, {ROW("pages", integers.kind), ROW("excerpt", string.kind)}},
    {"data", true, {ROW("data_base64", null.kind)}},
    {"tool_call", false,
	{NEED("id"), NEED("name"), ROW("args", object.kind),
	    ROW("tool_type", text.kind, .choices = local_types, .wrong = "must be local or mcp")}},
    {"remote_tool_call", false,
	{NEED("id"), NEED("name"), ROW("args", object.kind),
	    ROW("tool_type", text.kind, .choices = remote_types, .wrong = "must be remote")}},
    {"tool_result", false,
	{NEED("call_id"), ROW("output", any.kind), ROW("is_error", bool.kind),
	    ROW("status", status.kind)}},
    {"reasoning", false, {ROW("summary", text.kind), ROW("details", strings.kind)}},
    {"annotation", false,
	{ROW("kind", text.kind, .choices = annotation_kinds, .wrong = "must be citation or note"),
	    ROW("refs", refs.kind), ROW("spans", spans.kind)}},
    {"error", false, {ROW("message", text.kind), ROW("code", any.kind), ROW("data", any.kind)}},
};

/* Members of a media object in their order; kind, the sources and the type are set apart. */
static const struct field_row media_rows[] = {ROW("size_bytes", number.kind),
    ROW("sha256", string.kind), ROW("filename", string.kind), ROW("width", number.kind),
    ROW("height", number.kind), ROW("duration_ms", number.kind), ROW("page", number.kind),
    FIELDS_END};

static const struct field_row ref_rows[] = {ROW("url", string.kind), ROW("file_id", string.kind),
    ROW("page", number.kind), ROW("index", number.kind), ROW("title", string.kind), FIELDS_END};

/* ---- Reading */

struct block_place {
	const char *path;
	struct error *err;
};

static void block_report(const struct field_reader *reader, const char *path,
    const struct field_row *f, enum field_fault fault, const cJSON *found)
{
	const struct block_place *block = reader->where;
	const char *type;
	char *at = xasprintf("%s.%s", block->path, path), *says = field_body_says(f, fault, &type);
	(void)found;
	error_wrong(block->err, at, type, "%s", says);
	free(at);
	free(says);
}

static bool block_wrong(const struct field_reader *reader, const char *key, enum field_fault fault,
    const char *expected)
{
	const struct field_row row = {.expected = expected};
	return field_refuse(reader, &row, key, fault, NULL) == FIELD_FITS;
}

/* Adds the members that the rows name; false with every mistake told. */
static bool block_read(
    const struct field_reader *reader, const cJSON *in, const struct field_row *rows, cJSON *out)
{
	bool ok = true;
	for (const struct field_row *f = rows; f->key; f++) {
		const struct block_kind *kind = (const struct block_kind *)f->kind;
		const cJSON *value = kind->kind.take ? json_opt(in, f->key) : NULL;
		if (value)
			ok = field_read(reader, value, f, out) && ok;
		else if (f->required)
			ok = block_wrong(reader, f->key, FIELD_MISSING, kind->kind.expected);
		else if (f->choices)
			json_add_str(out, f->key, f->choices->name);
		else if (kind == &kind_status)
			json_add_str(out, f->key,
			    cJSON_IsTrue(json_get(out, "is_error")) ? "failed" : "completed");
		else
			json_add(out, f->key, cJSON_Parse(kind->absent));
	}
	return ok;
}

static enum field_fault block_take_refs(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	const cJSON *ref;
	int i = 0;
	bool ok = true;
	if (!block_all_of(value, block_item_is_object))
		return FIELD_TYPE;
	cJSON *array = json_add(slot, f->key, cJSON_CreateArray());
	cJSON_ArrayForEach(ref, value) {
		char key[32];
		snprintf(key, sizeof(key), "%s[%d]", f->key, i++);
		const struct field_reader inside = field_inside(reader, key);
		cJSON *copy = cJSON_CreateObject();
		cJSON_AddItemToArray(array, copy);
		ok = block_read(&inside, ref, ref_rows, copy) && ok;
	}
	return ok ? FIELD_FITS : FIELD_TOLD;
}

/* ---- Media */

/* A source's member: the media object's own, else the short form on the block. */
static const cJSON *block_source(const cJSON *media, const cJSON *block, const char *name)
{
	const cJSON *item = json_opt(media, name);
	return item ? item : json_opt(block, name);
}

struct media_source {
	const cJSON *file_id, *url, *data, *mime_type;
	const cJSON *data_url;                       /* what the client gave for data, or NULL */
	const cJSON *media;                          /* inside reports on its members, */
	const struct field_reader *inside, *outside; /* outside on those of the block */
};

/* Reports a member of the wrong form by the name that the client gave it: in media or on the
 * block. */
static bool source_wrong(const struct media_source *s, const cJSON *item, const char *expected)
{
	bool inside = json_get(s->media, item->string) == item;
	return block_wrong(inside ? s->inside : s->outside, item->string,
	    cJSON_IsString(item) ? FIELD_VALUE : FIELD_TYPE, expected);
}

static bool source_types(const struct media_source *s)
{
	const cJSON *type = s->mime_type;
	bool ok = true;
	if (s->file_id && !(cJSON_IsString(s->file_id) && *s->file_id->valuestring))
		ok = source_wrong(s, s->file_id, "a string that is not empty");
	const char *url = cJSON_GetStringValue(s->url);
	if (s->url && !(url && media_url_is_http(url)))
		ok = source_wrong(s, s->url, "an http or https URL");
	if (s->data && !(cJSON_IsString(s->data) && media_base64_valid(s->data->valuestring)))
		ok = s->data_url ? source_wrong(s, s->data_url, MEDIA_URL_EXPECTED)
				 : source_wrong(s, s->data, "valid base64");
	if (type && !cJSON_IsString(type))
		ok = source_wrong(s, type, "a string");
	else if (s->data && !(type && *type->valuestring))
		ok = block_wrong(s->outside, "mime_type", FIELD_MISSING, "given with data_base64");
	return ok;
}

/* The media object in the member key, with the short form on the block, which may be NULL; NULL
 * with every mistake told. */
static cJSON *media_object(
    const struct field_reader *reader, const char *key, const cJSON *media, const cJSON *block)
{
	const struct field_reader inside = field_inside(reader, key);
	struct media_source s = {.file_id = block_source(media, block, "file_id"),
	    .url = block_source(media, block, "url"),
	    .data = block_source(media, block, "data_base64"),
	    .mime_type = block_source(media, block, "mime_type"),
	    .media = media,
	    .inside = &inside,
	    .outside = block ? reader : &inside};
	if (!s.data)
		s.data = block_source(media, block, "data");
	cJSON *meant = cJSON_IsString(s.url) ? media_url_read(s.url->valuestring) : NULL;
	if (meant) { /* it takes the place of the url, where that is not given already */
		const cJSON *data = json_get(meant, "data_base64"), *url = s.url;
		s.url = NULL;
		if (!s.file_id)
			s.file_id = json_get(meant, "file_id");
		if (!s.data && data) {
			s.data = data;
			s.data_url = url;
			s.mime_type = json_get(meant, "mime_type");
		}
	}
	bool ok = source_types(&s);
	if (!s.file_id && !s.url && !s.data) {
		const struct block_place *place = reader->where;
		char *at = xasprintf("%s%s%s", place->path, block ? "" : ".", block ? "" : key);
		ok = error_wrong(
		    place->err, at, "missing", "needs one of file_id, url, data_base64");
		free(at);
	}
	cJSON *out = cJSON_CreateObject();
	json_add_str(out, "kind", s.file_id ? "file_id" : s.url ? "url" : "data");
	json_add_or_null(out, "url", cJSON_Duplicate(s.url, true));
	json_add_or_null(out, "file_id", cJSON_Duplicate(s.file_id, true));
	json_add_or_null(out, "data_base64", cJSON_Duplicate(s.data, true));
	json_add_or_null(out, "mime_type", cJSON_Duplicate(s.mime_type, true));
	ok = block_read(&inside, media, media_rows, out) && ok;
	cJSON_Delete(meant);
	if (ok)
		return out;
	cJSON_Delete(out);
	return NULL;
}

static enum field_fault block_take_thumbnail(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	cJSON *media = media_object(reader, f->key, value, NULL);
	if (media)
		json_add(slot, f->key, media);
	return media ? FIELD_FITS : FIELD_TOLD;
}

/* ---- Blocks */

/* Adds media, and its file_id, url and mime_type to the block as well. */
static bool block_add_media(const struct field_reader *reader, const cJSON *in, cJSON *out)
{
	const cJSON *given = json_opt(in, "media");
	if (given && !cJSON_IsObject(given))
		return block_wrong(reader, "media", FIELD_TYPE, "an object");
	cJSON *media = media_object(reader, "media", given, in);
	if (!media)
		return false;
	json_add(out, "media", media);
	json_add_or_null(out, "file_id", cJSON_Duplicate(json_get(media, "file_id"), true));
	json_add_or_null(out, "url", cJSON_Duplicate(json_get(media, "url"), true));
	json_add_or_null(out, "mime_type", cJSON_Duplicate(json_get(media, "mime_type"), true));
	return true;
}

static const struct block_type *block_type_of(const struct field_reader *reader, const cJSON *input)
{
	const struct block_place *place = reader->where;
	const char *name = json_str(input, "type");
	if (!name) {
		block_wrong(reader, "type", json_opt(input, "type") ? FIELD_TYPE : FIELD_MISSING,
		    "a string");
		return NULL;
	}
	for (size_t i = 0; i < sizeof(block_types) / sizeof(*block_types); i++) {
		if (strcmp(name, block_types[i].name) == 0)
			return &block_types[i];
	}
	char *at = xasprintf("%s.type", place->path);
	error_wrong(place->err, at, "value_error",
	    "must be one of text, image, audio, video, document, data, tool_call, "
	    "remote_tool_call, tool_result, reasoning, annotation, error");
	free(at);
	return NULL;
}

cJSON *block_normalise(const cJSON *input, const char *path, struct error *err)
{
	struct block_place place = {path, err};
	const struct field_reader reader = {.report = block_report, .where = &place};
	if (!cJSON_IsObject(input)) {
		error_wrong(err, path, "type_error", "must be an object");
		return NULL;
	}
	const struct block_type *type = block_type_of(&reader, input);
	if (!type)
		return NULL;
	cJSON *out = json_typed(type->name);
	bool ok = !type->has_media || block_add_media(&reader, input, out);
	ok = block_read(&reader, input, type->rows, out) && ok;
	if (ok)
		return out;
	cJSON_Delete(out);
	return NULL;
}
