/* SPDX-License-Identifier: ISC */
/* A reload: the check in a child, then a new generation beside the old one, which then goes. */
#include "base/log/log.h"
#include "cli/serve/children.h"
#include "cli/serve/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETTLED_MS 500 /* a new relay, or follower, of that age serves */
#define CHUNK 4096

void reload_request(struct supervisor *s)
{
	s->reload.wanted = true;
	s->look_at = 0;
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

/* Those beside the workers that stay as long as they are the same program. */
static const enum role lasting[] = {ROLE_RELAY, ROLE_FOLLOWER};
#define LASTING (sizeof(lasting) / sizeof(lasting[0]))

/* Whether there is none of that role that runs this program, and may go on doing so. */
static bool reload_is_old(const struct supervisor *s, enum role role, const char *program)
{
	bool there = false;

	for (size_t i = 0; i < s->children.count; i++) {
		const struct child *child = &s->children.items[i];

		if (child->role != role || child->kill_at)
			continue;
		there = true;
		if (child->pid && upgrade_replaces(child->pid, program))
			return true;
	}
	return !there; /* an older version of this program knew none */
}

void reload_generation(struct supervisor *s, unsigned roles, int64_t now)
{
	s->generation++;
	for (long i = 0; i < s->pool.processes; i++)
		children_add(&s->children, ROLE_WORKER, s->generation);
	for (size_t i = 0; i < LASTING; i++)
		if (roles & 1U << lasting[i])
			children_add(&s->children, lasting[i], s->generation);
	if (s->current.background)
		children_add(&s->children, ROLE_RUNNER, s->generation);
	s->reload.retire_at = now + SETTLED_MS;
}

/* The new generation starts beside the old one, at the same sockets.  A relay and a follower that
 * are the same program stay, and read their configuration again. */
void reload_apply(struct supervisor *s, struct examination *next, int64_t now)
{
	if (!served_accepted(s, next->files)) {
		log_error("the service goes on with the configuration it has");
		status_reloaded(s, true);
		examination_release(next);
		return;
	}
	s->reload.nginx_changed = !s->options->no_nginx && served_nginx_conf(s, next->nginx);
	examination_release(&s->current);
	s->current = *next;
	served_pool(s);
	reload_generation(s,
	    (reload_is_old(s, ROLE_RELAY, s->relay) ? 1U << ROLE_RELAY : 0) |
		(reload_is_old(s, ROLE_FOLLOWER, s->follower) ? 1U << ROLE_FOLLOWER : 0),
	    now);
}

static void finish_examination(struct supervisor *s, int64_t now)
{
	struct examination next;

	if (s->reload.upgrade) {
		s->reload.ended = s->reload.upgrade = false;
		if (s->reload.wait_status == 0) {
			upgrade_execute(s);
			return;
		}
		status_reloaded(s, true);
		log_error("the new %s does not take the configuration; the service goes on with "
			  "what it has",
		    s->self);
		return;
	}
	examine_result(&s->reload.written, s->reload.wait_status, &next);
	s->reload.ended = false;
	buf_release(&s->reload.written);
	if (next.errors == 0) {
		reload_apply(s, &next, now);
		return;
	}
	status_reloaded(s, true);
	log_error("configuration %s has %lld error%s; the service goes on with the one it has",
	    next.file ? next.file : "?", next.errors, next.errors == 1 ? "" : "s");
	examination_release(&next);
}

/* Whether somebody of that role and generation is there, and whether one has settled; of the
 * workers only those count that serve. */
static bool reload_is_there(
    const struct supervisor *s, enum role role, unsigned generation, int64_t started_before)
{
	for (size_t i = 0; i < s->children.count; i++) {
		const struct child *child = &s->children.items[i];

		if (child->role == role && child->generation == generation &&
		    (role != ROLE_WORKER || child->ready) &&
		    (started_before == INT64_MAX ||
			(child->pid && child->started <= started_before)))
			return true;
	}
	return false;
}

static bool new_generation_serves(const struct supervisor *s, int64_t now)
{
	for (size_t i = 0; i < LASTING; i++)
		if (reload_is_there(s, lasting[i], s->generation, INT64_MAX) &&
		    !reload_is_there(s, lasting[i], s->generation, now - SETTLED_MS))
			return false;
	return reload_is_there(s, ROLE_WORKER, s->generation, INT64_MAX);
}

/* The old ones finish what they have; those that wait to be started again never are. */
static void reload_retire(struct supervisor *s, int64_t now)
{
	for (size_t i = s->children.count; i-- > 0;) {
		struct child *child = &s->children.items[i];
		enum role role = child->role;
		bool old = child->generation != s->generation;
		bool replaced = old && (role == ROLE_WORKER || role == ROLE_RUNNER);
		bool lasts = old && (role == ROLE_RELAY || role == ROLE_FOLLOWER);
		bool reads_again = lasts || (role == ROLE_NGINX && s->reload.nginx_changed);

		if (lasts)
			replaced = reload_is_there(s, role, s->generation, INT64_MAX);
		if (!replaced) {
			if (child->pid && reads_again)
				kill(child->pid, SIGHUP);
		} else if (!child->pid)
			children_remove(&s->children, child);
		else if (!child->kill_at)
			child_leave(child, SIGTERM,
			    s->pool.drain * 1000 +
				(role == ROLE_RUNNER ? RUNNER_KILL_AFTER_MS : KILL_AFTER_MS),
			    now);
	}
	s->reload.retire_at = 0;
	if (!s->reload.quiet) {
		status_reloaded(s, false);
		log_info(
		    "reloaded configuration %s, serving %s", s->current.file, s->current.agent);
	}
	s->reload.quiet = false;
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
			reload_retire(s, now);
		else
			reload->retire_at = now + SETTLED_MS / 10;
	}
	if (reload->wanted && !reload->retire_at && !reload->ended && reload->fd < 0 &&
	    !children_running(&s->children, ROLE_EXAMINER)) {
		reload->wanted = false;
		reload->upgrade = upgrade_waits(s);
		children_add(&s->children, ROLE_EXAMINER, 0);
	}
}
