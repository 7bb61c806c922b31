/* SPDX-License-Identifier: ISC */
/* Stepping over values in checked text: members by name, elements one after another. */
#include "base/json/json_skim.h"

#include "base/json/json_scan.h"
#include "base/utf8.h"

#include <string.h>

static const char *json_skim_skip_space(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
		p++;
	return p;
}

/* Skips a string, from the opening quote to behind the closing one. */
static const char *json_skim_skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++) {
		p += utf8_plain(p, (size_t)(end - p));
		if (p < end && *p == '\\')
			p++;
		else if (p < end && *p == '"')
			break;
	}
	return p < end ? p + 1 : end;
}

static const char *json_skim_skip_container(const char *p, const char *end)
{
	size_t depth = 0;
	do {
		if (*p == '"') {
			p = json_skim_skip_string(p, end);
			continue;
		}
		depth += *p == '{' || *p == '[';
		depth -= *p == '}' || *p == ']';
		p++;
	} while (depth && p < end);
	return p;
}

static struct json_span json_skim_value_at(const char *p, const char *end)
{
	const char *start = p = json_skim_skip_space(p, end);
	if (p == end)
		return (struct json_span){0};
	if (*p == '"')
		p = json_skim_skip_string(p, end);
	else if (*p == '{' || *p == '[')
		p = json_skim_skip_container(p, end);
	else
		while (p < end && !strchr(",]} \t\r\n", *p))
			p++;
	return (struct json_span){start, (size_t)(p - start)};
}

struct json_span json_skim_text(const char *text, size_t len)
{
	return json_skim_value_at(text, text + len);
}

bool json_skim_is_object(struct json_span value)
{
	return value.start && *value.start == '{';
}

bool json_skim_is_array(struct json_span value)
{
	return value.start && *value.start == '[';
}

/* Whether a key, with its quotes, is name; one with an escape is worth a parser. */
static bool json_skim_names(struct json_span key, const char *name)
{
	size_t len = strlen(name);
	if (!memchr(key.start, '\\', key.len))
		return key.len == len + 2 && !memcmp(key.start + 1, name, len);
	cJSON *item = json_skim_parse(key);
	bool same = cJSON_IsString(item) && !strcmp(item->valuestring, name);
	cJSON_Delete(item);
	return same;
}

struct json_span json_skim_member(struct json_span value, const char *key)
{
	struct json_span found = {0};
	if (!json_skim_is_object(value))
		return found;
	const char *end = value.start + value.len - 1;
	const char *p = json_skim_skip_space(value.start + 1, end);
	while (p < end) {
		struct json_span name = json_skim_value_at(p, end);
		p = json_skim_skip_space(name.start + name.len, end);
		struct json_span member = json_skim_value_at(p + 1, end); /* behind the colon */
		if (json_skim_names(name, key))
			found = member;
		p = json_skim_skip_space(member.start + member.len, end);
		if (p < end)
			p = json_skim_skip_space(p + 1, end); /* the comma */
	}
	return found;
}

bool json_skim_next(struct json_span array, struct json_span *at)
{
	if (!json_skim_is_array(array))
		return false;
	const char *end = array.start + array.len - 1;
	const char *p = array.start + 1;
	if (at->start) {
		p = json_skim_skip_space(at->start + at->len, end);
		p += p < end; /* the comma */
	}
	*at = json_skim_value_at(p, end);
	return at->start != NULL;
}

cJSON *json_skim_parse(struct json_span value)
{
	return value.start ? json_parse(value.start, value.len, JSON_DEPTH_LIMIT, NULL) : NULL;
}
