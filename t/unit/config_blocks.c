/* SPDX-License-Identifier: ISC */
/* Blocks of the configuration: rate limits, authentication, security. */
#include "config_fixture.h"

#include "base/json/json.h"

#include <stdlib.h>
#include <string.h>

#define LIMIT(members) ", \"rate_limit\": {" members "}"
#define TOOL(members)                                                                            \
	", \"remote_tools\": [{\"node\": \"n\", \"name\": \"t\", \"description\": \"d\"" members \
	"}]"

static bool same(const char *a, const char *b)
{
	return a && strcmp(a, b) == 0;
}

static void limit_defaults(void)
{
	CHECK_ACCEPTED(LIMIT(""),
	    c->rate_limit.present && c->rate_limit.backend == RATE_MEMORY &&
		c->rate_limit.by == RATE_BY_IP);
	CHECK_ACCEPTED(LIMIT(""),
	    c->rate_limit.requests == 100 && c->rate_limit.window == 60 &&
		c->rate_limit.trusted_proxy_hops == 1);
	CHECK_ACCEPTED(LIMIT(""),
	    c->rate_limit.fail_open && !c->rate_limit.trusted_proxy_headers &&
		same(c->rate_limit.cache_prefix, "agentgraph:rate-limit"));
	CHECK_ACCEPTED(", \"rate_limit\": null", !c->rate_limit.present);
}

static void limit_numbers(void)
{
	CHECK_ACCEPTED(LIMIT("\"requests\": 5, \"window\": 2.0"),
	    c->rate_limit.requests == 5 && c->rate_limit.window == 2);
	CHECK_REFUSED(LIMIT("\"requests\": \"many\""),
	    "agentgraph.json: rate_limit.requests: expected an integer from 1 to 1000000000000, found \"many\"");
	CHECK_REFUSED(LIMIT("\"requests\": 0"), "rate_limit.requests");
	CHECK_REFUSED(LIMIT("\"window\": -1"), "rate_limit.window");
	CHECK_REFUSED(LIMIT("\"window\": 1e30"), "rate_limit.window");
	CHECK_REFUSED(LIMIT("\"requests\": 99999999999999999999"), "rate_limit.requests");
	CHECK_REFUSED(LIMIT("\"trusted_proxy_hops\": 0"), "rate_limit.trusted_proxy_hops");
}

static void limit_booleans(void)
{
	CHECK_ACCEPTED(LIMIT("\"enabled\": \"off\""), !c->rate_limit.present);
	CHECK_ACCEPTED(LIMIT("\"fail_open\": \"No\", \"trusted_proxy_headers\": \"1\""),
	    !c->rate_limit.fail_open && c->rate_limit.trusted_proxy_headers);
	CHECK_REFUSED(LIMIT("\"enabled\": 1"), "rate_limit.enabled");
	CHECK_REFUSED(LIMIT("\"fail_open\": \"never\""), "rate_limit.fail_open");
}

static void limit_choices(void)
{
	CHECK_ACCEPTED(LIMIT("\"by\": \"global\""), c->rate_limit.by == RATE_BY_GLOBAL);
	CHECK_ACCEPTED(LIMIT(""), c->rate_limit.ipv6_prefix == 64);
	CHECK_ACCEPTED(LIMIT("\"ipv6_prefix\": 128"), c->rate_limit.ipv6_prefix == 128);
	CHECK_REFUSED(LIMIT("\"ipv6_prefix\": 0"), "rate_limit.ipv6_prefix: expected an integer");
	CHECK_REFUSED(LIMIT("\"ipv6_prefix\": 129"), "from 1 to 128 (bits), found 129");
	CHECK_REFUSED(LIMIT("\"by\": \"key\""), "\"ip\", \"user\" or \"global\"");
	CHECK_REFUSED(LIMIT("\"backend\": \"disk\""), "rate_limit.backend");
	CHECK_REFUSED(LIMIT("\"backend\": \"custom\""), "injectq");
	CHECK_ACCEPTED(LIMIT("\"backend\": \"custom\"") ", \"injectq\": \"a:b\"",
	    c->rate_limit.backend == RATE_CUSTOM);
}

