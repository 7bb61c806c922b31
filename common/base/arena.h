/* SPDX-License-Identifier: ISC */
/*
 * Memory that lives as long as one request or one run.
 *
 * Everything allocated here, and every cJSON tree and clean-up call tied to it, goes when the arena
 * is freed; so a function may return early anywhere.  An arena belongs to one thread at a time.
 * Running out of memory ends the process: the pool replaces it.
 */
#ifndef AGENTGRAPH_BASE_ARENA_H
#define AGENTGRAPH_BASE_ARENA_H

#include <cjson/cJSON.h>
#include <stddef.h>

struct arena;
struct buf;

/* A new, empty arena. */
struct arena *arena_new(void);

/* Runs the deferred calls, the latest first, then releases all memory.  NULL is fine. */
void arena_free(struct arena *a);

/* size bytes, zeroed, aligned for any type. */
void *arena_alloc(struct arena *a, size_t size);

/* Copies that live in the arena.  NULL stays NULL. */
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);

/* Copies the text into the arena and releases it. */
char *arena_take(struct arena *a, struct buf *text);

/* printf into the arena. */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Ties root to the arena (cJSON_Delete at its end) and returns it.  NULL is fine. */
cJSON *arena_json(struct arena *a, cJSON *root);

/* The tree as text (json_print), in the arena; the tree stays the caller's. */
char *arena_print(struct arena *a, const cJSON *tree);

/* Calls fn(arg) when the arena is freed. */
void arena_defer(struct arena *a, void (*fn)(void *arg), void *arg);

#endif
