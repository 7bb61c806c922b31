/* SPDX-License-Identifier: ISC */
/*
 * Where memories are kept (doc/protocol-store.md#memories): in the built-in store, which has an
 * embedder for its vectors, or by a plug-in.  memory_calls.h has the operations on them.
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
 * Makes what config->store asks for; NULL when it asks for none, or with a problem added.  config
 * must live as long.  Opens nothing yet.
 */
struct memories *memories_new(const struct config *config, struct problems *problems);
void memories_free(struct memories *m); /* NULL is fine */

/* Says in which storage the built-in store is; to be called before anything else.  storage must
 * outlive m. */
void memories_attach(struct memories *m, struct storage *storage);

/* Opens the built-in store now, and embeds memories that still wait for a vector in the background;
 * false with err set.  NULL is fine. */
bool memories_open(struct memories *m, struct error *err);

/* Opens the built-in store, and adds a warning about vectors of another model; false with err
 * set. */
bool memories_check(struct memories *m, struct problems *problems, struct error *err);

/* The model that makes the store's vectors now, and all that have made some. */
struct embed_report {
	const char *model; /* the configured model */
	int64_t dimension;
	struct memory_census census;
};

/* Fills in the report, for the command line; only for the built-in store.  Texts live in the
 * arena. */
bool memories_report(
    struct memories *m, struct arena *a, struct embed_report *report, struct error *err);

/* Gives every memory a vector of the configured model.  progress, which may be NULL, is told how
 * many were given one so far. */
bool memories_embed_all(
    struct memories *m, void (*progress)(int64_t done), int64_t *done, struct error *err);

/* The plug-in, or NULL where the built-in store is used. */
struct memory_plugin *memories_plugin(struct memories *m);

/* The built-in store, opened on first use, or NULL with err set; and its embedder. */
struct memory_set *memories_store(struct memories *m, struct error *err);
struct embedding *memories_embedding(struct memories *m);

#endif
