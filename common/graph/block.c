/* SPDX-License-Identifier: ISC */
/* A table of block types with their members, and the normalising of each kind. */
#include "graph/block.h"

#include "base/json.h"
#include "graph/media_url.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define PATH_SIZE 512

enum field_kind {
	F_TEXT,      /* string, "" by default */
	F_NEED_TEXT, /* string that must be there */
	F_STRING,    /* string or null */
	F_NUMBER,    /* number or null */
	F_BOOL,      /* false by default */
	F_OBJECT,    /* object, {} by default */
	F_ARRAY,     /* array, [] by default */
	F_NUMBERS,   /* array of four numbers, or null */
	F_INTEGERS,  /* array of integers, or null */
	F_STRINGS,   /* array of strings, [] by default */
	F_REFS,      /* array of citation targets */
	F_SPANS,     /* array of pairs of integers */
	F_ANY,       /* any JSON, null by default */
	F_MEDIA,     /* the block's own source */
	F_THUMBNAIL, /* a media object or null */
	F_STATUS,    /* follows is_error */
	F_NULL       /* always null: inline data stands in media alone */
};

struct block_field {
	const char *name;
	enum field_kind kind;
	const char *const *values; /* F_TEXT: the one or two allowed; the first is the default */
};

struct block_type {
	const char *name;
	struct block_field fields[8];
};

static const char *const local_types[] = {"local", "mcp", NULL};
static const char *const remote_types[] = {"remote", NULL};
static const char *const annotation_kinds[] = {"citation", "note", NULL};

static const struct block_type block_types[] = {
    {"text", {{"text", F_NEED_TEXT, NULL}, {"annotations", F_ARRAY, NULL}}},
    {"image", {{"media", F_MEDIA, NULL}, {"alt_text", F_STRING, NULL}, {"bbox", F_NUMBERS, NULL}}},
    {"audio",
	{{"media", F_MEDIA, NULL}, {"transcript", F_STRING, NULL}, {"sample_rate", F_NUMBER, NULL},
	    {"channels", F_NUMBER, NULL}}},
    {"video", {{"media", F_MEDIA, NULL}, {"thumbnail", F_THUMBNAIL, NULL}}},
    {"document",
	{{"media", F_MEDIA, NULL}, {"pages", F_INTEGERS, NULL}, {"excerpt", F_STRING, NULL}}},
    {"data", {{"media", F_MEDIA, NULL}, {"data_base64", F_NULL, NULL}}},
    {"tool_call",
	{{"id", F_NEED_TEXT, NULL}, {"name", F_NEED_TEXT, NULL}, {"args", F_OBJECT, NULL},
	    {"tool_type", F_TEXT, local_types}}},
    {"remote_tool_call",
	{{"id", F_NEED_TEXT, NULL}, {"name", F_NEED_TEXT, NULL}, {"args", F_OBJECT, NULL},
	    {"tool_type", F_TEXT, remote_types}}},
    {"tool_result",
	{{"call_id", F_NEED_TEXT, NULL}, {"output", F_ANY, NULL}, {"is_error", F_BOOL, NULL},
	    {"status", F_STATUS, NULL}}},
    {"reasoning", {{"summary", F_TEXT, NULL}, {"details", F_STRINGS, NULL}}},
    {"annotation",
	{{"kind", F_TEXT, annotation_kinds}, {"refs", F_REFS, NULL}, {"spans", F_SPANS, NULL}}},
    {"error", {{"message", F_TEXT, NULL}, {"code", F_ANY, NULL}, {"data", F_ANY, NULL}}},
};

/* Members of a media object in their order; kind and the sources are set apart. */
static const struct block_field media_details[] = {{"mime_type", F_STRING, NULL},
    {"size_bytes", F_NUMBER, NULL}, {"sha256", F_STRING, NULL}, {"filename", F_STRING, NULL},
    {"width", F_NUMBER, NULL}, {"height", F_NUMBER, NULL}, {"duration_ms", F_NUMBER, NULL},
    {"page", F_NUMBER, NULL}};

static const struct block_field ref_fields[] = {{"url", F_STRING, NULL},
    {"file_id", F_STRING, NULL}, {"page", F_NUMBER, NULL}, {"index", F_NUMBER, NULL},
    {"title", F_STRING, NULL}};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const char *path_in_body(const char *path)
{
	const char *dot = strchr(path, '.');
	return dot ? dot + 1 : path;
}

