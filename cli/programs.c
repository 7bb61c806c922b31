/* SPDX-License-Identifier: ISC */
/* Finding the service's other programs, nginx and websocketd, or saying what to install. */
#include "cli/programs.h"

#include "base/memory.h"
#include "base/os/process.h"
#include "cli/command.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* dir/name when that can be executed, else NULL. */
static char *programs_executable(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);

	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

char *program_own(const char *name)
{
	static const char *const places[] = {"", "/../libexec/agentgraph"};
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *path = NULL;

	for (size_t i = 0; len > 0 && !path && i < sizeof(places) / sizeof(places[0]); i++) {
		self[len] = '\0';
		char *dir = xasprintf("%.*s%s", (int)(strrchr(self, '/') - self), self, places[i]);
		path = programs_executable(dir, name);
		free(dir);
	}
	if (!path)
		path = programs_executable(AGENTGRAPH_LIBEXECDIR, name);
	if (!path)
		complain(1, "%s is neither beside this program nor in %s; install agentgraph again",
		    name, AGENTGRAPH_LIBEXECDIR);
	return path;
}

char *program_nginx(void)
{
	static const char *const dirs[] = {"/usr/sbin", "/usr/local/sbin", "/usr/local/nginx/sbin"};
	const char *name = getenv("AGENTGRAPH_NGINX");
	char *path = process_find(name && *name ? name : "nginx", ".");

	for (size_t i = 0; !path && !(name && *name) && i < sizeof(dirs) / sizeof(dirs[0]); i++)
		path = programs_executable(dirs[i], "nginx");
	if (!path)
		complain(1,
		    "nginx was not found (%s); install it (Debian: apt-get install nginx), name it in "
		    "AGENTGRAPH_NGINX, or put the service behind a server of your own with --no-nginx",
		    name && *name ? name : "looked in PATH and the sbin directories");
	return path;
}

char *program_websocketd(struct error *err)
{
	const char *name = getenv("AGENTGRAPH_WEBSOCKETD");
	bool named = name && *name;
	char *path = process_find(named ? name : "websocketd", ".");

	if (!path)
		error_set(err, ERR_INTERNAL,
		    "websocketd was not found (%s), and WebSockets need it: install it (Debian: "
		    "apt-get install websocketd), or name it in AGENTGRAPH_WEBSOCKETD",
		    named ? name : "looked in PATH");
	return path;
}
