#include "base/log.h"
#include "base/memory.h"
#include "probe.h"
#include "spawn.h"
#include "supervisor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static pid_t start_worker(const struct supervisor *s)
{
	char *threads = xasprintf("%ld", s->options->threads);
	char *drain = xasprintf("%ld", s->options->drain);
	char *argv[] = {s->worker, "--state", s->current.state_dir, "--threads", threads, "--drain",
	    drain, "--unlink", s->socket_path, NULL, NULL, NULL};
	const struct spawn spawn = {argv, NULL, s->fastcgi, -1};
	pid_t pid;

	if (s->options->source.file) {
		argv[9] = "--config";
		argv[10] = (char *)s->options->source.file;
	}
	pid = spawn_program(&spawn);
	free(threads);
	free(drain);
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

static pid_t start(struct supervisor *s, enum role role)
{
	switch (role) {
	case ROLE_WORKER:
		return start_worker(s);
	case ROLE_NGINX:
		return start_nginx(s);
	case ROLE_PROBE:
		return probe_start(s->tcp, s->socket_path);
	case ROLE_EXAMINER:
		return examine_start(&s->request, &s->reload.fd);
	case ROLE_ORPHAN:
		break;
	}
	errno = EINVAL;
	return -1;
}

void start_child(struct supervisor *s, struct child *child, int64_t now)
{
	pid_t pid = start(s, child->role);

	if (pid > 0) {
		child_started(child, pid, now);
		return;
	}
	log_error("cannot start a process (%s): %s", role_name(child->role), strerror(errno));
	child_died(child, now);
}
