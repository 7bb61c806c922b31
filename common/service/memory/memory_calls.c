/* SPDX-License-Identifier: ISC */
/* Storing, reading, changing, listing, searching and forgetting memories. */
#include "service/memory/memory_calls.h"

#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "service/memory/memories.h"
#include "service/memory/memory_plugin.h"
#include "service/memory/memory_request.h"

#include <stdlib.h>

#define TOKEN_CHARACTERS 4

bool memory_configured(struct call *call)
{
	return call->service->memories || error_set(&call->error, ERR_STORE_NOT_CONFIGURED, NULL);
}

/* Whatever is wrong with the database, clients are told that the store is not available. */
static bool memory_calls_unavailable(struct call *call)
{
	struct error *err = &call->error, new = {0};
	if (err->kind != ERR_STORAGE && err->kind != ERR_TRANSIENT_STORAGE &&
	    err->kind != ERR_STORE_UNAVAILABLE)
		return false;
	error_set(&new, ERR_STORE_UNAVAILABLE, NULL);
	error_cause(&new, "%s", error_why(err));
	new.status = err->status;
	error_release(err);
	error_move(err, &new);
	return false;
}

static bool memory_calls_not_found(struct call *call)
{
	return error_set(&call->error, ERR_RESOURCE_NOT_FOUND, "Memory not found");
}

/* A request, and the store that answers it. */
struct work {
	struct call *call;
	struct memory_plugin *plugin; /* NULL: the built-in store does, which is the next two */
	struct memory_set *store;
	struct embedding *embedding;
	struct memory_request rq;
};

static bool memory_calls_begin(struct work *w, struct call *call, const cJSON *body, unsigned parts)
{
	struct memories *memories = call->service->memories;
	*w = (struct work){.call = call};
	if (!memory_configured(call) || !memory_request_read(call, body, parts, &w->rq))
		return false;
	w->plugin = memories_plugin(memories);
	if (w->plugin)
		return true;
	w->embedding = memories_embedding(memories);
	w->store = memories_store(memories, &call->error);
	return w->store != NULL || memory_calls_unavailable(call);
}

/* The same for a memory that is named, wherever it was learnt unless the route is narrowed. */
static bool memory_calls_begin_one(
    struct work *w, struct call *call, const char *memory_id, const cJSON *body, unsigned parts)
{
	if (!memory_configured(call))
		return false;
	bool named = memory_id_check(call, memory_id);
	if (!memory_calls_begin(w, call, body, parts) || !named)
		return false;
	w->rq.memory_id = memory_id;
	if (!(parts & MEMORY_NARROWED))
		w->rq.filter.thread_id = NULL;
	return true;
}

/* ---- answers ---- */

static cJSON *memory_json(const struct memory *m, double score)
{
	char time[ISO_TIME_SIZE];
	cJSON *out = cJSON_CreateObject();
	json_add_str(out, "memory_id", m->memory_id);
	json_add_str(out, "id", m->memory_id);
	json_add_str(out, "content", m->content);
	cJSON_AddItemToObject(out, "score", json_new_double(score));
	json_add_str(out, "memory_type", m->memory_type);
	json_add_str(out, "category", m->category);
	json_add_raw(out, "metadata", m->metadata_json);
	cJSON_AddArrayToObject(out, "vector");
	json_add_str(out, "user_id", m->user_id);
	json_add_str(out, "thread_id", m->thread_id);
	json_add_str(out, "timestamp", clock_iso(m->created_at, time));
	return out;
}

static cJSON *memory_calls_data(struct call *call, const char *key, cJSON *value)
{
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	cJSON_AddItemToObject(data, key, value);
	return data;
}

/* {"success": true, "data": {key: value}} */
static cJSON *memory_calls_done(struct call *call, const char *key, cJSON *value)
{
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	cJSON_AddTrueToObject(data, "success");
	cJSON *inner = cJSON_AddObjectToObject(data, "data");
	cJSON_AddItemToObject(inner, key, value);
	return data;
}

/* Loads hits in their order into an array, as far as limit, threshold and max_tokens let them. */
static cJSON *memory_calls_load(struct work *w, const struct memory_hits *hits, bool scored)
{
	struct call *call = w->call;
	const struct memory_request *rq = &w->rq;
	cJSON *out = arena_json(call->arena, cJSON_CreateArray());
	int64_t room = rq->max_tokens * TOKEN_CHARACTERS, left = rq->limit;
	struct memory m;
	for (size_t i = 0; i < hits->count && left > 0; i++) {
		const struct memory_hit *hit = &hits->items[i];
		if (scored && hit->score < rq->threshold)
			break;
		if (!w->store->ops->load(w->store, &call->ctx, call->arena, &rq->filter, hit->row,
			&m, &call->error)) {
			if (error_is_set(&call->error))
				return NULL;
			continue;
		}
		room -= (int64_t)utf8_characters(m.content);
		if (scored && room < 0 && left < rq->limit)
			break;
		left--;
		cJSON_AddItemToArray(out, memory_json(&m, hit->score));
	}
	return out;
}

