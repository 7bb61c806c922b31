/* SPDX-License-Identifier: ISC */
/*
 * The keys of the configuration file (agentgraph.json(5)), one function for each part of it.  Each
 * fills its members of config, whose environment is read already, and reports every mistake.
 */
#ifndef AGENTGRAPH_CONFIG_KEYS_H
#define AGENTGRAPH_CONFIG_KEYS_H

#include "config/config.h"
#include "config/section.h"

/* All keys but `env`, which decides about the environment and comes first, and `database`. */
void keys_read(const struct section *root, struct config *config);
void database_read(const struct section *root, struct config *config);
void keys_release(struct config *config);

/* The rows of the objects that have a function of their own. */
extern const struct field_row authorization_rows[], embeddings_rows[], observability_rows[],
    rate_limit_rows[];

/* `authorization` (doc/protocol-access.md#who-reaches-what). */
void authorization_read(const struct section *root, struct config *config);

/* `embeddings`: where the vectors of memories come from. */
void embeddings_read(const struct section *root, struct config *config);

/* `observability` (agentgraph.json(5)). */
void observability_read(const struct section *root, struct config *config);
void observability_release(struct observability_config *observability);

/* `rate_limit` (doc/protocol-access.md#rate-limit); reads config->cache. */
void rate_limit_read(const struct section *root, struct config *config);

/* `a2a.skills` (doc/protocol-a2a.md#the-card), which was read: says what is wrong in it. */
void a2a_skills_check(const struct section *root, struct config *config);

/* `remote_tools` (agentgraph.json(5), doc/protocol-runs.md#tools-at-the-client). */
void remote_tools_read(const struct section *root, struct config *config);
void remote_tools_release(struct config *config);

#endif
