/* SPDX-License-Identifier: ISC */
/* The helper's two pipes: lines in, records out. */
#include "base/memory.h"
#include "unit.h"
#include "ws-bridge/ws_input.h"
#include "ws-bridge/ws_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- in ---- */

struct pair {
	int out, in;
};

static struct pair open_pipe(void)
{
	int ends[2];
	CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_CLOEXEC), 0);
	return (struct pair){ends[0], ends[1]};
}

static void say(struct pair p, const char *text)
{
	CU_ASSERT_EQUAL_FATAL(write(p.in, text, strlen(text)), (ssize_t)strlen(text));
}

/* What one read brings: the lines, each in brackets, with ! for those that were cut. */
static const char *lines(struct input *in)
{
	static char all[512];
	size_t len;
	bool cut;
	char *line;
	input_read(in);
	*all = '\0';
	while ((line = input_line(in, &len, &cut))) {
		CU_ASSERT_EQUAL(strlen(line), len);
		snprintf(
		    all + strlen(all), sizeof(all) - strlen(all), "[%s%s]", line, cut ? "!" : "");
	}
	return all;
}

static void splits_lines(void)
{
	struct pair p = open_pipe();
	struct input in = {.fd = p.out, .limit = 100};
	say(p, "Ta\n\nTb\nTc");
	CU_ASSERT_STRING_EQUAL(lines(&in), "[Ta][][Tb]");
	say(p, "d");
	CU_ASSERT_STRING_EQUAL(lines(&in), "");
	say(p, "e\nTf\n");
	CU_ASSERT_STRING_EQUAL(lines(&in), "[Tcde][Tf]");
	CU_ASSERT_FALSE(in.ended);
	say(p, "Tlost");
	CU_ASSERT_STRING_EQUAL(lines(&in), "");
	close(p.in);
	CU_ASSERT_STRING_EQUAL(lines(&in), "");
	CU_ASSERT(in.ended);
	input_release(&in);
	close(p.out);
}

static void cuts_long_lines(void)
{
	struct pair p = open_pipe();
	struct input in = {.fd = p.out, .limit = 4};
	say(p, "T123\nT1234\nTa\n");
	CU_ASSERT_STRING_EQUAL(lines(&in), "[T123][T1234!][Ta]");
	say(p, "B12345");
	CU_ASSERT_STRING_EQUAL(lines(&in), "");
	say(p, "6789");
	CU_ASSERT_STRING_EQUAL(lines(&in), "");
	CU_ASSERT(in.data.len <= 4);
	say(p, "\nTb\nB1");
	CU_ASSERT_STRING_EQUAL(lines(&in), "[B!][Tb]");
	say(p, "23\n");
	CU_ASSERT_STRING_EQUAL(lines(&in), "[B123]");
	input_release(&in);
	close(p.in);
	close(p.out);
}

static void gives_memory_of_a_long_line_back(void)
{
	struct pair p = open_pipe();
	struct input in = {.fd = p.out, .limit = 1 << 20};
	char *text = xcalloc(1, 10001);
	memset(text, 'x', 10000);
	for (int i = 0; i < 30; i++) {
		say(p, text);
		CU_ASSERT_STRING_EQUAL(lines(&in), "");
	}
	say(p, "\n");
	size_t len;
	bool cut;
	input_read(&in);
	CU_ASSERT_PTR_NOT_NULL(input_line(&in, &len, &cut));
	CU_ASSERT_EQUAL(len, 300000);
	CU_ASSERT_FALSE(cut);
	say(p, "Ta\n");
	CU_ASSERT_STRING_EQUAL(lines(&in), "[Ta]");
	CU_ASSERT(in.data.size < 100000);
	free(text);
	input_release(&in);
	close(p.in);
	close(p.out);
}

/* ---- out ---- */

struct way_out {
	struct pair pipe;
	struct output out;
};

static void open_way(struct way_out *way)
{
	way->pipe = open_pipe();
	fcntl(way->pipe.in, F_SETPIPE_SZ, 4096);
	fcntl(way->pipe.out, F_SETFL, O_NONBLOCK);
	output_init(&way->out, way->pipe.in);
}

static void close_way(struct way_out *way)
{
	output_release(&way->out);
	close(way->pipe.in);
	close(way->pipe.out);
}

