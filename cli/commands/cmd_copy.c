/* SPDX-License-Identifier: ISC */
/* agentgraph copy: everything between a state directory and PostgreSQL. */
#include "base/error.h"
#include "base/memory.h"
#include "base/os/directory.h"
#include "cli/command.h"
#include "cli/state_lock.h"
#include "storage/storage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIRECTORY "sqlite:"
#define SERVER "postgresql:"

/* A copy of the place, malloc'd.  The password in the argument itself is overwritten, so that
 * whoever lists processes does not see it. */
static char *copy_hide(char *place)
{
	char *own = xstrdup(place), *at = strstr(place, "://");
	char *end = at ? strrchr(at + 3, '@') : NULL; /* a password may have another one */
	char *colon = end ? memchr(at + 3, ':', (size_t)(end - at - 3)) : NULL;
	if (colon)
		memset(colon + 1, '*', (size_t)(end - colon - 1));
	for (char *key = place; (key = strstr(key, "password="));) {
		key += strlen("password=");
		memset(key, '*', strcspn(key, "&"));
	}
	return own;
}

static void copy_tell(const char *table, int64_t rows, int64_t all)
{
	printf("agentgraph: %d %%, %" PRId64 " of %" PRId64 " rows (%s)\n",
	    (int)(all ? 100 * rows / all : 100), rows, all, table);
	fflush(stdout);
}

static bool copy_is_state(const char *place)
{
	return strncmp(place, DIRECTORY, strlen(DIRECTORY)) == 0 && place[strlen(DIRECTORY)];
}

static bool copy_is_server(const char *place)
{
	return strncmp(place, SERVER, strlen(SERVER)) == 0;
}

/* Keeps every service out of the state directory, which is made where something is to be copied
 * into it; -1 after a complaint. */
static int copy_lock(const char *state, bool is_target)
{
	if (is_target && !directory_make(state) && errno != EEXIST)
		return complain(-1, "cannot make the directory %s: %s", state, strerror(errno));
	if (access(state, F_OK) != 0)
		return complain(-1, "%s: %s", state, strerror(errno));
	return state_lock(state);
}

int cmd_copy(int argc, char **argv)
{
	const char *from = NULL, *to = NULL;
	const struct option_spec specs[] = {
	    {"--from", OPTION_TEXT, &from, 0, 0},
	    {"--to", OPTION_TEXT, &to, 0, 0},
	    OPTION_END,
	};
	char *own_from, *own_to;
	struct copy_report report = {.tell = copy_tell};
	struct error err = {0};
	bool to_state, done = false;
	int lock;
	if (!command_options(specs, argc, argv, 0))
		return EXIT_USAGE;
	if (!from || !to)
		return complain(EXIT_USAGE, "copy needs --from and --to");
	if (!(copy_is_state(from) && copy_is_server(to)) &&
	    !(copy_is_server(from) && copy_is_state(to)))
		return complain(EXIT_USAGE,
		    "one of --from and --to must be " DIRECTORY
		    "DIRECTORY, and the other one " SERVER "//...; see agentgraph help copy");
	own_from = copy_hide((char *)from); /* both are arguments */
	own_to = copy_hide((char *)to);
	to_state = copy_is_state(to);
	lock = copy_lock((to_state ? own_to : own_from) + strlen(DIRECTORY), to_state);
	if (lock >= 0) {
		done = storage_copy(own_from, own_to, &report, &err);
		if (done)
			printf("agentgraph: all is copied, %" PRId64 " rows\n", report.rows);
		else
			complain(1, "nothing is copied: %s", error_why(&err));
		if (done && report.local_files)
			printf("agentgraph: the bytes of %" PRId64
			       " uploaded files stay where they are: the "
			       "service needs the same MEDIA_STORAGE_PATH\n",
			    report.local_files);
		error_release(&err);
		state_unlock(lock);
	}
	free(own_from);
	free(own_to);
	return done ? 0 : 1;
}
