/* Checking a value against a compiled schema. */
#include "base/buf.h"
#include "base/json.h"
#include "base/json_members.h"
#include "base/memory.h"
#include "tool/decimal.h"
#include "tool/pattern.h"
#include "tool/schema_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WORK 2000000      /* steps: well under a second */
#define MOST_DEPTH 400         /* schemas in each other; a thread's stack holds thrice that */
#define MOST_MATCHING 20000000 /* steps of regular expressions, shorter ones */
#define KEY_SHOWN 64           /* bytes of one member's name in a sentence */
#define VALUES_SHOWN 200       /* bytes of an enumeration in a sentence */
#define TYPES_MOST 160

struct walk {
	const struct spot *at;
	const char *name; /* of the whole value */
	char *why;        /* SCHEMA_WHY_SIZE bytes, "" until something is wrong */
	unsigned quiet;   /* > 0: a mismatch here decides nothing alone */
	unsigned depth;
	size_t work;
	size_t matching; /* what is left for regular expressions */
	bool over;       /* work or depth: nothing fits any more */
};

/* ---- Saying why */

/* Cuts at a character; control characters, which a name may hold, are replaced. */
static void add_cut(struct buf *out, const char *text, size_t most)
{
	size_t len = strlen(text);
	if (len > most) {
		len = most;
		while (len > 0 && ((unsigned char)text[len] & 0xC0) == 0x80)
			len--;
	}
	for (size_t i = 0; i < len; i++)
		buf_putc(out, (unsigned char)text[i] < 0x20 ? '?' : text[i]);
	if (text[len])
		buf_puts(out, "...");
}

static void add_spot(struct buf *out, const struct spot *at)
{
	if (!at)
		return;
	add_spot(out, at->up);
	if (out->len > SCHEMA_WHY_SIZE)
		return;
	if (at->key) {
		buf_putc(out, '.');
		add_cut(out, at->key, KEY_SHOWN);
	} else {
		buf_printf(out, "[%zu]", at->index);
	}
}

static void copy_cut(char *to, const char *text, size_t size)
{
	struct buf cut = {0};
	add_cut(&cut, text, size - 4);
	memcpy(to, buf_str(&cut), cut.len + 1);
	buf_release(&cut);
}

__attribute__((format(printf, 2, 3))) static bool mismatch(struct walk *w, const char *fmt, ...)
{
	if (w->quiet || *w->why)
		return false;
	struct buf text = {0};
	va_list args;
	va_start(args, fmt);
	char *what = xvasprintf(fmt, args);
	va_end(args);
	buf_puts(&text, w->name);
	add_spot(&text, w->at);
	if (text.len > SCHEMA_WHY_SIZE / 2) { /* the end of a long way says less than its goal */
		char cut[SCHEMA_WHY_SIZE / 2];
		copy_cut(cut, buf_str(&text), sizeof(cut));
		buf_reset(&text);
		buf_puts(&text, cut);
	}
	buf_printf(&text, ": %s", what);
	copy_cut(w->why, buf_str(&text), SCHEMA_WHY_SIZE);
	buf_release(&text);
	free(what);
	return false;
}

/* ---- Walking */

/* Counts steps; false when there were too many. */
static bool spend(struct walk *w, size_t steps)
{
	w->work += steps;
	if (w->work > MOST_WORK)
		w->over = true;
	return !w->over;
}

static bool subschema_fits(struct walk *w, const struct subschema *s, const cJSON *value)
{
	bool fits = true;
	if (w->depth >= MOST_DEPTH)
		w->over = true;
	if (!spend(w, 1))
		return false;
	if (s->never)
		return mismatch(w, "expected to be absent");
	w->depth++;
	for (size_t i = 0; i < s->check_count && fits; i++)
		fits = s->checks[i].fits(w, &s->checks[i], value);
	w->depth--;
	return fits && !w->over;
}

