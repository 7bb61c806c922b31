#include "base/process.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define READ_SIZE 65536
#define STOP_POLL_MS 200

struct pipes {
	int in[2], out[2], err[2];
	int report[2]; /* carries why the child could not be started; execve closes it */
};

struct start_failure {
	bool in_chdir;
	int code;
};

struct child {
	const struct process *p;
	struct process_result *result;
	pid_t pid;
	int pidfd;
	int in, out, err;   /* -1 once closed */
	size_t written;     /* of the input */
	struct buf pending; /* output that is no whole line yet */
	size_t scanned;     /* how much of pending is known to hold no newline */
	size_t total;
	size_t tail_len;
	bool ending;     /* result->end is decided; output is thrown away */
	int64_t kill_at; /* when ending: time of SIGKILL */
};

/* ---- Starting */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_pair(int fds[2])
{
	close_fd(&fds[0]);
	close_fd(&fds[1]);
}

static void close_pipes(struct pipes *pipes)
{
	close_pair(pipes->in);
	close_pair(pipes->out);
	close_pair(pipes->err);
	close_pair(pipes->report);
}

/* A service may run with its standard streams closed; the child's dup2 calls must not meet a pipe
 * that has one of those numbers. */
static bool move_above_standard(int *fd)
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

static bool open_pair(int fds[2])
{
	if (pipe2(fds, O_CLOEXEC) != 0) {
		fds[0] = fds[1] = -1;
		return false;
	}
	return move_above_standard(&fds[0]) && move_above_standard(&fds[1]);
}

static bool open_pipes(struct pipes *pipes)
{
	*pipes = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
	return open_pair(pipes->in) && open_pair(pipes->out) && open_pair(pipes->err) &&
	    open_pair(pipes->report);
}

static void reset_signals(void)
{
	struct sigaction standard = {.sa_handler = SIG_DFL};
	for (int i = 1; i < NSIG; i++)
		sigaction(i, &standard, NULL); /* fails for those that cannot be caught */
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void take_streams(const struct pipes *pipes)
{
	dup2(pipes->in[0], STDIN_FILENO);
	dup2(pipes->out[1], STDOUT_FILENO);
	dup2(pipes->err[1], STDERR_FILENO);
	/* Not every library opens its descriptors with O_CLOEXEC; a client's connection that a
	 * child holds open would never end. */
	close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
}

/* Runs in the child of a process with many threads: only what is async-signal-safe. */
static _Noreturn void child_exec(const struct process *p, const struct pipes *pipes, pid_t parent)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127); /* it died before prctl could see that */
	take_streams(pipes);
	reset_signals();
	struct start_failure failure = {.in_chdir = p->cwd && chdir(p->cwd) != 0};
	if (!failure.in_chdir)
		execve(p->path, p->argv, p->envp ? p->envp : environ);
	failure.code = errno;
	ssize_t ignored = write(pipes->report[1], &failure, sizeof(failure));
	(void)ignored;
	_exit(127);
}

/* Signals are blocked around fork, so that no handler of the service runs in the child. */
static pid_t fork_child(const struct process *p, const struct pipes *pipes)
{
	sigset_t all, before;
	sigfillset(&all);
	pid_t parent = getpid();
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid_t pid = fork();
	if (pid == 0)
		child_exec(p, pipes, parent);
	int code = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = code;
	return pid;
}

static int reap(pid_t pid)
{
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}

static bool not_started(struct process_result *result, const char *what, int code)
{
	result->end = PROCESS_NOT_STARTED;
	result->code = code;
	snprintf(result->tail, sizeof(result->tail), "%s: %s", what, strerror(code));
	return false;
}

static bool exec_failed(
    const struct process *p, const struct start_failure *failure, struct process_result *result)
{
	if (failure->in_chdir)
		return not_started(result, p->cwd, failure->code);
	not_started(result, p->path, failure->code);
	if (failure->code == ENOENT && access(p->path, F_OK) == 0)
		snprintf(result->tail, sizeof(result->tail),
		    "%s: the interpreter that it names does not exist", p->path);
	return false;
}

