/* SPDX-License-Identifier: ISC */
/* Gathering tools from three sources under one name each, holding them during a use, and what their
 * servers ask. */
#include "graph/nodes/tools/node_tools.h"

#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "base/texts.h"
#include "tool/mcp/mcp_message.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A tool of a server under the name that it has here: what such a tool's function is given. */
struct bound_tool {
	struct mcp_server *server;
	struct mcp_tool *tool;
	char *name;
};

/* What one server contributed. */
struct held_tools {
	struct mcp_tools *tools;
	struct bound_tool *bound; /* one for each of them; the names of some are NULL */
};

void node_add_server(struct node *node, const struct tool_server *server)
{
	node->servers = xrealloc(node->servers, (node->server_count + 1) * sizeof(*node->servers));
	node->servers[node->server_count++] = *server;
}

void node_free_servers(struct node *node)
{
	for (size_t i = 0; i < node->server_count; i++) {
		struct tool_server *server = &node->servers[i];
		texts_free(server->only);
		free(server->prefix);
		free(server->place);
	}
	free(node->servers);
}

/*
 * ---- Questions of MCP servers (elicitation), as pauses of the run.
 *
 * A call that is asked something pauses the run, with the reason "elicitation" and the data
 * {question, response_schema, server, tool}, and is given up.  When the run goes on the call is
 * made again, and the answer is given to the server when it asks again.
 */

/* A call of a server's tool. */
struct elicit {
	ag_run *run;
	const char *server, *tool;
	bool paused; /* the run pauses for a question of it */
};

/* What a person answered as content: an object as it is, else the only member that is asked for, of
 * its type, because people write text. */
static cJSON *elicit_content(const cJSON *answer, const cJSON *properties)
{
	if (cJSON_IsObject(answer))
		return cJSON_Duplicate(answer, true);
	cJSON *content = cJSON_CreateObject(), *value = NULL;
	const cJSON *only = properties ? properties->child : NULL;
	const char *type = only ? json_str(only, "type") : NULL;
	if (cJSON_IsString(answer) && type && strcmp(type, "string") != 0)
		value = json_parse(
		    answer->valuestring, strlen(answer->valuestring), JSON_REQUEST_DEPTH, NULL);
	if (only)
		cJSON_AddItemToObject(
		    content, only->string, value ? value : cJSON_Duplicate(answer, true));
	return content;
}

/* What a server is told of what a person answered, a new tree: {"action": "accept", "content": …},
 * or cancel for null and decline for false where no boolean is asked for.  An object is the
 * content, or has an action itself; anything else is the only member that is asked for. */
static cJSON *elicit_result(const cJSON *answer, const cJSON *schema)
{
	static const char *const actions[] = {"accept", "decline", "cancel", NULL};
	const cJSON *given = json_opt(schema, "properties");
	const cJSON *properties = cJSON_IsObject(given) ? given : NULL; /* servers send anything */
	const char *type = properties ? json_str(properties->child, "type") : NULL;
	bool one = cJSON_GetArraySize(properties) <= 1;
	bool wants_boolean = one && type && strcmp(type, "boolean") == 0;
	cJSON *written = NULL;
	if (cJSON_IsObject(answer) && texts_has(actions, json_str(answer, "action")))
		return cJSON_Duplicate(answer, true);
	if (cJSON_IsFalse(answer) && !wants_boolean)
		return mcp_elicited("decline");
	if (cJSON_IsString(answer) && !one) /* an object as text, where there is only text */
		written = json_parse(
		    answer->valuestring, strlen(answer->valuestring), JSON_REQUEST_DEPTH, NULL);
	if (cJSON_IsObject(written))
		answer = written;
	if (!answer || cJSON_IsNull(answer) || (!one && !cJSON_IsObject(answer))) {
		cJSON_Delete(written);
		return mcp_elicited("cancel");
	}
	cJSON *result = mcp_elicited("accept");
	cJSON_AddItemToObject(result, "content", elicit_content(answer, properties));
	cJSON_Delete(written);
	return result;
}

/* The ask of struct mcp_call. */
static bool elicit_ask(const cJSON *question, cJSON **answer, void *arg)
{
	struct elicit *elicit = arg;
	const cJSON *schema = json_opt(question, "requestedSchema"), *given;
	const char *mode = json_str(question, "mode"), *text = json_str(question, "message");
	if (mode && strcmp(mode, "form") != 0) { /* which was not offered */
		*answer = mcp_elicited("decline");
		return true;
	}
	cJSON *value = cJSON_CreateObject();
	cJSON_AddStringToObject(value, "question", text ? text : "");
	if (schema)
		cJSON_AddItemToObject(value, "response_schema", cJSON_Duplicate(schema, true));
	cJSON_AddStringToObject(value, "server", elicit->server);
	cJSON_AddStringToObject(value, "tool", elicit->tool);
	if (ag_interrupt(elicit->run, "elicitation", value, &given) == AG_OK) {
		*answer = elicit_result(given, schema);
		return true;
	}
	elicit->paused = true;
	return false;
}

/* ---- Calling */

