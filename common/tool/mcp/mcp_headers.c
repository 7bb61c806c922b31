/* SPDX-License-Identifier: ISC */
/* Marks in schemas, and values as headers have them. */
#include "tool/mcp/mcp_headers.h"

#include "base/base64.h"
#include "base/http/http_head.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/texts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MARK "x-mcp-header"
#define PREFIX "Mcp-Param-"
#define MOST_MARKS 1000 /* marks of a tool; each is compared with all before it */

/* ---- Marks */

static const char *headers_mark_fault(const cJSON *schema, const cJSON *mark, bool is_property)
{
	static const char *const types[] = {"string", "integer", "boolean", NULL};
	if (!is_property)
		return "stands where no property is";
	if (!cJSON_IsString(mark) || !http_is_token(mark->valuestring))
		return "is no name of a header";
	if (!texts_has(types, json_str(schema, "type")))
		return "is of a property that is no string, integer or boolean";
	return NULL;
}

/* The names that were seen, in small letters, as members. */
struct marks {
	cJSON *seen;
	size_t count;
};

/* Looks at a part of a schema. */
static const char *headers_look(
    const cJSON *schema, bool chained, bool is_property, struct marks *marks)
{
	const cJSON *mark = json_get(schema, MARK), *member, *property;
	const char *fault = mark ? headers_mark_fault(schema, mark, is_property) : NULL;
	if (fault)
		return fault;
	if (mark) {
		char *name = xstrdup(mark->valuestring);
		for (char *p = name; *p; p++)
			*p = (char)tolower((unsigned char)*p);
		fault = ++marks->count > MOST_MARKS ? "is one of too many"
		    : json_get(marks->seen, name)   ? "has the name of another"
						    : NULL;
		cJSON_AddTrueToObject(marks->seen, name);
		free(name);
	}
	cJSON_ArrayForEach(member, schema) {
		bool properties = member->string && strcmp(member->string, "properties") == 0;
		if (fault)
			break;
		if (!properties)
			fault = headers_look(member, false, false, marks);
		for (property = properties ? member->child : NULL; property && !fault;
		     property = property->next)
			fault = headers_look(property, chained, chained, marks);
	}
	return fault;
}

const char *mcp_headers_fault(const cJSON *parameters)
{
	struct marks marks = {.seen = cJSON_CreateObject()};
	const char *fault = headers_look(parameters, true, false, &marks);
	cJSON_Delete(marks.seen);
	return fault;
}

/* ---- Values */

/* Adds a header; a value that cannot stand in one as it is goes in base64. */
static void headers_add(cJSON *headers, const char *name, const char *value)
{
	size_t len = strlen(value);
	bool plain = len > 0 && !isspace((unsigned char)value[0]) &&
	    !isspace((unsigned char)value[len - 1]) && strncmp(value, "=?base64?", 9) != 0;
	for (const char *p = value; *p; p++)
		plain = plain && (*p == '\t' || (*p >= ' ' && *p <= '~'));
	if (plain) {
		cJSON_AddStringToObject(headers, name, value);
		return;
	}
	char *coded = base64_encode(value, len), *text = xasprintf("=?base64?%s?=", coded);
	cJSON_AddStringToObject(headers, name, text);
	free(text);
	free(coded);
}

static void headers_add_marked(cJSON *headers, const cJSON *schema, const cJSON *args)
{
	const cJSON *property;
	cJSON_ArrayForEach(property, json_get(schema, "properties")) {
		const char *mark = json_str(property, MARK);
		const cJSON *value = json_opt(args, property->string);
		headers_add_marked(headers, property, value);
		if (!mark || !value || cJSON_IsObject(value) || cJSON_IsArray(value))
			continue;
		char *name = xasprintf(PREFIX "%s", mark);
		char *text =
		    cJSON_IsString(value) ? xstrdup(value->valuestring) : json_print(value);
		headers_add(headers, name, text);
		free(text);
		free(name);
	}
}

cJSON *mcp_headers_new(const char *method, const cJSON *params, const cJSON *parameters)
{
	cJSON *headers = cJSON_CreateObject();
	const char *name = json_str(params, "name");
	cJSON_AddStringToObject(headers, "Mcp-Method", method);
	if (name)
		headers_add(headers, "Mcp-Name", name);
	if (parameters)
		headers_add_marked(headers, parameters, json_get(params, "arguments"));
	return headers;
}