/* Where a member stands, and the mistake that it has the wrong type. */
static bool block_wrong(struct error *err, const char *path, const char *name, const char *expected)
{
	char at[PATH_SIZE];
	snprintf(at, sizeof(at), "%s.%s", path, name);
	return error_field(
	    err, ERR_VALIDATION, at, "type_error", "%s must be %s", path_in_body(at), expected);
}

static bool all_of(const cJSON *array, bool (*test)(const cJSON *item))
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

static bool is_integer(const cJSON *item)
{
	int64_t value;
	return json_integer(item, &value);
}

static bool is_string(const cJSON *item)
{
	return cJSON_IsString(item);
}

static bool is_pair(const cJSON *item)
{
	return cJSON_GetArraySize(item) == 2 && all_of(item, is_integer);
}

static bool is_box(const cJSON *item)
{
	return cJSON_GetArraySize(item) == 4 && all_of(item, json_is_number);
}

static bool is_object(const cJSON *item)
{
	return cJSON_IsObject(item);
}

/* What a field of a kind accepts; NULL test: anything. */
static const struct {
	bool (*test)(const cJSON *item);
	const char *expected;
	const char *absent; /* JSON text where the member is not given */
} field_rules[] = {
    [F_TEXT] = {is_string, "a string", "\"\""},
    [F_NEED_TEXT] = {is_string, "a string", NULL},
    [F_STRING] = {is_string, "a string or null", "null"},
    [F_NUMBER] = {json_is_number, "a number or null", "null"},
    [F_BOOL] = {NULL, "true or false", "false"},
    [F_OBJECT] = {is_object, "an object", "{}"},
    [F_ARRAY] = {NULL, "an array", "[]"},
    [F_NUMBERS] = {is_box, "an array of four numbers", "null"},
    [F_INTEGERS] = {NULL, "an array of integers", "null"},
    [F_STRINGS] = {NULL, "an array of strings", "[]"},
    [F_REFS] = {NULL, "an array of objects", "[]"},
    [F_SPANS] = {NULL, "an array of pairs of integers", "[]"},
    [F_ANY] = {NULL, NULL, "null"},
    [F_MEDIA] = {NULL, NULL, NULL},
    [F_THUMBNAIL] = {is_object, "a media object or null", "null"},
    [F_STATUS] = {NULL, NULL, NULL},
    [F_NULL] = {NULL, NULL, "null"},
};

static bool block_fits(enum field_kind kind, const cJSON *value)
{
	switch (kind) {
	case F_BOOL:
		return cJSON_IsBool(value);
	case F_ARRAY:
		return cJSON_IsArray(value);
	case F_INTEGERS:
		return all_of(value, is_integer);
	case F_STRINGS:
		return all_of(value, is_string);
	case F_REFS:
		return all_of(value, is_object);
	case F_SPANS:
		return all_of(value, is_pair);
	case F_TEXT:
	case F_NEED_TEXT:
	case F_STRING:
	case F_NUMBER:
	case F_OBJECT:
	case F_NUMBERS:
	case F_THUMBNAIL:
		return field_rules[kind].test(value);
	case F_ANY:
	case F_MEDIA:
	case F_STATUS:
	case F_NULL:
		return true;
	}
	return false;
}

static bool block_one_of(const char *value, const char *const *values)
{
	for (; *values; values++) {
		if (strcmp(value, *values) == 0)
			return true;
	}
	return false;
}

/* Where words are the one or two that a member may be. */
static bool wrong_word(
    struct error *err, const char *path, const char *name, const char *const *words)
{
	char expected[64];
	snprintf(expected, sizeof(expected), "%s%s%s", words[0], words[1] ? " or " : "",
	    words[1] ? words[1] : "");
	return block_wrong(err, path, name, expected);
}

static cJSON *absent_value(const struct block_field *field)
{
	if (field->values)
		return cJSON_CreateString(field->values[0]);
	return cJSON_Parse(field_rules[field->kind].absent);
}

