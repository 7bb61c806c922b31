/* SPDX-License-Identifier: ISC */
/* A reload: a child checks the configuration, then a new generation starts beside the old one. When
 * the new one serves the old one leaves; if none of the new one comes up, the old one stays. */
#include "base/log/log.h"
#include "cli/serve/children.h"
#include "cli/serve/supervisor.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define SETTLED_MS 500 /* a relay or a follower of that age is taken to serve */
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
	examination_release(&reload->before);
	*reload = (struct reload){.fd = -1};
}

/* Roles that outlast a reload, as long as their program is the same. */
static const enum role lasting[] = {ROLE_RELAY, ROLE_FOLLOWER};
#define LASTING (sizeof(lasting) / sizeof(lasting[0]))

/* Whether no child of that role runs the program that lies at that path now. */
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
	s->reload.began = now;
	s->reload.deaths = 0;
}

/* The new generation starts beside the old one, at the same sockets.  A relay and a follower that
 * are the same program stay, and read their configuration again. */
void reload_apply(struct supervisor *s, struct examination *next, int64_t now)
{
	bool nginx_changed = !s->options->no_nginx &&
	    !(s->current.nginx && strcmp(next->nginx, s->current.nginx) == 0);
	if (!served_accepted(s, next->files) ||
	    (nginx_changed && !served_nginx_conf(s, next->nginx))) {
		if (s->current.files)
			served_accepted(s, s->current.files);
		log_error("the service goes on with the configuration it has");
		status_reload_failed(s);
		examination_release(next);
		return;
	}
	s->reload.nginx_changed = nginx_changed;
	s->reload.before = s->current;
	s->current = *next;
	s->reload.repairs = s->reload.quiet;
	s->reload.quiet = false;
	served_pool(s);
	reload_generation(s,
	    (reload_is_old(s, ROLE_RELAY, s->relay) ? 1U << ROLE_RELAY : 0) |
		(reload_is_old(s, ROLE_FOLLOWER, s->follower) ? 1U << ROLE_FOLLOWER : 0),
	    now);
}

static void reload_finish_examination(struct supervisor *s, int64_t now)
{
	struct examination next;
	s->reload.until = 0;
	if (s->reload.upgrade) {
		s->reload.ended = s->reload.upgrade = false;
		if (s->reload.wait_status == 0) {
			upgrade_execute(s);
			return;
		}
		status_reload_failed(s);
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
	status_reload_failed(s);
	log_error("configuration %s has %lld error%s; the service goes on with the one it has",
	    next.file ? next.file : s->current.file, next.errors, next.errors == 1 ? "" : "s");
	examination_release(&next);
}

/* Whether a child of that role and generation is there that was started by that time; INT64_MAX: at
 * any time, or not yet.  Of the workers only those count that serve. */
static bool reload_is_there(
    const struct supervisor *s, enum role role, unsigned generation, int64_t started_before)
{
	for (size_t i = 0; i < s->children.count; i++) {
		const struct child *child = &s->children.items[i];
		if (child->role == role && child->generation == generation && !child->kill_at &&
		    (role != ROLE_WORKER || child->ready) &&
		    (started_before == INT64_MAX ||
			(child->pid && child->started <= started_before)))
			return true;
	}
	return false;
}

static bool reload_new_generation_serves(const struct supervisor *s, int64_t now)
{
	for (size_t i = 0; i < LASTING; i++)
		if (reload_is_there(s, lasting[i], s->generation, INT64_MAX) &&
		    !reload_is_there(s, lasting[i], s->generation, now - SETTLED_MS))
			return false;
	return reload_is_there(s, ROLE_WORKER, s->generation, INT64_MAX);
}

/* Lets a child go, which finishes what it has in hand; one that does not run is not started
 * again. */
static void reload_let_go(struct supervisor *s, struct child *child, int64_t now)
{
	if (!child->pid)
		children_remove(&s->children, child);
	else if (!child->kill_at)
		child_leave(child, SIGTERM,
		    s->pool.drain * 1000 +
			(child->role == ROLE_RUNNER ? RUNNER_KILL_AFTER_MS : KILL_AFTER_MS),
		    now);
}

/* The new generation serves: the old one goes. */
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
		} else
			reload_let_go(s, child, now);
	}
	examination_release(&s->reload.before);
	s->reload.retire_at = 0;
	if (!s->reload.quiet) {
		status_reloaded(s);
		log_info(
		    "reloaded configuration %s, serving %s", s->current.file, s->current.agent);
	}
	s->reload.quiet = s->reload.repairs = false;
}

