/* SPDX-License-Identifier: ISC */
/* The provider that needs no model (graph/demo/live_demo.c): exactly what it answers to what. */
#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "graph/live/live.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct heard {
	ag_live_session session; /* first */
	struct buf text;
	size_t audio;   /* bytes since the last look */
	struct buf pcm; /* all of them */
	char call_id[64];
	cJSON *args;
};

static struct heard heard;
static void *demo;
static int64_t now;

static void on_event(ag_live_session *session, const struct live_event *event)
{
	static const char *const names[] = {"ready", "audio", "in", "out", "call", "complete",
	    "interrupted", "handle", "go away", "agent", "error", "lost", "ended"};
	CU_ASSERT_PTR_EQUAL(session, &heard.session);
	if (event->kind == LIVE_AUDIO) {
		heard.audio += event->bytes;
		buf_add(&heard.pcm, event->pcm, event->bytes);
		return;
	}
	if (heard.audio)
		buf_printf(&heard.text, "audio %zu|", heard.audio);
	heard.audio = 0;
	buf_printf(&heard.text, "%s%s%s%s|", names[event->kind], event->flag ? "!" : "",
	    event->text ? " " : "", event->text ? event->text : "");
	if (event->kind == LIVE_TOOL_CALL) {
		snprintf(heard.call_id, sizeof(heard.call_id), "%s", event->id);
		heard.args = event->args;
	}
}

/* What was heard since the last look; static. */
static const char *said(void)
{
	static char text[4000];
	snprintf(text, sizeof(text), "%s", buf_str(&heard.text));
	if (heard.audio)
		snprintf(text + strlen(text), 40, "audio %zu|", heard.audio);
	heard.audio = 0;
	buf_reset(&heard.text);
	return text;
}

#define SAYS(expected) CU_ASSERT_STRING_EQUAL(said(), expected)

static int64_t step(void)
{
	return live_demo_provider.step(demo, now);
}

/* Lets time pass until nothing more is due; how much it was. */
static int64_t pass(void)
{
	int64_t start = now, wait;
	while ((wait = step()) >= 0)
		now += wait;
	return now - start;
}

