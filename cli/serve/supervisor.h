/* SPDX-License-Identifier: ISC */
/*
 * The supervisor behind `agentgraph serve`: one thread that starts the workers and nginx, replaces
 * what dies, reloads, and takes everything down again.  It serves no request and loads no
 * configuration itself (see examine.h), so there is little that could make it fail.
 */
#ifndef AGENTGRAPH_CLI_SERVE_SUPERVISOR_H
#define AGENTGRAPH_CLI_SERVE_SUPERVISOR_H

#include "base/bound.h"
#include "cli/examine/examine.h"
#include "cli/serve/children.h"
#include "cli/sockets.h"

#include <cjson/cJSON.h>
#include <sys/types.h>

struct serve_options {
	struct config_source source;
	const char *listen; /* HOST:PORT */
	const char *socket; /* NULL: in the state directory */
	struct socket_access access;
	long processes, threads, drain; /* -1: not given */
	bool no_nginx;
	char *const *argv; /* all of it as it was given, "serve" first */
};

#define KILL_AFTER_MS 2000 /* how much longer than its drain a process may take to go */
/* The same for the runner, which gives back what it has in hand: killing it would cost each of
 * those runs an attempt. */
#define RUNNER_KILL_AFTER_MS 10000
#define COME_UP_MS 60000 /* how long those that are started may take until they serve */

enum phase { PHASE_STARTING, PHASE_SERVING, PHASE_STOPPING };

/* A reload on its way: first the examiner and its report, then the new generation. */
struct reload {
	bool wanted;        /* SIGHUP came, and the examiner was not started yet */
	int fd;             /* of the report; -1 when there is nothing more to read */
	struct buf written; /* what was read so far */
	bool ended;         /* the examiner is gone */
	int wait_status;
	int64_t until;     /* when the examiner's time is over; 0: there is no examiner */
	int64_t retire_at; /* when to see whether the old generation may leave; 0: there is none */
	int64_t began;     /* when the new generation was started */
	size_t deaths;     /* of its workers */
	bool nginx_changed;
	bool upgrade; /* the examiner is a new version of this program */
	bool quiet; /* the new generation was started to repair: its configuration is the old one */
	bool repairs;              /* a reload began while a quiet generation did not serve yet */
	struct examination before; /* what the old generation serves, if that is something else */
};

/* The size of the pool: by the options, else by the configuration. */
struct pool_size {
	long processes, threads, drain; /* the last in seconds */
};

#define HISTORY_ROLES ROLE_PROBE /* the roles before it are kept alive */

/* What `agentgraph status` tells of the past; times in microseconds since the epoch, 0: never. */
struct history {
	int64_t since, last_reload;
	int64_t restarts[HISTORY_ROLES], reloads, failed_reloads;
	bool last_failed;
	bool changed; /* since run/status.json was written */
};

struct supervisor {
	const struct serve_options *options;
	struct examine_request request;
	struct examination current; /* what is served */
	struct pool_size pool;
	char address[TCP_ADDRESS_SIZE]; /* of tcp */
	char *self, *nginx, *worker;    /* paths of programs */
	char *websocketd, *relay, *helper, *follower, *runner;
	char *run; /* directory for sockets and nginx's files */
	char *socket_path, *relay_path, *follow_path;
	char *accepted; /* the file for processes that start later (config_source) */
	int tcp, fastcgi, lock, signals; /* -1: not open */
	int ready_in, ready_out;         /* the pipe in which workers say that they serve */
	int relay_socket;                /* the relay's listener */
	int follow_socket;               /* agentgraph-follow's listener */
	int port_holder;                 /* reserves port, where websocketd listens */
	unsigned port;
	int log; /* standard error, for the helpers that websocketd starts */
	enum phase phase;
	struct children children;
	unsigned generation;
	int64_t unserved; /* since when no worker serves; 0: one does */
	bool turned_away; /* a request was turned away since then */
	struct bound socket_bound, relay_bound, follow_bound;
	int64_t look_at; /* when to see whether the sockets are still there */
	struct history history;
	size_t early_deaths; /* workers that died before the service had answered */
	struct reload reload;
	int64_t stop_at; /* when the time of open requests is over */
	bool hurried;    /* that time is over, and everybody was told */
	int status;      /* exit status */
};

