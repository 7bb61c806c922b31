/* SPDX-License-Identifier: ISC */
/* Blocks of memory that pieces are cut from, and the list of clean-up calls. */
#include "base/arena.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A first block of this size holds most requests whole. */
#define FIRST_BLOCK 4096
#define NEXT_BLOCK 16384

struct block {
	struct block *older;
	size_t used, size; /* of data */
	alignas(max_align_t) char data[];
};

struct deferred {
	struct deferred *older;
	void (*fn)(void *arg);
	void *arg;
};

struct arena {
	struct block *block; /* the one being filled, then the older ones */
	struct deferred *deferred;
};

static struct block *block_new(size_t size, struct block *older)
{
	struct block *b = xmalloc(sizeof(*b) + size);
	b->older = older;
	b->used = 0;
	b->size = size;
	return b;
}

static size_t arena_aligned(size_t size)
{
	size_t mask = alignof(max_align_t) - 1;
	return (size + mask) & ~mask;
}

/* The arena itself lies at the start of its first block, so that a small one is one malloc. */
struct arena *arena_new(void)
{
	struct block *first = block_new(FIRST_BLOCK, NULL);
	struct arena *a = (struct arena *)first->data;
	first->used = arena_aligned(sizeof(*a));
	a->block = first;
	a->deferred = NULL;
	return a;
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	while (a->deferred) { /* a call may defer another one */
		struct deferred *d = a->deferred;
		a->deferred = d->older;
		d->fn(d->arg);
	}
	for (struct block *b = a->block; b;) {
		struct block *older = b->older;
		free(b);
		b = older;
	}
}

static void *arena_alloc_uncleared(struct arena *a, size_t size)
{
	struct block *b = a->block;
	size_t rounded = arena_aligned(size);
	if (rounded < size) /* wrapped round: hopeless, and xmalloc says so */
		return xmalloc(size);
	if (rounded > b->size - b->used && rounded > NEXT_BLOCK / 4) {
		/* large pieces get a block of their own, put behind the current one, whose rest
		 * stays in use */
		struct block *own = block_new(rounded, b->older);
		own->used = rounded;
		b->older = own;
		return own->data;
	}
	if (rounded > b->size - b->used)
		b = a->block = block_new(NEXT_BLOCK, b);
	void *p = b->data + b->used;
	b->used += rounded;
	return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
	return memset(arena_alloc_uncleared(a, size), 0, size);
}

char *arena_strdup(struct arena *a, const char *s)
{
	return s ? arena_strndup(a, s, strlen(s)) : NULL;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	if (!s)
		return NULL;
	size_t len = strnlen(s, n);
	char *copy = arena_alloc_uncleared(a, len + 1);
	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *arena_take(struct arena *a, struct buf *text)
{
	char *copy = arena_strdup(a, buf_str(text));
	buf_release(text);
	return copy;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list args, again;
	va_start(args, fmt);
	va_copy(again, args);
	int len = vsnprintf(NULL, 0, fmt, args);
	size_t size = len < 0 ? 1 : (size_t)len + 1;
	char *text = arena_alloc_uncleared(a, size);
	text[0] = '\0';
	vsnprintf(text, size, fmt, again);
	va_end(again);
	va_end(args);
	return text;
}

static void arena_delete_json(void *root)
{
	cJSON_Delete(root);
}

cJSON *arena_json(struct arena *a, cJSON *root)
{
	if (root)
		arena_defer(a, arena_delete_json, root);
	return root;
}

char *arena_print(struct arena *a, const cJSON *tree)
{
	char *text = json_print(tree);
	arena_defer(a, free, text);
	return text;
}

void arena_defer(struct arena *a, void (*fn)(void *arg), void *arg)
{
	struct deferred *d = arena_alloc_uncleared(a, sizeof(*d));
	d->older = a->deferred;
	d->fn = fn;
	d->arg = arg;
	a->deferred = d;
}
