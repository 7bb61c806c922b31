/* SPDX-License-Identifier: ISC */
/* The tools of documents: programs, requests over HTTP, and MCP servers. */
#include "base/http/http_head.h"
#include "base/http/url.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/texts.h"
#include "config/environment/environment.h"
#include "config/environment/expand.h"
#include "graph/document/document.h"
#include "graph/message/template.h"
#include "graph/nodes/nodes.h"
#include "graph/nodes/tools/node_tools.h"
#include "tool/command.h"
#include "tool/mcp/mcp.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- What all kinds have */

/* What the model is told of a tool, and its tags. */
struct described {
	const char *name, *description;
	const cJSON *parameters, *tags;
};

#define DESCRIBED_ROWS(type)                                                                    \
	FIELD_ONLY("kind", .types = TYPE_STRING),                                               \
	    FIELD_AT("name", type, about.name, .kind = &field_text, .required = true),          \
	    FIELD_AT(                                                                           \
		"description", type, about.description, .kind = &field_text, .required = true), \
	    FIELD_AT("parameters", type, about.parameters, FIELD_OBJECT),                       \
	    FIELD_AT("tags", type, about.tags, FIELD_ARRAY)

#define TIMEOUT(most_ms) .kind = &field_seconds, .min = 0.001, .max = (most_ms) / 1000

/* Adds the tool to the node, unless a mistake was found since there were so many errors.  Models
 * are shown the schema of an object. */
static void described_add(struct document *d, const struct place *at, const char *node,
    const struct described *about, size_t errors, ag_tool_fn fn, void *data)
{
	const struct place *in = PLACE_KEY(at, "parameters");
	const cJSON *type = json_get(about->parameters, "type");
	const cJSON *properties = json_get(about->parameters, "properties");
	const cJSON *required = json_get(about->parameters, "required");
	const char *const *tags = document_names(d, PLACE_KEY(at, "tags"), about->tags);
	if (about->name)
		document_tool_name(d, PLACE_KEY(at, "name"), node, about->name);
	if (type && !json_str_is(about->parameters, "type", "object"))
		document_problem(d, PLACE_KEY(in, "type"), "expected \"object\"");
	if (properties)
		document_is(d, PLACE_KEY(in, "properties"), properties, TYPE_OBJECT);
	if (required)
		document_is(d, PLACE_KEY(in, "required"), required, TYPE_ARRAY);
	if (d->graph->problems.errors == errors) {
		char *schema = about->parameters ? json_print(about->parameters) : NULL;
		ag_graph_tool(d->graph, node, about->name, about->description, schema, fn, data);
		free(schema);
	}
	if (tags && d->graph->problems.errors == errors)
		ag_graph_tool_tags(d->graph, node, about->name, tags);
	texts_free(tags);
}

/* ---- exec */

struct exec_object {
	struct described about;
	struct command command;
};

DOCUMENT_SHAPE(exec_tool, DESCRIBED_ROWS(exec_object),
    COMMAND_ROWS(exec_object, command, EXEC_TOOL_TIMEOUT_MS / 1000));

static void command_free(void *data)
{
	command_release(data);
	free(data);
}

static void document_tools_read_exec(
    struct document *d, const struct place *at, const char *node, const cJSON *item)
{
	size_t errors = d->graph->problems.errors;
	struct command *command = xcalloc(1, sizeof(*command));
	struct exec_object given = {
	    .command = {.timeout_ms = EXEC_TOOL_TIMEOUT_MS,
		.max_output = EXEC_TOOL_MAX_OUTPUT,
		.max_line = SIZE_MAX}, /* lines mean nothing to a tool */
	};
	ag_graph_on_free(d->graph, command_free, command);
	document_command(d, &given.command);
	document_read(d, at, item, &shape_exec_tool, &given);
	*command = given.command;
	described_add(d, at, node, &given.about, errors, exec_tool, command);
}

/* ---- http */

static bool document_tools_is_printable(const char *text)
{
	while (*text && (unsigned char)*text >= 0x20 && *text != 0x7F)
		text++;
	return !*text;
}

static bool document_tools_is_url(const char *url)
{
	return http_tool_url_fits(url) && document_tools_is_printable(url);
}

/* What is wrong with each request is better told before the first one. */
static bool document_tools_is_template(const char *url)
{
	return document_tools_is_url(url) && !url_climbs(url);
}

#define MOST_HEADERS 30

