/* SPDX-License-Identifier: ISC */
/*
 * The table of the supervisor's child processes: who they are, when one that died is started again,
 * and when one that was asked to leave is killed.  Times are those of clock_monotonic_ms.
 */
#ifndef AGENTGRAPH_CLI_SERVE_CHILDREN_H
#define AGENTGRAPH_CLI_SERVE_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum role {
	ROLE_WORKER,
	ROLE_NGINX,
	ROLE_RELAY,
	ROLE_FOLLOWER,
	ROLE_WEBSOCKETD,
	ROLE_RUNNER,   /* executes runs in the background */
	ROLE_PROBE,    /* asks for /ping while the service starts */
	ROLE_EXAMINER, /* looks at the configuration before a reload */
	ROLE_ORPHAN    /* left behind by one of the others */
};

struct child {
	enum role role;
	unsigned generation; /* of the configuration that a worker serves */
	pid_t pid;           /* 0: it does not run, and is started at start_at */
	int64_t started;
	int64_t start_at;
	int64_t kill_at; /* when it is killed; 0 until it was asked to leave */
	int64_t delay;   /* before the next start */
	unsigned young;  /* how often in a row it died within a second */
	bool ready;      /* a worker has said that it serves */
};

struct children { /* all-zero is an empty table */
	struct child *items;
	size_t count;
};

/* For the log: "worker", "relay", … */
const char *role_name(enum role role);

/* Adds a row, which is to be started at once.  Rows move when others are added or removed. */
struct child *children_add(struct children *c, enum role role, unsigned generation);
void children_remove(struct children *c, struct child *child);
void children_release(struct children *c);

/* The running child with that pid, or NULL. */
struct child *children_find(struct children *c, pid_t pid);

/* How many workers are ready and were not asked to leave. */
size_t children_serving(const struct children *c);

/* Whether a worker is starting that did not die young before. */
bool children_start_well(const struct children *c);

/* How many run in that role. */
size_t children_running(const struct children *c, enum role role);

/* Notes that the child runs, since now. */
void child_started(struct child *child, pid_t pid, int64_t now);

/*
 * Notes that the child died, or could not be started, and sets when it is started again.  That is
 * at once, unless it died within a second twice in a row: then after 0.1 seconds, doubling up to 5.
 * A worker that had served was killed by a request, while others wait for it: it is always started
 * again after 0.1 seconds at most.
 */
void child_died(struct child *child, int64_t now);

/* Sends the signal; the child is killed if it is still there after grace milliseconds. */
void child_leave(struct child *child, int signal, int64_t grace, int64_t now);

/* Kills those whose time is over. */
void children_kill_overdue(struct children *c, int64_t now);

/* The next time at which one is to be started or killed; INT64_MAX when there is none. */
int64_t children_next(const struct children *c);

#endif