/* ---- storing ---- */

static struct memory_links memory_calls_links(struct call *call, const cJSON *metadata)
{
	const cJSON *relations = json_get(metadata, "relations"), *item;
	size_t most = cJSON_IsArray(relations) ? (size_t)cJSON_GetArraySize(relations) : 0;
	const char **ids = arena_alloc(call->arena, (most + 1) * sizeof(*ids));
	struct memory_links links = {json_str(metadata, "entity"), ids, 0};
	cJSON_ArrayForEach(item, relations) {
		if (most && cJSON_IsString(item))
			ids[links.relation_count++] = item->valuestring;
	}
	return links;
}

static const char *memory_calls_printed(struct call *call, cJSON *tree)
{
	char *text = arena_print(call->arena, tree);
	cJSON_Delete(tree);
	return text;
}

static bool memory_calls_put(struct work *w)
{
	struct call *call = w->call;
	const struct memory_request *rq = &w->rq;
	struct embedded embedded;
	const struct memory m = {
	    .memory_id = rq->memory_id,
	    .user_id = rq->owner,
	    .thread_id = rq->filter.thread_id,
	    .memory_type = rq->memory_type,
	    .category = rq->category,
	    .metadata_json =
		memory_calls_printed(call, memory_metadata(rq->metadata, rq->category)),
	    .content = rq->content,
	    .created_at = clock_now(),
	};
	const struct memory_links links = memory_calls_links(call, rq->metadata);
	embed_content(w->embedding, w->store, rq->content, &embedded);
	const struct memory_vector vector = {embedded.numbers, embedded.hash};
	bool ok = w->store->ops->put(w->store, &call->ctx, &m, &links, &vector, &call->error);
	embedded_release(&embedded);
	return ok || memory_calls_unavailable(call);
}

cJSON *memory_store(struct call *call, const cJSON *body)
{
	char id[HEX_ID_SIZE];
	struct work w;
	if (!memory_calls_begin(&w, call, body, MEMORY_CONTENT | MEMORY_KIND))
		return NULL;
	w.rq.memory_id = arena_strdup(call->arena, hex_id(id));
	if (w.store ? !memory_calls_put(&w) : !memory_plugin_put(w.plugin, call, &w.rq))
		return NULL;
	return memory_calls_data(call, "memory_id", cJSON_CreateString(w.rq.memory_id));
}

cJSON *memory_update(struct call *call, const char *memory_id, const cJSON *body)
{
	struct work w;
	const struct memory_request *rq = &w.rq;
	struct embedded embedded;
	bool ok, found = false;
	if (!memory_calls_begin_one(&w, call, memory_id, body, MEMORY_CONTENT))
		return NULL;
	if (!w.store) {
		ok = memory_plugin_update(w.plugin, call, rq);
	} else {
		const struct memory_links links = memory_calls_links(call, rq->metadata);
		embed_content(w.embedding, w.store, rq->content, &embedded);
		const struct memory_vector vector = {embedded.numbers, embedded.hash};
		const struct memory_update update = {.content = rq->content,
		    .vector = &vector,
		    .metadata_json = rq->metadata
			? memory_calls_printed(call, memory_metadata(rq->metadata, NULL))
			: NULL,
		    .links = &links};
		ok = w.store->ops->update(
			 w.store, &call->ctx, &rq->filter, memory_id, &update, &found, &call->error)
		    ? found || memory_calls_not_found(call)
		    : memory_calls_unavailable(call);
		embedded_release(&embedded);
	}
	return ok ? memory_calls_done(call, "memory_id", cJSON_CreateString(memory_id)) : NULL;
}

/* Whether it is there already is seen by changing it; somebody else may store it in between. */
bool memory_set_one(struct call *call, const char *memory_id, const cJSON *body)
{
	struct work w;
	if (memory_update(call, memory_id, body))
		return true;
	if (call->error.kind != ERR_RESOURCE_NOT_FOUND)
		return false;
	error_release(&call->error);
	if (!memory_calls_begin(&w, call, body, MEMORY_CONTENT | MEMORY_KIND))
		return false;
	w.rq.memory_id = memory_id;
	if (w.store ? memory_calls_put(&w) : memory_plugin_put(w.plugin, call, &w.rq))
		return true;
	struct error why = {0};
	error_move(&why, &call->error);
	bool ok = memory_update(call, memory_id, body) != NULL;
	if (!ok) {
		error_release(&call->error);
		error_move(&call->error, &why);
	}
	error_release(&why);
	return ok;
}

