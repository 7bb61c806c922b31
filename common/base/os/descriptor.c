/* SPDX-License-Identifier: ISC */
/* Reading and locking files, listening sockets, and what limits descriptors. */
#include "base/os/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>

bool descriptor_read_all(int fd, struct buf *out, size_t most)
{
	for (;;) {
		char *to = buf_reserve(out, out->size ? 1 : 4096);
		ssize_t n = read(fd, to, out->size - out->len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0;
		out->len += (size_t)n;
		out->data[out->len] = '\0';
		if (out->len > most) {
			errno = EFBIG;
			return false;
		}
	}
}

int descriptor_lock(int fd, int operation)
{
	int status;
	do
		status = flock(fd, operation);
	while (status < 0 && errno == EINTR);
	return status;
}

bool descriptor_listens(int fd)
{
	int listening = 0, flags = fcntl(fd, F_GETFL);
	socklen_t size = sizeof(listening);
	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0 && listening &&
	    flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

bool descriptor_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

void descriptor_raise_limit(void)
{
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

bool descriptor_hung_up(int socket)
{
	struct pollfd fd = {.fd = socket};
	return poll(&fd, 1, 0) > 0 && (fd.revents & POLLHUP);
}
