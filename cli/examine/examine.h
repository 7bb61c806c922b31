/* SPDX-License-Identifier: ISC */
/*
 * What must hold before anything is started: configuration, environment, graph, plug-ins, databases
 * and what nginx is to be told.  All of it is looked at in a child process, because a plug-in may
 * crash and because the dotenv file must not settle in the environment of a process that lives on:
 * a changed one is to count at the next reload.
 */
#ifndef AGENTGRAPH_CLI_EXAMINE_EXAMINE_H
#define AGENTGRAPH_CLI_EXAMINE_EXAMINE_H

#include "base/buf.h"
#include "base/os/process.h"
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
	char *agent;                    /* this and the rest only without errors, else NULL */
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

/* Understands what the child wrote; when it died instead, says so and counts that as an error. */
void examine_result(const struct buf *written, int wait_status, struct examination *result);

/* All of it at once, waiting for the child.  True when there was no error. */
bool examine(const struct examine_request *request, struct examination *result);

void examination_release(struct examination *result);

/* Between these two, once: a plug-in that crashes or ends this process is told of, and no success.
 * For commands that load one themselves. */
void loading_begin(void);
void loading_end(void);

/* Has a worker print the table of routes, which only it has, and gives on_line its lines; false
 * after a complaint when there is no worker. */
bool routes_read(const struct config_source *source,
    bool (*on_line)(const char *line, size_t len, void *arg), void *arg,
    struct process_result *result);

/* Variables that are not the service's, and differ in little from one that is. */
void variables_examine(struct problems *problems);

/* Scopes of roles that no route takes. */
void scopes_examine(
    const struct config_source *source, const struct config *config, struct problems *problems);

/* Programs and services that the agent needs and that do not answer: MCP servers of its graph, the
 * embedding service.  Takes some ten seconds at most. */
void services_examine(
    const struct config *config, const ag_graph *graph, struct problems *problems);

/* Whether the paths of the pages are free, where routes could have them. */
void pages_examine(
    const struct config_source *source, const struct config *config, struct problems *problems);

#endif
