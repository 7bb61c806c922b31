/* SPDX-License-Identifier: ISC */
/*
 * MCP over the standard streams of a program: one message a line.
 *
 * A thread of its own starts the program, because it is killed with the thread that started it, and
 * moves all bytes, so that a program that does not read blocks nobody.
 */
#include "base/memory.h"
#include "base/os/clock.h"
#include "base/os/descriptor.h"
#include "base/os/process/process.h"
#include "base/os/process/process_spawn.h"
#include "tool/mcp/mcp_internal.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_SIZE 65536
#define MOST_UNREAD (16 << 20) /* bytes that the program has not taken yet */
#define LINE_SHOWN 1000
/* Between the end of the program's input and SIGTERM, and from there to SIGKILL. */
#define CLOSE_MS 1000

struct mcp_stdio {
	struct mcp_server *server;
	unsigned session;
	pthread_t thread;
	int wake; /* eventfd */
	struct spawned io;
	struct buf lines, errors;       /* what was read and is no whole line yet */
	size_t scanned, errors_scanned; /* how many bytes of them are known to hold no newline */

	/* guarded by the server's lock */
	struct buf out;
	bool started, failed, closing, over;
	char why[MCP_WHY_SIZE];
};

/* ---- Reading */

static void mcp_stdio_take_line(void *arg, char *line, size_t len)
{
	const struct mcp_stdio *s = arg;
	line[len] = '\0';
	while (len > 0 && (line[len - 1] == '\r' || line[len - 1] == ' '))
		len--;
	if (len > 0 && !mcp_take(s->server, NULL, line, len))
		mcp_log(s->server, line);
}

/* Reads once; false at the end. */
static bool mcp_stdio_read_some(int fd, struct buf *into)
{
	char *room = buf_reserve(into, READ_SIZE);
	ssize_t n = read(fd, room, READ_SIZE);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0)
		return false;
	into->len += (size_t)n;
	into->data[into->len] = '\0';
	return true;
}

static void mcp_stdio_take_error(void *arg, char *line, size_t len)
{
	const struct mcp_stdio *s = arg;
	line[len] = '\0';
	if (len > 0)
		mcp_log(s->server, line);
}

static void mcp_stdio_read_errors(struct mcp_stdio *s)
{
	bool open = mcp_stdio_read_some(s->io.err, &s->errors);
	buf_take_lines(&s->errors, &s->errors_scanned, mcp_stdio_take_error, s);
	if (s->errors.len > LINE_SHOWN) {
		mcp_log(s->server, s->errors.data);
		buf_reset(&s->errors);
		s->errors_scanned = 0;
	}
	if (!open)
		descriptor_close(&s->io.err);
}

/* ---- Writing */

static void mcp_stdio_write_some(struct mcp_stdio *s)
{
	pthread_mutex_lock(&s->server->lock);
	ssize_t n = write(s->io.in, s->out.data, s->out.len);
	bool closed = n < 0 && errno != EAGAIN && errno != EINTR;
	if (n > 0) {
		s->out.len -= (size_t)n;
		memmove(s->out.data, s->out.data + n, s->out.len + 1);
	}
	pthread_mutex_unlock(&s->server->lock);
	if (closed)
		descriptor_close(&s->io.in);
}

/* False when the session is over or the server does not read. */
static bool mcp_stdio_hand_over(struct mcp_server *server, const char *text)
{
	pthread_mutex_lock(&server->lock);
	struct mcp_stdio *s = server->stdio;
	size_t len = strlen(text);
	bool open = s && s->started && !s->over && !s->closing && s->out.len + len < MOST_UNREAD;
	if (open) {
		buf_add(&s->out, text, len);
		buf_putc(&s->out, '\n');
		eventfd_write(s->wake, 1);
	}
	pthread_mutex_unlock(&server->lock);
	return open;
}

bool mcp_stdio_is_over(const struct mcp_server *server)
{
	return server->stdio && server->stdio->over;
}

