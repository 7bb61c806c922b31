/* SPDX-License-Identifier: ISC */
/*
 * WebSocket frames of a client or of websocketd: the first byte says whose.  However the bytes are
 * cut, the same messages come out, none is over the limit, and all memory is freed.
 */
#include "replay.h"
#include "ws-bridge/relay/relay_frames.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT 300
#define ROOM 1000

struct side {
	struct frames *frames;
	struct buf out, heard;
};

static bool hear(void *arg, bool binary, char *data, size_t len)
{
	struct side *side = arg;
	require(len <= LIMIT);
	buf_printf(&side->heard, "%c%zu:", binary ? 'b' : 't', len);
	buf_add(&side->heard, data, len);
	memset(data, 'x', len);
	return len != 7;
}

/* Feeds pieces of this many bytes, each in a block without spare room. */
static int run(
    struct side *side, enum frames_role role, const uint8_t *data, size_t size, size_t piece)
{
	struct frames_room room = {.max = ROOM};
	const struct frames_setup setup = {.role = role,
	    .limit = LIMIT,
	    .room = &room,
	    .out = &side->out,
	    .on_message = hear,
	    .arg = side};
	bool more = true;
	*side = (struct side){.frames = frames_new(&setup)};
	for (size_t at = 0; more && at < size; at += piece) {
		size_t len = size - at < piece ? size - at : piece;
		char *copy = malloc(len);
		memcpy(copy, data + at, len);
		more = frames_feed(side->frames, copy, len);
		free(copy);
		require(room.used <= LIMIT);
	}
	int code = frames_code(side->frames);
	require(code == 0 || (code >= 1000 && code < 5000));
	frames_free(side->frames);
	require(room.used == 0);
	return code;
}

static void release(struct side *side)
{
	buf_release(&side->out);
	buf_release(&side->heard);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct side whole, cut;
	if (size == 0)
		return 0;
	enum frames_role role = data[0] & 1 ? FRAMES_OF_CLIENT : FRAMES_OF_SERVER;
	int code = run(&whole, role, data + 1, size - 1, size);
	int late = run(&cut, role, data + 1, size - 1, 1 + data[0] / 16);
	require(code == late);
	require(whole.heard.len == cut.heard.len &&
	    !memcmp(buf_str(&whole.heard), buf_str(&cut.heard), cut.heard.len));
	release(&whole);
	release(&cut);
	return 0;
}
