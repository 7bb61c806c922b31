/* SPDX-License-Identifier: ISC */
/* The OpenAPI document against the route table, and where pages are put. */
#include "fcgi/route/openapi.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "fcgi/route/mount.h"
#include "fcgi/texts.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arena *arena;
static struct config config;
static char root[] = "", docs[32], redocs[32], console[32], name[] = "app";

static void configure(const char *docs_path, const char *redocs_path, bool production)
{
	strcpy(docs, docs_path);
	strcpy(redocs, redocs_path);
	config = (struct config){.env = {.root_path = root,
				     .docs_path = docs,
				     .redocs_path = redocs,
				     .console_path = console,
				     .app_name = name,
				     .app_version = name,
				     .summary = name,
				     .production = production}};
}

/* How many problems that makes. */
static size_t problems_of(const char *docs_path, const char *redocs_path)
{
	struct problems problems = {0};
	configure(docs_path, redocs_path, false);
	routes_mount(&routes, &config, arena, &problems);
	size_t count = problems.errors;
	problems_release(&problems);
	return count;
}

static bool has(const char *path)
{
	struct problems problems = {0};
	const struct route_table *table = routes_mount(&routes, &config, arena, &problems);
	bool found = false;
	for (size_t i = 0; i < table->count; i++)
		found |= !strcmp(table->rows[i].path, path);
	problems_release(&problems);
	return found;
}

static void configure_everything(void)
{
	configure("/docs", "/redocs", false);
	strcpy(console, "/console");
	config.runs_background = 1;
	config.ag_ui_enabled = true;
	config.openai_enabled = true;
	config.langgraph_enabled = true;
	config.mcp.enabled = true;
	config.a2a.enabled = true;
	config.evals_served = true;
}

/* And nothing is described that is no row. */
static void every_row_is_described(void)
{
	struct problems problems = {0};
	configure_everything();
	const struct route_table *table = routes_mount(&routes, &config, arena, &problems);
	cJSON *document = openapi_document(table, &config);
	cJSON *operations = json_parse_own(text_operations_json);
	CU_ASSERT_EQUAL(table->count, routes.count);
	CU_ASSERT_EQUAL(cJSON_GetArraySize(operations), routes.count);
	for (size_t i = 0; i < table->count; i++) {
		const struct route *row = &table->rows[i];
		const char *method = method_name(row->method);
		/* the document has methods in small letters */
		const cJSON *operation =
		    cJSON_GetObjectItem(json_get(json_get(document, "paths"), row->path), method);
		CU_ASSERT_PTR_NOT_NULL(operation);
		if (!operation)
			printf("# %s %s has no operation\n", method, row->path);
	}
	cJSON_Delete(operations);
	cJSON_Delete(document);
	console[0] = '\0';
}

/* Every "$ref" below node leads somewhere. */
static void check_references(const cJSON *document, const cJSON *node)
{
	const char *ref = json_str(node, "$ref");
	const cJSON *child, *target = document;
	if (ref) {
		char *copy = xstrdup(ref + 2), *rest = copy, *part;
		while ((part = strsep(&rest, "/")))
			target = json_get(target, part);
		CU_ASSERT_PTR_NOT_NULL(target);
		free(copy);
	}
	cJSON_ArrayForEach(child, node)
		check_references(document, child);
}

static void references_lead_somewhere(void)
{
	struct problems problems = {0};
	configure_everything();
	cJSON *document =
	    openapi_document(routes_mount(&routes, &config, arena, &problems), &config);
	check_references(document, document);
	cJSON_Delete(document);
	console[0] = '\0';
}

static void pages_are_where_they_are_put(void)
{
	configure("/docs", "", false);
	CU_ASSERT(has("/docs"));
	CU_ASSERT(has("/docs/assets/{asset}"));
	CU_ASSERT(has("/openapi.json"));
	CU_ASSERT(has("/"));
	CU_ASSERT_FALSE(has("/redocs"));
	CU_ASSERT_FALSE(has("/console"));
	strcpy(console, "/my/console");
	CU_ASSERT(has("/my/console"));
	CU_ASSERT(has("/my/console/{build}/{asset}"));
	console[0] = '\0';
	CU_ASSERT_FALSE(has("<REDOCS_PATH>"));
	CU_ASSERT_FALSE(has("/v1/ag-ui"));
}

static void production_needs_a_page_for_the_document(void)
{
	configure("", "", true);
	CU_ASSERT_FALSE(has("/openapi.json"));
	configure("", "/r", true);
	CU_ASSERT(has("/openapi.json"));
	CU_ASSERT_FALSE(has("/"));
	configure("", "", false);
	CU_ASSERT(has("/openapi.json"));
}

static void pages_take_nobodys_place(void)
{
	CU_ASSERT_EQUAL(problems_of("/docs", "/redocs"), 0);
	CU_ASSERT_EQUAL(problems_of("/a/b/c", "/a/b"), 0);
	CU_ASSERT_EQUAL(problems_of("/ping", "/redocs"), 1);
	CU_ASSERT_EQUAL(problems_of("/docs", "/v1/threads/x"), 1);
	CU_ASSERT_EQUAL(problems_of("/docs", "/docs/assets/x"), 1);
	CU_ASSERT_EQUAL(problems_of("/1/2/3/4/5/6/7", ""), 1);
}

static const struct unit_test tests[] = {
    {"every route has an operation", every_row_is_described},
    {"every reference leads somewhere", references_lead_somewhere},
    {"a page is where its variable puts it, and nowhere when that is empty",
	pages_are_where_they_are_put},
    {"production has the document only with a page", production_needs_a_page_for_the_document},
    {"a page takes nobody's place", pages_take_nobodys_place},
};

int main(void)
{
	memory_init();
	arena = arena_new();
	int status = unit_main("openapi", tests, UNIT_COUNT(tests));
	arena_free(arena);
	return status;
}
