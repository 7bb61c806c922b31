/* SPDX-License-Identifier: ISC */
/* Running a child: its three streams, its limits, and the end of its whole group. */
#include "base/os/process/process.h"

#include "base/buf.h"
#include "base/os/clock.h"
#include "base/os/descriptor.h"
#include "base/os/process/process_spawn.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ERROR_READS 256 /* what the largest pipe of an ordinary user holds */
#define READ_SIZE 65536

struct child {
	const struct process *p;
	struct process_result *result;
	struct spawned io;  /* streams are -1 once closed */
	size_t written;     /* bytes of the input that were written */
	struct buf pending; /* output that is no whole line yet */
	size_t scanned;     /* how much of pending is known to hold no newline */
	size_t total;
	size_t tail_len;
	bool ending;     /* result->end is decided; output is thrown away */
	int64_t kill_at; /* when ending: time of SIGKILL */
};

/* Decides the result and asks the child to go. */
static void process_end_child(struct child *c, enum process_end end)
{
	if (c->ending)
		return;
	c->ending = true;
	c->result->end = end;
	c->kill_at = clock_monotonic_ms() + PROCESS_GRACE_MS;
	kill(-c->io.pid, SIGTERM);
	descriptor_close(&c->io.in);
}

/* Input that the child does not want is no failure: it closed its end, or is gone. */
static void process_write_input(struct child *c)
{
	const struct process *p = c->p;
	ssize_t n = 0;
	if (c->written < p->input_len)
		n = write(c->io.in, p->input + c->written, p->input_len - c->written);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		c->written += (size_t)n;
	if (n < 0 || c->written == p->input_len)
		descriptor_close(&c->io.in);
}

static void process_deliver(void *arg, char *line, size_t len)
{
	struct child *c = arg;
	if (c->ending)
		return;
	line[len] = '\0';
	if (len > c->p->max_line)
		process_end_child(c, PROCESS_LINE_TOO_LONG);
	else if (!c->p->on_line(line, len, c->p->arg))
		process_end_child(c, PROCESS_REFUSED);
}

/* Reads once; false when there is nothing left to read now. */
static bool process_read_output(struct child *c)
{
	char *room = buf_reserve(&c->pending, READ_SIZE);
	ssize_t n = read(c->io.out, room, READ_SIZE);
	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		descriptor_close(&c->io.out);
		return false;
	}
	if (c->ending)
		return true;
	c->pending.len += (size_t)n;
	c->pending.data[c->pending.len] = '\0';
	c->total += (size_t)n;
	if (c->total > c->p->max_output)
		process_end_child(c, PROCESS_TOO_MUCH_OUTPUT);
	if (c->ending)
		return true;
	if (c->p->raw) {
		if (!c->p->on_line(c->pending.data, c->pending.len, c->p->arg))
			process_end_child(c, PROCESS_REFUSED);
		buf_reset(&c->pending);
		return true;
	}
	buf_take_lines(&c->pending, &c->scanned, process_deliver, c);
	if (c->pending.len > c->p->max_line)
		process_end_child(c, PROCESS_LINE_TOO_LONG);
	return true;
}

/* Reads once, and keeps the end of all that has come. */
static bool process_read_errors(struct child *c)
{
	char data[PROCESS_TAIL], *tail = c->result->tail;
	ssize_t n = read(c->io.err, data, sizeof(data));
	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		descriptor_close(&c->io.err);
		return false;
	}
	size_t len = (size_t)n;
	if (c->tail_len + len > PROCESS_TAIL) {
		size_t surplus = c->tail_len + len - PROCESS_TAIL;
		c->tail_len -= surplus;
		memmove(tail, tail + surplus, c->tail_len);
	}
	memcpy(tail + c->tail_len, data, len);
	c->tail_len += len;
	tail[c->tail_len] = '\0';
	return true;
}

/* Moves bytes until the child itself is gone; poll ignores the streams that are closed. */
static void process_pump(struct child *c)
{
	bool exited = false;
	while (!exited) {
		struct pollfd fds[] = {{c->io.pidfd, POLLIN, 0}, {c->io.err, POLLIN, 0},
		    {c->io.out, POLLIN, 0}, {c->io.in, POLLOUT, 0}};
		int64_t left = (c->ending ? c->kill_at : c->p->deadline_ms) - clock_monotonic_ms();
		if (poll(fds, 4, left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left) > 0) {
			exited = fds[0].revents;
			if (fds[1].revents)
				process_read_errors(c);
			if (fds[3].revents)
				process_write_input(c);
			if (fds[2].revents)
				process_read_output(c);
		}
		int64_t now = clock_monotonic_ms();
		if (!exited && c->ending && now >= c->kill_at) {
			kill(-c->io.pid, SIGKILL);
			kill(c->io.pid, SIGKILL); /* it may have joined another group */
			c->kill_at = INT64_MAX;
		} else if (!exited && !c->ending && now >= c->p->deadline_ms) {
			process_end_child(c, PROCESS_TIMED_OUT);
		}
	}
}

/*
 * The child is a zombie: its number, and so its group, cannot be taken by others yet.  Whoever else
 * is in the group goes first, so that what is left in the pipes is all there will be; one who left
 * the group could write on, and is not waited for.
 */
static void process_finish(struct child *c)
{
	kill(-c->io.pid, SIGKILL);
	while (!c->ending && c->io.out >= 0 && process_read_output(c))
		continue;
	for (int i = 0; i < ERROR_READS && c->io.err >= 0 && process_read_errors(c); i++)
		continue;
	if (c->pending.len > 0)
		process_deliver(c, c->pending.data, c->pending.len);
	int status = process_reap(c->io.pid);
	if (c->ending)
		return;
	c->result->end = WIFSIGNALED(status) ? PROCESS_SIGNALLED : PROCESS_EXITED;
	c->result->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

void process_run(const struct process *p, struct process_result *result)
{
	struct child c = {.p = p, .result = result};
	sigset_t before;
	*result = (struct process_result){0};
	if (!process_spawn(p, &c.io, result))
		return;
	/* a child that closes its input must not kill the service */
	sigpipe_block(&before);
	process_pump(&c);
	process_finish(&c);
	sigpipe_restore(&before);
	buf_release(&c.pending);
	descriptor_close(&c.io.pidfd);
	descriptor_close(&c.io.in);
	descriptor_close(&c.io.out);
	descriptor_close(&c.io.err);
}
