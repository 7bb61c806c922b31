/* SPDX-License-Identifier: ISC */
/* Members, exact numbers, and making of values. */
#include "base/json/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reading ---- */

cJSON *json_get(const cJSON *object, const char *key)
{
	cJSON *member = object ? object->child : NULL;
	while (member && member->string &&
	    (member->string[0] != key[0] || strcmp(member->string, key) != 0))
		member = member->next;
	return member && member->string ? member : NULL;
}

cJSON *json_opt(const cJSON *object, const char *key)
{
	cJSON *item = json_get(object, key);
	return cJSON_IsNull(item) ? NULL : item;
}

const char *json_str(const cJSON *object, const char *key)
{
	return cJSON_GetStringValue(json_get(object, key));
}

bool json_str_is(const cJSON *object, const char *key, const char *text)
{
	const char *own = json_str(object, key);
	return own && strcmp(own, text) == 0;
}

bool json_has_str(const cJSON *array, const char *text)
{
	const cJSON *item;
	if (!cJSON_IsArray(array))
		return false;
	cJSON_ArrayForEach(item, array) {
		if (cJSON_IsString(item) && strcmp(item->valuestring, text) == 0)
			return true;
	}
	return false;
}

/* The first character of a value that is kept as text; NUL for all others. */
static char json_raw_start(const cJSON *item)
{
	return cJSON_IsRaw(item) && item->valuestring ? item->valuestring[0] : '\0';
}

static bool json_is_number_text(const cJSON *item)
{
	char c = json_raw_start(item);
	return c == '-' || (c >= '0' && c <= '9');
}

bool json_is_number(const cJSON *item)
{
	return cJSON_IsNumber(item) || json_is_number_text(item);
}

bool json_number(const cJSON *item, double *value)
{
	if (!json_is_number(item))
		return false;
	*value = cJSON_IsNumber(item) ? item->valuedouble : strtod(item->valuestring, NULL);
	return true;
}

int64_t json_int(const cJSON *object, const char *key, int64_t otherwise)
{
	int64_t value;
	return json_integer(json_get(object, key), &value) ? value : otherwise;
}

/* *value × 10^power; false when it overflows. */
static bool json_scale_up(uint64_t *value, long power)
{
	if (*value == 0)
		return true;
	for (; power > 0; power--)
		if (__builtin_mul_overflow(*value, UINT64_C(10), value))
			return false;
	return true;
}

/* The exact integer that a number's text means; false when it has a fraction or does not fit. */
static bool json_integer_from_text(const char *s, int64_t *value)
{
	bool negative = *s == '-', in_fraction = false;
	uint64_t digits = 0;
	long zeros = 0, fraction = 0;
	for (s += negative; *s && *s != 'e' && *s != 'E'; s++) {
		if (*s == '.') {
			in_fraction = true;
			continue;
		}
		fraction += in_fraction;
		zeros++;
		if (*s == '0')
			continue;
		if (!json_scale_up(&digits, zeros) ||
		    __builtin_add_overflow(digits, (uint64_t)(*s - '0'), &digits))
			return false;
		zeros = 0;
	}
	/* so far digits × 10^scale, where digits does not end in a zero */
	long scale = zeros - fraction;
	long exponent = *s ? strtol(s + 1, NULL, 10) : 0; /* saturates */
	if (digits == 0)
		scale = 0;
	else if (__builtin_add_overflow(scale, exponent, &scale) || scale < 0)
		return false;
	if (!json_scale_up(&digits, scale) || digits > (uint64_t)INT64_MAX + negative)
		return false;
	*value = negative ? (int64_t)-digits : (int64_t)digits;
	return true;
}

bool json_integer(const cJSON *item, int64_t *value)
{
	const double limit = 9223372036854775808.0; /* 2^63, the first that does not fit */
	if (!cJSON_IsNumber(item))
		return json_is_number_text(item) &&
		    json_integer_from_text(item->valuestring, value);
	double number = item->valuedouble;
	if (!(number >= -limit && number < limit) || trunc(number) != number)
		return false;
	*value = (int64_t)number;
	return true;
}

bool json_count(const cJSON *item, int64_t *value)
{
	const int64_t most = 1000000000000;
	int64_t count;
	if (!json_integer(item, &count) || count < 0 || count > most)
		return false;
	*value = count;
	return true;
}

