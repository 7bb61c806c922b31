/* SPDX-License-Identifier: ISC */
/* Asking the configured backend for a verdict, and what counts as one while it fails; the container
 * of `injectq`, which may bring a backend. */
#include "access/limit.h"

#include "access/cache.h"
#include "access/limit_table.h"
#include "agentgraph.h"
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/metrics/metrics.h"
#include "base/os/clock.h"
#include "config/plugin.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GLOBAL_KEY "__global__"
#define TELL_EVERY_MS 60000 /* how often a failing backend is logged */
/* How long a server is waited for: a request waits for a second at most. */
#define PATIENCE_MS 950

struct limiter {
	const struct rate_limit_config *rules;
	struct address_trust trust;
	struct limit_table *table; /* RATE_MEMORY */
	struct cache *cache;       /* RATE_CACHE */
	struct cache_script script;
	struct plugin plugin;             /* the container's */
	const struct ag_container *parts; /* RATE_CUSTOM; NULL: no container was configured */
	void *data;                       /* the container's own */
	_Atomic int64_t told_at;          /* monotonic milliseconds; 0: never */
};

/* ---- backends: each fills in what it knows, or returns false when it failed ---- */

/*
 * The server's clock counts, in microseconds, so that those of the machines do not matter.  A key
 * is a list of the times of the requests that were allowed; should that clock be set back, those
 * that lie in the future are dropped.  Answers whether it is allowed, how many are left, and the
 * microseconds until the oldest leaves.
 */
static const char window_script[] =
    "local t = redis.call('TIME')\n"
    "local now = t[1] * 1000000 + t[2]\n"
    "local requests, window = tonumber(ARGV[1]), tonumber(ARGV[2])\n"
    "local function oldest() return tonumber(redis.call('LINDEX', KEYS[1], 0) or nil) end\n"
    "local first = oldest()\n"
    "while first and (first <= now - window or first > now) do\n"
    "  redis.call('LPOP', KEYS[1])\n"
    "  first = oldest()\n"
    "end\n"
    "local count = redis.call('LLEN', KEYS[1])\n"
    "if count >= requests then return {0, 0, first + window - now} end\n"
    "redis.call('RPUSH', KEYS[1], string.format('%.0f', now))\n"
    "redis.call('PEXPIRE', KEYS[1], math.ceil(window / 1000))\n"
    "return {1, requests - count - 1, window}\n";

static bool limiter_ask_cache(
    struct limiter *limiter, const char *key, struct limit_verdict *verdict)
{
	/* the longest window that the server's numbers hold exactly: thirty years */
	const int64_t longest = 1000000000;
	const struct rate_limit_config *rules = limiter->rules;
	char *name = xasprintf("%s:%s", rules->cache_prefix, key);
	const int64_t args[] = {
	    rules->requests, (rules->window < longest ? rules->window : longest) * 1000000};
	int64_t answer[3];
	bool answered =
	    cache_run(limiter->cache, &limiter->script, name, args, answer, PATIENCE_MS);
	free(name);
	if (!answered)
		return false;
	verdict->allowed = answer[0] == 1;
	verdict->remaining = answer[1];
	verdict->reset_after =
	    verdict->allowed ? rules->window : (answer[2] + 1000000 - 1) / 1000000;
	return true;
}

static bool limiter_ask_container(
    struct limiter *limiter, const char *key, struct limit_verdict *verdict)
{
	const struct rate_limit_config *rules = limiter->rules;
	struct ag_rate_verdict found = {0};
	if (limiter->parts->rate_limit->check(
		key, rules->requests, rules->window, &found, limiter->data) != AG_OK)
		return false;
	verdict->allowed = found.allowed;
	verdict->remaining = found.allowed ? found.remaining : 0;
	verdict->reset_after = found.reset_after;
	return true;
}

/* ---- the verdict ---- */

void limit_check(struct limiter *limiter, const char *key, struct limit_verdict *verdict)
{
	const struct rate_limit_config *rules = limiter->rules;
	const struct limit_rule rule = {rules->requests, rules->window, clock_uptime_us};
	*verdict = (struct limit_verdict){.limit = rules->requests, .window = rules->window};
	switch (rules->backend) {
	case RATE_MEMORY:
		verdict->counted = limiter->table != NULL;
		if (limiter->table)
			limit_table_check(limiter->table, &rule, key, verdict);
		break;
	case RATE_CACHE:
		verdict->counted = limiter_ask_cache(limiter, key, verdict);
		break;
	case RATE_CUSTOM:
		verdict->counted = limiter_ask_container(limiter, key, verdict);
		break;
	}
	if (!verdict->counted) {
		/* One line a minute says what happens meanwhile. */
		int64_t now = clock_monotonic_ms(), told = atomic_load(&limiter->told_at);
		if (!told || now - told >= TELL_EVERY_MS) {
			if (atomic_compare_exchange_strong(&limiter->told_at, &told, now))
				log_error("the backend of the rate limit failed: requests are %s",
				    rules->fail_open ? "let in without being counted" : "refused");
		}
		verdict->allowed = rules->fail_open;
		verdict->remaining = 0;
	}
	/* another's backend may say anything */
	if (verdict->remaining < 0)
		verdict->remaining = 0;
	if (verdict->remaining > verdict->limit)
		verdict->remaining = verdict->limit;
	if (verdict->reset_after < 1)
		verdict->reset_after = 1;
	if (!verdict->allowed)
		metrics_count(METRIC_RATE_LIMITED, 1);
}

