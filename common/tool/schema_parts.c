/* SPDX-License-Identifier: ISC */
/* Checking the elements of arrays and the members of objects. */
#include "base/hash.h"
#include "base/json/json.h"
#include "base/json/json_members.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "tool/pattern.h"
#include "tool/schema_internal.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- Arrays */

static size_t schema_parts_count(const cJSON *value)
{
	return (size_t)cJSON_GetArraySize(value);
}

bool check_max_items(struct walk *w, const struct check *check, const cJSON *value)
{
	return !cJSON_IsArray(value) || schema_parts_count(value) <= check->number ||
	    walk_mismatch(w, "expected at most %zu elements", check->number);
}

bool check_min_items(struct walk *w, const struct check *check, const cJSON *value)
{
	return !cJSON_IsArray(value) || schema_parts_count(value) >= check->number ||
	    walk_mismatch(w, "expected at least %zu elements", check->number);
}

/* A hash that is the same for equal values: numbers go by value, objects regardless of order. */
static uint64_t schema_parts_hash_of(struct walk *w, const cJSON *value)
{
	uint64_t hash = HASH_START, members = 0;
	const cJSON *child;
	double number;
	if (!walk_spend(w, 1))
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
		uint64_t part = schema_parts_hash_of(w, child);
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
static bool hashed_has_twins(struct walk *w, const struct hashed *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t j = i + 1; j < count && items[j].hash == items[i].hash; j++) {
			if (!walk_spend(w, 8))
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
	struct hashed *items = xcalloc(schema_parts_count(value) + 1, sizeof(*items));
	cJSON_ArrayForEach(item, value)
		items[count++] = (struct hashed){schema_parts_hash_of(w, item), item};
	qsort(items, count, sizeof(*items), hashed_order);
	bool twins = hashed_has_twins(w, items, count);
	free(items);
	return !twins || walk_mismatch(w, "expected elements that all differ");
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
		if (sub && !walk_part_fits(w, sub, item, NULL, i))
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
		count += walk_would_fit(w, check->subs[0], item);
		if (w->over)
			return false;
	}
	if ((double)count < least)
		return walk_mismatch(w, "expected at least %g elements of a certain kind", least);
	return (double)count <= most ||
	    walk_mismatch(w, "expected at most %g elements of a certain kind", most);
}

/* ---- Objects */

bool check_max_properties(struct walk *w, const struct check *check, const cJSON *value)
{
	return !cJSON_IsObject(value) || schema_parts_count(value) <= check->number ||
	    walk_mismatch(w, "expected at most %zu members", check->number);
}

bool check_min_properties(struct walk *w, const struct check *check, const cJSON *value)
{
	return !cJSON_IsObject(value) || schema_parts_count(value) >= check->number ||
	    walk_mismatch(w, "expected at least %zu members", check->number);
}

/* How many bytes of a name a sentence shows: whole characters. */
static int schema_parts_shown(const char *name)
{
	return (int)utf8_cut(name, strnlen(name, WALK_KEY_SHOWN));
}

static bool walk_has_all(struct walk *w, const struct json_members *members, const cJSON *names)
{
	const cJSON *name;
	cJSON_ArrayForEach(name, names) {
		if (!walk_spend(w, 1))
			return false;
		if (!json_members_get(members, name->valuestring))
			return walk_mismatch(w, "expected the member '%.*s'",
			    schema_parts_shown(name->valuestring), name->valuestring);
	}
	return true;
}

bool check_required(struct walk *w, const struct check *check, const cJSON *value)
{
	struct json_members members;
	if (!cJSON_IsObject(value))
		return true;
	json_members_init(&members, value);
	bool fits = walk_has_all(w, &members, check->json);
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
	if (named && !walk_part_fits(w, named->sub, member, member->string, 0))
		return false;
	for (size_t i = 0; i < rule->pattern_count; i++) {
		if (!walk_text_matches(w, rule->patterns[i].pattern, member->string)) {
			if (w->over)
				return false;
			continue;
		}
		known = true;
		if (!walk_part_fits(w, rule->patterns[i].sub, member, member->string, 0))
			return false;
	}
	return known || !rule->others || walk_part_fits(w, rule->others, member, member->string, 0);
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
		if (!walk_would_fit(w, check->subs[0], &name))
			return walk_mismatch(w, "expected another name than '%.*s'",
			    schema_parts_shown(member->string), member->string);
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
			fits = walk_has_all(w, &members, names);
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
			fits = walk_fits(w, sub, value);
	}
	json_members_release(&members);
	return fits;
}
