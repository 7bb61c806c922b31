/* SPDX-License-Identifier: ISC */
/* Decoding name=value pairs into the fields that a route declares. */
#include "fcgi/request/query.h"

#include "base/http/percent.h"
#include "base/utf8.h"

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

static const char not_text[] = "\xff";

/* A name and its value; a value that is not UTF-8 is noted as not_text until the end, since a later
 * one may replace it. */
struct query_pair {
	char *name;
	size_t name_len;
	const char *value;
};

/* Decodes the pair at *query, which moves on to the next; false at the end. */
static bool query_pair_next(struct arena *arena, const char **query, struct query_pair *pair)
{
	const char *text = *query;
	size_t len = strcspn(text, "&");
	const char *equals = memchr(text, '=', len);
	size_t name_len = equals ? (size_t)(equals - text) : len;
	size_t value_len = equals ? len - name_len - 1 : 0;
	if (!*text)
		return false;
	*query += len + (text[len] == '&');
	pair->name = arena_alloc(arena, len + 2);
	pair->name_len = query_decode(pair->name, text, name_len);
	char *value = pair->name + pair->name_len + 1;
	value_len = query_decode(value, equals ? equals + 1 : "", value_len);
	pair->value = utf8_valid(value, value_len) ? value : not_text;
	return true;
}

static bool query_refuse(struct error *err, const char *place, const char *name, const char *what)
{
	char path[64] = "query.";
	strncat(path, place, sizeof(path) - sizeof("query."));
	return error_field(err, ERR_VALIDATION, path, "value_error", "%s %s", name, what);
}

/* Whether the value is text; an empty one is refused unless it counts as absent. */
static bool query_check(
    const char *place, const char *name, const char *value, bool may_be_empty, struct error *err)
{
	if (*value == *not_text)
		return query_refuse(err, place, name, "must be valid UTF-8 text without NUL");
	return *value || may_be_empty || query_refuse(err, place, name, "must not be empty");
}

bool query_read(struct arena *arena, const char *query, struct query_field *fields, size_t count,
    struct error *err)
{
	struct query_pair pair;
	bool ok = true;
	while (query_pair_next(arena, &query, &pair)) {
		for (size_t i = 0; i < count; i++)
			if (strlen(fields[i].name) == pair.name_len &&
			    !memcmp(fields[i].name, pair.name, pair.name_len))
				fields[i].value = pair.value;
	}
	for (size_t i = 0; i < count; i++) {
		struct query_field *field = &fields[i];
		if (!field->value)
			continue;
		ok = query_check(
			 field->name, field->name, field->value, field->empty_is_absent, err) &&
		    ok;
		if (!*field->value || *field->value == *not_text)
			field->value = NULL;
	}
	return ok;
}

bool query_values(struct arena *arena, const char *query, const char *name, const char **values,
    size_t *count, struct error *err)
{
	size_t room = *count;
	struct query_pair pair;
	*count = 0;
	while (query_pair_next(arena, &query, &pair)) {
		if (strlen(name) != pair.name_len || memcmp(name, pair.name, pair.name_len) != 0)
			continue;
		if (*count == room)
			return query_refuse(err, name, name, "is there too often");
		if (!query_check(name, name, pair.value, false, err))
			return false;
		values[(*count)++] = pair.value;
	}
	return true;
}

bool query_members(struct arena *arena, const char *query, const char *object,
    struct query_member *members, size_t *count, struct error *err)
{
	size_t room = *count, prefix = strlen(object) + 1;
	struct query_pair pair;
	bool ok = true;
	*count = 0;
	while (query_pair_next(arena, &query, &pair)) {
		if (strncmp(pair.name, object, prefix - 1) != 0 || pair.name[prefix - 1] != '.')
			continue;
		if (!utf8_valid(pair.name, pair.name_len))
			return query_refuse(
			    err, object, object, "must have names of UTF-8 text without NUL");
		/* the member that has the name already, or the place behind the last */
		size_t place = 0;
		while (place < *count && strcmp(members[place].name, pair.name + prefix) != 0)
			place++;
		if (place == room)
			return error_field(err, ERR_VALIDATION, "query", "value_error",
			    "at most %zu members of %s can be asked for", room, object);
		members[place] = (struct query_member){pair.name + prefix, pair.value};
		*count += place == *count;
	}
	for (size_t i = 0; i < *count; i++) {
		const char *name = arena_printf(arena, "%s.%s", object, members[i].name);
		ok = query_check(object, name, members[i].value, false, err) && ok;
	}
	return ok;
}
