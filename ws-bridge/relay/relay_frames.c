/* SPDX-License-Identifier: ISC */
/* wslay's callbacks and the checks it lacks, and queueing messages and close frames. */
#include "ws-bridge/relay/relay_frames.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wslay/wslay.h>

#define CODES_OF_WSLAY 1011 /* wslay takes the later codes up to CODES_KNOWN for mistakes */
#define CODES_KNOWN 1014
#define CLOSE_FRAME 0x88 /* the first byte of a close frame */
#define PONGS_MOST 65536 /* bytes of pongs that may wait for a peer; further pings get none */

struct frames {
	wslay_event_context_ptr wslay;
	struct frames_setup setup;
	struct buf message; /* the fragments so far; empty between messages */
	const char *in;     /* what wslay has not asked for yet */
	size_t in_len;
	uint64_t payload; /* bytes of the present frame that wslay has not asked for yet */
	struct buf rest;  /* the beginning of a frame that wslay is not to see yet */
	bool data_frame;  /* the frame that arrives belongs to a message, and is no control frame */
	bool binary;      /* the message that arrives is binary */
	bool stopped;     /* nothing more is read */
	bool begun;       /* fragments of a message were sent, and its end was not */
	size_t pongs;     /* bytes of pongs that may still wait in the buffer */
	bool silent;      /* what wslay sends is dropped */
	int code;         /* see frames_code */
	int answer;       /* of the close frame to send at the end of a feed; 0: none */
};

/* ---- The end of what is read */

static struct buf frames_detach(struct frames *frames)
{
	struct buf message = frames->message;
	if (frames->setup.room)
		frames->setup.room->used -= message.len;
	frames->message = (struct buf){0};
	return message;
}

static void relay_frames_forget(struct frames *frames)
{
	struct buf message = frames_detach(frames);
	buf_release(&message);
}

/* Reads no further.  wslay itself goes on until its callback returns. */
static void relay_frames_stop(struct frames *frames)
{
	frames->stopped = true;
	frames->in_len = 0;
	wslay_event_shutdown_read(frames->wslay);
	relay_frames_forget(frames);
}

/* Callbacks cannot answer: frames_feed does. */
static void relay_frames_fail(struct frames *frames, int code)
{
	relay_frames_stop(frames);
	frames->code = frames->answer = code;
}

/* ---- What wslay calls */

/*
 * How many bytes of a frame that begins here can be given to wslay: those of its head, or of a
 * whole control frame; 0 when they have not all arrived.  If a close frame came in pieces wslay
 * would skip two bytes of each when it checks the reason, and could take that for invalid UTF-8.
 */
static size_t relay_frames_begin(struct frames *frames)
{
	const unsigned char *in = (const unsigned char *)frames->in;
	if (frames->in_len < 2)
		return 0;
	size_t len = in[1] & 127;
	size_t more = len == 126 ? 2 : len == 127 ? 8 : 0;
	size_t head = 2 + more + (in[1] & 128 ? 4 : 0);
	uint8_t opcode = in[0] & 15;
	bool whole = wslay_is_ctrl_frame(opcode) && !more; /* longer ones are refused */
	size_t part = whole ? head + len : head;
	if (frames->in_len < part)
		return 0;
	bool masked = in[1] & 128;
	if (in[0] == CLOSE_FRAME && whole && len >= 2 &&
	    masked == (frames->setup.role == FRAMES_OF_CLIENT)) {
		static const unsigned char zeroes[4];
		const unsigned char *content = in + head, *mask = masked ? content - 4 : zeroes;
		int code = (content[0] ^ mask[0]) << 8 | (content[1] ^ mask[1]);
		if (code > CODES_OF_WSLAY && code <= CODES_KNOWN) {
			relay_frames_fail(frames, code);
			return 0;
		}
	}
	uint64_t payload = more ? 0 : len;
	for (size_t i = 0; i < more; i++)
		payload = payload << 8 | in[2 + i];
	frames->payload = whole ? 0 : payload;
	return part;
}

static ssize_t relay_frames_give(
    wslay_event_context_ptr wslay, uint8_t *to, size_t size, int flags, void *user_data)
{
	struct frames *frames = user_data;
	size_t len = frames->in_len < size ? frames->in_len : size;
	(void)flags;
	if (!frames->payload) {
		len = relay_frames_begin(frames);
	} else {
		if (len > frames->payload)
			len = (size_t)frames->payload;
		frames->payload -= len;
	}
	if (len == 0 || len > size) {
		wslay_event_set_error(wslay, WSLAY_ERR_WOULDBLOCK);
		return -1;
	}
	memcpy(to, frames->in, len);
	frames->in += len;
	frames->in_len -= len;
	return (ssize_t)len;
}

