/* SPDX-License-Identifier: ISC */
/* Listening at TCP and Unix addresses, and connecting to them. */
#include "cli/sockets.h"

#include "base/memory.h"
#include "cli/command.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 4096 /* the kernel cuts it to net.core.somaxconn */
#define CONNECT_SECONDS 5
#define DEFAULT_HOST "127.0.0.1"
#define HOST_SIZE 256

/* Splits text into host and port; false when it has no such form. */
static bool sockets_split(const char *text, char *host, size_t size, const char **port)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	char *end;
	long n;
	*port = colon ? colon + 1 : text;
	n = strtol(*port, &end, 10);
	if (**port < '0' || **port > '9' || *end || n > 65535)
		return false;
	if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
		text++;
		len -= 2;
	} else if (memchr(text, ':', len)) {
		return false;
	}
	if (!colon)
		text = DEFAULT_HOST, len = strlen(DEFAULT_HOST);
	else if (len == 0 || (len == 1 && *text == '*'))
		text = "0.0.0.0", len = strlen("0.0.0.0");
	return snprintf(host, size, "%.*s", (int)len, text) < (int)size;
}

/* Binds a socket that does not block, as nginx expects of one that it inherits: a worker of nginx
 * that another one beat to a connection would else be stuck in accept, with all its clients. */
static int sockets_bind_tcp(const struct addrinfo *info)
{
	int type = info->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK;
	int fd = socket(info->ai_family, type, info->ai_protocol);
	int on = 1;
	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	    bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	int saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

bool tcp_address(const char *text)
{
	const char *port;
	char host[HOST_SIZE];
	if (sockets_split(text, host, sizeof(host), &port))
		return true;
	complain(EXIT_USAGE,
	    "--listen must be HOST:PORT, [IPV6]:PORT or PORT with a port up to 65535, not \"%s\"",
	    text);
	return false;
}

int tcp_listen(const char *text, char address[TCP_ADDRESS_SIZE])
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
	struct addrinfo *info;
	const char *port;
	char host[HOST_SIZE];
	struct sockaddr_storage bound;
	socklen_t len = sizeof(bound);
	char name[INET6_ADDRSTRLEN] = "?", number[8] = "?"; /* of what it is bound to */
	bool is_address = sockets_split(text, host, sizeof(host), &port);
	int fd, failure;
	assert(is_address);
	failure = getaddrinfo(host, port, &hints, &info);
	if (failure)
		return complain(-1, "cannot listen on %s: %s", text, gai_strerror(failure));
	fd = sockets_bind_tcp(info);
	freeaddrinfo(info);
	if (fd < 0)
		return complain(-1, "cannot listen on %s: %s; choose another address with --listen",
		    text, strerror(errno));
	if (getsockname(fd, (struct sockaddr *)&bound, &len) == 0)
		getnameinfo((struct sockaddr *)&bound, len, name, sizeof(name), number,
		    sizeof(number), NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(address, TCP_ADDRESS_SIZE, strchr(name, ':') ? "[%s]:%s" : "%s:%s", name, number);
	return fd;
}

int tcp_reserve(unsigned *port)
{
	struct sockaddr_in address = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int on = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* sockets that do not listen may share a port when all of them say so,
	 * as websocketd does */
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	    bind(fd, (struct sockaddr *)&address, len) == 0 &&
	    getsockname(fd, (struct sockaddr *)&address, &len) == 0) {
		*port = ntohs(address.sin_port);
		return fd;
	}
	complain(1, "cannot take a port for websocketd: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

int tcp_connect(int listener)
{
	struct sockaddr_storage bound = {0};
	socklen_t len = sizeof(bound);
	int fd;
	if (getsockname(listener, (struct sockaddr *)&bound, &len) != 0)
		return -1;
	fd = socket(bound.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&bound, len) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool sockets_unix_address(const char *path, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(address->sun_path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	strcpy(address->sun_path, path);
	return true;
}

int unix_connect(const char *path)
{
	const struct timeval patience = {.tv_sec = CONNECT_SECONDS};
	struct sockaddr_un address;
	int fd;
	if (!sockets_unix_address(path, &address))
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	int saved = errno;
	if (fd >= 0)
		close(fd);
	errno = saved;
	return -1;
}

/* Removes a socket that a dead process has left; false after a complaint if path is not free
 * then. */
static bool sockets_make_free(const char *path)
{
	struct stat st;
	int fd;
	if (lstat(path, &st) != 0)
		return true;
	if (!S_ISSOCK(st.st_mode)) {
		complain(1, "%s is in the way: it exists and is no socket", path);
		return false;
	}
	fd = unix_connect(path);
	if (fd >= 0 || errno == EAGAIN) {
		if (fd >= 0)
			close(fd);
		complain(1, "another process serves at %s", path);
		return false;
	}
	unlink(path);
	return true;
}

int unix_listen(const char *path, unsigned mode)
{
	struct sockaddr_un address;
	mode_t mask;
	int fd;
	if (!sockets_unix_address(path, &address))
		return complain(-1,
		    "the socket path %s is longer than %zu bytes; choose a shorter one with "
		    "--socket",
		    path, sizeof(address.sun_path) - 1);
	if (!sockets_make_free(path))
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return complain(-1, "cannot make a socket: %s", strerror(errno));
	mask = umask(0777 & ~mode);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    listen(fd, BACKLOG) == 0) {
		umask(mask);
		return fd;
	}
	complain(1, "cannot listen at %s: %s", path, strerror(errno));
	umask(mask);
	close(fd);
	return -1;
}

char *fastcgi_socket_path(const char *state_dir, const char *chosen)
{
	char *cwd, *path;
	if (!chosen)
		return xasprintf("%s/run/fcgi.sock", state_dir);
	if (*chosen == '/')
		return xstrdup(chosen);
	cwd = getcwd(NULL, 0);
	path = xasprintf("%s/%s", cwd ? cwd : "", chosen);
	free(cwd);
	return path;
}

char *side_socket_path(const char *state_dir, const char *chosen, const char *name)
{
	char *socket, *path;
	if (!chosen)
		return xasprintf("%s/run/%s.sock", state_dir, name);
	socket = fastcgi_socket_path(state_dir, chosen);
	path = xasprintf("%s.%s", socket, name);
	free(socket);
	return path;
}