static ag_result bound_tool_call(ag_run *run, const cJSON *args, cJSON **output, void *data)
{
	const struct bound_tool *bound = data;
	char why[MCP_WHY_SIZE];
	const struct mcp_wait wait = {
	    .deadline_ms = clock_monotonic_ms() + ag_time_left_ms(run),
	    .stop = run_stop_requested,
	    .arg = run,
	};
	struct elicit elicit = {
	    .run = run, .server = mcp_server_shown(bound->server), .tool = bound->name};
	const struct mcp_call call = {.tool = bound->tool->name,
	    .args = args,
	    .wait = &wait,
	    .ask = elicit_ask,
	    .arg = &elicit};
	if (mcp_server_call(bound->server, &call, output, why))
		return AG_OK;
	if (elicit.paused) {
		cJSON_Delete(*output);
		*output = NULL;
		return AG_PAUSE;
	}
	return *output ? AG_ERROR : ag_fail(run, "%s", why);
}

/* ---- Listing */

const struct tool *node_tools_find(const struct node_tools *tools, const char *name)
{
	for (size_t i = 0; i < tools->count; i++) {
		if (strcmp(tools->items[i].name, name) == 0)
			return &tools->items[i];
	}
	return NULL;
}

static void node_tools_add(struct node_tools *tools, const struct tool *tool)
{
	tools->items = xgrow(tools->items, tools->count, sizeof(*tools->items));
	tools->items[tools->count++] = *tool;
}

static void node_tools_add_own(
    struct node_tools *tools, const struct node *node, enum tool_source source)
{
	for (size_t i = 0; i < node->tool_count; i++) {
		if (node->tools[i].source == source)
			node_tools_add(tools, &node->tools[i]);
	}
}

/* Of tools with one name the first counts: a server cannot put its own in the place of another.
 * Those of one server have names of their own, so only the first others tools are looked at. */
static void node_tools_add_bound(
    const struct node *node, struct node_tools *tools, size_t others, struct bound_tool *bound)
{
	const struct node_tools before = {.items = tools->items, .count = others};
	if (!graph_name_valid(bound->name) || node_tools_find(&before, bound->name) ||
	    graph_tool_get(node, bound->name)) {
		if (!atomic_exchange(&bound->tool->told, true))
			log_warning("mcp %s: the tool '%.80s' is left out: its name %s",
			    mcp_server_name(bound->server), bound->name,
			    graph_name_valid(bound->name)
				? "is taken"
				: "is not valid here, expected 1 to 64 letters, digits, "
				  "blanks and _-.:");
		return;
	}
	const struct tool tool = {.name = bound->name,
	    .description = bound->tool->description,
	    .parameters = bound->tool->parameters,
	    .schema = bound->tool->schema,
	    .source = TOOL_MCP,
	    .fn = bound_tool_call,
	    .data = bound};
	node_tools_add(tools, &tool);
}

static void node_tools_hold(const struct node *node, const struct tool_server *server,
    struct mcp_tools *offered, struct node_tools *tools)
{
	struct held_tools *held = &tools->held[tools->held_count++];
	size_t others = tools->count;
	held->tools = offered;
	held->bound = xcalloc(offered->count + 1, sizeof(*held->bound));
	for (size_t i = 0; i < offered->count; i++) {
		struct bound_tool *bound = &held->bound[i];
		if (server->only && !texts_has(server->only, offered->items[i].name))
			continue;
		bound->server = server->server;
		bound->tool = &offered->items[i];
		bound->name = xasprintf("%s%s", server->prefix, offered->items[i].name);
		node_tools_add_bound(node, tools, others, bound);
	}
}

void node_tools_wake(const struct node *node)
{
	const struct mcp_wait now = {.deadline_ms = clock_monotonic_ms()};
	char why[MCP_WHY_SIZE];
	for (size_t i = 0; i < node->server_count; i++)
		mcp_tools_release(mcp_server_tools(node->servers[i].server, &now, why));
}

void node_tools_get(const struct node *node, const struct client_tools *client, int64_t deadline_ms,
    struct node_tools *tools)
{
	const struct mcp_wait wait = {.deadline_ms = deadline_ms};
	char why[MCP_WHY_SIZE];
	*tools = (struct node_tools){0};
	node_tools_add_own(tools, node, TOOL_LOCAL);
	if (node->server_count) {
		node_tools_wake(node); /* they get ready side by side */
		tools->held = xcalloc(node->server_count + 1, sizeof(*tools->held));
	}
	for (size_t i = 0; i < node->server_count; i++) {
		struct mcp_tools *offered = mcp_server_tools(node->servers[i].server, &wait, why);
		if (offered)
			node_tools_hold(node, &node->servers[i], offered, tools);
		else
			tools->unreached++;
		if (!offered && !mcp_server_is_down(node->servers[i].server))
			tools->starting++;
	}
	node_tools_add_own(tools, node, TOOL_REMOTE);
	for (size_t i = 0; client && i < client->count; i++) {
		if (!node_tools_find(tools, client->items[i].name))
			node_tools_add(tools, &client->items[i]);
	}
}

void node_tools_release(struct node_tools *tools)
{
	for (size_t i = 0; i < tools->held_count; i++) {
		struct held_tools *held = &tools->held[i];
		for (size_t k = 0; k < held->tools->count; k++)
			free(held->bound[k].name);
		free(held->bound);
		mcp_tools_release(held->tools);
	}
	free(tools->held);
	free(tools->items);
}
