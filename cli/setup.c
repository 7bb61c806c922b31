/* SPDX-License-Identifier: ISC */
/* What the supervisor needs before its first child: directories, files and sockets. */
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "command.h"
#include "programs.h"
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes path with its parents, for the owner alone. */
static bool setup_make_directory(const char *path)
{
	char *copy = xstrdup(path);
	struct stat st;
	bool made;

	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(copy, 0700);
		*slash = '/';
	}
	made = mkdir(copy, 0700) == 0 ||
	    (errno == EEXIST && stat(copy, &st) == 0 && S_ISDIR(st.st_mode));
	if (!made)
		complain(1, "cannot make the directory %s: %s", path, strerror(errno));
	free(copy);
	return made;
}

/* What WebSockets need. */
static bool find_bridge(struct supervisor *s)
{
	s->relay = program_own("agentgraph-relay");
	if (s->relay)
		s->helper = program_own("agentgraph-ws");
	if (s->helper)
		s->websocketd = program_websocketd();
	return s->websocketd;
}

static bool find_programs(struct supervisor *s)
{
	s->worker = program_own("agentgraph-fcgi");
	if (s->worker && !s->options->no_nginx)
		s->nginx = program_nginx();
	return s->worker && (s->nginx || s->options->no_nginx) && find_bridge(s);
}

static bool examine_first(struct supervisor *s)
{
	const struct serve_options *o = s->options;

	s->request = (struct examine_request){
	    o->source, o->socket, o->no_nginx ? NULL : s->address, o->drain, NULL};
	if (examine(&s->request, &s->current)) {
		served_pool(s);
		return true;
	}
	complain(1, "configuration %s: %lld error%s, not started",
	    s->current.file ? s->current.file : "?", s->current.errors,
	    s->current.errors == 1 ? "" : "s");
	return false;
}

static char *accepted_path(const struct supervisor *s)
{
	return xasprintf("%s/accepted.json", s->run);
}

/* The directory for sockets and nginx, locked against a second service. */
static bool prepare_run(struct supervisor *s)
{
	char *path;

	s->run = xasprintf("%s/run", s->current.state_dir);
	if (!setup_make_directory(s->run))
		return false;
	path = xasprintf("%s/serve.lock", s->run);
	s->lock = lock_take(path);
	free(path);
	s->accepted = accepted_path(s);
	return s->lock >= 0 && served_accepted(s, s->current.files);
}

/* Opens what workers say by that they serve; false after a complaint. */
static bool setup_ready(struct supervisor *s)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return complain(0, "cannot make a pipe: %s", strerror(errno));
	s->ready_in = ends[0];
	s->ready_out = ends[1];
	return true;
}

/* The two sockets that nginx connects to. */
static bool open_sockets(struct supervisor *s)
{
	unsigned mode = s->options->socket ? 0660 : 0600;

	s->socket_path = fastcgi_socket_path(s->current.state_dir, s->options->socket);
	s->relay_path = relay_socket_path(s->current.state_dir, s->options->socket);
	s->fastcgi = unix_listen(s->socket_path, mode);
	if (s->fastcgi >= 0)
		s->relay_socket = unix_listen(s->relay_path, mode);
	repair_remember(s);
	return s->relay_socket >= 0 && unix_give(s->socket_path, &s->options->access) &&
	    unix_give(s->relay_path, &s->options->access);
}

/* What websocketd and its children are to find. */
static bool prepare_bridge(struct supervisor *s)
{
	s->port_holder = tcp_reserve(&s->port);
	s->log = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return s->port_holder >= 0 && (s->log >= 0 || complain(0, "standard error is closed"));
}

static bool watch_signals(struct supervisor *s)
{
	static const int others[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT,
	    SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGWINCH, SIGURG};
	sigset_t set;

	/* All that can be: none is to end the service without a word. */
	sigfillset(&set);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		sigdelset(&set, others[i]);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL) == 0)
		s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0)
		complain(1, "cannot watch signals: %s", strerror(errno));
	return s->signals >= 0;
}

/*
 * This program has taken the place of an older one, whose sockets and processes it has: they serve,
 * whatever is found now.
 */
static bool setup_resume(struct supervisor *s)
{
	const struct serve_options *o = s->options;
	struct examination next;

	s->run = xasprintf("%s/run", s->current.state_dir);
	s->accepted = accepted_path(s);
	s->socket_path = fastcgi_socket_path(s->current.state_dir, o->socket);
	s->relay_path = relay_socket_path(s->current.state_dir, o->socket);
	s->request = (struct examine_request){
	    o->source, o->socket, o->no_nginx ? NULL : s->address, o->drain, NULL};
	served_pool(s);
	if (!watch_signals(s) || (s->ready_in < 0 && !setup_ready(s)))
		return false;
	repair_remember(s);
	if (examine(&s->request, &next)) {
		log_info("this is agentgraph " AGENTGRAPH_VERSION " now");
		reload_apply(s, &next, clock_monotonic_ms());
		return true;
	}
	log_error("the configuration has errors; the service goes on with what it has");
	status_reloaded(s, true);
	examination_release(&next);
	return true;
}

bool setup(struct supervisor *s)
{
	s->tcp = s->fastcgi = s->lock = s->signals = s->reload.fd = -1;
	s->relay_socket = s->port_holder = s->log = -1;
	s->ready_in = s->ready_out = -1;
	s->self = upgrade_self();
	if (!find_programs(s))
		return false;
	s->history = (struct history){.since = clock_now(), .changed = true};
	if (upgrade_take(s))
		return setup_resume(s);
	if (!s->options->no_nginx && (s->tcp = tcp_listen(s->options->listen, s->address)) < 0)
		return false;
	return examine_first(s) && watch_signals(s) && prepare_run(s) && open_sockets(s) &&
	    setup_ready(s) && prepare_bridge(s) &&
	    (s->options->no_nginx || served_nginx_conf(s, s->current.nginx));
}

static void setup_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void teardown(struct supervisor *s)
{
	if (s->fastcgi >= 0)
		unlink(s->socket_path);
	if (s->relay_socket >= 0)
		unlink(s->relay_path);
	if (s->lock >= 0) {
		unlink(s->accepted);
		status_remove(s);
	}
	if (s->lock >= 0 && ftruncate(s->lock, 0) != 0)
		complain(1, "cannot empty the lock file in %s: %s", s->run, strerror(errno));
	setup_close_fd(&s->tcp);
	setup_close_fd(&s->fastcgi);
	setup_close_fd(&s->relay_socket);
	setup_close_fd(&s->port_holder);
	setup_close_fd(&s->log);
	setup_close_fd(&s->ready_in);
	setup_close_fd(&s->ready_out);
	setup_close_fd(&s->signals);
	setup_close_fd(&s->lock);
	reload_release(&s->reload);
	children_release(&s->children);
	examination_release(&s->current);
	free(s->self);
	free(s->nginx);
	free(s->worker);
	free(s->websocketd);
	free(s->relay);
	free(s->helper);
	free(s->run);
	free(s->socket_path);
	free(s->relay_path);
	free(s->accepted);
}
