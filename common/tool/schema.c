/* SPDX-License-Identifier: ISC */
/* Compiling: each keyword becomes a check, and references are resolved at the end. */
#include "tool/schema.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/texts.h"
#include "tool/decimal.h"
#include "tool/pattern.h"
#include "tool/schema_internal.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SCHEMAS 10000
#define MOST_DEPTH 200
#define MOST_LOOKS 20000000 /* how many places are looked at for where references lead */
#define MOST_TOLD 100       /* mistakes, and as many warnings */

enum told { MISTAKE, WARNING };

/* A schema while it is compiled. */
struct compiler {
	struct schema *schema;
	const cJSON *root;
	const char *where;
	struct problems *problems;
	size_t errors; /* how many errors there were before this schema */
	bool ref_stands_alone;
	unsigned depth;
	/* all schemas before references are resolved, sorted by their places */
	struct subschema **known;
	size_t known_count;
	size_t looks;   /* how many looks are left */
	size_t told[2]; /* of each kind */
};

/* ---- Mistakes */

static void schema_add_spot(struct buf *out, const struct spot *at)
{
	if (!at)
		return;
	schema_add_spot(out, at->up);
	if (at->key)
		buf_printf(out, "/%.64s", at->key);
	else
		buf_printf(out, "/%zu", at->index);
}

__attribute__((format(printf, 4, 5))) static void schema_report(
    struct compiler *c, const struct spot *at, enum told kind, const char *fmt, ...)
{
	struct buf path = {0};
	va_list args;
	if (c->told[kind]++ >= MOST_TOLD)
		return;
	va_start(args, fmt);
	char *what = xvasprintf(fmt, args);
	va_end(args);
	schema_add_spot(&path, at);
	(kind == WARNING ? problems_warn : problems_add)(
	    c->problems, "%s%s: %s", c->where, buf_str(&path), what);
	buf_release(&path);
	free(what);
}

#define SPOT(up, key) (&(const struct spot){(up), (key), 0})
#define SPOT_INDEX(up, index) (&(const struct spot){(up), NULL, (index)})

/* ---- Parts */

static struct check *check_add(struct subschema *s, check_fn *fits, const cJSON *json)
{
	s->checks = xrealloc(s->checks, (s->check_count + 1) * sizeof(*s->checks));
	struct check *check = &s->checks[s->check_count++];
	*check = (struct check){.fits = fits, .json = json};
	return check;
}

static struct subschema *subschema_compile(
    struct compiler *c, const struct spot *at, const cJSON *json);

static struct subschema **check_subs_new(struct check *check, size_t count)
{
	check->subs = xcalloc(count + 1, sizeof(struct subschema *));
	check->sub_count = count;
	return check->subs;
}

static struct pattern *schema_read_pattern(
    struct compiler *c, const struct spot *at, const char *text)
{
	enum pattern_fault fault;
	const char *why;
	struct pattern *pattern = pattern_compile(text, &fault, &why);
	if (fault == PATTERN_INVALID)
		schema_report(c, at, MISTAKE, "expected a regular expression, this one %s", why);
	else if (fault == PATTERN_UNKNOWN)
		schema_report(c, at, WARNING, "the regular expression %s and is not checked", why);
	return pattern;
}

/* ---- Keywords: each is given its value, and the schema that it stands in */

struct keyword_call {
	struct compiler *c;
	struct subschema *s;
	const struct spot *at; /* of the value */
	const cJSON *json;
	check_fn *fits; /* from the table */
};

static bool schema_is_strings(const cJSON *json)
{
	const cJSON *item;
	if (!cJSON_IsArray(json))
		return false;
	cJSON_ArrayForEach(item, json) {
		if (!cJSON_IsString(item))
			return false;
	}
	return true;
}

