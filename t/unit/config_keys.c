/* SPDX-License-Identifier: ISC */
/* Keys of agentgraph.json, one by one. */
#include "config_fixture.h"

#include "base/json/json.h"
#include "config/words.h"

#include <stdlib.h>
#include <string.h>

static bool same(const char *a, const char *b)
{
	return a && strcmp(a, b) == 0;
}

static void agent_is_required(void)
{
	struct load l = fixture_load("{}");
	CU_ASSERT(fixture_has_error(&l, "agentgraph.json: agent: expected an import path"));
	fixture_end(&l);
	l = fixture_load("{\"agent\": \"demo\"}");
	CU_ASSERT(fixture_has_error(&l, "found \"demo\""));
	fixture_end(&l);
	l = fixture_load("{\"agent\": null}");
	CU_ASSERT(fixture_has_error(&l, "agent"));
	fixture_end(&l);
}

static void defaults(void)
{
	CHECK_ACCEPTED("", same(c->agent, "builtin:demo") && c->auth == AUTH_NONE);
	CHECK_ACCEPTED("", !c->store && !c->injectq && !c->cache && !c->thread_name_generator);
	CHECK_ACCEPTED("",
	    c->websocket.max_connections == 1000 && c->websocket.max_connections_per_user == 10);
	CHECK_ACCEPTED("",
	    c->websocket.bearer_protocols.count == 3 &&
		same(c->websocket.bearer_protocols.items[0], "service-bearer") &&
		same(c->websocket.bearer_protocols.items[1], "agentflow-bearer") &&
		same(c->websocket.bearer_protocols.items[2], "10xgraph-bearer"));
	CHECK_ACCEPTED("", !c->ag_ui_enabled && c->ag_ui_allow_client_tools);
	CHECK_ACCEPTED(
	    "", !c->rate_limit.present && c->run_wait_timeout == 30 && !c->message_resumes);
	CHECK_ACCEPTED("",
	    c->observability.level == TRACE_STANDARD && !c->observability.logfire.enabled &&
		!c->observability.langsmith.enabled);
}

static void unknown_keys(void)
{
	CHECK_ACCEPTED(", \"mystery\": {\"a\": 1}, \"websocket\": {\"b\": 2}, \"Auth\": 3",
	    c->auth == AUTH_NONE);
	CHECK_ACCEPTED(", \"test\": 1, \"evaluation\": {}, \"checkpointer\": 5", true);
}

static void unknown_keys_are_told(void)
{
	struct load l = fixture_load_with(", \"rate_limt\": {}, \"$schema\": \"x\", \"test\": 1, "
					  "\"ag_ui\": {\"enable\": true, \"enabled\": true}");
	CU_ASSERT_PTR_NOT_NULL(l.config);
	CU_ASSERT(fixture_has_warning(&l, "agentgraph.json: rate_limt: unknown key, ignored"));
	CU_ASSERT(fixture_has_warning(&l, "agentgraph.json: ag_ui.enable: unknown key, ignored"));
	CU_ASSERT_FALSE(fixture_has_warning(&l, "schema"));
	CU_ASSERT_FALSE(fixture_has_warning(&l, "test"));
	CU_ASSERT_FALSE(fixture_has_warning(&l, "enabled"));
	fixture_end(&l);
}

static void import_paths(void)
{
	CHECK_ACCEPTED(", \"store\": \"builtin:store\"", same(c->store, "builtin:store"));
	CHECK_ACCEPTED(", \"injectq\": null", !c->injectq);
	CHECK_REFUSED(
	    ", \"store\": \"nothing\"", "agentgraph.json: store: expected an import path");
	CHECK_REFUSED(", \"injectq\": 5", "injectq");
	CHECK_REFUSED(", \"thread_name_generator\": \"m:\"", "thread_name_generator");
}

