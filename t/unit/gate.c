/* SPDX-License-Identifier: ISC */
/* The gate before what a run shows: closed until its start is on disk. */
#include "service/run/stream/gate.h"

#include "base/memory.h"
#include "unit.h"

#include <string.h>
#include <unistd.h>

/* What came through: chunks, and [ ] for the cork. */
struct heard {
	struct chunk_sink sink;
	struct buf text;
};

static void hear(struct chunk_sink *sink, const char *json, size_t len)
{
	struct buf *text = &((struct heard *)sink)->text;
	if (len > 100)
		buf_printf(text, "%zu bytes ", len);
	else
		buf_printf(text, "%.*s ", (int)len, json);
}

static void hear_cork(struct chunk_sink *sink, bool on)
{
	buf_puts(&((struct heard *)sink)->text, on ? "[" : "]");
}

static bool hear_part(struct chunk_sink *sink, const char *json, size_t len)
{
	buf_printf(&((struct heard *)sink)->text, "%.*s+", (int)len, json);
	return true;
}

static struct heard heard;
static struct gate gate;

static void start(void)
{
	heard = (struct heard){.sink = {.chunk = hear, .cork = hear_cork, .part = hear_part}};
	gate_init(&gate, &heard.sink);
}

static void send(const char *text)
{
	gate_send(&gate, &(struct buf){.data = (char *)text, .len = strlen(text)});
}

static bool send_part(const char *text)
{
	return gate_send_part(&gate, &(struct buf){.data = (char *)text, .len = strlen(text)});
}

static void end(const char *expected)
{
	CU_ASSERT_STRING_EQUAL(buf_str(&heard.text), expected);
	gate_release(&gate);
	buf_release(&heard.text);
}

static void chunks_wait_for_the_start_and_go_out_together(void)
{
	start();
	send("a");
	send("b");
	CU_ASSERT_EQUAL(heard.text.len, 0);
	gate_settle(&gate, true);
	CU_ASSERT_STRING_EQUAL(buf_str(&heard.text), "[a b ]");
	send("c");
	end("[a b ]c ");
}

static void nothing_is_shown_of_a_start_that_failed(void)
{
	start();
	send("a");
	gate_settle(&gate, false);
	send("b");
	gate_settle(&gate, true);
	gate_open(&gate);
	send("the error");
	end("the error ");
}

static void opening_lets_out_what_needs_no_start(void)
{
	start();
	send("a");
	gate_open(&gate);
	gate_open(&gate);
	end("[a ]");
}

static void an_open_gate_passes_the_cork_on(void)
{
	start();
	gate_cork(&gate, true);
	gate_cork(&gate, false);
	gate_settle(&gate, true);
	gate_cork(&gate, true);
	send("a");
	gate_cork(&gate, false);
	end("[a ]");
}

static void *settle_soon(void *arg)
{
	usleep(20000);
	gate_settle(&gate, true);
	return arg;
}

static void what_does_not_fit_waits_itself(void)
{
	static char large[20001];
	pthread_t thread;
	start();
	memset(large, 'x', sizeof(large) - 1);
	send("a");
	pthread_create(&thread, NULL, settle_soon, NULL);
	send(large);
	pthread_join(thread, NULL);
	end("[a ]20000 bytes ");
}

static void parts_wait_for_the_gate_and_are_not_kept(void)
{
	pthread_t thread;
	start();
	send("a");
	pthread_create(&thread, NULL, settle_soon, NULL);
	CU_ASSERT(send_part("b"));
	pthread_join(thread, NULL);
	send("c");
	CU_ASSERT(send_part("d"));
	end("[a ]b+c d+");
}

static void of_what_nobody_sees_no_more_parts_are_wanted(void)
{
	start();
	gate_settle(&gate, false);
	CU_ASSERT_FALSE(send_part("a"));
	end("");
}

static const struct unit_test tests[] = {
    {"chunks wait for the start and go out together",
	chunks_wait_for_the_start_and_go_out_together},
    {"nothing is shown of a start that failed", nothing_is_shown_of_a_start_that_failed},
    {"opening lets out what needs no start", opening_lets_out_what_needs_no_start},
    {"an open gate passes the cork on", an_open_gate_passes_the_cork_on},
    {"what does not fit waits itself", what_does_not_fit_waits_itself},
    {"parts wait for the gate and are not kept", parts_wait_for_the_gate_and_are_not_kept},
    {"of what nobody sees no more parts are wanted", of_what_nobody_sees_no_more_parts_are_wanted},
};

int main(void)
{
	memory_init();
	return unit_main("gate", tests, UNIT_COUNT(tests));
}
