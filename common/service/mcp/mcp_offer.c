/* SPDX-License-Identifier: ISC */
/* Name, description and schemas of the tool, and its arguments as a message. */
#include "service/mcp/mcp_offer.h"

#include "base/json/json.h"
#include "base/memory.h"
#include "graph/message/message.h"
#include "service/thread/ident.h"
#include "tool/schema.h"

#include <stdlib.h>
#include <string.h>

#define ARGUMENTS "body.params.arguments"

struct mcp_offer {
	cJSON *tool;
	struct schema *schema; /* of the arguments */
};

/* The schema of the arguments where the configuration has none. */
static const char mcp_input_schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"message\":{\"type\":\"string\",\"description\":\"What to say to the agent.\"},"
    "\"thread_id\":{\"type\":\"string\",\"description\":\"The conversation to go on with, as an "
    "earlier result names it. Without it a new one begins.\"}},"
    "\"required\":[\"message\"]}";

static const char mcp_output_schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"thread_id\":{\"type\":\"string\"},\"run_id\":{\"type\":\"string\"},"
    "\"status\":{\"type\":\"string\",\"description\":\"completed, interrupted where the agent "
    "waits for an answer, stopped or error\"},"
    "\"answer\":{\"type\":\"string\"},\"interrupt\":"
    "{\"anyOf\":[{\"type\":\"object\"},{\"type\":\"null\"}]},\"interrupts\":"
    "{\"type\":\"array\",\"items\":{\"type\":\"object\"}}},"
    "\"required\":[\"thread_id\",\"run_id\",\"status\",\"answer\",\"interrupt\"]}";

struct mcp_offer *mcp_offer_new(const struct config *config, struct problems *problems)
{
	struct mcp_offer *offer = xcalloc(1, sizeof(*offer));
	const char *file = config->path ? config->path : "agentgraph.json";
	char *where = xasprintf("%s: mcp.tool.input_schema", file);
	const cJSON *own = config->mcp.input_schema;
	cJSON *tool = offer->tool = cJSON_CreateObject();
	/* A graph's name may have characters that a tool's name must not have. */
	const char *given = config->mcp.tool_name;
	char *name = xstrdup(given ? given : config_agent_name(config));
	for (char *c = name; *c; c++)
		if (!strchr("_-.", *c) && !((*c | 0x20) >= 'a' && (*c | 0x20) <= 'z') &&
		    !(*c >= '0' && *c <= '9'))
			*c = '_';
	json_add_str(tool, "name", name);
	free(name);
	char *made = xasprintf("Asks the agent %s. The result names the conversation as thread_id; "
			       "give that to go on with it.",
	    config_agent_name(config));
	const char *told = config->mcp.tool_description;
	json_add_str(tool, "description", told ? told : made);
	free(made);
	cJSON *input = json_add(tool, "inputSchema",
	    own ? cJSON_Duplicate(own, true) : json_parse_own(mcp_input_schema));
	json_add(tool, "outputSchema", json_parse_own(mcp_output_schema));
	const char *type = json_str(input, "type");
	if (!type || strcmp(type, "object") != 0)
		problems_add(problems, "%s.type: expected \"object\"", where);
	offer->schema = schema_compile(input, where, problems);
	free(where);
	return offer;
}

void mcp_offer_free(struct mcp_offer *offer)
{
	if (!offer)
		return;
	schema_free(offer->schema);
	cJSON_Delete(offer->tool);
	free(offer);
}

const char *mcp_offer_name(const struct mcp_offer *offer)
{
	return json_str(offer->tool, "name");
}

const cJSON *mcp_offer_tool(const struct mcp_offer *offer)
{
	return offer->tool;
}

bool mcp_offer_read(struct call *call, const cJSON *arguments, struct run_input *in)
{
	char why[SCHEMA_WHY_SIZE], id[UUID_SIZE];
	if (!schema_accepts(call->service->mcp->schema, arguments, "arguments", why))
		return error_field(
		    &call->error, ERR_VALIDATION, ARGUMENTS, "value_error", "%s", why);
	if (!thread_id_read_new(
		call, ARGUMENTS ".thread_id", json_opt(arguments, "thread_id"), &in->thread_id))
		return false;
	/* where the tool has arguments of its own, all of them but the thread are said */
	const char *message = json_str(arguments, "message");
	if (!message) {
		cJSON *said = arena_json(call->arena, cJSON_Duplicate(arguments, true));
		cJSON_DeleteItemFromObjectCaseSensitive(said, "thread_id");
		message = arena_print(call->arena, said);
	}
	in->messages = arena_json(call->arena, cJSON_CreateArray());
	in->given_id = arena_alloc(call->arena, 1);
	json_append(in->messages,
	    message_new("user", id_make(&call->service->ids, id), content_text(message)));
	return true;
}
