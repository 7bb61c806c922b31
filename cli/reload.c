/* SPDX-License-Identifier: ISC */
/* A reload: the check in a child, then a new generation beside the old one, which then goes. */
#include "base/log.h"
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETTLED_MS 500 /* a new relay of that age serves */
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

static bool relay_is_old(const struct supervisor *s)
{
	for (size_t i = 0; i < s->children.count; i++) {
		const struct child *child = &s->children.items[i];

		if (child->role == ROLE_RELAY && child->pid && !child->kill_at &&
		    upgrade_replaces(child->pid, s->relay))
			return true;
	}
	return false;
}

void reload_generation(struct supervisor *s, bool relay, int64_t now)
{
	s->generation++;
	for (long i = 0; i < s->pool.processes; i++)
		children_add(&s->children, ROLE_WORKER, s->generation);
	if (relay)
		children_add(&s->children, ROLE_RELAY, s->generation);
	s->reload.retire_at = now + SETTLED_MS;
}

/* The new generation starts beside the old one, at the same sockets.  A relay that is the same
 * program stays, and reads its configuration again. */
void reload_apply(struct supervisor *s, struct examination *next, int64_t now)
{
	if (strcmp(next->state_dir, s->current.state_dir) != 0) {
		log_warning("the state directory changes only with a restart; it stays %s",
		    s->current.state_dir);
		free(next->state_dir);
		next->state_dir = strdup(s->current.state_dir);
	}
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
	reload_generation(s, relay_is_old(s), now);
}

static void finish_check(struct supervisor *s)
{
	s->reload.ended = false;
	s->reload.upgrade = false;
	if (s->reload.wait_status == 0) {
		upgrade_execute(s);
	} else {
		status_reloaded(s, true);
		log_error(
		    "the new %s does not take the configuration; the service goes on with what it has",
		    s->self);
	}
}

static void finish_examination(struct supervisor *s, int64_t now)
{
	struct examination next;

	if (s->reload.upgrade) {
		finish_check(s);
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
	return reload_is_there(s, ROLE_WORKER, s->generation, INT64_MAX) &&
	    (!reload_is_there(s, ROLE_RELAY, s->generation, INT64_MAX) ||
		reload_is_there(s, ROLE_RELAY, s->generation, now - SETTLED_MS));
}

/* Whether the new generation has another in its place. */
static bool is_replaced(const struct supervisor *s, const struct child *child)
{
	return child->generation != s->generation &&
	    (child->role == ROLE_WORKER ||
		(child->role == ROLE_RELAY &&
		    reload_is_there(s, ROLE_RELAY, s->generation, INT64_MAX)));
}

static bool reads_again(const struct supervisor *s, const struct child *child)
{
	return (child->role == ROLE_RELAY && child->generation != s->generation) ||
	    (child->role == ROLE_NGINX && s->reload.nginx_changed);
}

/* The old ones finish what they have; those that wait to be started again never are. */
static void retire(struct supervisor *s, int64_t now)
{
	for (size_t i = s->children.count; i-- > 0;) {
		struct child *child = &s->children.items[i];

		if (!is_replaced(s, child)) {
			if (child->pid && reads_again(s, child))
				kill(child->pid, SIGHUP);
		} else if (!child->pid)
			children_remove(&s->children, child);
		else if (!child->kill_at)
			child_leave(child, SIGTERM, s->pool.drain * 1000 + KILL_AFTER_MS, now);
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
			retire(s, now);
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
