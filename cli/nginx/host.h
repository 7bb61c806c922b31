/* SPDX-License-Identifier: ISC */
/*
 * What `agentgraph check` looks at beside the configuration: whether the machine and the web server
 * let the service do its work.  Each finding says what to do.
 */
#ifndef AGENTGRAPH_CLI_NGINX_HOST_H
#define AGENTGRAPH_CLI_NGINX_HOST_H

#include "base/problems.h"
#include "config/config.h"

#include <stdint.h>
#include <time.h>

/* What the command line says of the web server; members that are NULL are not known. */
struct web_place {
	const char *socket;     /* as given to --socket */
	const char *prefix;     /* of nginx-conf; NULL: ROOT_PATH */
	const char *snippet;    /* a file that nginx-conf has made */
	const char *nginx_conf; /* the main file of a running nginx */
	const char *nginx_text; /* or what nginx -T printed about it */
	const char *user;       /* whom its workers run as; NULL: the one in nginx_conf */
};

/* host.c: the state directory, the ticket's key, the disk, the clock, open files, websocketd, and
 * the private nginx unless place tells of another. */
void host_examine(
    const struct config *config, const struct web_place *place, struct problems *problems);

/* Warns if that little space is left on the disk of path. */
void host_judge_disk(
    const char *path, uint64_t free_bytes, uint64_t free_files, struct problems *problems);

/* Warns if path is on a file system of this type, by statfs, and that is one of a network. */
void host_judge_file_system(const char *path, uint32_t type, struct problems *problems);

/* Warns if the clock, at now, is behind the time at which a file was written. */
void host_judge_clock(time_t now, time_t newest, const char *file, struct problems *problems);

/* Warns if that limit of open files is too low for so many WebSockets; -1: any number of them. */
void host_judge_files(int64_t limit, int64_t sockets, struct problems *problems);

/* web_server.c: the snippet, its include, and the way to the socket. */
void web_examine(
    const struct web_place *place, const struct config *config, struct problems *problems);

#endif
