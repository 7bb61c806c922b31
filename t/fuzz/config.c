/* SPDX-License-Identifier: ISC */
/*
 * The keys of agentgraph.json: whatever the object, the result is problems with a text, or a
 * complete configuration.  The file itself is left out, and `env`, which reads other files.
 */
#include "base/json/json.h"
#include "config/environment/environment.h"
#include "config/keys.h"
#include "config/words.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

static void check_problems(const struct problems *problems)
{
	for (size_t i = 0; i < problems->count; i++) {
		const char *text = problems->items[i].text;
		require(text[0] && utf8_valid(text, strlen(text)));
	}
}

static void check_config(const struct config *config)
{
	char *module, *attribute;
	require(import_split(config->agent, &module, &attribute));
	free(module);
	free(attribute);
	require((config->auth == AUTH_CUSTOM) == (config->auth_path != NULL));
	require((config->authorization == AUTHZ_CUSTOM) == (config->authorization_path != NULL));
	require((config->authorization == AUTHZ_RBAC) == (config->rbac != NULL));
	require(config->rate_limit.backend != RATE_CACHE || !config->rate_limit.present ||
	    config->rate_limit.cache_url);
	require(config->run_wait_timeout >= 0 && config->websocket.max_connections >= 0);
}

static void load(const cJSON *object)
{
	struct problems problems = {0};
	struct config *config = calloc(1, sizeof(*config));
	struct section root = {&problems, "agentgraph.json", "", object};
	environment_read(&config->env, &problems);
	keys_read(&root, config);
	check_problems(&problems);
	if (problems.errors == 0)
		check_config(config);
	config_free(config);
	problems_release(&problems);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char secret[] = "JWT_SECRET_KEY=0123456789abcdef0123456789abcdef";
	static char algorithm[] = "JWT_ALGORITHM=HS256";
	static char host[] = "HOST=cache.example";
	clearenv();
	putenv(secret);
	putenv(algorithm);
	putenv(host);
	cJSON *root = json_parse((const char *)data, size, JSON_REQUEST_DEPTH, NULL);
	if (cJSON_IsObject(root))
		load(root);
	cJSON_Delete(root);
	return 0;
}