/* Waits until the child runs its executable.  After that it leads its group. */
static bool await_exec(struct child *c, int report)
{
	struct start_failure failure;
	ssize_t n;
	do
		n = read(report, &failure, sizeof(failure));
	while (n < 0 && errno == EINTR);
	if (n != sizeof(failure))
		return true;
	reap(c->pid);
	return exec_failed(c->p, &failure, c->result);
}

static void keep_own_ends(struct child *c, struct pipes *pipes)
{
	c->in = pipes->in[1];
	c->out = pipes->out[0];
	c->err = pipes->err[0];
	pipes->in[1] = pipes->out[0] = pipes->err[0] = -1;
	fcntl(c->in, F_SETFL, O_NONBLOCK);
	fcntl(c->out, F_SETFL, O_NONBLOCK);
	fcntl(c->err, F_SETFL, O_NONBLOCK);
}

static bool watch(struct child *c)
{
	c->pidfd = pidfd_open(c->pid, 0); /* close-on-exec by itself */
	if (c->pidfd >= 0)
		return true;
	int code = errno;
	kill(-c->pid, SIGKILL);
	reap(c->pid);
	return not_started(c->result, "pidfd_open", code);
}

static bool start(struct child *c, struct pipes *pipes)
{
	if (!open_pipes(pipes))
		return not_started(c->result, "pipe", errno);
	c->pid = fork_child(c->p, pipes);
	if (c->pid < 0)
		return not_started(c->result, "fork", errno);
	close_fd(&pipes->report[1]);
	if (!await_exec(c, pipes->report[0]) || !watch(c))
		return false;
	keep_own_ends(c, pipes);
	return true;
}

/* ---- Running */

/* Decides the result and asks the child to go. */
static void end_child(struct child *c, enum process_end end)
{
	if (c->ending)
		return;
	c->ending = true;
	c->result->end = end;
	c->kill_at = clock_monotonic_ms() + PROCESS_GRACE_MS;
	kill(-c->pid, SIGTERM);
	close_fd(&c->in);
}

/* Input that the child does not want is no failure: it closed its end, or is gone. */
static void write_input(struct child *c)
{
	const struct process *p = c->p;
	ssize_t n = 0;
	if (c->written < p->input_len)
		n = write(c->in, p->input + c->written, p->input_len - c->written);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		c->written += (size_t)n;
	if (n < 0 || c->written == p->input_len)
		close_fd(&c->in);
}

static void deliver(struct child *c, char *line, size_t len)
{
	if (c->ending)
		return;
	line[len] = '\0';
	if (len > c->p->max_line)
		end_child(c, PROCESS_LINE_TOO_LONG);
	else if (!c->p->on_line(line, len, c->p->arg))
		end_child(c, PROCESS_REFUSED);
}

/* Hands over the whole lines in pending and keeps the rest. */
static void split_lines(struct child *c)
{
	struct buf *b = &c->pending;
	size_t start_of_line = 0;
	char *newline;
	while ((newline = memchr(b->data + c->scanned, '\n', b->len - c->scanned))) {
		deliver(c, b->data + start_of_line, (size_t)(newline - b->data) - start_of_line);
		start_of_line = c->scanned = (size_t)(newline - b->data) + 1;
	}
	b->len -= start_of_line;
	memmove(b->data, b->data + start_of_line, b->len + 1);
	c->scanned = b->len;
	if (b->len > c->p->max_line)
		end_child(c, PROCESS_LINE_TOO_LONG);
}

/* Reads once; false when there is nothing left to read now. */
static bool read_output(struct child *c)
{
	char *room = buf_reserve(&c->pending, READ_SIZE);
	ssize_t n = read(c->out, room, READ_SIZE);
	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		close_fd(&c->out);
		return false;
	}
	if (c->ending)
		return true;
	c->pending.len += (size_t)n;
	c->pending.data[c->pending.len] = '\0';
	c->total += (size_t)n;
	if (c->total > c->p->max_output)
		end_child(c, PROCESS_TOO_MUCH_OUTPUT);
	else
		split_lines(c);
	return true;
}

