/* SPDX-License-Identifier: ISC */
/*
 * What a prefix of the service's paths means for nginx.  The service's own routes do not change, as
 * nginx takes the prefix off.  Names that must be unique in a server block are made from the
 * prefix, so that several instances can stand in one.
 */
#ifndef AGENTGRAPH_CLI_NGINX_NGINX_PREFIX_H
#define AGENTGRAPH_CLI_NGINX_NGINX_PREFIX_H

#include "base/arena.h"
#include "base/problems.h"

struct nginx_prefix {
	const char *path;  /* "/prefix", or "" */
	const char *regex; /* the same as part of a regular expression */
	const char *uri;   /* the variable with the request's URI, without the prefix */
	const char *id;    /* ends names; differs between any two prefixes */
	const char *strip; /* directives of the server block that set uri, and take in the rest */
	const char *slash; /* directives of the location of errors, for path alone */
	const char *whole; /* begins lines that are only for an instance that has a server's root */
};

/* Whether nginx_prefix_read will take path from the command line; complains when not. */
bool nginx_prefix_option(const char *path);

/* Reads path, where "/" and "" are none; texts are the arena's.  False after adding to problems
 * what is wrong with it. */
bool nginx_prefix_read(
    struct nginx_prefix *prefix, struct arena *a, const char *path, struct problems *problems);

#endif
