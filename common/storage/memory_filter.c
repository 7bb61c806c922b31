/* SPDX-License-Identifier: ISC */
/* Checking conditions, and holding them against metadata. */
#include "storage/memory_filter.h"

#include "base/json/json.h"
#include "base/json/json_members.h"

#include <stdio.h>
#include <string.h>

#define LONG_NUMBER 400 /* characters; whole numbers within a double's range have fewer */

/* ---- checking ---- */

static bool memory_filter_is_scalar(const cJSON *value)
{
	return !cJSON_IsObject(value) && !cJSON_IsArray(value);
}

static bool memory_filter_is_ordered(const cJSON *value)
{
	return cJSON_IsString(value) || json_is_number(value);
}

static bool memory_filter_is_boolean(const cJSON *value)
{
	return cJSON_IsBool(value);
}

static const struct operator_row {
	const char *name;
	bool (*accepts)(const cJSON *operand);
	const char *expected;
} operators[] = {
    {"gt", memory_filter_is_ordered, "a number or a string"},
    {"gte", memory_filter_is_ordered, "a number or a string"},
    {"lt", memory_filter_is_ordered, "a number or a string"},
    {"lte", memory_filter_is_ordered, "a number or a string"},
    {"ne", memory_filter_is_scalar, "a string, number, boolean or null"},
    {"exists", memory_filter_is_boolean, "true or false"},
};

static bool memory_filter_refuse(
    struct error *err, const char *path, const char *key, const char *what)
{
	char where[256];
	const char *name = strrchr(path, '.');
	snprintf(where, sizeof(where), "%s.%s", path, key);
	return error_field(err, ERR_VALIDATION, where, "value_error", "%s.%s %s",
	    name ? name + 1 : path, key, what);
}

static bool memory_filter_check_operators(
    const cJSON *condition, const char *path, const char *key, struct error *err)
{
	const cJSON *operand;
	if (!condition->child)
		return memory_filter_refuse(
		    err, path, key, "must have one of gt, gte, lt, lte, ne, exists");
	cJSON_ArrayForEach(operand, condition) {
		char text[128];
		const struct operator_row *row = NULL;
		for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]) && !row; i++)
			if (strcmp(operators[i].name, operand->string) == 0)
				row = &operators[i];
		if (row && row->accepts(operand))
			continue;
		if (!row)
			return memory_filter_refuse(
			    err, path, key, "must have only gt, gte, lt, lte, ne, exists");
		snprintf(text, sizeof(text), "must have %s for %s", row->expected, row->name);
		return memory_filter_refuse(err, path, key, text);
	}
	return true;
}

static bool memory_filter_check_list(
    const cJSON *list, const char *path, const char *key, struct error *err)
{
	const cJSON *value;
	cJSON_ArrayForEach(value, list) {
		if (!memory_filter_is_scalar(value))
			return memory_filter_refuse(
			    err, path, key, "must be an array of strings, numbers or booleans");
	}
	return true;
}

/* Whether there are few enough to be compared with every memory. */
static bool memory_filter_check_number(const cJSON *filters, const char *path, struct error *err)
{
	const cJSON *condition, *part;
	const char *name = strrchr(path, '.');
	int count = 0;
	cJSON_ArrayForEach(condition, filters) {
		count++;
		cJSON_ArrayForEach(part, condition)
			if (++count > MEMORY_FILTER_MOST)
				break;
		if (count > MEMORY_FILTER_MOST)
			return error_field(err, ERR_VALIDATION, path, "value_error",
			    "%s must not have more than %d conditions and values",
			    name ? name + 1 : path, MEMORY_FILTER_MOST);
	}
	return true;
}

bool memory_filter_check(const cJSON *filters, const char *path, struct error *err)
{
	const cJSON *condition;
	bool ok = true;
	if (!memory_filter_check_number(filters, path, err))
		return false;
	cJSON_ArrayForEach(condition, filters) {
		const char *key = condition->string;
		if (cJSON_IsObject(condition))
			ok = memory_filter_check_operators(condition, path, key, err) && ok;
		else if (cJSON_IsArray(condition))
			ok = memory_filter_check_list(condition, path, key, err) && ok;
	}
	return ok;
}

/* ---- applying ---- */

static bool operator_holds(const cJSON *value, const cJSON *operand)
{
	const char *name = operand->string;
	double x, y;
	int order;
	if (strcmp(name, "exists") == 0)
		return (value != NULL) == cJSON_IsTrue(operand);
	if (strcmp(name, "ne") == 0)
		return !value || !json_equal(value, operand);
	/* numbers with numbers, texts with texts */
	if (json_number(value, &x) && json_number(operand, &y))
		order = (x > y) - (x < y);
	else if (cJSON_IsString(value) && cJSON_IsString(operand))
		order = strcmp(value->valuestring, operand->valuestring);
	else
		return false;
	bool or_equal = name[2] == 'e';
	return (or_equal && order == 0) || (name[0] == 'g' ? order > 0 : order < 0);
}

static bool memory_filter_is_one_of(const cJSON *value, const cJSON *list)
{
	const cJSON *item, *left;
	cJSON *quick = NULL;
	bool found = false;
	int64_t whole;
	double number;
	/* a number with very many digits becomes one that is quick to compare; it is too long to be
	 * a whole number that a double cannot hold */
	if (cJSON_IsRaw(value) && strlen(value->valuestring) >= LONG_NUMBER) {
		if (json_integer(value, &whole))
			quick = json_new_int(whole);
		else if (json_number(value, &number))
			quick = cJSON_CreateNumber(number);
	}
	left = quick ? quick : value;
	cJSON_ArrayForEach(item, list) {
		found = json_equal(left, item);
		if (found)
			break;
	}
	cJSON_Delete(quick);
	return found;
}

bool memory_filter_fits(const cJSON *metadata, const cJSON *filters)
{
	const cJSON *condition, *operand;
	struct json_members members;
	bool fits = true;
	json_members_init(&members, metadata);
	cJSON_ArrayForEach(condition, filters) {
		const cJSON *value = json_members_get(&members, condition->string);
		if (cJSON_IsObject(condition))
			for (operand = condition->child; fits && operand; operand = operand->next)
				fits = operator_holds(value, operand);
		else if (cJSON_IsArray(condition))
			fits = value && memory_filter_is_one_of(value, condition);
		else
			fits = value && json_equal(value, condition);
		if (!fits)
			break;
	}
	json_members_release(&members);
	return fits;
}