static void keep_tail(struct child *c, const char *data, size_t len)
{
	char *tail = c->result->tail;
	if (len > PROCESS_TAIL) {
		data += len - PROCESS_TAIL;
		len = PROCESS_TAIL;
	}
	if (c->tail_len + len > PROCESS_TAIL) {
		size_t surplus = c->tail_len + len - PROCESS_TAIL;
		c->tail_len -= surplus;
		memmove(tail, tail + surplus, c->tail_len);
	}
	memcpy(tail + c->tail_len, data, len);
	c->tail_len += len;
	tail[c->tail_len] = '\0';
}

static bool read_errors(struct child *c)
{
	char data[PROCESS_TAIL];
	ssize_t n = read(c->err, data, sizeof(data));
	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		close_fd(&c->err);
		return false;
	}
	keep_tail(c, data, (size_t)n);
	return true;
}

static int poll_timeout(const struct child *c)
{
	int64_t left = (c->ending ? c->kill_at : c->p->deadline_ms) - clock_monotonic_ms();
	if (!c->ending && c->p->stop && left > STOP_POLL_MS)
		left = STOP_POLL_MS;
	if (left < 0)
		return 0;
	return left > INT_MAX ? INT_MAX : (int)left;
}

static void check_limits(struct child *c)
{
	int64_t now = clock_monotonic_ms();
	if (c->ending && now >= c->kill_at) {
		kill(-c->pid, SIGKILL);
		c->kill_at = INT64_MAX;
	} else if (!c->ending && now >= c->p->deadline_ms) {
		end_child(c, PROCESS_TIMED_OUT);
	} else if (!c->ending && c->p->stop && c->p->stop(c->p->arg)) {
		end_child(c, PROCESS_STOPPED);
	}
}

/* Moves bytes until the child itself is gone; poll ignores the streams that are closed. */
static void pump(struct child *c)
{
	bool exited = false;
	while (!exited) {
		struct pollfd fds[] = {{c->pidfd, POLLIN, 0}, {c->err, POLLIN, 0},
		    {c->out, POLLIN, 0}, {c->in, POLLOUT, 0}};
		if (poll(fds, 4, poll_timeout(c)) > 0) {
			exited = fds[0].revents;
			if (fds[1].revents)
				read_errors(c);
			if (fds[3].revents)
				write_input(c);
			if (fds[2].revents)
				read_output(c);
		}
		if (!exited)
			check_limits(c);
	}
}

/*
 * The child is a zombie: its number, and so its group, cannot be taken by others yet.  Whoever else
 * is in the group goes first, so that what is left in the pipes is all there will be; one who left
 * the group could write on, and is not waited for.
 */