static void auth_values(void)
{
	struct load l = fixture_load_with("");
	CU_ASSERT(fixture_has_warning(&l, "authentication is off"));
	fixture_end(&l);
	CHECK_ACCEPTED(", \"auth\": null", c->auth == AUTH_NONE);
	CHECK_ACCEPTED(", \"auth\": {\"method\": \"custom\", \"path\": \"a.so:b\"}",
	    c->auth == AUTH_CUSTOM && same(c->auth_path, "a.so:b"));
	CHECK_REFUSED(", \"auth\": \"JWT\"", "agentgraph.json: auth: expected null, \"jwt\"");
	CHECK_REFUSED(", \"auth\": false", "auth");
	CHECK_REFUSED(", \"auth\": {\"method\": \"custom\"}", "auth.path");
	CHECK_REFUSED(", \"auth\": {\"method\": \"jwt\", \"path\": \"a:b\"}", "auth.method");
	CHECK_REFUSED(", \"auth\": {\"path\": \"a:b\"}", "auth.method: expected \"custom\"");
}

static void authorization_by_mode(void)
{
	CHECK_ACCEPTED("", c->authorization == AUTHZ_ALLOW_ALL);
	setenv("MODE", "production", 1);
	CHECK_ACCEPTED(", \"authorization\": null", c->authorization == AUTHZ_OWNERSHIP);
}

static void authorization_names(void)
{
	CHECK_ACCEPTED(", \"authorization\": \"ownership\"", c->authorization == AUTHZ_OWNERSHIP);
	CHECK_ACCEPTED(", \"authorization\": \"default\"", c->authorization == AUTHZ_ALLOW_ALL);
	CHECK_ACCEPTED(", \"authorization\": \"none\"", c->authorization == AUTHZ_ALLOW_ALL);
	CHECK_ACCEPTED(", \"authorization\": \"p/a.so:f\"",
	    c->authorization == AUTHZ_CUSTOM && same(c->authorization_path, "p/a.so:f"));
	CHECK_REFUSED(", \"authorization\": \"owner\"",
	    "Unknown authorization backend 'owner'. Use a 'module:attr' path or one of: allow_all, "
	    "default, none, ownership.");
	CHECK_REFUSED(", \"authorization\": {\"backend\": \"acl\"}",
	    "Unknown authorization backend config: {\"backend\":\"acl\"}");
	CHECK_REFUSED(", \"authorization\": true", "Unknown authorization backend config: true");
}

static void rbac_block(void)
{
	struct load l = fixture_load_with(
	    ", \"authorization\": {\"type\": \"role_based\", \"role_scopes\": {\"admin\": [\"*\"]},"
	    "\"default_scopes\": [\"graph:read\"], \"isolation\": \"none\"}");
	CU_ASSERT_PTR_NOT_NULL_FATAL(l.config);
	CU_ASSERT_EQUAL(l.config->authorization, AUTHZ_RBAC);
	char *text = json_print(l.config->rbac);
	CU_ASSERT_STRING_EQUAL(text,
	    "{\"roles\":{\"admin\":[\"*\"]},\"default_scopes\":["
	    "\"graph:read\"],\"isolation\":\"none\"}");
	free(text);
	fixture_end(&l);
}

static void rbac_defaults(void)
{
	struct load l =
	    fixture_load_with(", \"authorization\": {\"backend\": \"roles\", \"isolation\": 5}");
	CU_ASSERT_PTR_NOT_NULL_FATAL(l.config);
	char *text = json_print(l.config->rbac);
	CU_ASSERT_STRING_EQUAL(
	    text, "{\"roles\":{},\"default_scopes\":[],\"isolation\":\"owner\"}");
	CU_ASSERT(fixture_has_warning(&l, "authorization.isolation"));
	free(text);
	fixture_end(&l);
}

static void rbac_mistakes(void)
{
	CHECK_REFUSED(", \"authorization\": {\"backend\": \"rbac\", \"roles\": {\"a\": \"x\"}}",
	    "authorization.roles.a: expected an array");
	CHECK_REFUSED(", \"authorization\": {\"backend\": \"rbac\", \"roles\": []}",
	    "authorization.roles: expected an object");
	CHECK_REFUSED(", \"authorization\": {\"backend\": \"rbac\", \"default_scopes\": [1]}",
	    "authorization.default_scopes");
}

static void owner_cache_warning(void)
{
	struct load l = fixture_load_with(
	    ", \"authorization\": \"ownership\", \"auth\": {\"method\": \"custom\", \"path\": \"a:b\"}");
	CU_ASSERT(fixture_has_warning(&l, "no shared cache"));
	fixture_end(&l);
}