static void keyword_compile_type(const struct keyword_call *k)
{
	static const char *const names[] = {
	    "null", "boolean", "object", "array", "number", "integer", "string", NULL};
	const cJSON *item = cJSON_IsArray(k->json) ? k->json->child : k->json;
	bool known = item != NULL;
	for (; item && known; item = item == k->json ? NULL : item->next)
		known = texts_has(names, cJSON_GetStringValue(item));
	if (known)
		check_add(k->s, k->fits, k->json);
	else
		schema_report(k->c, k->at, MISTAKE,
		    "expected one of null, boolean, object, array, number, integer, string, or "
		    "an array of them");
}

static void keyword_compile_value(const struct keyword_call *k)
{
	check_add(k->s, k->fits, k->json);
}

static void keyword_compile_values(const struct keyword_call *k)
{
	if (cJSON_IsArray(k->json))
		check_add(k->s, k->fits, k->json);
	else
		schema_report(k->c, k->at, MISTAKE, "expected an array");
}

/* Draft-04 has booleans beside maximum and minimum. */
static void keyword_compile_number(const struct keyword_call *k)
{
	if (json_is_number(k->json))
		check_add(k->s, k->fits, k->json);
	else if (!cJSON_IsBool(k->json) || (k->fits != check_below && k->fits != check_above))
		schema_report(k->c, k->at, MISTAKE, "expected a number");
	else if (cJSON_IsTrue(k->json))
		schema_report(k->c, k->at, WARNING,
		    "expected a number; true, as in draft-04, is not checked");
}

static void keyword_compile_multiple(const struct keyword_call *k)
{
	double number;
	if (json_number(k->json, &number) && number > 0)
		check_add(k->s, k->fits, k->json);
	else
		schema_report(k->c, k->at, MISTAKE, "expected a number greater than 0");
}

static void keyword_compile_count(const struct keyword_call *k)
{
	double number;
	if (!json_number(k->json, &number) || number < 0 || !decimal_is_integer(k->json))
		schema_report(k->c, k->at, MISTAKE, "expected an integer of at least 0");
	else
		check_add(k->s, k->fits, k->json)->number =
		    number >= (double)SIZE_MAX ? SIZE_MAX : (size_t)number;
}

static void keyword_compile_pattern(const struct keyword_call *k)
{
	if (!cJSON_IsString(k->json)) {
		schema_report(k->c, k->at, MISTAKE, "expected a string");
		return;
	}
	struct pattern *pattern = schema_read_pattern(k->c, k->at, k->json->valuestring);
	if (pattern)
		check_add(k->s, k->fits, k->json)->pattern = pattern;
}

static void keyword_compile_flag(const struct keyword_call *k)
{
	if (!cJSON_IsBool(k->json))
		schema_report(k->c, k->at, MISTAKE, "expected true or false");
	else if (cJSON_IsTrue(k->json))
		check_add(k->s, k->fits, k->json);
}

static void keyword_compile_names(const struct keyword_call *k)
{
	if (schema_is_strings(k->json))
		check_add(k->s, k->fits, k->json);
	else if (!cJSON_IsBool(k->json)) /* draft-03 has a boolean at each property */
		schema_report(k->c, k->at, MISTAKE, "expected an array of strings");
}

static void keyword_compile_schema(const struct keyword_call *k)
{
	struct subschema *sub = subschema_compile(k->c, k->at, k->json);
	check_subs_new(check_add(k->s, k->fits, k->json), 1)[0] = sub;
}

static void keyword_compile_schemas(const struct keyword_call *k)
{
	const cJSON *item;
	size_t i = 0;
	if (!cJSON_IsArray(k->json) || !k->json->child) {
		schema_report(k->c, k->at, MISTAKE, "expected an array of schemas");
		return;
	}
	size_t count = (size_t)cJSON_GetArraySize(k->json);
	struct subschema **subs = check_subs_new(check_add(k->s, k->fits, k->json), count);
	cJSON_ArrayForEach(item, k->json) {
		subs[i] = subschema_compile(k->c, SPOT_INDEX(k->at, i), item);
		i++;
	}
}

static void keyword_compile_contains(const struct keyword_call *k)
{
	struct subschema *sub = subschema_compile(k->c, k->at, k->json);
	check_subs_new(check_add(k->s, k->fits, k->s->json), 1)[0] = sub;
}

