/* SPDX-License-Identifier: ISC */
/* The loop of a live socket: records to the session, its events to records. */
#include "ws-bridge/ws_session.h"

#include "base/json/json.h"
#include "base/log/log.h"
#include "base/os/clock.h"
#include "service/live/live.h"
#include "ws-bridge/record.h"
#include "ws-bridge/ws_input.h"
#include "ws-bridge/ws_output.h"

#include <malloc.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define RECORD_ROOM 16
#define TRIM_AFTER 1000 /* milliseconds of rest before free memory is given back */

/* What poll waits for. */
enum { FD_IN, FD_OUT, FD_WAKE, FD_SIGNALS, FD_LIVE, FD_COUNT = FD_LIVE + LIVE_FDS };

struct live_socket {
	struct live_sink sink; /* first: a sink is its socket */
	struct live *live;
	struct input in;
	struct output out;
	struct buf record;
	int signals;
	unsigned interrupts;
	bool gone, bye;
	bool dirty; /* something was done since free memory was last given back */
};

/* ---- out: each record is sent at once ---- */

static void ws_live_send_record(struct live_socket *s)
{
	output_send(&s->out, &s->record);
	buf_reset(&s->record);
}

static void ws_live_send_event(struct live_sink *sink, const char *json, size_t len)
{
	struct live_socket *s = (struct live_socket *)sink;
	record_text(&s->record, json, len);
	ws_live_send_record(s);
}

static void ws_live_send_audio(struct live_sink *sink, const void *pcm, size_t bytes)
{
	struct live_socket *s = (struct live_socket *)sink;
	record_binary(&s->record, pcm, bytes);
	ws_live_send_record(s);
}

static void ws_live_send_close(struct live_sink *sink, int code, const char *reason)
{
	struct live_socket *s = (struct live_socket *)sink;
	record_close(&s->record, code, reason);
	ws_live_send_record(s);
}

static bool ws_live_is_full(struct live_sink *sink)
{
	struct live_socket *s = (struct live_socket *)sink;
	return output_waiting(&s->out) > OUTPUT_AHEAD;
}

/* ---- in ---- */

static void ws_live_fail_record(struct live_socket *s, char kind)
{
	log_error("record of kind 0x%02x is not understood", (unsigned char)kind);
	if (!live_is_closed(s->live))
		ws_live_send_close(&s->sink, 1011, "Internal error");
	s->gone = true;
	live_gone(s->live);
}

/* Takes the lines that have come, and lets the session react to each before the next one. */
static void ws_live_take_lines(struct live_socket *s)
{
	size_t len;
	bool cut;
	char *line;
	input_read(&s->in);
	while ((line = input_line(&s->in, &len, &cut))) {
		struct record record;
		s->dirty = true;
		/* of a line that was cut only the kind is known, and that is enough */
		if (cut && (*line == RECORD_TEXT || *line == RECORD_BINARY)) {
			live_large(s->live, *line == RECORD_BINARY);
		} else if (cut || !record_parse(line, len, &record)) {
			ws_live_fail_record(s, *line);
		} else if (record.kind == RECORD_TEXT) {
			live_text(s->live, record.data, record.len);
		} else if (record.kind == RECORD_BINARY) {
			live_audio(s->live, record.data, record.len);
		} else if (record.kind == RECORD_GONE) {
			s->gone = true;
			output_mute(&s->out);
			live_gone(s->live);
		} else {
			ws_live_fail_record(s, (char)record.kind);
		}
		live_step(s->live);
	}
	if (s->in.ended)
		live_gone(s->live);
}

/* ---- the loop ---- */

/* Sends BYE when it is due; false when the connection is over. */
static bool ws_live_go_on(struct live_socket *s)
{
	if (output_is_broken(&s->out))
		live_gone(s->live);
	if (!live_is_over(s->live))
		return true;
	if (s->gone && !s->bye) {
		s->bye = true;
		record_signal(&s->record, RECORD_BYE);
		ws_live_send_record(s);
	}
	if (output_is_waiting(&s->out))
		return true;
	return !s->in.ended && s->interrupts < 2;
}

static void ws_live_wait_for_something(struct live_socket *s)
{
	struct pollfd fds[FD_COUNT] = {
	    [FD_IN] = {s->in.ended ? -1 : s->in.fd, POLLIN, 0},
	    [FD_OUT] = {output_is_waiting(&s->out) ? s->out.fd : -1, POLLOUT, 0},
	    [FD_WAKE] = {s->out.wake, POLLIN, 0},
	    [FD_SIGNALS] = {s->signals, POLLIN, 0},
	};
	struct signalfd_siginfo info;
	int timeout = live_poll(s->live, fds + FD_LIVE);
	bool rests = s->dirty && (timeout < 0 || timeout > TRIM_AFTER);
	int wait = rests ? TRIM_AFTER : timeout;
	int ready = poll(fds, FD_COUNT, wait);
	if (ready == 0 && wait != timeout) {
		malloc_trim(0);
		s->dirty = false;
	}
	if (fds[FD_SIGNALS].revents) {
		if (read(s->signals, &info, sizeof(info)) == sizeof(info))
			s->interrupts++;
		live_stop(s->live);
	}
	if (fds[FD_IN].revents)
		ws_live_take_lines(s);
	if (fds[FD_OUT].revents)
		output_flush(&s->out);
	if (fds[FD_WAKE].revents)
		output_woken(&s->out);
	live_step(s->live);
}

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
				    .full = ws_live_is_full},
	    .signals = setup->signals,
	    .in = {.fd = STDIN_FILENO, .limit = (text > audio ? text : audio) + RECORD_ROOM}};
	output_init(&s.out, STDOUT_FILENO);
	s.out.joins = setup->joins;
	record_ready(&s.record);
	ws_live_send_record(&s);
	log_request(ticket->request_id);
	const struct live_setup live = {.service = service,
	    .identity = &identity,
	    .request_id = ticket->request_id,
	    .sink = &s.sink,
	    .now = clock_monotonic_ms};
	s.live = live_new(&live);
	while (ws_live_go_on(&s))
		ws_live_wait_for_something(&s);
	log_request(NULL);
	if (!live_free(s.live))
		return false;
	cJSON_Delete(user);
	output_release(&s.out);
	input_release(&s.in);
	buf_release(&s.record);
	return true;
}
