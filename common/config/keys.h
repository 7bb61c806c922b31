/* SPDX-License-Identifier: ISC */
/*
 * The keys of the configuration file (agentgraph.json(5)), one function for each part of it.  Each
 * fills its members of config, whose environment is read already, and reports every mistake.
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

/* `authorization` (doc/protocol-access.md#who-reaches-what). */
void authorization_read(const struct section *root, struct config *config);

/* `embeddings`: where the vectors of memories come from. */
void embeddings_read(const struct section *root, struct config *config);
void embeddings_release(struct embeddings_config *embeddings);

/* `observability` (agentgraph.json(5)). */
void observability_read(const struct section *root, struct config *config);
void observability_release(struct observability_config *observability);

/* `rate_limit` (doc/protocol-access.md#rate-limit); reads config->cache. */
void rate_limit_read(const struct section *root, struct config *config);
void rate_limit_release(struct rate_limit_config *rate_limit);

/* `remote_tools` (agentgraph.json(5), doc/protocol-runs.md#tools-at-the-client). */
void remote_tools_read(const struct section *root, struct config *config);
void remote_tools_release(struct config *config);

/*
 * A string of the file whose variables are expanded (agentgraph.json(5)), malloc'd.  NULL when
 * value is NULL or what came out is empty or no string, which is reported under key.
 */
char *expanded_read(
    const struct section *s, const char *key, const cJSON *value, const char *expected);

#endif
