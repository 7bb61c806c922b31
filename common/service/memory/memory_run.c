/* SPDX-License-Identifier: ISC */
/* Handing a node's call to the function of the route, narrowed to the run's own user. */
#include "base/json/json.h"
#include "service/memory/memory_calls.h"

#include <string.h>

struct run_memories {
	struct call *call;
	const cJSON *config; /* config of the run */
};

/* Calls the operation for action, on the memory with this id, or on many where id is NULL. */
static cJSON *memory_run_do(
    struct call *call, const char *action, const char *id, const cJSON *body)
{
	if (id && strcmp(action, "get") == 0)
		return memory_read(call, id, body);
	if (id && strcmp(action, "update") == 0)
		return memory_update(call, id, body);
	if (id)
		return memory_remove(call, id, body);
	if (strcmp(action, "put") == 0)
		return memory_store(call, body);
	if (strcmp(action, "search") == 0)
		return memory_search(call, body);
	if (strcmp(action, "list") == 0)
		return memory_list(call, body);
	return memory_forget(call, body);
}

/* The call is that of the run but for its error, which is not yet the run's. */
static cJSON *memory_run_ask(void *arg, struct arena *arena, const char *action,
    const char *memory_id, const cJSON *body, struct error *err)
{
	struct run_memories *m = arg;
	struct call call = *m->call;
	call.error = (struct error){0};
	call.arena = arena;
	call.ctx.waiter = NULL; /* a run goes on without its client */
	/* by the routes some callers reach everybody's memories; in a run, where a model calls the
	 * tools, they do not, unless the node says whose memories it means */
	if (call.service->config->auth != AUTH_NONE && !json_opt(body, "config"))
		call.owner = call.user_id;
	cJSON *data = NULL, *scoped = body ? cJSON_Duplicate(body, true) : cJSON_CreateObject();
	arena_json(arena, scoped);
	if (!json_opt(scoped, "config")) {
		/* where everybody is anonymous, the run's client says whose memories they are, as
		 * it would say to the routes */
		const cJSON *user_id = json_opt(m->config, "user_id");
		cJSON *config = cJSON_CreateObject();
		cJSON_AddItemToObject(config, "user_id",
		    user_id ? cJSON_Duplicate(user_id, true)
			    : cJSON_CreateString(m->call->user_id));
		json_set(scoped, "config", config);
	}
	if (memory_configured(&call))
		data = memory_run_do(&call, action, memory_id, scoped);
	if (!data)
		error_move(err, &call.error);
	return data;
}

struct run_store memories_of_run(struct call *call, const cJSON *config)
{
	struct run_memories *m = arena_alloc(call->arena, sizeof(*m));
	*m = (struct run_memories){call, config};
	return (struct run_store){memory_run_ask, m};
}
