/* SPDX-License-Identifier: ISC */
/* The tools of documents: programs, requests over HTTP, and MCP servers. */
#include "base/json.h"
#include "base/memory.h"
#include "config/expand.h"
#include "graph/document.h"
#include "graph/http_tool.h"
#include "graph/node_tools.h"
#include "graph/template.h"
#include "tool/command.h"
#include "tool/exec.h"
#include "tool/mcp.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- What all kinds have */

static void command_free(void *data)
{
	command_release(data);
	free(data);
}

static const struct node *document_tools_tools_node(const struct document *d, const char *name)
{
	int i = graph_node_index(d->graph, name);
	return i >= 0 ? &d->graph->nodes[i] : NULL;
}

void document_tool_name(
    struct document *d, const struct place *at, const char *node, const char *name)
{
	const struct node *tools = document_tools_tools_node(d, node);
	if (!graph_name_valid(name))
		document_problem(
		    d, at, "expected 1 to %d letters, digits, blanks or _ - . :", GRAPH_NAME_MAX);
	else if (tools && graph_tool_get(tools, name))
		document_problem(d, at, "another tool of this node is called '%s'", name);
}

/* Models are shown the schema of an object. */
static void document_tools_check_parameters(
    struct document *d, const struct place *at, const cJSON *parameters)
{
	const cJSON *type = json_get(parameters, "type");
	if (type && (!cJSON_IsString(type) || strcmp(type->valuestring, "object") != 0))
		document_problem(d, PLACE_KEY(at, "type"), "expected \"object\"");
	if (json_get(parameters, "properties"))
		document_is(d, PLACE_KEY(at, "properties"), json_get(parameters, "properties"),
		    TYPE_OBJECT);
	if (json_get(parameters, "required"))
		document_is(
		    d, PLACE_KEY(at, "required"), json_get(parameters, "required"), TYPE_ARRAY);
}

/* Name, description and parameters of a tool whose function is given data. */
static void check_described(
    struct document *d, const struct place *at, const char *node, const cJSON *item)
{
	const char *name = json_str(item, "name");
	if (name)
		document_tool_name(d, PLACE_KEY(at, "name"), node, name);
	document_tools_check_parameters(
	    d, PLACE_KEY(at, "parameters"), document_object(item, "parameters"));
}

static void document_tools_add_tool(
    struct document *d, const char *node, const cJSON *item, ag_tool_fn fn, void *data)
{
	const cJSON *parameters = document_object(item, "parameters");
	char *schema = parameters ? json_print(parameters) : NULL;
	ag_graph_tool(d->graph, node, json_str(item, "name"), json_str(item, "description"), schema,
	    fn, data);
	free(schema);
}

/* Seconds as milliseconds. */
static int64_t document_tools_read_timeout(
    struct document *d, const struct place *at, const cJSON *item, double most_ms)
{
	const struct range range = {0.001, most_ms / 1000, most_ms / 1000};
	return (int64_t)(document_number(d, at, item, "timeout", &range) * 1000);
}

/* ---- exec */

static void read_exec_tool(
    struct document *d, const struct place *at, const char *node, const cJSON *item)
{
	size_t errors = d->graph->problems.errors;
	struct command *command = xcalloc(1, sizeof(*command));
	ag_graph_on_free(d->graph, command_free, command);
	document_check(d, at, item, &shape_exec_tool);
	check_described(d, at, node, item);
	command->max_output = EXEC_TOOL_MAX_OUTPUT;
	command->max_line = SIZE_MAX; /* lines mean nothing to a tool */
	document_command(d, at, item, EXEC_TOOL_TIMEOUT_MS / 1000, command);
	if (d->graph->problems.errors == errors)
		document_tools_add_tool(d, node, item, exec_tool, command);
	document_tool_tags(d, at, node, item);
}

/* ---- http */

static bool document_tools_is_token(const char *text)
{
	for (const char *p = text; *p; p++) {
		if (!isalnum((unsigned char)*p) && !strchr("!#$%&'*+-.^_`|~", *p))
			return false;
	}
	return *text != '\0';
}

static bool is_printable(const char *text)
{
	while (*text && (unsigned char)*text >= 0x20 && *text != 0x7F)
		text++;
	return !*text;
}

static void read_header(struct document *d, const struct place *at, const cJSON *item,
    struct http_header *headers, size_t *count)
{
	char *unset, *value;
	if (!document_tools_is_token(item->string))
		document_problem(d, at, "expected the name of a header");
	if (!document_is(d, at, item, TYPE_STRING))
		return;
	value = expand_variables(item->valuestring, &unset);
	if (!value) {
		document_problem(d, at, "expected the environment variable %s to be set", unset);
		free(unset);
		return;
	}
	if (!is_printable(value))
		document_problem(d, at, "expected a value without control characters");
	headers[*count].name = xstrdup(item->string);
	headers[(*count)++].value = value;
}

#define MOST_HEADERS 30

