/* SPDX-License-Identifier: ISC */
/* The address of an error tracker: scheme://key@host[:port][/path]/project. */
#ifndef AGENTGRAPH_CONFIG_ENVIRONMENT_DSN_H
#define AGENTGRAPH_CONFIG_ENVIRONMENT_DSN_H

#include <stdbool.h>

struct dsn {
	char *url; /* where envelopes go */
	char *key; /* the public one */
};

/*
 * Reads an address strictly: http or https, a key of letters and digits, a host, a project of
 * digits. A secret behind the key, which old addresses have, is accepted and not used.  False when
 * it is no such address; there is nothing to release then.
 */
bool dsn_parse(const char *text, struct dsn *dsn);
void dsn_release(struct dsn *dsn);

#endif
