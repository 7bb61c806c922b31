/* SPDX-License-Identifier: ISC */
/*
 * JSON Schema as Gemini takes it: the subset of OpenAPI's, which refuses a request over any other
 * key.
 */
#include "model/gemini_schema.h"

#include "base/json/json.h"
#include "base/texts.h"

#include <string.h>

/* A schema may refer to itself, and more than once; and clients give some. */
#define MAX_DEPTH 24
#define MAX_OBJECTS 10000
#define MAX_BYTES (256u << 10)

struct walk {
	const cJSON *root;
	unsigned left; /* objects that may still be made */
	size_t bytes;  /* of names and values that may still be copied */
};

/* Keys that are copied as they are. */
static const char *const plain[] = {"title", "description", "minItems", "maxItems", "minProperties",
    "maxProperties", "minLength", "maxLength", "pattern", "minimum", "maximum", "default",
    "required", "nullable", NULL};

static cJSON *gemini_schema_clean(const cJSON *schema, struct walk *w, int depth);

/* Counts what is copied.  Once that was too much, nothing more is. */
static bool gemini_schema_affords(struct walk *w, size_t bytes)
{
	bool affords = bytes <= w->bytes;
	w->bytes = affords ? w->bytes - bytes : 0;
	return affords;
}

static bool gemini_schema_affords_value(struct walk *w, const cJSON *value)
{
	if (!value || w->bytes == 0)
		return false;
	char *text = json_print(value);
	bool affords = gemini_schema_affords(w, strlen(text));
	cJSON_free(text);
	return affords;
}

/* What "#/$defs/name" points at, or NULL. */
static const cJSON *gemini_schema_resolve(const cJSON *root, const char *ref)
{
	static const char *const homes[] = {"$defs", "definitions"};
	const char *name = strrchr(ref, '/');
	for (size_t i = 0; name && i < 2; i++) {
		const cJSON *found = json_opt(json_opt(root, homes[i]), name + 1);
		if (found)
			return found;
	}
	return NULL;
}

/* Adds a type; null beside it makes it nullable, and several others become anyOf. */
static void gemini_schema_add_type(cJSON *out, const cJSON *schema, struct walk *w)
{
	const cJSON *types = json_opt(schema, "type"), *type;
	int others = 0;
	if (types && !gemini_schema_affords_value(w, types))
		return;
	if (cJSON_IsString(types)) {
		json_set(out, "type", cJSON_CreateString(types->valuestring));
		return;
	}
	if (!cJSON_IsArray(types)) {
		if (!json_get(out, "type") && json_opt(schema, "properties"))
			json_set(out, "type", cJSON_CreateString("object"));
		return;
	}
	cJSON_ArrayForEach(type, types) {
		const char *name = cJSON_IsString(type) ? type->valuestring : "null";
		if (strcmp(name, "null") == 0)
			json_set(out, "nullable", cJSON_CreateTrue());
		else if (others++ == 0)
			json_set(out, "type", cJSON_CreateString(name));
	}
	if (others < 2)
		return;
	cJSON_DeleteItemFromObjectCaseSensitive(out, "type");
	cJSON *any = cJSON_AddArrayToObject(out, "anyOf");
	cJSON_ArrayForEach(type, types) {
		if (!cJSON_IsString(type) || strcmp(type->valuestring, "null") == 0)
			continue;
		json_add_str(json_append(any, cJSON_CreateObject()), "type", type->valuestring);
	}
}

/* Adds enum, in which only strings may stand. */
static void gemini_schema_add_enum(cJSON *out, const cJSON *schema, struct walk *w)
{
	const cJSON *values = json_opt(schema, "enum"), *only = json_opt(schema, "const"), *value;
	cJSON *kept = cJSON_CreateArray();
	if (!gemini_schema_affords_value(w, values))
		values = NULL;
	cJSON_ArrayForEach(value, values) {
		if (cJSON_IsString(value) && *value->valuestring)
			cJSON_AddItemToArray(kept, cJSON_CreateString(value->valuestring));
	}
	if (cJSON_IsString(only) && gemini_schema_affords_value(w, only))
		cJSON_AddItemToArray(kept, cJSON_CreateString(only->valuestring));
	if (!kept->child) {
		cJSON_Delete(kept);
		return;
	}
	json_set(out, "enum", kept);
	json_set(out, "type", cJSON_CreateString("string"));
}

