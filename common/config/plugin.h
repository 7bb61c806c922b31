/* SPDX-License-Identifier: ISC */
/*
 * Plug-ins: shared objects that the configuration names as "module:attribute".
 *
 * Each states with AG_PLUGIN which interface it was built for.  If one cannot be used a problem is
 * added that names the file and what was expected there.
 */
#ifndef AGENTGRAPH_CONFIG_PLUGIN_H
#define AGENTGRAPH_CONFIG_PLUGIN_H

#include "base/problems.h"
#include "config/config.h"

/*
 * The file of a module, malloc'd and relative to the configuration's folder: a path stays as it is,
 * the dots of a dotted name become folders, and it gets .so at its end.
 */
char *plugin_path(const struct config *config, const char *module);

/* Whether the path is that of a Python module, or the one that plugin_path makes of a Python import
 * path. */
bool plugin_is_python(const char *path);

/* Opens the shared object; NULL with a problem added. */
void *plugin_open(const char *path, struct problems *problems);

/* The symbol that the library exports as attribute; NULL with a problem that says a `what` was
 * expected. */
void *plugin_symbol(void *library, const char *path, const char *attribute, const char *what,
    struct problems *problems);

/* Closes it; NULL is fine. */
void plugin_close(void *library);

/* A struct of functions that a plug-in exports; all-zero is none. */
struct plugin {
	void *library;
	const void *table;
};

/* Which struct the configuration asks for. */
struct plugin_want {
	const char *key; /* of the configuration, for messages */
	const char *import_path;
	unsigned kind;    /* the number that it begins with */
	const char *what; /* "struct ag_auth" */
};

/* Loads it.  False with a problem added and nothing to close. */
bool plugin_load(struct plugin *plugin, const struct config *config, const struct plugin_want *want,
    struct problems *problems);

#endif
