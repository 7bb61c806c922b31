/* SPDX-License-Identifier: ISC */
/* Making the JSON Schema of a graph's state from its fields and their types. */
#include "service/about.h"

#include "base/buf.h"
#include "base/json/json.h"

#include <ctype.h>
#include <string.h>

/* What every state has, and the two shapes it refers to. */
static const char fixed_properties[] =
    "{\"context\":{\"title\":\"Context\",\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/Message\"},"
    "\"description\":\"The working conversation window\",\"default\":[]},"
    "\"context_summary\":{\"title\":\"Context Summary\",\"type\":[\"string\",\"null\"],"
    "\"description\":\"Rolling summary of trimmed messages\",\"default\":null},"
    "\"execution_meta\":{\"title\":\"Execution Meta\",\"type\":\"object\","
    "\"$ref\":\"#/$defs/ExecutionMeta\",\"description\":\"Where the latest run stands\"}}";

static const char definitions[] =
    "{\"Message\":{\"title\":\"Message\",\"type\":\"object\",\"properties\":{"
    "\"message_id\":{\"type\":\"string\"},"
    "\"role\":{\"type\":\"string\",\"enum\":[\"user\",\"assistant\",\"system\",\"tool\"]},"
    "\"content\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
    "\"type\":{\"type\":\"string\"}},\"required\":[\"type\"]}},"
    "\"delta\":{\"type\":\"boolean\"},"
    "\"tools_calls\":{\"type\":[\"array\",\"null\"],\"items\":{\"type\":\"object\"}},"
    "\"reasoning\":{\"type\":[\"string\",\"null\"]},"
    "\"timestamp\":{\"type\":\"number\"},"
    "\"metadata\":{\"type\":\"object\"},"
    "\"usages\":{\"type\":[\"object\",\"null\"]},"
    "\"raw\":{\"type\":\"null\"},"
    "\"parsed_content\":{}},"
    "\"required\":[\"role\",\"content\"]},"
    "\"ExecutionMeta\":{\"title\":\"ExecutionMeta\",\"type\":\"object\",\"properties\":{"
    "\"current_node\":{\"type\":\"string\"},"
    "\"step\":{\"type\":\"integer\"},"
    "\"interrupt\":{\"type\":\"object\"},"
    "\"is_running\":{\"type\":\"boolean\"},"
    "\"is_interrupted\":{\"type\":\"boolean\"},"
    "\"is_stopped_requested\":{\"type\":\"boolean\"},"
    "\"status\":{\"type\":\"string\",\"enum\":[\"idle\",\"running\",\"interrupted\",\"completed\","
    "\"error\",\"stopped\"]},"
    "\"interrupted_node\":{\"type\":[\"string\",\"null\"]},"
    "\"interrupt_reason\":{\"type\":[\"string\",\"null\"]},"
    "\"interrupt_data\":{\"type\":[\"object\",\"null\"]},"
    "\"thread_id\":{\"type\":\"string\"},"
    "\"stop_current_execution\":{\"type\":\"string\",\"enum\":[\"none\",\"stop_requested\","
    "\"stopped\"]},"
    "\"internal_data\":{\"type\":\"object\"}}}}";

/* "open_tickets" becomes "Open Tickets". */
static cJSON *schema_title_of(const char *name)
{
	struct buf title = {0};
	for (const char *p = name; *p; p++) {
		bool starts = p == name || p[-1] == '_';
		if (*p == '_')
			buf_putc(&title, ' ');
		else
			buf_putc(&title, starts ? (char)toupper((unsigned char)*p) : *p);
	}
	cJSON *text = cJSON_CreateString(buf_str(&title));
	buf_release(&title);
	return text;
}

cJSON *schema_of(const ag_graph *graph)
{
	static const char *const all[] = {"string", "number", "boolean", "array", "object", "null"};
	cJSON *schema = cJSON_CreateObject();
	cJSON_AddStringToObject(schema, "$schema", "https://json-schema.org/draft/2020-12/schema");
	cJSON_AddStringToObject(schema, "title", graph->state_type);
	cJSON_AddStringToObject(schema, "type", "object");
	cJSON *properties = cJSON_Parse(fixed_properties);
	for (size_t i = 0; i < graph->field_count; i++) {
		const struct field *field = &graph->fields[i];
		cJSON *out = cJSON_CreateObject();
		cJSON_AddItemToObject(out, "title", schema_title_of(field->name));
		cJSON_AddItemToObject(out, "type",
		    strcmp(field->type, "any") == 0
			? cJSON_CreateStringArray(all, sizeof(all) / sizeof(all[0]))
			: cJSON_CreateString(field->type));
		if (field->description)
			cJSON_AddStringToObject(out, "description", field->description);
		cJSON_AddItemToObject(out, "default", cJSON_Duplicate(field->initial, true));
		cJSON_AddItemToObject(properties, field->name, out);
	}
	cJSON_AddItemToObject(schema, "properties", properties);
	cJSON_AddArrayToObject(schema, "required");
	cJSON_AddItemToObject(schema, "$defs", cJSON_Parse(definitions));
	return schema;
}
