/* SPDX-License-Identifier: ISC */
/* malloc and its relatives, and the line that a process without memory leaves behind. */
#include "base/memory.h"

#include <cjson/cJSON.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes without allocating: stdio might need memory of its own. */
static _Noreturn void memory_exhausted(void)
{
	static const char message[] = "out of memory\n";
	ssize_t ignored = write(STDERR_FILENO, message, sizeof(message) - 1);
	(void)ignored;
	abort();
}

void memory_init(void)
{
	cJSON_Hooks hooks = {.malloc_fn = xmalloc, .free_fn = free};
	cJSON_InitHooks(&hooks);
}

void memory_limit_arenas(int count)
{
	mallopt(M_ARENA_MAX, count);
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	mallopt(M_TRIM_THRESHOLD, 512 << 10);
}

void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);
	if (!p)
		memory_exhausted();
	return p;
}

void *xcalloc(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);
	if (!p)
		memory_exhausted();
	return p;
}

void *xrealloc(void *p, size_t size)
{
	p = realloc(p, size ? size : 1);
	if (!p)
		memory_exhausted();
	return p;
}

void *xgrow(void *items, size_t count, size_t item_size)
{
	bool has_room = (count & (count - 1)) != 0;
	return has_room ? items : xrealloc(items, (count ? 2 * count : 1) * item_size);
}

char *xstrdup(const char *s)
{
	return s ? xstrndup(s, strlen(s)) : NULL;
}

char *xstrndup(const char *s, size_t n)
{
	if (!s)
		return NULL;
	size_t len = strnlen(s, n);
	char *copy = xmalloc(len + 1);
	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *xvasprintf(const char *fmt, va_list args)
{
	char *text = NULL;
	if (vasprintf(&text, fmt ? fmt : "", args) < 0) /* a plug-in's may be NULL */
		memory_exhausted();
	return text;
}

char *xasprintf(const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	char *text = xvasprintf(fmt, args);
	va_end(args);
	return text;
}

void string_replace(char **slot, const char *text)
{
	free(*slot);
	*slot = xstrdup(text);
}

void secret_free(char *secret)
{
	if (secret)
		explicit_bzero(secret, strlen(secret));
	free(secret);
}