/* Copies one plain member; false with err set. */
static bool copy_field(cJSON *out, const cJSON *in, const struct block_field *field,
    const char *path, struct error *err)
{
	const cJSON *value = field->kind == F_NULL ? NULL : json_opt(in, field->name);
	if (!value && field->kind == F_NEED_TEXT)
		return block_wrong(err, path, field->name, "a string");
	if (!value) {
		cJSON_AddItemToObject(out, field->name, absent_value(field));
		return true;
	}
	if (!block_fits(field->kind, value))
		return block_wrong(err, path, field->name, field_rules[field->kind].expected);
	if (field->values && !block_one_of(value->valuestring, field->values))
		return wrong_word(err, path, field->name, field->values);
	cJSON_AddItemToObject(out, field->name, cJSON_Duplicate(value, true));
	return true;
}

static bool copy_fields(cJSON *out, const cJSON *in, const struct block_field *fields, size_t count,
    const char *path, struct error *err)
{
	bool ok = true;
	for (size_t i = 0; i < count; i++)
		ok = copy_field(out, in, &fields[i], path, err) && ok;
	return ok;
}

static bool base64_valid(const char *s)
{
	size_t len = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
	size_t pad = strspn(s + len, "=");
	return s[len + pad] == '\0' && pad <= 2 && (len + pad) % 4 == 0;
}

static bool web_url(const char *url)
{
	return strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0;
}

/* A source's member: the media object's own, else the short form on the block. */
static const cJSON *source(const cJSON *media, const cJSON *block, const char *name)
{
	const cJSON *item = json_opt(media, name);
	return item ? item : json_opt(block, name);
}

struct media_source {
	const cJSON *file_id, *url, *data, *mime_type;
};

static bool source_types(const struct media_source *s, const char *path, struct error *err)
{
	const cJSON *type = s->mime_type;
	bool ok = true;
	if (s->file_id && !(cJSON_IsString(s->file_id) && *s->file_id->valuestring))
		ok = block_wrong(err, path, "file_id", "a string that is not empty");
	if (s->url && !(cJSON_IsString(s->url) && web_url(s->url->valuestring)))
		ok = block_wrong(err, path, "url", "an http or https URL");
	if (s->data && !(cJSON_IsString(s->data) && base64_valid(s->data->valuestring)))
		ok = block_wrong(err, path, "data_base64", "valid base64");
	if (type && !cJSON_IsString(type))
		ok = block_wrong(err, path, "mime_type", "a string");
	else if (s->data && !(type && *type->valuestring))
		ok = block_wrong(err, path, "mime_type", "given with data_base64");
	if (s->file_id || s->url || s->data)
		return ok;
	return error_field(err, ERR_VALIDATION, path, "missing",
	    "%s needs one of file_id, url, data_base64", path_in_body(path));
}

/* What the url means takes its place, where that is not given already. */
static void source_replace_url(struct media_source *s, const cJSON *meant)
{
	const cJSON *data = json_get(meant, "data_base64");
	s->url = NULL;
	if (!s->file_id)
		s->file_id = json_get(meant, "file_id");
	if (!s->data && data) {
		s->data = data;
		s->mime_type = json_get(meant, "mime_type");
	}
}

static const char *source_kind(const struct media_source *s)
{
	if (s->file_id)
		return "file_id";
	return s->url ? "url" : "data";
}

static void add_or_null(cJSON *out, const char *name, const cJSON *value)
{
	cJSON_AddItemToObject(out, name, value ? cJSON_Duplicate(value, true) : cJSON_CreateNull());
}

/* The media object of a block from its two input forms; NULL with err set. */
static cJSON *media_object(
    const cJSON *media, const cJSON *block, const char *path, struct error *err)
{
	if (media && !cJSON_IsObject(media)) {
		block_wrong(err, path, "media", "an object");
		return NULL;
	}
	struct media_source s = {source(media, block, "file_id"), source(media, block, "url"),
	    source(media, block, "data_base64"), source(media, block, "mime_type")};
	if (!s.data)
		s.data = source(media, block, "data");
	cJSON *meant = cJSON_IsString(s.url) ? media_url_read(s.url->valuestring) : NULL;
	if (meant)
		source_replace_url(&s, meant);
	bool ok = source_types(&s, path, err);
	cJSON *out = cJSON_CreateObject();
	cJSON_AddStringToObject(out, "kind", source_kind(&s));
	add_or_null(out, "url", s.url);
	add_or_null(out, "file_id", s.file_id);
	add_or_null(out, "data_base64", s.data);
	ok = copy_fields(out, media, media_details, COUNT(media_details), path, err) && ok;
	if (ok && s.mime_type)
		json_set(out, "mime_type", cJSON_Duplicate(s.mime_type, true));
	cJSON_Delete(meant);
	if (ok)
		return out;
	cJSON_Delete(out);
	return NULL;
}

