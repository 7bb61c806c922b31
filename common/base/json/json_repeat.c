/* SPDX-License-Identifier: ISC */
/* Keys that a text has twice in one object: cJSON's own tree still has both. */
#include "base/buf.h"
#include "base/json/json.h"
#include "base/json/json_members.h"

struct search {
	struct buf path;
	char separator;
};

static const cJSON *json_repeat_member(const cJSON *object)
{
	struct json_members members;
	const cJSON *item = object->child;
	json_members_init(&members, object);
	while (item && json_members_get(&members, item->string) == item)
		item = item->next;
	json_members_release(&members);
	return item;
}

/* Leaves in s->path the path of the first repeated key.  Recurses as deep as the parser allows. */
static bool json_repeat_find(struct search *s, const cJSON *item)
{
	const cJSON *repeated = cJSON_IsObject(item) ? json_repeat_member(item) : NULL;
	size_t len = s->path.len, index = 0;
	if (repeated) {
		if (len)
			buf_putc(&s->path, s->separator);
		buf_puts(&s->path, repeated->string);
		return true;
	}
	for (const cJSON *child = item->child; child; child = child->next, index++) {
		if (len)
			buf_putc(&s->path, s->separator);
		if (child->string)
			buf_puts(&s->path, child->string);
		else
			buf_printf(&s->path, "%zu", index);
		if (json_repeat_find(s, child))
			return true;
		s->path.len = len;
	}
	return false;
}

char *json_repeated_key(const char *text, size_t len, char separator)
{
	struct search search = {.separator = separator};
	cJSON *root = cJSON_ParseWithLengthOpts(text, len, NULL, false);
	bool found = root && json_repeat_find(&search, root);
	cJSON_Delete(root);
	if (found)
		return buf_detach(&search.path);
	buf_release(&search.path);
	return NULL;
}
