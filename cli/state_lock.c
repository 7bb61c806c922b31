/* SPDX-License-Identifier: ISC */
/* Taking the lock, and looking whether it is taken. */
#include "cli/state_lock.h"

#include "base/memory.h"
#include "base/os/clock.h"
#include "base/os/owned.h"
#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* Whoever looks whether a service is there has the lock for a moment. */
#define TRIES 50
#define PAUSE_MS 10

static char *state_lock_path(const char *state_dir)
{
	return xasprintf("%s/run/serve.lock", state_dir);
}

static bool state_lock_try(int fd)
{
	for (int tries = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; tries++) {
		if (tries == TRIES)
			return false;
		clock_sleep_ms(PAUSE_MS);
	}
	return true;
}

int state_lock_take(const char *state_dir)
{
	char *path = state_lock_path(state_dir), holder[32] = "";
	int fd = owned_open(path);
	if (fd < 0) {
		complain(1, "cannot open %s: %s", path, strerror(errno));
	} else if (state_lock_try(fd)) {
		if (ftruncate(fd, 0) == 0)
			dprintf(fd, "%ld\n", (long)getpid());
	} else {
		ssize_t len = read(fd, holder, sizeof(holder) - 1);
		holder[len > 0 ? strcspn(holder, "\n") : 0] = '\0';
		complain(1,
		    "process %s serves from this state directory already (%s); stop it, or give this "
		    "one another with --state",
		    *holder ? holder : "?", path);
		close(fd);
		fd = -1;
	}
	free(path);
	return fd;
}

int state_lock(const char *state_dir)
{
	char *run = xasprintf("%s/run", state_dir);
	int lock = owned_directory(run)
	    ? state_lock_take(state_dir)
	    : complain(-1, "cannot make the directory %s: %s", run, strerror(errno));
	free(run);
	return lock;
}

void state_unlock(int lock)
{
	if (ftruncate(lock, 0) != 0)
		complain(1, "cannot empty the lock file: %s", strerror(errno));
	close(lock);
}

bool state_is_served(const char *state_dir)
{
	char *path = state_lock_path(state_dir);
	int lock = open(path, O_RDONLY | O_CLOEXEC);
	bool served = lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) != 0;
	if (lock >= 0)
		close(lock);
	free(path);
	return served;
}