/* Sends a record of len times the letter. */
static void put(
    struct way_out *way, char letter, size_t len, void (*send)(struct output *, struct buf *))
{
	struct buf record = {0};
	for (size_t i = 0; i < len; i++)
		buf_putc(&record, letter);
	send(&way->out, &record);
	buf_release(&record);
}

/* Everything there is to read, flushing in between: each run of letters as its first and length. */
static const char *all(struct way_out *way)
{
	static char text[512];
	char data[5000];
	ssize_t n;
	char letter = 0;
	size_t len = 0;
	*text = '\0';
	while ((n = read(way->pipe.out, data, sizeof(data))) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (data[i] == '\n') {
				snprintf(text + strlen(text), sizeof(text) - strlen(text), "%c%zu ",
				    letter, len);
				len = 0;
				continue;
			}
			letter = data[i];
			len++;
		}
		output_flush(&way->out);
	}
	CU_ASSERT_EQUAL(len, 0);
	return text;
}

static void sends_at_once(void)
{
	struct way_out way;
	open_way(&way);
	put(&way, 'a', 10, output_send);
	CU_ASSERT_FALSE(output_is_waiting(&way.out));
	usleep(3000);
	put(&way, 'b', 20, output_chunk);
	CU_ASSERT_FALSE(output_is_waiting(&way.out));
	CU_ASSERT_STRING_EQUAL(all(&way), "a10 b20 ");
	close_way(&way);
}

static void chunks_in_quick_succession_go_out_together(void)
{
	struct way_out way;
	open_way(&way);
	struct pollfd timer = {.fd = way.out.timer, .events = POLLIN};
	/* a machine that is busy may not let them come quickly, but not always */
	for (int i = 0; i < 1000 && !output_is_waiting(&way.out); i++) {
		all(&way);
		put(&way, 'a', 10, output_send);
		put(&way, 'b', 10, output_chunk);
		put(&way, 'c', 10, output_chunk);
	}
	CU_ASSERT(output_is_waiting(&way.out));
	CU_ASSERT_STRING_EQUAL(all(&way), "a10 b10 c10 ");
	for (int i = 0; i < 1000 && !output_is_waiting(&way.out); i++) {
		all(&way);
		put(&way, 'd', 10, output_chunk);
	}
	CU_ASSERT_EQUAL(poll(&timer, 1, 60000), 1);
	output_woken(&way.out);
	CU_ASSERT_EQUAL(poll(&timer, 1, 0), 0);
	output_flush(&way.out);
	CU_ASSERT_FALSE(output_is_waiting(&way.out));
	CU_ASSERT_STRING_EQUAL(all(&way), "d10 ");
	close_way(&way);
}

static void a_record_takes_the_chunks_before_it_along(void)
{
	struct way_out way;
	open_way(&way);
	put(&way, 'a', 10, output_send);
	put(&way, 'b', 10, output_chunk);
	put(&way, 'C', 10, output_send);
	CU_ASSERT_FALSE(output_is_waiting(&way.out));
	CU_ASSERT_STRING_EQUAL(all(&way), "a10 b10 C10 ");
	close_way(&way);
}

static void joins_records_that_wait_together(void)
{
	struct way_out way;
	char data[100];
	open_way(&way);
	way.out.joins = true;
	put(&way, 'A', 1, output_send);
	put(&way, 'B', 1, output_chunk);
	put(&way, 'C', 1, output_chunk);
	put(&way, 'D', 1, output_send);
	ssize_t n = read(way.pipe.out, data, sizeof(data));
	CU_ASSERT_EQUAL_FATAL(n, 8);
	CU_ASSERT(memcmp(data, "A\nB\033C\033D\n", 8) == 0);
	close_way(&way);
}

static void joins_no_more_to_a_long_line(void)
{
	struct way_out way;
	open_way(&way);
	way.out.joins = true;
	put(&way, 'A', 5000, output_send); /* more than the pipe takes */
	put(&way, 'B', OUTPUT_LINE, output_send);
	put(&way, 'C', 1, output_send);
	put(&way, 'D', 1, output_send);
	CU_ASSERT_STRING_EQUAL(all(&way), "B37769 D3 "); /* A, joint, B; C, joint, D */
	close_way(&way);
}

