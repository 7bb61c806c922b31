/* SPDX-License-Identifier: ISC */
/* Reading a body of announced or unknown length, and parsing it as a JSON object. */
#include "fcgi/request/body.h"

#include "base/json/json.h"

#include <string.h>
#include <strings.h>

#define READ_SIZE 16384
#define LENGTH_DIGITS 18 /* always fit 63 bits */

static bool body_wrong_length(struct error *err)
{
	return error_set(err, ERR_INVALID_CONTENT_LENGTH, NULL);
}

bool body_length(const char *content_length, int64_t max, int64_t *length, struct error *err)
{
	*length = -1;
	if (!*content_length)
		return true;
	size_t digits = strspn(content_length, "0123456789");
	if (content_length[digits] || digits > LENGTH_DIGITS)
		return body_wrong_length(err);
	*length = 0;
	for (const char *c = content_length; *c; c++)
		*length = *length * 10 + (*c - '0');
	return *length <= max || error_too_large(err, max);
}

bool body_read(
    struct client *client, int64_t length, int64_t max, struct buf *out, struct error *err)
{
	int64_t expected = length >= 0 ? length : max;
	ssize_t got = 1;
	while (got > 0 && (int64_t)out->len <= expected) {
		/* in the end one more than there should be, so that the end is seen,
		 * or an excess */
		int64_t left = expected - (int64_t)out->len + 1;
		size_t want = left < READ_SIZE ? (size_t)left : READ_SIZE;
		got = client->read(client, buf_reserve(out, want), want);
		out->len += got > 0 ? (size_t)got : 0;
		out->data[out->len] = '\0';
	}
	if ((int64_t)out->len > expected)
		return length < 0 ? error_too_large(err, max) : body_wrong_length(err);
	if (got < 0 || (int64_t)out->len < length)
		return error_set(err, ERR_BAD_REQUEST, "Request body is incomplete");
	return true;
}

bool body_type_is_json(const char *content_type)
{
	static const char application[] = "application/";
	static const size_t prefix = sizeof(application) - 1;
	size_t len = strcspn(content_type, "; \t");
	if (*content_type == '\0')
		return true;
	if (len <= prefix || strncasecmp(content_type, application, prefix) != 0)
		return false;
	const char *subtype = content_type + prefix;
	len -= prefix;
	if (len > 5)
		return !strncasecmp(subtype + len - 5, "+json", 5);
	return len == 4 && !strncasecmp(subtype, "json", 4);
}

static bool body_is_required(struct error *err)
{
	return error_field(err, ERR_VALIDATION, "body", "missing", "Request body is required");
}

static bool body_wrong_type(struct error *err, const char *type)
{
	return error_field(err, ERR_VALIDATION, "header.content-type", "value_error",
	    "Content-Type must be %s", type);
}

bool body_parse_lines(struct arena *arena, const struct buf *text, const char *content_type,
    size_t values, const cJSON **object, struct error *err)
{
	size_t type = strcspn(content_type, "; \t");
	*object = NULL;
	if (text->len == 0)
		return body_is_required(err);
	if (type != strlen(BODY_LINES_TYPE) ||
	    strncasecmp(content_type, BODY_LINES_TYPE, type) != 0)
		return body_wrong_type(err, BODY_LINES_TYPE);
	const char *end = memchr(text->data, '\n', text->len);
	size_t first = end ? (size_t)(end - text->data) : text->len;
	*object = arena_json(
	    arena, json_parse_within(text->data, first, JSON_TRUSTED_DEPTH, &values, NULL));
	return true;
}

bool body_parse(struct arena *arena, const struct buf *text, const char *content_type,
    enum body_rule rule, const char *not_json, size_t *values, const cJSON **object,
    struct error *err)
{
	*object = NULL;
	if (text->len == 0)
		return rule != BODY_REQUIRED || body_is_required(err);
	if (!body_type_is_json(content_type))
		return body_wrong_type(err, "application/json");
	enum json_fault fault;
	cJSON *value = arena_json(
	    arena, json_parse_within(text->data, text->len, JSON_REQUEST_DEPTH, values, &fault));
	if (!value)
		return error_field(err, ERR_VALIDATION, "body", "json_invalid", "Request body %s",
		    fault == JSON_INVALID ? not_json : json_fault_text(fault));
	if (!cJSON_IsObject(value))
		return error_field(err, ERR_VALIDATION, "body", "type_error",
		    "Request body must be a JSON object");
	*object = value;
	return true;
}
