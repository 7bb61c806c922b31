/* SPDX-License-Identifier: ISC */
/* The key `rate_limit`: how many requests, counted where and by what. */
#include "config/keys.h"

#include "base/json.h"
#include "base/memory.h"
#include "config/string_list.h"
#include "config/words.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define EXPECTED_LOOSE_BOOL "a boolean"
#define EXPECTED_POSITIVE "an integer from 1 to 1000000000000"

static const struct choice backends[] = {
    {"memory", RATE_MEMORY},
    {"cache", RATE_CACHE},
    {"redis", RATE_CACHE},
    {"custom", RATE_CUSTOM},
    {NULL, 0},
};

static const struct choice subjects[] = {
    {"ip", RATE_BY_IP}, {"user", RATE_BY_USER}, {"global", RATE_BY_GLOBAL}, {NULL, 0}};

/* True for an IPv4 or IPv6 address, alone or with the length of a prefix behind a slash. */
static bool is_network(const char *text)
{
	char address[INET6_ADDRSTRLEN];
	unsigned char bytes[sizeof(struct in6_addr)];
	int64_t prefix = 0;
	size_t len = strcspn(text, "/");
	if (len >= sizeof(address))
		return false;
	memcpy(address, text, len);
	address[len] = '\0';
	bool v4 = inet_pton(AF_INET, address, bytes) == 1;
	if (!v4 && inet_pton(AF_INET6, address, bytes) != 1)
		return false;
	if (!text[len])
		return true;
	return text[len + 1] != '+' && word_integer(text + len + 1, &prefix) && prefix >= 0 &&
	    prefix <= (v4 ? 32 : 128);
}

#define ROW(member, ...) FIELD(rate_limit_config, member, __VA_ARGS__)

static const struct field rows[] = {
    FIELD_AT("enabled", rate_limit_config, present, .kind = FIELD_LOOSE_BOOL,
	.expected = EXPECTED_LOOSE_BOOL),
    ROW(backend, .kind = FIELD_CHOICE, .choices = backends,
	.expected = "\"memory\", \"cache\" or \"custom\""),
    ROW(requests, .kind = FIELD_INTEGER, .min = 1, .expected = EXPECTED_POSITIVE),
    ROW(window, .kind = FIELD_INTEGER, .min = 1, .expected = EXPECTED_POSITIVE " (seconds)"),
    ROW(by, .kind = FIELD_CHOICE, .choices = subjects,
	.expected = "\"ip\", \"user\" or \"global\""),
    ROW(ipv6_prefix, .kind = FIELD_INTEGER, .min = 1, .max = 128,
	.expected = "an integer from 1 to 128 (bits)"),
    ROW(exclude_paths, .kind = FIELD_STRINGS, .expected = EXPECTED_STRING),
    ROW(fail_open, .kind = FIELD_LOOSE_BOOL, .expected = EXPECTED_LOOSE_BOOL),
    ROW(trusted_proxy_headers, .kind = FIELD_LOOSE_BOOL, .expected = EXPECTED_LOOSE_BOOL),
    ROW(trusted_proxy_hops, .kind = FIELD_INTEGER, .min = 1, .expected = EXPECTED_POSITIVE),
    ROW(trusted_proxies, .kind = FIELD_STRINGS, .entry_valid = is_network,
	.expected = "an IP address or a CIDR range"),
};
static const struct field_table table = FIELD_TABLE(rows);

/* The object or string under key, `cache` or its alias `redis`. */
static void read_cache_block(const struct section *s, const char *key, struct rate_limit_config *r)
{
	const cJSON *value = json_opt(s->object, key);
	struct section cache;
	if (!cJSON_IsObject(value)) {
		r->cache_url = expanded_read(s, key, value, "a URL or an object {url, prefix}");
	} else if (section_open(&cache, s, key)) {
		r->cache_url = expanded_read(&cache, "url", json_opt(value, "url"), "a URL");
		char *prefix =
		    expanded_read(&cache, "prefix", json_opt(value, "prefix"), "a string");
		if (prefix)
			string_replace(&r->cache_prefix, prefix);
		free(prefix);
	}
}

/* What the backend needs beside this block.  Nothing is needed of a block that is not enforced. */
static void check_backend(const struct section *s, struct config *config)
{
	struct rate_limit_config *r = &config->rate_limit;
	if (r->backend == RATE_CUSTOM && !config->injectq)
		section_problem(s, "backend",
		    "\"custom\" expects a container with the backend in injectq, found nothing");
	if (r->backend != RATE_CACHE || r->cache_url)
		return;
	if (config->cache)
		r->cache_url = xstrdup(config->cache);
	else
		section_problem(s, "cache",
		    "expected a URL, here, in the key cache, or in the "
		    "variable CACHE_URL, found nothing");
}

void rate_limit_read(const struct section *root, struct config *config)
{
	struct rate_limit_config *r = &config->rate_limit;
	*r = (struct rate_limit_config){
	    .requests = 100,
	    .window = 60,
	    .ipv6_prefix = 64,
	    .cache_prefix = xstrdup("agentgraph:rate-limit"),
	    .fail_open = true,
	    .trusted_proxy_hops = 1,
	};
	struct section s;
	if (!section_open(&s, root, "rate_limit"))
		return;
	r->present = true;
	fields_read(&s, &table, r);
	bool alias = r->backend == RATE_CACHE && !json_opt(s.object, "cache");
	read_cache_block(&s, alias ? "redis" : "cache", r);
	if (r->present)
		check_backend(&s, config);
}

void rate_limit_release(struct rate_limit_config *rate_limit)
{
	fields_release(&table, rate_limit);
	free(rate_limit->cache_url);
	free(rate_limit->cache_prefix);
}
