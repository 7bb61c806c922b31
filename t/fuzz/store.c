/* SPDX-License-Identifier: ISC */
/*
 * Searches in the memory store: an input is one JSON object with "text"; "content" and "metadata"
 * of the memory that is there; and "filters", which have been checked.  Whatever they are, SQL and
 * FTS5 accept the query made from them, and a memory is found by its own text.
 */
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/os/shared.h"
#include "config/config.h"
#include "model/embed/embed.h"
#include "replay.h"
#include "scratch.h"
#include "storage/memories.h"
#include "storage/memory_filter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
	char dir[SCRATCH_SIZE];
	struct shared *shared;
	struct storage *storage;
	struct memory_set *store;
} world;

static void close_world(void)
{
	world.store->ops->close(world.store);
	storage_close(world.storage);
	shared_close(world.shared);
	scratch_remove(world.dir);
}

static struct memory_set *store(void)
{
	struct error err = {0};
	if (world.store)
		return world.store;
	log_init("fuzz", LOG_ERROR);
	scratch_make(world.dir);
	world.shared = shared_open(world.dir, &err);
	const struct config config = {.state_dir = world.dir};
	world.storage = storage_open(&config, world.shared, &err);
	require(world.storage != NULL);
	world.store = world.storage->engine->memories->open(
	    world.storage, NULL, LOCAL_EMBED_NAME, LOCAL_EMBED_DIMENSIONS, &err);
	require(world.store != NULL);
	atexit(close_world);
	return world.store;
}

static bool put(const char *content, const cJSON *metadata)
{
	float numbers[LOCAL_EMBED_DIMENSIONS];
	double length = 0;
	struct error err = {0};
	char *json = json_print(metadata);
	local_embed(content, numbers);
	for (size_t i = 0; i < LOCAL_EMBED_DIMENSIONS; i++)
		length += (double)numbers[i] * numbers[i];
	require(length == 0 || fabs(length - 1) < 1e-3);
	const struct memory m = {.memory_id = "m",
	    .user_id = "u",
	    .memory_type = "episodic",
	    .category = "general",
	    .metadata_json = json,
	    .content = content,
	    .created_at = 1000};
	const struct memory_vector vector = {numbers, NULL};
	const struct memory_links links = {.entity = content};
	require(store()->ops->put(store(), NULL, &m, &links, &vector, &err));
	free(json);
	return length > 0;
}

static size_t matching(const struct memory_filter *filter, const char *text)
{
	struct memory_hit items[4];
	struct memory_hits hits = {.items = items, .limit = 4};
	struct error err = {0};
	require(store()->ops->matching(store(), NULL, filter, text, &hits, &err));
	for (size_t i = 0; i < hits.count; i++)
		require(isfinite(items[i].score));
	return hits.count;
}

static size_t similar(const struct memory_filter *filter, const char *text)
{
	struct memory_hit items[4];
	struct memory_hits hits = {.items = items, .limit = 4};
	struct error err = {0};
	float numbers[LOCAL_EMBED_DIMENSIONS];
	local_embed(text, numbers);
	for (enum vector_metric m = METRIC_COSINE; m <= METRIC_MANHATTAN; m++) {
		require(store()->ops->similar(store(), NULL, filter, numbers, m, &hits, &err));
		for (size_t i = 0; i < hits.count; i++)
			require(isfinite(items[i].score));
	}
	return hits.count;
}

static void search(const char *text, const cJSON *metadata, const cJSON *filters)
{
	struct error err = {0};
	if (!cJSON_IsObject(filters) || !memory_filter_check(filters, "filters", &err)) {
		error_release(&err);
		return;
	}
	char *json = json_print(filters);
	const struct memory_filter filter = {.user_id = "u", .filters_json = json};
	struct memory_hit items[4];
	struct memory_hits hits = {.items = items, .limit = 4};
	require(store()->ops->recent(store(), NULL, &filter, &hits, &err));
	require((hits.count == 1) == memory_filter_fits(metadata, filters));
	require(matching(&filter, text) <= hits.count);
	similar(&filter, text);
	free(json);
}

static void clear(void)
{
	const struct memory_filter everything = {0};
	struct error err = {0};
	int64_t count;
	require(store()->ops->forget(store(), NULL, &everything, &count, &err) && count == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct memory_filter own = {.user_id = "u"}, foreign = {.user_id = "v"};
	cJSON *input = json_parse((const char *)data, size, JSON_REQUEST_DEPTH, NULL);
	const char *text = json_str(input, "text"), *content = json_str(input, "content");
	const cJSON *metadata = json_get(input, "metadata");
	if (text && content && *content && cJSON_IsObject(metadata)) {
		bool embedded = put(content, metadata);
		matching(&own, text);
		require(matching(&foreign, content) == 0);
		require(!embedded || similar(&own, content) == 1);
		search(text, metadata, json_get(input, "filters"));
		clear();
	}
	cJSON_Delete(input);
	return 0;
}
