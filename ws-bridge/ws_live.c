/* SPDX-License-Identifier: ISC */
/* The loop of a live socket: records to the session, its events to records. */
#include "ws-bridge/ws_session.h"

#include "base/log/log.h"
#include "base/os/clock.h"
#include "service/live/live.h"
#include "ws-bridge/ws_socket.h"

struct live_socket {
	struct live_sink sink; /* first: a sink is its socket */
	struct live *live;
	struct ws_socket socket;
};

/* ---- out: each record is sent at once ---- */

static void ws_live_send_event(struct live_sink *sink, const char *json, size_t len)
{
	struct ws_socket *s = &((struct live_socket *)sink)->socket;
	record_text(&s->record, json, len);
	ws_socket_send(s);
}

static void ws_live_send_audio(struct live_sink *sink, const void *pcm, size_t bytes)
{
	struct ws_socket *s = &((struct live_socket *)sink)->socket;
	record_binary(&s->record, pcm, bytes);
	ws_socket_send(s);
}

static void ws_live_send_close(struct live_sink *sink, int code, const char *reason)
{
	struct ws_socket *s = &((struct live_socket *)sink)->socket;
	record_close(&s->record, code, reason);
	ws_socket_send(s);
}

static bool ws_live_is_full(struct live_sink *sink)
{
	struct ws_socket *s = &((struct live_socket *)sink)->socket;
	return output_waiting(&s->out) > OUTPUT_AHEAD;
}

/* ---- in ---- */

/* Takes what has come, and lets the session react to each record before the next one. */
static void ws_live_take_input(struct live_socket *s)
{
	struct record record;
	enum ws_said said;
	input_read(&s->socket.in);
	while ((said = ws_socket_next(&s->socket, &record)) != WS_NOTHING) {
		s->socket.dirty = true;
		switch (said) {
		case WS_TEXT:
			live_text(s->live, record.data, record.len);
			break;
		case WS_BINARY:
			live_audio(s->live, record.data, record.len);
			break;
		case WS_LARGE_TEXT:
		case WS_LARGE_BINARY:
			live_large(s->live, said == WS_LARGE_BINARY);
			break;
		case WS_GONE:
			output_mute(&s->socket.out);
			live_gone(s->live);
			break;
		case WS_NONSENSE:
			if (!live_is_closed(s->live))
				ws_live_send_close(&s->sink, 1011, "Internal error");
			s->socket.gone = true;
			live_gone(s->live);
			break;
		case WS_NOTHING:
			break;
		}
		live_step(s->live);
	}
	if (s->socket.in.ended)
		live_gone(s->live);
}

/* ---- the loop ---- */

bool ws_live_run(struct service *service, const struct session_setup *setup)
{
	const struct ticket *ticket = setup->ticket;
	cJSON *user = cJSON_Duplicate(ticket->user, true); /* permissions leave a stamp on it */
	const struct identity identity = ticket_identity(ticket, user);
	const struct environment *env = &service->config->env;
	/* in the worst case every byte of a text is stuffed; audio is a third longer in base64 */
	size_t text = 2 * (size_t)env->max_request_size;
	size_t audio = ((size_t)env->realtime_max_frame_bytes + 2) / 3 * 4;
	struct live_socket s = {.sink = {.event = ws_live_send_event,
				    .audio = ws_live_send_audio,
				    .close = ws_live_send_close,
				    .full = ws_live_is_full}};
	ws_socket_open(&s.socket, setup, text > audio ? text : audio);
	log_request(ticket->request_id);
	const struct live_setup live = {.service = service,
	    .identity = &identity,
	    .request_id = ticket->request_id,
	    .sink = &s.sink,
	    .now = clock_monotonic_ms};
	s.live = live_new(&live);
	for (;;) {
		if (output_is_broken(&s.socket.out))
			live_gone(s.live);
		if (live_is_over(s.live) && ws_socket_is_over(&s.socket))
			break;
		struct pollfd fds[WS_FDS + LIVE_FDS];
		ws_socket_watch(&s.socket, fds);
		int timeout = live_poll(s.live, fds + WS_FDS);
		bool rests = s.socket.dirty && (timeout < 0 || timeout > WS_TRIM_AFTER);
		int ready = poll(fds, WS_FDS + LIVE_FDS, rests ? WS_TRIM_AFTER : timeout);
		if (ready == 0 && rests)
			ws_socket_trim(&s.socket);
		unsigned interrupts = s.socket.interrupts;
		ws_socket_polled(&s.socket, fds);
		if (s.socket.interrupts != interrupts)
			live_stop(s.live);
		if (fds[WS_FD_IN].revents)
			ws_live_take_input(&s);
		live_step(s.live);
	}
	log_request(NULL);
	if (!live_free(s.live))
		return false;
	cJSON_Delete(user);
	ws_socket_release(&s.socket);
	return true;
}