static void limit_cache(void)
{
	setenv("P", "x", 1);
	CHECK_ACCEPTED(LIMIT("\"backend\": \"cache\", \"cache\": \"redis://$P\""),
	    c->rate_limit.backend == RATE_CACHE && same(c->rate_limit.cache_url, "redis://x"));
	setenv("P", "x", 1);
	CHECK_ACCEPTED(
	    LIMIT(
		"\"backend\": \"cache\", \"cache\": {\"url\": \"r://${P}\", \"prefix\": \"$P:p\"}"),
	    same(c->rate_limit.cache_url, "r://x") && same(c->rate_limit.cache_prefix, "x:p"));
	CHECK_ACCEPTED(LIMIT("\"backend\": \"redis\", \"redis\": {\"url\": \"r://a\"}"),
	    c->rate_limit.backend == RATE_CACHE && same(c->rate_limit.cache_url, "r://a"));
	CHECK_ACCEPTED(
	    LIMIT("\"backend\": \"redis\", \"redis\": {\"url\": \"r://a\"}, \"cache\": \"r://b\""),
	    same(c->rate_limit.cache_url, "r://b"));
	CHECK_REFUSED(LIMIT("\"cache\": {\"url\": \"$P\"}"), "rate_limit.cache.url");
	CHECK_REFUSED(LIMIT("\"cache\": 5"), "rate_limit.cache: expected a URL or an object");
	CHECK_REFUSED(LIMIT("\"cache\": {\"prefix\": 5}"), "rate_limit.cache.prefix");
}

static void limit_cache_fallback(void)
{
	CHECK_REFUSED(LIMIT("\"backend\": \"cache\""), "rate_limit.cache: expected a URL");
	CHECK_ACCEPTED(LIMIT("\"backend\": \"cache\", \"enabled\": false"), !c->rate_limit.present);
	setenv("CACHE_URL", "redis://env", 1);
	CHECK_ACCEPTED(
	    LIMIT("\"backend\": \"cache\""), same(c->rate_limit.cache_url, "redis://env"));
}

static void limit_proxies(void)
{
	CHECK_ACCEPTED(
	    LIMIT("\"trusted_proxies\": [\"10.0.0.0/8\", \"::1\", \"fd00::/128\", \"1.2.3.4/0\"]"),
	    c->rate_limit.trusted_proxies.count == 4);
	CHECK_REFUSED(LIMIT("\"trusted_proxies\": [\"10.0.0.0/33\"]"),
	    "rate_limit.trusted_proxies[0]: expected an IP address or a CIDR range");
	CHECK_REFUSED(LIMIT("\"trusted_proxies\": [\"::1\", \"::1/129\"]"), "trusted_proxies[1]");
	CHECK_REFUSED(LIMIT("\"trusted_proxies\": [\"10.0.0.0/\"]"), "trusted_proxies[0]");
	CHECK_REFUSED(LIMIT("\"trusted_proxies\": [\"10.0.0.0/+8\"]"), "trusted_proxies[0]");
	CHECK_REFUSED(LIMIT("\"trusted_proxies\": [\"10.0.0.0/-1\"]"), "trusted_proxies[0]");
	CHECK_REFUSED(LIMIT("\"trusted_proxies\": [\"localhost\"]"), "found \"localhost\"");
	CHECK_REFUSED(LIMIT("\"trusted_proxies\": [5]"), "trusted_proxies[0]");
	CHECK_REFUSED(LIMIT("\"exclude_paths\": [\"/a\", null]"), "rate_limit.exclude_paths[1]");
}