/* An array of count headers, whose values may name environment variables. */
static struct http_header *document_tools_read_headers(
    struct document *d, const struct place *at, const cJSON *object, size_t *count)
{
	const cJSON *item;
	struct http_header *headers = xcalloc(MOST_HEADERS + 1, sizeof(*headers));
	if (cJSON_GetArraySize(object) > MOST_HEADERS) {
		document_problem(d, at, "expected at most %d headers", MOST_HEADERS);
		return headers;
	}
	cJSON_ArrayForEach(item, object)
		read_header(d, PLACE_KEY(at, item->string), item, headers, count);
	return headers;
}

/* A template over the arguments, whatever they are called; NULL with a mistake reported. */
static struct template *arguments_template(
    struct document *d, const struct place *at, const char *text)
{
	char *error = NULL;
	struct template *t = template_parse(text, &error);
	if (!t)
		document_problem(d, at, "%s", error);
	free(error);
	return t;
}

static void check_templates(struct document *d, const struct place *at, const cJSON *json)
{
	const cJSON *child;
	size_t i = 0;
	if (cJSON_IsString(json))
		template_free(arguments_template(d, at, json->valuestring));
	cJSON_ArrayForEach(child, json) {
		const struct place place = {at, child->string, i++};
		check_templates(d, &place, child);
	}
}

static void document_tools_read_url(
    struct document *d, const struct place *at, const char *url, struct http_tool *tool)
{
	if (!url)
		return; /* reported */
	tool->url = arguments_template(d, at, url);
	if (!http_tool_url_fits(url) || !is_printable(url))
		document_problem(d, at,
		    "expected an http or https URL with a host, and names in {{ }} only behind the "
		    "host and port");
}

static void read_method(
    struct document *d, const struct place *at, const cJSON *item, struct http_tool *tool)
{
	tool->method = json_str(item, "method");
	if (tool->method && !document_tools_is_token(tool->method))
		document_problem(
		    d, PLACE_KEY(at, "method"), "expected a method such as GET or POST");
}

static void read_request(
    struct document *d, const struct place *at, const cJSON *item, struct http_tool *tool)
{
	const struct range bytes = {1, 1 << 30, HTTP_TOOL_MAX_OUTPUT};
	document_check(d, at, item, &shape_http);
	document_tools_read_url(d, PLACE_KEY(at, "url"), json_str(item, "url"), tool);
	read_method(d, at, item, tool);
	tool->headers = document_tools_read_headers(
	    d, PLACE_KEY(at, "headers"), document_object(item, "headers"), &tool->header_count);
	tool->query = document_object(item, "query");
	tool->body = json_get(item, "body");
	check_templates(d, PLACE_KEY(at, "query"), tool->query);
	check_templates(d, PLACE_KEY(at, "body"), tool->body);
	tool->timeout_ms = document_tools_read_timeout(d, at, item, HTTP_TOOL_TIMEOUT_MS);
	tool->max_output = (size_t)document_number(d, at, item, "max_output", &bytes);
}

static void read_http_tool(
    struct document *d, const struct place *at, const char *node, const cJSON *item)
{
	size_t errors = d->graph->problems.errors;
	struct http_tool *tool = xcalloc(1, sizeof(*tool));
	ag_graph_on_free(d->graph, http_tool_free, tool);
	document_check(d, at, item, &shape_http_tool);
	check_described(d, at, node, item);
	if (document_object(item, "http"))
		read_request(d, PLACE_KEY(at, "http"), document_object(item, "http"), tool);
	if (d->graph->problems.errors == errors)
		document_tools_add_tool(d, node, item, http_tool, tool);
	document_tool_tags(d, at, node, item);
}

/* ---- mcp */

#define MCP_TIMEOUT_MS 300000

static void server_free(void *server)
{
	mcp_server_free(server);
}

static char **read_names(struct document *d, const struct place *at, const cJSON *array)
{
	const cJSON *item;
	size_t i = 0;
	if (!array)
		return NULL;
	char **names = xcalloc((size_t)cJSON_GetArraySize(array) + 1, sizeof(char *));
	cJSON_ArrayForEach(item, array) {
		if (document_is(d, PLACE_INDEX(at, i), item, TYPE_STRING))
			names[i++] = xstrdup(item->valuestring);
	}
	return names;
}

static void read_reach(
    struct document *d, const struct place *at, const cJSON *item, struct mcp_settings *settings)
{
	const char *url = json_str(item, "url");
	bool has_command = json_get(item, "command") != NULL;
	document_check(d, at, item, &shape_mcp);
	if (has_command == (json_get(item, "url") != NULL)) {
		document_problem(d, at, "expected either 'command' or 'url'");
		return;
	}
	if (has_command) {
		document_command(d, at, item, MCP_TIMEOUT_MS / 1000, &settings->command);
		return;
	}
	settings->url = xstrdup(url ? url : "");
	if (url && (!http_tool_url_fits(url) || !is_printable(url)))
		document_problem(
		    d, PLACE_KEY(at, "url"), "expected an http or https URL with a host");
	settings->headers = document_tools_read_headers(
	    d, PLACE_KEY(at, "headers"), document_object(item, "headers"), &settings->header_count);
}

