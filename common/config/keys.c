/* SPDX-License-Identifier: ISC */
/* The tables of the smaller keys, and the order in which all keys are read. */
#include "config/keys.h"

#include "base/json.h"
#include "base/memory.h"
#include "config/environment.h"
#include "config/expand.h"
#include "config/string_list.h"
#include "config/words.h"

#include <stdlib.h>
#include <string.h>

#define EXPECTED_CAP "an integer from 0 to 1000000000000, or null for no limit"

#define EXPECTED_DAYS "an integer from 0 to 36500, a number of days"
#define MAX_DAYS 36500
#define MAX_WAIT 1e9 /* seconds: 31 years, and milliseconds still fit everywhere */

/* `checkpointer`, `test` and most of `evaluation` are known, but whatever they hold has no effect.
 */
static const struct field top_rows[] = {
    FIELD(config, agent, .kind = FIELD_IMPORT, .required = true, .expected = EXPECTED_IMPORT),
    FIELD(config, injectq, .kind = FIELD_IMPORT, .expected = EXPECTED_IMPORT),
    FIELD(config, store, .kind = FIELD_IMPORT, .expected = EXPECTED_IMPORT),
    FIELD(config, thread_name_generator, .kind = FIELD_IMPORT, .expected = EXPECTED_IMPORT),
};
static const struct field_table top = FIELD_TABLE(top_rows);

static const struct choice auth_methods[] = {{"custom", AUTH_CUSTOM}, {NULL, 0}};

static const struct field auth_rows[] = {
    FIELD_AT("method", config, auth, .kind = FIELD_CHOICE, .choices = auth_methods,
	.required = true, .expected = "\"custom\""),
    FIELD_AT("path", config, auth_path, .kind = FIELD_IMPORT, .required = true,
	.expected = EXPECTED_IMPORT),
};
static const struct field_table auth_table = FIELD_TABLE(auth_rows);

static const struct field websocket_rows[] = {
    FIELD(websocket_config, max_connections, .kind = FIELD_CAP, .expected = EXPECTED_CAP),
    FIELD(websocket_config, max_connections_per_user, .kind = FIELD_CAP, .expected = EXPECTED_CAP),
    FIELD(websocket_config, realtime_models, .kind = FIELD_STRINGS, .expected = EXPECTED_STRING),
    FIELD(websocket_config, bearer_protocols, .kind = FIELD_STRINGS, .entry_valid = word_token,
	.expected = "a subprotocol name without blanks and separators"),
};
static const struct field_table websocket_table = FIELD_TABLE(websocket_rows);

static const struct field ag_ui_rows[] = {
    FIELD_AT("enabled", config, ag_ui_enabled, .kind = FIELD_BOOL, .expected = EXPECTED_BOOL),
    FIELD_AT("allow_client_tools", config, ag_ui_allow_client_tools, .kind = FIELD_BOOL,
	.expected = EXPECTED_BOOL),
};
static const struct field_table ag_ui_table = FIELD_TABLE(ag_ui_rows);

static const struct field runs_rows[] = {
    FIELD_AT("wait_timeout", config, run_wait_timeout, .kind = FIELD_NUMBER,
	.expected = "a number of seconds, 0 or more"),
    FIELD_AT(
	"message_resumes", config, message_resumes, .kind = FIELD_BOOL, .expected = EXPECTED_BOOL),
};
static const struct field_table runs_table = FIELD_TABLE(runs_rows);

static const struct field threads_rows[] = {
    FIELD_AT("max_bytes", config, thread_max_bytes, .kind = FIELD_CAP, .expected = EXPECTED_CAP),
};
static const struct field_table threads_table = FIELD_TABLE(threads_rows);

static const struct field evaluation_rows[] = {
    FIELD_AT("serve", config, evals_served, .kind = FIELD_BOOL, .expected = EXPECTED_BOOL),
};
static const struct field_table evaluation_table = FIELD_TABLE(evaluation_rows);

static const struct field retention_rows[] = {
    FIELD_AT("threads_days", config, retention_threads_days, .kind = FIELD_INTEGER, .max = MAX_DAYS,
	.expected = EXPECTED_DAYS),
    FIELD_AT("files_days", config, retention_files_days, .kind = FIELD_INTEGER, .max = MAX_DAYS,
	.expected = EXPECTED_DAYS),
};
static const struct field_table retention_table = FIELD_TABLE(retention_rows);

