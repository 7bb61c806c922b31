/* SPDX-License-Identifier: ISC */
/* Rows of children, and the reckoning of when one is started again, killed, or due next. */
#include "cli/serve/children.h"

#include "base/memory.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>

#define YOUNG_MS 1000
#define DELAY_FIRST_MS 100
#define DELAY_MAX_MS 5000

const char *role_name(enum role role)
{
	static const char *const names[] = {
	    [ROLE_WORKER] = "worker",
	    [ROLE_NGINX] = "nginx",
	    [ROLE_RELAY] = "relay",
	    [ROLE_FOLLOWER] = "follower",
	    [ROLE_WEBSOCKETD] = "websocketd",
	    [ROLE_RUNNER] = "runner",
	    [ROLE_PROBE] = "probe",
	    [ROLE_EXAMINER] = "configuration check",
	    [ROLE_ORPHAN] = "orphan",
	};
	return names[role];
}

struct child *children_add(struct children *c, enum role role, unsigned generation)
{
	c->items = xrealloc(c->items, (c->count + 1) * sizeof(*c->items));
	c->items[c->count] = (struct child){.role = role, .generation = generation};
	return &c->items[c->count++];
}

void children_remove(struct children *c, struct child *child)
{
	*child = c->items[--c->count];
}

void children_release(struct children *c)
{
	free(c->items);
	*c = (struct children){0};
}

struct child *children_find(struct children *c, pid_t pid)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].pid == pid)
			return &c->items[i];
	return NULL;
}

size_t children_serving(const struct children *c)
{
	size_t serving = 0;
	for (size_t i = 0; i < c->count; i++)
		serving += c->items[i].pid && c->items[i].ready && !c->items[i].kill_at;
	return serving;
}

bool children_start_well(const struct children *c)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct child *child = &c->items[i];
		if (child->role == ROLE_WORKER && child->pid && !child->ready && !child->kill_at &&
		    !child->young)
			return true;
	}
	return false;
}

size_t children_running(const struct children *c, enum role role)
{
	size_t running = 0;
	for (size_t i = 0; i < c->count; i++)
		running += c->items[i].role == role && c->items[i].pid;
	return running;
}

void child_started(struct child *child, pid_t pid, int64_t now)
{
	child->pid = pid;
	child->started = now;
}

void child_died(struct child *child, int64_t now)
{
	bool young = !child->pid || now - child->started < YOUNG_MS;
	child->young = young ? child->young + 1 : 0;
	if (child->young < 2)
		child->delay = 0;
	else if (child->delay == 0 || child->ready)
		child->delay = DELAY_FIRST_MS;
	else
		child->delay = child->delay * 2 < DELAY_MAX_MS ? child->delay * 2 : DELAY_MAX_MS;
	child->pid = 0;
	child->ready = false;
	child->start_at = now + child->delay;
}

void child_leave(struct child *child, int signal, int64_t grace, int64_t now)
{
	assert(child->pid > 0); /* 0 would be this process and its group */
	kill(child->pid, signal);
	child->kill_at = now + grace;
}

void children_kill_overdue(struct children *c, int64_t now)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].pid && c->items[i].kill_at && c->items[i].kill_at <= now)
			child_leave(&c->items[i], SIGKILL, YOUNG_MS, now);
}

int64_t children_next(const struct children *c)
{
	int64_t next = INT64_MAX;
	for (size_t i = 0; i < c->count; i++) {
		const struct child *child = &c->items[i];
		int64_t at = child->pid ? child->kill_at : child->start_at;
		if ((at || !child->pid) && at < next)
			next = at;
	}
	return next;
}