static void evals_may_be_off(void)
{
	CHECK_ACCEPTED("", c->evals_served);
	CHECK_ACCEPTED(", \"evaluation\": {\"threshold\": 0.5}", c->evals_served);
	CHECK_ACCEPTED(", \"evaluation\": {\"serve\": false}", !c->evals_served);
	CHECK_REFUSED(", \"evaluation\": {\"serve\": \"no\"}",
	    "evaluation.serve: expected true or false, found \"no\"");
}

static void the_variable_names_the_database_before_the_file(void)
{
	CHECK_ACCEPTED("", !c->database);
	setenv("HOST", "h", 1);
	CHECK_ACCEPTED(", \"database\": \"x://$HOST\"", same(c->database, "x://h"));
	setenv("DATABASE_URL", "sqlite:", 1);
	CHECK_ACCEPTED(", \"database\": \"x://h\"", same(c->database, "sqlite:"));
	setenv("DATABASE_URL", "sqlite:", 1);
	CHECK_ACCEPTED("", same(c->database, "sqlite:"));
}

static void cache_expansion(void)
{
	setenv("HOST", "h", 1);
	setenv("EMPTY", "", 1);
	CHECK_ACCEPTED(", \"cache\": \"redis://$EMPTY${HOST}:1/$$HOST$1$\"",
	    same(c->cache, "redis://h:1/$h$1$"));
	setenv("CACHE_URL", "redis://env", 1);
	CHECK_ACCEPTED("", same(c->cache, "redis://env"));
	setenv("CACHE_URL", "redis://env", 1);
	CHECK_ACCEPTED(", \"cache\": \"redis://file\"", same(c->cache, "redis://file"));
	setenv("CACHE_URL", "redis://env", 1);
	CHECK_ACCEPTED(", \"redis\": \"redis://file\"", same(c->cache, "redis://env"));
	setenv("REDIS_URL", "redis://env", 1);
	setenv("HOST", "h", 1);
	CHECK_ACCEPTED(", \"redis\": \"redis://$HOST\"", same(c->cache, "redis://h"));
	CHECK_ACCEPTED(
	    ", \"cache\": \"redis://a\", \"redis\": \"redis://b\"", same(c->cache, "redis://a"));
	CHECK_REFUSED(", \"redis\": 6379", "redis: expected a URL, found 6379");
	CHECK_REFUSED(", \"cache\": \"redis://:secret@$NO_HOST\"",
	    "cache: expected a URL, found the variable NO_HOST, which is not set");
	CHECK_REFUSED(", \"cache\": \"${NO-HOST}\"", "NO-HOST");
	CHECK_REFUSED(", \"cache\": \"\"", "found an empty string");
	CHECK_REFUSED(", \"cache\": {}", "cache: expected a URL, found an object");
}

static void secrets_stay_hidden(void)
{
	struct load l = fixture_load_with(
	    ", \"cache\": \"redis://:hunter2@$NO_HOST\", \"auth\": "
	    "\"redis://:hunter2@h\", \"websocket\": \"x://hunter2\", \"ag_ui\": \"u:hunter2@h\"");
	CU_ASSERT_EQUAL(l.problems.errors, 4);
	for (size_t i = 0; i < l.problems.count; i++)
		CU_ASSERT_PTR_NULL(strstr(l.problems.items[i].text, "hunter2"));
	fixture_end(&l);
}

static void websocket_block(void)
{
	CHECK_ACCEPTED(
	    ", \"websocket\": {\"max_connections\": null, \"max_connections_per_user\": 0}",
	    c->websocket.max_connections == 0 && c->websocket.max_connections_per_user == 0);
	CHECK_ACCEPTED(", \"websocket\": {\"max_connections\": 25.0, \"realtime_models\": [\"m\"]}",
	    c->websocket.max_connections == 25 && c->websocket.realtime_models.count == 1);
	CHECK_ACCEPTED(", \"websocket\": {\"bearer_protocols\": []}",
	    c->websocket.bearer_protocols.count == 0);
	CHECK_REFUSED(", \"websocket\": {\"max_connections\": -1}", "websocket.max_connections");
	CHECK_REFUSED(", \"websocket\": {\"max_connections\": 1.5}", "found 1.5");
	CHECK_REFUSED(", \"websocket\": {\"max_connections\": true}", "websocket.max_connections");
	CHECK_REFUSED(", \"websocket\": {\"bearer_protocols\": [\"a\", \"b c\"]}",
	    "websocket.bearer_protocols[1]");
	CHECK_REFUSED(", \"websocket\": {\"realtime_models\": \"m\"}",
	    "websocket.realtime_models: expected an array of strings");
	CHECK_REFUSED(", \"websocket\": []", "agentgraph.json: websocket: expected an object");
}

