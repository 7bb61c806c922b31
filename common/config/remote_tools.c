/* SPDX-License-Identifier: ISC */
/* The key `remote_tools`: tools that clients run, with the schemas of their arguments. */
#include "config/keys.h"

#include "base/id.h"
#include "base/json/json.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static bool remote_tools_is_not_blank(const char *text)
{
	return !id_blank(text);
}

#define TEXT                                                                         \
	.kind = &field_string, .required = true, .valid = remote_tools_is_not_blank, \
	.expected = "a string that is not blank"
static const struct field_row tool_rows[] = {
    FIELD(remote_tool, node, TEXT),
    FIELD(remote_tool, name, TEXT),
    FIELD(remote_tool, description, TEXT),
    FIELD_KNOWN("parameters"),
    FIELDS_END,
};

static const struct choice object_only[] = {{"object", 0}, {NULL, 0}};
static const struct field_row schema_rows[] = {
    FIELD_ONLY("type", .kind = &field_choice, .choices = object_only, .required = true,
	.expected = "\"object\""),
    FIELD_ONLY("properties", .types = TYPE_OBJECT),
    FIELDS_END,
};

static void remote_tools_read_tool(const struct section *entry, struct config *config)
{
	struct remote_tool *tool = &config->remote_tools[config->remote_tool_count];
	const cJSON *member;
	cJSON_ArrayForEach(member, entry->object) {
		if (!fields_find(tool_rows, member->string))
			section_problem(entry, member->string,
			    "unknown key, expected node, name, description and parameters only");
	}
	section_read(entry, tool_rows, tool);
	/* The schema with the three members that everybody may rely on. */
	struct section parameters;
	cJSON *schema;
	if (section_open(&parameters, entry, "parameters")) {
		const cJSON *wrong = not_strings(json_opt(parameters.object, "required"));
		section_read(&parameters, schema_rows, NULL);
		if (wrong)
			section_refuse(&parameters, "required", wrong, "an array of strings");
		schema = cJSON_Duplicate(parameters.object, true);
	} else {
		schema = cJSON_CreateObject();
		json_add_str(schema, "type", "object");
	}
	if (!json_opt(schema, "properties"))
		json_set(schema, "properties", cJSON_CreateObject());
	if (!json_opt(schema, "required"))
		json_set(schema, "required", cJSON_CreateArray());
	tool->parameters = schema;
	for (size_t i = 0; tool->name && i < config->remote_tool_count; i++) {
		const char *name = config->remote_tools[i].name;
		if (name && strcmp(name, tool->name) == 0) {
			section_problem(entry, "name", "Duplicate remote tool name '%s'", name);
			break;
		}
	}
	config->remote_tool_count++;
}

void remote_tools_read(const struct section *root, struct config *config)
{
	const cJSON *array = json_opt(root->object, "remote_tools");
	if (!array)
		return;
	if (!cJSON_IsArray(array)) {
		section_refuse(root, "remote_tools", array, "an array of objects");
		return;
	}
	size_t size = (size_t)cJSON_GetArraySize(array) + 1; /* xcalloc(0) may be NULL */
	config->remote_tools = xcalloc(size, sizeof(config->remote_tools[0]));
	size_t index = 0;
	const cJSON *item;
	cJSON_ArrayForEach(item, array) {
		struct section entry;
		if (section_entry(&entry, root, "remote_tools", index++, item))
			remote_tools_read_tool(&entry, config);
	}
}

void remote_tools_release(struct config *config)
{
	for (size_t i = 0; i < config->remote_tool_count; i++) {
		fields_release(tool_rows, &config->remote_tools[i]);
		cJSON_Delete(config->remote_tools[i].parameters);
	}
	free(config->remote_tools);
}