/* Whether a part of the value fits. */
static bool part_fits(
    struct walk *w, const struct subschema *s, const cJSON *value, const char *key, size_t index)
{
	const struct spot *up = w->at, here = {up, key, index};
	w->at = &here;
	bool fits = subschema_fits(w, s, value);
	w->at = up;
	return fits;
}

/* Whether the value fits, without a word about it if not. */
static bool would_fit(struct walk *w, const struct subschema *s, const cJSON *value)
{
	w->quiet++;
	bool fits = subschema_fits(w, s, value);
	w->quiet--;
	return fits;
}

/* ---- Any type */

static bool has_type(const cJSON *value, const char *type)
{
	if (strcmp(type, "integer") == 0)
		return json_is_number(value) && decimal_is_integer(value);
	return strcmp(type, json_type_name(value)) == 0;
}

static const char *with_article(const char *type)
{
	static const struct {
		const char *type, *phrase;
	} phrases[] = {{"string", "a string"}, {"number", "a number"}, {"integer", "an integer"},
	    {"boolean", "a boolean"}, {"array", "an array"}, {"object", "an object"}};
	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
		if (strcmp(phrases[i].type, type) == 0)
			return phrases[i].phrase;
	}
	return type;
}

bool check_type(struct walk *w, const struct check *check, const cJSON *value)
{
	const cJSON *type = cJSON_IsArray(check->json) ? check->json->child : check->json;
	char expected[TYPES_MOST] = "";
	for (; type; type = type->next) {
		if (has_type(value, type->valuestring))
			return true;
		size_t len = strlen(expected);
		snprintf(expected + len, sizeof(expected) - len, "%s%s", len ? " or " : "",
		    with_article(type->valuestring));
		if (type == check->json)
			break;
	}
	return mismatch(w, "expected %s, found %s", expected, json_type_name(value));
}

bool check_enum(struct walk *w, const struct check *check, const cJSON *value)
{
	const cJSON *item;
	struct buf list = {0};
	cJSON_ArrayForEach(item, check->json) {
		if (!spend(w, 1))
			return false;
		if (json_equal(item, value))
			return true;
	}
	cJSON_ArrayForEach(item, check->json) {
		if (w->quiet || *w->why || list.len > VALUES_SHOWN)
			break;
		char *text = json_print(item);
		buf_printf(&list, "%s%s", list.len ? ", " : "", text);
		free(text);
	}
	struct buf cut = {0};
	add_cut(&cut, buf_str(&list), VALUES_SHOWN);
	mismatch(w, "expected one of %s", buf_str(&cut));
	buf_release(&list);
	buf_release(&cut);
	return false;
}

/* Says what was expected with a value of the schema. */
static bool mismatch_json(struct walk *w, const char *expected, const cJSON *json)
{
	if (w->quiet || *w->why)
		return false;
	struct buf cut = {0};
	char *text = json_print(json);
	add_cut(&cut, text, VALUES_SHOWN);
	mismatch(w, "expected %s%s", expected, buf_str(&cut));
	buf_release(&cut);
	free(text);
	return false;
}

bool check_const(struct walk *w, const struct check *check, const cJSON *value)
{
	return json_equal(check->json, value) || mismatch_json(w, "", check->json);
}

/* ---- Numbers */

bool check_maximum(struct walk *w, const struct check *check, const cJSON *value)
{
	return !json_is_number(value) || decimal_compare(value, check->json) <= 0 ||
	    mismatch_json(w, "at most ", check->json);
}

bool check_minimum(struct walk *w, const struct check *check, const cJSON *value)
{
	return !json_is_number(value) || decimal_compare(value, check->json) >= 0 ||
	    mismatch_json(w, "at least ", check->json);
}

bool check_below(struct walk *w, const struct check *check, const cJSON *value)
{
	return !json_is_number(value) || decimal_compare(value, check->json) < 0 ||
	    mismatch_json(w, "less than ", check->json);
}

bool check_above(struct walk *w, const struct check *check, const cJSON *value)
{
	return !json_is_number(value) || decimal_compare(value, check->json) > 0 ||
	    mismatch_json(w, "more than ", check->json);
}

