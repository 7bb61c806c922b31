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

/* Call it there, too: at most so many arenas for the threads, and large pieces (256 KiB) go back to
 * the system when they are freed. */
void memory_limit_arenas(int count);

/* size bytes, uninitialised; a size of 0 gives a pointer too. */
void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));

/* count × size bytes of zeroes; an overflowing product aborts. */
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));

/* Gives p a new size; bytes beyond the old size are uninitialised.  p may not be used any more. */
void *xrealloc(void *p, size_t size) __attribute__((returns_nonnull));

/*
 * Makes room for one more item in an array that has count of them (NULL at first) and returns it.
 * The room is computed from count alone and doubles, so the array must only grow by this.
 */
void *xgrow(void *items, size_t count, size_t item_size);

/* Copies; NULL stays NULL.  xstrndup copies at most n bytes. */
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);

/* Replaces a malloc'd string by a copy of text. */
void string_replace(char **slot, const char *text);

/* Overwrites and frees a malloc'd text, such as a key.  NULL is fine. */
void secret_free(char *secret);

/* printf into fresh memory. */
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2), returns_nonnull));
char *xvasprintf(const char *fmt, va_list args)
    __attribute__((format(printf, 1, 0), returns_nonnull));

#endif
