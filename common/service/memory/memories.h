/* SPDX-License-Identifier: ISC */
/*
 * What keeps the memories (doc/protocol-store.md#memories): the built-in store and the maker of its
 * vectors, or a plug-in.  memory_calls.h has what can be asked of it.
 *
 * The built-in store is opened when it is first needed, so a process that never asks for a memory
 * pays nothing for it.
 */
#ifndef AGENTGRAPH_SERVICE_MEMORY_MEMORIES_H
#define AGENTGRAPH_SERVICE_MEMORY_MEMORIES_H

#include "service/memory/memory_embed.h"
#include "service/memory/memory_plugin.h"

struct memories;

/*
 * What config->store asks for; NULL when it asks for none, or with a problem added.  config must
 * live as long.  Nothing is opened yet.
 */
struct memories *memories_new(const struct config *config, struct problems *problems);
void memories_free(struct memories *m); /* NULL is fine */

/* Where the built-in store is kept, before the first call; it outlives m. */
void memories_attach(struct memories *m, struct storage *storage);

/* Opens the built-in store now, and embeds in the background what still waits for it; false with
 * err set.  NULL is fine. */
bool memories_open(struct memories *m, struct error *err);

/* Opens the built-in store and warns of vectors that another model has made; false with err set. */
bool memories_check(struct memories *m, struct problems *problems, struct error *err);

/* What the store's vectors are made with, and everything that others were made with. */
struct embed_report {
	const char *model; /* of the configuration */
	int64_t dimension, memories;
	const struct memory_model *models;
	size_t model_count;
};

/* For the command line: only of the built-in store.  Texts live in the arena. */
bool memories_report(
    struct memories *m, struct arena *a, struct embed_report *report, struct error *err);

/* Gives every memory a vector of the configured model; progress, which may be NULL, hears of how
 * many have one since the call began. */
bool memories_embed_all(
    struct memories *m, void (*progress)(int64_t done), int64_t *done, struct error *err);

/* The plug-in, or NULL where the built-in store is used. */
struct memory_plugin *memories_plugin(struct memories *m);

/* The built-in store, opened on first use, or NULL with err set; and what makes its vectors. */
struct memory_set *memories_store(struct memories *m, struct error *err);
struct embedding *memories_embedding(struct memories *m);

#endif
