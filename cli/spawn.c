/* SPDX-License-Identifier: ISC */
/* fork and exec as the supervisor needs them, and finding the children that it has. */
#include "cli/spawn.h"

#include "base/memory.h"
#include "cli/command.h"
#include "cli/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Puts fd, or /dev/null for -1, in the place of standard input. */
static void spawn_set_input(int fd)
{
	int from = fd >= 0 ? fd : open("/dev/null", O_RDWR | O_CLOEXEC);
	if (from < 0 || dup2(from, STDIN_FILENO) < 0)
		_exit(127);
}

pid_t spawn_fork(void)
{
	static const int changed[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE, SIGXFSZ, SIGQUIT};
	pid_t parent = getpid();
	pid_t pid = fork();
	sigset_t none;
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	setpgid(0, 0);
	for (size_t i = 0; i < sizeof(changed) / sizeof(changed[0]); i++)
		signal(changed[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	spawn_set_input(-1);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	return 0;
}

pid_t spawn_program(const struct spawn *spawn)
{
	pid_t pid = spawn_fork();
	if (pid != 0)
		return pid;
	if (spawn->input >= 0)
		spawn_set_input(spawn->input);
	if (spawn->inherit >= 0)
		fcntl(spawn->inherit, F_SETFD, 0);
	if (spawn->variable)
		putenv(xstrdup(spawn->variable));
	execv(spawn->argv[0], spawn->argv);
	complain(127, "cannot run %s: %s", spawn->argv[0], strerror(errno));
	_exit(127);
}

size_t spawn_children(pid_t **pids)
{
	DIR *dir = opendir("/proc");
	struct proc proc;
	size_t count = 0;
	pid_t pid;
	*pids = NULL;
	while ((pid = proc_next(dir))) {
		if (!proc_read(pid, &proc) || proc.parent != getpid())
			continue;
		*pids = xrealloc(*pids, (count + 1) * sizeof(**pids));
		(*pids)[count++] = pid;
	}
	if (dir)
		closedir(dir);
	return count;
}