/* Runs the service until a signal ends it; returns the exit status. */
int supervise(const struct serve_options *options);

/* setup.c: everything up to the first process: sockets, examination, directories, lock.  False
 * after a complaint. */
bool setup(struct supervisor *s);

/* Gives back what setup took, sockets and their files included. */
void teardown(struct supervisor *s);

/* served.c: sets s->pool by the options and s->current. */
void served_pool(struct supervisor *s);

/* Writes down the files that an examination has read; false after a complaint. */
bool served_accepted(const struct supervisor *s, const char *files);

/* Writes nginx.conf; false after a complaint. */
bool served_nginx_conf(const struct supervisor *s, const char *text);

/* Writes a file for the owner alone, as a whole or not at all; false with errno set. */
bool served_file(const char *path, const char *text);

/* repair.c: sees now and then whether the sockets are still at their paths.  Those that are not are
 * bound again, and new workers started, and a new process behind each of the other sockets. */
void repair_step(struct supervisor *s, int64_t now);

/* Remembers what lies at the paths of the sockets. */
void repair_remember(struct supervisor *s);

/* status.c: keeps run/status.json, which is written when something has changed. */
void status_step(struct supervisor *s);
void status_remove(const struct supervisor *s);

/* A new configuration, or a new version of this program, serves; or it was refused. */
void status_reloaded(struct supervisor *s);
void status_reload_failed(struct supervisor *s);

/* Writes the counts for a successor of this program, which goes on from them; and takes them
 * over. */
void status_add_counts(const struct supervisor *s, cJSON *document);
void status_take_counts(struct supervisor *s, const cJSON *document);

/* start.c: starts the process of a row; if that fails the row waits for the next try. */
void start_child(struct supervisor *s, struct child *child, int64_t now);

/* leftover.c: ends the nginx that a killed service has left, unless a service lives in that state
 * directory.  True when there was one. */
bool leftover_end(const char *state_dir);

/* reload.c: SIGHUP. */
void reload_request(struct supervisor *s);

/* Takes over, and moves, what an examination without errors has found, and starts a new generation.
 * If that does not come up all is as it was before. */
void reload_apply(struct supervisor *s, struct examination *next, int64_t now);

/* Starts new workers, a new runner, and those of the relay and the follower whose roles are given
 * (as bits), beside the old ones, which leave when the new ones serve. */
void reload_generation(struct supervisor *s, unsigned roles, int64_t now);

/* Does what a reload has due now. */
void reload_step(struct supervisor *s, int64_t now);

/* Reads more of the examiner's report. */
void reload_read(struct reload *reload);

/* Forgets a reload in progress. */
void reload_release(struct reload *reload);

/* upgrade.c: the path of this program, malloc'd; NULL when the system does not tell. */
char *upgrade_self(void);

/* Whether the program at this program's path is another one than runs here; or at path, than pid
 * runs. */
bool upgrade_waits(const struct supervisor *s);
bool upgrade_replaces(pid_t pid, const char *path);

/* Starts the new program's check of the configuration; its exit status is the answer. */
pid_t upgrade_check_start(const struct supervisor *s);

/* Executes the new program in the place of this one.  Returns only when that fails, with all as it
 * was. */
void upgrade_execute(struct supervisor *s);

/* In the new program: takes sockets, children, address and what is served over from the old one.
 * False when there is no old one. */
bool upgrade_take(struct supervisor *s);

/* probe.c: a child that asks the service for /ping until it answers. */
struct probe {
	int tcp; /* nginx's listening socket; -1: asks straight at the FastCGI socket */
	const char *socket_path;
	int websocketd; /* its reserved port */
};

/*
 * Starts a child that asks several times a second.  It ends with 0 at the first answer with status
 * 200, if websocketd listens by then; with 1 when there was none for a minute.  -1 with errno when
 * there can be no child.
 */
pid_t probe_start(const struct probe *probe);

#endif
