/* SPDX-License-Identifier: ISC */
/* Reading, appending, flushing, and the events that are waited for. */
#include "ws-bridge/relay/relay_connection.h"

#include "base/log/log.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define COMPACT 65536 /* sent bytes are kept up to this, or to half of the buffer */

void link_open(struct link *link, int epoll, int fd, int64_t now)
{
	*link = (struct link){.fd = fd, .epoll = epoll, .received = now, .moved = now};
}

void link_close(struct link *link)
{
	if (link->fd >= 0)
		close(link->fd); /* epoll forgets it */
	link->fd = -1;
	link->watched = false;
	link->sent = 0;
	buf_release(&link->out);
}

ssize_t link_read(struct link *link, char *to, size_t size, int64_t now)
{
	ssize_t got;
	do
		got = recv(link->fd, to, size, 0);
	while (got < 0 && errno == EINTR);
	if (got > 0)
		link->received = now;
	return got;
}

bool link_flush(struct link *link, int64_t now)
{
	while (link_backlog(link) > 0) {
		ssize_t put =
		    send(link->fd, link->out.data + link->sent, link_backlog(link), MSG_NOSIGNAL);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0 && errno == EAGAIN)
			return true;
		if (put < 0) {
			buf_release(&link->out);
			link->sent = 0;
			return false;
		}
		link->sent += (size_t)put;
		link->moved = now;
		size_t left = link_backlog(link);
		if (left == 0) {
			buf_release(&link->out);
			link->sent = 0;
		} else if (link->sent > COMPACT && link->sent > left) {
			memmove(link->out.data, link->out.data + link->sent, left + 1);
			link->out.len = left;
			link->sent = 0;
		}
	}
	return true;
}

size_t link_backlog(const struct link *link)
{
	return link->out.len - link->sent;
}

void link_watch(struct link *link, bool read, void *target)
{
	uint32_t events = link->ending ? EPOLLIN : EPOLLRDHUP;
	if (read)
		events |= EPOLLIN;
	if (link_backlog(link) > 0)
		events |= EPOLLOUT;
	if (link->fd < 0 || (link->watched && events == link->armed))
		return;
	struct epoll_event event = {.events = events, .data.ptr = target};
	if (epoll_ctl(
		link->epoll, link->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, link->fd, &event) != 0)
		log_error("cannot watch a connection: %s", strerror(errno));
	link->armed = events;
	link->watched = true;
}
