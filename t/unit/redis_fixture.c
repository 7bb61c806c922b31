/* SPDX-License-Identifier: ISC */
/* A Redis of a test's own. */
#include "redis_fixture.h"

#include "base/os/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	return address;
}

static bool answers(const char *path)
{
	struct sockaddr_un address = address_of(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool connected = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
	close(fd);
	return connected;
}

static void run_server(const char *path)
{
	int null = open("/dev/null", O_RDWR);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", path, "--save", "",
	    "--appendonly", "no", (char *)NULL);
	_exit(127);
}

pid_t redis_start(const char *socket_path)
{
	pid_t pid = fork();
	if (pid == 0)
		run_server(socket_path);
	for (int i = 0; i < 2400; i++) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return -1;
		if (answers(socket_path))
			return pid;
		clock_sleep_ms(25);
	}
	redis_stop(pid);
	return -1;
}

void redis_stop(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void misbehave(int fd, enum fake_manner manner)
{
	static const char oom[] = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";
	char buffer[1024], *value;
	ssize_t len;
	if (manner == FAKE_CLOSES)
		return;
	while ((len = read(fd, buffer, sizeof(buffer) - 1)) > 0) {
		buffer[len] = '\0';
		value = strstr(buffer, "GET\r\n");
		if ((manner == FAKE_TWICE || manner == FAKE_FULL) && value) {
			value += strlen("GET\r\n");
			if (dprintf(fd, "%s%s", value, manner == FAKE_TWICE ? value : "") < 0)
				return;
		} else if (manner == FAKE_FULL && write(fd, oom, strlen(oom)) < 0) {
			return;
		}
		if (manner == FAKE_GARBAGE && write(fd, "HTTP/1.1 400\r\n\r\n", 16) < 0)
			return;
		if (manner == FAKE_MILLIONS && write(fd, "*777777771\r\n", 12) < 0)
			return;
		if (manner == FAKE_DRIPS && write(fd, "$100000\r\n", 9) < 0)
			return;
		for (int i = 0; manner == FAKE_DRIPS && i < 2000; i++) {
			clock_sleep_ms(50);
			if (write(fd, "x", 1) < 0)
				return;
		}
	}
}

static void run_fake(int listener, enum fake_manner manner)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			misbehave(fd, manner);
			_exit(0);
		}
		close(fd);
	}
}

pid_t fake_start(const char *socket_path, enum fake_manner manner)
{
	struct sockaddr_un address = address_of(socket_path);
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	unlink(socket_path);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(listener, 16) != 0)
		abort();
	pid_t pid = fork();
	if (pid == 0)
		run_fake(listener, manner);
	close(listener);
	return pid;
}
