/* SPDX-License-Identifier: ISC */
/* The tables of the smaller keys, and the order in which all keys are read. */
#include "config/keys.h"

#include "base/http/http_head.h"
#include "base/http/url.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "config/environment/environment.h"
#include "config/string_list.h"
#include "config/words.h"

#include <stdlib.h>
#include <string.h>

#define DAYS                                  \
	.kind = &field_integer, .max = 36500, \
	.expected = "an integer from 0 to 36500, a number of days"
#define MAX_WAIT 1e9 /* seconds: 31 years, and milliseconds still fit everywhere */

/* An object whose members fill the configuration itself, or a struct in it. */
#define OBJECT(name) .kind = &field_object, .rows = name##_rows

static const struct choice auth_methods[] = {{"custom", AUTH_CUSTOM}, {NULL, 0}};

static const struct field_row auth_rows[] = {
    FIELD_AT("method", config, auth, .kind = &field_choice, .choices = auth_methods,
	.required = true, .expected = "\"custom\""),
    FIELD_AT("path", config, auth_path, .kind = &field_import, .required = true),
    FIELDS_END,
};

static const struct field_row websocket_rows[] = {
    FIELD(websocket_config, max_connections, .kind = &field_cap),
    FIELD(websocket_config, max_connections_per_user, .kind = &field_cap),
    FIELD(websocket_config, realtime_models, .kind = &field_strings),
    FIELD(websocket_config, bearer_protocols, .kind = &field_strings, .valid = http_is_token,
	.expected = "a subprotocol name without blanks and separators"),
    FIELDS_END,
};

static const struct field_row ag_ui_rows[] = {
    FIELD_AT("enabled", config, ag_ui_enabled, .kind = &field_bool),
    FIELD_AT("allow_client_tools", config, ag_ui_allow_client_tools, .kind = &field_bool),
    FIELDS_END,
};

static const struct field_row openai_rows[] = {
    FIELD_AT("enabled", config, openai_enabled, .kind = &field_bool),
    FIELD_AT("model", config, openai_model, .kind = &field_string),
    FIELDS_END,
};

static const struct field_row langgraph_rows[] = {
    FIELD_AT("enabled", config, langgraph_enabled, .kind = &field_bool),
    FIELDS_END,
};

static const struct field_row mcp_tool_rows[] = {
    FIELD_AT("name", mcp_config, tool_name, .kind = &field_string, .valid = word_tool,
	.expected = "1 to 128 letters, digits, '_', '-' or '.'"),
    FIELD_AT("description", mcp_config, tool_description, .kind = &field_string),
    FIELD_AT("input_schema", mcp_config, input_schema, .kind = &field_copy, .types = TYPE_OBJECT),
    FIELDS_END,
};

static const struct field_row mcp_rows[] = {
    FIELD(mcp_config, enabled, .kind = &field_bool),
    {.key = "tool", .offset = 0, OBJECT(mcp_tool)}, /* of the same struct */
    FIELD(mcp_config, authorization_servers, .kind = &field_strings, .valid = url_valid,
	.expected = ADDRESS_EXPECTED),
    FIELDS_END,
};

#define A2A_URL .kind = &field_string, .valid = url_valid, .expected = ADDRESS_EXPECTED
static const struct field_row a2a_provider_rows[] = {
    FIELD(a2a_config, organization, .kind = &field_string, .required = true),
    FIELD_AT("url", a2a_config, organization_url, A2A_URL),
    FIELDS_END,
};

static const struct field_row a2a_rows[] = {
    FIELD(a2a_config, enabled, .kind = &field_bool),
    FIELD(a2a_config, name, .kind = &field_string),
    FIELD(a2a_config, description, .kind = &field_string),
    FIELD(a2a_config, version, .kind = &field_string),
    FIELD(a2a_config, documentation_url, A2A_URL),
    FIELD(a2a_config, icon_url, A2A_URL),
    {.key = "provider", .offset = 0, OBJECT(a2a_provider)}, /* of the same struct */
    FIELD(a2a_config, skills, .kind = &field_copy, .types = TYPE_ARRAY),
    FIELDS_END,
};

