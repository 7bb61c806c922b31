/* SPDX-License-Identifier: ISC */
/* Finding the service's other programs, nginx and websocketd, or saying what to install. */
#include "cli/programs.h"

#include "base/os/process/process.h"
#include "cli/command.h"
#include "config/environment/environment.h"

#include <stdbool.h>
#include <stdlib.h>

char *program_own(const char *name)
{
	char *path = process_own(name);
	if (!path)
		complain(1, "%s is neither beside this program nor in %s; install agentgraph again",
		    name, AGENTGRAPH_LIBEXECDIR);
	return path;
}

char *program_nginx(struct error *err)
{
	static const char *const usual[] = {
	    "/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/local/nginx/sbin/nginx"};
	const char *name = environment_text("AGENTGRAPH_NGINX");
	char *path = process_find(name ? name : "nginx", ".");
	if (!path && !name)
		path = process_own("nginx");
	for (size_t i = 0; !path && !name && i < sizeof(usual) / sizeof(usual[0]); i++)
		path = process_find(usual[i], ".");
	if (!path)
		error_set(err, ERR_INTERNAL,
		    "nginx was not found (%s); install it (Debian: apt-get install nginx), name it in "
		    "AGENTGRAPH_NGINX, or put the service behind a server of your own with --no-nginx",
		    name ? name : "looked in PATH and the sbin directories");
	return path;
}

char *program_websocketd(struct error *err)
{
	const char *name = environment_text("AGENTGRAPH_WEBSOCKETD");
	char *path = process_find(name ? name : "websocketd", ".");
	if (!path && !name)
		path = process_own("websocketd");
	if (!path)
		error_set(err, ERR_INTERNAL,
		    "websocketd was not found (%s), and WebSockets need it: install it (Debian: "
		    "apt-get install websocketd), or name it in AGENTGRAPH_WEBSOCKETD",
		    name ? name : "looked in PATH");
	return path;
}
