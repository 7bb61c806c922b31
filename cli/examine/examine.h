/* SPDX-License-Identifier: ISC */
/*
 * The examination of all that must hold before anything is started: configuration, environment,
 * graph, plug-ins, databases, and nginx's configuration.  A child process does it, because a
 * plug-in may crash, and because the variables of the dotenv file must not stay in the environment
 * of a process that lives on: a changed file is to count at the next reload.
 */
#ifndef AGENTGRAPH_CLI_EXAMINE_EXAMINE_H
#define AGENTGRAPH_CLI_EXAMINE_EXAMINE_H

#include "base/buf.h"
#include "base/os/process/process.h"
#include "cli/nginx/host.h"
#include "config/config.h"
#include "graph/graph.h"

#include <stdbool.h>
#include <sys/types.h>

struct examine_request {
	struct config_source source;
	const char *socket;            /* NULL: run/fcgi.sock in the state directory */
	const char *listen;            /* NULL: without a private nginx */
	long drain;                    /* seconds; -1: the configuration's */
	const struct web_place *place; /* NULL: machine and web server are not looked at */
	/* The state directory of a service that runs, which keeps it whatever the configuration
	 * says; NULL: the configuration decides. */
	const char *state_dir;
	/* With state_dir: this program is asked whether it accepts the new nginx.conf, and inherits
	 * that socket as it will when it serves.  NULL: nobody is asked. */
	char *nginx;
	int tcp;
};

struct examination {
	long long errors;
	char *file;                     /* the configuration's name for messages */
	char *agent;                    /* NULL, like all that follows, when there were errors */
	char *state_dir;                /* absolute */
	char *console;                  /* its path; "" where there is none */
	char *nginx;                    /* text of nginx.conf; NULL without a private nginx */
	long processes, threads, drain; /* 0 processes: as many as there are processors */
	long background;                /* runs in the background at a time */
	char *files; /* the text files that were read, as text_files_take wants them */
};

/*
 * Starts the child.  It writes problems to standard error, a line each, and its result to *fd.
 * Read that to its end, wait for the child, and give both to examine_result.  -1 with errno when
 * there can be no child.
 */
pid_t examine_start(const struct examine_request *request, int *fd);

/* Reads the report that the child wrote.  If it died instead, says so and counts that as an
 * error. */
void examine_result(const struct buf *written, int wait_status, struct examination *result);

/* Starts the child and waits for its result.  True when there was no error. */
bool examine(const struct examine_request *request, struct examination *result);

void examination_release(struct examination *result);

/* For commands that load the graph in their own process: if a plug-in crashes or ends the process
 * between these two calls, that is said on standard error, and the exit status is no success.  To
 * be used once. */
void loading_begin(void);
void loading_end(void);

/* Has a worker, the only program that has the table of routes, print it, and gives on_line the
 * lines. False after a complaint when the program is not found. */
bool routes_read(const struct config_source *source,
    bool (*on_line)(const char *line, size_t len, void *arg), void *arg,
    struct process_result *result);

/* Warns of variables that are unknown to the service and differ little from one that is known. */
void variables_examine(struct problems *problems);

/* Warns of scopes of roles that no route needs. */
void scopes_examine(
    const struct config_source *source, const struct config *config, struct problems *problems);

/* Warns of programs and services that the agent needs and that do not answer: MCP servers of its
 * graph, the embedding service.  Takes some ten seconds at most. */
void services_examine(
    const struct config *config, const ag_graph *graph, struct problems *problems);

/* Checks that no route has the path of a page, if the path looks as if one could. */
void pages_examine(
    const struct config_source *source, const struct config *config, struct problems *problems);

#endif
