/* SPDX-License-Identifier: ISC */
/* Opening and closing what a process serves, and the context of one call. */
#include "service/service.h"

#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "graph/media_url.h"
#include "service/evals/eval_reports.h"
#include "service/memory/memories.h"
#include "storage/files.h"
#include "storage/traces.h"
#include "telemetry/telemetry.h"

#include <stdlib.h>
#include <string.h>

static void open_ids(struct service *service)
{
	const struct environment *env = &service->config->env;
	if (!env->use_snowflake)
		return;
	service->ids.layout = &env->snowflake;
	service->ids.word = service->storage->ops->snowflake_word(service->storage);
}

/* Without it there is no storage either. */
static bool open_files(struct service *service, struct error *err)
{
	const struct storage_ops *ops = service->storage->ops;
	service->files = files_open(service->config, ops->shared(service->storage), err);
	if (service->files)
		return true;
	ops->close(service->storage);
	service->storage = NULL;
	return false;
}

bool service_open_storage(struct service *service, struct error *err)
{
	service->storage = storage_open(service->config, err);
	if (!service->storage || !open_files(service, err))
		return false;
	open_ids(service);
	struct shared *shared = service->storage->ops->shared(service->storage);
	metrics_attach(shared);
	memories_attach(service->memories, shared);
	if (!service->config->env.production)
		service->traces = traces_new(shared, service->config->state_dir);
	if (service->access)
		access_attach(service->access, service->storage);
	if (service->limiter)
		limiter_share(service->limiter, service->storage->ops->shared(service->storage));
	return true;
}

/* Before anything starts a thread, which may log. */
static void open_log(const struct environment *env)
{
	log_init(env->logger_name, env->log_level);
	log_set_format(env->log_format);
}

static struct service *service_service_load(
    const struct config_source *source, struct problems *problems)
{
	struct service *service = xcalloc(1, sizeof(*service));
	service->config = config_load(source, problems);
	if (service->config) {
		open_log(&service->config->env);
		media_url_below(service->config->env.root_path);
		names_open(&service->names, service->config, problems);
		service->graph = graph_load(service->config, problems);
		service->telemetry = telemetry_new(service->config);
		service->limiter = limiter_open(service->config, problems);
		service->memories = memories_new(service->config, problems);
	}
	service->evals = eval_cache_new();
	service->anonymous = cJSON_CreateObject();
	cJSON_AddStringToObject(service->anonymous, "user_id", "anonymous");
	return service;
}

/* The service, unless something was wrong with it. */
static struct service *sound(struct service *service, const struct problems *problems)
{
	if (!problems->errors)
		return service;
	service_close(service);
	return NULL;
}

struct service *service_load(const struct config_source *source, struct problems *problems)
{
	struct service *service = service_service_load(source, problems);
	if (service->config)
		service->access = access_open(service->config, NULL, problems);
	return sound(service, problems);
}

struct service *service_open(const struct config_source *source, struct problems *problems)
{
	struct service *service = service_service_load(source, problems);
	struct error err = {0};
	/* tried whatever else is wrong, so that all mistakes are told at once */
	bool stored = service->config && service_open_storage(service, &err);
	if (stored && !memories_open(service->memories, &err) &&
	    err.kind == ERR_TRANSIENT_STORAGE) {
		/* a full disk: the store is opened when it is asked for, the rest is served */
		log_warning(
		    "%s; memories wait until there is room", *err.cause ? err.cause : err.detail);
		error_release(&err);
	}
	if (error_is_set(&err))
		problems_add(problems, "%s", *err.cause ? err.cause : err.detail);
	error_release(&err);
	if (service->config)
		service->access = access_open(service->config, service->storage, problems);
	return sound(service, problems);
}

void service_close(struct service *service)
{
	if (!service)
		return;
	telemetry_free(service->telemetry);
	traces_free(service->traces);
	access_close(service->access);
	limiter_close(service->limiter);
	names_close(&service->names);
	memories_free(service->memories);
	if (service->storage) {
		metrics_attach(NULL);
		files_close(service->files);
		service->storage->ops->close(service->storage);
	}
	graph_free(service->graph);
	config_free(service->config);
	eval_cache_free(service->evals);
	cJSON_Delete(service->anonymous);
	free(service);
}

void call_init(struct call *call, struct service *service, const char *request_id)
{
	*call = (struct call){
	    .service = service,
	    .arena = arena_new(),
	    .user = service->anonymous,
	    .user_id = "anonymous",
	    .request_id = request_id,
	};
}

void call_release(struct call *call)
{
	log_run(NULL); /* which lies in the arena */
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

bool call_owns(struct call *call, const struct thread *thread)
{
	return !call->permission.resource ||
	    access_owns(call->service->access, &call->identity, &call->permission, thread->user_id,
		&call->error);
}

/* What production shows of a failure inside the graph
 * (doc/protocol-errors.md#what-production-hides); NULL: the error's own text. */
static const char *hidden_text(enum error_kind kind)
{
	if (kind == ERR_GRAPH)
		return "An error occurred executing the graph.";
	if (kind == ERR_NODE || kind == ERR_NODE_TIMEOUT)
		return "An error occurred in a graph node.";
	return NULL;
}

void call_error_view(const struct call *call, struct error_view *view)
{
	const struct error *err = &call->error;
	const char *hidden = call->service->config->env.production ? hidden_text(err->kind) : NULL;
	*view = (struct error_view){
	    .status = error_status_of(err),
	    .code = error_code_of(err),
	    .detail = hidden ? hidden : err->detail,
	    .details = hidden ? NULL : err->details,
	};
}