bool check_multiple(struct walk *w, const struct check *check, const cJSON *value)
{
	return !json_is_number(value) || decimal_is_multiple(value, check->json) ||
	    mismatch_json(w, "a multiple of ", check->json);
}

/* ---- Strings */

static size_t characters(const char *text)
{
	size_t count = 0;
	for (; *text; text++)
		count += ((unsigned char)*text & 0xC0) != 0x80;
	return count;
}

bool check_max_length(struct walk *w, const struct check *check, const cJSON *value)
{
	return !cJSON_IsString(value) || characters(value->valuestring) <= check->number ||
	    mismatch(w, "expected at most %zu characters", check->number);
}

bool check_min_length(struct walk *w, const struct check *check, const cJSON *value)
{
	return !cJSON_IsString(value) || characters(value->valuestring) >= check->number ||
	    mismatch(w, "expected at least %zu characters", check->number);
}

static bool text_matches(struct walk *w, const struct pattern *pattern, const char *text)
{
	bool matches = spend(w, 1) && pattern_matches(pattern, text, &w->matching);
	if (w->matching == 0)
		w->over = true;
	return matches;
}

bool check_pattern(struct walk *w, const struct check *check, const cJSON *value)
{
	return !cJSON_IsString(value) || text_matches(w, check->pattern, value->valuestring) ||
	    mismatch_json(w, "a match of ", check->json);
}

/* ---- Arrays */

static size_t children(const cJSON *value)
{
	return (size_t)cJSON_GetArraySize(value);
}

bool check_max_items(struct walk *w, const struct check *check, const cJSON *value)
{
	return !cJSON_IsArray(value) || children(value) <= check->number ||
	    mismatch(w, "expected at most %zu elements", check->number);
}

bool check_min_items(struct walk *w, const struct check *check, const cJSON *value)
{
	return !cJSON_IsArray(value) || children(value) >= check->number ||
	    mismatch(w, "expected at least %zu elements", check->number);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

/* Equal values have equal hashes: of numbers by value, of objects whatever their order. */
static uint64_t hash_of(struct walk *w, const cJSON *value)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325), members = 0;
	const cJSON *child;
	double number;
	if (!spend(w, 1))
		return 0;
	if (json_number(value, &number)) {
		number += 0.0; /* -0 and 0 are equal */
		memcpy(&members, &number, sizeof(members));
		return hash_text(hash, "number") ^ members;
	}
	hash = hash_text(hash, json_type_name(value));
	if (cJSON_IsString(value))
		return hash_text(hash, value->valuestring);
	if (cJSON_IsBool(value))
		return hash + (uint64_t)cJSON_IsTrue(value);
	cJSON_ArrayForEach(child, value) {
		uint64_t part = hash_of(w, child);
		if (cJSON_IsObject(value))
			members += hash_text(part, child->string) * UINT64_C(0x9e3779b97f4a7c15);
		else
			hash = hash * 31 + part;
	}
	return hash ^ members;
}

struct hashed {
	uint64_t hash;
	const cJSON *item;
};

static int hashed_order(const void *a, const void *b)
{
	uint64_t x = ((const struct hashed *)a)->hash, y = ((const struct hashed *)b)->hash;
	return (x > y) - (x < y);
}

/* Whether two of the sorted elements are equal; only equal hashes make that worth looking. */
static bool has_twins(struct walk *w, const struct hashed *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t j = i + 1; j < count && items[j].hash == items[i].hash; j++) {
			if (!spend(w, 8))
				return true;
			if (json_equal(items[i].item, items[j].item))
				return true;
		}
	}
	return false;
}

bool check_unique(struct walk *w, const struct check *check, const cJSON *value)
{
	(void)check;
	const cJSON *item;
	size_t count = 0;
	if (!cJSON_IsArray(value))
		return true;
	struct hashed *items = xcalloc(children(value) + 1, sizeof(*items));
	cJSON_ArrayForEach(item, value)
		items[count++] = (struct hashed){hash_of(w, item), item};
	qsort(items, count, sizeof(*items), hashed_order);
	bool twins = has_twins(w, items, count);
	free(items);
	return !twins || mismatch(w, "expected elements that all differ");
}

