/* SPDX-License-Identifier: ISC */
/* What the supervisor needs before its first child: directories, files and sockets. */
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "base/os/descriptor.h"
#include "base/os/directory.h"
#include "cli/command.h"
#include "cli/programs.h"
#include "cli/serve/supervisor.h"
#include "cli/state_lock.h"
#include "config/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

static bool setup_find_programs(struct supervisor *s)
{
	struct error err = {0};
	s->worker = program_own("agentgraph-fcgi");
	if (s->worker)
		s->follower = program_own("agentgraph-follow");
	if (s->follower && !s->options->no_nginx)
		s->nginx = program_nginx(&err);
	if (error_is_set(&err))
		complain_error(&err);
	s->runner = program_own("agentgraph-runner");
	if (!s->follower || !s->runner || (!s->nginx && !s->options->no_nginx))
		return false;
	/* what WebSockets need */
	s->relay = program_own("agentgraph-relay");
	if (s->relay)
		s->helper = program_own("agentgraph-ws");
	if (s->helper)
		s->websocketd = program_websocketd(&err);
	if (error_is_set(&err))
		complain_error(&err);
	return s->websocketd;
}

static char *setup_accepted_path(const struct supervisor *s)
{
	return xasprintf("%s/accepted.json", s->run);
}

/* Opens the pipe in which workers say that they serve; false after a complaint. */
static bool setup_ready(struct supervisor *s)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return complain(0, "cannot make a pipe: %s", strerror(errno));
	s->ready_in = ends[0];
	s->ready_out = ends[1];
	return true;
}

static void setup_name_sockets(struct supervisor *s)
{
	const char *state_dir = s->current.state_dir, *chosen = s->options->socket;
	s->socket_path = fastcgi_socket_path(state_dir, chosen);
	s->relay_path = side_socket_path(state_dir, chosen, "relay");
	s->follow_path = side_socket_path(state_dir, chosen, "follow");
}

/* One of the sockets that nginx connects to; -1 after a complaint. */
static int setup_socket(const struct supervisor *s, const char *path)
{
	return unix_open(path, s->options->socket ? 0660 : 0600, &s->options->access);
}