cJSON *memory_remove(struct call *call, const char *memory_id, const cJSON *body)
{
	struct work w;
	bool ok, found = false;
	if (!memory_calls_begin_one(&w, call, memory_id, body, 0))
		return NULL;
	if (!w.store)
		ok = memory_plugin_remove(w.plugin, call, &w.rq);
	else if (w.store->ops->remove(
		     w.store, &call->ctx, &w.rq.filter, memory_id, &found, &call->error))
		ok = found || memory_calls_not_found(call);
	else
		ok = memory_calls_unavailable(call);
	return ok ? memory_calls_done(call, "memory_id", cJSON_CreateString(memory_id)) : NULL;
}

cJSON *memory_forget(struct call *call, const cJSON *body)
{
	struct work w;
	int64_t count;
	if (!memory_calls_begin(&w, call, body, MEMORY_FILTER | MEMORY_NARROWED))
		return NULL;
	bool ok = w.store
	    ? w.store->ops->forget(w.store, &call->ctx, &w.rq.filter, &count, &call->error) ||
		memory_calls_unavailable(call)
	    : memory_plugin_forget(w.plugin, call, &w.rq, &count);
	return ok ? memory_calls_done(call, "deleted_count", json_new_int(count)) : NULL;
}

/* ---- reading ---- */

/* A reference to a tree in the arena, so that it can be a member of another one. */
static cJSON *memory_calls_reference(const cJSON *tree)
{
	return cJSON_IsArray(tree) ? cJSON_CreateArrayReference(tree->child)
				   : cJSON_CreateObjectReference(tree->child);
}

cJSON *memory_read(struct call *call, const char *memory_id, const cJSON *body)
{
	struct work w;
	struct memory m;
	cJSON *memory = NULL;
	if (!memory_calls_begin_one(&w, call, memory_id, body, MEMORY_NARROWED))
		return NULL;
	if (!w.store)
		memory = memory_plugin_get(w.plugin, call, &w.rq);
	else if (w.store->ops->get(
		     w.store, &call->ctx, call->arena, &w.rq.filter, memory_id, &m, &call->error))
		memory = arena_json(call->arena, memory_json(&m, 0));
	else if (error_is_set(&call->error))
		memory_calls_unavailable(call);
	else
		memory_calls_not_found(call);
	return memory ? memory_calls_data(call, "memory", memory_calls_reference(memory)) : NULL;
}

static cJSON *memory_calls_list_of(struct call *call, const cJSON *body, unsigned parts)
{
	struct work w;
	if (!memory_calls_begin(&w, call, body, parts | MEMORY_LIMIT | MEMORY_NARROWED))
		return NULL;
	struct memory_hits hits = {.limit = (size_t)w.rq.limit};
	cJSON *memories = NULL;
	if (!w.store) {
		memories = memory_plugin_list(w.plugin, call, &w.rq);
	} else {
		hits.items = arena_alloc(call->arena, hits.limit * sizeof(*hits.items));
		if (w.store->ops->recent(w.store, &call->ctx, &w.rq.filter, &hits, &call->error))
			memories = memory_calls_load(&w, &hits, false);
	}
	if (memories)
		return memory_calls_data(call, "memories", memory_calls_reference(memories));
	memory_calls_unavailable(call);
	return NULL;
}

cJSON *memory_list(struct call *call, const cJSON *body)
{
	return memory_calls_list_of(call, body, 0);
}

cJSON *memory_list_of(struct call *call, const cJSON *body)
{
	return memory_calls_list_of(call, body, MEMORY_FILTER);
}

cJSON *memory_search(struct call *call, const cJSON *body)
{
	const unsigned parts = MEMORY_QUERY | MEMORY_FILTER | MEMORY_LIMIT | MEMORY_NARROWED;
	struct work w;
	if (!memory_calls_begin(&w, call, body, parts))
		return NULL;
	struct memory_hits hits = {0};
	cJSON *results = NULL;
	if (!w.store) {
		results = memory_plugin_search(w.plugin, call, &w.rq);
	} else {
		hits.items = xmalloc(MEMORY_FOUND_MOST * sizeof(*hits.items));
		if (memory_find(w.store, &call->ctx, w.embedding, &w.rq, &hits, &call->error))
			results = memory_calls_load(&w, &hits, true);
		free(hits.items);
	}
	if (results)
		return memory_calls_data(call, "results", memory_calls_reference(results));
	memory_calls_unavailable(call);
	return NULL;
}