/* ---- The program's life */

/* Moves bytes until the program is gone, says nothing more, or the session is closed; why is what
 * ended it. */
static const char *mcp_stdio_pump(struct mcp_stdio *s)
{
	for (;;) {
		eventfd_t ignored;
		eventfd_read(s->wake, &ignored);
		pthread_mutex_lock(&s->server->lock);
		bool has_output = s->out.len > 0, closing = s->closing;
		pthread_mutex_unlock(&s->server->lock);
		if (closing)
			return "is closed";
		struct pollfd fds[] = {{s->io.pidfd, POLLIN, 0}, {s->io.out, POLLIN, 0},
		    {s->io.err, POLLIN, 0}, {has_output ? s->io.in : -1, POLLOUT, 0},
		    {s->wake, POLLIN, 0}};
		if (poll(fds, 5, -1) < 0)
			continue;
		if (fds[3].revents)
			mcp_stdio_write_some(s);
		if (fds[2].revents)
			mcp_stdio_read_errors(s);
		if (fds[1].revents) {
			if (!mcp_stdio_read_some(s->io.out, &s->lines))
				return "ended";
			buf_take_lines(&s->lines, &s->scanned, mcp_stdio_take_line, s);
			if (s->lines.len > MCP_MESSAGE_MAX)
				return "wrote a line that is too long";
		} else if (fds[0].revents) {
			return "ended";
		}
	}
}

/* Whether the program is gone within CLOSE_MS; what it still writes is thrown away. */
static bool mcp_stdio_gone(struct mcp_stdio *s)
{
	int64_t end = clock_monotonic_ms() + CLOSE_MS, left;
	while ((left = end - clock_monotonic_ms()) > 0) {
		struct pollfd fds[] = {
		    {s->io.pidfd, POLLIN, 0}, {s->io.out, POLLIN, 0}, {s->io.err, POLLIN, 0}};
		if (poll(fds, 3, (int)left) <= 0)
			continue;
		buf_reset(&s->lines);
		if (fds[1].revents && !mcp_stdio_read_some(s->io.out, &s->lines))
			descriptor_close(&s->io.out);
		if (fds[2].revents)
			mcp_stdio_read_errors(s);
		if (fds[0].revents)
			return true;
	}
	return false;
}

static bool mcp_stdio_spawn(struct mcp_stdio *s)
{
	const struct command *command = &s->server->settings.command;
	char *const nothing[] = {NULL};
	struct process p = {.path = command->path,
	    .argv = command->argv,
	    .envp = command->env ? command->env : nothing,
	    .cwd = command->cwd};
	struct process_result result = {0};
	char why[MCP_WHY_SIZE / 2];
	bool ok = process_spawn(&p, &s->io, &result);
	if (!ok)
		process_describe(&result, why, sizeof(why));
	pthread_mutex_lock(&s->server->lock);
	s->started = ok;
	s->failed = !ok;
	if (!ok)
		snprintf(s->why, sizeof(s->why), "%s", why);
	pthread_cond_broadcast(&s->server->changed);
	pthread_mutex_unlock(&s->server->lock);
	return ok;
}

static void *mcp_stdio_live(void *arg)
{
	struct mcp_stdio *s = arg;
	sigset_t pipe_signal;
	sigemptyset(&pipe_signal);
	sigaddset(&pipe_signal, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_signal, NULL);
	if (!mcp_stdio_spawn(s))
		return NULL;
	const char *why = mcp_stdio_pump(s);
	pthread_mutex_lock(&s->server->lock);
	s->over = true;
	pthread_mutex_unlock(&s->server->lock);
	/* the end of its input asks the program to go; if it stays, it is killed with its group */
	descriptor_close(&s->io.in);
	if (!mcp_stdio_gone(s)) {
		kill(-s->io.pid, SIGTERM);
		mcp_stdio_gone(s);
	}
	kill(-s->io.pid, SIGKILL);
	kill(s->io.pid, SIGKILL); /* it may have joined another group */
	int status = process_reap(s->io.pid);
	if (strcmp(why, "is closed") == 0)
		return NULL;
	if (WIFSIGNALED(status))
		mcp_lose(s->server, s->session, "the server %s (signal %d)", why, WTERMSIG(status));
	else
		mcp_lose(
		    s->server, s->session, "the server %s (status %d)", why, WEXITSTATUS(status));
	return NULL;
}

