#include "ws_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEEP_SIZE 65536

void output_init(struct output *out, int fd, int wake)
{
	struct stat st;
	*out = (struct output){.fd = fd, .wake = wake};
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
}

static size_t left(const struct output *out)
{
	return out->waiting.len - out->sent;
}

static void empty(struct output *out)
{
	if (out->waiting.size > KEEP_SIZE)
		buf_release(&out->waiting);
	else
		buf_reset(&out->waiting);
	out->sent = 0;
}

static void give_up(struct output *out)
{
	out->broken = true;
	empty(out);
	pthread_cond_broadcast(&out->room);
}

/* As many bytes as the descriptor takes; 0 when it takes none now or ever. */
static size_t put(struct output *out, const char *data, size_t len)
{
	ssize_t n;
	do
		n = write(out->fd, data, len);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno != EAGAIN)
		give_up(out);
	return n > 0 ? (size_t)n : 0;
}

void output_wake(struct output *out)
{
	uint64_t one = 1;
	if (write(out->wake, &one, sizeof(one)) < 0)
		return; /* it is full of wake-ups already */
}

/* Straight to the descriptor when nothing waits, so that mostly no other thread is needed. */
static void send_line(struct output *out, struct buf *record)
{
	buf_putc(record, '\n');
	if (out->broken)
		return;
	if (left(out)) {
		buf_add(&out->waiting, record->data, record->len);
		return;
	}
	size_t n = put(out, record->data, record->len);
	if (out->broken || n == record->len)
		return;
	empty(out);
	/* What was written stays in front of the rest: output_mute sees where the line began. */
	buf_add(&out->waiting, record->data, record->len);
	out->sent = n;
	output_wake(out);
}

void output_send(struct output *out, struct buf *record)
{
	pthread_mutex_lock(&out->lock);
	send_line(out, record);
	pthread_mutex_unlock(&out->lock);
}

void output_chunk(struct output *out, struct buf *record)
{
	pthread_mutex_lock(&out->lock);
	while (left(out) > OUTPUT_AHEAD && !out->muted && !out->broken)
		pthread_cond_wait(&out->room, &out->lock);
	if (!out->muted)
		send_line(out, record);
	pthread_mutex_unlock(&out->lock);
}

/* The end of the line that was begun: one that is cut would make nonsense of the next one. */
static size_t end_of_begun_line(const struct output *out)
{
	const char *data = out->waiting.data;
	if (out->sent == 0 || data[out->sent - 1] == '\n')
		return out->sent;
	const char *end = memchr(data + out->sent, '\n', left(out));
	return (size_t)(end - data) + 1;
}

void output_mute(struct output *out)
{
	pthread_mutex_lock(&out->lock);
	out->muted = true;
	if (left(out))
		out->waiting.len = end_of_begun_line(out);
	pthread_cond_broadcast(&out->room);
	pthread_mutex_unlock(&out->lock);
}

/* Forgets what was sent, but for the beginning of the line that is under way. */
static void compact(struct output *out)
{
	if (!left(out)) {
		empty(out);
		return;
	}
	if (out->sent < KEEP_SIZE)
		return;
	size_t surplus = out->sent - 1; /* the last byte tells whether a line was begun */
	memmove(out->waiting.data, out->waiting.data + surplus, out->waiting.len - surplus + 1);
	out->waiting.len -= surplus;
	out->sent = 1;
}

void output_flush(struct output *out)
{
	pthread_mutex_lock(&out->lock);
	if (left(out)) {
		size_t n = put(out, out->waiting.data + out->sent, left(out));
		out->sent += n;
	}
	compact(out);
	if (left(out) <= OUTPUT_AHEAD)
		pthread_cond_broadcast(&out->room);
	pthread_mutex_unlock(&out->lock);
}

bool output_is_waiting(struct output *out)
{
	pthread_mutex_lock(&out->lock);
	bool waiting = left(out) > 0;
	pthread_mutex_unlock(&out->lock);
	return waiting;
}

bool output_is_broken(struct output *out)
{
	pthread_mutex_lock(&out->lock);
	bool broken = out->broken;
	pthread_mutex_unlock(&out->lock);
	return broken;
}
