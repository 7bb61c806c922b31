/* SPDX-License-Identifier: ISC */
/* Commands to a Redis server with a deadline, and the connections that are kept for them. */
#include "access/cache.h"

#include "base/id.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"

#include <hiredis.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define IDLE_MAX 8 /* connections kept for the next calls */
#define WHY_SIZE 160
#define MOST_ELEMENTS 16 /* elements of a reply */
#define CALM_MS 5000     /* without a failure, until the log says that they are over */

struct cache {
	struct cache_url url;
	char *name;
	_Atomic int64_t retry_at; /* monotonic milliseconds; 0 while the server answers */

	pthread_mutex_t lock; /* guards what follows */
	redisContext *idle[IDLE_MAX];
	size_t idle_count;
	bool failing; /* the server fails, and that was logged */
	int64_t failed_at;
	char why[WHY_SIZE];
};

/* One call: its time, and why it failed. */
struct attempt {
	struct cache *cache;
	int64_t end; /* monotonic milliseconds */
	const char *why;
	char text[WHY_SIZE];
};

static bool cache_fail(struct attempt *at, const char *why)
{
	snprintf(at->text, sizeof(at->text), "%s", why);
	at->why = at->text;
	return false;
}

/* ---- one connection ---- */

static bool cache_wait_for(struct attempt *at, redisContext *c, short events)
{
	struct pollfd waiting = {.fd = c->fd, .events = events};
	int64_t left = at->end - clock_monotonic_ms();
	while (left > 0) {
		if (poll(&waiting, 1, (int)left) > 0)
			return true;
		left = at->end - clock_monotonic_ms();
	}
	return cache_fail(at, "it does not answer in time");
}

static redisReply *cache_read_reply(struct attempt *at, redisContext *c)
{
	void *reply = NULL;
	for (;;) {
		if (redisGetReplyFromReader(c, &reply) != REDIS_OK) {
			cache_fail(at, c->errstr);
			return NULL;
		}
		if (reply)
			return reply;
		if (!cache_wait_for(at, c, POLLIN))
			return NULL;
		if (redisBufferRead(c) != REDIS_OK) {
			cache_fail(at, c->errstr);
			return NULL;
		}
	}
}

#define ARGS_MAX 8

/* Sends a command, ended by NULL, and reads its reply; NULL when the connection is of no use any
 * more. */
static redisReply *cache_ask(struct attempt *at, redisContext *c, const char *const command[])
{
	const char *argv[ARGS_MAX];
	size_t sizes[ARGS_MAX];
	int argc = 0;
	for (; argc < ARGS_MAX && command[argc]; argc++) {
		argv[argc] = command[argc];
		sizes[argc] = strlen(command[argc]);
	}
	redisAppendCommandArgv(c, argc, argv, sizes);
	for (int done = 0; !done;) {
		if (!cache_wait_for(at, c, POLLOUT))
			return NULL;
		if (redisBufferWrite(c, &done) != REDIS_OK) {
			cache_fail(at, c->errstr);
			return NULL;
		}
	}
	return cache_read_reply(at, c);
}

/* Sends a command at the beginning of a connection, where it must succeed. */
static bool cache_begin(struct attempt *at, redisContext *c, const char *const command[])
{
	redisReply *reply = cache_ask(at, c, command);
	bool good = reply && reply->type == REDIS_REPLY_STATUS;
	if (reply && !good)
		cache_fail(at, reply->type == REDIS_REPLY_ERROR ? reply->str : "it is no Redis");
	freeReplyObject(reply);
	return good;
}

static bool cache_log_in(struct attempt *at, redisContext *c)
{
	const struct cache_url *url = &at->cache->url;
	char number[16];
	snprintf(number, sizeof(number), "%d", url->database);
	if (url->password && url->user &&
	    !cache_begin(at, c, (const char *const[]){"AUTH", url->user, url->password, NULL}))
		return false;
	if (url->password && !url->user &&
	    !cache_begin(at, c, (const char *const[]){"AUTH", url->password, NULL}))
		return false;
	return !url->database || cache_begin(at, c, (const char *const[]){"SELECT", number, NULL});
}

#if HIREDIS_MAJOR == 0
static redisReplyObjectFunctions bounded; /* libhiredis' own, but for one */
static void *(*make_array)(const redisReadTask *task, int elements);

static void *cache_make_small_array(const redisReadTask *task, int elements)
{
	return elements > MOST_ELEMENTS ? NULL : make_array(task, elements);
}

