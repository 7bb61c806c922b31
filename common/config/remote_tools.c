/* SPDX-License-Identifier: ISC */
/* The key `remote_tools`: tools that clients run, with the schemas of their arguments. */
#include "config/keys.h"

#include "base/id.h"
#include "base/json.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const known_keys[] = {"node", "name", "description", "parameters"};

static void refuse_unknown_keys(const struct section *entry)
{
	const cJSON *member;
	cJSON_ArrayForEach(member, entry->object) {
		bool known = false;
		for (size_t i = 0; i < sizeof(known_keys) / sizeof(known_keys[0]); i++)
			known = known || strcmp(member->string, known_keys[i]) == 0;
		if (!known)
			section_problem(entry, member->string,
			    "unknown key, expected node, name, description and parameters only");
	}
}

/* A copy of a required text; "" after a report. */
static char *remote_tools_read_text(const struct section *entry, const char *key)
{
	const cJSON *value = json_opt(entry->object, key);
	const char *text = cJSON_GetStringValue(value);
	if (text && !id_blank(text))
		return xstrdup(text);
	section_refuse(entry, key, value, "a string that is not blank");
	return xstrdup("");
}

static void remote_tools_check_parameters(const struct section *parameters)
{
	const char *type = json_str(parameters->object, "type");
	const cJSON *properties = json_opt(parameters->object, "properties");
	const cJSON *wrong = not_strings(json_opt(parameters->object, "required"));
	if (!type || strcmp(type, "object") != 0)
		section_refuse(
		    parameters, "type", json_get(parameters->object, "type"), "\"object\"");
	if (properties && !cJSON_IsObject(properties))
		section_refuse(parameters, "properties", properties, "an object");
	if (wrong)
		section_refuse(parameters, "required", wrong, "an array of strings");
}

/* The schema with the three members that everybody may rely on. */
static cJSON *read_parameters(const struct section *entry)
{
	struct section parameters;
	cJSON *schema;
	if (section_open(&parameters, entry, "parameters")) {
		remote_tools_check_parameters(&parameters);
		schema = cJSON_Duplicate(parameters.object, true);
	} else {
		schema = cJSON_CreateObject();
		json_add_str(schema, "type", "object");
	}
	if (!json_opt(schema, "properties"))
		json_set(schema, "properties", cJSON_CreateObject());
	if (!json_opt(schema, "required"))
		json_set(schema, "required", cJSON_CreateArray());
	return schema;
}

static void refuse_duplicate(const struct section *entry, const struct config *config)
{
	const char *name = config->remote_tools[config->remote_tool_count].name;
	for (size_t i = 0; *name && i < config->remote_tool_count; i++) {
		if (strcmp(config->remote_tools[i].name, name) == 0) {
			section_problem(entry, "name", "Duplicate remote tool name '%s'", name);
			return;
		}
	}
}

static void remote_tools_read_tool(const struct section *entry, struct config *config)
{
	refuse_unknown_keys(entry);
	config->remote_tools[config->remote_tool_count] = (struct remote_tool){
	    .node = remote_tools_read_text(entry, "node"),
	    .name = remote_tools_read_text(entry, "name"),
	    .description = remote_tools_read_text(entry, "description"),
	    .parameters = read_parameters(entry),
	};
	refuse_duplicate(entry, config);
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
		struct section entry = {root->problems, root->file, "", item};
		snprintf(entry.path, sizeof(entry.path), "remote_tools[%zu]", index++);
		if (cJSON_IsObject(item))
			remote_tools_read_tool(&entry, config);
		else
			section_refuse(root, entry.path, item, "an object");
	}
}

void remote_tools_release(struct config *config)
{
	for (size_t i = 0; i < config->remote_tool_count; i++) {
		struct remote_tool *tool = &config->remote_tools[i];
		free(tool->node);
		free(tool->name);
		free(tool->description);
		cJSON_Delete(tool->parameters);
	}
	free(config->remote_tools);
}
