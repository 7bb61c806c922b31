/* SPDX-License-Identifier: ISC */
/*
 * Reads somebody's nginx configuration as far as it concerns the service: words, includes, and a
 * few directives.  Only nginx knows what it means as a whole.
 */
#ifndef AGENTGRAPH_CLI_NGINX_NGINX_FILE_H
#define AGENTGRAPH_CLI_NGINX_NGINX_FILE_H

#include "base/buf.h"
#include "base/problems.h"

#include <stdbool.h>

struct nginx_file {         /* all-zero is empty */
	char *user, *group; /* of the directive user; NULL: not said */
	long connections;   /* worker_connections; 0: not said */
	long workers;       /* worker_processes, the processors for auto; 0: not said */
	struct buf sockets; /* of fastcgi_pass, each ended by a newline */
};

/* The whole file, or standard input for "-"; false with errno. */
bool nginx_file_text(const char *path, struct buf *text);

/* Reads path and what it includes, relative to its directory.  False after adding to problems why
 * it cannot. */
bool nginx_file_read(struct nginx_file *file, const char *path, struct problems *problems);

/* The same for what nginx -T printed, where includes have been followed. */
void nginx_file_parse(struct nginx_file *file, const char *text, struct problems *problems);

/* Whether requests are passed to the FastCGI socket at that path. */
bool nginx_file_passes(const struct nginx_file *file, const char *socket);

void nginx_file_release(struct nginx_file *file);

#endif
