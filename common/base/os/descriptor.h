/* SPDX-License-Identifier: ISC */
/* Descriptors whose owner knows by -1 that they are closed, and those that a program is started
 * with. */
#ifndef AGENTGRAPH_BASE_OS_DESCRIPTOR_H
#define AGENTGRAPH_BASE_OS_DESCRIPTOR_H

#include "base/buf.h"

#include <stdbool.h>
#include <unistd.h>

/* Closes what is open, and notes that. */
static inline void descriptor_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Appends what can be read of fd up to its end; false with errno set, which is EFBIG when out has
 * more than most bytes then. */
bool descriptor_read_all(int fd, struct buf *out, size_t most);

/* flock, also where a signal comes in between. */
int descriptor_lock(int fd, int operation);

/* Whether fd is a listening socket.  If so, it is made non-blocking, also for other processes that
 * share it. */
bool descriptor_listens(int fd);

/* Whether accept failed for want of descriptors or memory: the listening socket stays readable
 * then, and whoever waits for it must not ask again at once. */
bool descriptor_shortage(int error);

/* Lets this process have as many descriptors as the system allows it. */
void descriptor_raise_limit(void);

/* Whether the peer of a socket has left; one that has only sent all it had may wait for an
 * answer. */
bool descriptor_hung_up(int socket);

#endif