static void small_blocks(void)
{
	CHECK_ACCEPTED(", \"ag_ui\": {\"enabled\": true, \"allow_client_tools\": false}",
	    c->ag_ui_enabled && !c->ag_ui_allow_client_tools);
	CHECK_REFUSED(", \"ag_ui\": {\"enabled\": \"true\"}", "ag_ui.enabled: expected true or");
	CHECK_REFUSED(", \"ag_ui\": {\"enabled\": 1}", "ag_ui.enabled");
	CHECK_ACCEPTED("", !c->openai_enabled && !c->openai_model);
	CHECK_ACCEPTED(", \"openai\": {\"enabled\": true, \"model\": \"m\"}",
	    c->openai_enabled && same(c->openai_model, "m"));
	CHECK_REFUSED(", \"openai\": {\"enabled\": 1}", "openai.enabled: expected true or false");
	CHECK_REFUSED(", \"openai\": {\"model\": \"\"}", "openai.model");
	CHECK_REFUSED(", \"openai\": true", "openai");
	CHECK_ACCEPTED(", \"langgraph\": {\"enabled\": true}", c->langgraph_enabled);
	CHECK_REFUSED(
	    ", \"langgraph\": {\"enabled\": 1}", "langgraph.enabled: expected true or false");
	CHECK_ACCEPTED("", !c->mcp.enabled && !c->mcp.tool_name && !c->mcp.input_schema);
	CHECK_ACCEPTED(
	    ", \"mcp\": {\"enabled\": true, \"tool\": {\"name\": \"a.b-c_1\", \"description\": "
	    "\"d\", \"input_schema\": {\"type\": \"object\"}}, \"authorization_servers\": "
	    "[\"https://login.example\"]}",
	    c->mcp.enabled && same(c->mcp.tool_name, "a.b-c_1") &&
		same(c->mcp.tool_description, "d") && cJSON_IsObject(c->mcp.input_schema) &&
		c->mcp.authorization_servers.count == 1);
	CHECK_REFUSED(
	    ", \"mcp\": {\"tool\": {\"name\": \"a b\"}}", "mcp.tool.name: expected 1 to 128");
	CHECK_REFUSED(", \"mcp\": {\"tool\": {\"input_schema\": []}}", "mcp.tool.input_schema");
	CHECK_REFUSED(
	    ", \"mcp\": {\"authorization_servers\": [\"x\"]}", "mcp.authorization_servers[0]");
	CHECK_ACCEPTED("", !c->a2a.enabled && !c->a2a.name && !c->a2a.skills);
	CHECK_ACCEPTED(", \"a2a\": {\"enabled\": true, \"name\": \"n\", \"description\": \"d\", "
		       "\"version\": \"2\", \"provider\": {\"organization\": \"o\", \"url\": "
		       "\"https://o.example\"}, \"skills\": [{\"id\": \"i\", \"name\": \"n\", "
		       "\"description\": \"d\"}]}",
	    c->a2a.enabled && same(c->a2a.name, "n") && same(c->a2a.organization, "o") &&
		cJSON_IsArray(json_get(c->a2a.skills->child, "tags")));
	CHECK_REFUSED(", \"a2a\": {\"skills\": [{\"id\": \"i\", \"description\": \"d\"}]}",
	    "a2a.skills[0].name");
	CHECK_REFUSED(", \"a2a\": {\"skills\": [7]}", "a2a.skills[0]: expected an object");
	CHECK_REFUSED(", \"a2a\": {\"provider\": {}}", "a2a.provider.organization");
	CHECK_ACCEPTED(", \"runs\": {\"wait_timeout\": 0.5}", c->run_wait_timeout == 0.5);
	CHECK_ACCEPTED(", \"runs\": {\"wait_timeout\": 1e300}", c->run_wait_timeout == 1e9);
	CHECK_ACCEPTED(", \"runs\": {\"message_resumes\": true}", c->message_resumes);
	CHECK_ACCEPTED("", c->runs_keep == 100);
	CHECK_ACCEPTED(", \"runs\": {\"keep\": 0}", c->runs_keep == 0);
	CHECK_REFUSED(", \"runs\": {\"keep\": -1}", "runs.keep: expected an integer, 0 or more");
	CHECK_REFUSED(", \"runs\": {\"keep\": \"all\"}", "runs.keep");
	CHECK_REFUSED(", \"runs\": {\"keep\": 1.5}", "runs.keep");
	CHECK_REFUSED(", \"runs\": {\"message_resumes\": 1}", "runs.message_resumes");
	CHECK_ACCEPTED("",
	    c->runs_background == 8 && c->runs_queue == 100000 && c->runs_keep_chunks == 86400 &&
		c->runs_max_attempts == 3 && c->runs_webhooks.count == 0);
	CHECK_ACCEPTED(", \"runs\": {\"background\": 0, \"queue\": 7, \"keep_chunks\": 0, "
		       "\"max_attempts\": 1, \"webhooks\": []}",
	    c->runs_background == 0 && c->runs_queue == 7 && c->runs_keep_chunks == 0 &&
		c->runs_max_attempts == 1 && c->runs_webhooks.count == 0);
	CHECK_REFUSED(", \"runs\": {\"background\": -1}",
	    "runs.background: expected an integer from 0 to 1024, found -1");
	CHECK_REFUSED(", \"runs\": {\"background\": \"8\"}", "runs.background");
	CHECK_REFUSED(", \"runs\": {\"background\": 1025}", "runs.background");
	CHECK_REFUSED(
	    ", \"runs\": {\"queue\": -1}", "runs.queue: expected an integer, 0 or more, found -1");
	CHECK_REFUSED(", \"runs\": {\"queue\": true}", "runs.queue");
	CHECK_REFUSED(", \"runs\": {\"keep_chunks\": -1}",
	    "runs.keep_chunks: expected an integer, 0 or more, a number of seconds, found -1");
	CHECK_REFUSED(", \"runs\": {\"keep_chunks\": 0.5}", "runs.keep_chunks");
	CHECK_REFUSED(", \"runs\": {\"max_attempts\": 0}",
	    "runs.max_attempts: expected an integer from 1 to 1000, found 0");
	CHECK_REFUSED(", \"runs\": {\"max_attempts\": []}", "runs.max_attempts");
	CHECK_ACCEPTED("", c->graph_parallel == 16);
	CHECK_ACCEPTED(", \"graph\": {\"parallel\": 3}", c->graph_parallel == 3);
	CHECK_REFUSED(", \"graph\": {\"parallel\": 0}",
	    "graph.parallel: expected an integer from 1 to 1000, found 0");
	CHECK_ACCEPTED(", \"graph\": {\"elements\": 3}", c->graph_elements == 3);
	CHECK_REFUSED(", \"graph\": {\"elements\": 0}",
	    "graph.elements: expected an integer from 1 to 1000000, found 0");
	CHECK_ACCEPTED("", c->history_level == HISTORY_RUNS && c->history_keep == 100);
	CHECK_ACCEPTED(", \"history\": {\"level\": \"off\", \"keep\": 0}",
	    c->history_level == HISTORY_OFF && c->history_keep == 0);
	CHECK_ACCEPTED(", \"history\": {\"level\": \"steps\", \"keep\": 7}",
	    c->history_level == HISTORY_STEPS && c->history_keep == 7);
	CHECK_ACCEPTED("", !c->history_trust_imports);
	CHECK_ACCEPTED(", \"history\": {\"trust_imports\": true}", c->history_trust_imports);
	CHECK_REFUSED(", \"history\": {\"trust_imports\": 1}", "history.trust_imports");
	CHECK_REFUSED(", \"history\": {\"level\": \"all\"}",
	    "history.level: expected one of off, runs, steps, found \"all\"");
	CHECK_REFUSED(", \"history\": {\"level\": true}", "history.level");
	CHECK_REFUSED(", \"history\": {\"keep\": -1}",
	    "history.keep: expected an integer, 0 or more, found -1");
	CHECK_REFUSED(", \"history\": {\"keep\": \"all\"}", "history.keep");
	CHECK_REFUSED(", \"history\": \"off\"", "history: expected an object");
	CHECK_ACCEPTED("", c->thread_max_bytes == 268435456);
	CHECK_ACCEPTED(", \"threads\": {\"max_bytes\": 0}", c->thread_max_bytes == 0);
	CHECK_REFUSED(", \"threads\": {\"max_bytes\": -1}", "threads.max_bytes");
	CHECK_REFUSED(", \"threads\": {\"max_bytes\": \"1\"}", "threads.max_bytes");
	CHECK_ACCEPTED(", \"retention\": {\"threads_days\": 30, \"files_days\": 0}",
	    c->retention_threads_days == 30 && c->retention_files_days == 0);
	CHECK_REFUSED(", \"retention\": {\"threads_days\": -1}", "retention.threads_days");
	CHECK_REFUSED(", \"retention\": {\"files_days\": 0.5}", "retention.files_days");
	CHECK_REFUSED(", \"runs\": {\"wait_timeout\": -0.1}", "runs.wait_timeout");
	CHECK_REFUSED(", \"runs\": {\"wait_timeout\": \"30\"}", "runs.wait_timeout");
}

