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
	pid_t pid;           /* 0 while it waits for start_at */
	int64_t started;
	int64_t start_at;
	int64_t kill_at; /* 0 until it was asked to leave */
	int64_t delay;   /* before the next start */
	unsigned young;  /* how often in a row it died within a second */
	bool ready;      /* a worker that has said that it serves */
};

struct children { /* all-zero is an empty table */
	struct child *items;
	size_t count;
};

/* For the log: "worker", "relay", … */
const char *role_name(enum role role);

/* A new row, due to be started at once.  Rows move when others are added or removed. */
struct child *children_add(struct children *c, enum role role, unsigned generation);
void children_remove(struct children *c, struct child *child);
void children_release(struct children *c);

/* The running child with that pid, or NULL. */
struct child *children_find(struct children *c, pid_t pid);

/* How many workers are ready and were not asked to leave. */
size_t children_serving(const struct children *c);

/* Whether a worker is on its way, and did not die young before. */
bool children_start_well(const struct children *c);

/* How many run in that role. */
size_t children_running(const struct children *c, enum role role);

/* It runs since now. */
void child_started(struct child *child, pid_t pid, int64_t now);

/*
 * It died, or could not be started: says when it is started again.  At once, but when it dies
 * within a second again and again, in 0.1 seconds, doubling up to 5.  What made a worker die that
 * had served was a request, and others wait for it: 0.1 seconds it is for that one, however often.
 */
void child_died(struct child *child, int64_t now);

/* Sends the signal, and SIGKILL when it is still there after grace milliseconds. */
void child_leave(struct child *child, int signal, int64_t grace, int64_t now);

/* Kills those whose time is over. */
void children_kill_overdue(struct children *c, int64_t now);

/* The next time at which one is to be started or killed; INT64_MAX when there is none. */
int64_t children_next(const struct children *c);

#endif