void limit_describe(const struct limit_verdict *verdict, cJSON *object)
{
	json_add_int(object, "limit", verdict->limit);
	json_add_int(object, "window_seconds", verdict->window);
	json_add_int(object, "retry_after_seconds", verdict->reset_after);
}

void limiter_network(const struct limiter *limiter, const char *address, char out[ADDRESS_SIZE])
{
	snprintf(out, ADDRESS_SIZE, "%s", address);
	address_network(out, limiter->rules->ipv6_prefix);
}

const char *limiter_key(
    const struct limiter *limiter, const char *user_id, const char *address, struct arena *a)
{
	char network[ADDRESS_SIZE];
	limiter_network(limiter, address, network);
	switch (limiter->rules->by) {
	case RATE_BY_IP:
		return arena_strdup(a, network);
	case RATE_BY_USER:
		return user_id ? arena_printf(a, "user:%s", user_id)
			       : arena_printf(a, "ip:%s", network);
	case RATE_BY_GLOBAL:
		break;
	}
	return GLOBAL_KEY;
}

bool limiter_is_on(const struct limiter *limiter)
{
	return limiter->rules->present;
}

bool limiter_needs_user(const struct limiter *limiter)
{
	return limiter->rules->present && limiter->rules->by == RATE_BY_USER;
}

bool limiter_excludes(const struct limiter *limiter, const char *path, size_t len)
{
	const struct string_list *paths = &limiter->rules->exclude_paths;
	for (size_t i = 0; i < paths->count; i++)
		if (strlen(paths->items[i]) == len && !memcmp(paths->items[i], path, len))
			return true;
	return false;
}

const struct address_trust *limiter_trust(const struct limiter *limiter)
{
	return &limiter->trust;
}

/* ---- opening and closing ---- */

struct limiter *limiter_open(const struct config *config, struct problems *problems)
{
	const struct rate_limit_config *rules = &config->rate_limit;
	const struct plugin_want want = {
	    .key = "injectq",
	    .import_path = config->injectq,
	    .kind = AG_CONTAINER,
	    .what = "struct ag_container",
	};
	const char *file = config->path ? config->path : "agentgraph.json";
	size_t before = problems->errors;
	struct limiter *limiter = xcalloc(1, sizeof(*limiter));
	limiter->rules = rules;
	address_trust_init(&limiter->trust, rules);
	if (config->injectq && plugin_load(&limiter->plugin, config, &want, problems)) {
		const struct ag_container *parts = limiter->plugin.table;
		if (!parts->open || parts->open(&limiter->data) == 0)
			limiter->parts = parts;
		else
			problems_add(
			    problems, "%s: injectq: '%s' refused to open", file, config->injectq);
	}
	if (rules->present && rules->backend == RATE_CACHE) {
		limiter->cache = cache_new(rules->cache_url, rules->cache_place, problems);
		cache_script_init(&limiter->script, window_script);
	}
	if (rules->present && rules->backend == RATE_CUSTOM && limiter->parts &&
	    !(limiter->parts->rate_limit && limiter->parts->rate_limit->check))
		problems_add(problems,
		    "%s: rate_limit.backend: \"custom\" expects a rate_limit in the container that "
		    "injectq names",
		    file);
	if (problems->errors == before)
		return limiter;
	limiter_close(limiter);
	return NULL;
}

void limiter_probe(struct limiter *limiter, struct problems *problems)
{
	const char *why;
	if (limiter->cache && !cache_ping(limiter->cache, &why))
		problems_warn(problems, "rate_limit.cache: the server at %s does not answer (%s)",
		    cache_name(limiter->cache), why);
}

void limiter_share(struct limiter *limiter, struct shared *shared)
{
	if (limiter->rules->present && limiter->rules->backend == RATE_MEMORY)
		limiter->table = limit_table_of(shared);
}

void limiter_close(struct limiter *limiter)
{
	if (!limiter)
		return;
	cache_free(limiter->cache);
	if (limiter->parts && limiter->parts->close)
		limiter->parts->close(limiter->data);
	plugin_close(limiter->plugin.library);
	address_trust_release(&limiter->trust);
	free(limiter);
}