static void webhooks_need_addresses_and_a_secret(void)
{
	setenv("WEBHOOK_SECRET", "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz", 1);
	CHECK_ACCEPTED(", \"runs\": {\"webhooks\": [\"HTTPS://Hooks.example.com:443\", "
		       "\"http://127.0.0.1:81/a/../b/\"]}",
	    strcmp(c->runs_webhooks.items[0], "https://hooks.example.com/") == 0 &&
		strcmp(c->runs_webhooks.items[1], "http://127.0.0.1:81/b/") == 0);
	CHECK_REFUSED(", \"runs\": {\"webhooks\": \"https://a/\"}",
	    "runs.webhooks: expected an array of strings");
	setenv("WEBHOOK_SECRET", "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz", 1);
	CHECK_REFUSED(", \"runs\": {\"webhooks\": [\"https://a/\", \"a/b\"]}",
	    "runs.webhooks[1]: expected an http or https address in ASCII, with a host and without "
	    "user and password, found \"a/b\"");
	CHECK_REFUSED(", \"runs\": {\"webhooks\": [\"https://ä.example/\"]}", "runs.webhooks[0]");
	CHECK_REFUSED(", \"runs\": {\"webhooks\": [\"https://u@a/\"]}", "runs.webhooks[0]");
	CHECK_REFUSED(", \"runs\": {\"webhooks\": [1]}", "runs.webhooks[0]");
	CHECK_ACCEPTED(", \"runs\": {\"webhooks\": []}", c->env.webhook_secret == NULL);
	CHECK_REFUSED(", \"runs\": {\"webhooks\": [\"https://a/\"]}",
	    "WEBHOOK_SECRET: expected a value, because runs.webhooks names addresses");
	static const char *const wrong[] = {"hunter2", "whsec_", "whsec_hunter2", "MDEyMzQ1Njc4"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		setenv("WEBHOOK_SECRET", wrong[i], 1);
		CHECK_REFUSED(", \"runs\": {\"webhooks\": [\"https://a/\"]}",
		    "WEBHOOK_SECRET: expected whsec_ and base64, found other text");
	}
}