static void mcp_stdio_free(struct mcp_stdio *s)
{
	descriptor_close(&s->wake);
	descriptor_close(&s->io.pidfd);
	descriptor_close(&s->io.in);
	descriptor_close(&s->io.out);
	descriptor_close(&s->io.err);
	buf_release(&s->lines);
	buf_release(&s->errors);
	buf_release(&s->out);
	free(s);
}

bool mcp_stdio_open(struct mcp_server *server, unsigned session, char why[MCP_WHY_SIZE])
{
	struct mcp_stdio *s = xcalloc(1, sizeof(*s));
	*s = (struct mcp_stdio){.server = server,
	    .session = session,
	    .wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
	    .io = {0, -1, -1, -1, -1}};
	if (s->wake < 0 || !mcp_thread(&s->thread, mcp_stdio_live, s)) {
		snprintf(why, MCP_WHY_SIZE, "out of threads or descriptors");
		mcp_stdio_free(s);
		return false;
	}
	pthread_mutex_lock(&server->lock);
	server->stdio = s;
	while (!s->started && !s->failed)
		pthread_cond_wait(&server->changed, &server->lock);
	memcpy(why, s->why, MCP_WHY_SIZE);
	bool ok = s->started;
	pthread_mutex_unlock(&server->lock);
	return ok;
}

static void mcp_stdio_close(struct mcp_server *server)
{
	pthread_mutex_lock(&server->lock);
	struct mcp_stdio *s = server->stdio;
	if (s) {
		s->closing = true;
		eventfd_write(s->wake, 1);
	}
	pthread_mutex_unlock(&server->lock);
	if (!s)
		return;
	pthread_join(s->thread, NULL);
	pthread_mutex_lock(&server->lock);
	server->stdio = NULL;
	pthread_mutex_unlock(&server->lock);
	mcp_stdio_free(s);
}

/* ---- What sessions ask */

/* Sends a message.  A session ends only once its program is gone, perhaps seconds later: until then
 * there is no other session, and none of its requests can be sent. */
static enum mcp_sent mcp_stdio_send(struct mcp_server *server, const char *text,
    struct mcp_pending *pending, const struct mcp_wait *wait, char why[MCP_WHY_SIZE])
{
	enum mcp_sent sent = mcp_stdio_hand_over(server, text) ? MCP_SENT : MCP_UNSENT;
	(void)why;
	if (!pending)
		return sent;
	pthread_mutex_lock(&server->lock);
	while (!pending->reply && !pending->lost &&
	    (sent == MCP_SENT || (server->state == MCP_READY && mcp_stdio_is_over(server)))) {
		pthread_mutex_unlock(&server->lock);
		bool over = !mcp_answer_questions(server, pending, wait) || mcp_is_over(wait);
		pthread_mutex_lock(&server->lock);
		if (over)
			break;
		if (!pending->reply && !pending->lost)
			mcp_pause(server, wait->deadline_ms);
	}
	pthread_mutex_unlock(&server->lock);
	return sent;
}

static void mcp_stdio_answer(struct mcp_server *server, const char *text)
{
	mcp_stdio_hand_over(server, text);
}

static void mcp_stdio_send_answers(struct mcp_server *server, const struct mcp_wait *wait)
{
	(void)server, (void)wait; /* they have gone at once */
}

const struct mcp_transport mcp_over_stdio = {.send = mcp_stdio_send,
    .answer = mcp_stdio_answer,
    .send_answers = mcp_stdio_send_answers,
    .close = mcp_stdio_close};
