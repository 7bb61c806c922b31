/* SPDX-License-Identifier: ISC */
/* The supervisor's loop: signals, deaths, what is due, and the order in which all of it stops. */
#include "cli/serve/supervisor.h"

#include "base/log/log.h"
#include "base/os/clock.h"
#include "cli/command.h"
#include "cli/serve/children.h"
#include "cli/spawn.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define HURRY_MS 1000    /* a process has so long to go once time is up */
#define SECOND_MS 300    /* children take a second SIGTERM within so little time for the first */
#define PATIENCE_MS 2000 /* how long requests wait when no worker serves, */
#define START_MS 10000   /* and when one is starting that did not die young before */

/* ---- stopping ---- */

/*
 * Begins to stop.  First to go are nginx, which still needs workers for the requests that it has;
 * the relay, which tells the clients of its WebSockets; the follower, which sends clients that wait
 * for a result back to the workers; and the runner.  The workers and websocketd follow.
 */
static void supervisor_stop(struct supervisor *s, int status)
{
	int64_t now = clock_monotonic_ms(), grace = s->pool.drain * 1000 + KILL_AFTER_MS;
	s->phase = PHASE_STOPPING;
	s->history.changed = true;
	s->status = status;
	s->stop_at = now + s->pool.drain * 1000;
	if (s->tcp >= 0)
		close(s->tcp);
	s->tcp = -1;
	for (size_t i = s->children.count; i-- > 0;) {
		struct child *child = &s->children.items[i];
		if (!child->pid) {
			children_remove(&s->children, child);
			continue;
		}
		switch (child->role) {
		case ROLE_NGINX:
			child_leave(child, SIGQUIT, grace, now);
			break;
		case ROLE_RELAY:
		case ROLE_FOLLOWER:
			child_leave(child, SIGTERM, grace, now);
			break;
		case ROLE_RUNNER:
			child_leave(
			    child, SIGTERM, s->pool.drain * 1000 + RUNNER_KILL_AFTER_MS, now);
			break;
		case ROLE_PROBE:
		case ROLE_EXAMINER:
			child_leave(child, SIGKILL, HURRY_MS, now);
			break;
		case ROLE_WORKER: /* these two stay while others need them */
		case ROLE_WEBSOCKETD:
		case ROLE_ORPHAN: /* was asked when it was found */
			break;
		}
	}
}

static void supervisor_fail_start(struct supervisor *s, const char *sentence)
{
	complain(1, "%s; not started", sentence);
	supervisor_stop(s, 1);
	s->stop_at = 0;
}

/* Milliseconds that are left of the time for open requests, and a moment more. */
static int64_t supervisor_grace(const struct supervisor *s, int64_t now)
{
	return (s->stop_at > now ? s->stop_at - now : 0) + HURRY_MS;
}

static void supervisor_stop_role(struct supervisor *s, enum role role, int64_t now)
{
	for (size_t i = 0; i < s->children.count; i++)
		if (s->children.items[i].role == role && !s->children.items[i].kill_at)
			child_leave(&s->children.items[i], SIGTERM, supervisor_grace(s, now), now);
}

static void supervisor_stop_step(struct supervisor *s, int64_t now)
{
	if (s->phase != PHASE_STOPPING)
		return;
	if (!s->hurried && now >= s->stop_at) { /* time is up: everybody gets a moment to go */
		s->hurried = true;
		for (size_t i = 0; i < s->children.count; i++) {
			struct child *child = &s->children.items[i];
			bool gives_back = child->role == ROLE_RUNNER;
			child_leave(
			    child, SIGTERM, gives_back ? RUNNER_KILL_AFTER_MS : HURRY_MS, now);
		}
	}
	if (!children_running(&s->children, ROLE_RELAY))
		supervisor_stop_role(s, ROLE_WEBSOCKETD, now);
	if (!children_running(&s->children, ROLE_NGINX) &&
	    !children_running(&s->children, ROLE_ORPHAN))
		supervisor_stop_role(s, ROLE_WORKER, now);
}

