/* SPDX-License-Identifier: ISC */
/* Reading into one buffer, giving lines out of it, and skipping those too long. */
#include "ws-bridge/ws_input.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define READ_SIZE 16384
#define KEEP_SIZE 65536 /* a buffer that grew over this is given back once it is empty */

void input_release(struct input *in)
{
	buf_release(&in->data);
	in->start = in->scanned = 0;
}

/* Moves what is left to the front; memory that a long line took goes back to the system. */
static void ws_input_compact(struct input *in)
{
	size_t left = in->data.len - in->start;
	if (left == 0 && in->data.size > KEEP_SIZE)
		buf_release(&in->data);
	if (in->start && left)
		memmove(in->data.data, in->data.data + in->start, left);
	in->data.len = left;
	in->scanned -= in->start;
	in->start = 0;
}

void input_read(struct input *in)
{
	if (in->start == in->data.len)
		ws_input_compact(in);
	char *room = buf_reserve(&in->data, READ_SIZE);
	ssize_t n = read(in->fd, room, READ_SIZE);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		in->ended = true;
		return;
	}
	in->data.len += (size_t)n;
	in->data.data[in->data.len] = '\0';
}

char *input_line(struct input *in, size_t *len, bool *cut)
{
	if (in->scanned == in->data.len)
		return NULL;
	char *end = memchr(in->data.data + in->scanned, '\n', in->data.len - in->scanned);
	if (!end) {
		in->scanned = in->data.len;
		ws_input_compact(in);
		if (in->skipping || in->data.len > in->limit) {
			in->skipping = true; /* its first byte says what it was to be */
			in->data.len = in->scanned = 1;
		}
		return NULL;
	}
	char *from = in->data.data + in->start;
	*cut = in->skipping || (size_t)(end - from) > in->limit;
	*len = in->skipping ? 1 : (size_t)(end - from);
	from[*len] = '\0';
	in->skipping = false;
	in->start = in->scanned = (size_t)(end - in->data.data) + 1;
	return from;
}
