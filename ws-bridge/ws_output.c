/* SPDX-License-Identifier: ISC */
/* The buffer of what waits, joining lines in it, and flushing by the clock. */
#include "ws-bridge/ws_output.h"

#include "base/os/clock.h"
#include "ws-bridge/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define KEEP_SIZE 65536
#define TOGETHER_MS 1 /* chunks so close to each other go out together */

void output_init(struct output *out, int fd)
{
	struct stat st;
	*out = (struct output){.fd = fd};
	out->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	out->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	pthread_mutex_init(&out->lock, NULL);
	pthread_cond_init(&out->room, NULL);
	if (fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void output_release(struct output *out)
{
	buf_release(&out->waiting);
	pthread_cond_destroy(&out->room);
	pthread_mutex_destroy(&out->lock);
	close(out->wake);
	close(out->timer);
}

static size_t ws_output_left(const struct output *out)
{
	return out->waiting.len - out->sent;
}

static void ws_output_empty(struct output *out)
{
	if (out->waiting.size > KEEP_SIZE)
		buf_release(&out->waiting);
	else
		buf_reset(&out->waiting);
	out->sent = 0;
}

void output_wake(struct output *out)
{
	uint64_t one = 1;
	if (write(out->wake, &one, sizeof(one)) < 0)
		return; /* it is full of wake-ups already */
}

/* Writes as many bytes as the descriptor takes.  When that fails nobody reads any more. */
static void ws_output_flush(struct output *out)
{
	ssize_t n;
	if (!ws_output_left(out))
		return;
	do
		n = write(out->fd, out->waiting.data + out->sent, ws_output_left(out));
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno != EAGAIN) {
		out->broken = true;
		ws_output_empty(out);
	}
	if (n > 0)
		out->sent += (size_t)n;
	if (!ws_output_left(out)) {
		ws_output_empty(out);
	} else if (out->sent >= KEEP_SIZE) {
		/* the last byte that was sent is kept: it tells whether a line has begun */
		size_t surplus = out->sent - 1;
		memmove(
		    out->waiting.data, out->waiting.data + surplus, out->waiting.len - surplus + 1);
		out->waiting.len -= surplus;
		out->sent = 1;
	}
	out->flushed = clock_monotonic_ms();
	if (ws_output_left(out) || out->broken)
		output_wake(out);
	if (ws_output_left(out) <= OUTPUT_AHEAD)
		pthread_cond_broadcast(&out->room);
}

void output_flush(struct output *out)
{
	static const struct itimerspec never = {{0}, {0}};
	pthread_mutex_lock(&out->lock);
	ws_output_flush(out);
	/* the polling thread need not wake for a timer that has nothing to flush */
	if (out->armed && !ws_output_left(out))
		out->armed = timerfd_settime(out->timer, 0, &never, NULL) != 0;
	pthread_mutex_unlock(&out->lock);
}

void output_woken(struct output *out)
{
	uint64_t count;
	if (read(out->wake, &count, sizeof(count)) < 0 && errno != EAGAIN)
		abort();
	pthread_mutex_lock(&out->lock);
	if (read(out->timer, &count, sizeof(count)) > 0)
		out->armed = false;
	pthread_mutex_unlock(&out->lock);
}

/* Adds a line of its own, or joins the record to the last line if the end of that was not sent
 * yet. */
static void ws_output_add_line(struct output *out, struct buf *record)
{
	bool joined = out->joins && ws_output_left(out) && out->line < OUTPUT_LINE;
	buf_putc(record, '\n');
	if (out->broken)
		return;
	if (joined)
		out->waiting.data[out->waiting.len - 1] = RECORD_JOINT;
	out->line = record->len + (joined ? out->line : 0);
	buf_add(&out->waiting, record->data, record->len);
}

void output_send(struct output *out, struct buf *record)
{
	pthread_mutex_lock(&out->lock);
	ws_output_add_line(out, record);
	ws_output_flush(out);
	pthread_mutex_unlock(&out->lock);
}

void output_chunk(struct output *out, struct buf *record)
{
	const struct itimerspec soon = {.it_value.tv_nsec = TOGETHER_MS * 1000000};
	pthread_mutex_lock(&out->lock);
	while (ws_output_left(out) > OUTPUT_AHEAD && !out->muted && !out->broken)
		pthread_cond_wait(&out->room, &out->lock);
	if (!out->muted) {
		ws_output_add_line(out, record);
		/* the timer flushes what waits, unless something else does so first */
		if (clock_monotonic_ms() - out->flushed > TOGETHER_MS)
			ws_output_flush(out);
		else if (!out->armed)
			out->armed = timerfd_settime(out->timer, 0, &soon, NULL) == 0;
	}
	pthread_mutex_unlock(&out->lock);
}

void output_mute(struct output *out)
{
	pthread_mutex_lock(&out->lock);
	out->muted = true;
	/* a line that was begun is sent to its end, or it would run into the next one */
	const char *from = ws_output_left(out) ? out->waiting.data + out->sent : NULL;
	if (from && (out->sent == 0 || from[-1] == '\n'))
		out->waiting.len = out->sent;
	else if (from)
		out->waiting.len = (size_t)((const char *)memchr(from, '\n', ws_output_left(out)) -
				       out->waiting.data) +
		    1;
	pthread_cond_broadcast(&out->room);
	pthread_mutex_unlock(&out->lock);
}

void output_break(struct output *out)
{
	pthread_mutex_lock(&out->lock);
	out->broken = true;
	ws_output_empty(out);
	pthread_cond_broadcast(&out->room);
	pthread_mutex_unlock(&out->lock);
}

size_t output_waiting(struct output *out)
{
	pthread_mutex_lock(&out->lock);
	size_t waiting = ws_output_left(out);
	pthread_mutex_unlock(&out->lock);
	return waiting;
}

bool output_is_waiting(struct output *out)
{
	return output_waiting(out) > 0;
}

bool output_is_muted(struct output *out)
{
	pthread_mutex_lock(&out->lock);
	bool muted = out->muted;
	pthread_mutex_unlock(&out->lock);
	return muted;
}

bool output_is_broken(struct output *out)
{
	pthread_mutex_lock(&out->lock);
	bool broken = out->broken;
	pthread_mutex_unlock(&out->lock);
	return broken;
}
