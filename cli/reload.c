#include "base/log.h"
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETTLED_MS 500 /* a new worker of that age has loaded its graph and serves */
#define CHUNK 4096

void reload_request(struct supervisor *s)
{
	s->reload.wanted = true;
}

void reload_read(struct reload *reload)
{
	ssize_t len = read(reload->fd, buf_reserve(&reload->written, CHUNK), CHUNK);

	if (len < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (len > 0) {
		reload->written.len += (size_t)len;
		return;
	}
	close(reload->fd);
	reload->fd = -1;
}

void reload_release(struct reload *reload)
{
	if (reload->fd >= 0)
		close(reload->fd);
	buf_release(&reload->written);
	*reload = (struct reload){.fd = -1};
}

/* The new generation starts beside the old one, at the same socket. */
static void apply(struct supervisor *s, struct examination *next, int64_t now)
{
	if (strcmp(next->state_dir, s->current.state_dir) != 0) {
		log_warning("the state directory changes only with a restart; it stays %s",
		    s->current.state_dir);
		free(next->state_dir);
		next->state_dir = strdup(s->current.state_dir);
	}
	s->reload.nginx_changed = !s->options->no_nginx && setup_nginx_conf(s, next->nginx);
	examination_release(&s->current);
	s->current = *next;
	s->generation++;
	for (long i = 0; i < s->options->processes; i++)
		children_add(&s->children, ROLE_WORKER, s->generation);
	s->reload.retire_at = now + SETTLED_MS;
}

static void finish_examination(struct supervisor *s, int64_t now)
{
	struct examination next;

	examine_result(&s->reload.written, s->reload.wait_status, &next);
	s->reload.ended = false;
	buf_release(&s->reload.written);
	if (next.errors == 0) {
		apply(s, &next, now);
		return;
	}
	log_error("configuration %s has %lld errors; the service goes on with the one it has",
	    next.file ? next.file : "?", next.errors);
	examination_release(&next);
}

static bool new_generation_serves(const struct supervisor *s, int64_t now)
{
	for (size_t i = 0; i < s->children.count; i++) {
		const struct child *child = &s->children.items[i];

		if (child->role == ROLE_WORKER && child->generation == s->generation &&
		    child->pid && now - child->started >= SETTLED_MS)
			return true;
	}
	return false;
}

/* Old workers finish what they have; those that wait to be started again never are. */
static void retire(struct supervisor *s, int64_t now)
{
	for (size_t i = s->children.count; i-- > 0;) {
		struct child *child = &s->children.items[i];

		if (child->pid &&
		    (child->role == ROLE_RELAY ||
			(child->role == ROLE_NGINX && s->reload.nginx_changed)))
			kill(child->pid, SIGHUP);
		if (child->role != ROLE_WORKER || child->generation == s->generation)
			continue;
		if (!child->pid)
			children_remove(&s->children, child);
		else if (!child->kill_at)
			child_leave(child, SIGTERM, s->options->drain * 1000 + KILL_AFTER_MS, now);
	}
	s->reload.retire_at = 0;
	log_info("reloaded configuration %s, serving %s", s->current.file, s->current.agent);
}

void reload_step(struct supervisor *s, int64_t now)
{
	struct reload *reload = &s->reload;

	if (s->phase != PHASE_SERVING)
		return;
	if (reload->ended && reload->fd < 0)
		finish_examination(s, now);
	if (reload->retire_at && now >= reload->retire_at) {
		if (new_generation_serves(s, now))
			retire(s, now);
		else
			reload->retire_at = now + SETTLED_MS / 10;
	}
	if (reload->wanted && !reload->retire_at && !reload->ended && reload->fd < 0 &&
	    !children_running(&s->children, ROLE_EXAMINER)) {
		reload->wanted = false;
		children_add(&s->children, ROLE_EXAMINER, 0);
	}
}
