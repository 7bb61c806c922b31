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
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

const char *node_cache_key(
    ag_run *run, const struct node *node, const char *tool, const cJSON *args)
{
	const struct node_cache *cache = &node->policy.cache;
	const struct values values = {run, &run->state, NULL};
	if (!cache->names || !run->setup.cache_dir)
		return NULL;
	cJSON *key = cJSON_CreateObject();
	json_add_str(key, "node", node->name);
	json_add_str(key, "graph", run->setup.graph->name);
	if (cache->described)
		json_add_str(key, "described", cache->described);
	if (node->sub)
		json_add_int(key, "inside", (int64_t)node->sub->graph->described);
	if (tool) {
		json_add_str(key, "tool", tool);
		json_refer(key, "args", args);
	}
	cJSON *list = cJSON_AddArrayToObject(key, "values");
	for (size_t i = 0; cache->names[i]; i++)
		cJSON_AddItemToArray(list, values_of(cache->names[i], &values));
	char *text = arena_print(run->setup.arena, key);
	cJSON_Delete(key);
	return text;
}

/* The file of the key's slot, in the arena. */
static const char *node_cache_path(const ag_run *run, const char *key)
{
	unsigned slot = (unsigned)(hash_text(HASH_START, key) % NODE_CACHE_SLOTS);
	return arena_printf(run->setup.arena, "%s/%03x", run->setup.cache_dir, slot);
}

cJSON *node_cache_find(const ag_run *run, const char *key)
{
	char *text = NULL;
	struct stat st;
	int64_t until;
	if (!key)
		return NULL;
	int fd = open(node_cache_path(run, key), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	/* one that is being written is not there yet */
	if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0 && fstat(fd, &st) == 0 && st.st_size > 0 &&
	    st.st_size <= NODE_CACHE_MAX) {
		text = xmalloc((size_t)st.st_size + 1);
		ssize_t got = read(fd, text, (size_t)st.st_size);
		text[got > 0 ? got : 0] = '\0';
	}
	if (fd >= 0)
		close(fd);
	cJSON *kept = json_parse_own(text);
	free(text);
	/* the slot may have what is kept of another key, or what is kept no longer */
	if (!json_str_is(kept, "key", key) || !json_integer(json_get(kept, "until"), &until) ||
	    until <= clock_now()) {
		cJSON_Delete(kept);
		kept = NULL;
	}
	metrics_count(kept ? METRIC_NODE_CACHE_HITS : METRIC_NODE_CACHE_MISSES, 1);
	return kept;
}

void node_cache_say(ag_run *run, cJSON *kept)
{
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
}

cJSON *node_cache_result(const cJSON *first, const cJSON *updates)
{
	const cJSON *message, *update;
	for (message = first; message; message = message->next) {
		if (message_has_calls(message) || message_is_cut(message))
			return NULL;
	}
	cJSON *result = cJSON_CreateObject();
	cJSON *messages = cJSON_AddArrayToObject(result, "messages");
	for (message = first; message; message = message->next)
		cJSON_AddItemToArray(messages, cJSON_Duplicate(message, true));
	cJSON *list = cJSON_AddArrayToObject(result, "updates"); /* a field may be set twice */
	cJSON_ArrayForEach(update, updates) {
		cJSON *one = json_append(list, cJSON_CreateObject());
		cJSON_AddItemToObject(one, update->string, cJSON_Duplicate(update, true));
	}
	return result;
}

/* Writes the file, unless another process is writing it: that is as good. */
static bool node_cache_write(int fd, const char *text)
{
	size_t len = strlen(text);
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		return true;
	if (ftruncate(fd, 0) == 0 && write(fd, text, len) == (ssize_t)len)
		return true;
	int why = errno;
	if (ftruncate(fd, 0) != 0)
		log_warning("a node's result is half written: %s", strerror(errno));
	errno = why;
	return false;
}

void node_cache_put(const ag_run *run, const struct node *node, const char *key, cJSON *result)
{
	const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
	const char *path = node_cache_path(run, key);
	json_add_str(result, "key", key);
	json_add_int(result, "until", clock_now() + (int64_t)(node->policy.cache.ttl * 1000000));
	char *text = json_print(result);
	cJSON_Delete(result);
	if (strlen(text) <= NODE_CACHE_MAX) {
		int fd = open(path, flags, 0600);
		if (fd < 0 && errno == ENOENT) {
			directory_make(run->setup.cache_dir);
			fd = open(path, flags, 0600);
		}
		if (fd < 0 || !node_cache_write(fd, text))
			log_warning("%s: a node's result is not kept: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	free(text);
}
