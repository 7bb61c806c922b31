/* SPDX-License-Identifier: ISC */
/* Where the other programs are. */
#ifndef AGENTGRAPH_CLI_PROGRAMS_H
#define AGENTGRAPH_CLI_PROGRAMS_H

#include "base/error.h"

/* A program of this package: beside this one, so that a build directory works uninstalled, else in
 * the package's libexec directory.  The malloc'd path, or NULL after a complaint. */
char *program_own(const char *name);

/* nginx: $AGENTGRAPH_NGINX, else from PATH, else the one that came along with these programs, else
 * from the sbin directories, which are not in everybody's PATH.  The malloc'd path, or NULL with
 * err set. */
char *program_nginx(struct error *err);

/* websocketd: $AGENTGRAPH_WEBSOCKETD, else from PATH, else the one that came along.  The malloc'd
 * path, or NULL with err set. */
char *program_websocketd(struct error *err);

#endif
