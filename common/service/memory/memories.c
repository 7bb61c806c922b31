/* SPDX-License-Identifier: ISC */
/* Opening store, embedder or plug-in, and checks and reports over all memories. */
#include "service/memory/memories.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "service/memory/memory_embed.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct memories {
	const struct config *config;
	bool is_plugin;
	struct memory_plugin plugin;
	struct embedding *embedding;
	struct storage *storage;
	pthread_mutex_t opening; /* guards the opening of what follows */
	_Atomic(struct memory_set *) store;
	struct memory_late *late;
};

struct memories *memories_new(const struct config *config, struct problems *problems)
{
	if (!config->store)
		return NULL;
	struct memories *m = xcalloc(1, sizeof(*m));
	m->config = config;
	pthread_mutex_init(&m->opening, NULL);
	m->is_plugin = strcmp(config->store, "builtin:store") != 0;
	if (!m->is_plugin)
		m->embedding = embedding_new(config, problems);
	if (m->is_plugin ? memory_plugin_open(&m->plugin, config, problems) : m->embedding != NULL)
		return m;
	memories_free(m);
	return NULL;
}

void memories_free(struct memories *m)
{
	if (!m)
		return;
	struct memory_set *st = m->store;
	memory_late_free(m->late);
	if (st)
		st->ops->close(st);
	embedding_free(m->embedding);
	memory_plugin_close(&m->plugin);
	pthread_mutex_destroy(&m->opening);
	free(m);
}

void memories_attach(struct memories *m, struct storage *storage)
{
	if (m)
		m->storage = storage;
}

struct memory_plugin *memories_plugin(struct memories *m)
{
	return m->is_plugin ? &m->plugin : NULL;
}

struct embedding *memories_embedding(struct memories *m)
{
	return m->embedding;
}

struct memory_set *memories_store(struct memories *m, struct error *err)
{
	struct memory_set *st = atomic_load(&m->store);
	if (st)
		return st;
	pthread_mutex_lock(&m->opening);
	st = atomic_load(&m->store);
	if (!st) {
		st = m->storage->engine->memories->open(m->storage, NULL,
		    embedding_model(m->embedding), embedding_dimension(m->embedding), err);
		atomic_store(&m->store, st);
	}
	pthread_mutex_unlock(&m->opening);
	return st;
}

#define FOREIGN                                                                         \
	"store: some memories have vectors of another model than %s (%zu dimensions); " \
	"searches by similarity pass them over until `agentgraph embed` has made them anew"

/* Whether there are any; false with err set when that cannot be told. */
static bool memories_look_for_foreign(struct memories *m, bool *foreign, struct error *err)
{
	struct memory_set *st = memories_store(m, err);
	*foreign = false;
	return st && st->ops->has_foreign(st, NULL, foreign, err);
}

bool memories_check(struct memories *m, struct problems *problems, struct error *err)
{
	bool foreign;
	if (m->is_plugin)
		return true;
	if (!memories_look_for_foreign(m, &foreign, err))
		return false;
	if (foreign)
		problems_warn(problems, FOREIGN, embedding_model(m->embedding),
		    embedding_dimension(m->embedding));
	return true;
}

bool memories_open(struct memories *m, struct error *err)
{
	bool foreign;
	if (!m || m->is_plugin)
		return true;
	if (!memories_look_for_foreign(m, &foreign, err))
		return false;
	if (foreign)
		log_warning(
		    FOREIGN, embedding_model(m->embedding), embedding_dimension(m->embedding));
	if (!embedding_is_remote(m->embedding) || m->late)
		return true;
	m->late = memory_late_new(m->config->state_dir, memories_store(m, err), m->embedding, err);
	return m->late != NULL;
}

bool memories_report(
    struct memories *m, struct arena *a, struct embed_report *report, struct error *err)
{
	if (m->is_plugin)
		return error_set(
		    err, ERR_STORAGE, "the store is a plug-in, which sees to its vectors itself");
	struct memory_set *st = memories_store(m, err);
	*report = (struct embed_report){
	    .model = embedding_model(m->embedding),
	    .dimension = (int64_t)embedding_dimension(m->embedding),
	};
	return st && st->ops->census(st, NULL, a, &report->census, err);
}

bool memories_embed_all(
    struct memories *m, void (*progress)(int64_t done), int64_t *done, struct error *err)
{
	struct memory_round round = {.store = memories_store(m, err),
	    .embedding = m->embedding,
	    .all = true,
	    .most = MEMORY_BATCH};
	int64_t before = -1;
	bool ok = round.store;
	while (ok && round.after != before) {
		before = round.after;
		ok = memory_late_batch(&round, err);
		if (ok && progress)
			progress(round.done);
	}
	*done = round.done;
	return ok;
}