/* ---- deaths ---- */

/*
 * Takes care of the processes that a dead child has left behind, whose parent this process becomes
 * as a subreaper: nginx's workers, which would go on holding the port, and programs that a worker
 * ran.
 */
static void supervisor_sweep_orphans(struct supervisor *s, int signal, int64_t grace)
{
	int64_t now = clock_monotonic_ms();
	pid_t *pids;
	size_t count = spawn_children(&pids);
	for (size_t i = 0; i < count; i++) {
		struct child *orphan;
		if (children_find(&s->children, pids[i]))
			continue;
		orphan = children_add(&s->children, ROLE_ORPHAN, 0);
		child_started(orphan, pids[i], now);
		child_leave(orphan, signal, grace, now);
	}
	free(pids);
}

static void supervisor_probe_ended(struct supervisor *s, int status)
{
	if (s->phase != PHASE_STARTING)
		return;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		supervisor_fail_start(s, "the service gave no answer to /ping within a minute");
		return;
	}

	bool own = !s->options->no_nginx;
	/* Whoever waits for the line may be gone, or its disk full: the service is needed all the
	 * same. */
	if (dprintf(STDOUT_FILENO, "agentgraph: serving %s on %s%s\n", s->current.agent,
		own ? "http://" : "unix:", own ? s->address : s->socket_path) < 0)
		log_warning(
		    "standard output was not told that the service is up: %s", strerror(errno));
	s->phase = PHASE_SERVING;
	s->history.changed = true;
	log_info("agentgraph %s serves %s with %ld workers", AGENTGRAPH_VERSION, s->current.agent,
	    s->pool.processes);
	if (own && s->current.console && *s->current.console)
		log_info("the console is at http://%s%s", s->address, s->current.console);
}

