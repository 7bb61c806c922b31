/* SPDX-License-Identifier: ISC */
/* Where a "$ref" leads. */
#include "base/buf.h"
#include "base/http/percent.h"
#include "base/json/json.h"
#include "tool/schema_internal.h"

#include <stdlib.h>
#include <string.h>

#define ANCHOR_LOOKS 4 /* what it takes to look at a place that may have an anchor */

/* The key of a JSON Pointer up to its next "/", with escapes of URIs and pointers undone. */
static char *reference_pointer_key(const char **p)
{
	struct buf key = {0};
	const char *s = *p;
	for (; *s && *s != '/'; s++) {
		int byte = s[0] == '%' ? percent_byte(s + 1) : -1;
		if (byte >= 0) {
			buf_putc(&key, (char)byte);
			s += 2;
		} else if (s[0] == '~' && (s[1] == '0' || s[1] == '1')) {
			buf_putc(&key, s[1] == '0' ? '~' : '/');
			s++;
		} else {
			buf_putc(&key, *s);
		}
	}
	*p = s;
	return buf_detach(&key);
}

/* Takes that many looks; false when they are used up. */
static bool reference_look(size_t *looks, size_t cost)
{
	*looks -= *looks < cost ? *looks : cost;
	return *looks > 0;
}

/* The member of an object, or the element of an array. */
static const cJSON *reference_at_key(const cJSON *json, const char *key, size_t *looks)
{
	char *end;
	unsigned long index = strtoul(key, &end, 10);
	const cJSON *child;
	if (cJSON_IsArray(json) && (!*key || *end))
		return NULL;
	cJSON_ArrayForEach(child, json) {
		bool here = cJSON_IsArray(json) ? index-- == 0 : strcmp(child->string, key) == 0;
		if (here || !reference_look(looks, 1))
			return here ? child : NULL;
	}
	return NULL;
}

static const cJSON *reference_find_anchor(const cJSON *json, const char *name, size_t *looks)
{
	const char *anchor = json_str(json, "$anchor"), *id = json_str(json, "$id");
	const cJSON *child, *hit = NULL;
	if (!reference_look(looks, ANCHOR_LOOKS))
		return NULL;
	if ((anchor && strcmp(anchor, name) == 0) ||
	    (id && id[0] == '#' && strcmp(id + 1, name) == 0))
		return json;
	cJSON_ArrayForEach(child, json) {
		hit = reference_find_anchor(child, name, looks);
		if (hit || *looks == 0)
			break;
	}
	return hit;
}

const cJSON *schema_reference(const cJSON *root, const char *ref, size_t *looks)
{
	const char *id = json_str(root, "$id");
	size_t len = id ? strcspn(id, "#") : 0;
	if (len && strncmp(ref, id, len) == 0 && (ref[len] == '#' || !ref[len]))
		ref += len; /* the document is named by its own id */
	if (!*ref || strcmp(ref, "#") == 0)
		return root;
	if (*ref != '#')
		return NULL;
	if (ref[1] != '/')
		return reference_find_anchor(root, ref + 1, looks);
	const cJSON *at = root;
	const char *pointer = ref + 1;
	while (at && *pointer == '/') {
		pointer++;
		char *key = reference_pointer_key(&pointer);
		at = reference_at_key(at, key, looks);
		free(key);
	}
	return *pointer ? NULL : at;
}
