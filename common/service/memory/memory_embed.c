/* SPDX-License-Identifier: ISC */
/* Asking for vectors after looking for known ones, and the pause after a failure. */
#include "service/memory/memory_embed.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "base/utf8.h"
#include "model/embed/embed.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Most bytes of a text that are sent to a service; most services refuse more. */
#define TEXT_MAX 24000

#define PATIENCE_MS 10000 /* how long a request waits for a vector */
#define REST_MS 15000     /* how long a service that failed is left alone */
#define BATCH_MS 120000   /* the same for many vectors at once */
#define HASH_SIZE 32      /* of SHA-256 */
#define QUERIES 64        /* how many queries have their vectors kept */

struct kept_query {
	unsigned char hash[HASH_SIZE];
	float *numbers; /* NULL: free */
};

struct embedding {
	char *name;
	size_t dimension;
	struct embedder *remote; /* NULL: the one that is built in */
	_Atomic int64_t rests_until;
	pthread_mutex_t lock; /* guards what follows */
	struct kept_query kept[QUERIES];
	size_t next;
};

/* ---- its life ---- */

struct embedding *embedding_new(const struct config *config, struct problems *problems)
{
	const struct embeddings_config *c = &config->embeddings;
	const struct embed_target target = {
	    .base_url = c->base_url,
	    .model = c->model,
	    .dimensions = (size_t)c->dimensions,
	    .ask_dimensions = c->ask_dimensions,
	    .api_key_env = c->api_key_env,
	    .retries = 1,
	};
	bool local = c->provider == EMBEDDINGS_LOCAL;
	char *problem = NULL;
	struct embedder *remote = local ? NULL : embedder_new(&target, &problem);
	if (!local && !remote)
		problems_add(problems, "%s: embeddings: %s",
		    config->path ? config->path : "agentgraph.json",
		    problem ? problem : "cannot be used");
	free(problem);
	if (!local && !remote)
		return NULL;
	struct embedding *e = xcalloc(1, sizeof(*e));
	pthread_mutex_init(&e->lock, NULL);
	e->remote = remote;
	e->name = local ? xstrdup(LOCAL_EMBED_NAME) : xasprintf("openai:%s", c->model);
	e->dimension = local ? LOCAL_EMBED_DIMENSIONS : embedder_dimensions(remote);
	return e;
}

void embedding_free(struct embedding *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < QUERIES; i++)
		free(e->kept[i].numbers);
	embedder_free(e->remote);
	pthread_mutex_destroy(&e->lock);
	free(e->name);
	free(e);
}

const char *embedding_model(const struct embedding *e)
{
	return e->name;
}

size_t embedding_dimension(const struct embedding *e)
{
	return e->dimension;
}

bool embedding_is_remote(const struct embedding *e)
{
	return e->remote != NULL;
}

bool embedding_probe(const struct embedding *e, int64_t deadline_ms, struct error *err)
{
	const char *texts[] = {"a word"};
	float *numbers = xcalloc(e->dimension, sizeof(*numbers));
	const struct embed_wait wait = {.deadline_ms = deadline_ms};
	bool ok = !e->remote || embed_texts(e->remote, texts, 1, numbers, &wait, NULL, err);
	free(numbers);
	return ok;
}

void embedded_release(struct embedded *v)
{
	free(v->numbers);
	free(v->hash);
}

/* ---- one text ---- */

static void memory_embed_hash(const char *text, unsigned char hash[HASH_SIZE])
{
	if (EVP_Digest(text, strlen(text), hash, NULL, EVP_sha256(), NULL) != 1)
		abort();
}

/* A copy of what the service is given of a text. */
static char *memory_embed_shortened(const char *text)
{
	size_t len = strlen(text);
	return xstrndup(text, len > TEXT_MAX ? utf8_cut(text, TEXT_MAX) : len);
}

