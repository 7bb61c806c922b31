/* SPDX-License-Identifier: ISC */
/* Binds the sockets of the running service again, if somebody has removed them. */
#include "base/log/log.h"
#include "cli/serve/supervisor.h"

#include <unistd.h>

#define LOOK_MS 1000
#define LATER_MS 30000 /* the next look after a try that failed */

void repair_remember(struct supervisor *s)
{
	s->socket_bound = bound_at(s->socket_path);
	s->relay_bound = bound_at(s->relay_path);
	s->follow_bound = bound_at(s->follow_path);
}

void repair_step(struct supervisor *s, int64_t now)
{
	const struct {
		const char *path;
		int *fd;
		struct bound *bound;
		unsigned role; /* as a bit: who serves there beside the workers */
	} sockets[] = {
	    {s->socket_path, &s->fastcgi, &s->socket_bound, 0},
	    {s->relay_path, &s->relay_socket, &s->relay_bound, 1U << ROLE_RELAY},
	    {s->follow_path, &s->follow_socket, &s->follow_bound, 1U << ROLE_FOLLOWER},
	};
	bool again = false;
	unsigned roles = 0;
	if (s->phase != PHASE_SERVING || s->reload.retire_at || now < s->look_at)
		return;
	s->look_at = now + LOOK_MS;
	/* nobody serves at a new socket until there are new processes, so they are started even if
	 * another socket could not be bound */
	for (size_t i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++) {
		if (!bound_is_other(*sockets[i].bound, sockets[i].path))
			continue;
		log_warning("the socket %s was removed; binding it again, with new workers",
		    sockets[i].path);
		int fd = unix_open(
		    sockets[i].path, s->options->socket ? 0660 : 0600, &s->options->access);
		if (fd < 0) {
			s->look_at = now + LATER_MS;
			log_error("the service cannot be reached there until that is mended");
			continue;
		}
		close(*sockets[i].fd); /* the processes that have it serve what had reached it */
		*sockets[i].fd = fd;
		*sockets[i].bound = bound_at(sockets[i].path);
		again = true;
		roles |= sockets[i].role;
	}
	if (!again)
		return;
	s->reload.quiet = true;
	reload_generation(s, roles, now);
}
