/* SPDX-License-Identifier: ISC */
/* Starting one child of each role: its command line, its environment and its descriptors. */
#include "base/buf.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "cli/serve/supervisor.h"
#include "cli/spawn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUN_SECONDS "86400"         /* a run may go on for so long when its client is gone */
#define EXAMINE_MS (2 * COME_UP_MS) /* the examiner may take twice as long as a start */
#define UPGRADE_MS 3600000          /* a new version may have to bring databases up to date */

/* The last two arguments of a program that reads the configuration; none when no file was named. */
#define CONFIG_OPTION(s) \
	(s)->options->source.file ? "--config" : NULL, (char *)(s)->options->source.file

/*
 * glibc keeps up to seven freed pieces of each of 64 sizes for every thread.  That is too many of
 * the rare sizes, which fill up over millions of requests, so that a worker of many threads seems
 * to grow for ever.  It is too few of the small ones: a request frees a hundred pieces of 64 bytes,
 * the size of a node of JSON, and a tenth of a worker's time went into the heap, of a runner's a
 * fifth.  So 127 pieces are kept of each size up to 128 bytes, at most 72 KiB a thread.  If the
 * variable is set, whoever set it decides.
 */
static const char *start_malloc_tuning(void)
{
	return getenv("GLIBC_TUNABLES")
	    ? NULL
	    : "GLIBC_TUNABLES=glibc.malloc.tcache_max=128:glibc.malloc.tcache_count=127";
}

static pid_t start_worker(const struct supervisor *s)
{
	char *threads = xasprintf("%ld", s->pool.threads);
	char *drain = xasprintf("%ld", s->pool.drain);
	char *ready = xasprintf("%d", s->ready_out);
	char *argv[] = {s->worker, "--quiet", "--state", s->current.state_dir, "--threads", threads,
	    "--drain", drain, "--unlink", s->socket_path, "--ready", ready, "--accepted",
	    s->accepted, CONFIG_OPTION(s), NULL};
	const struct spawn spawn = {.argv = argv,
	    .variable = start_malloc_tuning(),
	    .input = s->fastcgi,
	    .inherit = s->ready_out};
	pid_t pid = spawn_program(&spawn);
	free(threads);
	free(drain);
	free(ready);
	return pid;
}

/* nginx takes over the sockets that the variable NGINX lists, as when it replaces itself. */
static pid_t start_nginx(const struct supervisor *s)
{
	char *conf = xasprintf("%s/nginx.conf", s->run);
	char *inherited = xasprintf("NGINX=%d;", s->tcp);
	char *argv[] = {s->nginx, "-p", s->run, "-c", conf, "-e", "stderr", NULL};
	const struct spawn spawn = {
	    .argv = argv, .variable = inherited, .input = -1, .inherit = s->tcp};
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
	const struct spawn spawn = {.argv = argv, .input = s->relay_socket, .inherit = -1};
	pid_t pid = spawn_program(&spawn);
	free(websocketd);
	return pid;
}

static pid_t start_follower(const struct supervisor *s)
{
	char *argv[] = {s->follower, "--state", s->current.state_dir, "--unlink", s->follow_path,
	    "--accepted", s->accepted, CONFIG_OPTION(s), NULL};
	const struct spawn spawn = {.argv = argv, .input = s->follow_socket, .inherit = -1};
	return spawn_program(&spawn);
}

/*
 * websocketd hands its children the variables that it is told to and no others.  It logs whole
 * URLs, and is bad at forwarding what its children log; so it is kept quiet, and they get standard
 * error as another descriptor.  When it loses the relay, their runs have as long as others to end.
 */
static pid_t start_websocketd(const struct supervisor *s)
{
	struct buf pass = {0};
	const char *between = "--passenv=";
	/* HTTP_... would look to the helpers like headers of the relay's request */
	for (char **entry = environ; *entry; entry++) {
		size_t len = strcspn(*entry, "=");
		if (!len || memchr(*entry, ',', len) || strncmp(*entry, "HTTP_", 5) == 0)
			continue;
		buf_puts(&pass, between);
		buf_add(&pass, *entry, len);
		between = ",";
	}
	if (!pass.len)
		buf_puts(&pass, between);
	char *port = xasprintf("--port=%u", s->port);
	char *patience = xasprintf("--closems=%ld", s->pool.drain * 1000);
	char *log = xasprintf("%d", s->log);
	char *argv[] = {s->websocketd, "--address=127.0.0.1", port, "--loglevel=fatal", patience,
	    pass.data, s->helper, "--state", s->current.state_dir, "--log", log, "--accepted",
	    s->accepted, CONFIG_OPTION(s), NULL};
	const struct spawn spawn = {.argv = argv, .input = -1, .inherit = s->log};
	pid_t pid = spawn_program(&spawn);

	free(port);
	free(patience);
	buf_release(&pass);
	free(log);
	return pid;
}

static pid_t start_runner(const struct supervisor *s)
{
	char *drain = xasprintf("%ld", s->pool.drain);
	char *argv[] = {s->runner, "--state", s->current.state_dir, "--drain", drain, "--accepted",
	    s->accepted, CONFIG_OPTION(s), NULL};
	const struct spawn spawn = {
	    .argv = argv, .variable = start_malloc_tuning(), .input = -1, .inherit = -1};
	pid_t pid = spawn_program(&spawn);
	free(drain);
	return pid;
}

void start_child(struct supervisor *s, struct child *child, int64_t now)
{
	const struct probe probe = {
	    .tcp = s->tcp, .socket_path = s->socket_path, .websocketd = s->port_holder};
	pid_t pid = -1;
	switch (child->role) {
	case ROLE_WORKER:
		pid = start_worker(s);
		break;
	case ROLE_NGINX:
		pid = start_nginx(s);
		break;
	case ROLE_RELAY:
		pid = start_relay(s);
		break;
	case ROLE_FOLLOWER:
		pid = start_follower(s);
		break;
	case ROLE_WEBSOCKETD:
		pid = start_websocketd(s);
		break;
	case ROLE_RUNNER:
		pid = start_runner(s);
		break;
	case ROLE_PROBE:
		pid = probe_start(&probe);
		break;
	case ROLE_EXAMINER:
		s->request.state_dir = s->current.state_dir;
		pid = s->reload.upgrade ? upgrade_check_start(s)
					: examine_start(&s->request, &s->reload.fd);
		break;
	case ROLE_ORPHAN:
		errno = EINVAL;
		break;
	}
	if (pid > 0) {
		child_started(child, pid, now);
		if (child->role == ROLE_EXAMINER)
			child->kill_at = s->reload.until =
			    now + (s->reload.upgrade ? UPGRADE_MS : EXAMINE_MS);
		s->history.changed = true;
		return;
	}
	log_error("cannot start a process (%s): %s", role_name(child->role), strerror(errno));
	child_died(child, now);
}
