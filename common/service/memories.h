/*
 * Memories (SPEC 2.7, 4.13; WIRE 4.13): the routes under /v1/store, over the built-in store or a
 * plug-in.
 *
 * The built-in store is opened when it is first needed, so a process that never asks for a memory
 * pays nothing for it.
 */
#ifndef AGENTGRAPH_SERVICE_MEMORIES_H
#define AGENTGRAPH_SERVICE_MEMORIES_H

#include "service/service.h"

struct memories;

/*
 * What config->store asks for; NULL when it asks for none, or with a problem added.  config must
 * live as long.  Nothing is opened yet.
 */
struct memories *memories_new(const struct config *config, struct problems *problems);
void memories_free(struct memories *m); /* NULL is fine */

/* The memory that the processes of the instance share, before the first call. */
void memories_attach(struct memories *m, struct shared *shared);

/* Opens the built-in store now, and embeds in the background what still waits for it; false with
 * err set.  NULL is fine. */
bool memories_open(struct memories *m, struct error *err);

/* Opens the built-in store and warns of vectors that another model has made; false with err set. */
bool memories_check(struct memories *m, struct problems *problems, struct error *err);

/* What the store's vectors are made with, and everything that others were made with. */
struct embed_report {
	const char *model; /* of the configuration */
	int64_t dimension, memories;
	const struct store_model *models;
	size_t model_count;
};

/* For the command line: only of the built-in store.  Texts live in the arena. */
bool memories_report(
    struct memories *m, struct arena *a, struct embed_report *report, struct error *err);

/* Gives every memory a vector of the configured model; progress, which may be NULL, hears of how
 * many have one since the call began. */
bool memories_embed_all(
    struct memories *m, void (*progress)(int64_t done), int64_t *done, struct error *err);

/* The routes; each returns the data of its own. */
cJSON *memory_store(struct call *call, const cJSON *body);
cJSON *memory_search(struct call *call, const cJSON *body);
cJSON *memory_list(struct call *call, const cJSON *body);
cJSON *memory_read(struct call *call, const char *memory_id, const cJSON *body);
cJSON *memory_update(struct call *call, const char *memory_id, const cJSON *body);
cJSON *memory_remove(struct call *call, const char *memory_id, const cJSON *body);
cJSON *memory_forget(struct call *call, const cJSON *body);

/* Refuses where no store is configured, before anything else is looked at (WIRE 1.4 step 8). */
bool memory_configured(struct call *call);

#endif
