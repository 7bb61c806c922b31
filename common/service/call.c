/* SPDX-License-Identifier: ISC */
/* The context of a call: who makes it, and what its client is told of an error. */
#include "base/json/json.h"
#include "base/log/log.h"
#include "service/service.h"
#include "storage/runs.h"

void call_init(struct call *call, struct service *service, const char *request_id)
{
	*call = (struct call){
	    .service = service,
	    .arena = arena_new(),
	    .user = service->anonymous,
	    .user_id = "anonymous",
	    .ctx = {.request_id = request_id},
	    .values = (size_t)service->config->env.max_request_size / JSON_BYTES_A_VALUE,
	};
}

void call_release(struct call *call)
{
	log_run(NULL); /* the id that the log has may lie in the arena */
	error_release(&call->error);
	arena_free(call->arena);
	call->arena = NULL;
}

void call_identify(struct call *call, const struct identity *identity)
{
	call->identity = *identity;
	call->user = identity->user;
	call->user_id = identity->user_id ? identity->user_id : "anonymous";
	call->owner = access_reach(call->service->access, identity);
}

bool call_permit(struct call *call, const struct permission *permission)
{
	call->permission = *permission;
	return access_permit(call->service->access, &call->identity, permission, &call->error);
}

bool call_thread(struct call *call, const char *thread_id, struct thread *thread)
{
	struct storage *storage = call->service->storage;
	return storage->threads->get(
	    storage, &call->ctx, call->arena, thread_id, thread, &call->error);
}

bool call_record(
    struct call *call, const char *thread_id, const char *run_id, struct run_record *record)
{
	struct storage *storage = call->service->storage;
	return storage->runs->get(
	    storage, &call->ctx, call->arena, thread_id, run_id, record, &call->error);
}

bool call_owns(struct call *call, const struct thread *thread)
{
	return !call->permission.resource ||
	    access_owns(call->service->access, &call->identity, &call->permission, thread->user_id,
		&call->error);
}

cJSON *call_done(struct call *call, const char *message)
{
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	cJSON_AddTrueToObject(data, "success");
	json_add_str(data, "message", message);
	return data;
}

void call_view_of(const struct call *call, const struct error *err, struct error_view *view)
{
	/* what production shows of a failure inside the graph
	 * (doc/protocol-errors.md#errors-in-production); NULL: the error's own text */
	const char *hidden = NULL;
	bool hides = call->service->config->env.production;
	if (hides && err->kind == ERR_GRAPH)
		hidden = "An error occurred executing the graph.";
	else if (hides && (err->kind == ERR_NODE || err->kind == ERR_NODE_TIMEOUT))
		hidden = "An error occurred in a graph node.";
	*view = (struct error_view){
	    .status = error_status_of(err),
	    .code = error_code_of(err),
	    .detail = hidden ? hidden : err->detail,
	    .details = hidden ? NULL : err->details,
	};
}

void call_error_view(const struct call *call, struct error_view *view)
{
	call_view_of(call, &call->error, view);
}
