/* SPDX-License-Identifier: ISC */
/* Whether a page has the path of another route, or one that no worker accepts: a worker is asked,
 * which has the table of routes. */
#include "base/os/clock.h"
#include "cli/examine/examine.h"
#include "cli/programs.h"

#include <stdlib.h>
#include <string.h>

#define WORKER "agentgraph-fcgi"
#define PATIENCE_MS 60000
#define MOST_OUTPUT 65536

/* Whether a route may have that path: those that the rules of the environment do not know all have
 * several parts.  The administrator chooses the paths (doc/protocol.md#the-openapi-document). */
static bool examine_pages_is_route(const char *path)
{
	return *path && strchr(path + 1, '/');
}

static bool examine_pages_ignore_line(const char *line, size_t len, void *arg)
{
	(void)line;
	(void)len;
	(void)arg;
	return true;
}

bool routes_read(const struct config_source *source,
    bool (*on_line)(const char *line, size_t len, void *arg), void *arg,
    struct process_result *result)
{
	char *worker = program_own(WORKER);
	char *argv[] = {
	    worker, "--routes", source->file ? "--config" : NULL, (char *)source->file, NULL};
	const struct process process = {.path = worker,
	    .argv = argv,
	    .deadline_ms = clock_monotonic_ms() + PATIENCE_MS,
	    .max_line = MOST_OUTPUT,
	    .max_output = MOST_OUTPUT,
	    .on_line = on_line,
	    .arg = arg};
	if (!worker)
		return false;
	process_run(&process, result);
	free(worker);
	return true;
}

void pages_examine(
    const struct config_source *source, const struct config *config, struct problems *problems)
{
	static const char name[] = WORKER ": ";
	struct process_result result = {0};
	char *text = result.tail;
	if (!examine_pages_is_route(config->env.docs_path) &&
	    !examine_pages_is_route(config->env.redocs_path) &&
	    !examine_pages_is_route(config->env.console_path))
		return;
	if (!routes_read(source, examine_pages_ignore_line, NULL, &result) ||
	    (result.end == PROCESS_EXITED && result.code == 0))
		return;
	/* what the worker wrote, without its name */
	for (char *line; (line = strsep(&text, "\n")) != NULL;)
		if (*line)
			problems_add(problems, "%s",
			    strncmp(line, name, strlen(name)) == 0 ? line + strlen(name) : line);
}
