/* SPDX-License-Identifier: ISC */
/* Whether the pages' paths hide other routes: a worker is asked, which has the table of them. */
#include "base/clock.h"
#include "base/process.h"
#include "examine.h"
#include "programs.h"

#include <stdlib.h>
#include <string.h>

#define WORKER "agentgraph-fcgi"
#define PATIENCE_MS 60000
#define MOST_OUTPUT 65536

/* Whether other routes lie there; doc/protocol.md#the-openapi-document leaves the paths of the
 * pages to the administrator. */
static bool is_among_routes(const char *path)
{
	static const char root[] = "/v1/";
	return strncmp(path, root, strlen(root)) == 0;
}

static bool ignore_line(const char *line, size_t len, void *arg)
{
	(void)line;
	(void)len;
	(void)arg;
	return true;
}

/* What the worker wrote, without its name. */
static void examine_pages_take_lines(char *text, struct problems *problems)
{
	static const char name[] = WORKER ": ";
	for (char *line; (line = strsep(&text, "\n")) != NULL;)
		if (*line)
			problems_add(problems, "%s",
			    strncmp(line, name, strlen(name)) == 0 ? line + strlen(name) : line);
}

void pages_examine(
    const struct config_source *source, const struct config *config, struct problems *problems)
{
	struct process_result result = {0};
	char *worker;

	if (!is_among_routes(config->env.docs_path) && !is_among_routes(config->env.redocs_path))
		return;
	worker = program_own(WORKER); /* only it has the table of routes */
	if (!worker)
		return;
	char *argv[] = {
	    worker, "--routes", source->file ? "--config" : NULL, (char *)source->file, NULL};
	const struct process process = {.path = worker,
	    .argv = argv,
	    .deadline_ms = clock_monotonic_ms() + PATIENCE_MS,
	    .max_line = MOST_OUTPUT,
	    .max_output = MOST_OUTPUT,
	    .on_line = ignore_line};
	process_run(&process, &result);
	if (result.end != PROCESS_EXITED || result.code != 0)
		examine_pages_take_lines(result.tail, problems);
	free(worker);
}
