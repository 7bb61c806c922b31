/* SPDX-License-Identifier: ISC */
/*
 * Allocation that never fails: running out of memory prints one line and aborts, and the pool
 * replaces the process.  All memory is malloc's and is given back with free().
 */
#ifndef AGENTGRAPH_BASE_MEMORY_H
#define AGENTGRAPH_BASE_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

/* Makes cJSON allocate in the same way.  Call first in main, before threads. */
void memory_init(void);

/* size bytes, uninitialised; a size of 0 gives a pointer too. */
void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));

/* count × size bytes of zeroes; an overflowing product aborts. */
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));

/* p at its new size, in the place of p; bytes beyond the old size are uninitialised. */
void *xrealloc(void *p, size_t size) __attribute__((returns_nonnull));

/*
 * The items of an array that has count of them, at first NULL, with room for one more; its room
 * doubles, and is known from count alone, so that it may grow by this only.
 */
void *xgrow(void *items, size_t count, size_t item_size);

/* Copies; NULL stays NULL.  xstrndup copies at most n bytes. */
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);

/* Replaces a malloc'd string by a copy of text. */
void string_replace(char **slot, const char *text);

/* Frees a malloc'd text after nothing of it is left in memory: a key, or what holds one.  NULL is
 * fine. */
void secret_free(char *secret);

/* printf into fresh memory. */
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2), returns_nonnull));
char *xvasprintf(const char *fmt, va_list args)
    __attribute__((format(printf, 1, 0), returns_nonnull));

#endif