static void tool_defaults(void)
{
	struct load l = fixture_load_with(TOOL(""));
	CU_ASSERT_PTR_NOT_NULL_FATAL(l.config);
	CU_ASSERT_EQUAL_FATAL(l.config->remote_tool_count, 1);
	const struct remote_tool *tool = &l.config->remote_tools[0];
	CU_ASSERT(same(tool->node, "n") && same(tool->name, "t") && same(tool->description, "d"));
	char *text = json_print(tool->parameters);
	CU_ASSERT_STRING_EQUAL(text, "{\"type\":\"object\",\"properties\":{},\"required\":[]}");
	free(text);
	fixture_end(&l);
}

static void tool_parameters(void)
{
	CHECK_ACCEPTED(TOOL(", \"parameters\": {\"type\": \"object\", \"x\": 1}"),
	    json_get(c->remote_tools[0].parameters, "x") &&
		cJSON_IsObject(json_get(c->remote_tools[0].parameters, "properties")) &&
		cJSON_IsArray(json_get(c->remote_tools[0].parameters, "required")));
	CHECK_REFUSED(TOOL(", \"parameters\": {}"),
	    "remote_tools[0].parameters.type: expected \"object\", found nothing");
	CHECK_REFUSED(TOOL(", \"parameters\": {\"type\": \"array\"}"), "parameters.type");
	CHECK_REFUSED(TOOL(", \"parameters\": {\"type\": \"object\", \"properties\": []}"),
	    "remote_tools[0].parameters.properties");
	CHECK_REFUSED(TOOL(", \"parameters\": {\"type\": \"object\", \"required\": [1]}"),
	    "remote_tools[0].parameters.required");
	CHECK_REFUSED(TOOL(", \"parameters\": 1"), "remote_tools[0].parameters");
}

static void tool_texts(void)
{
	CHECK_REFUSED(", \"remote_tools\": [{\"node\": \"n\", \"name\": \" \", \"description\": "
		      "\"d\"}]",
	    "agentgraph.json: remote_tools[0].name: expected a string that is not blank");
	CHECK_REFUSED(
	    ", \"remote_tools\": [{\"node\": 1, \"name\": \"n\", \"description\": \"d\"}]",
	    "remote_tools[0].node");
	CHECK_REFUSED(", \"remote_tools\": [{\"node\": \"n\", \"name\": \"n\"}]",
	    "remote_tools[0].description");
	CHECK_REFUSED(TOOL(", \"colour\": 1"), "remote_tools[0].colour: unknown key");
	CHECK_REFUSED(", \"remote_tools\": [5]", "remote_tools[0]: expected an object");
	CHECK_REFUSED(", \"remote_tools\": {}", "remote_tools: expected an array");
	CHECK_ACCEPTED(", \"remote_tools\": []", c->remote_tool_count == 0);
}

static void tool_names_are_unique(void)
{
	CHECK_REFUSED(", \"remote_tools\": ["
		      "{\"node\": \"n\", \"name\": \"t\", \"description\": \"d\"},"
		      "{\"node\": \"m\", \"name\": \"t\", \"description\": \"d\"}]",
	    "remote_tools[1].name: Duplicate remote tool name 't'");
}

static const struct unit_test tests[] = {
    {"a rate limit has defaults", limit_defaults},
    {"a rate limit's numbers are above 0", limit_numbers},
    {"a rate limit's booleans may be words", limit_booleans},
    {"a rate limit's choices are checked", limit_choices},
    {"a rate limit's cache is a URL or an object", limit_cache},
    {"a shared rate limit needs a URL from somewhere", limit_cache_fallback},
    {"trusted proxies are addresses and ranges", limit_proxies},
    {"a remote tool without parameters gets an empty schema", tool_defaults},
    {"a remote tool's schema is checked and completed", tool_parameters},
    {"a remote tool has three texts and no unknown keys", tool_texts},
    {"two remote tools cannot share a name", tool_names_are_unique},
};

int main(void)
{
	fixture_init();
	return unit_main("config_blocks", tests, UNIT_COUNT(tests));
}