/* media, and its file_id, url and mime_type on the block once more. */
static bool block_add_media(cJSON *out, const cJSON *in, const char *path, struct error *err)
{
	cJSON *media = media_object(json_opt(in, "media"), in, path, err);
	if (!media)
		return false;
	cJSON_AddItemToObject(out, "media", media);
	add_or_null(out, "file_id", json_get(media, "file_id"));
	add_or_null(out, "url", json_get(media, "url"));
	add_or_null(out, "mime_type", json_get(media, "mime_type"));
	return true;
}

static bool add_thumbnail(cJSON *out, const cJSON *in, const char *path, struct error *err)
{
	const cJSON *thumbnail = json_opt(in, "thumbnail");
	if (!thumbnail) {
		cJSON_AddNullToObject(out, "thumbnail");
		return true;
	}
	char at[PATH_SIZE];
	snprintf(at, sizeof(at), "%s.thumbnail", path);
	cJSON *media = media_object(thumbnail, NULL, at, err);
	if (!media)
		return false;
	cJSON_AddItemToObject(out, "thumbnail", media);
	return true;
}

static bool add_refs(cJSON *out, const cJSON *in, const char *path, struct error *err)
{
	const cJSON *refs = json_opt(in, "refs"), *ref;
	if (refs && !block_fits(F_REFS, refs))
		return block_wrong(err, path, "refs", field_rules[F_REFS].expected);
	cJSON *array = cJSON_AddArrayToObject(out, "refs");
	bool ok = true;
	cJSON_ArrayForEach(ref, refs) {
		cJSON *copy = cJSON_CreateObject();
		cJSON_AddItemToArray(array, copy);
		ok = copy_fields(copy, ref, ref_fields, COUNT(ref_fields), path, err) && ok;
	}
	return ok;
}

static bool block_add_field(cJSON *out, const cJSON *in, const struct block_field *field,
    const char *path, struct error *err)
{
	switch (field->kind) {
	case F_MEDIA:
		return block_add_media(out, in, path, err);
	case F_THUMBNAIL:
		return add_thumbnail(out, in, path, err);
	case F_REFS:
		return add_refs(out, in, path, err);
	case F_STATUS:
		cJSON_AddStringToObject(out, "status",
		    cJSON_IsTrue(json_get(out, "is_error")) ? "failed" : "completed");
		return true;
	case F_TEXT:
	case F_NEED_TEXT:
	case F_STRING:
	case F_NUMBER:
	case F_BOOL:
	case F_OBJECT:
	case F_ARRAY:
	case F_NUMBERS:
	case F_INTEGERS:
	case F_STRINGS:
	case F_SPANS:
	case F_ANY:
	case F_NULL:
		break;
	}
	return copy_field(out, in, field, path, err);
}

static const struct block_type *block_type_of(
    const cJSON *input, const char *path, struct error *err)
{
	const char *name = json_str(input, "type");
	if (!name) {
		block_wrong(err, path, "type", "a string");
		return NULL;
	}
	for (size_t i = 0; i < COUNT(block_types); i++) {
		if (strcmp(name, block_types[i].name) == 0)
			return &block_types[i];
	}
	char at[PATH_SIZE];
	snprintf(at, sizeof(at), "%s.type", path);
	error_field(err, ERR_VALIDATION, at, "value_error",
	    "%s must be one of text, image, audio, video, document, data, tool_call, "
	    "remote_tool_call, tool_result, reasoning, annotation, error",
	    path_in_body(at));
	return NULL;
}

cJSON *block_normalise(const cJSON *input, const char *path, struct error *err)
{
	if (!cJSON_IsObject(input)) {
		error_field(err, ERR_VALIDATION, path, "type_error", "%s must be an object",
		    path_in_body(path));
		return NULL;
	}
	const struct block_type *type = block_type_of(input, path, err);
	if (!type)
		return NULL;
	cJSON *out = cJSON_CreateObject();
	cJSON_AddStringToObject(out, "type", type->name);
	bool ok = true;
	for (const struct block_field *f = type->fields; f->name; f++)
		ok = block_add_field(out, input, f, path, err) && ok;
	if (ok)
		return out;
	cJSON_Delete(out);
	return NULL;
}