/* dependencies of draft-07 are names or schemas; the later keywords are one of them each. */
static void keyword_compile_dependent(const struct keyword_call *k)
{
	const cJSON *item;
	size_t i = 0;
	if (!cJSON_IsObject(k->json)) {
		schema_report(k->c, k->at, MISTAKE, "expected an object");
		return;
	}
	struct subschema **subs = check_subs_new(
	    check_add(k->s, check_dependent_schemas, k->json), (size_t)cJSON_GetArraySize(k->json));
	check_add(k->s, check_dependent_names, k->json);
	cJSON_ArrayForEach(item, k->json) {
		const struct spot *at = SPOT(k->at, item->string);
		if (!cJSON_IsArray(item))
			subs[i] = subschema_compile(k->c, at, item);
		else if (!schema_is_strings(item))
			schema_report(k->c, at, MISTAKE, "expected an array of strings");
		i++;
	}
}

static void keyword_compile_condition(const struct keyword_call *k)
{
	static const char *const names[] = {"if", "then", "else"};
	struct subschema *subs[3] = {NULL, NULL, NULL};
	for (size_t i = 0; i < 3; i++) {
		const cJSON *json = json_get(k->s->json, names[i]);
		if (json)
			subs[i] = subschema_compile(k->c, SPOT(k->at->up, names[i]), json);
	}
	memcpy(check_subs_new(check_add(k->s, k->fits, k->json), 3), subs, sizeof(subs));
}

static void keyword_compile_unserved(const struct keyword_call *k)
{
	schema_report(k->c, k->at, WARNING, "this keyword is not checked");
}

/* ---- Arrays: items and what came before it */

static void subschema_compile_array(struct compiler *c, struct subschema *s, const struct spot *at)
{
	const cJSON *prefix = json_get(s->json, "prefixItems"), *items = json_get(s->json, "items");
	const cJSON *item;
	const char *first_name = "prefixItems", *rest_name = "items";
	size_t i = 0;
	if (!prefix && cJSON_IsArray(items)) {
		prefix = items;
		items = json_get(s->json, "additionalItems");
		first_name = "items";
		rest_name = "additionalItems";
	}
	if (!prefix && !items)
		return;
	if (prefix && !cJSON_IsArray(prefix)) {
		schema_report(c, SPOT(at, first_name), MISTAKE, "expected an array of schemas");
		return;
	}
	size_t count = prefix ? (size_t)cJSON_GetArraySize(prefix) : 0;
	struct subschema **subs = check_subs_new(check_add(s, check_array, s->json), count + 1);
	cJSON_ArrayForEach(item, prefix) {
		subs[i] = subschema_compile(c, SPOT_INDEX(SPOT(at, first_name), i), item);
		i++;
	}
	if (items)
		subs[count] = subschema_compile(c, SPOT(at, rest_name), items);
}

/* ---- Objects: properties and their like */

static const cJSON *object_member(
    struct compiler *c, const struct spot *at, const cJSON *json, const char *name)
{
	const cJSON *member = json_get(json, name);
	if (member && !cJSON_IsObject(member)) {
		schema_report(c, SPOT(at, name), MISTAKE, "expected an object");
		return NULL;
	}
	return member;
}

