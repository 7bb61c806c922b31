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

/* The settings that `auth` "jwt" needs (doc/protocol-access.md#tokens). */
void environment_check_jwt(const struct environment *env, struct problems *problems);

/* The one that a list of addresses in `runs.webhooks` needs (agentgraph.json(5)). */
void environment_check_webhooks(const struct environment *env, struct problems *problems);

/* The paths of pages, where `langgraph` has one of its own. */
void environment_check_langgraph(const struct environment *env, struct problems *problems);

void environment_release(struct environment *env);

/* The names of all variables and their other names, from 0 on; NULL behind the last. */
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