static void observability_block(void)
{
	CHECK_ACCEPTED(
	    ", \"observability\": {\"level\": \"full\"}", c->observability.level == TRACE_FULL);
	CHECK_REFUSED(", \"observability\": {\"level\": \"all\"}",
	    "observability.level: expected \"spans\", \"standard\" or \"full\", found \"all\"");
	CHECK_REFUSED(", \"observability\": {\"logfire\": {\"enabled\": 1}}",
	    "observability.logfire.enabled");
	CHECK_REFUSED(", \"observability\": {\"langsmith\": {\"endpoint\": \"smith:4318\"}}",
	    "observability.langsmith.endpoint: expected an http or https address in ASCII, with a "
	    "host and without user and password, found \"smith:4318\"");
}

static void exporters(void)
{
	setenv("LOGFIRE_TOKEN", "t1", 1);
	setenv("LANGSMITH_API_KEY", "t2", 1);
	struct load l = fixture_load_with(
	    ", \"observability\": {\"logfire\": {\"endpoint\": \"http://l/\"}, \"langsmith\": "
	    "{\"project\": \"p\"}}");
	CU_ASSERT_PTR_NOT_NULL_FATAL(l.config);
	const struct observability_config *o = &l.config->observability;
	CU_ASSERT(o->logfire.enabled && o->logfire.send && !o->logfire.console);
	CU_ASSERT(same(o->logfire.endpoint, "http://l") && same(o->logfire.token, "t1"));
	CU_ASSERT(same(o->logfire.service_name, "agentgraph-api"));
	CU_ASSERT(o->langsmith.enabled && same(o->langsmith.token, "t2"));
	CU_ASSERT(same(o->langsmith.project, "p"));
	CU_ASSERT(same(o->langsmith.endpoint, "https://api.smith.langchain.com/otel"));
	fixture_end(&l);
}