static const struct field_row runs_rows[] = {
    FIELD_AT("wait_timeout", config, run_wait_timeout, .kind = &field_number,
	.expected = "a number of seconds, 0 or more"),
    FIELD_AT("message_resumes", config, message_resumes, .kind = &field_bool),
    FIELD_AT(
	"keep", config, runs_keep, .kind = &field_integer, .expected = "an integer, 0 or more"),
    FIELD_AT("background", config, runs_background, .kind = &field_integer, .max = 1024),
    FIELD_AT(
	"queue", config, runs_queue, .kind = &field_integer, .expected = "an integer, 0 or more"),
    FIELD_AT("keep_chunks", config, runs_keep_chunks, .kind = &field_integer,
	.expected = "an integer, 0 or more, a number of seconds"),
    FIELD_AT("max_attempts", config, runs_max_attempts, .kind = &field_integer, .min = 1,
	.max = 1000, .expected = "an integer from 1 to 1000"),
    FIELD_AT("webhooks", config, runs_webhooks, .kind = &field_strings, .valid = url_valid,
	.expected = ADDRESS_EXPECTED),
    FIELDS_END,
};

static const struct field_row graph_rows[] = {
    FIELD_AT("parallel", config, graph_parallel, .kind = &field_integer, .min = 1, .max = 1000,
	.expected = "an integer from 1 to 1000"),
    FIELD_AT("elements", config, graph_elements, .kind = &field_integer, .min = 1, .max = 1000000,
	.expected = "an integer from 1 to 1000000"),
    FIELDS_END,
};

static const struct field_row threads_rows[] = {
    FIELD_AT("max_bytes", config, thread_max_bytes, .kind = &field_cap),
    FIELDS_END,
};

static const struct choice history_levels[] = {
    {"off", HISTORY_OFF}, {"runs", HISTORY_RUNS}, {"steps", HISTORY_STEPS}, {NULL, 0}};

static const struct field_row history_rows[] = {
    FIELD_AT("level", config, history_level, .kind = &field_choice, .choices = history_levels,
	.expected = "one of off, runs, steps"),
    FIELD_AT(
	"keep", config, history_keep, .kind = &field_integer, .expected = "an integer, 0 or more"),
    FIELD_AT("trust_imports", config, history_trust_imports, .kind = &field_bool),
    FIELDS_END,
};

/* Only `serve` has an effect here. */
static const struct field_row evaluation_rows[] = {
    FIELD_AT("serve", config, evals_served, .kind = &field_bool),
    FIELD_KNOWN("directory"),
    FIELD_KNOWN("output_dir"),
    FIELD_KNOWN("threshold"),
    FIELD_KNOWN("parallel"),
    FIELD_KNOWN("max_concurrency"),
    FIELDS_END,
};

static const struct field_row retention_rows[] = {
    FIELD_AT("threads_days", config, retention_threads_days, DAYS),
    FIELD_AT("files_days", config, retention_files_days, DAYS),
    FIELDS_END,
};

#define HERE(name)                                      \
	{                                               \
		.key = #name, .offset = 0, OBJECT(name) \
	}
/* A key that a function reads. */
#define BY_HAND(name)                                                      \
	{                                                                  \
		.key = #name, .offset = FIELD_NOWHERE, .rows = name##_rows \
	}

static const struct field_row top_rows[] = {
    FIELD(config, agent, .kind = &field_import, .required = true),
    FIELD(config, injectq, .kind = &field_import),
    FIELD(config, store, .kind = &field_import),
    FIELD(config, thread_name_generator, .kind = &field_import),
    BY_HAND(auth),
    BY_HAND(authorization),
    BY_HAND(embeddings),
    BY_HAND(rate_limit),
    FIELD(config, websocket, OBJECT(websocket)),
    HERE(ag_ui),
    HERE(openai),
    HERE(langgraph),
    FIELD(config, mcp, OBJECT(mcp)),
    FIELD(config, a2a, OBJECT(a2a)),
    BY_HAND(observability),
    HERE(graph),
    HERE(threads),
    HERE(runs),
    HERE(history),
    HERE(retention),
    HERE(evaluation),
    FIELD_KNOWN("env"),
    FIELD_KNOWN("database"),
    FIELD_KNOWN("cache"),
    FIELD_KNOWN("redis"),
    FIELD_KNOWN("remote_tools"),
    FIELD_KNOWN("checkpointer"), /* of no effect, as is what comes next */
    FIELD_KNOWN("test"),
    FIELDS_END,
};

static void keys_set_defaults(struct config *config)
{
	config->websocket.max_connections = 1000;
	config->websocket.max_connections_per_user = 10;
	string_list_split(&config->websocket.bearer_protocols,
	    "service-bearer, agentflow-bearer, 10xgraph-bearer"); /* published clients' */
	config->ag_ui_allow_client_tools = true;
	config->run_wait_timeout = 30;
	config->runs_keep = 100;
	config->runs_background = 8;
	config->runs_queue = 100000;
	config->runs_keep_chunks = 86400;
	config->runs_max_attempts = 3;
	config->graph_parallel = 16;
	config->graph_elements = 10000;
	config->history_level = HISTORY_RUNS;
	config->history_keep = 100;
	config->thread_max_bytes = 256 << 20;
	config->evals_served = true;
}