static void subschema_compile_object(struct compiler *c, struct subschema *s, const struct spot *at)
{
	const cJSON *properties = object_member(c, at, s->json, "properties");
	const cJSON *patterns = object_member(c, at, s->json, "patternProperties");
	const cJSON *others = json_get(s->json, "additionalProperties"), *item;
	bool all = true;
	if (!properties && !patterns && !others)
		return;
	struct object_rule *rule = xcalloc(1, sizeof(*rule));
	check_add(s, check_object, s->json)->object = rule;
	rule->names = xcalloc((size_t)cJSON_GetArraySize(properties) + 1, sizeof(*rule->names));
	cJSON_ArrayForEach(item, properties) {
		struct subschema *sub =
		    subschema_compile(c, SPOT(SPOT(at, "properties"), item->string), item);
		rule->names[rule->name_count++] = (struct member_rule){item->string, sub};
	}
	qsort(rule->names, rule->name_count, sizeof(*rule->names), member_rule_order);
	rule->patterns = xcalloc((size_t)cJSON_GetArraySize(patterns) + 1, sizeof(*rule->patterns));
	cJSON_ArrayForEach(item, patterns) {
		const struct spot *here = SPOT(SPOT(at, "patternProperties"), item->string);
		struct subschema *sub = subschema_compile(c, here, item);
		struct pattern *pattern = schema_read_pattern(c, here, item->string);
		if (pattern)
			rule->patterns[rule->pattern_count++] = (struct pattern_rule){pattern, sub};
		else
			all = false;
	}
	struct subschema *sub =
	    others ? subschema_compile(c, SPOT(at, "additionalProperties"), others) : NULL;
	/* where a pattern is not checked, nothing can be said about other members */
	rule->others = all ? sub : NULL;
}

/* ---- The table */

static const struct {
	const char *name;
	void (*compile)(const struct keyword_call *k);
	check_fn *fits;
} keywords[] = {{"type", keyword_compile_type, check_type},
    {"enum", keyword_compile_values, check_enum}, {"const", keyword_compile_value, check_const},
    {"maximum", keyword_compile_number, check_maximum},
    {"minimum", keyword_compile_number, check_minimum},
    {"exclusiveMaximum", keyword_compile_number, check_below},
    {"exclusiveMinimum", keyword_compile_number, check_above},
    {"multipleOf", keyword_compile_multiple, check_multiple},
    {"maxLength", keyword_compile_count, check_max_length},
    {"minLength", keyword_compile_count, check_min_length},
    {"pattern", keyword_compile_pattern, check_pattern},
    {"maxItems", keyword_compile_count, check_max_items},
    {"minItems", keyword_compile_count, check_min_items},
    {"uniqueItems", keyword_compile_flag, check_unique},
    {"contains", keyword_compile_contains, check_contains},
    {"maxProperties", keyword_compile_count, check_max_properties},
    {"minProperties", keyword_compile_count, check_min_properties},
    {"required", keyword_compile_names, check_required},
    {"propertyNames", keyword_compile_schema, check_names},
    {"dependencies", keyword_compile_dependent, NULL},
    {"dependentRequired", keyword_compile_dependent, NULL},
    {"dependentSchemas", keyword_compile_dependent, NULL},
    {"allOf", keyword_compile_schemas, check_all}, {"anyOf", keyword_compile_schemas, check_any},
    {"oneOf", keyword_compile_schemas, check_one}, {"not", keyword_compile_schema, check_not},
    {"if", keyword_compile_condition, check_condition},
    {"unevaluatedProperties", keyword_compile_unserved, NULL},
    {"unevaluatedItems", keyword_compile_unserved, NULL},
    {"$dynamicRef", keyword_compile_unserved, NULL}};

/* The schema of json; never NULL: one with mistakes allows everything. */
static struct subschema *subschema_compile(
    struct compiler *c, const struct spot *at, const cJSON *json)
{
	struct schema *schema = c->schema;
	struct subschema *s = xcalloc(1, sizeof(*s));
	s->json = json;
	s->never = cJSON_IsFalse(json);
	schema->all = xgrow(schema->all, schema->count, sizeof(*schema->all));
	schema->all[schema->count++] = s;
	if (cJSON_IsBool(json))
		return s;
	if (!cJSON_IsObject(json)) {
		schema_report(c, at, MISTAKE, "expected a schema, found %s", json_type_name(json));
		return s;
	}
	if (schema->count > MOST_SCHEMAS || c->depth >= MOST_DEPTH) {
		if (c->problems->errors == c->errors)
			schema_report(c, at, MISTAKE, "expected a smaller schema");
		return s;
	}
	if (cJSON_IsString(json_get(json, "$ref")) && c->ref_stands_alone)
		return s;
	c->depth++;
	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
		const cJSON *value = json_get(json, keywords[i].name);
		const struct keyword_call call = {.c = c,
		    .s = s,
		    .at = SPOT(at, keywords[i].name),
		    .json = value,
		    .fits = keywords[i].fits};
		if (value)
			keywords[i].compile(&call);
	}
	subschema_compile_array(c, s, at);
	subschema_compile_object(c, s, at);
	c->depth--;
	return s;
}

