/* SPDX-License-Identifier: ISC */
/* Handing requests to the plug-in's table, and reading what it gives back. */
#include "service/memory/memory_plugin.h"

#include "agentgraph.h"
#include "base/json/json.h"
#include "base/os/clock.h"

#include <string.h>

/* ---- its life ---- */

bool memory_plugin_open(
    struct memory_plugin *p, const struct config *config, struct problems *problems)
{
	const struct plugin_want want = {"store", config->store, AG_STORE, "struct ag_store"};
	*p = (struct memory_plugin){0};
	if (!plugin_load(&p->plugin, config, &want, problems))
		return false;
	const struct ag_store *table = p->plugin.table;
	bool complete = table->put && table->get && table->update && table->remove && table->list &&
	    table->search && table->forget;
	if (complete && (!table->open || table->open(&p->data) == 0))
		return true;
	problems_add(problems, "%s: store: '%s' %s",
	    config->path ? config->path : "agentgraph.json", config->store,
	    complete ? "refused to open" : "must have all functions but open and close");
	plugin_close(p->plugin.library);
	*p = (struct memory_plugin){0};
	return false;
}

void memory_plugin_close(struct memory_plugin *p)
{
	const struct ag_store *table = p->plugin.table;
	if (table && table->close)
		table->close(p->data);
	plugin_close(p->plugin.library);
	*p = (struct memory_plugin){0};
}

/* ---- requests ---- */

static cJSON *memory_plugin_new_request(struct call *call, const struct memory_request *rq)
{
	cJSON *request = arena_json(call->arena, cJSON_CreateObject());
	cJSON *scope = cJSON_AddObjectToObject(request, "scope");
	json_add_str(scope, "user_id", rq->filter.user_id);
	json_add_str(scope, "thread_id", rq->filter.thread_id);
	json_add_or_null(request, "config", cJSON_Duplicate(rq->config, true));
	json_add_or_null(request, "options", cJSON_Duplicate(rq->options, true));
	return request;
}

static void memory_plugin_add_filter(cJSON *request, const struct memory_request *rq)
{
	json_add_str(request, "memory_type", rq->filter.memory_type);
	json_add_str(request, "category", rq->filter.category);
	json_add_or_null(request, "filters", cJSON_Duplicate(rq->filters, true));
}

static bool memory_plugin_failed(struct call *call, const char *why)
{
	error_set(&call->error, ERR_STORE_UNAVAILABLE, NULL);
	return error_cause(&call->error, "store: the plug-in %s", why);
}

static bool memory_plugin_ask(struct memory_plugin *p, struct call *call, ag_store_fn fn,
    const cJSON *request, cJSON **answer)
{
	cJSON *given = NULL;
	ag_result result = fn(request, &given, p->data);
	*answer = arena_json(call->arena, json_adopt(given));
	if (result != AG_OK)
		return memory_plugin_failed(call, "failed");
	return !json_deeper_than(*answer, JSON_TRUSTED_DEPTH) ||
	    memory_plugin_failed(call, "answered with too many levels of nesting");
}

/* ---- answers ---- */

static cJSON *memory_plugin_text_or(const cJSON *given, const char *key, const char *otherwise)
{
	const char *text = json_str(given, key);
	text = text ? text : otherwise;
	return text ? cJSON_CreateString(text) : cJSON_CreateNull();
}

/* The form of doc/protocol-store.md#memories, whatever the plug-in left out. */
static cJSON *memory_plugin_view(const cJSON *given)
{
	char now[ISO_TIME_SIZE];
	cJSON *out = cJSON_CreateObject();
	const char *category = json_str(given, "category");
	const cJSON *metadata = json_get(given, "metadata");
	double score = 0;
	json_number(json_get(given, "score"), &score);
	score = score < 0 ? 0 : score > 1 ? 1 : score;
	cJSON_AddItemToObject(out, "memory_id", memory_plugin_text_or(given, "memory_id", ""));
	cJSON_AddItemToObject(out, "id", memory_plugin_text_or(given, "memory_id", ""));
	cJSON_AddItemToObject(out, "content", memory_plugin_text_or(given, "content", ""));
	cJSON_AddItemToObject(out, "score", json_new_double(score));
	cJSON_AddItemToObject(
	    out, "memory_type", memory_plugin_text_or(given, "memory_type", "episodic"));
	cJSON_AddItemToObject(out, "category", memory_plugin_text_or(given, "category", "general"));
	cJSON_AddItemToObject(out, "metadata",
	    memory_metadata(
		cJSON_IsObject(metadata) ? metadata : NULL, category ? category : "general"));
	cJSON_AddArrayToObject(out, "vector");
	cJSON_AddItemToObject(out, "user_id", memory_plugin_text_or(given, "user_id", NULL));
	cJSON_AddItemToObject(out, "thread_id", memory_plugin_text_or(given, "thread_id", NULL));
	cJSON_AddItemToObject(out, "timestamp",
	    memory_plugin_text_or(given, "timestamp", clock_iso(clock_now(), now)));
	return out;
}

