/* SPDX-License-Identifier: ISC */
/* GET /v1/service: figures over all processes, the instances, and the caller's rights. */
#include "service/about.h"

#include "base/hash.h"
#include "base/json/json.h"
#include "base/metrics/metrics.h"
#include "base/os/clock.h"
#include "storage/queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void status_add_time(cJSON *object, const char *key, int64_t us)
{
	char text[ISO_TIME_SIZE];
	cJSON_AddStringToObject(object, key, clock_iso(us, text));
}

/* null: nothing was answered lately. */
static void status_add_ms(cJSON *object, const char *key, int64_t us)
{
	json_add(object, key, us < 0 ? cJSON_CreateNull() : json_new_double((double)us / 1e3));
}

static void status_add_instance(void *instances, const struct storage_instance *instance)
{
	cJSON *item = json_append(instances, cJSON_CreateObject());
	cJSON_AddStringToObject(item, "id", instance->id);
	cJSON_AddStringToObject(item, "version", instance->version);
	status_add_time(item, "started_at", instance->started_at);
	status_add_time(item, "seen_at", instance->seen_at);
}

/* Where the storage has only one instance, that is the service that has run over the state
 * directory without a break. */
static bool status_add_instances(struct call *call, int64_t started_at, cJSON *instances)
{
	struct storage *storage = call->service->storage;
	char host[256] = "", id[17], started[24];
	if (storage->engine->instances)
		return storage->engine->instances(
		    storage, &call->ctx, status_add_instance, instances, &call->error);
	gethostname(host, sizeof(host) - 1);
	snprintf(started, sizeof(started), "%" PRId64, started_at);
	uint64_t hash = hash_text(
	    hash_text(hash_text(HASH_START, host), call->service->config->state_dir), started);
	snprintf(id, sizeof(id), "%016" PRIx64, hash);
	const struct storage_instance self = {.id = id,
	    .version = AGENTGRAPH_VERSION,
	    .started_at = started_at,
	    .seen_at = clock_now()};
	status_add_instance(instances, &self);
	return true;
}

cJSON *service_status(struct call *call, cJSON *rights)
{
	const struct service *service = call->service;
	const struct config *config = service->config;
	struct metrics_view now;
	metrics_look(&now);
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	cJSON_AddStringToObject(data, "name", config->env.app_name);
	cJSON_AddStringToObject(data, "version", AGENTGRAPH_VERSION);
	cJSON_AddStringToObject(data, "mode", config->env.mode);
	status_add_time(data, "started_at", now.started_at);
	cJSON_AddStringToObject(data, "engine", service->storage->engine->name);

	cJSON *workers = cJSON_AddObjectToObject(data, "workers");
	json_add_int(workers, "processes", now.processes);
	json_add_int(workers, "threads", now.gauges[GAUGE_THREADS]);
	json_add_int(workers, "busy", now.gauges[GAUGE_BUSY]);
	cJSON *requests = cJSON_AddObjectToObject(data, "requests");
	json_add_int(requests, "total", (int64_t)now.requests);
	json_add_int(requests, "errors", (int64_t)now.errors);
	json_add_int(requests, "in_flight", now.gauges[GAUGE_BUSY] + now.gauges[GAUGE_ARRIVING]);
	cJSON *latency = cJSON_AddObjectToObject(data, "latency_ms");
	status_add_ms(latency, "p50", now.p50_us);
	status_add_ms(latency, "p99", now.p99_us);
	cJSON *runs = cJSON_AddObjectToObject(data, "runs");
	json_add_int(runs, "queued", queue_waiting(service->shared));
	json_add_int(runs, "running", now.gauges[GAUGE_RUNS]);
	cJSON *sockets = cJSON_AddObjectToObject(data, "sockets");
	json_add_int(sockets, "turn", now.gauges[GAUGE_SOCKETS] - now.gauges[GAUGE_LIVE]);
	json_add_int(sockets, "live", now.gauges[GAUGE_LIVE]);
	json_add_int(
	    cJSON_AddObjectToObject(data, "webhooks"), "waiting", now.gauges[GAUGE_WEBHOOKS]);

	cJSON *instances = cJSON_AddArrayToObject(data, "instances");
	cJSON_AddItemToObject(data, "rights", rights);
	return status_add_instances(call, now.started_at, instances) ? data : NULL;
}

cJSON *service_rights(struct call *call, const struct permission *permissions, size_t count)
{
	cJSON *rights = cJSON_CreateArray();
	bool all = true;
	for (size_t i = 0; i < count; i++) {
		const struct permission *one = &permissions[i];
		struct error refusal = {0};
		size_t first = 0;
		while (strcmp(permissions[first].resource, one->resource) != 0 ||
		    strcmp(permissions[first].action, one->action) != 0)
			first++;
		if (first < i)
			continue;
		if (access_permit(call->service->access, &call->identity, one, &refusal))
			cJSON_AddItemToArray(rights,
			    cJSON_CreateString(
				arena_printf(call->arena, "%s:%s", one->resource, one->action)));
		else
			all = false;
		error_release(&refusal);
	}
	if (!all)
		return rights;
	cJSON_Delete(rights);
	return cJSON_CreateNull();
}
