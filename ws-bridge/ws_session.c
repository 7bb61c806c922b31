/* SPDX-License-Identifier: ISC */
/* The loop of a turn socket: records, frames held back, signals, and BYE. */
#include "ws-bridge/ws_session.h"

#include "service/run/socket.h"
#include "ws-bridge/ws_socket.h"

/* When so many frames wait the client is not read until they are fewer
 * (doc/protocol-sockets.md#frames). */
#define WAITING_MAX 16
#define WAITING_LOW 8

struct session {
	struct ws_socket socket;
	struct turns *turns;
	size_t large; /* a frame of more bytes is refused unread */
	bool held;    /* the relay was told not to read the client */
	bool closing; /* the last record for the client was sent */
};

struct refusal {
	struct chunk_sink sink; /* first: a sink is its refusal */
	struct ws_socket *socket;
};

/* ---- out ---- */

/* Closes the client, once; frames that still come are not looked at. */
static void ws_session_close_client(struct session *s, int code, const char *reason)
{
	if (s->closing || s->socket.gone)
		return;
	s->closing = true;
	record_close(&s->socket.record, code, reason);
	ws_socket_send(&s->socket);
}

/* The one chunk that a live graph has for this socket (doc/protocol-sockets.md#frames). */
static void ws_session_refuse(struct chunk_sink *sink, const char *json, size_t len)
{
	struct ws_socket *socket = ((struct refusal *)sink)->socket;
	record_text(&socket->record, json, len);
	ws_socket_send(socket);
}

/* ---- in ---- */

static void ws_session_take_frame(
    struct session *s, enum frame_kind kind, const char *text, size_t len)
{
	if (s->closing || s->socket.gone || s->socket.interrupts)
		return;
	if (kind == FRAME_TEXT && len > s->large)
		kind = FRAME_LARGE;
	s->socket.dirty = true;
	turns_push(s->turns, kind, text, len);
}

static void ws_session_take_input(struct session *s)
{
	struct record record;
	input_read(&s->socket.in);
	for (;;) {
		switch (ws_socket_next(&s->socket, &record)) {
		case WS_TEXT:
			ws_session_take_frame(s, FRAME_TEXT, record.data, record.len);
			break;
		case WS_LARGE_TEXT:
			ws_session_take_frame(s, FRAME_LARGE, NULL, 0);
			break;
		case WS_BINARY:
		case WS_LARGE_BINARY:
			ws_session_take_frame(s, FRAME_BINARY, NULL, 0);
			break;
		case WS_GONE:
			turns_drop_waiting(s->turns);
			output_mute(&s->socket.out);
			break;
		case WS_NONSENSE:
			ws_session_close_client(s, 1011, "Internal error");
			break;
		case WS_NOTHING:
			return;
		}
	}
}

/* ---- what is due ---- */

/* Sends what is due; false when the connection is over. */
static bool ws_session_go_on(struct session *s)
{
	struct ws_socket *socket = &s->socket;
	bool ending = socket->interrupts || socket->gone || socket->in.ended;
	/* a relay says that the client is gone before it ends: this one has died, and websocketd,
	 * which keeps the other end of the output, reads nothing for it */
	if (socket->in.ended && !socket->gone && socket->out.joins)
		output_break(&socket->out);
	if (socket->interrupts || output_is_broken(&socket->out))
		turns_drop_waiting(s->turns);
	struct turns_state turns = turns_look(s->turns, ending || s->held);
	if (turns.end == TURNS_EXPIRED)
		ws_session_close_client(s, 1008, "Session expired");
	if (turns.end == TURNS_FAILED)
		ws_session_close_client(s, 1011, "Internal error");
	/* the relay holds the client, or goes on: only so many frames and bytes wait here */
	bool full = turns.waiting >= WAITING_MAX || turns.bytes > 2 * s->large;
	bool low = turns.waiting <= WAITING_LOW && turns.bytes <= s->large;
	if (!socket->gone && !s->closing && !socket->in.ended && (s->held ? low : full)) {
		s->held = !s->held;
		record_signal(&socket->record, s->held ? RECORD_HOLD : RECORD_ON);
		ws_socket_send(socket);
		/* to look once more: frames may have ended before they were watched */
		output_wake(&socket->out);
	}
	if (turns.busy)
		return true;
	if (socket->interrupts && !socket->in.ended)
		ws_session_close_client(s, 1001, "Shutting down");
	return !ws_socket_is_over(socket);
}

/* ---- the loop ---- */

void session_run(struct service *service, const struct session_setup *setup)
{
	struct session s = {.large = (size_t)service->config->env.max_request_size};
	/* in the worst case every byte of a text is stuffed */
	ws_socket_open(&s.socket, setup, 2 * s.large);
	s.turns = turns_new(service, setup->ticket, &s.socket.out);
	if (service->graph->live) {
		struct refusal refusal = {
		    .sink = {.chunk = ws_session_refuse}, .socket = &s.socket};
		struct call call;
		call_init(&call, service, NULL);
		socket_refuse_live(&call, &refusal.sink);
		call_release(&call);
		ws_session_close_client(&s, 1008, "Graph is live");
	}
	while (ws_session_go_on(&s)) {
		struct pollfd fds[WS_FDS];
		ws_socket_watch(&s.socket, fds);
		int ready = poll(fds, WS_FDS, s.socket.dirty ? WS_TRIM_AFTER : -1);
		if (ready == 0 && !turns_look(s.turns, false).busy)
			ws_socket_trim(&s.socket);
		if (ready <= 0)
			continue;
		if (fds[WS_FD_IN].revents)
			ws_session_take_input(&s);
		ws_socket_polled(&s.socket, fds);
	}
	turns_free(s.turns);
	ws_socket_release(&s.socket);
}
