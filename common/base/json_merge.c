/* SPDX-License-Identifier: ISC */
/* Equality of values, and merging one object into another. */
#include "base/json.h"
#include "base/json_members.h"

#include <string.h>

/* ---- Comparing ---- */

static bool is_integer_text(const char *s)
{
	return s[strspn(s, "-0123456789")] == '\0';
}

/* By value, and exactly for integers of any length. */
static bool numbers_equal(const cJSON *a, const cJSON *b)
{
	int64_t left, right;
	bool left_fits = json_integer(a, &left), right_fits = json_integer(b, &right);
	if (left_fits || right_fits)
		return left_fits && right_fits && left == right;
	if (cJSON_IsRaw(a) && cJSON_IsRaw(b) && is_integer_text(a->valuestring) &&
	    is_integer_text(b->valuestring))
		return strcmp(a->valuestring, b->valuestring) == 0;
	double x, y;
	return json_number(a, &x) && json_number(b, &y) && x == y;
}

static bool arrays_equal(const cJSON *a, const cJSON *b)
{
	const cJSON *x = a->child, *y = b->child;
	for (; x && y; x = x->next, y = y->next)
		if (!json_equal(x, y))
			return false;
	return !x && !y;
}

static bool objects_equal(const cJSON *a, const cJSON *b)
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
		return json_is_number(a) && json_is_number(b) && numbers_equal(a, b);
	if ((a->type & 0xFF) != (b->type & 0xFF))
		return false;
	if (cJSON_IsObject(a))
		return objects_equal(a, b);
	if (cJSON_IsArray(a))
		return arrays_equal(a, b);
	if (cJSON_IsString(a) || cJSON_IsRaw(a))
		return strcmp(a->valuestring, b->valuestring) == 0;
	return true;
}

/* ---- Merging ---- */

/* Gives member the value of item, which goes.  member stays the same node, so that an index over
 * its object stays valid. */
static void assign(cJSON *member, cJSON *item)
{
	cJSON old = *member;
	const int key_flags = cJSON_StringIsConst;
	*member = *item;
	member->next = old.next;
	member->prev = old.prev;
	member->string = old.string;
	member->type = (item->type & ~key_flags) | (old.type & key_flags);
	item->type = (old.type & ~key_flags) | (item->type & key_flags);
	item->child = old.child;
	item->valuestring = old.valuestring;
	cJSON_Delete(item);
}

static void merge_member(cJSON *target, const struct json_members *index, const cJSON *item)
{
	cJSON *member = json_members_get(index, item->string);
	if (cJSON_IsNull(item))
		return;
	if (cJSON_IsObject(item) && cJSON_IsObject(member))
		json_merge(member, item);
	else if (member)
		assign(member, cJSON_Duplicate(item, true));
	else
		cJSON_AddItemToObject(target, item->string, cJSON_Duplicate(item, true));
}

void json_merge(cJSON *target, const cJSON *patch)
{
	if (!cJSON_IsObject(target) || !cJSON_IsObject(patch))
		return;
	struct json_members index;
	json_members_init(&index, target);
	for (const cJSON *item = patch->child; item; item = item->next)
		merge_member(target, &index, item);
	json_members_release(&index);
}