struct http_header *document_headers(
    struct document *d, const struct place *at, const cJSON *object, size_t *count)
{
	const cJSON *item;
	struct http_header *headers = xcalloc(MOST_HEADERS + 1, sizeof(*headers));
	if (cJSON_GetArraySize(object) > MOST_HEADERS) {
		document_problem(d, at, "expected at most %d headers", MOST_HEADERS);
		return headers;
	}
	cJSON_ArrayForEach(item, object) {
		const struct place *key = PLACE_KEY(at, item->string);
		char *unset;
		if (!http_is_token(item->string))
			document_problem(d, key, "expected the name of a header");
		if (!document_is(d, key, item, TYPE_STRING))
			continue;
		char *value = expand_variables(item->valuestring, &unset);
		if (!value) {
			document_problem(
			    d, key, "expected the environment variable %s to be set", unset);
			free(unset);
			continue;
		}
		if (!document_tools_is_printable(value))
			document_problem(d, key, "expected a value without control characters");
		headers[*count].name = xstrdup(item->string);
		headers[(*count)++].value = value;
	}
	return headers;
}

/* Whether a model may give the argument that name begins with: any, where the schema allows more
 * than it lists. */
static bool document_tools_may_have(const cJSON *parameters, const char *name)
{
	static const char *const more[] = {
	    "$ref", "allOf", "anyOf", "oneOf", "patternProperties", "additionalProperties"};
	const cJSON *properties = json_get(parameters, "properties"), *property;
	if (parameters && !properties)
		return true;
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++) {
		const cJSON *item = json_get(parameters, more[i]);
		if (item && !cJSON_IsFalse(item))
			return true;
	}
	cJSON_ArrayForEach(property, properties) {
		size_t len = property->string ? strlen(property->string) : 0;
		if (len && strncmp(name, property->string, len) == 0 &&
		    (name[len] == '\0' || name[len] == '.'))
			return true;
	}
	return false;
}

/* A template over the arguments; NULL with a mistake reported. */
static struct template *document_tools_template(
    struct document *d, const struct place *at, const cJSON *parameters, const char *text)
{
	char *error = NULL;
	struct template *t = template_parse(text, &error);
	if (!t)
		document_problem(d, at, "%s", error);
	free(error);
	for (size_t i = 0; t && i < template_name_count(t); i++) {
		if (!document_tools_may_have(parameters, template_name(t, i)))
			document_warning(d, at,
			    "{{%s}}: the parameters of the tool have no such property",
			    template_name(t, i));
	}
	return t;
}

static void document_tools_check_templates(
    struct document *d, const struct place *at, const cJSON *parameters, const cJSON *json)
{
	const cJSON *child;
	size_t i = 0;
	if (cJSON_IsString(json))
		template_free(document_tools_template(d, at, parameters, json->valuestring));
	cJSON_ArrayForEach(child, json) {
		const struct place place = {at, child->string, i++};
		document_tools_check_templates(d, &place, parameters, child);
	}
}

struct http_object {
	struct described about;
	const cJSON *request;
};

DOCUMENT_SHAPE(http_tool, DESCRIBED_ROWS(http_object),
    FIELD_AT("http", http_object, request, FIELD_OBJECT, .required = true));

struct request_object {
	struct http_tool tool;
	const char *url;
	const cJSON *headers;
};

DOCUMENT_SHAPE(http,
    FIELD(request_object, url, .kind = &field_text, .valid = document_tools_is_template,
	.required = true,
	.expected = "an http or https URL with a host, names in {{ }} only behind the host and "
		    "port, and no '.' or '..' in the path"),
    FIELD_AT("method", request_object, tool.method, .kind = &field_text, .valid = http_is_token,
	.expected = "a method such as GET or POST"),
    FIELD(request_object, headers, FIELD_OBJECT),
    FIELD_AT("query", request_object, tool.query, FIELD_OBJECT),
    FIELD_AT("body", request_object, tool.body, .kind = &field_json),
    FIELD_AT("timeout", request_object, tool.timeout_ms, TIMEOUT(HTTP_TOOL_TIMEOUT_MS)),
    FIELD_AT("max_output", request_object, tool.max_output, COMMAND_BYTES));

static void document_tools_read_http(
    struct document *d, const struct place *at, const char *node, const cJSON *item)
{
	const struct place *in = PLACE_KEY(at, "http");
	size_t errors = d->graph->problems.errors;
	struct http_tool *tool = xcalloc(1, sizeof(*tool));
	struct http_object given = {0};
	struct request_object request = {
	    .tool = {.timeout_ms = HTTP_TOOL_TIMEOUT_MS, .max_output = HTTP_TOOL_MAX_OUTPUT}};
	ag_graph_on_free(d->graph, http_tool_free, tool);
	document_read(d, at, item, &shape_http_tool, &given);
	if (given.request)
		document_read(d, in, given.request, &shape_http, &request);
	*tool = request.tool;
	const cJSON *parameters = given.about.parameters;
	if (request.url)
		tool->url =
		    document_tools_template(d, PLACE_KEY(in, "url"), parameters, request.url);
	tool->headers =
	    document_headers(d, PLACE_KEY(in, "headers"), request.headers, &tool->header_count);
	document_tools_check_templates(d, PLACE_KEY(in, "query"), parameters, tool->query);
	document_tools_check_templates(d, PLACE_KEY(in, "body"), parameters, tool->body);
	described_add(d, at, node, &given.about, errors, http_tool, tool);
}

