/* SPDX-License-Identifier: ISC */
/*
 * The configuration of nginx, made from templates (nginx-conf/) and the service's configuration:
 * the snippet for an existing server block, or all that a private nginx needs.  Sizes, security
 * headers and CORS headers are filled in, so that what nginx answers by itself looks like the
 * service's own answers (doc/protocol.md, doc/protocol-errors.md).
 */
#ifndef AGENTGRAPH_CLI_NGINX_NGINX_CONF_H
#define AGENTGRAPH_CLI_NGINX_NGINX_CONF_H

#include "base/buf.h"
#include "base/problems.h"
#include "config/config.h"

struct nginx_place {
	const char *socket; /* as given to --socket; NULL: in the state directory */
	const char *listen; /* numeric HOST:PORT of a private nginx; NULL: the snippet alone */
	const char *prefix; /* the service's paths are below it; NULL: at the root */
	long drain;         /* seconds that open requests have when it stops */
};

/* The malloc'd text, or NULL after adding to problems what nginx cannot be told. */
char *nginx_conf(
    const struct config *config, const struct nginx_place *place, struct problems *problems);

/* ---- markers.c: texts with @NAME@ markers */

struct marker {
	const char *name;
	const char *text;
};

/*
 * Appends text with its markers replaced; values ends with a row without a name.  A marker alone on
 * its line stands for any number of lines, which get the line's indentation; without text the line
 * goes.  A name that values lacks is a mistake in the program and ends it.
 */
void markers_fill(struct buf *out, const char *text, const struct marker *values);

#endif