/* subs: one for each of the first elements, then the one for the rest, or NULL. */
bool check_array(struct walk *w, const struct check *check, const cJSON *value)
{
	const cJSON *item;
	size_t i = 0, first = check->sub_count - 1;
	if (!cJSON_IsArray(value))
		return true;
	cJSON_ArrayForEach(item, value) {
		const struct subschema *sub = check->subs[i < first ? i : first];
		if (sub && !part_fits(w, sub, item, NULL, i))
			return false;
		i++;
	}
	return true;
}

/* json is the schema itself, for minContains and maxContains. */
bool check_contains(struct walk *w, const struct check *check, const cJSON *value)
{
	const cJSON *item;
	double least = 1, most = HUGE_VAL;
	size_t count = 0;
	if (!cJSON_IsArray(value))
		return true;
	json_number(json_get(check->json, "minContains"), &least);
	json_number(json_get(check->json, "maxContains"), &most);
	cJSON_ArrayForEach(item, value) {
		count += would_fit(w, check->subs[0], item);
		if (w->over)
			return false;
	}
	if ((double)count < least)
		return mismatch(w, "expected at least %g elements of a certain kind", least);
	return (double)count <= most ||
	    mismatch(w, "expected at most %g elements of a certain kind", most);
}

/* ---- Objects */

bool check_max_properties(struct walk *w, const struct check *check, const cJSON *value)
{
	return !cJSON_IsObject(value) || children(value) <= check->number ||
	    mismatch(w, "expected at most %zu members", check->number);
}

bool check_min_properties(struct walk *w, const struct check *check, const cJSON *value)
{
	return !cJSON_IsObject(value) || children(value) >= check->number ||
	    mismatch(w, "expected at least %zu members", check->number);
}

static bool has_all(struct walk *w, const struct json_members *members, const cJSON *names)
{
	const cJSON *name;
	cJSON_ArrayForEach(name, names) {
		if (!spend(w, 1))
			return false;
		if (!json_members_get(members, name->valuestring))
			return mismatch(
			    w, "expected the member '%.*s'", KEY_SHOWN, name->valuestring);
	}
	return true;
}

bool check_required(struct walk *w, const struct check *check, const cJSON *value)
{
	struct json_members members;
	if (!cJSON_IsObject(value))
		return true;
	json_members_init(&members, value);
	bool fits = has_all(w, &members, check->json);
	json_members_release(&members);
	return fits;
}

int member_rule_order(const void *a, const void *b)
{
	return strcmp(((const struct member_rule *)a)->name, ((const struct member_rule *)b)->name);
}

static bool member_fits(struct walk *w, const struct object_rule *rule, const cJSON *member)
{
	const struct member_rule key = {member->string, NULL};
	const struct member_rule *named = rule->name_count
	    ? bsearch(&key, rule->names, rule->name_count, sizeof(*rule->names), member_rule_order)
	    : NULL;
	bool known = named != NULL;
	if (named && !part_fits(w, named->sub, member, member->string, 0))
		return false;
	for (size_t i = 0; i < rule->pattern_count; i++) {
		if (!text_matches(w, rule->patterns[i].pattern, member->string)) {
			if (w->over)
				return false;
			continue;
		}
		known = true;
		if (!part_fits(w, rule->patterns[i].sub, member, member->string, 0))
			return false;
	}
	return known || !rule->others || part_fits(w, rule->others, member, member->string, 0);
}

bool check_object(struct walk *w, const struct check *check, const cJSON *value)
{
	const cJSON *member;
	if (!cJSON_IsObject(value))
		return true;
	cJSON_ArrayForEach(member, value) {
		if (!member_fits(w, check->object, member))
			return false;
	}
	return true;
}

