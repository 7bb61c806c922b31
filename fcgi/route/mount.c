/* SPDX-License-Identifier: ISC */
/* Putting settings in their places in the rows, and leaving rows out. */
#include "fcgi/route/mount.h"

#include <stddef.h>
#include <string.h>

/* The settings that a path may begin with, and where their values are in the environment. */
static const struct {
	const char *name;
	size_t value;
} settings[] = {
    {"<DOCS_PATH>", offsetof(struct environment, docs_path)},
    {"<REDOCS_PATH>", offsetof(struct environment, redocs_path)},
    {"<CONSOLE_PATH>", offsetof(struct environment, console_path)},
};

/* The row's path under this configuration; NULL when the row is left out. */
static const char *mount_place(
    const struct route *row, const struct config *config, struct arena *arena)
{
	const struct environment *env = &config->env;
	/* a path that is switched off is unknown, not unauthorized (doc/protocol-ag-ui.md) */
	if (!route_enabled(row, config))
		return NULL;
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		size_t len = strlen(settings[i].name);
		const char *value = *(char *const *)((const char *)env + settings[i].value);
		if (!strncmp(row->path, settings[i].name, len))
			return *value ? arena_printf(arena, "%s%s", value, row->path + len) : NULL;
	}
	/* production shows it only together with a page (doc/protocol.md#the-openapi-document) */
	if ((row->flags & ROUTE_DOCUMENT) && env->production && !*env->docs_path &&
	    !*env->redocs_path)
		return NULL;
	if ((row->flags & ROUTE_HOME) && env->production)
		return NULL;
	return row->path;
}

/* Pages come last in the table, so a path that others have would never be reached. */
static void mount_check_free(const struct route_table *table, const struct route *row,
    const char *path, struct arena *arena, struct problems *problems)
{
	struct path parsed;
	struct route_match match;
	if (row->path == path || strchr(row->path, '/'))
		return;
	const char *name = arena_strndup(arena, row->path + 1, strlen(row->path) - 2);
	if (!path_parse(&parsed, arena_strdup(arena, path)) || parsed.count + 2 > PATH_SEGMENTS)
		problems_add(problems, "%s: expected a path of at most %d parts, found '%s'", name,
		    PATH_SEGMENTS - 2, path);
	route_find(table, &parsed, METHOD_GET, &match);
	if (match.allowed)
		problems_add(
		    problems, "%s: expected a path that no route has, found '%s'", name, path);
}

const struct route_table *routes_mount(const struct route_table *table, const struct config *config,
    struct arena *arena, struct problems *problems)
{
	struct route_table *mounted = arena_alloc(arena, sizeof(*mounted));
	struct route *rows = arena_alloc(arena, table->count * sizeof(*rows));
	mounted->rows = rows;
	for (size_t i = 0; i < table->count; i++) {
		const struct route *row = &table->rows[i];
		const char *path = mount_place(row, config, arena);
		if (!path)
			continue;
		mount_check_free(mounted, row, path, arena, problems);
		rows[mounted->count] = *row;
		rows[mounted->count++].path = path;
	}
	return mounted;
}

const struct route *route_written(const struct route_table *table, const struct route *mounted)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct route *row = &table->rows[i];
		bool page = row->handle == mounted->handle && (row->flags & ROUTE_INFRASTRUCTURE);
		if (row->method == mounted->method && (row->path == mounted->path || page))
			return row;
	}
	return NULL;
}
