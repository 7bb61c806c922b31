/* SPDX-License-Identifier: ISC */
/* Opening and closing what a process serves. */
#include "service/service.h"

#include "access/ticket/ticket.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/metrics/metrics.h"
#include "graph/message/media_url.h"
#include "service/a2a/a2a_push.h"
#include "service/evals/evals.h"
#include "service/mcp/mcp_offer.h"
#include "service/memory/memories.h"
#include "service/run/background/webhook.h"
#include "service/run/stream/keeper.h"
#include "storage/files.h"
#include "storage/trace/traces.h"
#include "telemetry/telemetry.h"

#include <stdlib.h>
#include <string.h>

static void service_close_storage(struct service *service)
{
	chunk_keepers_free(service->keepers);
	files_close(service->files);
	storage_close(service->storage);
	service->keepers = NULL;
	service->files = NULL;
	service->storage = NULL;
}

bool service_join(struct service *service, struct error *err)
{
	const struct environment *env = &service->config->env;
	const struct storage *storage = service->storage;
	service->snowflake = env->snowflake;
	if (!storage->engine->can.instances)
		return true;
	if (env->use_snowflake && !env->has_node) {
		service->snowflake.node_id = storage->node;
		if (storage->node >> env->snowflake.node_bits)
			return error_set(err, ERR_STORAGE,
			    "SNOWFLAKE_NODE_BITS: this instance is number %lld of those over the "
			    "database, which has no room in %d bits",
			    (long long)storage->node, env->snowflake.node_bits);
	}
	return ticket_key_share(service->config->state_dir, storage->secret, err);
}

bool service_open_storage(struct service *service, struct error *err)
{
	const struct config *config = service->config;
	if (!service->shared) {
		service->shared = shared_make(config->state_dir, err);
		if (service->shared)
			metrics_attach(service->shared);
		if (service->shared && service->limiter)
			limiter_share(service->limiter, service->shared);
	}
	if (service->shared)
		service->storage = storage_open(config, service->shared, err);
	if (service->storage && service_join(service, err))
		service->files = files_open(config, service->storage, service->shared, err);
	if (!service->files) {
		service_close_storage(service);
		return false;
	}
	service->keepers = chunk_keepers_new(
	    service->storage, service->storage->engine->can.instances ? NULL : service->shared);
	if (config->env.use_snowflake)
		service->ids =
		    (struct id_source){&service->snowflake, snowflake_word(service->shared)};
	service->storage->webhook_body = webhook_body;
	service->storage->webhook_arg = service;
	service->storage->pushes = a2a_push_words(config);
	memories_attach(service->memories, service->storage);
	if (!config->env.production)
		service->traces = traces_new(service->storage, service->shared);
	if (service->access)
		access_attach(service->access, service->storage, service->shared);
	return true;
}

/* Opens the storage and the memories in it.  Where only the memories fail, the storage stays open
 * for the next attempt. */
static bool service_open_stored(struct service *service, struct error *err)
{
	if (!service->storage && !service_open_storage(service, err))
		return false;
	if (!memories_open(service->memories, err) && err->kind == ERR_TRANSIENT_STORAGE) {
		/* the disk is full: serve the rest, and open the memories when somebody asks for
		 * them */
		log_warning("%s; memories wait until there is room", error_why(err));
		error_release(err);
	}
	return !error_is_set(err);
}

static struct service *service_begin(const struct config_source *source, struct problems *problems)
{
	struct service *service = xcalloc(1, sizeof(*service));
	service->config = config_load(source, problems);
	if (service->config) {
		/* before any thread starts, since it may log */
		log_init(service->config->env.logger_name, service->config->env.log_level);
		log_set_format(service->config->env.log_format);
		media_url_below(service->config->env.root_path);
		names_open(&service->names, service->config, problems);
		service->graph = graph_load(service->config, problems);
		service->telemetry = telemetry_new(service->config);
		service->limiter = limiter_open(service->config, problems);
		service->memories = memories_new(service->config, problems);
		if (service->config->mcp.enabled)
			service->mcp = mcp_offer_new(service->config, problems);
	}
	service->evals = eval_cache_new();
	service->anonymous = cJSON_CreateObject();
	cJSON_AddStringToObject(service->anonymous, "user_id", "anonymous");
	return service;
}

/* Returns the service or, where something was wrong with it, closes it. */
static struct service *service_sound(struct service *service, const struct problems *problems)
{
	if (!problems->errors)
		return service;
	service_close(service);
	return NULL;
}

struct service *service_load(const struct config_source *source, struct problems *problems)
{
	struct service *service = service_begin(source, problems);
	if (service->config)
		service->access = access_open(service->config, NULL, NULL, problems);
	return service_sound(service, problems);
}

/* Whether the service can start without its storage: the database is on a server, and may come. */
static bool service_may_wait(const struct service *service, const struct error *err)
{
	struct error ignored = {0};
	const struct storage_engine *engine = storage_engine_of(service->config, &ignored);
	error_release(&ignored);
	return err->kind == ERR_TRANSIENT_STORAGE && engine && engine->can.instances;
}

static struct service *service_open_all(
    const struct config_source *source, bool early, struct problems *problems)
{
	struct service *service = service_begin(source, problems);
	struct error err = {0};
	/* tried whatever else is wrong, so that all mistakes are reported at once */
	if (service->config && !service_open_stored(service, &err)) {
		const char *why = error_why(&err);
		if (early && service_may_wait(service, &err)) {
			service->lacking = xstrdup(why);
			log_warning("waits for its database: %s", why);
		} else {
			problems_add(problems, "%s", why);
		}
	}
	error_release(&err);
	if (service->config)
		service->access = access_open(service->config, service->storage,
		    service->storage ? service->shared : NULL, problems);
	return service_sound(service, problems);
}

struct service *service_open(const struct config_source *source, struct problems *problems)
{
	return service_open_all(source, false, problems);
}

struct service *service_open_early(const struct config_source *source, struct problems *problems)
{
	return service_open_all(source, true, problems);
}

bool service_open_late(struct service *service)
{
	struct error err = {0};
	if (!service->lacking)
		return true;
	if (service_open_stored(service, &err)) {
		log_info("has its database");
		free(service->lacking);
		service->lacking = NULL;
		return true;
	}
	const char *why = error_why(&err);
	if (strcmp(why, service->lacking) != 0)
		log_warning("waits for its database: %s", why);
	free(service->lacking);
	service->lacking = xstrdup(why);
	error_release(&err);
	return false;
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
	mcp_offer_free(service->mcp);
	service_close_storage(service);
	if (service->shared)
		metrics_attach(NULL); /* no thread counts any more */
	shared_close(service->shared);
	free(service->lacking);
	graph_free(service->graph);
	config_free(service->config);
	eval_cache_free(service->evals);
	cJSON_Delete(service->anonymous);
	free(service);
}