/* ---- mcp */

#define MCP_TIMEOUT_MS 300000

static bool document_tools_is_prefix(const char *text)
{
	return !*text || graph_name_valid(text);
}

struct mcp_object {
	const char *name, *prefix;
	const cJSON *reach, *tools;
	int64_t timeout_ms;
};

DOCUMENT_SHAPE(mcp_tools, FIELD_ONLY("kind", .types = TYPE_STRING),
    FIELD(mcp_object, name, .kind = &field_text),
    FIELD_AT("mcp", mcp_object, reach, FIELD_OBJECT, .required = true),
    FIELD_AT("timeout", mcp_object, timeout_ms, TIMEOUT(MCP_TIMEOUT_MS)),
    FIELD(mcp_object, tools, FIELD_ARRAY),
    FIELD(mcp_object, prefix, .kind = &field_text, .valid = document_tools_is_prefix,
	.expected = "up to " GRAPH_NAME_LETTERS));

struct reach_object {
	struct mcp_settings settings;
	const cJSON *headers, *oauth;
};

struct oauth_object {
	struct mcp_oauth_settings settings;
	const char *secret_env;
};

DOCUMENT_SHAPE(oauth,
    FIELD_AT(
	"client_id", oauth_object, settings.client_id, .kind = &field_string, .required = true),
    FIELD_AT("client_secret_env", oauth_object, secret_env, .kind = &field_text, .required = true,
	.expected = "the name of an environment variable"),
    FIELD_AT("scope", oauth_object, settings.scope, .kind = &field_string),
    FIELD_AT("issuer", oauth_object, settings.issuer, .kind = &field_string, .valid = url_valid,
	.expected = "an http or https URL"),
    FIELD_AT("token_url", oauth_object, settings.token_url, .kind = &field_string,
	.valid = url_valid, .expected = "an http or https URL"));

DOCUMENT_SHAPE(mcp, FIELD_AT("command", reach_object, settings.command, .kind = &field_argv),
    FIELD_AT("cwd", reach_object, settings.command, .kind = &field_cwd),
    FIELD_AT("env", reach_object, settings.command, .kind = &field_env),
    FIELD_AT("url", reach_object, settings.url, .kind = &field_string,
	.valid = document_tools_is_url, .expected = "an http or https URL with a host"),
    FIELD(reach_object, headers, FIELD_OBJECT), FIELD(reach_object, oauth, FIELD_OBJECT));

static void document_tools_read_oauth(
    struct document *d, const struct place *at, const cJSON *object, struct mcp_settings *settings)
{
	struct oauth_object given = {0};
	if (!object)
		return;
	document_read(d, at, object, &shape_oauth, &given);
	const char *secret = given.secret_env ? environment_text(given.secret_env) : NULL;
	if (given.secret_env && !secret)
		document_problem(d, PLACE_KEY(at, "client_secret_env"),
		    "expected the environment variable %s to be set", given.secret_env);
	if (!settings->url)
		document_problem(d, at, "expected the key 'url' beside it");
	given.settings.client_secret = xstrdup(secret ? secret : "");
	settings->oauth = given.settings;
}

static void server_free(void *server)
{
	mcp_server_free(server);
}

static bool document_tools_has_server(const ag_graph *graph, const char *name)
{
	for (size_t i = 0; i < graph->node_count; i++)
		for (size_t k = 0; k < graph->nodes[i].server_count; k++)
			if (!strcmp(mcp_server_name(graph->nodes[i].servers[k].server), name))
				return true;
	return false;
}

/* What the server is called in the log, malloc'd: what the document says or where it is, and a
 * number behind it from the second server of that name on. */
static char *document_tools_server_name(
    const ag_graph *graph, const char *given, const struct mcp_settings *settings)
{
	char **argv = settings->command.argv;
	const char *program = argv && argv[0] ? argv[0] : "server";
	const char *named = given ? given : settings->url ? settings->url : program;
	int length = (int)(named == settings->url ? strcspn(named, "?#") : strlen(named));
	char *name = xasprintf("%.*s", length, named);
	for (int n = 2; document_tools_has_server(graph, name); n++) {
		free(name);
		name = xasprintf("%.*s (%d)", length, named, n);
	}
	return name;
}

