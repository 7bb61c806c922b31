/* SPDX-License-Identifier: ISC */
/* The key `rate_limit`: how many requests, counted where and by what. */
#include "config/keys.h"

#include "base/json/json.h"
#include "base/memory.h"
#include "config/words.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

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
static bool rate_limit_is_network(const char *text)
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

const struct field_row rate_limit_rows[] = {
    FIELD_AT("enabled", rate_limit_config, present, .kind = &field_loose_bool),
    ROW(backend, .kind = &field_choice, .choices = backends,
	.expected = "\"memory\", \"cache\" or \"custom\""),
    ROW(requests, .kind = &field_integer, .min = 1, .expected = EXPECTED_POSITIVE),
    ROW(window, .kind = &field_integer, .min = 1, .expected = EXPECTED_POSITIVE " (seconds)"),
    ROW(by, .kind = &field_choice, .choices = subjects,
	.expected = "\"ip\", \"user\" or \"global\""),
    ROW(ipv6_prefix, .kind = &field_integer, .min = 1, .max = 128,
	.expected = "an integer from 1 to 128 (bits)"),
    ROW(exclude_paths, .kind = &field_strings),
    ROW(fail_open, .kind = &field_loose_bool),
    ROW(trusted_proxy_headers, .kind = &field_loose_bool),
    ROW(trusted_proxy_hops, .kind = &field_integer, .min = 1, .expected = EXPECTED_POSITIVE),
    ROW(trusted_proxies, .kind = &field_strings, .valid = rate_limit_is_network,
	.expected = "an IP address or a CIDR range"),
    FIELD_KNOWN("cache"),
    FIELD_KNOWN("redis"),
    FIELDS_END,
};

/* Reads the object or string under key, which is `cache` or its alias `redis`. */
static void rate_limit_read_cache(
    const struct section *s, const char *key, struct rate_limit_config *r)
{
	const cJSON *value = json_opt(s->object, key);
	struct section cache;
	if (!cJSON_IsObject(value)) {
		r->cache_url = section_expand(s, key, value, "a URL or an object {url, prefix}");
		r->cache_place = xasprintf("%s: %s.%s", s->file, s->path, key);
	} else if (section_open(&cache, s, key)) {
		r->cache_url = section_expand(&cache, "url", json_opt(value, "url"), "a URL");
		r->cache_place = xasprintf("%s: %s.url", cache.file, cache.path);
		char *prefix =
		    section_expand(&cache, "prefix", json_opt(value, "prefix"), "a string");
		if (prefix)
			string_replace(&r->cache_prefix, prefix);
		free(prefix);
	}
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
	section_read(&s, rate_limit_rows, r);
	bool alias = r->backend == RATE_CACHE && !json_opt(s.object, "cache");
	rate_limit_read_cache(&s, alias ? "redis" : "cache", r);
	if (!r->present)
		return;
	/* what the backend needs beside this block */
	if (r->backend == RATE_CUSTOM && !config->injectq)
		section_problem(&s, "backend",
		    "\"custom\" expects a container with the backend in injectq, found nothing");
	if (r->backend != RATE_CACHE || r->cache_url)
		return;
	if (config->cache) {
		r->cache_url = xstrdup(config->cache);
		string_replace(&r->cache_place, config->cache_place);
	} else {
		section_problem(&s, "cache",
		    "expected a URL, here, in the key cache, or in the "
		    "variable CACHE_URL, found nothing");
	}
}