static ssize_t relay_frames_take(
    wslay_event_context_ptr wslay, const uint8_t *data, size_t len, int flags, void *user_data)
{
	struct frames *frames = user_data;
	(void)wslay;
	(void)flags;
	if (!frames->silent)
		buf_add(frames->setup.out, data, len);
	return (ssize_t)len;
}

/* A mask protects nobody between two programs of this service; zeroes are allowed, and cost
 * nothing. */
static int frames_mask(wslay_event_context_ptr wslay, uint8_t *to, size_t len, void *user_data)
{
	(void)wslay;
	(void)user_data;
	memset(to, 0, len);
	return 0;
}

/* Also refuses a close frame of one byte, which wslay takes for one without a code: there may be
 * none, or two and more (RFC 6455, 5.5.1). */
static void relay_frames_take_head(wslay_event_context_ptr wslay,
    const struct wslay_event_on_frame_recv_start_arg *frame, void *user_data)
{
	struct frames *frames = user_data;
	(void)wslay;
	frames->data_frame = !wslay_is_ctrl_frame(frame->opcode);
	if (frame->opcode == WSLAY_CONNECTION_CLOSE && frame->payload_length == 1)
		relay_frames_fail(frames, WSLAY_CODE_PROTOCOL_ERROR);
	if (!frames->data_frame)
		return;
	if (frame->opcode != WSLAY_CONTINUATION_FRAME)
		frames->binary = frame->opcode == WSLAY_BINARY_FRAME;
	if (frame->payload_length > frames->setup.limit - frames->message.len)
		relay_frames_fail(frames, WSLAY_CODE_MESSAGE_TOO_BIG);
}

static void relay_frames_add_chunk(wslay_event_context_ptr wslay,
    const struct wslay_event_on_frame_recv_chunk_arg *chunk, void *user_data)
{
	struct frames *frames = user_data;
	struct frames_room *room = frames->setup.room;
	size_t len = chunk->data_length;
	(void)wslay;
	if (!frames->data_frame || frames->stopped)
		return;
	while (room && frames->message.len + len > FRAMES_SMALL && room->used + len > room->max) {
		if (room->make && room->make(frames->setup.arg, len))
			continue;
		relay_frames_fail(frames, FRAMES_CROWDED);
		return;
	}
	buf_add(&frames->message, chunk->data, len);
	if (room)
		room->used += len;
}

/* In wslay's mode without buffers this gets whole control frames, but messages without their
 * content. */
static void relay_frames_end_message(wslay_event_context_ptr wslay,
    const struct wslay_event_on_msg_recv_arg *message, void *user_data)
{
	struct frames *frames = user_data;
	const struct frames_setup *setup = &frames->setup;
	int code = message->status_code;
	(void)wslay;
	if (frames->stopped)
		return;
	if (message->opcode == WSLAY_CONNECTION_CLOSE) {
		relay_frames_fail(frames, code ? code : WSLAY_CODE_NORMAL_CLOSURE);
		if (!code)
			frames->code = WSLAY_CODE_NO_STATUS_RCVD;
	} else if (!wslay_is_ctrl_frame(message->opcode)) {
		struct buf whole = frames_detach(frames);
		char nothing[] = "";
		if (!setup->on_message(
			setup->arg, frames->binary, whole.data ? whole.data : nothing, whole.len))
			relay_frames_stop(frames);
		buf_release(&whole);
	}
}

/* ---- Life */

static void relay_frames_open_wslay(struct frames *frames)
{
	static const struct wslay_event_callbacks callbacks = {
	    .recv_callback = relay_frames_give,
	    .send_callback = relay_frames_take,
	    .genmask_callback = frames_mask,
	    .on_frame_recv_start_callback = relay_frames_take_head,
	    .on_frame_recv_chunk_callback = relay_frames_add_chunk,
	    .on_msg_recv_callback = relay_frames_end_message,
	};
	int failed = frames->setup.role == FRAMES_OF_CLIENT
	    ? wslay_event_context_server_init(&frames->wslay, &callbacks, frames)
	    : wslay_event_context_client_init(&frames->wslay, &callbacks, frames);
	if (failed)
		abort(); /* only for want of memory */
	wslay_event_config_set_no_buffering(frames->wslay, 1);
}

struct frames *frames_new(const struct frames_setup *setup)
{
	struct frames *frames = xcalloc(1, sizeof(*frames));
	frames->setup = *setup;
	relay_frames_open_wslay(frames);
	return frames;
}