static void keeps_what_does_not_fit(void)
{
	struct way_out way;
	struct pollfd woken = {.events = POLLIN};
	open_way(&way);
	woken.fd = way.out.wake;
	CU_ASSERT_EQUAL(poll(&woken, 1, 0), 0);
	put(&way, 'a', 6000, output_send);
	CU_ASSERT(output_is_waiting(&way.out));
	CU_ASSERT_EQUAL(poll(&woken, 1, 0), 1);
	put(&way, 'b', 200000, output_chunk);
	put(&way, 'c', 3, output_send);
	CU_ASSERT_STRING_EQUAL(all(&way), "a6000 b200000 c3 ");
	CU_ASSERT_FALSE(output_is_waiting(&way.out));
	close_way(&way);
}

static void mute_keeps_the_line_that_was_begun(void)
{
	struct way_out way;
	open_way(&way);
	put(&way, 'a', 6000, output_chunk);
	put(&way, 'b', 10, output_chunk);
	output_mute(&way.out);
	put(&way, 'c', 10, output_chunk);
	put(&way, 'Y', 1, output_send);
	CU_ASSERT_STRING_EQUAL(all(&way), "a6000 Y1 ");
	close_way(&way);
}

static void mute_drops_lines_that_were_not(void)
{
	struct way_out way;
	open_way(&way);
	put(&way, 'a', 4095, output_chunk); /* fills the pipe exactly */
	put(&way, 'b', 10, output_chunk);
	output_flush(&way.out);
	CU_ASSERT(output_is_waiting(&way.out));
	output_mute(&way.out);
	CU_ASSERT_FALSE(output_is_waiting(&way.out));
	put(&way, 'Y', 1, output_send);
	CU_ASSERT_STRING_EQUAL(all(&way), "a4095 Y1 ");
	close_way(&way);
}

static void a_reader_that_left_ends_it(void)
{
	struct way_out way;
	open_way(&way);
	put(&way, 'a', 6000, output_chunk);
	close(way.pipe.out);
	CU_ASSERT_FALSE(output_is_broken(&way.out));
	output_flush(&way.out);
	CU_ASSERT(output_is_broken(&way.out));
	CU_ASSERT_FALSE(output_is_waiting(&way.out));
	put(&way, 'b', 10, output_chunk);
	put(&way, 'c', 10, output_send);
	CU_ASSERT_FALSE(output_is_waiting(&way.out));
	close_way(&way);
}

static void *push_much(void *arg)
{
	for (int i = 0; i < 4; i++)
		put(arg, (char)('a' + i), OUTPUT_AHEAD / 2, output_chunk);
	return NULL;
}

static void chunks_wait_for_a_slow_reader(void)
{
	struct way_out way;
	pthread_t thread;
	open_way(&way);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, push_much, &way), 0);
	usleep(50000);
	pthread_mutex_lock(&way.out.lock);
	CU_ASSERT(way.out.waiting.len < 2 * OUTPUT_AHEAD);
	pthread_mutex_unlock(&way.out.lock);
	output_mute(&way.out);
	pthread_join(thread, NULL);
	close_way(&way);
}

static const struct unit_test tests[] = {
    {"lines are handed out whole, however they came", splits_lines},
    {"of a line over the limit only the kind is kept", cuts_long_lines},
    {"memory that a long line took is given back", gives_memory_of_a_long_line_back},
    {"a record goes out at once", sends_at_once},
    {"chunks in quick succession go out together, soon",
	chunks_in_quick_succession_go_out_together},
    {"a record takes the chunks before it along", a_record_takes_the_chunks_before_it_along},
    {"records that wait together share a line, for a reader that knows that",
	joins_records_that_wait_together},
    {"but no line becomes too long", joins_no_more_to_a_long_line},
    {"what the pipe does not take is flushed later, in order", keeps_what_does_not_fit},
    {"muting completes the line that was begun", mute_keeps_the_line_that_was_begun},
    {"muting drops the lines that were not", mute_drops_lines_that_were_not},
    {"a reader that left ends the output", a_reader_that_left_ends_it},
    {"chunks wait for a slow reader, until it is gone", chunks_wait_for_a_slow_reader},
};

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	return unit_main("ws_io", tests, UNIT_COUNT(tests));
}
