/* SPDX-License-Identifier: ISC */
/* Equality of values, and merging one object into another. */
#include "base/json/json.h"
#include "base/json/json_members.h"

#include <string.h>

/* ---- Comparing ---- */

static bool json_is_integer_text(const char *s)
{
	return s[strspn(s, "-0123456789")] == '\0';
}

/* Compares numbers by value; integers of any length exactly. */
static bool json_numbers_equal(const cJSON *a, const cJSON *b)
{
	int64_t left, right;
	bool left_fits = json_integer(a, &left), right_fits = json_integer(b, &right);
	if (left_fits || right_fits)
		return left_fits && right_fits && left == right;
	if (cJSON_IsRaw(a) && cJSON_IsRaw(b) && json_is_integer_text(a->valuestring) &&
	    json_is_integer_text(b->valuestring))
		return strcmp(a->valuestring, b->valuestring) == 0;
	double x, y;
	return json_number(a, &x) && json_number(b, &y) && x == y;
}

static bool json_arrays_equal(const cJSON *a, const cJSON *b)
{
	const cJSON *x = a->child, *y = b->child;
	for (; x && y; x = x->next, y = y->next)
		if (!json_equal(x, y))
			return false;
	return !x && !y;
}

static bool json_objects_equal(const cJSON *a, const cJSON *b)
{
	struct json_members index;
	json_members_init(&index, b);
	size_t count = 0;
	const cJSON *item = a->child;
	for (; item; item = item->next, count++) {
		const cJSON *other = json_members_get(&index, item->string);
		if (!other || !json_equal(item, other))
			break;
	}
	json_members_release(&index);
	return !item && count == index.count;
}

bool json_equal(const cJSON *a, const cJSON *b)
{
	if (!a || !b)
		return a == b;
	if (json_is_number(a) || json_is_number(b))
		return json_is_number(a) && json_is_number(b) && json_numbers_equal(a, b);
	if ((a->type & 0xFF) != (b->type & 0xFF))
		return false;
	if (cJSON_IsObject(a))
		return json_objects_equal(a, b);
	if (cJSON_IsArray(a))
		return json_arrays_equal(a, b);
	if (cJSON_IsString(a) || cJSON_IsRaw(a))
		return strcmp(a->valuestring, b->valuestring) == 0;
	return true;
}

/* ---- Merging ---- */

static void json_merge_into(cJSON *target, const cJSON *patch, bool takes_null)
{
	if (!cJSON_IsObject(target) || !cJSON_IsObject(patch))
		return;
	struct json_members index;
	json_members_init(&index, target);
	for (const cJSON *item = patch->child; item; item = item->next) {
		cJSON *member = json_members_get(&index, item->string);
		if (cJSON_IsNull(item) && !takes_null)
			continue;
		if (cJSON_IsObject(item) && cJSON_IsObject(member))
			json_merge_into(member, item, takes_null);
		else if (member)
			json_assign(member, cJSON_Duplicate(item, true));
		else
			cJSON_AddItemToObject(target, item->string, cJSON_Duplicate(item, true));
	}
	json_members_release(&index);
}

void json_merge(cJSON *target, const cJSON *patch)
{
	json_merge_into(target, patch, false);
}

/* Drops members that are null, also of objects in the object, but not of those in arrays. */
static void merge_drop_nulls(cJSON *object)
{
	cJSON *next;
	for (cJSON *item = object->child; item; item = next) {
		next = item->next;
		if (cJSON_IsNull(item))
			cJSON_Delete(cJSON_DetachItemViaPointer(object, item));
		else if (cJSON_IsObject(item))
			merge_drop_nulls(item);
	}
}

void json_merge_patch(cJSON *target, const cJSON *patch)
{
	json_merge_into(target, patch, true);
	if (cJSON_IsObject(target))
		merge_drop_nulls(target);
}