/* A server is made even of a document with mistakes: it owns what was read. */
static void document_tools_read_mcp(
    struct document *d, const struct place *at, const char *node, const cJSON *item)
{
	const struct place *in = PLACE_KEY(at, "mcp");
	struct mcp_object given = {.prefix = "", .timeout_ms = MCP_TIMEOUT_MS};
	struct reach_object reach = {.settings = {.command = {.timeout_ms = MCP_TIMEOUT_MS}}};
	struct mcp_settings *settings = &reach.settings;
	document_read(d, at, item, &shape_mcp_tools, &given);
	if (json_get(given.reach, "command"))
		document_command(d, &settings->command);
	if (given.reach && document_read(d, in, given.reach, &shape_mcp, &reach) &&
	    !json_get(given.reach, "command") == !json_get(given.reach, "url"))
		document_problem(d, in, "expected either 'command' or 'url'");
	settings->headers =
	    document_headers(d, PLACE_KEY(in, "headers"), reach.headers, &settings->header_count);
	document_tools_read_oauth(d, PLACE_KEY(in, "oauth"), reach.oauth, settings);
	settings->timeout_ms = given.timeout_ms;
	settings->name = document_tools_server_name(d->graph, given.name, settings);
	settings->named = given.name;
	struct tool_server server = {.server = mcp_server_new(settings),
	    .prefix = xstrdup(given.prefix),
	    .only = document_names(d, PLACE_KEY(at, "tools"), given.tools),
	    .place = document_place(d, in)};
	ag_graph_on_free(d->graph, server_free, server.server);
	node_add_server(&d->graph->nodes[graph_node_index(d->graph, node)], &server);
}

/* ---- All kinds */

static const struct {
	const char *name, *key; /* the name of the kind, and the member that tells it */
	void (*read)(
	    struct document *d, const struct place *at, const char *node, const cJSON *item);
} kinds[] = {{"exec", "command", document_tools_read_exec},
    {"http", "http", document_tools_read_http}, {"mcp", "mcp", document_tools_read_mcp},
    {"memory", "actions", document_memory_tool}};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

/* Which of the kinds a tool is, by its kind, or where it has none by a member; KIND_COUNT: none. */
static size_t document_tools_kind_of(const cJSON *tool)
{
	bool named = json_get(tool, "kind");
	for (size_t k = 0; k < KIND_COUNT; k++) {
		if (named ? json_str_is(tool, "kind", kinds[k].name)
			  : json_get(tool, kinds[k].key) != NULL)
			return k;
	}
	return KIND_COUNT;
}

struct tools_object {
	const cJSON *tools, *approval;
};

DOCUMENT_NODE_SHAPE(tools, document_policy_rows,
    FIELD(tools_object, tools, FIELD_ARRAY, .required = true),
    FIELD(tools_object, approval, .kind = &field_json, .types = TYPE_BOOLEAN | TYPE_ARRAY));

void document_tools(struct document *d, const struct place *at, const char *name, const cJSON *item)
{
	const struct place *approval = PLACE_KEY(at, "approval");
	struct tools_object given = {0};
	const cJSON *tool;
	size_t i = 0;
	document_read(d, at, item, &shape_tools, &given);
	size_t errors = d->graph->problems.errors;
	ag_graph_tools(d->graph, name);
	int n = graph_node_index(d->graph, name);
	if (n < 0)
		return; /* reported */
	cJSON_ArrayForEach(tool, given.tools) {
		const struct place *place = PLACE_INDEX(PLACE_KEY(at, "tools"), i);
		i++;
		if (!document_is(d, place, tool, TYPE_OBJECT))
			continue;
		size_t k = document_tools_kind_of(tool);
		if (k < KIND_COUNT)
			kinds[k].read(d, place, name, tool);
		else
			document_problem(d, PLACE_KEY(place, "kind"),
			    "expected a kind of tool, one of exec, http, mcp, memory");
	}
	if (d->graph->problems.errors != errors)
		return;
	struct node *node = &d->graph->nodes[n];
	node->approve_all = cJSON_IsTrue(given.approval);
	if (cJSON_IsArray(given.approval))
		node->approve = document_names(d, approval, given.approval);
	/* a name that is misspelt would let a call go unasked; what servers offer is known later */
	for (i = 0; !node->server_count && node->approve && node->approve[i]; i++) {
		if (!graph_tool_get(node, node->approve[i]))
			document_problem(
			    d, approval, "there is no tool '%s' in this node", node->approve[i]);
	}
}
