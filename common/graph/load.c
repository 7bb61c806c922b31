/* From the configured import path to a compiled graph (ARCHITECTURE 4). */
#include "base/memory.h"
#include "base/problems.h"
#include "config/config.h"
#include "graph/graph.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	ag_graph_fn *build;
} builtins[] = {{"demo", graph_demo}};

void graph_unload(void *library)
{
	if (library)
		dlclose(library);
}

static void load_builtin(ag_graph *graph, const char *attribute)
{
	for (size_t i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++) {
		if (strcmp(builtins[i].name, attribute) == 0) {
			builtins[i].build(graph);
			return;
		}
	}
	problems_add(&graph->problems, "%s: agent: expected one of builtin:demo", graph->name);
}

/* A plug-in built for a newer interface may call what is not there. */
static bool abi_fits(ag_graph *graph, const char *path)
{
	const unsigned *abi = dlsym(graph->library, "ag_plugin_abi");
	if (!abi) {
		problems_add(&graph->problems,
		    "%s: expected a plug-in that states its interface with AG_PLUGIN", path);
		return false;
	}
	if (*abi != AG_ABI_VERSION)
		problems_add(&graph->problems,
		    "%s: built for plug-in interface %u, expected %u: build it again", path, *abi,
		    (unsigned)AG_ABI_VERSION);
	return *abi == AG_ABI_VERSION;
}

static void load_plugin(ag_graph *graph, const char *path, const char *attribute)
{
	graph->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!graph->library) {
		problems_add(
		    &graph->problems, "%s: expected a loadable plug-in: %s", path, dlerror());
		return;
	}
	if (!abi_fits(graph, path))
		return;
	void *symbol = dlsym(graph->library, attribute);
	if (!symbol) {
		problems_add(&graph->problems, "%s: expected it to export the function '%s'", path,
		    attribute);
		return;
	}
	ag_graph_fn *build;
	memcpy(&build, &symbol, sizeof(build)); /* ISO C has no cast from object to function */
	if (build(graph) != 0)
		problems_add(
		    &graph->problems, "%s: '%s' refused to build the graph", path, attribute);
}

static bool ends_with(const char *s, const char *end)
{
	size_t len = strlen(s), n = strlen(end);
	return len > n && strcmp(s + len - n, end) == 0;
}

/* A module's file: a path as it is, a dotted name as folders with .so at the end; from the file's
 * folder. */
static char *module_path(const struct config *config, const char *module)
{
	char *name = xstrdup(module), *path;
	if (!strchr(module, '/') && !ends_with(module, ".so") && !ends_with(module, ".json")) {
		for (char *p = name; *p; p++)
			*p = *p == '.' ? '/' : *p;
		path = xasprintf("%s/%s.so", config->dir, name);
	} else if (*module == '/') {
		path = xstrdup(module);
	} else {
		path = xasprintf("%s/%s", config->dir, module);
	}
	free(name);
	return path;
}

static void load_module(
    ag_graph *graph, const struct config *config, const char *module, const char *attribute)
{
	if (strcmp(module, "builtin") == 0) {
		load_builtin(graph, attribute);
		return;
	}
	char *path = module_path(config, module);
	if (ends_with(path, ".json"))
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
	for (size_t i = 0; i < graph->problems.count; i++) {
		const struct problem *p = &graph->problems.items[i];
		(p->warning ? problems_warn : problems_add)(problems, "%s", p->text);
	}
	if (problems->errors == before)
		return graph;
	graph_free(graph);
	return NULL;
}
