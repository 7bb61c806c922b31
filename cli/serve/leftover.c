/* SPDX-License-Identifier: ISC */
/* The nginx of a service that was killed, which may still hold the port.  nginx's master ends with
 * the service and its workers with the master, but not if both were killed at once. */
#include "base/memory.h"
#include "base/os/clock.h"
#include "cli/command.h"
#include "cli/serve/supervisor.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GONE_MS 100 /* until the port of a process that was killed is free */

/* The process group of the nginx that last served there, which is its master's pid; 0: unknown. */
static pid_t leftover_group(const char *state_dir)
{
	char *path = xasprintf("%s/run/nginx.pid", state_dir);
	FILE *f = fopen(path, "re");
	int pid = 0;

	if (f && fscanf(f, "%d", &pid) != 1)
		pid = 0;
	if (f)
		fclose(f);
	free(path);
	return pid;
}

static bool leftover_is_nginx(const char *pid, pid_t group)
{
	char *path = xasprintf("/proc/%s/stat", pid), name[16] = "";
	FILE *f = fopen(path, "re");
	int of = 0;
	bool is = f && fscanf(f, "%*d (%15[^)]) %*c %*d %d", name, &of) == 2 && of == group &&
	    strcmp(name, "nginx") == 0;

	if (f)
		fclose(f);
	free(path);
	return is;
}

bool leftover_end(const char *state_dir)
{
	char *path = xasprintf("%s/run/serve.lock", state_dir);
	pid_t group = leftover_group(state_dir);
	bool is_there = group > 1 && kill(-group, 0) == 0;
	int lock = is_there ? lock_take(path) : -1; /* a service that lives ends them itself */
	DIR *proc = lock >= 0 ? opendir("/proc") : NULL;
	const struct dirent *entry;
	bool ended = false;

	while (proc && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    leftover_is_nginx(entry->d_name, group))
			ended |= kill(atoi(entry->d_name), SIGKILL) == 0;
	if (proc)
		closedir(proc);
	if (ended) {
		complain(0, "ended an nginx that a killed service has left there");
		clock_sleep_ms(GONE_MS);
	}
	if (lock >= 0)
		close(lock);
	free(path);
	return ended;
}
