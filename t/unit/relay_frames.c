/* SPDX-License-Identifier: ISC */
/* What messages that arrive in parts may hold together;
 * the frames themselves are t/e2e/relay.t's. */
#include "ws-bridge/relay/relay_frames.h"

#include "base/memory.h"
#include "unit.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static struct frames_room room;
static size_t heard; /* bytes of the latest whole message */

static bool hear(void *arg, bool binary, char *data, size_t len)
{
	(void)arg, (void)binary, (void)data;
	heard = len;
	return true;
}

struct client {
	struct buf out;
	struct frames *frames;
};

static void client_open(struct client *client)
{
	*client = (struct client){0};
	const struct frames_setup setup = {.role = FRAMES_OF_CLIENT,
	    .limit = 1 << 20,
	    .room = &room,
	    .out = &client->out,
	    .on_message = hear};
	client->frames = frames_new(&setup);
}

static void client_close(struct client *client)
{
	frames_free(client->frames);
	buf_release(&client->out);
}

/* The head of a masked binary frame of size bytes, and then len of its bytes. */
static bool send_part(struct client *client, uint32_t size, size_t len)
{
	static char zeroes[1 << 20];
	const unsigned char head[] = {0x82, 0xff, 0, 0, 0, 0, (unsigned char)(size >> 24),
	    (unsigned char)(size >> 16), (unsigned char)(size >> 8), (unsigned char)size, 0, 0, 0,
	    0};
	return frames_feed(client->frames, (const char *)head, sizeof(head)) &&
	    frames_feed(client->frames, zeroes, len);
}

static void what_is_whole_takes_no_room(void)
{
	struct client client;
	room = (struct frames_room){.max = 100000};
	client_open(&client);
	for (int i = 0; i < 10; i++) {
		CU_ASSERT(send_part(&client, 90000, 90000));
		CU_ASSERT_EQUAL(heard, 90000);
		CU_ASSERT_EQUAL(room.used, 0);
	}
	client_close(&client);
}

static void a_message_without_room_is_refused(void)
{
	struct client first, second;
	room = (struct frames_room){.max = 100000};
	client_open(&first);
	client_open(&second);
	CU_ASSERT(send_part(&first, 95000, 90000));
	CU_ASSERT_EQUAL(room.used, 90000);
	CU_ASSERT_FALSE(send_part(&second, 90000, 90000));
	CU_ASSERT_EQUAL(frames_code(second.frames), 1013);
	CU_ASSERT_EQUAL(room.used, 90000);
	client_close(&first);
	CU_ASSERT_EQUAL(room.used, 0);
	client_close(&second);
	CU_ASSERT_EQUAL(room.used, 0);
}

static struct client longest;

static bool close_longest(void *arg, size_t more)
{
	(void)arg;
	CU_ASSERT(more > 0);
	if (frames_held(longest.frames) == 0)
		return false;
	frames_close(longest.frames, FRAMES_CROWDED, NULL, 0);
	return true;
}

static void room_is_made_where_that_can_be(void)
{
	struct client second, third;
	room = (struct frames_room){.max = 100000, .make = close_longest};
	client_open(&longest);
	client_open(&second);
	client_open(&third);
	CU_ASSERT(send_part(&longest, 95000, 90000));
	CU_ASSERT(send_part(&second, 95000, 80000));
	CU_ASSERT_EQUAL(frames_code(longest.frames), 1013);
	CU_ASSERT_EQUAL(longest.out.len, 4); /* its close frame */
	CU_ASSERT_EQUAL(room.used, 80000);
	CU_ASSERT_FALSE(send_part(&third, 90000, 90000));
	CU_ASSERT_EQUAL(frames_code(third.frames), 1013);
	client_close(&longest);
	client_close(&second);
	client_close(&third);
}

static void a_small_message_always_passes(void)
{
	struct client first, second;
	room = (struct frames_room){.max = 1000};
	client_open(&first);
	client_open(&second);
	CU_ASSERT(send_part(&first, 65536, 65000));
	CU_ASSERT(send_part(&second, 65536, 65536));
	CU_ASSERT_EQUAL(heard, 65536);
	client_close(&first);
	client_close(&second);
}

/* What a close frame with this reason, cut into pieces of so many bytes, is answered with. */
static int close_in_pieces(const char *reason, size_t piece)
{
	struct client client;
	size_t len = strlen(reason), size = 8 + len;
	char frame[160] = {(char)0x88, (char)(0x80 | (2 + len)), 0, 0, 0, 0, 0x03, (char)0xe8};
	memcpy(frame + 8, reason, len);
	client_open(&client);
	bool more = true;
	for (size_t at = 0; more && at < size; at += piece)
		more =
		    frames_feed(client.frames, frame + at, size - at < piece ? size - at : piece);
	CU_ASSERT_FALSE(more);
	CU_ASSERT_EQUAL(client.out.len, 4);
	int code = client.out.len < 4
	    ? 0
	    : (unsigned char)client.out.data[2] << 8 | (unsigned char)client.out.data[3];
	CU_ASSERT_EQUAL(frames_code(client.frames), code);
	client_close(&client);
	return code;
}

