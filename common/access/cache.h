/* SPDX-License-Identifier: ISC */
/*
 * A shared cache: a Redis server that the processes, and several machines, have in common.
 *
 * It is never needed.  Every call ends within CACHE_PATIENCE_MS, and after one that the server did
 * not answer the next ones fail at once for a while, so that a dead or slow server costs little.
 * All threads of a process use one struct cache, over a few connections.
 */
#ifndef AGENTGRAPH_ACCESS_CACHE_H
#define AGENTGRAPH_ACCESS_CACHE_H

#include "base/problems.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

struct cache_url {
	char *host; /* NULL: path is that of a socket */
	char *path;
	int port;
	char *user; /* NULL: none, or, with a password, the server's default user */
	char *password;
	int database;
};

/*
 * Reads redis://[[user]:password@]host[:port][/database] or unix:///path/to/socket.  NULL when it
 * is one; else what was expected, a sentence part without any of the text, which may hold a
 * password.
 */
const char *cache_url_parse(struct cache_url *url, const char *text);
void cache_url_release(struct cache_url *url);

#define CACHE_PATIENCE_MS 400 /* of a call, connecting included */
#define CACHE_RETRY_MS 1000   /* after a failure */

struct cache;

/* A cache at that URL, not connected yet; place is what names it, for messages.  NULL with a
 * problem for a URL that is none. */
struct cache *cache_new(const char *url, const char *place, struct problems *problems);
void cache_free(struct cache *cache); /* NULL is fine */

/* Whether the server answers; else *why says why not, and is valid until the cache is freed. */
bool cache_ping(struct cache *cache, const char **why);

/* Host and port, or the path of the socket: for messages. */
const char *cache_name(const struct cache *cache);

/* Each returns false when the server did not do it.
 * *value is malloc'd, NULL when there is none. */
bool cache_get(struct cache *cache, const char *key, char **value);
bool cache_set(struct cache *cache, const char *key, const char *value);
bool cache_delete(struct cache *cache, const char *key);

/* A script of the server's (Lua), which takes one key and two numbers and answers three. */
struct cache_script {
	const char *text;
	char name[41]; /* by which the server knows it */
};

/* text must live as long as the script. */
void cache_script_init(struct cache_script *script, const char *text);

#define SCRIPT_ARGS 2
#define SCRIPT_ANSWERS 3

/* Runs the script as one step of the server.  Ends within patience_ms instead of
 * CACHE_PATIENCE_MS. */
bool cache_run(struct cache *cache, const struct cache_script *script, const char *key,
    const int64_t args[SCRIPT_ARGS], int64_t answers[SCRIPT_ANSWERS], int64_t patience_ms);

/* ---- resolve.c: host names to addresses, within a time, because the system's resolver knows
 * none. */

#define RESOLVE_SIZE INET6_ADDRSTRLEN

/*
 * Writes the first address of host, as text; an address stands for itself.  NULL when it was found
 * before deadline_ms (clock_monotonic_ms), else why not.  A lookup that took too long goes on by
 * itself until the resolver gives up; a few of them at most, then the next one fails at once.
 */
const char *resolve(const char *host, int64_t deadline_ms, char address[RESOLVE_SIZE]);

#endif