/* What the server is called in the log when the document does not say. */
static char *server_name(const cJSON *item, const struct mcp_settings *settings)
{
	const char *name = json_str(item, "name");
	if (name)
		return xstrdup(name);
	if (settings->url)
		return xstrndup(settings->url, strcspn(settings->url, "?#"));
	return xstrdup(settings->command.argv ? settings->command.argv[0] : "server");
}

static bool is_server_of(const ag_graph *graph, const char *name)
{
	for (size_t i = 0; i < graph->node_count; i++)
		for (size_t k = 0; k < graph->nodes[i].server_count; k++)
			if (!strcmp(mcp_server_name(graph->nodes[i].servers[k].server), name))
				return true;
	return false;
}

/* The same with a number behind it from the second server of that name on. */
static char *server_name_own(const ag_graph *graph, char *name)
{
	char *own = xstrdup(name);
	for (int n = 2; is_server_of(graph, own); n++) {
		free(own);
		own = xasprintf("%s (%d)", name, n);
	}
	free(name);
	return own;
}

/* A server is made even of a document with mistakes: it owns what was read. */
static void read_mcp_tools(
    struct document *d, const struct place *at, const char *node, const cJSON *item)
{
	struct mcp_settings settings = {0};
	const char *prefix = json_str(item, "prefix");
	int i = graph_node_index(d->graph, node);
	document_check(d, at, item, &shape_mcp_tools);
	if (document_object(item, "mcp"))
		read_reach(d, PLACE_KEY(at, "mcp"), document_object(item, "mcp"), &settings);
	if (prefix && *prefix && !graph_name_valid(prefix))
		document_problem(d, PLACE_KEY(at, "prefix"),
		    "expected up to %d letters, digits, blanks or _ - . :", GRAPH_NAME_MAX);
	settings.timeout_ms = document_tools_read_timeout(d, at, item, MCP_TIMEOUT_MS);
	settings.name = server_name_own(d->graph, server_name(item, &settings));
	struct tool_server server = {.server = mcp_server_new(&settings),
	    .prefix = xstrdup(prefix ? prefix : ""),
	    .only = read_names(d, PLACE_KEY(at, "tools"), document_array(item, "tools")),
	    .place = document_place(d, PLACE_KEY(at, "mcp"))};
	ag_graph_on_free(d->graph, server_free, server.server);
	node_add_server(&d->graph->nodes[i], &server);
}

/* ---- All kinds */

static const struct {
	const char *name, *key; /* of the kind, and of the member that tells it */
	void (*read)(
	    struct document *d, const struct place *at, const char *node, const cJSON *item);
} kinds[] = {{"exec", "command", read_exec_tool}, {"http", "http", read_http_tool},
    {"mcp", "mcp", read_mcp_tools}, {"memory", "actions", document_memory_tool}};

/* "kind" may be left out where a member tells it. */
static void document_tools_read_tool(
    struct document *d, const struct place *at, const char *node, const cJSON *item)
{
	const cJSON *kind = json_get(item, "kind");
	if (!document_is(d, at, item, TYPE_OBJECT))
		return;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		bool named = cJSON_IsString(kind) && strcmp(kind->valuestring, kinds[i].name) == 0;
		if (kind ? !named : !json_get(item, kinds[i].key))
			continue;
		kinds[i].read(d, at, node, item);
		return;
	}
	document_problem(
	    d, PLACE_KEY(at, "kind"), "expected a kind of tool, one of exec, http, mcp, memory");
}

/* A name that is misspelt would let a call go unasked; what servers offer is known later. */
static void read_approval(
    struct document *d, const struct place *at, const cJSON *approval, struct node *node)
{
	node->approve_all = cJSON_IsTrue(approval);
	node->approve = cJSON_IsArray(approval) ? read_names(d, at, approval) : NULL;
	for (size_t i = 0; node->approve && node->approve[i]; i++) {
		const char *name = node->approve[i];
		if (!node->server_count && !graph_tool_get(node, name))
			document_problem(d, at, "there is no tool '%s' in this node", name);
	}
}

void document_tools(struct document *d, const struct place *at, const char *name, const cJSON *item)
{
	const cJSON *tool;
	size_t i = 0;
	size_t errors = d->graph->problems.errors;
	ag_graph_tools(d->graph, name);
	if (!document_tools_tools_node(d, name))
		return;
	cJSON_ArrayForEach(tool, document_array(item, "tools")) {
		document_tools_read_tool(d, PLACE_INDEX(PLACE_KEY(at, "tools"), i), name, tool);
		i++;
	}
	if (d->graph->problems.errors == errors)
		read_approval(d, PLACE_KEY(at, "approval"), json_get(item, "approval"),
		    &d->graph->nodes[graph_node_index(d->graph, name)]);
}
