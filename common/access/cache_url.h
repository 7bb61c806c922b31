/* SPDX-License-Identifier: ISC */
/* Where a shared cache is, by its URL. */
#ifndef AGENTGRAPH_ACCESS_CACHE_URL_H
#define AGENTGRAPH_ACCESS_CACHE_URL_H

#include <stdbool.h>

struct cache_url {
	char *host; /* NULL: path is a socket's */
	char *path;
	int port;
	char *user; /* NULL: none, or with a password the server's default one */
	char *password;
	int database;
};

/*
 * Reads redis://[[user]:password@]host[:port][/database] or unix:///path.  NULL when it is one;
 * else what was expected, a sentence part without any of the text, which may hold a password.
 */
const char *cache_url_parse(struct cache_url *url, const char *text);
void cache_url_release(struct cache_url *url);

#endif
