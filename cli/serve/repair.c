/* SPDX-License-Identifier: ISC */
/* The sockets of the running service, removed by somebody: bound again. */
#include "base/log/log.h"
#include "cli/serve/supervisor.h"

#include <unistd.h>

#define LOOK_MS 1000
#define LATER_MS 30000 /* after a try that failed */

/* A new listener at path in the place of *fd; false after a complaint. */
static bool bind_again(const struct supervisor *s, const char *path, int *fd)
{
	int new = unix_listen(path, s->options->socket ? 0660 : 0600);

	if (new < 0)
		return false;
	close(*fd); /* the processes that have it serve what had reached it */
	*fd = new;
	return unix_give(path, &s->options->access);
}

void repair_remember(struct supervisor *s)
{
	s->socket_bound = bound_at(s->socket_path);
	s->relay_bound = bound_at(s->relay_path);
	s->follow_bound = bound_at(s->follow_path);
}

void repair_step(struct supervisor *s, int64_t now)
{
	bool socket, relay, follow;

	if (s->phase != PHASE_SERVING || s->reload.retire_at || now < s->look_at)
		return;
	s->look_at = now + LOOK_MS;
	socket = bound_is_other(s->socket_bound, s->socket_path);
	relay = bound_is_other(s->relay_bound, s->relay_path);
	follow = bound_is_other(s->follow_bound, s->follow_path);
	if (!socket && !relay && !follow)
		return;
	log_warning("the socket %s was removed; binding it again, with new workers",
	    socket      ? s->socket_path
		: relay ? s->relay_path
			: s->follow_path);
	if ((socket && !bind_again(s, s->socket_path, &s->fastcgi)) ||
	    (relay && !bind_again(s, s->relay_path, &s->relay_socket)) ||
	    (follow && !bind_again(s, s->follow_path, &s->follow_socket))) {
		s->look_at = now + LATER_MS;
		log_error("the service cannot be reached there until that is mended");
		return;
	}
	repair_remember(s);
	s->reload.quiet = true;
	reload_generation(
	    s, (relay ? 1U << ROLE_RELAY : 0) | (follow ? 1U << ROLE_FOLLOWER : 0), now);
}