static cJSON *memory_plugin_views(struct call *call, const cJSON *answer, int64_t limit)
{
	cJSON *out = arena_json(call->arena, cJSON_CreateArray());
	const cJSON *given;
	if (answer && !cJSON_IsArray(answer)) {
		memory_plugin_failed(call, "answered with what is no array");
		return NULL;
	}
	cJSON_ArrayForEach(given, answer) {
		if (limit-- > 0)
			cJSON_AddItemToArray(out, memory_plugin_view(given));
	}
	return out;
}

static bool memory_plugin_not_found(struct call *call)
{
	return error_set(&call->error, ERR_RESOURCE_NOT_FOUND, "Memory not found");
}

/* ---- the operations ---- */

static const struct ag_store *memory_plugin_table_of(const struct memory_plugin *p)
{
	return p->plugin.table;
}

bool memory_plugin_put(struct memory_plugin *p, struct call *call, const struct memory_request *rq)
{
	char now[ISO_TIME_SIZE];
	cJSON *request = memory_plugin_new_request(call, rq), *answer;
	cJSON *memory = cJSON_AddObjectToObject(request, "memory");
	json_add_str(memory, "memory_id", rq->memory_id);
	json_add_str(memory, "content", rq->content);
	json_add_str(memory, "memory_type", rq->memory_type);
	json_add_str(memory, "category", rq->category);
	cJSON_AddItemToObject(memory, "metadata", memory_metadata(rq->metadata, rq->category));
	json_add_str(memory, "user_id", rq->owner);
	json_add_str(memory, "thread_id", rq->filter.thread_id);
	json_add_str(memory, "timestamp", clock_iso(clock_now(), now));
	return memory_plugin_ask(p, call, memory_plugin_table_of(p)->put, request, &answer);
}

static cJSON *memory_plugin_about_one(struct call *call, const struct memory_request *rq)
{
	cJSON *request = memory_plugin_new_request(call, rq);
	json_add_str(request, "memory_id", rq->memory_id);
	return request;
}

cJSON *memory_plugin_get(
    struct memory_plugin *p, struct call *call, const struct memory_request *rq)
{
	cJSON *answer;
	if (!memory_plugin_ask(p, call, memory_plugin_table_of(p)->get,
		memory_plugin_about_one(call, rq), &answer))
		return NULL;
	if (cJSON_IsObject(answer))
		return arena_json(call->arena, memory_plugin_view(answer));
	memory_plugin_not_found(call);
	return NULL;
}

bool memory_plugin_update(
    struct memory_plugin *p, struct call *call, const struct memory_request *rq)
{
	cJSON *request = memory_plugin_about_one(call, rq), *answer;
	json_add_str(request, "content", rq->content);
	cJSON_AddItemToObject(request, "metadata",
	    rq->metadata ? memory_metadata(rq->metadata, NULL) : cJSON_CreateNull());
	return memory_plugin_ask(p, call, memory_plugin_table_of(p)->update, request, &answer) &&
	    (cJSON_IsTrue(answer) || memory_plugin_not_found(call));
}

bool memory_plugin_remove(
    struct memory_plugin *p, struct call *call, const struct memory_request *rq)
{
	cJSON *answer;
	return memory_plugin_ask(p, call, memory_plugin_table_of(p)->remove,
		   memory_plugin_about_one(call, rq), &answer) &&
	    (cJSON_IsTrue(answer) || memory_plugin_not_found(call));
}

cJSON *memory_plugin_list(
    struct memory_plugin *p, struct call *call, const struct memory_request *rq)
{
	cJSON *request = memory_plugin_new_request(call, rq), *answer;
	json_add_int(request, "limit", rq->limit);
	if (!memory_plugin_ask(p, call, memory_plugin_table_of(p)->list, request, &answer))
		return NULL;
	return memory_plugin_views(call, answer, rq->limit);
}

cJSON *memory_plugin_search(
    struct memory_plugin *p, struct call *call, const struct memory_request *rq)
{
	cJSON *request = memory_plugin_new_request(call, rq), *answer;
	json_add_str(request, "query", rq->query);
	memory_plugin_add_filter(request, rq);
	json_add_int(request, "limit", rq->limit);
	cJSON_AddItemToObject(request, "score_threshold",
	    rq->threshold < 0 ? cJSON_CreateNull() : json_new_double(rq->threshold));
	json_add_str(request, "retrieval_strategy", strategy_name(rq->strategy));
	json_add_str(request, "distance_metric", metric_name(rq->metric));
	json_add_int(request, "max_tokens", rq->max_tokens);
	if (!memory_plugin_ask(p, call, memory_plugin_table_of(p)->search, request, &answer))
		return NULL;
	return memory_plugin_views(call, answer, rq->limit);
}

bool memory_plugin_forget(
    struct memory_plugin *p, struct call *call, const struct memory_request *rq, int64_t *count)
{
	cJSON *request = memory_plugin_new_request(call, rq), *answer;
	memory_plugin_add_filter(request, rq);
	*count = 0;
	if (!memory_plugin_ask(p, call, memory_plugin_table_of(p)->forget, request, &answer))
		return false;
	return json_integer(answer, count) ||
	    memory_plugin_failed(call, "did not say how many it forgot");
}