static void open_demo(bool text, const char *vad, const char *handle)
{
	cJSON *settings = cJSON_Parse(vad);
	const struct ag_live_setup setup = {
	    .text = text, .vad = settings, .resumption_handle = handle};
	now = 5000;
	heard.session.event = on_event;
	demo = live_demo_provider.open(&heard.session, &setup, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(demo);
	SAYS("");
	step();
	SAYS("ready|");
	cJSON_Delete(settings);
}

static void close_demo(void)
{
	live_demo_provider.close(demo);
	buf_release(&heard.text);
	buf_release(&heard.pcm);
	heard.audio = 0;
}

static void type(const char *text)
{
	live_demo_provider.text(demo, text);
	step();
}

/* So many milliseconds of a tone, in frames of so many samples. */
static void play(int ms, int level, int samples)
{
	int left = ms * 16;
	int16_t frame[1600];
	for (int i = 0; left > 0;) {
		int n = samples < left ? samples : left;
		for (int j = 0; j < n; j++, i++)
			frame[j] = (int16_t)lrint(level * sin(2 * M_PI * 200 * i / 16000));
		live_demo_provider.audio(demo, frame, (size_t)n * 2);
		step();
		left -= n;
	}
}

static void an_utterance_is_repeated(void)
{
	open_demo(false, "{}", NULL);
	play(400, 0, 1600);
	play(1000, 8000, 1600);
	play(480, 0, 1600);
	SAYS("");
	play(20, 0, 1600);
	SAYS("in! heard 1000 ms|audio 48000|out! heard 1000 ms|complete|");
	close_demo();
}

static void its_audio_is_the_same_at_another_rate(void)
{
	open_demo(false, "{}", NULL);
	play(500, 8000, 333);
	play(500, 0, 777);
	SAYS("in! heard 500 ms|audio 24000|out! heard 500 ms|complete|");
	const int16_t *pcm = (const int16_t *)(const void *)heard.pcm.data;
	int crossings = 0, highest = 0;
	bool below = false;
	for (size_t i = 1; i < heard.pcm.len / 2; i++) {
		crossings += below && pcm[i] > 500;
		below = pcm[i] < -500 || (below && pcm[i] <= 500);
		highest = pcm[i] > highest ? pcm[i] : highest;
	}
	CU_ASSERT(crossings >= 98 && crossings <= 101); /* 200 Hz for half a second */
	CU_ASSERT(highest > 7800 && highest < 8300);
	close_demo();
}

static void what_is_too_short_or_too_quiet_is_not_heard(void)
{
	open_demo(false, "{}", NULL);
	for (int i = 0; i < 10; i++) {
		play(40, 8000, 320);
		play(20, 0, 320);
	}
	play(1000, 260, 320); /* -45.01 dB and less */
	play(1000, 0, 320);
	SAYS("");
	play(60, 264, 320); /* -44.9 dB */
	play(500, 0, 320);
	SAYS("in! heard 60 ms|audio 2880|out! heard 60 ms|complete|");
	close_demo();
}

static void a_pause_is_part_of_an_utterance(void)
{
	open_demo(false, "{\"silence_duration_ms\": 200}", NULL);
	play(100, 8000, 320);
	play(180, 0, 320);
	play(100, 8000, 320);
	SAYS("");
	play(200, 0, 320);
	SAYS("in! heard 380 ms|audio 18240|out! heard 380 ms|complete|");
	close_demo();
}

static void without_voice_activity_the_client_bounds_it(void)
{
	open_demo(false, "{\"enabled\": false}", NULL);
	play(1000, 8000, 320);
	play(1000, 0, 320);
	SAYS("");
	live_demo_provider.activity(demo, true);
	play(300, 0, 320);
	live_demo_provider.activity(demo, false);
	play(1000, 8000, 320);
	SAYS("in! heard 300 ms|audio 14400|out! heard 300 ms|complete|");
	live_demo_provider.activity(demo, false);
	live_demo_provider.activity(demo, true);
	live_demo_provider.activity(demo, true);
	live_demo_provider.activity(demo, false);
	step();
	SAYS("in! heard 0 ms|out! heard 0 ms|complete|");
	close_demo();
}

static void with_voice_activity_bounds_mean_nothing(void)
{
	open_demo(false, "{}", NULL);
	live_demo_provider.activity(demo, true);
	live_demo_provider.activity(demo, false);
	step();
	SAYS("");
	close_demo();
}

static void an_utterance_has_an_end(void)
{
	open_demo(true, "{}", NULL);
	play(61000, 8000, 1600);
	SAYS("in! heard 60000 ms|out! heard 60000 ms|complete|");
	live_demo_provider.finish(demo);
	step();
	SAYS("in! heard 1000 ms|out! heard 1000 ms|complete|ended|");
	close_demo();
}

static void a_text_is_said_back_word_by_word(void)
{
	open_demo(false, "{}", NULL);
	type("hello  wide world");
	SAYS("out you|out  said:|out  hello|out   wide|out! you said: hello  wide "
	     "world|audio 9600|complete|");
	close_demo();
}

static void the_tone_has_440_hertz(void)
{
	open_demo(false, "{}", NULL);
	type("x");
	const int16_t *pcm = (const int16_t *)(const void *)heard.pcm.data;
	int crossings = 0;
	for (size_t i = 1; i < heard.pcm.len / 2; i++)
		crossings += pcm[i - 1] < 0 && pcm[i] >= 0;
	CU_ASSERT_EQUAL(crossings, 87);
	close_demo();
}

static void in_text_there_is_no_audio(void)
{
	open_demo(true, "{}", NULL);
	type("hi");
	SAYS("out you|out  said:|out! you said: hi|complete|");
	type("/long");
	SAYS("complete|");
	type("/echo on");
	play(100, 8000, 320);
	SAYS("");
	close_demo();
}

static void a_sum_is_made_by_the_tool(void)
{
	open_demo(true, "{}", NULL);
	type("/add 2 3.5");
	SAYS("call add|");
	char *args = json_print(heard.args);
	CU_ASSERT_STRING_EQUAL(args, "{\"a\":2,\"b\":3.5}");
	cJSON_free(args);
	cJSON_Delete(heard.args);
	type("meanwhile");
	SAYS("");
	cJSON *result = cJSON_CreateNumber(5.5);
	live_demo_provider.tool_result(demo, "another", "add", result, false);
	step();
	SAYS("");
	live_demo_provider.tool_result(demo, heard.call_id, "add", result, false);
	step();
	SAYS("out sum:|out! sum: 5.5|complete|out you|out  said:|out! you "
	     "said: meanwhile|complete|");
	cJSON_Delete(result);
	type("/add 1 x");
	SAYS("out you|out  said:|out  /add|out  1|out! you said: /add 1 x|complete|");
	close_demo();
}

static void audio_is_at_most_a_second_ahead(void)
{
	open_demo(false, "{}", NULL);
	type("/long");
	SAYS("audio 48000|");
	CU_ASSERT_EQUAL(step(), 100);
	now += 99;
	CU_ASSERT_EQUAL(step(), 1);
	SAYS("");
	now += 1;
	step();
	SAYS("audio 4800|");
	CU_ASSERT_EQUAL(pass(), 8900);
	SAYS("audio 427200|complete|");
	CU_ASSERT_EQUAL(heard.pcm.len, 480000);
	close_demo();
}

static void speech_ends_an_answer(void)
{
	open_demo(false, "{}", NULL);
	type("/long");
	said();
	play(40, 8000, 320);
	SAYS("");
	play(20, 8000, 320);
	SAYS("interrupted|");
	now += 5000;
	play(500, 0, 320);
	SAYS("in! heard 60 ms|audio 2880|out! heard 60 ms|complete|");
	close_demo();
	open_demo(false, "{\"enabled\": false}", NULL);
	type("/long");
	said();
	live_demo_provider.activity(demo, true);
	step();
	SAYS("interrupted|");
	close_demo();
}

static void frames_are_echoed_at_once(void)
{
	open_demo(false, "{}", NULL);
	type("/echo on");
	for (int i = 0; i < 30; i++) {
		play(100, 8000, 1600);
		SAYS("audio 4800|");
	}
	type("/echo off");
	play(100, 0, 1600);
	SAYS("");
	type("/echo maybe");
	SAYS("");
	close_demo();
}

static void commands_try_out_the_rest(void)
{
	open_demo(true, "{}", "h1");
	type("/session");
	SAYS("handle h1|");
	type("/go-away");
	SAYS("go away|");
	type("/agent Ann Lee");
	SAYS("agent Ann Lee|");
	type("/warn mind the gap");
	SAYS("error mind the gap|");
	type("/fatal enough");
	SAYS("error! enough|");
	type("/sessions");
	SAYS("out you|out  said:|out! you said: /sessions|complete|");
	close_demo();
	open_demo(true, "{}", NULL);
	type("/session");
	CU_ASSERT_EQUAL(strncmp(said(), "handle demo-", 12), 0);
	close_demo();
}

static void it_finishes_what_it_was_told(void)
{
	open_demo(false, "{}", NULL);
	play(200, 8000, 320);
	live_demo_provider.finish(demo);
	step();
	SAYS("in! heard 200 ms|audio 9600|out! heard 200 ms|complete|ended|");
	step();
	SAYS("");
	close_demo();
	open_demo(false, "{}", NULL);
	type("/long");
	live_demo_provider.finish(demo);
	said();
	CU_ASSERT_EQUAL(pass(), 9000);
	SAYS("audio 432000|complete|ended|");
	close_demo();
}

static void too_many_texts_have_to_wait(void)
{
	open_demo(false, "{}", NULL);
	for (int i = 0; i < 200 && live_demo_provider.takes(demo); i++)
		live_demo_provider.text(demo, "more");
	CU_ASSERT_FALSE(live_demo_provider.takes(demo));
	step();
	CU_ASSERT_TRUE(live_demo_provider.takes(demo));
	close_demo();
}

static const struct unit_test tests[] = {
    {"an utterance is repeated", an_utterance_is_repeated},
    {"its audio is the same at another rate", its_audio_is_the_same_at_another_rate},
    {"what is too short or too quiet is not heard", what_is_too_short_or_too_quiet_is_not_heard},
    {"a pause is part of an utterance", a_pause_is_part_of_an_utterance},
    {"without voice activity the client bounds it", without_voice_activity_the_client_bounds_it},
    {"with voice activity bounds mean nothing", with_voice_activity_bounds_mean_nothing},
    {"an utterance has an end", an_utterance_has_an_end},
    {"a text is said back word by word", a_text_is_said_back_word_by_word},
    {"the tone has 440 hertz", the_tone_has_440_hertz},
    {"in text there is no audio", in_text_there_is_no_audio},
    {"a sum is made by the tool", a_sum_is_made_by_the_tool},
    {"audio is at most a second ahead", audio_is_at_most_a_second_ahead},
    {"speech ends an answer", speech_ends_an_answer},
    {"frames are echoed at once", frames_are_echoed_at_once},
    {"commands try out the rest", commands_try_out_the_rest},
    {"it finishes what it was told", it_finishes_what_it_was_told},
    {"too many texts have to wait", too_many_texts_have_to_wait},
};

int main(void)
{
	memory_init();
	return unit_main("live_demo", tests, UNIT_COUNT(tests));
}
