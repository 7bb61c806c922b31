/* SPDX-License-Identifier: ISC */
/* Pipes, fork and exec, and the list of children that must end with this process. */
#include "base/os/process/process_spawn.h"

#include "base/memory.h"
#include "base/os/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct pipes {
	int in[2], out[2], err[2];
	int report[2]; /* carries why the child could not be started; execve closes it */
};

/* The children that are not reaped, each the leader of its group. */
static struct {
	pthread_mutex_t lock; /* guards what follows */
	pid_t *pids;
	size_t count, room;
} running = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void process_running_add(pid_t pid)
{
	pthread_mutex_lock(&running.lock);
	if (running.count == running.room) {
		running.room = running.room ? 2 * running.room : 16;
		running.pids = xrealloc(running.pids, running.room * sizeof(*running.pids));
	}
	running.pids[running.count++] = pid;
	pthread_mutex_unlock(&running.lock);
}

static void process_running_remove(pid_t pid)
{
	size_t i = 0;
	pthread_mutex_lock(&running.lock);
	while (i < running.count && running.pids[i] != pid)
		i++;
	if (i < running.count)
		running.pids[i] = running.pids[--running.count];
	if (!running.count) {
		free(running.pids);
		running.pids = NULL;
		running.room = 0;
	}
	pthread_mutex_unlock(&running.lock);
}

void process_end_all(void)
{
	pthread_mutex_lock(&running.lock);
	for (size_t i = 0; i < running.count; i++)
		kill(-running.pids[i], SIGKILL);
	pthread_mutex_unlock(&running.lock);
}

struct start_failure {
	bool in_chdir;
	int code;
};

static void process_spawn_close_pair(int fds[2])
{
	descriptor_close(&fds[0]);
	descriptor_close(&fds[1]);
}

/* A service may run with its standard streams closed; the child's dup2 calls must not meet a pipe
 * that has one of those numbers. */
static bool process_spawn_move_up(int *fd)
{
	if (*fd > STDERR_FILENO)
		return true;
	int moved = fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (moved < 0)
		return false;
	close(*fd);
	*fd = moved;
	return true;
}

static bool process_spawn_open_pair(int fds[2])
{
	if (pipe2(fds, O_CLOEXEC) != 0) {
		fds[0] = fds[1] = -1;
		return false;
	}
	return process_spawn_move_up(&fds[0]) && process_spawn_move_up(&fds[1]);
}

/* Runs in the memory of the parent, whose thread waits.  So it calls only what is
 * async-signal-safe, and writes nothing that the parent reads afterwards, for which it has a frame
 * of its own. */
static _Noreturn __attribute__((noinline)) void process_spawn_exec(
    const struct process *p, const struct pipes *pipes, pid_t parent)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127); /* the parent died before prctl could see that */
	dup2(p->input_fd > 0 ? p->input_fd : pipes->in[0], STDIN_FILENO);
	dup2(pipes->out[1], STDOUT_FILENO);
	dup2(pipes->err[1], STDERR_FILENO);
	/* Not every library opens its descriptors with O_CLOEXEC; a client's connection that a
	 * child holds open would never end. */
	close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	struct sigaction standard = {.sa_handler = SIG_DFL};
	for (int i = 1; i < NSIG; i++)
		sigaction(i, &standard, NULL); /* fails for those that cannot be caught */
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	struct start_failure failure = {.in_chdir = p->cwd && chdir(p->cwd) != 0};
	if (!failure.in_chdir)
		execve(p->path, p->argv, p->envp ? p->envp : environ);
	failure.code = errno;
	ssize_t ignored = write(pipes->report[1], &failure, sizeof(failure));
	(void)ignored;
	_exit(127);
}

/* Signals are blocked around it, so that no handler of the service runs in the child.  A child with
 * memory of its own would cost as much as the service has: its tables, and a fault for every page
 * that is written until the child is gone. */
static pid_t process_spawn_fork(const struct process *p, const struct pipes *pipes)
{
	sigset_t all, before;
	sigfillset(&all);
	pid_t parent = getpid();
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid_t pid = vfork();
	if (pid == 0)
		process_spawn_exec(p, pipes, parent);
	int code = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = code;
	return pid;
}

/* The child is forgotten before it is reaped: afterwards another process may get its number. */
int process_reap(pid_t pid)
{
	int status = 0;
	process_running_remove(pid);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}

static bool process_spawn_not_started(struct process_result *result, const char *what, int code)
{
	result->end = PROCESS_NOT_STARTED;
	result->code = code;
	snprintf(result->tail, sizeof(result->tail), "%s: %s", what, strerror(code));
	return false;
}

/* Waits until the child runs its executable.  After that it leads its group. */
static bool process_spawn_await_exec(
    const struct process *p, pid_t pid, int report, struct process_result *result)
{
	struct start_failure failure;
	ssize_t n;
	do
		n = read(report, &failure, sizeof(failure));
	while (n < 0 && errno == EINTR);
	if (n != sizeof(failure))
		return true;
	process_reap(pid);
	process_spawn_not_started(result, failure.in_chdir ? p->cwd : p->path, failure.code);
	if (!failure.in_chdir && failure.code == ENOENT && access(p->path, F_OK) == 0)
		snprintf(result->tail, sizeof(result->tail),
		    "%s: the interpreter that it names does not exist", p->path);
	return false;
}

static int process_spawn_keep(int *fd)
{
	int kept = *fd;
	*fd = -1;
	fcntl(kept, F_SETFL, O_NONBLOCK);
	return kept;
}

static bool process_spawn_start(const struct process *p, struct pipes *pipes,
    struct spawned *spawned, struct process_result *result)
{
	*pipes = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
	if (!process_spawn_open_pair(pipes->in) || !process_spawn_open_pair(pipes->out) ||
	    !process_spawn_open_pair(pipes->err) || !process_spawn_open_pair(pipes->report))
		return process_spawn_not_started(result, "pipe", errno);
	spawned->pid = process_spawn_fork(p, pipes);
	if (spawned->pid < 0)
		return process_spawn_not_started(result, "vfork", errno);
	process_running_add(spawned->pid);
	descriptor_close(&pipes->report[1]);
	if (!process_spawn_await_exec(p, spawned->pid, pipes->report[0], result))
		return false;
	spawned->pidfd = pidfd_open(spawned->pid, 0); /* close-on-exec by itself */
	if (spawned->pidfd < 0) {
		int code = errno;
		kill(-spawned->pid, SIGKILL);
		process_reap(spawned->pid);
		return process_spawn_not_started(result, "pidfd_open", code);
	}
	spawned->in = process_spawn_keep(&pipes->in[1]);
	spawned->out = process_spawn_keep(&pipes->out[0]);
	spawned->err = process_spawn_keep(&pipes->err[0]);
	return true;
}

bool process_spawn(const struct process *p, struct spawned *spawned, struct process_result *result)
{
	struct pipes pipes;
	bool started = process_spawn_start(p, &pipes, spawned, result);
	process_spawn_close_pair(pipes.in);
	process_spawn_close_pair(pipes.out);
	process_spawn_close_pair(pipes.err);
	process_spawn_close_pair(pipes.report);
	return started;
}