static void cache_make_bounded(void)
{
	redisReader *reader = redisReaderCreate();
	if (!reader)
		abort(); /* out of memory */
	bounded = *reader->fn;
	make_array = bounded.createArray;
	bounded.createArray = cache_make_small_array;
	redisReaderFree(reader);
}
#endif

/* Bounds what a reply may hold.  What is asked here is answered with a value or two; for a server
 * that announces millions no memory is taken: libhiredis says so, and the connection is given
 * up. */
static void cache_bound_replies(redisContext *c)
{
#if HIREDIS_MAJOR > 0
	c->reader->maxelements = MOST_ELEMENTS;
#else
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, cache_make_bounded);
	c->reader->fn = &bounded;
#endif
}

static redisContext *cache_connect_new(struct attempt *at)
{
	const struct cache_url *url = &at->cache->url;
	char address[RESOLVE_SIZE];
	int status = 0;
	socklen_t size = sizeof(status);
	const char *unknown = url->host ? resolve(url->host, at->end, address) : NULL;
	if (unknown) {
		cache_fail(at, unknown);
		return NULL;
	}
	redisContext *c = url->host ? redisConnectNonBlock(address, url->port)
				    : redisConnectUnixNonBlock(url->path);
	if (!c)
		abort(); /* out of memory */
	cache_bound_replies(c);
	if (c->err) {
		cache_fail(at, c->errstr);
	} else if (cache_wait_for(at, c, POLLOUT)) {
		getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &status, &size);
		if (status != 0)
			cache_fail(at, strerror(status));
		else if (cache_log_in(at, c))
			return c;
	}
	redisFree(c);
	return NULL;
}

/* Whether a connection is good for the next command.  One that has something to say unasked, such
 * as a reply that came twice, would say it in reply to that; one that has ended is of no use. */
static bool cache_is_quiet(const redisContext *c)
{
	struct pollfd waiting = {.fd = c->fd, .events = POLLIN};
	return c->reader->pos == c->reader->len && poll(&waiting, 1, 0) == 0;
}

/* ---- all of them ---- */

/* Logs that the server fails (why), or does no longer (NULL): once when it begins, and once when it
 * is over.  A server that is full, or may only be read, fails at some commands alone. */
static void cache_note(struct cache *cache, const char *why)
{
	int64_t now = clock_monotonic_ms();
	pthread_mutex_lock(&cache->lock);
	bool was = cache->failing;
	cache->failing = why || (was && now - cache->failed_at < CALM_MS);
	if (why) {
		cache->failed_at = now;
		snprintf(cache->why, sizeof(cache->why), "%s", why);
	}
	bool changed = cache->failing != was;
	pthread_mutex_unlock(&cache->lock);
	if (changed && why)
		log_warning("the cache at %s is not used for now: %s", cache->name, why);
	else if (changed)
		log_info("the cache at %s is used again", cache->name);
}

/*
 * One command over an idle connection, or a new one.  An idle one may be from before the server was
 * restarted, so its failure counts only when time ran out.
 */
static redisReply *cache_exchange(struct attempt *at, const char *const command[])
{
	struct cache *cache = at->cache;
	redisReply *reply = NULL;
	for (bool idle = true; !reply && idle;) {
		pthread_mutex_lock(&cache->lock);
		redisContext *c = cache->idle_count ? cache->idle[--cache->idle_count] : NULL;
		pthread_mutex_unlock(&cache->lock);
		idle = c != NULL;
		if (!idle && !(c = cache_connect_new(at)))
			break;
		if (!idle || cache_is_quiet(c))
			reply = cache_ask(at, c, command);
		pthread_mutex_lock(&cache->lock);
		if (reply && cache->idle_count < IDLE_MAX) {
			cache->idle[cache->idle_count++] = c;
			c = NULL;
		}
		pthread_mutex_unlock(&cache->lock);
		if (c)
			redisFree(c);
	}
	return reply;
}

/* The server's reply to a command, whatever it is, within patience_ms; NULL when there is none.
 * After a failure one thread tries again for all of them. */
static redisReply *cache_try(struct cache *cache, const char *const command[], int64_t patience_ms)
{
	int64_t now = clock_monotonic_ms(), retry_at = atomic_load(&cache->retry_at);
	struct attempt at = {.cache = cache, .end = now + patience_ms};
	if (retry_at != 0 &&
	    (now < retry_at ||
		!atomic_compare_exchange_strong(&cache->retry_at, &retry_at, now + CACHE_RETRY_MS)))
		return NULL;
	redisReply *reply = cache_exchange(&at, command);
	atomic_store(&cache->retry_at, reply ? 0 : clock_monotonic_ms() + CACHE_RETRY_MS);
	if (!reply)
		cache_note(cache, at.why ? at.why : "it does not answer");
	return reply;
}

