/* SPDX-License-Identifier: ISC */
/* The nginx of a service that was killed, which may still hold the port.  nginx's master ends with
 * the service and its workers with the master, but not if both were killed at once. */
#include "base/os/clock.h"
#include "cli/command.h"
#include "cli/proc.h"
#include "cli/serve/supervisor.h"
#include "cli/state_lock.h"

#include <signal.h>
#include <string.h>

#define GONE_MS 100 /* until the port of a process that was killed is free */

bool leftover_end(const char *state_dir)
{
	/* the master leads the group of the nginx that last served there */
	pid_t group = proc_noted(state_dir, "nginx.pid");
	bool is_there = group > 1 && kill(-group, 0) == 0;
	/* a service that lives ends them itself */
	int lock = is_there ? state_lock_take(state_dir) : -1;
	DIR *dir = lock >= 0 ? opendir("/proc") : NULL;
	bool ended = false;
	pid_t pid;
	struct proc proc;
	while ((pid = proc_next(dir)))
		if (proc_read(pid, &proc) && proc.group == group && strcmp(proc.name, "nginx") == 0)
			ended |= kill(pid, SIGKILL) == 0;
	if (dir)
		closedir(dir);
	if (ended) {
		complain(0, "ended an nginx that a killed service has left there");
		clock_sleep_ms(GONE_MS);
	}
	if (lock >= 0)
		state_unlock(lock);
	return ended;
}