static bool memory_embed_ask(
    struct embedding *e, const char *text, float *numbers, struct error *err)
{
	if (clock_monotonic_ms() < atomic_load(&e->rests_until)) {
		error_set(err, ERR_STORE_UNAVAILABLE, NULL);
		return error_cause(err, "embeddings: the service failed a moment ago");
	}
	char *copy = memory_embed_shortened(text);
	const char *texts[] = {copy};
	const struct embed_wait wait = {.deadline_ms = clock_monotonic_ms() + PATIENCE_MS};
	bool refused = false;
	bool ok = embed_texts(e->remote, texts, 1, numbers, &wait, &refused, err);
	if (!ok && !refused)
		atomic_store(&e->rests_until, clock_monotonic_ms() + REST_MS);
	free(copy);
	return ok;
}

void embed_content(
    struct embedding *e, struct memory_set *st, const char *content, struct embedded *out)
{
	struct error err = {0}, ignored = {0};
	bool found = false;
	*out = (struct embedded){.numbers = xmalloc(e->dimension * sizeof(float))};
	if (!e->remote) {
		local_embed(content, out->numbers);
		return;
	}
	out->hash = xmalloc(HASH_SIZE);
	memory_embed_hash(content, out->hash);
	st->ops->known_vector(st, NULL, out->hash, out->numbers, &found, &ignored);
	error_release(&ignored);
	if (!found && !memory_embed_ask(e, content, out->numbers, &err)) {
		log_warning("a memory is stored without a vector, which it gets later: %s",
		    error_why(&err));
		free(out->numbers);
		out->numbers = NULL;
	}
	error_release(&err);
}

/* ---- queries ---- */

float *embed_query(struct embedding *e, const char *query, struct error *err)
{
	unsigned char hash[HASH_SIZE];
	float *numbers = xmalloc(e->dimension * sizeof(*numbers));
	if (!e->remote) {
		local_embed(query, numbers);
		return numbers;
	}
	memory_embed_hash(query, hash);
	bool found = false;
	pthread_mutex_lock(&e->lock);
	for (size_t i = 0; !found && i < QUERIES; i++) {
		const struct kept_query *k = &e->kept[i];
		found = k->numbers && memcmp(k->hash, hash, HASH_SIZE) == 0;
		if (found)
			memcpy(numbers, k->numbers, e->dimension * sizeof(*numbers));
	}
	pthread_mutex_unlock(&e->lock);
	if (found)
		return numbers;
	if (!memory_embed_ask(e, query, numbers, err)) {
		free(numbers);
		return NULL;
	}
	pthread_mutex_lock(&e->lock);
	struct kept_query *k = &e->kept[e->next++ % QUERIES];
	if (!k->numbers)
		k->numbers = xmalloc(e->dimension * sizeof(*numbers));
	memcpy(k->hash, hash, HASH_SIZE);
	memcpy(k->numbers, numbers, e->dimension * sizeof(*numbers));
	pthread_mutex_unlock(&e->lock);
	return numbers;
}

/* ---- many ---- */

bool embed_batch(const struct memory_round *round, struct memory_batch *batch, struct error *err)
{
	struct embedding *e = round->embedding;
	batch->vectors = xcalloc(batch->count, e->dimension * sizeof(*batch->vectors));
	if (!e->remote) {
		for (size_t i = 0; i < batch->count; i++)
			local_embed(batch->texts[i].content, batch->vectors + i * e->dimension);
		return true;
	}
	char **copies = xcalloc(batch->count, sizeof(*copies));
	batch->hashes = xcalloc(batch->count, HASH_SIZE);
	for (size_t i = 0; i < batch->count; i++) {
		copies[i] = memory_embed_shortened(batch->texts[i].content);
		memory_embed_hash(batch->texts[i].content, batch->hashes + i * HASH_SIZE);
	}
	const struct embed_wait wait = {
	    .deadline_ms = clock_monotonic_ms() + BATCH_MS, .stop = round->stop, .arg = round->arg};
	bool refused = false;
	bool ok = embed_texts(e->remote, (const char *const *)copies, batch->count, batch->vectors,
	    &wait, &refused, err);
	for (size_t i = 0; i < batch->count; i++)
		free(copies[i]);
	free(copies);
	atomic_store(&e->rests_until, ok || refused ? 0 : clock_monotonic_ms() + REST_MS);
	return ok;
}
