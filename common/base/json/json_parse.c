/* SPDX-License-Identifier: ISC */
/* Parsing scanned text, and putting the noted numbers back as they were written. */
#include "base/json/json.h"
#include "base/json/json_members.h"
#include "base/json/json_scan.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

const char *json_fault_text(enum json_fault fault)
{
	switch (fault) {
	case JSON_OK:
		return "is valid JSON";
	case JSON_INVALID:
		return "must be valid JSON";
	case JSON_TOO_DEEP:
		return "must not be nested more than 100 levels deep";
	case JSON_NUL:
		return "must not contain the character U+0000";
	case JSON_HALF:
		return "must not contain half of a surrogate pair";
	case JSON_MANY:
		return "must not have more values than an eighth of the bytes that it may have";
	case JSON_RANGE:
		return "must not contain numbers beyond the range of a double";
	}
	abort();
}

/* What the walk over a fresh tree carries: the tree has its numbers in the order of the text. */
struct walk {
	const struct json_scan *scan;
	size_t numbers; /* met so far */
	size_t kept;    /* noted numbers met so far */
};

/* Recursive, but no deeper than the scan allowed. */
static void json_parse_visit(struct walk *w, cJSON *item)
{
	const struct json_scan *s = w->scan;
	if (cJSON_IsNumber(item)) {
		if (w->kept < s->noted_count && s->noted[w->kept].ordinal == w->numbers) {
			const struct json_noted *noted = &s->noted[w->kept++];
			item->type = (item->type & ~cJSON_Number) | cJSON_Raw;
			item->valuestring = xstrndup(s->text + noted->offset, noted->len);
		}
		w->numbers++;
	}
	for (cJSON *child = item->child; child; child = child->next)
		json_parse_visit(w, child);
	if (cJSON_IsObject(item) && item->child)
		json_members_unique(item);
}

/* cJSON cannot read numbers of more than 63 characters: it gets the text with a zero in the place
 * of each noted number. */
static char *json_parse_without_noted(const struct json_scan *s, size_t len)
{
	char *copy = xmalloc(len);
	memcpy(copy, s->text, len);
	for (size_t i = 0; i < s->noted_count; i++) {
		memset(copy + s->noted[i].offset, ' ', s->noted[i].len);
		copy[s->noted[i].offset] = '0';
	}
	return copy;
}

cJSON *json_parse_within(
    const char *text, size_t len, unsigned max_depth, size_t *values, enum json_fault *fault)
{
	struct json_scan scan;
	cJSON *root = NULL;
	enum json_fault found = json_scan(&scan, text, len, max_depth, *values);
	*values -= scan.values;
	if (found == JSON_OK) {
		char *copy = scan.oversized ? json_parse_without_noted(&scan, len) : NULL;
		root = cJSON_ParseWithLengthOpts(copy ? copy : text, len, NULL, false);
		free(copy);
		found = root ? JSON_OK : JSON_INVALID;
	}
	if (root)
		json_parse_visit(&(struct walk){.scan = &scan}, root);
	json_scan_release(&scan);
	if (fault)
		*fault = found;
	return root;
}

cJSON *json_parse(const char *text, size_t len, unsigned max_depth, enum json_fault *fault)
{
	size_t values = SIZE_MAX;
	return json_parse_within(text, len, max_depth, &values, fault);
}

cJSON *json_parse_own(const char *text)
{
	return text ? json_parse(text, strlen(text), JSON_TRUSTED_DEPTH, NULL) : NULL;
}
