/* SPDX-License-Identifier: ISC */
/* A sorted index over large objects, a plain walk over small ones. */
#include "base/json/json_members.h"

#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Objects up to this size are searched along the list. */
#define FEW 32

static int json_member_by_key(const void *left, const void *right)
{
	const struct json_member *a = left, *b = right;
	int order = strcmp(a->item->string, b->item->string);
	return order ? order : (a->position > b->position) - (a->position < b->position);
}

static int json_member_key_against(const void *key, const void *member)
{
	return strcmp(key, ((const struct json_member *)member)->item->string);
}

static struct json_member *json_members_sort(const cJSON *object, size_t count)
{
	struct json_member *sorted = xcalloc(count, sizeof(*sorted));
	size_t i = 0;
	for (cJSON *item = object->child; item; item = item->next, i++)
		sorted[i] = (struct json_member){.item = item, .position = i};
	qsort(sorted, count, sizeof(*sorted), json_member_by_key);
	return sorted;
}

static size_t json_members_count(const cJSON *object)
{
	size_t count = 0;
	for (const cJSON *item = object->child; item; item = item->next)
		count++;
	return count;
}

void json_members_init(struct json_members *m, const cJSON *object)
{
	m->object = object;
	m->count = json_members_count(object);
	m->sorted = m->count > FEW ? json_members_sort(object, m->count) : NULL;
}

void json_members_release(struct json_members *m)
{
	free(m->sorted);
	m->sorted = NULL;
}

cJSON *json_members_get(const struct json_members *m, const char *key)
{
	cJSON *item = m->object->child;
	if (m->sorted) {
		const struct json_member *found =
		    bsearch(key, m->sorted, m->count, sizeof(*m->sorted), json_member_key_against);
		return found ? found->item : NULL;
	}
	/* appended members are left out: they would make the walk ever longer */
	for (size_t i = 0; i < m->count; i++, item = item->next)
		if (strcmp(item->string, key) == 0)
			return item;
	return NULL;
}

static void json_members_drop(cJSON *object, cJSON *item)
{
	cJSON_Delete(cJSON_DetachItemViaPointer(object, item));
}

/* Returns at the first member beyond the few, or at the end with NULL. */
static cJSON *json_members_unique_among_few(cJSON *object)
{
	uint64_t seen = 0;
	size_t count = 0;
	cJSON *item = object->child;
	for (; item && count < FEW; item = item->next, count++) {
		/* one bit of 64 for a key, so that most need not be compared with the others */
		uint64_t bit = UINT64_C(1) << (hash_text_32(item->string) >> 26);
		cJSON *earlier = seen & bit ? object->child : item;
		while (earlier != item && strcmp(earlier->string, item->string) != 0)
			earlier = earlier->next;
		if (earlier != item)
			json_members_drop(object, earlier);
		seen |= bit;
	}
	return item;
}

void json_members_unique(cJSON *object)
{
	if (!json_members_unique_among_few(object))
		return;
	size_t count = json_members_count(object);
	struct json_member *sorted = json_members_sort(object, count);
	for (size_t i = 0; i + 1 < count; i++)
		if (strcmp(sorted[i].item->string, sorted[i + 1].item->string) == 0)
			json_members_drop(object, sorted[i].item);
	free(sorted);
}
