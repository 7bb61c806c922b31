/* SPDX-License-Identifier: ISC */
/* Records in and out, what poll waits for, and BYE. */
#include "ws-bridge/ws_socket.h"

#include "base/log/log.h"

#include <malloc.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define RECORD_ROOM 16 /* what a record has beside its text */

void ws_socket_open(struct ws_socket *s, const struct session_setup *setup, size_t longest)
{
	*s = (struct ws_socket){.signals = setup->signals};
	s->in = (struct input){.fd = STDIN_FILENO, .limit = longest + RECORD_ROOM};
	output_init(&s->out, STDOUT_FILENO);
	s->out.joins = setup->joins;
	record_ready(&s->record);
	ws_socket_send(s);
}

void ws_socket_release(struct ws_socket *s)
{
	output_release(&s->out);
	input_release(&s->in);
	buf_release(&s->record);
}

void ws_socket_send(struct ws_socket *s)
{
	output_send(&s->out, &s->record);
	buf_reset(&s->record);
}

enum ws_said ws_socket_next(struct ws_socket *s, struct record *record)
{
	size_t len;
	bool cut;
	char *line = input_line(&s->in, &len, &cut);
	if (!line)
		return WS_NOTHING;
	/* of a line that was cut only the kind is known, and that is enough */
	if (cut && *line == RECORD_TEXT)
		return WS_LARGE_TEXT;
	if (cut && *line == RECORD_BINARY)
		return WS_LARGE_BINARY;
	if (!cut && record_parse(line, len, record)) {
		switch (record->kind) {
		case RECORD_TEXT:
			return WS_TEXT;
		case RECORD_BINARY:
			return WS_BINARY;
		case RECORD_GONE:
			s->gone = true;
			return WS_GONE;
		case RECORD_MORE:
		case RECORD_READY:
		case RECORD_REFUSE:
		case RECORD_CLOSE:
		case RECORD_BYE:
		case RECORD_HOLD:
		case RECORD_ON:
			break; /* a relay says none of these */
		}
	}
	log_error("record of kind 0x%02x is not understood", (unsigned char)*line);
	return WS_NONSENSE;
}

void ws_socket_watch(struct ws_socket *s, struct pollfd fds[WS_FDS])
{
	bool waiting = output_is_waiting(&s->out);
	fds[WS_FD_IN] = (struct pollfd){s->in.ended ? -1 : s->in.fd, POLLIN, 0};
	fds[WS_FD_OUT] = (struct pollfd){waiting ? s->out.fd : -1, POLLOUT, 0};
	fds[WS_FD_WAKE] = (struct pollfd){s->out.wake, POLLIN, 0};
	fds[WS_FD_TIMER] = (struct pollfd){s->out.timer, POLLIN, 0};
	fds[WS_FD_SIGNALS] = (struct pollfd){s->signals, POLLIN, 0};
}

void ws_socket_polled(struct ws_socket *s, const struct pollfd fds[WS_FDS])
{
	struct signalfd_siginfo info;
	if (fds[WS_FD_OUT].revents)
		output_flush(&s->out);
	if (fds[WS_FD_WAKE].revents || fds[WS_FD_TIMER].revents)
		output_woken(&s->out);
	if (fds[WS_FD_SIGNALS].revents && read(s->signals, &info, sizeof(info)) == sizeof(info))
		s->interrupts++;
}

void ws_socket_trim(struct ws_socket *s)
{
	malloc_trim(0);
	s->dirty = false;
}

bool ws_socket_is_over(struct ws_socket *s)
{
	if (s->gone && !s->bye) {
		s->bye = true;
		record_signal(&s->record, RECORD_BYE);
		ws_socket_send(s);
	}
	return !output_is_waiting(&s->out) && (s->in.ended || s->interrupts >= 2);
}
