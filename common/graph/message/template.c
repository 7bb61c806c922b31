/* SPDX-License-Identifier: ISC */
/* Parsing a text into literals and names once, and filling it in many times. */
#include "graph/message/template.h"

#include "base/json/json.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"
#define EXCERPT 40 /* bytes of the text that an error shows */

struct part {
	char *text;
	bool is_name;
};

struct template
{
	struct part *parts;
	size_t count;
};

static void template_add_part(struct template *t, const char *text, size_t len, bool is_name)
{
	t->parts = xrealloc(t->parts, (t->count + 1) * sizeof(*t->parts));
	t->parts[t->count++] = (struct part){xstrndup(text, len), is_name};
}

static void template_add_literal(struct template *t, struct buf *literal)
{
	if (literal->len > 0)
		template_add_part(t, literal->data, literal->len, false);
	buf_reset(literal);
}

/* Reads the name whose braces open at p; the place after it, or NULL with *error set. */
static const char *template_read_name(struct template *t, const char *p, char **error)
{
	const char *name = p + 2 + strspn(p + 2, BLANKS);
	const char *end = strstr(p + 2, "}}");
	if (!end) {
		*error = xasprintf("'%.*s' opens a name that no }} closes",
		    (int)utf8_cut(p, strnlen(p, EXCERPT)), p);
		return NULL;
	}
	const char *name_end = end;
	while (name_end > name && strchr(BLANKS, name_end[-1]))
		name_end--;
	if (name >= name_end || memchr(name, '{', (size_t)(name_end - name))) {
		*error = xasprintf("expected a name between {{ and }}, found '%.*s'",
		    (int)utf8_cut(p, strnlen(p, (size_t)(end - p) + 2)), p);
		return NULL;
	}
	template_add_part(t, name, (size_t)(name_end - name), true);
	return end + 2;
}

struct template *template_parse(const char *text, char **error)
{
	struct template *t = xcalloc(1, sizeof(*t));
	struct buf literal = {0};
	const char *p = text;
	while (p && *p) {
		if (strncmp(p, "{{", 2) != 0) {
			buf_putc(&literal, *p++);
		} else if (strncmp(p, "{{{{", 4) == 0) {
			buf_puts(&literal, "{{");
			p += 4;
		} else {
			template_add_literal(t, &literal);
			p = template_read_name(t, p, error);
		}
	}
	template_add_literal(t, &literal);
	buf_release(&literal);
	if (p)
		return t;
	template_free(t);
	return NULL;
}

void template_free(struct template *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++)
		free(t->parts[i].text);
	free(t->parts);
	free(t);
}

size_t template_name_count(const struct template *t)
{
	size_t count = 0;
	for (size_t i = 0; i < t->count; i++)
		count += t->parts[i].is_name;
	return count;
}

const char *template_name(const struct template *t, size_t i)
{
	for (size_t part = 0; part < t->count; part++) {
		if (t->parts[part].is_name && i-- == 0)
			return t->parts[part].text;
	}
	return NULL;
}

const char *template_only_name(const struct template *t)
{
	return t->count == 1 && t->parts[0].is_name ? t->parts[0].text : NULL;
}

void template_render(const struct template *t, template_value_fn *value, void *arg, struct buf *out)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->parts[i].is_name)
			value(t->parts[i].text, out, arg);
		else
			buf_puts(out, t->parts[i].text);
	}
}

/* ---- Values */

void template_add_value(struct buf *out, const cJSON *value)
{
	if (cJSON_IsString(value)) {
		buf_puts(out, value->valuestring);
	} else if (value && !cJSON_IsNull(value)) {
		json_write(out, value);
	}
}

struct item_source {
	template_item_fn *item;
	const void *arg;
};

static void template_add_item(const char *name, struct buf *out, void *arg)
{
	const struct item_source *source = arg;
	cJSON *value = source->item(name, source->arg);
	template_add_value(out, value);
	cJSON_Delete(value);
}

char *template_text(const struct template *t, template_item_fn *item, const void *arg)
{
	struct item_source source = {item, arg};
	struct buf out = {0};
	template_render(t, template_add_item, &source, &out);
	return buf_detach(&out);
}

cJSON *template_json(const cJSON *json, template_item_fn *item, const void *arg)
{
	const cJSON *child;
	if (cJSON_IsString(json)) {
		char *error = NULL;
		struct template *t = template_parse(json->valuestring, &error);
		cJSON *value;
		if (!t) { /* it was checked at the start */
			value = cJSON_CreateString(json->valuestring);
		} else if (template_only_name(t)) {
			value = item(template_only_name(t), arg);
		} else {
			char *filled = template_text(t, item, arg);
			value = cJSON_CreateString(filled);
			free(filled);
		}
		free(error);
		template_free(t);
		return value;
	}
	if (!cJSON_IsArray(json) && !cJSON_IsObject(json))
		return cJSON_Duplicate(json, true);
	cJSON *copy = cJSON_IsArray(json) ? cJSON_CreateArray() : cJSON_CreateObject();
	cJSON_ArrayForEach(child, json) {
		cJSON *value = template_json(child, item, arg);
		if (value && child->string)
			cJSON_AddItemToObject(copy, child->string, value);
		else if (value)
			cJSON_AddItemToArray(copy, value);
	}
	return copy;
}

const cJSON *template_member(const cJSON *item, const char *path)
{
	char *copy = xstrdup(path), *rest = copy, *key;
	while (item && (key = strsep(&rest, ".")))
		item = json_opt(item, key);
	free(copy);
	return item;
}