/* A process that is kept died without being asked to. */
static void supervisor_died(struct supervisor *s, struct child *child, int status)
{
	static const char *const failures[HISTORY_ROLES] = {
	    [ROLE_WORKER] = "the workers could not start; their messages are above",
	    [ROLE_NGINX] = "nginx could not start; its message is above",
	    [ROLE_RELAY] = "the relay could not start; its message is above",
	    [ROLE_FOLLOWER] = "the follower could not start; its message is above",
	    [ROLE_WEBSOCKETD] = "websocketd could not start",
	    [ROLE_RUNNER] = "the runner of background runs could not start; its message is above",
	};
	enum role role = child->role;
	long pid = child->pid;
	char end[64];
	if (WIFSIGNALED(status))
		snprintf(end, sizeof(end), "ended by signal %d (%s)", WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	else
		snprintf(end, sizeof(end), "exited with status %d", WEXITSTATUS(status));
	s->history.restarts[role]++;
	s->reload.deaths += role == ROLE_WORKER && child->generation == s->generation;
	child_died(child, clock_monotonic_ms());
	log_error("%s %ld %s; starting another in %lld ms", role_name(role), pid, end,
	    (long long)child->delay);
	/* nginx's workers have requests, and websocketd's helpers and the runner's processes runs,
	 * that may come to their end */
	bool finishes = role == ROLE_NGINX || role == ROLE_WEBSOCKETD || role == ROLE_RUNNER;
	supervisor_sweep_orphans(s, role == ROLE_NGINX ? SIGQUIT : SIGTERM,
	    finishes ? s->pool.drain * 1000 : KILL_AFTER_MS);
	if (s->phase != PHASE_STARTING)
		return;
	/* a worker may die, but not as many as there are to be */
	if (role != ROLE_WORKER || ++s->early_deaths >= (size_t)s->pool.processes)
		supervisor_fail_start(s, failures[role]);
}

static void supervisor_reaped(struct supervisor *s, pid_t pid, int status)
{
	struct child *child = children_find(&s->children, pid);
	enum role role;
	bool kept;
	if (!child) { /* an orphan that was not swept yet; its own children are orphans now */
		supervisor_sweep_orphans(s, SIGTERM, KILL_AFTER_MS);
		return;
	}
	role = child->role;
	kept = role < ROLE_PROBE;
	s->history.changed = true;
	if (kept && !child->kill_at && s->phase != PHASE_STOPPING) {
		supervisor_died(s, child, status);
		return;
	}
	children_remove(&s->children, child);
	if (role == ROLE_WEBSOCKETD)
		supervisor_sweep_orphans(s, SIGTERM, supervisor_grace(s, clock_monotonic_ms()));
	if (role == ROLE_ORPHAN)
		supervisor_sweep_orphans(s, SIGTERM, KILL_AFTER_MS);
	if (role == ROLE_PROBE)
		supervisor_probe_ended(s, status);
	if (role == ROLE_EXAMINER) {
		s->reload.ended = true;
		s->reload.wait_status = status;
	}
}

/* ---- whether anybody serves ---- */

static int64_t supervisor_patience(const struct supervisor *s)
{
	return children_start_well(&s->children) ? START_MS : PATIENCE_MS;
}

static bool supervisor_turns_away(const struct supervisor *s, int64_t now)
{
	return s->unserved && now - s->unserved >= supervisor_patience(s);
}

/* Notes since when no worker serves.  Requests wait for a while then, but not for ever: after that
 * their connections are closed, and the web server says that the service is unavailable. */
static void supervisor_note_service(struct supervisor *s, int64_t now)
{
	bool nobody = s->phase == PHASE_SERVING && children_serving(&s->children) == 0;
	if (!nobody && s->turned_away)
		log_info("a worker serves again");
	if (!nobody) {
		s->unserved = 0;
		s->turned_away = false;
	} else if (!s->unserved) {
		s->unserved = now;
	}
}

/* ---- the loop ---- */

static void supervisor_on_signal(struct supervisor *s, const struct signalfd_siginfo *info)
{
	int number = (int)info->ssi_signo;
	const char *name = sigabbrev_np(number);
	switch (number) {
	case SIGCHLD:
		break;
	case SIGHUP:
		if (info->ssi_code != SI_KERNEL) {
			log_info("SIGHUP: looking at the configuration");
			reload_request(s);
			break;
		} /* the kernel sends it when a terminal is closed: that is no wish to reload */
		  /* fall through */
	case SIGINT:
	case SIGQUIT:
	case SIGTERM:
		log_info("SIG%s: %s", name,
		    s->phase == PHASE_STOPPING ? "not waiting for what is under way" : "stopping");
		if (s->phase != PHASE_STOPPING)
			supervisor_stop(s, 0);
		else if (s->stop_at > clock_monotonic_ms() + SECOND_MS) /* a second Ctrl-C */
			s->stop_at = clock_monotonic_ms() + SECOND_MS;
		break;
	case SIGUSR1:
		log_info("SIGUSR1: opening the logs of nginx anew");
		/* only nginx may log to files of its own; everything else goes to standard error */
		for (size_t i = 0; i < s->children.count; i++)
			if (s->children.items[i].role == ROLE_NGINX && s->children.items[i].pid)
				kill(s->children.items[i].pid, SIGUSR1);
		break;
	default:
		log_info("signal %d (%s) has no meaning here", number, name ? name : "?");
	}
}

/* Milliseconds until something is due; -1: nothing is. */
static int supervisor_time_left(const struct supervisor *s, int64_t now)
{
	int64_t next = children_next(&s->children);
	if (s->phase == PHASE_STOPPING && !s->hurried && s->stop_at < next)
		next = s->stop_at;
	if (s->reload.retire_at && s->reload.retire_at < next)
		next = s->reload.retire_at;
	if (s->reload.until && s->reload.until < next)
		next = s->reload.until;
	if (s->phase == PHASE_SERVING && !s->reload.retire_at && s->look_at < next)
		next = s->look_at;
	if (s->unserved && !supervisor_turns_away(s, now) &&
	    s->unserved + supervisor_patience(s) < next)
		next = s->unserved + supervisor_patience(s);
	if (next == INT64_MAX)
		return -1;
	return next <= now ? 0 : next - now > INT_MAX ? INT_MAX : (int)(next - now);
}

static void supervisor_wait_for_something(struct supervisor *s)
{
	int64_t now = clock_monotonic_ms();
	struct pollfd fds[] = {{s->signals, POLLIN, 0}, {s->reload.fd, POLLIN, 0},
	    {s->ready_in, POLLIN, 0}, {supervisor_turns_away(s, now) ? s->fastcgi : -1, POLLIN, 0}};
	struct signalfd_siginfo info;
	int32_t ready;
	int fd, status;
	pid_t pid;
	if (poll(fds, 4, supervisor_time_left(s, now)) < 0 && errno != EINTR)
		clock_sleep_ms(10);
	if (fds[1].revents)
		reload_read(&s->reload);
	/* each worker writes its process id once */
	while (
	    fds[2].revents && read(s->ready_in, &ready, sizeof(ready)) == (ssize_t)sizeof(ready)) {
		struct child *child = children_find(&s->children, ready);
		if (!child || child->role != ROLE_WORKER)
			continue;
		child->ready = true;
		s->history.changed = true;
		log_info("worker %ld serves", (long)ready);
	}
	if (fds[3].revents)
		while ((fd = accept4(s->fastcgi, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
			close(fd);
			s->turned_away = true;
		}
	while (read(s->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		supervisor_on_signal(s, &info);
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		supervisor_reaped(s, pid, status);
}

/* Whether all processes are gone, including those that are not in the table. */
static bool supervisor_all_gone(struct supervisor *s)
{
	if (s->phase != PHASE_STOPPING || s->children.count)
		return false;
	supervisor_sweep_orphans(s, SIGTERM, HURRY_MS);
	return s->children.count == 0;
}

static void supervisor_run(struct supervisor *s)
{
	if (s->phase == PHASE_STARTING) {
		for (long i = 0; i < s->pool.processes; i++)
			children_add(&s->children, ROLE_WORKER, 0);
		if (!s->options->no_nginx)
			children_add(&s->children, ROLE_NGINX, 0);
		children_add(&s->children, ROLE_WEBSOCKETD, 0);
		children_add(&s->children, ROLE_RELAY, 0);
		children_add(&s->children, ROLE_FOLLOWER, 0);
		if (s->current.background)
			children_add(&s->children, ROLE_RUNNER, 0);
		children_add(&s->children, ROLE_PROBE, 0);
	}
	while (!supervisor_all_gone(s)) {
		int64_t now = clock_monotonic_ms();
		for (size_t i = 0; i < s->children.count; i++)
			if (!s->children.items[i].pid && s->children.items[i].start_at <= now)
				start_child(s, &s->children.items[i], now);
		children_kill_overdue(&s->children, now);
		repair_step(s, now);
		reload_step(s, now);
		supervisor_stop_step(s, now);
		supervisor_note_service(s, now);
		status_step(s);
		supervisor_wait_for_something(s);
	}
}

int supervise(const struct serve_options *options)
{
	struct supervisor s = {.options = options};
	sigset_t later;
	/* other processes know it from the configuration, which this one does not load */
	const char *format = getenv("AGENTGRAPH_LOG_FORMAT");
	log_init("agentgraph", LOG_INFO);
	log_set_format(format && strcmp(format, "json") == 0 ? LOG_JSON : LOG_PLAIN);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	/* Those that ask a service for something wait until it can: a reload just after the start
	 * would end it, and systemd restarts nothing that has died of SIGHUP. */
	sigemptyset(&later);
	sigaddset(&later, SIGHUP);
	sigaddset(&later, SIGUSR1);
	sigprocmask(SIG_BLOCK, &later, NULL);
	if (setup(&s)) {
		supervisor_run(&s);
		log_info("stopped");
	} else
		s.status = 1;
	teardown(&s);
	return s.status;
}
