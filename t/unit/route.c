/* SPDX-License-Identifier: ISC */
/* Paths, methods, the route table and its guard. */
#include "fcgi/route/route.h"
#include "base/problems.h"
#include "config/config.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static char storage[512];

static bool parse(struct path *path, const char *uri)
{
	snprintf(storage, sizeof(storage), "%s", uri);
	return path_parse(path, storage);
}

/* The segments of a path joined by '|', or "invalid". */
static const char *segments(const char *uri)
{
	static char joined[512];
	struct path path;
	if (!parse(&path, uri))
		return "invalid";
	joined[0] = '\0';
	for (size_t i = 0; i < path.count; i++) {
		if (i)
			strcat(joined, "|");
		strcat(joined, path.segments[i]);
	}
	return joined;
}

#define CHECK_PATH(uri, expected) CU_ASSERT_STRING_EQUAL(segments(uri), expected)

static void splits_paths(void)
{
	CHECK_PATH("/", "");
	CHECK_PATH("/ping", "ping");
	CHECK_PATH("/v1/threads/", "v1|threads|");
	CHECK_PATH("/v1//x", "v1||x");
	CHECK_PATH("/v1/graph:StateSchema", "v1|graph:StateSchema");
}

static void decodes_once(void)
{
	CHECK_PATH("/a%2Fb/c%20d", "a/b|c d");
	CHECK_PATH("/%252F", "%2F");
	CHECK_PATH("/a+b", "a+b");
	CHECK_PATH("/%c3%A9", "\xc3\xa9");
}

static void refuses_bad_escapes(void)
{
	CHECK_PATH("/a%00b", "invalid");
	CHECK_PATH("/a%", "invalid");
	CHECK_PATH("/a%4", "invalid");
	CHECK_PATH("/a%zz", "invalid");
	CHECK_PATH("/a%4/b", "invalid");
	CHECK_PATH("/%ff", "invalid");
	CHECK_PATH("/\xff", "invalid");
}

static void resolves_dots(void)
{
	CHECK_PATH("/a/../b", "b");
	CHECK_PATH("/a/./b", "a|b");
	CHECK_PATH("/a/%2e%2E/b", "b");
	CHECK_PATH("/a/..", "");
	CHECK_PATH("/a/.", "a|");
	CHECK_PATH("/a/...", "a|...");
	CHECK_PATH("/a/..b", "a|..b");
}

static void refuses_escape_from_root(void)
{
	CHECK_PATH("/..", "invalid");
	CHECK_PATH("/../ping", "invalid");
	CHECK_PATH("/a/../../ping", "invalid");
	CHECK_PATH("/%2e./ping", "invalid");
}

static void takes_absolute_form(void)
{
	CHECK_PATH("http://host:1/ping?x", "ping");
	CHECK_PATH("http://host", "");
	CHECK_PATH("http://host?a=b", "");
	CHECK_PATH("*", "invalid");
	CHECK_PATH("", "invalid");
	CHECK_PATH("ping", "invalid");
	CHECK_PATH("x/y://z/ping", "invalid");
}

static void separates_the_query(void)
{
	struct path path;
	CU_ASSERT(parse(&path, "/a?b/../..%00?c"));
	CU_ASSERT_EQUAL(path.count, 1);
	CU_ASSERT_STRING_EQUAL(path.query, "b/../..%00?c");
	CU_ASSERT(parse(&path, "/a"));
	CU_ASSERT_STRING_EQUAL(path.query, "");
}

static void counts_long_paths(void)
{
	struct path path;
	CU_ASSERT(parse(&path, "/1/2/3/4/5/6/7/8/9/10"));
	CU_ASSERT_EQUAL(path.count, 10);
	CU_ASSERT_STRING_EQUAL(path.segments[PATH_SEGMENTS - 1], "8");
	CU_ASSERT(parse(&path, "/1/2/3/4/5/6/7/8/9/10/../../../eight"));
	CU_ASSERT_EQUAL(path.count, 8);
	CU_ASSERT_STRING_EQUAL(path.segments[7], "eight");
}

static struct route_match find(enum method method, const char *uri)
{
	struct path path;
	struct route_match match = {0};
	CU_ASSERT_FATAL(parse(&path, uri));
	route_find(&routes, &path, method, &match);
	return match;
}

#define CHECK_ROUTE(method, uri, row)                           \
	do {                                                    \
		struct route_match found = find(method, uri);   \
		CU_ASSERT_PTR_NOT_NULL_FATAL(found.route);      \
		CU_ASSERT_STRING_EQUAL(found.route->path, row); \
	} while (0)

#define CHECK_UNKNOWN(uri) CU_ASSERT_EQUAL(find(METHOD_GET, uri).allowed, 0)