const char *json_type_name(const cJSON *item)
{
	char raw = json_raw_start(item);
	if (json_is_number(item))
		return "number";
	if (cJSON_IsString(item) || raw == '"')
		return "string";
	if (cJSON_IsObject(item) || raw == '{')
		return "object";
	if (cJSON_IsArray(item) || raw == '[')
		return "array";
	return cJSON_IsBool(item) || raw == 't' || raw == 'f' ? "boolean" : "null";
}

bool json_deeper_than(const cJSON *item, unsigned levels)
{
	const cJSON *child;
	if (!cJSON_IsObject(item) && !cJSON_IsArray(item))
		return false;
	if (levels == 0)
		return true;
	cJSON_ArrayForEach(child, item) {
		if (json_deeper_than(child, levels - 1))
			return true;
	}
	return false;
}

/* ---- Writing ---- */

cJSON *json_new_int(int64_t value)
{
	const int64_t exact = INT64_C(999999999999999); /* what cJSON itself prints without loss */
	if (value >= -exact && value <= exact)
		return cJSON_CreateNumber((double)value);
	char text[32];
	snprintf(text, sizeof(text), "%lld", (long long)value);
	return cJSON_CreateRaw(text);
}

cJSON *json_new_double(double value)
{
	return isfinite(value) ? cJSON_CreateNumber(value) : cJSON_CreateNull();
}

cJSON *json_add(cJSON *object, const char *key, cJSON *item)
{
	cJSON_AddItemToObjectCS(object, key, item);
	return item;
}

cJSON *json_add_or_null(cJSON *object, const char *key, cJSON *item)
{
	return json_add(object, key, item ? item : cJSON_CreateNull());
}

cJSON *json_add_int(cJSON *object, const char *key, int64_t value)
{
	return json_add(object, key, json_new_int(value));
}

cJSON *json_add_str(cJSON *object, const char *key, const char *value)
{
	return json_add_or_null(object, key, value ? cJSON_CreateString(value) : NULL);
}

cJSON *json_typed(const char *type)
{
	cJSON *object = cJSON_CreateObject();
	json_add_str(object, "type", type);
	return object;
}

void json_refer(cJSON *object, const char *key, const cJSON *value)
{
	if (value)
		cJSON_AddItemReferenceToObject(object, key, (cJSON *)value);
}

void json_refer_or_null(cJSON *object, const char *key, const cJSON *value)
{
	if (value)
		json_refer(object, key, value);
	else
		cJSON_AddNullToObject(object, key);
}

cJSON *json_append(cJSON *array, cJSON *item)
{
	cJSON_AddItemToArray(array, item);
	return item;
}

cJSON *json_last(const cJSON *array)
{
	return array && array->child ? array->child->prev : NULL;
}

cJSON *json_add_raw(cJSON *object, const char *key, const char *text)
{
	return json_add(object, key, cJSON_CreateRaw(text));
}

cJSON *json_raw_reference(const char *text)
{
	cJSON *item = cJSON_CreateStringReference(text);
	item->type = cJSON_Raw | cJSON_IsReference;
	return item;
}

void json_assign(cJSON *item, cJSON *value)
{
	cJSON old = *item;
	const int key_flags = cJSON_StringIsConst;
	*item = *value;
	item->next = old.next;
	item->prev = old.prev;
	item->string = old.string;
	item->type = (value->type & ~key_flags) | (old.type & key_flags);
	value->type = (old.type & ~key_flags) | (value->type & key_flags);
	value->child = old.child;
	value->valuestring = old.valuestring;
	cJSON_Delete(value);
}

void json_set(cJSON *object, const char *key, cJSON *item)
{
	cJSON *member = json_get(object, key);
	if (!member)
		cJSON_AddItemToObject(object, key, item);
	if (!member || member == item)
		return;
	/* the item takes the member's place, under its key */
	const int key_flags = cJSON_StringIsConst;
	if (!(item->type & key_flags))
		cJSON_free(item->string);
	item->string = member->string;
	item->type = (item->type & ~key_flags) | (member->type & key_flags);
	member->string = NULL;
	cJSON_ReplaceItemViaPointer(object, member, item);
}
