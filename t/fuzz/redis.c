/* SPDX-License-Identifier: ISC */
/*
 * Replies of a Redis server to everything that a cache asks: whatever the bytes, each call ends,
 * with a value or without, and the next one starts afresh.
 */
#include "access/cache.h"
#include "base/buf.h"
#include "base/log/log.h"
#include "replay.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct {
	int fd;
	char path[64], url[80];
	pthread_mutex_t lock; /* guards reply: a client may be gone before it is answered */
	struct buf reply;
} server = {.fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

/* Sends the whole reply at once, and closes, so that nobody waits for more. */
static void *serve(void *arg)
{
	char question[4096];
	int fd;
	while ((fd = accept(server.fd, NULL, NULL)) >= 0) {
		if (recv(fd, question, sizeof(question), 0) > 0) {
			pthread_mutex_lock(&server.lock);
			send(fd, buf_str(&server.reply), server.reply.len, MSG_NOSIGNAL);
			pthread_mutex_unlock(&server.lock);
		}
		close(fd);
	}
	return arg;
}

static void remove_socket(void)
{
	unlink(server.path);
}

static void start(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	pthread_t thread;
	snprintf(server.path, sizeof(server.path), "/tmp/agentgraph-fuzz.%ld", (long)getpid());
	snprintf(server.url, sizeof(server.url), "unix://%s", server.path);
	memcpy(address.sun_path, server.path, sizeof(server.path));
	server.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	unlink(server.path);
	require(bind(server.fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    listen(server.fd, 16) == 0);
	atexit(remove_socket);
	require(pthread_create(&thread, NULL, serve, NULL) == 0);
	pthread_detach(thread);
	log_init("fuzz", LOG_ERROR);
	signal(SIGPIPE, SIG_IGN); /* as in the programs */
}

static struct cache *open_cache(void)
{
	struct problems problems = {0};
	struct cache *cache = cache_new(server.url, "redis", &problems);
	require(cache && problems.errors == 0);
	return cache;
}

static void get(void)
{
	struct cache *cache = open_cache();
	char *value;
	bool known = cache_get(cache, "k", &value);
	require(known || !value);
	free(value);
	cache_free(cache);
}

static void count(void)
{
	struct cache *cache = open_cache();
	struct cache_script script;
	const int64_t args[SCRIPT_ARGS] = {1, 2};
	int64_t answers[SCRIPT_ANSWERS];
	cache_script_init(&script, "return 1");
	cache_run(cache, &script, "k", args, answers, CACHE_PATIENCE_MS);
	cache_free(cache);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (server.fd < 0)
		start();
	pthread_mutex_lock(&server.lock);
	buf_reset(&server.reply);
	buf_add(&server.reply, data, size);
	pthread_mutex_unlock(&server.lock);
	get();
	count();
	return 0;
}