/* The reply, or NULL for one that says "error". */
static redisReply *cache_settle(struct cache *cache, redisReply *reply)
{
	if (!reply)
		return NULL;
	if (reply->type != REDIS_REPLY_ERROR) {
		cache_note(cache, NULL);
		return reply;
	}
	cache_note(cache, reply->str);
	freeReplyObject(reply);
	return NULL;
}

static redisReply *cache_call(struct cache *cache, const char *const command[])
{
	return cache_settle(cache, cache_try(cache, command, CACHE_PATIENCE_MS));
}

/* Runs a command whose reply says nothing. */
static bool cache_done(struct cache *cache, const char *const command[])
{
	redisReply *reply = cache_call(cache, command);
	freeReplyObject(reply);
	return reply != NULL;
}

/* ---- what it can do ---- */

bool cache_get(struct cache *cache, const char *key, char **value)
{
	*value = NULL;
	redisReply *reply = cache_call(cache, (const char *const[]){"GET", key, NULL});
	bool known = reply && (reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_NIL);
	if (known && reply->type == REDIS_REPLY_STRING)
		*value = xstrndup(reply->str, reply->len);
	freeReplyObject(reply);
	return known;
}

bool cache_set(struct cache *cache, const char *key, const char *value)
{
	return cache_done(cache, (const char *const[]){"SET", key, value, NULL});
}

bool cache_delete(struct cache *cache, const char *key)
{
	return cache_done(cache, (const char *const[]){"DEL", key, NULL});
}

bool cache_ping(struct cache *cache, const char **why)
{
	if (cache_done(cache, (const char *const[]){"PING", NULL}))
		return true;
	*why = cache->why;
	return false;
}

const char *cache_name(const struct cache *cache)
{
	return cache->name;
}

/* ---- scripts ---- */

void cache_script_init(struct cache_script *script, const char *text)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	script->text = text;
	if (EVP_Digest(text, strlen(text), digest, NULL, EVP_sha1(), NULL) != 1)
		abort();
	hex_text(digest, sizeof(script->name) / 2, script->name);
}

bool cache_run(struct cache *cache, const struct cache_script *script, const char *key,
    const int64_t args[SCRIPT_ARGS], int64_t answers[SCRIPT_ANSWERS], int64_t patience_ms)
{
	char numbers[SCRIPT_ARGS][24];
	for (size_t i = 0; i < SCRIPT_ARGS; i++)
		snprintf(numbers[i], sizeof(numbers[i]), "%" PRId64, args[i]);
	const char *command[ARGS_MAX] = {
	    "EVALSHA", script->name, "1", key, numbers[0], numbers[1], NULL};
	int64_t start = clock_monotonic_ms();
	redisReply *reply = cache_try(cache, command, patience_ms);
	/* a server that was restarted has forgotten the script, and learns it from the text */
	if (reply && reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "NOSCRIPT", 8) == 0) {
		freeReplyObject(reply);
		command[0] = "EVAL";
		command[1] = script->text;
		reply = cache_try(cache, command, patience_ms - (clock_monotonic_ms() - start));
	}
	reply = cache_settle(cache, reply);
	bool answered =
	    reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == SCRIPT_ANSWERS;
	for (size_t i = 0; answered && i < SCRIPT_ANSWERS; i++) {
		answered = reply->element[i]->type == REDIS_REPLY_INTEGER;
		answers[i] = reply->element[i]->integer;
	}
	freeReplyObject(reply);
	return answered;
}

/* ---- opening and closing ---- */

struct cache *cache_new(const char *url, const char *place, struct problems *problems)
{
	struct cache_url parsed;
	const char *wrong = cache_url_parse(&parsed, url);
	if (wrong) {
		problems_add(problems, "%s: %s", place, wrong);
		return NULL;
	}
	struct cache *cache = xcalloc(1, sizeof(*cache));
	cache->url = parsed;
	cache->name =
	    parsed.host ? xasprintf("%s:%d", parsed.host, parsed.port) : xstrdup(parsed.path);
	pthread_mutex_init(&cache->lock, NULL);
	return cache;
}

void cache_free(struct cache *cache)
{
	if (!cache)
		return;
	while (cache->idle_count)
		redisFree(cache->idle[--cache->idle_count]);
	pthread_mutex_destroy(&cache->lock);
	cache_url_release(&cache->url);
	free(cache->name);
	free(cache);
}
