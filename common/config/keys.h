/*
 * The keys of the configuration file (SPEC 2.11), one function for each part of it.  Each fills its
 * members of config, whose environment is read already, and reports every mistake.
 */
#ifndef AGENTGRAPH_CONFIG_KEYS_H
#define AGENTGRAPH_CONFIG_KEYS_H

#include "config/config.h"
#include "config/fields.h"

/* All keys but `env`, which decides about the environment and comes first. */
void keys_read(const struct section *root, struct config *config);
void keys_release(struct config *config);

/* Warns of each key that nobody reads. */
void unknown_keys_warn(const struct section *root);

/* `authorization` (SPEC 5.5, WIRE 5.5). */
void authorization_read(const struct section *root, struct config *config);

/* `embeddings`: where the vectors of memories come from. */
void embeddings_read(const struct section *root, struct config *config);
void embeddings_release(struct embeddings_config *embeddings);

/* `observability` (WIRE 2.11). */
void observability_read(const struct section *root, struct config *config);
void observability_release(struct observability_config *observability);

/* `rate_limit` (SPEC 8); reads config->cache. */
void rate_limit_read(const struct section *root, struct config *config);
void rate_limit_release(struct rate_limit_config *rate_limit);

/* `remote_tools` (SPEC 2.11, WIRE 3.4). */
void remote_tools_read(const struct section *root, struct config *config);
void remote_tools_release(struct config *config);

/*
 * A string of the file whose variables are expanded (WIRE 2.11), malloc'd.  NULL when value is NULL
 * or what came out is empty or no string, which is reported under key.
 */
char *expanded_read(
    const struct section *s, const char *key, const cJSON *value, const char *expected);

#endif
