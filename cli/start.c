/* SPDX-License-Identifier: ISC */
/* Starting one child of each role: its command line, its environment and its descriptors. */
#include "base/buf.h"
#include "base/log.h"
#include "base/memory.h"
#include "spawn.h"
#include "supervisor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUN_SECONDS "86400" /* a run may go on for so long when its client is gone */

/* The last two arguments of a program that reads the configuration; none when no file was named. */
#define CONFIG_OPTION(s) \
	(s)->options->source.file ? "--config" : NULL, (char *)(s)->options->source.file

/*
 * glibc keeps up to seven freed pieces of each of 64 sizes for every thread.  The rarer sizes fill
 * up over millions of requests, so that a worker of many threads seems to grow for ever, while of
 * the small ones a request needs dozens at once: of 64 bytes, which a node of JSON has, a hundred,
 * and with fewer kept a tenth of a worker's time went into the heap.  Up to 128 bytes, and 127 of
 * each, is at most 72 KiB a thread.  Whoever sets the variable decides.
 */
#define MALLOC_TUNING "GLIBC_TUNABLES=glibc.malloc.tcache_max=128:glibc.malloc.tcache_count=127"

static pid_t start_worker(const struct supervisor *s)
{
	char *threads = xasprintf("%ld", s->pool.threads);
	char *drain = xasprintf("%ld", s->pool.drain);
	char *ready = xasprintf("%d", s->ready_out);
	char *argv[] = {s->worker, "--quiet", "--state", s->current.state_dir, "--threads", threads,
	    "--drain", drain, "--unlink", s->socket_path, "--ready", ready, "--accepted",
	    s->accepted, CONFIG_OPTION(s), NULL};
	const struct spawn spawn = {
	    argv, getenv("GLIBC_TUNABLES") ? NULL : MALLOC_TUNING, s->fastcgi, s->ready_out};
	pid_t pid = spawn_program(&spawn);

	free(threads);
	free(drain);
	free(ready);
	return pid;
}

/* nginx takes over sockets that the variable NGINX lists, as it does when it replaces itself. */
static pid_t start_nginx(const struct supervisor *s)
{
	char *conf = xasprintf("%s/nginx.conf", s->run);
	char *inherited = xasprintf("NGINX=%d;", s->tcp);
	char *argv[] = {s->nginx, "-p", s->run, "-c", conf, "-e", "stderr", NULL};
	const struct spawn spawn = {argv, inherited, -1, s->tcp};
	pid_t pid = spawn_program(&spawn);

	free(conf);
	free(inherited);
	return pid;
}

static pid_t start_relay(const struct supervisor *s)
{
	char *websocketd = xasprintf("127.0.0.1:%u", s->port);
	char *argv[] = {s->relay, "--state", s->current.state_dir, "--websocketd", websocketd,
	    "--unlink", s->relay_path, "--bye", RUN_SECONDS, "--accepted", s->accepted,
	    CONFIG_OPTION(s), NULL};
	const struct spawn spawn = {argv, NULL, s->relay_socket, -1};
	pid_t pid = spawn_program(&spawn);

	free(websocketd);
	return pid;
}

static pid_t start_follower(const struct supervisor *s)
{
	char *argv[] = {s->follower, "--state", s->current.state_dir, "--unlink", s->follow_path,
	    "--accepted", s->accepted, CONFIG_OPTION(s), NULL};
	const struct spawn spawn = {argv, NULL, s->follow_socket, -1};

	return spawn_program(&spawn);
}

/*
 * The names of this process's environment, for websocketd, which hands over what it is told to and
 * nothing else.  HTTP_... would look to the helpers like headers of the relay's request.
 */
static char *environment_names(void)
{
	struct buf names = {0};

	for (char **entry = environ; *entry; entry++) {
		size_t len = strcspn(*entry, "=");

		if (!len || memchr(*entry, ',', len) || strncmp(*entry, "HTTP_", 5) == 0)
			continue;
		if (names.len)
			buf_putc(&names, ',');
		buf_add(&names, *entry, len);
	}
	return buf_detach(&names);
}

/*
 * It logs whole URLs and forwards lines of its children badly, so it is kept quiet, and they get
 * standard error as another descriptor.  When it loses the relay, their runs have as long as others
 * to end.
 */
static pid_t start_websocketd(const struct supervisor *s)
{
	char *names = environment_names();
	char *port = xasprintf("--port=%u", s->port);
	char *patience = xasprintf("--closems=%ld", s->pool.drain * 1000);
	char *pass = xasprintf("--passenv=%s", names);
	char *log = xasprintf("%d", s->log);
	char *argv[] = {s->websocketd, "--address=127.0.0.1", port, "--loglevel=fatal", patience,
	    pass, s->helper, "--state", s->current.state_dir, "--log", log, "--accepted",
	    s->accepted, CONFIG_OPTION(s), NULL};
	const struct spawn spawn = {argv, NULL, -1, s->log};
	pid_t pid = spawn_program(&spawn);

	free(names);
	free(port);
	free(patience);
	free(pass);
	free(log);
	return pid;
}

static pid_t start_runner(const struct supervisor *s)
{
	char *drain = xasprintf("%ld", s->pool.drain);
	char *argv[] = {s->runner, "--state", s->current.state_dir, "--drain", drain, "--accepted",
	    s->accepted, CONFIG_OPTION(s), NULL};
	const struct spawn spawn = {argv, NULL, -1, -1};
	pid_t pid = spawn_program(&spawn);

	free(drain);
	return pid;
}

static pid_t cli_start(struct supervisor *s, enum role role)
{
	const struct probe probe = {s->tcp, s->socket_path, s->port_holder};
	switch (role) {
	case ROLE_WORKER:
		return start_worker(s);
	case ROLE_NGINX:
		return start_nginx(s);
	case ROLE_RELAY:
		return start_relay(s);
	case ROLE_FOLLOWER:
		return start_follower(s);
	case ROLE_WEBSOCKETD:
		return start_websocketd(s);
	case ROLE_RUNNER:
		return start_runner(s);
	case ROLE_PROBE:
		return probe_start(&probe);
	case ROLE_EXAMINER:
		return s->reload.upgrade ? upgrade_check_start(s)
					 : examine_start(&s->request, &s->reload.fd);
	case ROLE_ORPHAN:
		break;
	}
	errno = EINVAL;
	return -1;
}

void start_child(struct supervisor *s, struct child *child, int64_t now)
{
	pid_t pid = cli_start(s, child->role);

	if (pid > 0) {
		child_started(child, pid, now);
		s->history.changed = true;
		return;
	}
	log_error("cannot start a process (%s): %s", role_name(child->role), strerror(errno));
	child_died(child, now);
}