/* `redis` is another name of `cache`, as REDIS_URL is of CACHE_URL, and weaker than both names. */
static void keys_read_cache(const struct section *root, struct config *config)
{
	const char *key = "cache";
	if (!json_opt(root->object, key) && !environment_text("CACHE_URL"))
		key = "redis";
	const cJSON *value = json_opt(root->object, key);
	if (value) {
		config->cache = section_expand(root, key, value, "a URL");
		config->cache_place = xasprintf("%s: %s", root->file, key);
	} else if (config->env.cache_url) {
		config->cache = xstrdup(config->env.cache_url);
		config->cache_place =
		    xstrdup(environment_text("CACHE_URL") ? "CACHE_URL" : "REDIS_URL");
	}
}

void database_read(const struct section *root, struct config *config)
{
	if (config->env.database_url)
		config->database = xstrdup(config->env.database_url);
	else
		config->database =
		    section_expand(root, "database", json_opt(root->object, "database"), "a URL");
}

static void keys_read_auth(const struct section *root, struct config *config)
{
	const cJSON *value = json_opt(root->object, "auth");
	struct section auth;
	if (!value) {
		problems_warn(root->problems,
		    "authentication is off (auth is null): every request runs as anonymous");
	} else if (cJSON_IsString(value) && strcmp(value->valuestring, "jwt") == 0) {
		config->auth = AUTH_JWT;
		environment_check_jwt(&config->env, root->problems);
	} else if (cJSON_IsObject(value) && section_open(&auth, root, "auth")) {
		section_read(&auth, auth_rows, config);
	} else {
		section_refuse(root, "auth", value,
		    "null, \"jwt\" or {\"method\": \"custom\", \"path\": \"module:attribute\"}");
	}
}

void keys_read(const struct section *root, struct config *config)
{
	keys_set_defaults(config);
	section_read(root, top_rows, config);
	keys_read_auth(root, config);
	authorization_read(root, config);
	keys_read_cache(root, config);
	/* doc/protocol-access.md#ownership: who owns which thread is looked up often, and
	 * the lookups are worth sharing */
	bool caches_owners =
	    config->authorization == AUTHZ_OWNERSHIP || config->authorization == AUTHZ_RBAC;
	if (config->auth != AUTH_NONE && caches_owners && !config->cache)
		problems_warn(root->problems,
		    "no shared cache (neither cache nor CACHE_URL is set): "
		    "each process caches the owners of threads alone");
	remote_tools_read(root, config);
	rate_limit_read(root, config);
	observability_read(root, config);
	embeddings_read(root, config);
	/* the addresses that webhooks may go to are compared in their normal form */
	struct string_list *webhooks = &config->runs_webhooks;
	for (size_t i = 0; i < webhooks->count; i++) {
		char *normal = url_normal(webhooks->items[i]);
		free(webhooks->items[i]);
		webhooks->items[i] = normal;
	}
	if (webhooks->count)
		environment_check_webhooks(&config->env, root->problems);
	if (config->langgraph_enabled)
		environment_check_langgraph(&config->env, root->problems);
	/* Any page could use the agent in the name of whoever looks at it. */
	if (config->mcp.enabled && config->auth == AUTH_NONE &&
	    string_list_has(&config->env.origins, "*"))
		problems_warn(root->problems,
		    "mcp is on while authentication is off and ORIGINS allows *: "
		    "any page in a browser that reaches the service can call the agent");
	a2a_skills_check(root, config);
	if (config->run_wait_timeout > MAX_WAIT)
		config->run_wait_timeout = MAX_WAIT;
	section_warn_unknown(root, top_rows);
}

void keys_release(struct config *config)
{
	fields_release(top_rows, config);
	fields_release(auth_rows, config);
	fields_release(embeddings_rows, &config->embeddings);
	fields_release(rate_limit_rows, &config->rate_limit);
	free(config->cache);
	free(config->cache_place);
	free(config->database);
	free(config->authorization_path);
	cJSON_Delete(config->rbac);
	remote_tools_release(config);
	free(config->rate_limit.cache_url);
	free(config->rate_limit.cache_place);
	free(config->rate_limit.cache_prefix);
	observability_release(&config->observability);
}