static void finds_routes(void)
{
	CHECK_ROUTE(METHOD_GET, "/ping", "/ping");
	CHECK_ROUTE(METHOD_GET, "/v1/graph:StateSchema", "/v1/graph:StateSchema");
	CHECK_ROUTE(METHOD_GET, "/v1/graph%3AStateSchema", "/v1/graph:StateSchema");
	CHECK_ROUTE(METHOD_DELETE, "/v1/threads/t/messages/m",
	    "/v1/threads/{thread_id}/messages/{message_id}");
}

static void hands_over_ids(void)
{
	struct route_match found = find(METHOD_GET, "/v1/threads/a%2Fb/messages/%20");
	CU_ASSERT_STRING_EQUAL(found.ids[0], "a/b");
	CU_ASSERT_STRING_EQUAL(found.ids[1], " ");
	found = find(METHOD_GET, "/v1/threads/t");
	CU_ASSERT_STRING_EQUAL(found.ids[0], "t");
	CU_ASSERT_PTR_NULL(found.ids[1]);
	CU_ASSERT_PTR_NULL(find(METHOD_GET, "/ping").ids[0]);
}

static void unknown_paths_have_no_methods(void)
{
	CHECK_UNKNOWN("//");
	CHECK_UNKNOWN("/Ping");
	CHECK_UNKNOWN("/pin");
	CHECK_UNKNOWN("/pingx");
	CHECK_UNKNOWN("/ping/x");
	CHECK_UNKNOWN("/v1");
	CHECK_UNKNOWN("/v1/threads/t/states");
	CHECK_UNKNOWN("/v1/threads%2Ft");
	CHECK_UNKNOWN("/v1/threads/t/messages/m/x");
	CHECK_UNKNOWN("/1/2/3/4/5/6/7/8/9");
}

static void trailing_slashes_are_unknown(void)
{
	CHECK_UNKNOWN("/ping/");
	CHECK_UNKNOWN("/v1/graph/");
	CHECK_UNKNOWN("/v1/threads/t/");
	CHECK_UNKNOWN("/v1/threads/t/state/");
	CHECK_UNKNOWN("/v1/threads/t/messages/");
}

static void the_thread_route_takes_an_empty_id(void)
{
	struct route_match found = find(METHOD_GET, "/v1/threads/");
	CU_ASSERT_PTR_NOT_NULL_FATAL(found.route);
	CU_ASSERT_STRING_EQUAL(found.ids[0], "");
	CU_ASSERT_PTR_NOT_NULL(find(METHOD_DELETE, "/v1/threads/").route);
}

static void a_wrong_method_leaves_the_allowed_ones(void)
{
	char list[METHOD_LIST_SIZE];
	struct route_match found = find(METHOD_POST, "/v1/threads/t/state");
	CU_ASSERT_PTR_NULL(found.route);
	CU_ASSERT_STRING_EQUAL(method_list(found.allowed, list), "DELETE, GET, HEAD, OPTIONS, PUT");
	found = find(METHOD_OTHER, "/v1/graph/invoke");
	CU_ASSERT_PTR_NULL(found.route);
	CU_ASSERT_STRING_EQUAL(method_list(found.allowed, list), "OPTIONS, POST");
}

static void head_finds_get_only(void)
{
	CU_ASSERT_EQUAL(find(METHOD_HEAD, "/ping").route->method, METHOD_GET);
	CU_ASSERT_PTR_NULL(find(METHOD_HEAD, "/v1/graph/invoke").route);
}

static void methods_are_case_sensitive(void)
{
	CU_ASSERT_EQUAL(method_parse("GET"), METHOD_GET);
	CU_ASSERT_EQUAL(method_parse("get"), METHOD_OTHER);
	CU_ASSERT_EQUAL(method_parse(""), METHOD_OTHER);
	CU_ASSERT_EQUAL(method_parse("TRACE"), METHOD_OTHER);
}

static void the_first_fitting_row_wins(void)
{
	static const struct route rows[] = {
	    {METHOD_POST, "/m/list", "store", "read", BODY_NONE, NULL, 0, NULL},
	    {METHOD_POST, "/m/{id}", "store", "read", BODY_NONE, NULL, 0, NULL},
	    {METHOD_DELETE, "/m/{id}", "store", "delete", BODY_NONE, NULL, 0, NULL}};
	static const struct route_table table = {rows, 3};
	struct path path;
	struct route_match match;
	CU_ASSERT_FATAL(parse(&path, "/m/list"));
	route_find(&table, &path, METHOD_POST, &match);
	CU_ASSERT_PTR_EQUAL(match.route, &rows[0]);
	route_find(&table, &path, METHOD_DELETE, &match);
	CU_ASSERT_PTR_EQUAL(match.route, &rows[2]);
}