bool check_names(struct walk *w, const struct check *check, const cJSON *value)
{
	const cJSON *member;
	if (!cJSON_IsObject(value))
		return true;
	cJSON_ArrayForEach(member, value) {
		const cJSON name = {.type = cJSON_String, .valuestring = member->string};
		if (!would_fit(w, check->subs[0], &name))
			return mismatch(
			    w, "expected another name than '%.*s'", KEY_SHOWN, member->string);
	}
	return true;
}

bool check_dependent_names(struct walk *w, const struct check *check, const cJSON *value)
{
	const cJSON *names;
	struct json_members members;
	bool fits = true;
	if (!cJSON_IsObject(value))
		return true;
	json_members_init(&members, value);
	cJSON_ArrayForEach(names, check->json) {
		if (fits && cJSON_IsArray(names) && json_members_get(&members, names->string))
			fits = has_all(w, &members, names);
	}
	json_members_release(&members);
	return fits;
}

/* subs: one for each member of json, in order; NULL where that is no schema. */
bool check_dependent_schemas(struct walk *w, const struct check *check, const cJSON *value)
{
	const cJSON *name;
	struct json_members members;
	bool fits = true;
	size_t i = 0;
	if (!cJSON_IsObject(value))
		return true;
	json_members_init(&members, value);
	cJSON_ArrayForEach(name, check->json) {
		const struct subschema *sub = check->subs[i++];
		if (fits && sub && json_members_get(&members, name->string))
			fits = subschema_fits(w, sub, value);
	}
	json_members_release(&members);
	return fits;
}

/* ---- Several schemas */

bool check_all(struct walk *w, const struct check *check, const cJSON *value)
{
	for (size_t i = 0; i < check->sub_count; i++) {
		if (!subschema_fits(w, check->subs[i], value))
			return false;
	}
	return true;
}

bool check_any(struct walk *w, const struct check *check, const cJSON *value)
{
	if (check->sub_count == 1)
		return subschema_fits(w, check->subs[0], value);
	for (size_t i = 0; i < check->sub_count && !w->over; i++) {
		if (would_fit(w, check->subs[i], value))
			return true;
	}
	return mismatch(w, "expected one of %zu kinds of value, found %s that is none of them",
	    check->sub_count, with_article(json_type_name(value)));
}

bool check_one(struct walk *w, const struct check *check, const cJSON *value)
{
	size_t count = 0;
	if (check->sub_count == 1)
		return subschema_fits(w, check->subs[0], value);
	for (size_t i = 0; i < check->sub_count && !w->over; i++)
		count += would_fit(w, check->subs[i], value);
	return count == 1 ||
	    mismatch(w, "expected exactly one of %zu kinds of value, found %s that is %s of them",
		check->sub_count, with_article(json_type_name(value)), count ? "several" : "none");
}

bool check_not(struct walk *w, const struct check *check, const cJSON *value)
{
	return !would_fit(w, check->subs[0], value) ||
	    mismatch(w, "expected another value than this %s", json_type_name(value));
}

/* subs: if, then, else; the last two may be NULL. */
bool check_condition(struct walk *w, const struct check *check, const cJSON *value)
{
	const struct subschema *next = check->subs[would_fit(w, check->subs[0], value) ? 1 : 2];
	return !next || subschema_fits(w, next, value);
}

/* ---- The whole */

bool schema_accepts(
    const struct schema *schema, const cJSON *value, const char *name, char why[SCHEMA_WHY_SIZE])
{
	struct walk w = {.name = name, .why = why, .matching = MOST_MATCHING};
	*why = '\0';
	if (json_deeper_than(value, SCHEMA_VALUE_DEPTH))
		return mismatch(&w, "expected at most %d levels of nesting", SCHEMA_VALUE_DEPTH);
	bool fits = subschema_fits(&w, schema->root, value);
	if (w.over) {
		*why = '\0';
		w.at = NULL;
		mismatch(&w, "expected a value that takes less work to check");
	}
	return fits && !w.over;
}