/*
 * Gives the new generation up and puts the old configuration back.  Children of the old generation
 * that were started since then have the new configuration, and are replaced.
 */
static void reload_back(struct supervisor *s, const char *reason, int64_t now)
{
	struct reload *reload = &s->reload;
	log_error("%s; the service goes on with the configuration it has", reason);
	status_reload_failed(s);
	if (reload->before.files)
		served_accepted(s, reload->before.files);
	if (reload->nginx_changed)
		served_nginx_conf(s, reload->before.nginx);
	for (size_t i = s->children.count; i-- > 0;) {
		struct child *child = &s->children.items[i];
		enum role role = child->role;
		unsigned generation = child->generation;
		bool is_new = generation == s->generation;
		bool since = child->pid && child->started >= reload->began;
		if (child->kill_at || (!is_new && !since))
			continue;
		if (is_new || role == ROLE_WORKER || role == ROLE_RUNNER) {
			reload_let_go(s, child, now);
			if (!is_new)
				children_add(&s->children, role, generation);
		} else if (role == ROLE_NGINX || role == ROLE_RELAY || role == ROLE_FOLLOWER)
			kill(child->pid, SIGHUP);
	}
	examination_release(&s->current);
	s->current = reload->before;
	reload->before = (struct examination){0};
	served_pool(s);
	s->generation--;
	reload->retire_at = reload->repairs ? now + SETTLED_MS : 0;
	reload->quiet = reload->repairs;
	reload->repairs = false;
}

/* Why the new generation is to be given up, by the rules of a start; NULL while there is hope.  One
 * that has the old configuration is never given up. */
static const char *reload_hopeless(const struct supervisor *s, int64_t now)
{
	if (s->reload.quiet)
		return NULL;
	if (s->reload.deaths >= (size_t)s->pool.processes)
		return "the new workers could not start, their messages are above";
	return now - s->reload.began >= COME_UP_MS ? "the new workers did not serve within a minute"
						   : NULL;
}

void reload_step(struct supervisor *s, int64_t now)
{
	struct reload *reload = &s->reload;
	if (s->phase != PHASE_SERVING)
		return;
	/* the examiner is killed by then, and whoever else could still write is not waited for */
	if (reload->until && now >= reload->until) {
		reload->until = 0;
		if (!reload->ended)
			log_error(
			    "the configuration was not examined in time: the graph or a plug-in "
			    "hangs while it is loaded");
		if (reload->fd >= 0)
			close(reload->fd);
		reload->fd = -1;
	}
	if (reload->ended && reload->fd < 0)
		reload_finish_examination(s, now);
	if (reload->retire_at && now >= reload->retire_at) {
		const char *reason = reload_hopeless(s, now);
		if (reload_new_generation_serves(s, now))
			reload_retire(s, now);
		else if (reason)
			reload_back(s, reason, now);
		else
			reload->retire_at = now + SETTLED_MS / 10;
	}
	/* a generation that repairs may wait for the configuration that is looked at */
	if (reload->wanted && (!reload->retire_at || reload->quiet) && !reload->ended &&
	    reload->fd < 0 && !children_running(&s->children, ROLE_EXAMINER)) {
		reload->wanted = false;
		reload->upgrade = upgrade_waits(s);
		children_add(&s->children, ROLE_EXAMINER, 0);
	}
}