static void a_reason_is_the_same_in_any_pieces(void)
{
	static const char good[] = "Tschüß, 再见, пока", bad[] = "caf\xc3", worse[] = "a\xffz";
	for (size_t piece = 1; piece <= sizeof(good) + 8; piece++) {
		CU_ASSERT_EQUAL(close_in_pieces(good, piece), 1000);
		CU_ASSERT_EQUAL(close_in_pieces(bad, piece), 1007);
		CU_ASSERT_EQUAL(close_in_pieces(worse, piece), 1007);
	}
}

static void a_close_is_read_whole_behind_other_frames(void)
{
	struct client client;
	static char frames[8192];
	size_t len = 0;
	room = (struct frames_room){.max = 100000};
	client_open(&client);
	for (; len < 4092; len += 6)
		memcpy(frames + len, "\x81\x80\0\0\0", 6);
	memcpy(frames + len, "\x88\x86\0\0\0\0\x03\xe8\xc3\xa9\xc3\xa9", 12);
	CU_ASSERT_FALSE(frames_feed(client.frames, frames, len + 12));
	CU_ASSERT_EQUAL(frames_code(client.frames), 1000);
	client_close(&client);
}

static void pings_fill_no_buffer_that_nobody_takes(void)
{
	struct client client;
	static char pings[60000];
	for (size_t at = 0; at + 6 <= sizeof(pings); at += 6)
		memcpy(pings + at, "\x89\x80\0\0\0", 6);
	client_open(&client);
	frames_send(client.frames, false, "a", 1);
	for (int i = 0; i < 100; i++)
		CU_ASSERT(frames_feed(client.frames, pings, sizeof(pings)));
	CU_ASSERT(client.out.len > 60000);
	CU_ASSERT(client.out.len < 120000);
	/* what is no answer still comes, a close frame is still answered, and so is a ping to who
	 * takes what there is */
	buf_reset(&client.out);
	frames_send(client.frames, false, "b", 1);
	CU_ASSERT(frames_feed(client.frames, pings, 6));
	CU_ASSERT_EQUAL(client.out.len, 3);
	buf_reset(&client.out);
	CU_ASSERT(frames_feed(client.frames, pings, 6));
	CU_ASSERT_EQUAL(client.out.len, 2);
	CU_ASSERT_FALSE(frames_feed(client.frames, "\x88\x82\0\0\0\0\x03\xe8", 8));
	CU_ASSERT_EQUAL(client.out.len, 6);
	client_close(&client);
}

/* The frames that were sent: first byte, length, and the first byte of the payload. */
static const char *sent_frames(const struct client *client)
{
	static char text[200];
	size_t at = 0, len = 0;
	while (at < client->out.len) {
		const unsigned char *head = (const unsigned char *)client->out.data + at;
		size_t size = head[1], more = size == 126 ? 2 : size == 127 ? 8 : 0;
		if (more)
			size = 0;
		for (size_t i = 0; i < more; i++)
			size = size << 8 | head[2 + i];
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%02x:%zu:%c ", head[0],
		    size, size ? head[2 + more] : '-');
		at += 2 + more + size;
	}
	CU_ASSERT_EQUAL(at, client->out.len);
	return text;
}

static void a_message_goes_out_in_parts_with_pings_between(void)
{
	struct client client;
	static char data[70000];
	client_open(&client);
	memset(data, 'x', sizeof(data));
	frames_send(client.frames, false, "a", 1);
	frames_begin(client.frames, data, 70000);
	CU_ASSERT(frames_begun(client.frames));
	frames_ping(client.frames);
	frames_begin(client.frames, data, 126);
	frames_send(client.frames, false, "", 0);
	CU_ASSERT_FALSE(frames_begun(client.frames));
	frames_send(client.frames, true, "b", 1);
	frames_begin(client.frames, data, 125);
	frames_close(client.frames, 1001, "bye", 3);
	frames_begin(client.frames, data, 1);
	frames_send(client.frames, false, "c", 1);
	CU_ASSERT_STRING_EQUAL(sent_frames(&client),
	    "81:1:a 01:70000:x 89:0:- 00:126:x 80:0:- 82:1:b 01:125:x 88:5:\x03 ");
	client_close(&client);
}

static const struct unit_test tests[] = {
    {"what is whole takes no room", what_is_whole_takes_no_room},
    {"a message without room is refused", a_message_without_room_is_refused},
    {"room is made where that can be", room_is_made_where_that_can_be},
    {"a small message always passes", a_small_message_always_passes},
    {"a reason is the same in any pieces", a_reason_is_the_same_in_any_pieces},
    {"a message goes out in parts with pings between",
	a_message_goes_out_in_parts_with_pings_between},
    {"a close is read whole behind other frames", a_close_is_read_whole_behind_other_frames},
    {"pings fill no buffer that nobody takes", pings_fill_no_buffer_that_nobody_takes},
};

int main(void)
{
	memory_init();
	return unit_main("relay_frames", tests, UNIT_COUNT(tests));
}