/* ---- References */

static int subschema_order(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)(*(struct subschema *const *)a)->json;
	uintptr_t y = (uintptr_t)(*(struct subschema *const *)b)->json;
	return (x > y) - (x < y);
}

static void schema_resolve(struct compiler *c, struct subschema *s, const cJSON *ref)
{
	const cJSON *target = schema_reference(c->root, ref->valuestring, &c->looks);
	if (!target && c->looks) {
		schema_report(c, SPOT(NULL, "$ref"), MISTAKE,
		    "expected a reference to a place in this schema, found '%.80s'",
		    ref->valuestring);
		return;
	}
	if (!target)
		return;
	/* the schema that was made of the target already, or a new one */
	const struct subschema key = {.json = target}, *wanted = &key;
	struct subschema **known =
	    bsearch(&wanted, c->known, c->known_count, sizeof(*c->known), subschema_order);
	for (size_t i = c->known_count; i < c->schema->count && !known; i++) {
		if (c->schema->all[i]->json == target)
			known = &c->schema->all[i];
	}
	struct subschema *sub = known ? *known : subschema_compile(c, SPOT(NULL, "$ref"), target);
	check_subs_new(check_add(s, check_all, ref), 1)[0] = sub;
}

struct schema *schema_compile(const cJSON *json, const char *where, struct problems *problems)
{
	struct schema *schema = xcalloc(1, sizeof(*schema));
	const char *draft = json_str(json, "$schema");
	struct compiler c = {.schema = schema,
	    .root = json,
	    .where = where,
	    .problems = problems,
	    .errors = problems->errors,
	    /* up to draft-07 what stands beside "$ref" is ignored */
	    .ref_stands_alone = draft && strstr(draft, "draft-0") != NULL,
	    .looks = MOST_LOOKS};
	schema->root = subschema_compile(&c, NULL, json);
	c.known_count = schema->count;
	c.known = xcalloc(c.known_count, sizeof(*c.known));
	memcpy(c.known, schema->all, c.known_count * sizeof(*c.known));
	qsort(c.known, c.known_count, sizeof(*c.known), subschema_order);
	/* compiling a target adds schemas at the end, whose references come later */
	for (size_t i = 0; i < schema->count && c.looks; i++) {
		const cJSON *ref = json_get(schema->all[i]->json, "$ref");
		if (cJSON_IsString(ref))
			schema_resolve(&c, schema->all[i], ref);
		else if (ref)
			schema_report(&c, SPOT(NULL, "$ref"), MISTAKE, "expected a string");
	}
	if (!c.looks)
		schema_report(&c, NULL, MISTAKE, "expected fewer references, or a smaller schema");
	free(c.known);
	if (problems->errors == c.errors)
		return schema;
	schema_free(schema);
	return NULL;
}

void schema_free(struct schema *schema)
{
	if (!schema)
		return;
	for (size_t i = 0; i < schema->count; i++) {
		struct subschema *s = schema->all[i];
		for (size_t k = 0; k < s->check_count; k++) {
			struct object_rule *rule = s->checks[k].object;
			free(s->checks[k].subs);
			pattern_free(s->checks[k].pattern);
			for (size_t p = 0; rule && p < rule->pattern_count; p++)
				pattern_free(rule->patterns[p].pattern);
			free(rule ? rule->names : NULL);
			free(rule ? rule->patterns : NULL);
			free(rule);
		}
		free(s->checks);
		free(s);
	}
	free(schema->all);
	free(schema);
}