static void finish(struct child *c)
{
	kill(-c->pid, SIGKILL);
	while (!c->ending && c->out >= 0 && read_output(c))
		continue;
	if (c->err >= 0)
		read_errors(c);
	if (c->pending.len > 0)
		deliver(c, c->pending.data, c->pending.len);
	int status = reap(c->pid);
	if (c->ending)
		return;
	c->result->end = WIFSIGNALED(status) ? PROCESS_SIGNALLED : PROCESS_EXITED;
	c->result->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

/* A child that closes its input must not kill the service, whatever its disposition of SIGPIPE. */
static void block_sigpipe(sigset_t *before)
{
	sigset_t pipe_signal;
	sigemptyset(&pipe_signal);
	sigaddset(&pipe_signal, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_signal, before);
}

static void restore_sigpipe(const sigset_t *before)
{
	sigset_t pipe_signal;
	sigemptyset(&pipe_signal);
	sigaddset(&pipe_signal, SIGPIPE);
	if (!sigismember(before, SIGPIPE))
		while (sigtimedwait(&pipe_signal, NULL, &(struct timespec){0}) > 0)
			continue;
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

void process_run(const struct process *p, struct process_result *result)
{
	struct child c = {.p = p, .result = result, .pidfd = -1, .in = -1, .out = -1, .err = -1};
	struct pipes pipes;
	*result = (struct process_result){0};
	bool started = start(&c, &pipes);
	close_pipes(&pipes);
	if (started) {
		sigset_t before;
		block_sigpipe(&before);
		pump(&c);
		finish(&c);
		restore_sigpipe(&before);
	}
	buf_release(&c.pending);
	close_fd(&c.pidfd);
	close_fd(&c.in);
	close_fd(&c.out);
	close_fd(&c.err);
}

/* ---- Finding executables */

static bool executable(const char *path)
{
	struct stat st;
	if (stat(path, &st) != 0)
		return false;
	if (S_ISREG(st.st_mode) && access(path, X_OK) == 0)
		return true;
	errno = EACCES;
	return false;
}

static char *joined(const char *dir, size_t dir_len, const char *name)
{
	struct buf path = {0};
	buf_add(&path, dir, dir_len);
	buf_putc(&path, '/');
	buf_puts(&path, name);
	return buf_detach(&path);
}

static char *found(char *path)
{
	if (executable(path))
		return path;
	int code = errno;
	free(path);
	errno = code;
	return NULL;
}

static char *find_in_path(const char *name)
{
	const char *dirs = getenv("PATH");
	if (!dirs)
		dirs = "/usr/local/bin:/usr/bin:/bin";
	int code = ENOENT;
	for (;; dirs++) {
		size_t len = strcspn(dirs, ":");
		char *path = len ? found(joined(dirs, len, name)) : NULL;
		if (path)
			return path;
		if (len && errno == EACCES)
			code = EACCES;
		dirs += len;
		if (!*dirs)
			break;
	}
	errno = code;
	return NULL;
}

char *process_find(const char *name, const char *dir)
{
	if (!strchr(name, '/'))
		return find_in_path(name);
	return found(*name == '/' ? xstrdup(name) : joined(dir, strlen(dir), name));
}

/* ---- Saying what went wrong */

char *process_clean(char *text)
{
	utf8_repair(text);
	for (char *p = text; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	}
	return text;
}

char *process_describe(const struct process_result *result, char *out, size_t size)
{
	const char *name;
	switch (result->end) {
	case PROCESS_EXITED:
		snprintf(out, size, "exited with status %d", result->code);
		return out;
	case PROCESS_SIGNALLED:
		name = sigdescr_np(result->code);
		snprintf(out, size, "died of signal %d (%s)", result->code, name ? name : "?");
		return out;
	case PROCESS_TIMED_OUT:
		snprintf(out, size, "timed out");
		return out;
	case PROCESS_REFUSED:
		snprintf(out, size, "wrote output that is not understood");
		return out;
	case PROCESS_STOPPED:
		snprintf(out, size, "was stopped");
		return out;
	case PROCESS_LINE_TOO_LONG:
		snprintf(out, size, "wrote a line that is too long");
		return out;
	case PROCESS_TOO_MUCH_OUTPUT:
		snprintf(out, size, "wrote too much output");
		return out;
	case PROCESS_NOT_STARTED:
		snprintf(out, size, "could not be started: %s", result->tail);
		return process_clean(out);
	}
	return out;
}

/* The last line of text that is not empty; false when there is none. */
static bool last_line(const char *text, char *out, size_t size)
{
	size_t end = strlen(text);
	while (end > 0 && strchr(" \t\r\n", text[end - 1]))
		end--;
	size_t begin = end;
	while (begin > 0 && text[begin - 1] != '\n')
		begin--;
	size_t len = utf8_cut(text + begin, end - begin < size ? end - begin : size - 1);
	memcpy(out, text + begin, len);
	out[len] = '\0';
	return len > 0;
}

char *process_complaint(const struct process_result *result, char *out, size_t size)
{
	if (result->end == PROCESS_EXITED && last_line(result->tail, out, size))
		return process_clean(out);
	return process_describe(result, out, size);
}
