/* SPDX-License-Identifier: ISC */
/*
 * The environment variables (agentgraph.json(5)) as one struct.
 *
 * An empty variable counts as unset, but for those that mean something by it: the texts of the
 * security headers, DOCS_PATH and REDOCS_PATH.  A wrong value is reported and its default used, so
 * that after environment_read every member has a value that can be worked with.
 */
#ifndef AGENTGRAPH_CONFIG_ENVIRONMENT_ENVIRONMENT_H
#define AGENTGRAPH_CONFIG_ENVIRONMENT_ENVIRONMENT_H

#include "base/buf.h"
#include "base/problems.h"
#include "config/config.h"

/* Fills env, which is all-zero, by the table of variables and the rules between them. */
void environment_read(struct environment *env, struct problems *problems);

/* Checks the settings that `auth` "jwt" needs (doc/protocol-access.md#tokens). */
void environment_check_jwt(const struct environment *env, struct problems *problems);

/* Checks the secret that `runs.webhooks` needs if it names addresses (agentgraph.json(5)). */
void environment_check_webhooks(const struct environment *env, struct problems *problems);

/* Checks that no page has the path of `langgraph`; to be called when that is on. */
void environment_check_langgraph(const struct environment *env, struct problems *problems);

void environment_release(struct environment *env);

/* The i-th of the names of all variables, other names included; NULL behind the last. */
const char *environment_name(size_t i);

/* The variable's value; NULL when it is unset or empty. */
const char *environment_text(const char *name);

/*
 * Appends the value of Strict-Transport-Security; nothing when none is sent.  It holds for the
 * whole host, so a service below a path of somebody's site (below, or a ROOT_PATH) has none unless
 * a variable asks for it, and says nothing of subdomains unless the variable for that does.
 */
void environment_hsts(const struct environment *env, bool below, struct buf *out);

/* The first half of environment_read: each variable by itself (environment.c). */
void environment_fill(struct environment *env, struct problems *problems);

#endif