static void the_table_is_guarded(void)
{
	struct problems problems = {0};
	CU_ASSERT(guard_check(&routes, &problems));
	CU_ASSERT_EQUAL(problems.count, 0);
	problems_release(&problems);
}

static void a_dialect_is_there_when_its_switch_is_on(void)
{
	static const struct dialect dialect = {.on = offsetof(struct config, ag_ui_enabled)};
	static const struct dialect always = {.late_thread = true};
	struct route row = {.path = "/x", .dialect = &dialect};
	struct config config = {.ag_ui_enabled = false};
	CU_ASSERT_FALSE(route_enabled(&row, &config));
	config.ag_ui_enabled = true;
	CU_ASSERT(route_enabled(&row, &config));
	config.ag_ui_enabled = false;
	row.dialect = &always;
	CU_ASSERT(route_enabled(&row, &config));
	row.dialect = NULL;
	CU_ASSERT(route_enabled(&row, &config));
}

static void open_routes_refuse_the_start(void)
{
	static const struct route rows[] = {
	    {METHOD_GET, "/ping", NULL, NULL, BODY_NONE, NULL, 0, NULL},
	    {METHOD_GET, "/v1/evals/runs/{run_id}", NULL, NULL, BODY_NONE, NULL, 0, NULL},
	    {METHOD_GET, "/v1/graph", "graph", "read", BODY_NONE, NULL, 0, NULL},
	    {METHOD_POST, "/v1/open", NULL, NULL, BODY_NONE, NULL, 0, NULL},
	    {METHOD_GET, "/v1/half", "graph", NULL, BODY_NONE, NULL, 0, NULL}};
	static const struct route_table table = {rows, 5};
	struct problems problems = {0};
	CU_ASSERT_FALSE(guard_check(&table, &problems));
	CU_ASSERT_EQUAL_FATAL(problems.errors, 1);
	CU_ASSERT_STRING_EQUAL(problems.items[0].text,
	    "Refusing to start: the following routes are not protected by a permission guard: "
	    "POST /v1/open, GET /v1/half");
	problems_release(&problems);
}

static void the_api_reference_is_no_exception_to_the_allowlist(void)
{
	static const struct route rows[] = {
	    {METHOD_GET, "/openapi.json", NULL, NULL, BODY_NONE, NULL, ROUTE_INFRASTRUCTURE, NULL},
	    {METHOD_GET, "/docs", NULL, NULL, BODY_NONE, NULL, 0, NULL}};
	static const struct route_table table = {rows, 2};
	struct problems problems = {0};
	CU_ASSERT_FALSE(guard_check(&table, &problems));
	CU_ASSERT_EQUAL_FATAL(problems.errors, 1);
	CU_ASSERT_PTR_NULL(strstr(problems.items[0].text, "/openapi.json"));
	CU_ASSERT_PTR_NOT_NULL(strstr(problems.items[0].text, "GET /docs"));
	problems_release(&problems);
}

static const struct unit_test tests[] = {
    {"a path is split into segments", splits_paths},
    {"a segment is decoded once, after splitting", decodes_once},
    {"an escape that gives no text is invalid", refuses_bad_escapes},
    {"dot segments are resolved, however they are written", resolves_dots},
    {"a path that leaves the root is invalid", refuses_escape_from_root},
    {"a URI in absolute form is reduced to its path", takes_absolute_form},
    {"the query is not part of the path", separates_the_query},
    {"segments beyond those of any route are counted", counts_long_paths},
    {"routes are found by method and path", finds_routes},
    {"ids are handed over decoded and in order", hands_over_ids},
    {"an unknown path has no methods", unknown_paths_have_no_methods},
    {"a trailing slash makes another path", trailing_slashes_are_unknown},
    {"the thread route takes an empty id", the_thread_route_takes_an_empty_id},
    {"a wrong method leaves the list of the allowed ones", a_wrong_method_leaves_the_allowed_ones},
    {"HEAD is answered by GET routes only", head_finds_get_only},
    {"methods are case-sensitive", methods_are_case_sensitive},
    {"of two rows that fit the first one wins", the_first_fitting_row_wins},
    {"every row of the table is guarded or allowed to be public", the_table_is_guarded},
    {"a dialect is there when its switch is on", a_dialect_is_there_when_its_switch_is_on},
    {"a row without permission refuses the start by name", open_routes_refuse_the_start},
    {"a page needs no permission because it is marked, not because of its path",
	the_api_reference_is_no_exception_to_the_allowlist},
};

int main(void)
{
	return unit_main("route", tests, UNIT_COUNT(tests));
}