static void keys_set_defaults(struct config *config)
{
	config->websocket.max_connections = 1000;
	config->websocket.max_connections_per_user = 10;
	string_list_split(&config->websocket.bearer_protocols,
	    "service-bearer, agentflow-bearer, 10xgraph-bearer"); /* published clients' */
	config->ag_ui_allow_client_tools = true;
	config->run_wait_timeout = 30;
	config->thread_max_bytes = 256 << 20;
	config->evals_served = true;
}

char *expanded_read(
    const struct section *s, const char *key, const cJSON *value, const char *expected)
{
	if (!value)
		return NULL;
	if (!cJSON_IsString(value)) {
		section_refuse(s, key, value, expected);
		return NULL;
	}
	char *unset;
	char *text = expand_variables(value->valuestring, &unset);
	if (text && *text)
		return text;
	if (text) {
		section_problem(s, key, "expected %s, found an empty string", expected);
		free(text);
	} else {
		section_problem(s, key, "expected %s, found the variable %s, which is not set",
		    expected, unset);
		free(unset);
	}
	return NULL;
}

/* `redis` is another name of `cache`, as REDIS_URL is of CACHE_URL, and weaker than both names. */
static void read_cache(const struct section *root, struct config *config)
{
	const char *key = "cache";
	if (!json_opt(root->object, key) && !environment_text("CACHE_URL"))
		key = "redis";
	const cJSON *value = json_opt(root->object, key);
	if (value)
		config->cache = expanded_read(root, key, value, "a URL");
	else if (config->env.cache_url)
		config->cache = xstrdup(config->env.cache_url);
}

static void read_auth(const struct section *root, struct config *config)
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
		fields_read(&auth, &auth_table, config);
	} else {
		section_refuse(root, "auth", value,
		    "null, \"jwt\" or {\"method\": \"custom\", \"path\": \"module:attribute\"}");
	}
}

/* Reads the member key of root, an object, into target. */
static void keys_read_object(
    const struct section *root, const char *key, const struct field_table *table, void *target)
{
	struct section section;
	if (section_open(&section, root, key))
		fields_read(&section, table, target);
}

/* doc/protocol-access.md#who-reaches-what: who owns which thread is looked up often, and the
 * lookups are worth sharing. */
static void warn_without_cache(const struct section *root, const struct config *config)
{
	bool caches_owners =
	    config->authorization == AUTHZ_OWNERSHIP || config->authorization == AUTHZ_RBAC;
	if (config->auth != AUTH_NONE && caches_owners && !config->cache)
		problems_warn(root->problems,
		    "no shared cache (neither cache nor CACHE_URL is set): "
		    "each process caches the owners of threads alone");
}

void keys_read(const struct section *root, struct config *config)
{
	keys_set_defaults(config);
	fields_read(root, &top, config);
	read_auth(root, config);
	authorization_read(root, config);
	read_cache(root, config);
	warn_without_cache(root, config);
	remote_tools_read(root, config);
	rate_limit_read(root, config);
	observability_read(root, config);
	embeddings_read(root, config);
	keys_read_object(root, "websocket", &websocket_table, &config->websocket);
	keys_read_object(root, "ag_ui", &ag_ui_table, config);
	keys_read_object(root, "runs", &runs_table, config);
	keys_read_object(root, "threads", &threads_table, config);
	keys_read_object(root, "evaluation", &evaluation_table, config);
	keys_read_object(root, "retention", &retention_table, config);
	if (config->run_wait_timeout > MAX_WAIT)
		config->run_wait_timeout = MAX_WAIT;
	unknown_keys_warn(root);
}

void keys_release(struct config *config)
{
	fields_release(&top, config);
	fields_release(&auth_table, config);
	fields_release(&websocket_table, &config->websocket);
	free(config->cache);
	free(config->authorization_path);
	cJSON_Delete(config->rbac);
	remote_tools_release(config);
	rate_limit_release(&config->rate_limit);
	observability_release(&config->observability);
	embeddings_release(&config->embeddings);
}
