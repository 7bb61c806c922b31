/* SPDX-License-Identifier: ISC */
/* Checking a value against a compiled schema: the walk, and the keywords for single values. */
#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "tool/decimal.h"
#include "tool/pattern.h"
#include "tool/schema_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WORK 2000000      /* steps: well under a second */
#define MOST_DEPTH 400         /* nested schemas; a thread's stack holds three times as many */
#define MOST_MATCHING 20000000 /* steps of regular expressions, which are shorter */
#define VALUES_SHOWN 200       /* bytes of an enumeration in a sentence */
#define TYPES_MOST 160

/* ---- Saying why */

/* Appends at most that many bytes, cut at a character; control characters, which a name may hold,
 * are replaced. */
static void schema_check_add_cut(struct buf *out, const char *text, size_t most)
{
	size_t len = strlen(text);
	if (len > most) {
		len = most;
		while (len > 0 && ((unsigned char)text[len] & 0xC0) == 0x80)
			len--;
	}
	for (size_t i = 0; i < len; i++)
		buf_putc(out, (unsigned char)text[i] < 0x20 ? '?' : text[i]);
	if (text[len])
		buf_puts(out, "...");
}

static void schema_check_add_spot(struct buf *out, const struct spot *at)
{
	if (!at)
		return;
	schema_check_add_spot(out, at->up);
	if (out->len > SCHEMA_WHY_SIZE)
		return;
	if (at->key) {
		buf_putc(out, '.');
		schema_check_add_cut(out, at->key, WALK_KEY_SHOWN);
	} else {
		buf_printf(out, "[%zu]", at->index);
	}
}

static void schema_check_copy_cut(char *to, const char *text, size_t size)
{
	struct buf cut = {0};
	schema_check_add_cut(&cut, text, size - 4);
	memcpy(to, buf_str(&cut), cut.len + 1);
	buf_release(&cut);
}

bool walk_mismatch(struct walk *w, const char *fmt, ...)
{
	if (w->quiet || *w->why)
		return false;
	struct buf text = {0};
	va_list args;
	va_start(args, fmt);
	char *what = xvasprintf(fmt, args);
	va_end(args);
	buf_puts(&text, w->name);
	schema_check_add_spot(&text, w->at);
	if (text.len >
	    SCHEMA_WHY_SIZE / 2) { /* the whole of a long path says less than its last part */
		char cut[SCHEMA_WHY_SIZE / 2];
		schema_check_copy_cut(cut, buf_str(&text), sizeof(cut));
		buf_reset(&text);
		buf_puts(&text, cut);
	}
	buf_printf(&text, ": %s", what);
	schema_check_copy_cut(w->why, buf_str(&text), SCHEMA_WHY_SIZE);
	buf_release(&text);
	free(what);
	return false;
}

/* ---- Walking */

bool walk_spend(struct walk *w, size_t steps)
{
	w->work += steps;
	if (w->work > MOST_WORK)
		w->over = true;
	return !w->over;
}

bool walk_fits(struct walk *w, const struct subschema *s, const cJSON *value)
{
	bool fits = true;
	if (w->depth >= MOST_DEPTH)
		w->over = true;
	if (!walk_spend(w, 1))
		return false;
	if (s->never)
		return walk_mismatch(w, "expected to be absent");
	w->depth++;
	for (size_t i = 0; i < s->check_count && fits; i++)
		fits = s->checks[i].fits(w, &s->checks[i], value);
	w->depth--;
	return fits && !w->over;
}

bool walk_part_fits(
    struct walk *w, const struct subschema *s, const cJSON *value, const char *key, size_t index)
{
	const struct spot *up = w->at, here = {up, key, index};
	w->at = &here;
	bool fits = walk_fits(w, s, value);
	w->at = up;
	return fits;
}

bool walk_would_fit(struct walk *w, const struct subschema *s, const cJSON *value)
{
	w->quiet++;
	bool fits = walk_fits(w, s, value);
	w->quiet--;
	return fits;
}

/* ---- Any type */

static const char *schema_with_article(const char *type)
{
	static const struct {
		const char *type, *phrase;
	} phrases[] = {{"string", "a string"}, {"number", "a number"}, {"integer", "an integer"},
	    {"boolean", "a boolean"}, {"array", "an array"}, {"object", "an object"}};
	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
		if (strcmp(phrases[i].type, type) == 0)
			return phrases[i].phrase;
	}
	return type;
}

bool check_type(struct walk *w, const struct check *check, const cJSON *value)
{
	const cJSON *type = cJSON_IsArray(check->json) ? check->json->child : check->json;
	char expected[TYPES_MOST] = "";
	for (; type; type = type->next) {
		if (strcmp(type->valuestring, "integer") == 0
			? json_is_number(value) && decimal_is_integer(value)
			: strcmp(type->valuestring, json_type_name(value)) == 0)
			return true;
		size_t len = strlen(expected);
		snprintf(expected + len, sizeof(expected) - len, "%s%s", len ? " or " : "",
		    schema_with_article(type->valuestring));
		if (type == check->json)
			break;
	}
	return walk_mismatch(w, "expected %s, found %s", expected, json_type_name(value));
}

bool check_enum(struct walk *w, const struct check *check, const cJSON *value)
{
	const cJSON *item;
	struct buf list = {0};
	cJSON_ArrayForEach(item, check->json) {
		if (!walk_spend(w, 1))
			return false;
		if (json_equal(item, value))
			return true;
	}
	cJSON_ArrayForEach(item, check->json) {
		if (w->quiet || *w->why || list.len > VALUES_SHOWN)
			break;
		char *text = json_print(item);
		buf_printf(&list, "%s%s", list.len ? ", " : "", text);
		free(text);
	}
	struct buf cut = {0};
	schema_check_add_cut(&cut, buf_str(&list), VALUES_SHOWN);
	walk_mismatch(w, "expected one of %s", buf_str(&cut));
	buf_release(&list);
	buf_release(&cut);
	return false;
}