static bool setup_watch_signals(struct supervisor *s)
{
	static const int others[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT,
	    SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGWINCH, SIGURG, SIGPIPE, SIGXFSZ};
	sigset_t set;
	/* All signals that can be: none is to end the service without a word.  SIGPIPE and SIGXFSZ,
	 * which are ignored, are not among them: a blocked signal is reported all the same, and to
	 * log SIGPIPE in a log that nobody reads would raise the next. */
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

/* What every examination of this service is asked; the first one is to find the state directory. */
static struct examine_request setup_request(const struct supervisor *s)
{
	const struct serve_options *o = s->options;
	return (struct examine_request){.source = o->source,
	    .socket = o->socket,
	    .listen = o->no_nginx ? NULL : s->address,
	    .drain = o->drain,
	    .nginx = s->nginx,
	    .tcp = s->tcp};
}

/*
 * This program has taken the place of an older one, whose sockets and processes it has: they serve,
 * whatever is found now.
 */
static bool setup_resume(struct supervisor *s)
{
	struct examination next;
	cJSON *files;
	s->run = xasprintf("%s/run", s->current.state_dir);
	s->accepted = setup_accepted_path(s);
	files = text_file_json(s->accepted);
	s->current.files = files ? json_print(files) : NULL;
	cJSON_Delete(files);
	setup_name_sockets(s);
	if (s->follow_socket < 0) /* an older program had none */
		s->follow_socket = setup_socket(s, s->follow_path);
	if (s->follow_socket < 0)
		return false;
	s->request = setup_request(s);
	s->request.state_dir = s->current.state_dir;
	served_pool(s);
	if (!setup_watch_signals(s) || (s->ready_in < 0 && !setup_ready(s)))
		return false;
	repair_remember(s);
	if (examine(&s->request, &next)) {
		log_info("this is agentgraph " AGENTGRAPH_VERSION " now");
		reload_apply(s, &next, clock_monotonic_ms());
		return true;
	}
	log_error("the configuration has errors; the service goes on with what it has");
	status_reload_failed(s);
	examination_release(&next);
	return true;
}

/* Binds the port.  If it is taken, that may be by the nginx of a killed service of the same state
 * directory, which the configuration names: that nginx is ended, and the port tried again. */
static bool setup_listen(struct supervisor *s)
{
	const struct serve_options *o = s->options;
	struct examine_request request = setup_request(s);
	struct examination found;
	bool ended;
	s->tcp = tcp_listen(o->listen, s->address);
	if (s->tcp >= 0)
		return true;
	request.listen = o->listen; /* no address is bound yet */
	ended = examine(&request, &found) && leftover_end(found.state_dir);
	examination_release(&found);
	return ended && (s->tcp = tcp_listen(o->listen, s->address)) >= 0;
}

/* Nothing serves yet: examines the configuration and makes all that children need. */
static bool setup_anew(struct supervisor *s)
{
	const struct serve_options *o = s->options;
	struct stat st;
	bool open;
	if (!o->no_nginx && !setup_listen(s))
		return false;
	s->request = setup_request(s);
	if (!examine(&s->request, &s->current))
		return complain(0, "configuration %s: %lld error%s, not started",
		    s->current.file ? s->current.file : "?", s->current.errors,
		    s->current.errors == 1 ? "" : "s");
	served_pool(s);
	if (!setup_watch_signals(s))
		return false;

	/* the directory for sockets and nginx, locked against a second service */
	s->run = xasprintf("%s/run", s->current.state_dir);
	if (!directory_make(s->run) &&
	    (errno != EEXIST || stat(s->run, &st) != 0 || !S_ISDIR(st.st_mode)))
		return complain(0, "cannot make the directory %s: %s", s->run, strerror(errno));
	s->lock = state_lock_take(s->current.state_dir);
	s->accepted = setup_accepted_path(s);
	if (s->lock < 0 || !served_accepted(s, s->current.files))
		return false;

	setup_name_sockets(s);
	open = (s->fastcgi = setup_socket(s, s->socket_path)) >= 0 &&
	    (s->relay_socket = setup_socket(s, s->relay_path)) >= 0 &&
	    (s->follow_socket = setup_socket(s, s->follow_path)) >= 0;
	repair_remember(s);
	if (!open || !setup_ready(s))
		return false;

	/* the port of websocketd, and the log of the helpers that it starts */
	s->port_holder = tcp_reserve(&s->port);
	s->log = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (s->port_holder < 0)
		return false;
	if (s->log < 0)
		return complain(0, "standard error is closed");
	return o->no_nginx || served_nginx_conf(s, s->current.nginx);
}

bool setup(struct supervisor *s)
{
	s->tcp = s->fastcgi = s->lock = s->signals = s->reload.fd = -1;
	s->relay_socket = s->follow_socket = s->port_holder = s->log = -1;
	s->ready_in = s->ready_out = -1;
	s->self = upgrade_self();
	if (!setup_find_programs(s))
		return false;
	s->history = (struct history){.since = clock_now(), .changed = true};
	return upgrade_take(s) ? setup_resume(s) : setup_anew(s);
}

void teardown(struct supervisor *s)
{
	if (s->fastcgi >= 0)
		unlink(s->socket_path);
	if (s->relay_socket >= 0)
		unlink(s->relay_path);
	if (s->follow_socket >= 0)
		unlink(s->follow_path);
	if (s->lock >= 0) {
		unlink(s->accepted);
		status_remove(s);
	}
	descriptor_close(&s->tcp);
	descriptor_close(&s->fastcgi);
	descriptor_close(&s->relay_socket);
	descriptor_close(&s->follow_socket);
	descriptor_close(&s->port_holder);
	descriptor_close(&s->log);
	descriptor_close(&s->ready_in);
	descriptor_close(&s->ready_out);
	descriptor_close(&s->signals);
	if (s->lock >= 0)
		state_unlock(s->lock);
	s->lock = -1;
	reload_release(&s->reload);
	children_release(&s->children);
	examination_release(&s->current);
	free(s->self);
	free(s->nginx);
	free(s->worker);
	free(s->websocketd);
	free(s->relay);
	free(s->runner);
	free(s->follower);
	free(s->helper);
	free(s->run);
	free(s->socket_path);
	free(s->relay_path);
	free(s->follow_path);
	free(s->accepted);
}
