/* SPDX-License-Identifier: ISC */
/*
 * How long a server takes from its start to its first answer.
 *
 *     startup PORT PATH PROGRAM [ARGUMENT]...
 *
 * Prints the milliseconds from exec until GET PATH on the port of this machine is answered with
 * 200, and ends the server with SIGTERM.  It fails when the server ends, or does not answer for a
 * minute.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_MS 60000

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static bool answers(int fd, const struct sockaddr_in *server, const char *path)
{
	char answer[16] = "";
	struct timeval patience = {1, 0};
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return connect(fd, (const struct sockaddr *)server, sizeof(*server)) == 0 &&
	    dprintf(fd, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path) >
	    0 &&
	    recv(fd, answer, sizeof(answer) - 1, MSG_WAITALL) > 0 &&
	    strncmp(answer, "HTTP/1.1 200", 12) == 0;
}

static bool try_once(const struct sockaddr_in *server, const char *path)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool ok = fd >= 0 && answers(fd, server, path);
	if (fd >= 0)
		close(fd);
	return ok;
}

static pid_t start(char **command)
{
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execvp(command[0], command);
		perror(command[0]);
		_exit(127);
	}
	return pid;
}

int main(int argc, char **argv)
{
	struct sockaddr_in server = {.sin_family = AF_INET};
	const struct timespec pause = {0, 500000};
	bool ok = false;
	if (argc < 4) {
		fprintf(stderr, "usage: startup PORT PATH PROGRAM [ARGUMENT]...\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	server.sin_port = htons((uint16_t)atoi(argv[1]));
	server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	double began = now_ms();
	pid_t pid = start(argv + 3);
	while (
	    pid > 0 && !ok && now_ms() < began + LONGEST_MS && waitpid(pid, NULL, WNOHANG) == 0) {
		ok = try_once(&server, argv[2]);
		if (!ok)
			nanosleep(&pause, NULL);
	}
	double took = now_ms() - began;
	if (ok) {
		printf("%.1f\n", took);
		fflush(stdout);
	}
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
	return ok ? 0 : 1;
}