static void exporters_without_token(void)
{
	struct load l = fixture_load_with(
	    ", \"observability\": {\"logfire\": {\"console\": true}, \"langsmith\": {}}");
	CU_ASSERT_PTR_NOT_NULL_FATAL(l.config);
	const struct observability_config *o = &l.config->observability;
	CU_ASSERT(o->logfire.enabled && !o->logfire.send && !o->langsmith.enabled);
	CU_ASSERT(fixture_has_warning(&l, "LOGFIRE_TOKEN"));
	CU_ASSERT(fixture_has_warning(&l, "LANGSMITH_API_KEY"));
	fixture_end(&l);
	l = fixture_load_with(", \"observability\": {\"logfire\": {\"enabled\": false}}");
	CU_ASSERT(l.config && !l.config->observability.logfire.enabled);
	CU_ASSERT_EQUAL(l.problems.count, 1); /* that authentication is off */
	fixture_end(&l);
}

static void splitting(void)
{
	char *module, *attribute;
	CU_ASSERT_FATAL(import_split("a:b:c", &module, &attribute));
	CU_ASSERT_STRING_EQUAL(module, "a:b");
	CU_ASSERT_STRING_EQUAL(attribute, "c");
	free(module);
	free(attribute);
	CU_ASSERT_FALSE(import_split("abc", &module, &attribute));
	CU_ASSERT_FALSE(import_split(":a", &module, &attribute));
	CU_ASSERT_FALSE(import_split("a:", &module, &attribute));
	CU_ASSERT_FALSE(import_split("", &module, &attribute));
}

static const struct unit_test tests[] = {
    {"agent is required and an import path", agent_is_required},
    {"absent keys have their defaults", defaults},
    {"unknown keys and keys without effect are ignored", unknown_keys},
    {"but unknown ones are told", unknown_keys_are_told},
    {"import paths have two parts", import_paths},
    {"auth is null, jwt or a custom object", auth_values},
    {"without authorization MODE decides", authorization_by_mode},
    {"an authorization name is known or refused", authorization_names},
    {"an RBAC block is taken over in one form", rbac_block},
    {"an RBAC block has defaults and falls back to owner", rbac_defaults},
    {"a mistake in an RBAC block is refused", rbac_mistakes},
    {"ownership without a shared cache is warned about", owner_cache_warning},
    {"the variable names the database before the file",
	the_variable_names_the_database_before_the_file},
    {"variables in cache are expanded", cache_expansion},
    {"reports of evaluations may be off", evals_may_be_off},
    {"no message shows a URL", secrets_stay_hidden},
    {"the websocket block is checked", websocket_block},
    {"the blocks ag_ui, openai, mcp and runs are checked", small_blocks},
    {"webhooks need addresses and a secret", webhooks_need_addresses_and_a_secret},
    {"the observability block is checked", observability_block},
    {"exporters take their tokens from the environment", exporters},
    {"an exporter without a token stays off", exporters_without_token},
    {"the last colon splits an import path", splitting},
};

int main(void)
{
	fixture_init();
	return unit_main("config_keys", tests, UNIT_COUNT(tests));
}
