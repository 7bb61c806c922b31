/* From the configured import path to a compiled graph (ARCHITECTURE 4). */
#include "base/memory.h"
#include "base/problems.h"
#include "config/config.h"
#include "config/plugin.h"
#include "graph/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	ag_graph_fn *build;
} builtins[] = {{"demo", graph_demo}, {"live-demo", graph_live_demo}};

static void load_builtin(ag_graph *graph, const char *attribute)
{
	for (size_t i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++) {
		if (strcmp(builtins[i].name, attribute) == 0) {
			builtins[i].build(graph);
			return;
		}
	}
	problems_add(&graph->problems, "%s: agent: expected one of builtin:demo, builtin:live-demo",
	    graph->name);
}

static void load_plugin(ag_graph *graph, const char *path, const char *attribute)
{
	graph->library = plugin_open(path, &graph->problems);
	void *symbol = graph->library
	    ? plugin_symbol(graph->library, path, attribute, "function", &graph->problems)
	    : NULL;
	if (!symbol)
		return;
	ag_graph_fn *build;
	memcpy(&build, &symbol, sizeof(build)); /* ISO C has no cast from object to function */
	if (build(graph) != 0)
		problems_add(
		    &graph->problems, "%s: '%s' refused to build the graph", path, attribute);
}

static bool is_document(const char *path)
{
	size_t len = strlen(path);
	return len > 5 && strcmp(path + len - 5, ".json") == 0;
}

static void load_module(
    ag_graph *graph, const struct config *config, const char *module, const char *attribute)
{
	if (strcmp(module, "builtin") == 0) {
		load_builtin(graph, attribute);
		return;
	}
	char *path = plugin_path(config, module);
	if (is_document(path))
		graph_document(graph, path, attribute);
	else
		load_plugin(graph, path, attribute);
	free(path);
}

ag_graph *graph_load(const struct config *config, struct problems *problems)
{
	size_t before = problems->errors;
	char *module, *attribute;
	ag_graph *graph = graph_new(config->agent);
	if (import_split(config->agent, &module, &attribute)) {
		load_module(graph, config, module, attribute);
		free(module);
		free(attribute);
	} else {
		problems_add(&graph->problems, "agent: expected 'module:attribute', found '%s'",
		    config->agent);
	}
	/* a graph that did not load has nothing more to tell */
	if (graph->problems.errors == 0 && graph_compile(graph))
		graph_add_remote_tools(graph, config, problems);
	if (graph->store_user && !config->store)
		problems_add(problems,
		    "%s: expected the key 'store', a memory store: the node '%s' uses it",
		    config->path ? config->path : "agentgraph.json", graph->store_user);
	for (size_t i = 0; i < graph->problems.count; i++) {
		const struct problem *p = &graph->problems.items[i];
		(p->warning ? problems_warn : problems_add)(problems, "%s", p->text);
	}
	if (problems->errors == before)
		return graph;
	graph_free(graph);
	return NULL;
}
