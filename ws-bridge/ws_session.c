/* SPDX-License-Identifier: ISC */
/* The loop of a turn socket: records, frames held back, signals, and BYE. */
#include "ws-bridge/ws_session.h"

#include "base/json/json.h"
#include "base/log/log.h"
#include "base/os/clock.h"
#include "service/run/socket.h"
#include "ws-bridge/record.h"
#include "ws-bridge/ws_input.h"
#include "ws-bridge/ws_output.h"

#include <malloc.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* When so many frames wait the client is not read until they are fewer
 * (doc/protocol-sockets.md#frames). */
#define WAITING_MAX 16
#define WAITING_LOW 8

#define RECORD_ROOM 16  /* what a record has beside its text */
#define TRIM_AFTER 1000 /* milliseconds of rest before free memory is given back */

/* What poll waits for. */
enum { FD_IN, FD_OUT, FD_WAKE, FD_TIMER, FD_SIGNALS, FD_COUNT };

struct session {
	struct input in;
	struct output out;
	struct turns *turns;
	struct buf record; /* of the main thread */
	size_t large;      /* a frame of more bytes is refused unread */
	int signals;
	unsigned interrupts; /* signals that came */
	bool held;           /* the relay was told not to read the client */
	bool closing;        /* the last record for the client was sent */
	bool gone;           /* the client is */
	bool bye;
	bool dirty; /* frames were handled since free memory was last given back */
};

struct refusal {
	struct chunk_sink sink; /* first: a sink is its refusal */
	struct session *session;
};

/* ---- out ---- */

static void ws_session_send_record(struct session *s)
{
	output_send(&s->out, &s->record);
	buf_reset(&s->record);
}

static void ws_session_send_signal(struct session *s, enum record_kind kind)
{
	record_signal(&s->record, kind);
	ws_session_send_record(s);
}

/* Closes the client, once; frames that still come are not looked at. */
static void ws_session_close_client(struct session *s, int code, const char *reason)
{
	if (s->closing || s->gone)
		return;
	s->closing = true;
	record_close(&s->record, code, reason);
	ws_session_send_record(s);
}

/* The one chunk that a live graph has for this socket (doc/protocol-sockets.md#frames). */
static void ws_session_refuse(struct chunk_sink *sink, const char *json, size_t len)
{
	struct refusal *refusal = (struct refusal *)sink;
	record_text(&refusal->session->record, json, len);
	ws_session_send_record(refusal->session);
}

/* ---- in ---- */

/* Gives up after a line that a relay would not send: the two do not understand each other. */
static void ws_session_fail_record(struct session *s, char kind)
{
	log_error("record of kind 0x%02x is not understood", (unsigned char)kind);
	ws_session_close_client(s, 1011, "Internal error");
}

static void ws_session_take_frame(
    struct session *s, enum frame_kind kind, const char *text, size_t len)
{
	if (s->closing || s->gone || s->interrupts)
		return;
	if (kind == FRAME_TEXT && len > s->large)
		kind = FRAME_LARGE;
	s->dirty = true;
	turns_push(s->turns, kind, text, len);
}

static void ws_session_take_record(struct session *s, const struct record *record)
{
	switch (record->kind) {
	case RECORD_TEXT:
		ws_session_take_frame(s, FRAME_TEXT, record->data, record->len);
		return;
	case RECORD_BINARY:
		ws_session_take_frame(s, FRAME_BINARY, NULL, 0);
		return;
	case RECORD_GONE:
		s->gone = true;
		turns_drop_waiting(s->turns);
		output_mute(&s->out);
		return;
	case RECORD_MORE:
	case RECORD_READY:
	case RECORD_REFUSE:
	case RECORD_CLOSE:
	case RECORD_BYE:
	case RECORD_HOLD:
	case RECORD_ON:
		break;
	}
	ws_session_fail_record(s, (char)record->kind);
}

static void ws_session_take_lines(struct session *s)
{
	size_t len;
	bool cut;
	char *line;
	input_read(&s->in);
	while ((line = input_line(&s->in, &len, &cut))) {
		/* of a line that was cut only the kind is known, and that is enough */
		struct record record;
		if (cut && *line == RECORD_TEXT)
			ws_session_take_frame(s, FRAME_LARGE, NULL, 0);
		else if (cut && *line == RECORD_BINARY)
			ws_session_take_frame(s, FRAME_BINARY, NULL, 0);
		else if (!cut && record_parse(line, len, &record))
			ws_session_take_record(s, &record);
		else
			ws_session_fail_record(s, *line);
	}
}

/* ---- what is due ---- */

/* Tells the relay to hold the client, or to go on: only so many frames, and bytes of them, wait
 * here. */
static void ws_session_hold_or_go_on(struct session *s, const struct turns_state *turns)
{
	bool full = turns->waiting >= WAITING_MAX || turns->bytes > 2 * s->large;
	bool low = turns->waiting <= WAITING_LOW && turns->bytes <= s->large;
	if (s->held ? !low : !full)
		return;
	s->held = !s->held;
	ws_session_send_signal(s, s->held ? RECORD_HOLD : RECORD_ON);
	output_wake(
	    &s->out); /* to look once more: frames may have ended before they were watched */
}

/* Sends what is due; false when the connection is over. */
static bool ws_session_go_on(struct session *s)
{
	bool ending = s->interrupts || s->gone || s->in.ended;
	/* a relay says that the client is gone before it ends: this one has died, and websocketd,
	 * which keeps the other end of the output, reads nothing for it */
	if (s->in.ended && !s->gone && s->out.joins)
		output_break(&s->out);
	if (s->interrupts || output_is_broken(&s->out))
		turns_drop_waiting(s->turns);
	struct turns_state turns = turns_look(s->turns, ending || s->held);
	if (turns.end == TURNS_EXPIRED)
		ws_session_close_client(s, 1008, "Session expired");
	if (turns.end == TURNS_FAILED)
		ws_session_close_client(s, 1011, "Internal error");
	if (!s->gone && !s->closing && !s->in.ended)
		ws_session_hold_or_go_on(s, &turns);
	if (turns.busy)
		return true;
	if (s->gone && !s->bye) {
		s->bye = true;
		ws_session_send_signal(s, RECORD_BYE);
	}
	if (s->interrupts && !s->in.ended)
		ws_session_close_client(s, 1001, "Shutting down");
	if (output_is_waiting(&s->out))
		return true;
	return !s->in.ended && s->interrupts < 2;
}

/* ---- the loop ---- */

static void ws_session_wait_for_something(struct session *s)
{
	struct pollfd fds[FD_COUNT] = {
	    [FD_IN] = {s->in.ended ? -1 : s->in.fd, POLLIN, 0},
	    [FD_OUT] = {output_is_waiting(&s->out) ? s->out.fd : -1, POLLOUT, 0},
	    [FD_WAKE] = {s->out.wake, POLLIN, 0},
	    [FD_TIMER] = {s->out.timer, POLLIN, 0},
	    [FD_SIGNALS] = {s->signals, POLLIN, 0},
	};
	struct signalfd_siginfo info;
	int ready = poll(fds, FD_COUNT, s->dirty ? TRIM_AFTER : -1);
	/* an idle connection should cost little, whatever its runs had needed */
	if (ready == 0 && !turns_look(s->turns, false).busy) {
		malloc_trim(0);
		s->dirty = false;
	}
	if (ready <= 0)
		return;
	if (fds[FD_IN].revents)
		ws_session_take_lines(s);
	if (fds[FD_OUT].revents)
		output_flush(&s->out);
	if (fds[FD_WAKE].revents || fds[FD_TIMER].revents)
		output_woken(&s->out);
	if (fds[FD_SIGNALS].revents && read(s->signals, &info, sizeof(info)) == sizeof(info))
		s->interrupts++;
}

void session_run(struct service *service, const struct session_setup *setup)
{
	struct session s = {
	    .signals = setup->signals, .large = (size_t)service->config->env.max_request_size};
	/* in the worst case every byte of a text is stuffed */
	s.in = (struct input){.fd = STDIN_FILENO, .limit = 2 * s.large + RECORD_ROOM};
	output_init(&s.out, STDOUT_FILENO);
	s.out.joins = setup->joins;
	s.turns = turns_new(service, setup->ticket, &s.out);
	record_ready(&s.record);
	ws_session_send_record(&s);
	if (service->graph->live) {
		struct refusal refusal = {.sink = {.chunk = ws_session_refuse}, .session = &s};
		struct call call;
		call_init(&call, service, NULL);
		socket_refuse_live(&call, &refusal.sink);
		call_release(&call);
		ws_session_close_client(&s, 1008, "Graph is live");
	}
	while (ws_session_go_on(&s))
		ws_session_wait_for_something(&s);
	turns_free(s.turns);
	output_release(&s.out);
	input_release(&s.in);
	buf_release(&s.record);
}