/* Notes a mismatch with what was expected and a value of the schema. */
static bool walk_mismatch_json(struct walk *w, const char *expected, const cJSON *json)
{
	if (w->quiet || *w->why)
		return false;
	struct buf cut = {0};
	char *text = json_print(json);
	schema_check_add_cut(&cut, text, VALUES_SHOWN);
	walk_mismatch(w, "expected %s%s", expected, buf_str(&cut));
	buf_release(&cut);
	free(text);
	return false;
}

bool check_const(struct walk *w, const struct check *check, const cJSON *value)
{
	return json_equal(check->json, value) || walk_mismatch_json(w, "", check->json);
}

/* ---- Numbers */

bool check_maximum(struct walk *w, const struct check *check, const cJSON *value)
{
	return !json_is_number(value) || decimal_compare(value, check->json) <= 0 ||
	    walk_mismatch_json(w, "at most ", check->json);
}

bool check_minimum(struct walk *w, const struct check *check, const cJSON *value)
{
	return !json_is_number(value) || decimal_compare(value, check->json) >= 0 ||
	    walk_mismatch_json(w, "at least ", check->json);
}

bool check_below(struct walk *w, const struct check *check, const cJSON *value)
{
	return !json_is_number(value) || decimal_compare(value, check->json) < 0 ||
	    walk_mismatch_json(w, "less than ", check->json);
}

bool check_above(struct walk *w, const struct check *check, const cJSON *value)
{
	return !json_is_number(value) || decimal_compare(value, check->json) > 0 ||
	    walk_mismatch_json(w, "more than ", check->json);
}

bool check_multiple(struct walk *w, const struct check *check, const cJSON *value)
{
	return !json_is_number(value) || decimal_is_multiple(value, check->json) ||
	    walk_mismatch_json(w, "a multiple of ", check->json);
}

/* ---- Strings */

bool check_max_length(struct walk *w, const struct check *check, const cJSON *value)
{
	return !cJSON_IsString(value) || utf8_characters(value->valuestring) <= check->number ||
	    walk_mismatch(w, "expected at most %zu characters", check->number);
}

bool check_min_length(struct walk *w, const struct check *check, const cJSON *value)
{
	return !cJSON_IsString(value) || utf8_characters(value->valuestring) >= check->number ||
	    walk_mismatch(w, "expected at least %zu characters", check->number);
}

bool walk_text_matches(struct walk *w, const struct pattern *pattern, const char *text)
{
	bool matches = walk_spend(w, 1) && pattern_matches(pattern, text, &w->matching);
	if (w->matching == 0)
		w->over = true;
	return matches;
}

bool check_pattern(struct walk *w, const struct check *check, const cJSON *value)
{
	return !cJSON_IsString(value) || walk_text_matches(w, check->pattern, value->valuestring) ||
	    walk_mismatch_json(w, "a match of ", check->json);
}

/* ---- Several schemas */

bool check_all(struct walk *w, const struct check *check, const cJSON *value)
{
	for (size_t i = 0; i < check->sub_count; i++) {
		if (!walk_fits(w, check->subs[i], value))
			return false;
	}
	return true;
}

bool check_any(struct walk *w, const struct check *check, const cJSON *value)
{
	if (check->sub_count == 1)
		return walk_fits(w, check->subs[0], value);
	for (size_t i = 0; i < check->sub_count && !w->over; i++) {
		if (walk_would_fit(w, check->subs[i], value))
			return true;
	}
	return walk_mismatch(w, "expected one of %zu kinds of value, found %s that is none of them",
	    check->sub_count, schema_with_article(json_type_name(value)));
}

bool check_one(struct walk *w, const struct check *check, const cJSON *value)
{
	size_t count = 0;
	if (check->sub_count == 1)
		return walk_fits(w, check->subs[0], value);
	for (size_t i = 0; i < check->sub_count && !w->over; i++)
		count += walk_would_fit(w, check->subs[i], value);
	return count == 1 ||
	    walk_mismatch(w,
		"expected exactly one of %zu kinds of value, found %s that is %s of them",
		check->sub_count, schema_with_article(json_type_name(value)),
		count ? "several" : "none");
}

bool check_not(struct walk *w, const struct check *check, const cJSON *value)
{
	return !walk_would_fit(w, check->subs[0], value) ||
	    walk_mismatch(w, "expected another value than this %s", json_type_name(value));
}

/* subs: if, then, else; the last two may be NULL. */
bool check_condition(struct walk *w, const struct check *check, const cJSON *value)
{
	const struct subschema *next =
	    check->subs[walk_would_fit(w, check->subs[0], value) ? 1 : 2];
	return !next || walk_fits(w, next, value);
}

/* ---- The whole */

bool schema_accepts(
    const struct schema *schema, const cJSON *value, const char *name, char why[SCHEMA_WHY_SIZE])
{
	struct walk w = {.name = name, .why = why, .matching = MOST_MATCHING};
	*why = '\0';
	if (json_deeper_than(value, SCHEMA_VALUE_DEPTH))
		return walk_mismatch(
		    &w, "expected at most %d levels of nesting", SCHEMA_VALUE_DEPTH);
	bool fits = walk_fits(&w, schema->root, value);
	if (w.over) {
		*why = '\0';
		w.at = NULL;
		walk_mismatch(&w, "expected a value that takes less work to check");
	}
	return fits && !w.over;
}
