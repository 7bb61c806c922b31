#include "service/service.h"

#include "base/json.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* What is configured but not served by this version must not be served unguarded. */
static void refuse_unserved(const struct config *config, struct problems *problems)
{
	const char *file = config->path ? config->path : "agentgraph.json";
	if (config->auth != AUTH_NONE)
		problems_add(problems,
		    "%s: auth: expected null, this version cannot verify credentials yet", file);
	if (config->thread_name_generator &&
	    strcmp(config->thread_name_generator, "builtin:names") != 0)
		problems_add(problems,
		    "%s: thread_name_generator: expected builtin:names, found '%s'", file,
		    config->thread_name_generator);
	if (config->rate_limit.present)
		problems_add(problems,
		    "%s: rate_limit: expected it absent or disabled, this version has no limiter yet",
		    file);
}

static void open_storage(struct service *service, struct problems *problems)
{
	struct error err = {0};
	service->storage = storage_open(service->config, &err);
	if (!service->storage)
		problems_add(problems, "%s", *err.cause ? err.cause : err.detail);
	error_release(&err);
}

static void open_ids(struct service *service)
{
	const struct environment *env = &service->config->env;
	if (!env->use_snowflake)
		return;
	service->ids.layout = &env->snowflake;
	service->ids.word = service->storage->ops->snowflake_word(service->storage);
}

struct service *service_open(const struct config_source *source, struct problems *problems)
{
	struct service *service = xcalloc(1, sizeof(*service));
	service->config = config_load(source, problems);
	if (service->config) {
		refuse_unserved(service->config, problems);
		service->graph = graph_load(service->config, problems);
		open_storage(service, problems);
	}
	if (problems->errors) {
		service_close(service);
		return NULL;
	}
	open_ids(service);
	service->anonymous = cJSON_CreateObject();
	cJSON_AddStringToObject(service->anonymous, "user_id", "anonymous");
	return service;
}

void service_close(struct service *service)
{
	if (!service)
		return;
	if (service->storage)
		service->storage->ops->close(service->storage);
	graph_free(service->graph);
	config_free(service->config);
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
	error_release(&call->error);
	arena_free(call->arena);
	call->arena = NULL;
}

/* What production shows of a failure inside the graph (WIRE 7.1); NULL: the error's own text. */
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
	    .status = error_status(err->kind),
	    .code = error_code(err->kind),
	    .detail = hidden ? hidden : err->detail,
	    .details = hidden ? NULL : err->details,
	};
}
