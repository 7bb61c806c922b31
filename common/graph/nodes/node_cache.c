/* SPDX-License-Identifier: ISC */
/* Results of nodes in files: their keys, and reading and writing them whole. */
#include "graph/nodes/node_cache.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/metrics/metrics.h"
#include "base/os/clock.h"
#include "base/os/directory.h"
#include "graph/document/document.h"
#include "graph/message/message.h"
#include "graph/run_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The node, as it is described, and the values of its key now; the frame's, made once. */
static const char *node_cache_key(ag_run *run)
{
	const struct node *node = run->frame.node;
	const struct node_cache *cache = &node->policy.cache;
	const struct values values = {run, &run->state, NULL};
	if (run->frame.cache_key)
		return run->frame.cache_key;
	cJSON *key = cJSON_CreateObject();
	json_add_str(key, "node", node->name);
	json_add_str(key, "graph", run->setup.graph->name);
	if (cache->described)
		json_add_str(key, "described", cache->described);
	cJSON *list = cJSON_AddArrayToObject(key, "values");
	for (size_t i = 0; cache->names[i]; i++)
		cJSON_AddItemToArray(list, values_of(cache->names[i], &values));
	char *text = json_print(key);
	cJSON_Delete(key);
	arena_defer(run->setup.arena, cJSON_free, text);
	return run->frame.cache_key = text;
}

/* The file of the key's slot, in the arena. */
static const char *node_cache_path(const ag_run *run, const char *key)
{
	unsigned slot = (unsigned)(hash_text(HASH_START, key) % NODE_CACHE_SLOTS);
	return arena_printf(run->setup.arena, "%s/%03x", run->setup.cache_dir, slot);
}

/* All of a file, malloc'd; NULL where it is not there, or is being written. */
static char *node_cache_read(const char *path)
{
	struct stat st;
	char *text = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return NULL;
	if (flock(fd, LOCK_SH | LOCK_NB) == 0 && fstat(fd, &st) == 0 && st.st_size > 0 &&
	    st.st_size <= NODE_CACHE_MAX) {
		text = xmalloc((size_t)st.st_size + 1);
		ssize_t got = read(fd, text, (size_t)st.st_size);
		text[got > 0 ? got : 0] = '\0';
	}
	close(fd);
	return text;
}

/* What was kept under the key, as long as its time lasts: a new tree, or NULL. */
static cJSON *node_cache_find(ag_run *run)
{
	const char *key = node_cache_key(run);
	char *text = node_cache_read(node_cache_path(run, key));
	cJSON *kept = text ? json_parse(text, strlen(text), JSON_TRUSTED_DEPTH, NULL) : NULL;
	const char *of = json_str(kept, "key");
	int64_t until;
	free(text);
	if (of && strcmp(of, key) == 0 && json_integer(json_get(kept, "until"), &until) &&
	    until > clock_now())
		return kept;
	cJSON_Delete(kept);
	return NULL;
}

bool node_cache_take(ag_run *run)
{
	cJSON *kept = run->setup.cache_dir ? node_cache_find(run) : NULL;
	metrics_count(kept ? METRIC_NODE_CACHE_HITS : METRIC_NODE_CACHE_MISSES, 1);
	if (!kept)
		return false;
	cJSON *messages = json_get(kept, "messages");
	const cJSON *updates = json_get(kept, "updates"), *update;
	while (messages && messages->child) { /* each is a new one, for which nothing was spent */
		cJSON *message = cJSON_DetachItemViaPointer(messages, messages->child);
		cJSON_DeleteItemFromObjectCaseSensitive(message, "message_id");
		cJSON_DeleteItemFromObjectCaseSensitive(message, "timestamp");
		cJSON_DeleteItemFromObjectCaseSensitive(message, "usages");
		ag_message(run, message);
	}
	cJSON_ArrayForEach(update, updates)
		ag_update(run, update->child->string, cJSON_Duplicate(update->child, true));
	cJSON_Delete(kept);
	run->frame.cached = true;
	return true;
}

char *node_cache_text(const ag_run *run)
{
	const struct node_frame *frame = &run->frame;
	const cJSON *message, *update;
	bool answered = run->answers && run->answers->child;
	if (!run->setup.cache_dir || !frame->cache_key || answered || frame->waiting ||
	    frame->leaves || frame->summary)
		return NULL;
	cJSON_ArrayForEach(message, frame->messages) {
		if (message_has_calls(message))
			return NULL;
	}
	cJSON *kept = cJSON_CreateObject();
	json_add_str(kept, "key", frame->cache_key);
	json_add_int(
	    kept, "until", clock_now() + (int64_t)(frame->node->policy.cache.ttl * 1000000));
	cJSON_AddItemToObject(kept, "messages", cJSON_Duplicate(frame->messages, true));
	cJSON *updates = cJSON_AddArrayToObject(kept, "updates"); /* a field may be set twice */
	cJSON_ArrayForEach(update, frame->updates) {
		cJSON *one = json_append(updates, cJSON_CreateObject());
		cJSON_AddItemToObject(one, update->string, cJSON_Duplicate(update, true));
	}
	char *text = json_print(kept);
	cJSON_Delete(kept);
	if (strlen(text) <= NODE_CACHE_MAX)
		return text;
	free(text);
	return NULL;
}

void node_cache_put(const ag_run *run, const char *text)
{
	const char *path = node_cache_path(run, run->frame.cache_key);
	const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
	size_t len = strlen(text);
	int fd = open(path, flags, 0600);
	if (fd < 0 && errno == ENOENT) {
		directory_make(run->setup.cache_dir);
		fd = open(path, flags, 0600);
	}
	if (fd < 0) {
		log_warning("%s: a node's result is not kept: %s", path, strerror(errno));
		return;
	}
	/* another one that writes there is as good */
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	    (ftruncate(fd, 0) != 0 || write(fd, text, len) != (ssize_t)len)) {
		log_warning("%s: a node's result is not kept: %s", path, strerror(errno));
		if (ftruncate(fd, 0) != 0)
			log_warning("%s: %s", path, strerror(errno));
	}
	close(fd);
}
