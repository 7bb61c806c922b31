/* SPDX-License-Identifier: ISC */
/*
 * The sockets of the service.  The supervisor binds them before it starts anything, so that an
 * address in use is a clear error, and keeps them while programs come and go, so that clients wait
 * instead of being refused.  All are close-on-exec.
 */
#ifndef AGENTGRAPH_CLI_SOCKETS_H
#define AGENTGRAPH_CLI_SOCKETS_H

#include <stdbool.h>
#include <sys/types.h>

#define TCP_ADDRESS_SIZE 64 /* numeric host, port, brackets */

/* Whether text is HOST:PORT, [IPV6]:PORT or PORT; complains when it is not. */
bool tcp_address(const char *text);

/*
 * Binds and listens on text, which is a tcp_address; port 0 takes a free one.  address is what was
 * bound, numeric, as nginx and URLs write it.  -1 after a complaint.
 */
int tcp_listen(const char *text, char address[TCP_ADDRESS_SIZE]);

/*
 * Reserves a free port on 127.0.0.1 for a program that must bind it itself and cannot be handed a
 * socket.  While the descriptor that is returned is open, the kernel gives the port only to those
 * who ask for its number.  -1 after a complaint.
 */
int tcp_reserve(unsigned *port);

/* Connects to what tcp_listen bound, or to what listens on a reserved port; -1 with errno. */
int tcp_connect(int listener);

/*
 * Binds and listens at path with that mode; the socket does not block.  A socket that is there and
 * that nobody answers at is replaced; anything else is left alone.  -1 after a complaint.
 */
int unix_listen(const char *path, unsigned mode);

/* Who may connect to a socket, beside its owner. */
struct socket_access {
	unsigned mode;
	bool has_mode;
	gid_t group; /* (gid_t)-1: the one of this process */
};

/* Reads "0660" and the name or number of a group; either may be NULL.  False after a complaint. */
bool socket_access_read(struct socket_access *access, const char *mode, const char *group);

/* unix_listen, and gives the socket the group and mode of access.  -1 after a complaint, and then
 * nothing is left at path. */
int unix_open(const char *path, unsigned mode, const struct socket_access *access);

/* Connects to path; -1 with errno, which is EAGAIN when the queue there is full and nobody was
 * accepted for seconds. */
int unix_connect(const char *path);

/* The path of the FastCGI socket, malloc'd: the one that was chosen, else in the state
 * directory. */
char *fastcgi_socket_path(const char *state_dir, const char *chosen);

/* The path of another socket beside it: <chosen>.<name>, else run/<name>.sock.  The name is "relay"
 * for the relay, and "follow" for agentgraph-follow. */
char *side_socket_path(const char *state_dir, const char *chosen, const char *name);

#endif
