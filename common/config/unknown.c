/* SPDX-License-Identifier: ISC */
/* Keys that nobody reads (agentgraph.json(5): they are ignored): more often a slip than a wish.
 * Those that begin with $ are for people and editors. */
#include "base/json.h"
#include "config/keys.h"

#include <string.h>

struct object_keys {
	const char *path;
	const char *const *keys; /* ends with NULL */
};

#define KEYS(...)                 \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

static const struct object_keys known[] = {
    {"",
	KEYS("agent", "env", "auth", "authorization", "injectq", "store", "embeddings",
	    "checkpointer", "thread_name_generator", "cache", "redis", "remote_tools", "rate_limit",
	    "websocket", "ag_ui", "observability", "runs", "threads", "retention", "test",
	    "evaluation")},
    {"auth", KEYS("method", "path")},
    {"authorization",
	KEYS("backend", "type", "roles", "role_scopes", "default_scopes", "isolation")},
    {"embeddings", KEYS("provider", "model", "base_url", "dimensions", "api_key_env")},
    {"rate_limit",
	KEYS("enabled", "backend", "requests", "window", "by", "ipv6_prefix", "exclude_paths",
	    "cache", "redis", "fail_open", "trusted_proxy_headers", "trusted_proxy_hops",
	    "trusted_proxies")},
    {"websocket",
	KEYS("max_connections", "max_connections_per_user", "realtime_models", "bearer_protocols")},
    {"ag_ui", KEYS("enabled", "allow_client_tools")},
    {"observability", KEYS("level", "logfire", "langsmith")},
    {"threads", KEYS("max_bytes")},
    {"runs", KEYS("wait_timeout", "message_resumes")},
    {"retention", KEYS("threads_days", "files_days")},
    {"evaluation",
	KEYS("directory", "output_dir", "threshold", "parallel", "max_concurrency", "serve")},
};

static bool unknown_is_one_of(const char *key, const char *const *keys)
{
	while (*keys && strcmp(*keys, key) != 0)
		keys++;
	return *keys;
}

static void warn(const struct section *root, const struct object_keys *known_keys)
{
	const char *path = known_keys->path;
	const cJSON *object = *path ? json_get(root->object, path) : root->object, *member;
	if (!cJSON_IsObject(object))
		return;
	cJSON_ArrayForEach(member, object) {
		if (member->string[0] != '$' &&
		    !unknown_is_one_of(member->string, known_keys->keys))
			problems_warn(root->problems, "%s: %s%s%s: unknown key, ignored",
			    root->file, path, *path ? "." : "", member->string);
	}
}

void unknown_keys_warn(const struct section *root)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		warn(root, &known[i]);
}
