/* SPDX-License-Identifier: ISC */
/* What agentgraph.h offers to a node of the memory store. */
#include "base/json/json.h"
#include "graph/run_internal.h"

static ag_result node_store_ask(
    ag_run *run, const char *action, const char *memory_id, cJSON *body, const cJSON **answer)
{
	const struct run_store *store = &run->setup.store;
	struct error err = {0};
	const cJSON *data = NULL;
	body = arena_json(run->setup.arena, json_adopt(body));
	if (store->ask)
		data = store->ask(store->arg, run->setup.arena, action, memory_id, body, &err);
	if (answer)
		*answer = data;
	if (!data)
		ag_fail(run, "%s", store->ask ? err.detail : "Store is not configured");
	error_release(&err);
	return data ? AG_OK : AG_ERROR;
}

/* Without an id the service would take the call for one about many memories. */
static ag_result node_store_ask_one(
    ag_run *run, const char *action, const char *memory_id, cJSON *body, const cJSON **answer)
{
	return node_store_ask(run, action, memory_id ? memory_id : "", body, answer);
}

ag_result ag_store_put(ag_run *run, cJSON *body, const cJSON **answer)
{
	return node_store_ask(run, "put", NULL, body, answer);
}

ag_result ag_store_search(ag_run *run, cJSON *body, const cJSON **answer)
{
	return node_store_ask(run, "search", NULL, body, answer);
}

ag_result ag_store_list(ag_run *run, cJSON *body, const cJSON **answer)
{
	return node_store_ask(run, "list", NULL, body, answer);
}

ag_result ag_store_get(ag_run *run, const char *memory_id, cJSON *body, const cJSON **answer)
{
	return node_store_ask_one(run, "get", memory_id, body, answer);
}

ag_result ag_store_update(ag_run *run, const char *memory_id, cJSON *body, const cJSON **answer)
{
	return node_store_ask_one(run, "update", memory_id, body, answer);
}

ag_result ag_store_delete(ag_run *run, const char *memory_id, cJSON *body, const cJSON **answer)
{
	return node_store_ask_one(run, "delete", memory_id, body, answer);
}

ag_result ag_store_forget(ag_run *run, cJSON *body, const cJSON **answer)
{
	return node_store_ask(run, "forget", NULL, body, answer);
}
