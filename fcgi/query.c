/* SPDX-License-Identifier: ISC */
/* Decoding name=value pairs into the fields that a route declares. */
#include "query.h"

#include "base/json.h"
#include "base/percent.h"

#include <string.h>

/* '+' is a space; a '%' without two digits stands for itself.  Returns the length, as NUL can be
 * part of the result. */
static size_t query_decode(char *out, const char *in, size_t len)
{
	size_t n = 0;
	for (size_t i = 0; i < len; i++) {
		int byte = in[i] == '%' && len - i > 2 ? percent_byte(in + i + 1) : -1;
		if (byte >= 0) {
			out[n++] = (char)byte;
			i += 2;
		} else {
			out[n++] = in[i] == '+' ? ' ' : in[i];
		}
	}
	out[n] = '\0';
	return n;
}

static bool mistake(struct query_field *field, struct error *err, const char *what)
{
	char path[64] = "query.";
	field->value = NULL;
	strncat(path, field->name, sizeof(path) - sizeof("query."));
	return error_field(err, ERR_VALIDATION, path, "value_error", "%s %s", field->name, what);
}

/* The field that the name stands for, or NULL. */
static struct query_field *query_find(
    struct query_field *fields, size_t count, const char *name, size_t len)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(fields[i].name) == len && !memcmp(fields[i].name, name, len))
			return &fields[i];
	return NULL;
}

/* One name=value of len bytes; texts that are not UTF-8 are noted as "invalid" until the end, since
 * a later value may replace them. */
static void query_take(
    struct arena *arena, const char *pair, size_t len, struct query_field *fields, size_t count)
{
	static const char not_text[] = "\xff";
	const char *equals = memchr(pair, '=', len);
	size_t name_len = equals ? (size_t)(equals - pair) : len;
	char *text = arena_alloc(arena, len + 1);
	size_t decoded = query_decode(text, pair, name_len);
	struct query_field *field = query_find(fields, count, text, decoded);
	if (!field)
		return;
	size_t value_len = equals ? len - name_len - 1 : 0;
	decoded = query_decode(text, equals ? equals + 1 : "", value_len);
	field->value = utf8_valid(text, decoded) ? text : not_text;
}

static bool query_check(struct query_field *field, struct error *err)
{
	if (!field->value)
		return true;
	if (*field->value == '\xff')
		return mistake(field, err, "must be valid UTF-8 text without NUL");
	if (*field->value)
		return true;
	field->value = NULL;
	return field->empty_is_absent || mistake(field, err, "must not be empty");
}

bool query_read(struct arena *arena, const char *query, struct query_field *fields, size_t count,
    struct error *err)
{
	for (const char *pair = query; *pair;) {
		size_t len = strcspn(pair, "&");
		query_take(arena, pair, len, fields, count);
		pair += len + (pair[len] == '&');
	}
	bool ok = true;
	for (size_t i = 0; i < count; i++)
		ok = query_check(&fields[i], err) && ok;
	return ok;
}