static void gemini_schema_add_properties(cJSON *out, const cJSON *schema, struct walk *w, int depth)
{
	const cJSON *properties = json_opt(schema, "properties"), *property;
	if (!cJSON_IsObject(properties) || !properties->child)
		return;
	cJSON *own = json_get(out, "properties");
	if (!own)
		own = cJSON_AddObjectToObject(out, "properties");
	cJSON_ArrayForEach(property, properties) {
		if (!gemini_schema_affords(w, strlen(property->string) + 1))
			break;
		json_set(own, property->string, gemini_schema_clean(property, w, depth));
	}
}

static void gemini_schema_add_choices(cJSON *out, const cJSON *choices, struct walk *w, int depth)
{
	const cJSON *choice;
	if (!cJSON_IsArray(choices) || !choices->child)
		return;
	cJSON *any = cJSON_CreateArray();
	cJSON_ArrayForEach(choice, choices) {
		if (json_str_is(choice, "type", "null"))
			json_set(out, "nullable", cJSON_CreateTrue());
		else
			cJSON_AddItemToArray(any, gemini_schema_clean(choice, w, depth));
	}
	if (any->child)
		json_set(out, "anyOf", any);
	else
		cJSON_Delete(any);
}

static void gemini_schema_add(cJSON *out, const cJSON *schema, struct walk *w, int depth)
{
	static const char *const formats[] = {
	    "enum", "date-time", "int32", "int64", "float", "double", NULL};
	const cJSON *part, *items = json_opt(schema, "items");
	const char *ref = json_str(schema, "$ref"), *format = json_str(schema, "format");
	const cJSON *target = ref ? gemini_schema_resolve(w->root, ref) : NULL;
	if (depth <= 0 || w->left == 0)
		return;
	w->left--;
	if (target)
		gemini_schema_add(out, target, w, depth - 1);
	cJSON_ArrayForEach(part, json_opt(schema, "allOf"))
		gemini_schema_add(out, part, w, depth - 1);
	for (size_t i = 0; plain[i]; i++) {
		const cJSON *value = json_opt(schema, plain[i]);
		if (gemini_schema_affords_value(w, value))
			json_set(out, plain[i], cJSON_Duplicate(value, true));
	}
	gemini_schema_add_type(out, schema, w);
	gemini_schema_add_enum(out, schema, w);
	if (texts_has(formats, format))
		json_set(out, "format", cJSON_CreateString(format));
	gemini_schema_add_properties(out, schema, w, depth - 1);
	if (cJSON_IsObject(items))
		json_set(out, "items", gemini_schema_clean(items, w, depth - 1));
	gemini_schema_add_choices(out, json_opt(schema, "anyOf"), w, depth - 1);
	gemini_schema_add_choices(out, json_opt(schema, "oneOf"), w, depth - 1);
}

static cJSON *gemini_schema_clean(const cJSON *schema, struct walk *w, int depth)
{
	cJSON *out = cJSON_CreateObject();
	gemini_schema_add(out, schema, w, depth);
	/* a required property that is not there is an error too */
	cJSON *required = json_get(out, "required"), *next;
	for (cJSON *name = required ? required->child : NULL; name; name = next) {
		next = name->next;
		if (!cJSON_IsString(name) ||
		    !json_get(json_get(out, "properties"), name->valuestring))
			cJSON_Delete(cJSON_DetachItemViaPointer(required, name));
	}
	if (required && !required->child)
		cJSON_DeleteItemFromObjectCaseSensitive(out, "required");
	return out;
}

cJSON *gemini_schema(const cJSON *schema)
{
	struct walk w = {schema, MAX_OBJECTS, MAX_BYTES};
	return gemini_schema_clean(schema, &w, MAX_DEPTH);
}

void gemini_add_parameters(cJSON *function, const cJSON *schema)
{
	cJSON *taken = gemini_schema(schema);
	if (json_get(taken, "properties"))
		json_add(function, "parameters", taken);
	else
		cJSON_Delete(taken);
}
