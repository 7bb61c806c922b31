/* SPDX-License-Identifier: ISC */
/* An authentication that a plug-in brings: struct ag_auth of agentgraph.h
 * (doc/protocol-access.md#plug-ins). */
#ifndef AGENTGRAPH_ACCESS_CUSTOM_AUTH_H
#define AGENTGRAPH_ACCESS_CUSTOM_AUTH_H

#include "access/access.h"
#include "config/plugin.h"

struct custom_auth {
	struct plugin plugin;
	void *data; /* the plug-in's own */
};

/* Loads and opens what config names; false with a problem added and nothing to close. */
bool custom_auth_open(
    struct custom_auth *auth, const struct config *config, struct problems *problems);
void custom_auth_close(struct custom_auth *auth); /* all-zero is fine */

/* Asks the plug-in.  A user without a user_id that can be one is anonymous: identity->user_id is
 * NULL then. */
bool custom_auth_check(const struct custom_auth *auth, const struct presented *presented,
    struct arena *a, struct identity *identity, struct error *err);

#endif
