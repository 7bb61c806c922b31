/* SPDX-License-Identifier: ISC */
/* From an import path to a file, a loaded library, and a table whose version fits. */
#include "config/plugin.h"

#include "agentgraph.h"
#include "base/memory.h"
#include "config/text_file.h"
#include "config/words.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static bool plugin_ends_with(const char *s, const char *end)
{
	size_t len = strlen(s), n = strlen(end);
	return len > n && strcmp(s + len - n, end) == 0;
}

char *plugin_path(const struct config *config, const char *module)
{
	bool dotted = !strchr(module, '/') && !plugin_ends_with(module, ".so") &&
	    !plugin_ends_with(module, ".json") && !plugin_ends_with(module, ".py");
	if (*module == '/')
		return xstrdup(module);
	if (!dotted)
		return xasprintf("%s/%s", config->dir, module);
	char *name = xstrdup(module);
	for (char *p = name; *p; p++)
		*p = *p == '.' ? '/' : *p;
	char *path = xasprintf("%s/%s.so", config->dir, name);
	free(name);
	return path;
}

bool plugin_is_python(const char *path)
{
	if (plugin_ends_with(path, ".py"))
		return true;
	if (!plugin_ends_with(path, ".so") || text_file_exists(path))
		return false;
	char *source = xasprintf("%.*s.py", (int)strlen(path) - 3, path);
	bool found = text_file_exists(source);
	free(source);
	return found;
}

void *plugin_open(const char *path, struct problems *problems)
{
	if (plugin_is_python(path)) {
		problems_add(problems,
		    "%s: Python modules cannot be loaded, expected a plug-in (FILE.so:NAME)", path);
		return NULL;
	}
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		problems_add(problems, "%s: expected a loadable plug-in: %s", path, dlerror());
		return NULL;
	}
	/* one that was built for a newer interface may call what is not there */
	const unsigned *abi = dlsym(library, "ag_plugin_abi");
	if (abi && *abi == AG_ABI_VERSION)
		return library;
	if (abi)
		problems_add(problems,
		    "%s: built for plug-in interface %u, expected %u: build it again", path, *abi,
		    (unsigned)AG_ABI_VERSION);
	else
		problems_add(problems,
		    "%s: expected a plug-in that states its interface with AG_PLUGIN", path);
	plugin_close(library);
	return NULL;
}

void *plugin_symbol(void *library, const char *path, const char *attribute, const char *what,
    struct problems *problems)
{
	void *symbol = dlsym(library, attribute);
	if (!symbol)
		problems_add(
		    problems, "%s: expected it to export the %s '%s'", path, what, attribute);
	return symbol;
}

void plugin_close(void *library)
{
	if (library)
		dlclose(library);
}

bool plugin_load(struct plugin *plugin, const struct config *config, const struct plugin_want *want,
    struct problems *problems)
{
	struct problems found = {0};
	char *module = NULL, *attribute = NULL, *path = NULL;
	const unsigned *table = NULL;
	*plugin = (struct plugin){0};
	if (!import_split(want->import_path, &module, &attribute)) {
		problems_add(&found, "expected 'module:attribute', found '%s'", want->import_path);
	} else if (strcmp(module, "builtin") == 0) {
		problems_add(&found,
		    "expected a plug-in, or what agentgraph.json(5) names, found '%s'",
		    want->import_path);
	} else {
		path = plugin_path(config, module);
		plugin->library = plugin_open(path, &found);
	}
	if (plugin->library)
		table = plugin_symbol(plugin->library, path, attribute, want->what, &found);
	/* the number that the struct begins with says what it is */
	if (table && *table == want->kind)
		plugin->table = table;
	else if (table)
		problems_add(&found,
		    "%s: expected '%s' to be a %s of plug-in interface %u, as its first member "
		    "would say",
		    path, attribute, want->what, (unsigned)AG_ABI_VERSION);
	if (!plugin->table) {
		plugin_close(plugin->library);
		plugin->library = NULL;
	}
	for (size_t i = 0; i < found.count; i++)
		problems_add(problems, "%s: %s: %s",
		    config->path ? config->path : "agentgraph.json", want->key,
		    found.items[i].text);
	problems_release(&found);
	free(module);
	free(attribute);
	free(path);
	return plugin->table != NULL;
}