void frames_free(struct frames *frames)
{
	if (!frames)
		return;
	wslay_event_context_free(frames->wslay);
	relay_frames_forget(frames);
	buf_release(&frames->rest);
	free(frames);
}

/* ---- Use */

static void relay_frames_send_close(struct frames *frames, int code, const char *reason, size_t len)
{
	wslay_event_queue_close(frames->wslay, (uint16_t)code, (const uint8_t *)reason, len);
	wslay_event_send(frames->wslay);
}

bool frames_feed(struct frames *frames, const char *data, size_t len)
{
	struct buf rest = frames->rest;
	if (frames->stopped)
		return false;
	frames->rest = (struct buf){0};
	if (rest.len > 0)
		buf_add(&rest, data, len);
	frames->in = rest.len > 0 ? rest.data : data;
	frames->in_len = rest.len > 0 ? rest.len : len;
	if (wslay_event_recv(frames->wslay) != 0 && !frames->stopped)
		relay_frames_fail(frames, WSLAY_CODE_PROTOCOL_ERROR);
	if (!frames->stopped && !wslay_event_get_read_enabled(frames->wslay))
		relay_frames_stop(frames); /* wslay has refused what came */
	if (frames->in_len > 0)
		buf_add(&frames->rest, frames->in, frames->in_len);
	buf_release(&rest);
	frames->in = NULL;
	frames->in_len = 0;
	if (frames->answer) {
		/*
		 * wslay has queued an answer of its own and takes no other.  That one lacks the
		 * code after a broken frame, repeats the reason of a close frame, and has no code
		 * if the close frame had none.  Pongs that are dropped with it are no longer due.
		 */
		wslay_event_context_free(frames->wslay);
		relay_frames_open_wslay(frames);
		relay_frames_send_close(frames, frames->answer, NULL, 0);
		frames->answer = 0;
	} else {
		/* Not each ping has to be answered (RFC 6455, 5.5.3): a peer that sends pings and
		 * reads nothing must not fill the memory. */
		size_t before = frames->setup.out->len;
		if (before == 0)
			frames->pongs = 0;
		frames->silent = !frames->stopped && frames->pongs > PONGS_MOST;
		wslay_event_send(frames->wslay);
		frames->silent = false;
		frames->pongs += frames->setup.out->len - before;
	}
	return !frames->stopped;
}

size_t frames_held(const struct frames *frames)
{
	return frames->message.len;
}

int frames_code(const struct frames *frames)
{
	if (!frames->code && wslay_event_get_close_sent(frames->wslay))
		return wslay_event_get_status_code_sent(frames->wslay);
	return frames->code;
}

static void frames_queue(struct frames *frames, uint8_t opcode, const char *data, size_t len)
{
	const struct wslay_event_msg message = {opcode, (const uint8_t *)data, len};
	wslay_event_queue_msg(frames->wslay, &message); /* fails after a close frame only */
	wslay_event_send(frames->wslay);
}

/* Writes a frame itself: wslay chooses the size of fragments, but between two of its frames others
 * may be put in. */
static void relay_frames_put_fragment(
    struct frames *frames, bool last, const char *data, size_t len)
{
	uint8_t head[10] = {frames->begun ? WSLAY_CONTINUATION_FRAME : WSLAY_TEXT_FRAME};
	size_t more = len < 126 ? 0 : len <= UINT16_MAX ? 2 : 8;
	if (wslay_event_get_close_sent(frames->wslay))
		return;
	head[0] |= last ? 0x80 : 0;
	head[1] = (uint8_t)(more == 0 ? len : more == 2 ? 126 : 127);
	for (size_t i = 0; i < more; i++)
		head[2 + i] = (uint8_t)((uint64_t)len >> 8 * (more - 1 - i));
	buf_add(frames->setup.out, head, 2 + more);
	buf_add(frames->setup.out, data, len);
	frames->begun = !last;
}

void frames_begin(struct frames *frames, const char *data, size_t len)
{
	relay_frames_put_fragment(frames, false, data, len);
}

bool frames_begun(const struct frames *frames)
{
	return frames->begun;
}

void frames_send(struct frames *frames, bool binary, const char *data, size_t len)
{
	if (frames->begun) {
		relay_frames_put_fragment(frames, true, data, len);
		return;
	}
	frames_queue(frames, binary ? WSLAY_BINARY_FRAME : WSLAY_TEXT_FRAME, data, len);
}

void frames_ping(struct frames *frames)
{
	frames_queue(frames, WSLAY_PING, NULL, 0);
}

void frames_close(struct frames *frames, int code, const char *reason, size_t len)
{
	relay_frames_stop(frames);
	if (!frames->code)
		frames->code = code;
	relay_frames_send_close(frames, code, reason, len);
}
