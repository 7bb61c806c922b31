/* SPDX-License-Identifier: ISC */
/* From the configured import path to a compiled graph. */
#include "base/problems.h"
#include "config/config.h"
#include "config/plugin.h"
#include "config/text_file.h"
#include "config/words.h"
#include "graph/graph.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void load_plugin(
    ag_graph *graph, const char *path, const char *attribute, struct problems *problems)
{
	graph->library = plugin_open(path, problems);
	void *symbol = graph->library
	    ? plugin_symbol(graph->library, path, attribute, "function", problems)
	    : NULL;
	if (!symbol)
		return;
	ag_graph_fn *build;
	memcpy(&build, &symbol, sizeof(build)); /* ISO C has no cast from object to function */
	graph->build = build;
	if (build(graph) != 0)
		problems_add(problems, "%s: '%s' refused to build the graph", path, attribute);
}

/* Problems are those of the import path; what is wrong inside a graph is told by the graph. */
static void load_module(ag_graph *graph, const struct config *config, struct problems *problems)
{
	char *module, *attribute;
	if (!import_split(config->agent, &module, &attribute)) {
		problems_add(problems, "expected 'module:attribute', found '%s'", config->agent);
		return;
	}
	char *path = plugin_path(config, module);
	const char *ending = strrchr(path, '.');
	if (strcmp(module, "builtin") == 0) {
		ag_graph_fn *build = strcmp(attribute, "demo") == 0 ? graph_demo
		    : strcmp(attribute, "live-demo") == 0           ? graph_live_demo
								    : NULL;
		if (build)
			build(graph);
		else
			problems_add(problems,
			    "expected one of builtin:demo, builtin:live-demo, found '%s'",
			    graph->name);
	} else if (plugin_is_python(path)) {
		problems_add(problems,
		    "%s: Python modules cannot be loaded, expected builtin:demo, a plug-in "
		    "(FILE.so:FUNCTION), or a graph document (FILE.json:NAME), whose nodes and "
		    "tools can be Python programs",
		    path);
	} else if (!ending || strcmp(ending, ".json") != 0) {
		load_plugin(graph, path, attribute, problems);
	} else if (!text_file_exists(path)) {
		problems_add(
		    problems, "%s: expected a readable JSON file: %s", path, strerror(ENOENT));
	} else {
		graph_document(graph, path, attribute, problems);
	}
	free(path);
	free(module);
	free(attribute);
}

ag_graph *graph_load(const struct config *config, struct problems *problems)
{
	size_t before = problems->errors;
	const char *file = config->path ? config->path : "agentgraph.json";
	struct problems found = {0};
	ag_graph *graph = graph_new(config->agent);
	load_module(graph, config, &found);
	for (size_t i = 0; i < found.count; i++)
		problems_add(problems, "%s: agent: %s", file, found.items[i].text);
	/* a graph that did not load has nothing more to tell */
	if (!found.errors && graph->problems.errors == 0 && graph_compile(graph))
		graph_add_remote_tools(graph, config, problems);
	if (graph->store_user && !config->store)
		problems_add(problems,
		    "%s: expected the key 'store', a memory store: the node '%s' uses it", file,
		    graph->store_user);
	for (size_t i = 0; i < graph->problems.count; i++) {
		const struct problem *p = &graph->problems.items[i];
		(p->warning ? problems_warn : problems_add)(problems, "%s", p->text);
	}
	problems_release(&found);
	if (problems->errors == before)
		return graph;
	graph_free(graph);
	return NULL;
}
