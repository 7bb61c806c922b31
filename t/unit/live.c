/* SPDX-License-Identifier: ISC */
/* The live session, with a provider that does what it is told. */
#include "service/live/live.h"

#include "base/memory.h"
#include "base/os/clock.h"
#include "graph/state.h"
#include "live_fixture.h"
#include "unit.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAYS(expected) CU_ASSERT_STRING_EQUAL(client_heard(&c), expected)
#define HEARS(expected) CU_ASSERT_STRING_EQUAL(fake_heard(), expected)

#define THREAD "{\"thread_id\": \"t\"}"

static struct service *service;
static struct client c;

static void begin(const char *init)
{
	service = live_service("", "");
	client_open(&c, service, init);
}

static void end(void)
{
	client_free(&c);
	service_close(service);
	CU_ASSERT_EQUAL(fake.opened - (fake.refuses ? fake.opened : 0), fake.closed);
}

static void send_text(const char *json)
{
	live_text(c.live, json, strlen(json));
	client_settle(&c);
}

static void send_audio(size_t bytes, int first)
{
	int16_t *pcm = xcalloc(bytes / 2 + 1, sizeof(*pcm));
	pcm[0] = (int16_t)first;
	live_audio(c.live, pcm, bytes);
	free(pcm);
}

/* ---- the first frame */

#define INVALID(text) "error! invalid_config " text "|close 1000 |"
#define MODALITIES INVALID("modalities must be exactly one of AUDIO, TEXT")
#define TAGS INVALID("tools_tags must be a string or an array of strings")

/* The first frame, and what the client hears. */
static const char *const first_frames[][2] = {
    {"nonsense", "close 1003 Invalid init frame|"},
    {"[]", "close 1003 Invalid init frame|"},
    {"\"x\"", "close 1003 Invalid init frame|"},
    {"{}", ""},
    {"{\"thread_id\": null, \"resumption_handle\": 5, \"more\": []}", ""},
    {"{\"thread_id\": true}", INVALID("thread_id must be a string or an integer")},
    {"{\"thread_id\": \"0\"}", INVALID("thread_id must be a positive integer")},
    {"{\"model\": 5}", INVALID("model must be a string")},
    {"{\"voice\": {}}", INVALID("voice must be a string")},
    {"{\"system_prompt\": []}", INVALID("system_prompt must be a string")},
    {"{\"modalities\": []}", MODALITIES},
    {"{\"modalities\": [\"AUDIO\", \"TEXT\"]}", MODALITIES},
    {"{\"modalities\": \"VIDEO\"}", MODALITIES},
    {"{\"tools_tags\": 5}", TAGS},
    {"{\"tools_tags\": [1]}", TAGS},
    {"{\"vad\": true}", INVALID("vad must be an object")},
    {"{\"vad\": {\"enabled\": 1}}", INVALID("vad.enabled must be true or false")},
    {"{\"vad\": {\"silence_duration_ms\": -1}}",
	INVALID("vad.silence_duration_ms must be an integer from 0 to 60000")},
};

static void the_first_frame_is_checked(void)
{
	service = live_service("", "");
	for (size_t i = 0; i < UNIT_COUNT(first_frames); i++) {
		unit_row("%s", first_frames[i][0]);
		client_open(&c, service, first_frames[i][0]);
		SAYS(first_frames[i][1]);
		client_free(&c);
	}
	service_close(service);
}

static void a_first_frame_that_is_no_text_closes(void)
{
	service = live_service("", "");
	client_open(&c, service, NULL);
	send_audio(2, 0);
	SAYS("close 1003 Invalid init frame|");
	client_free(&c);
	client_open(&c, service, NULL);
	live_large(c.live, false);
	SAYS("close 1003 Invalid init frame|");
	client_free(&c);
	service_close(service);
}

static void so_does_none_within_30_seconds(void)
{
	begin(NULL);
	client_pass(&c, 29999);
	SAYS("");
	client_pass(&c, 1);
	SAYS("close 1003 Invalid init frame|");
	end();
}

#define TOOL(name)                                                                         \
	"{\"name\":\"" name "\",\"description\":\"\",\"parameters\":{\"type\":\"object\"," \
	"\"properties\":{},\"required\":[]}}"
#define OWN_TOOLS "[" TOOL("twice") "," TOOL("broken") "," TOOL("slow") "]"

#define ASKED(tools) "m1,v1,-,AUDIO,{\"enabled\":true}," tools ",-|"

/* The first frame, and what the provider is opened with. */
static const char *const openings[][2] = {
    {"{}", ASKED(OWN_TOOLS)},
    {"{\"model\": \"m2\", \"voice\": \"v2\", \"system_prompt\": \"p\", \"modalities\": \" text \", "
     "\"vad\": {\"enabled\": false, \"other\": 1, \"silence_duration_ms\": 300}}",
	"m2,v2,p,TEXT,{\"enabled\":false,\"silence_duration_ms\":300}," OWN_TOOLS ",-|"},
    {"{\"modalities\": [\"Audio\"]}", ASKED(OWN_TOOLS)},
    {"{\"model\": \"not listed\"}", ASKED(OWN_TOOLS)},
    /* tags narrow the tools */
    {"{\"tools_tags\": [\"a\"]}", ASKED("[" TOOL("twice") "]")},
    {"{\"tools_tags\": \"b\"}", ASKED("[" TOOL("broken") "," TOOL("slow") "]")},
    {"{\"tools_tags\": [\"a\", \"x\"]}", ASKED("[" TOOL("twice") "]")},
    {"{\"tools_tags\": [\"x\"]}", ASKED(OWN_TOOLS)},
    {"{\"tools_tags\": []}", ASKED(OWN_TOOLS)},
};

static void the_first_frame_overrides_the_agent(void)
{
	service = live_service("", "");
	for (size_t i = 0; i < UNIT_COUNT(openings); i++) {
		unit_row("%s", openings[i][0]);
		client_open(&c, service, openings[i][0]);
		CU_ASSERT_STRING_EQUAL(buf_str(&fake.asked), openings[i][1]);
		buf_reset(&fake.asked);
		client_free(&c);
	}
	service_close(service);
}

/* ---- frames */

static void input_reaches_the_model_in_order(void)
{
	begin("{}");
	send_audio(4, 1);
	send_text("{\"type\": \"activity_start\"}");
	send_audio(6, 2);
	send_text("{\"type\": \"activity_end\"}");
	send_text("{\"type\": \"text\", \"text\": \"hello\"}");
	client_settle(&c);
	HEARS("audio 4 1|start|audio 6 2|end|text hello|");
	SAYS("");
	end();
}

static void what_is_no_frame_is_ignored(void)
{
	static const char *const frames[] = {"nonsense", "[]", "5", "{}", "{\"type\": \"image\"}",
	    "{\"type\": 5}", "{\"type\": \"text\"}", "{\"type\": \"text\", \"text\": 5}",
	    "{\"type\": \"text\", \"text\": \"a\\u0000b\"}"};
	begin("{}");
	for (size_t i = 0; i < UNIT_COUNT(frames); i++)
		send_text(frames[i]);
	live_audio(c.live, "", 0);
	live_large(c.live, true);
	live_large(c.live, false);
	client_settle(&c);
	HEARS("");
	SAYS("");
	end();
}

static void half_a_sample_belongs_to_the_next_frame(void)
{
	begin("{}");
	live_audio(c.live, "\7", 1);
	live_audio(c.live, "\0\1\0\1", 4);
	live_audio(c.live, "\0", 1);
	live_audio(c.live, "\1", 1);
	send_text("{\"type\": \"activity_end\"}");
	send_audio(4, 8);
	client_settle(&c);
	HEARS("audio 4 7|audio 2 1|end|audio 4 8|");
	end();
}

static void a_frame_of_a_mebibyte_is_heard_and_a_longer_one_is_not(void)
{
	begin("{}");
	send_audio(1 << 20, 1);
	send_audio((1 << 20) + 1, 2);
	send_audio((1 << 20) + 2, 3);
	send_audio(2, 4);
	client_settle(&c);
	HEARS("audio 1048576 1|audio 2 4|");
	SAYS("");
	end();
}

static void of_too_many_frames_the_oldest_are_dropped(void)
{
	begin("{}");
	fake.stalls = true;
	for (int i = 1; i <= 2000; i++)
		send_audio(2, i);
	client_settle(&c);
	HEARS("");
	fake.stalls = false;
	client_settle(&c);
	live_step(c.live);
	const char *heard = fake_heard();
	CU_ASSERT_EQUAL(strncmp(heard, "audio 2 1001|audio 2 1002|", 26), 0);
	CU_ASSERT_STRING_EQUAL(heard + strlen(heard) - 13, "|audio 2 2000|" + 1);
	end();
}

static void the_queue_has_its_limit_from_the_environment(void)
{
	service = live_service("REALTIME_INPUT_QUEUE_MAXSIZE=3\nREALTIME_MAX_FRAME_BYTES=4\n", "");
	client_open(&c, service, "{}");
	fake.stalls = true;
	for (int i = 1; i <= 5; i++)
		send_audio(i == 4 ? 6 : 4, i);
	fake.stalls = false;
	client_settle(&c);
	live_step(c.live);
	HEARS("audio 4 2|audio 4 3|audio 4 5|");
	end();
}

static void input_before_the_connection_stands_waits_for_it(void)
{
	service = live_service("", "");
	client_open(&c, service, NULL);
	fake.silent = true;
	live_text(c.live, "{}", 2);
	send_audio(2, 1);
	client_settle(&c);
	HEARS("");
	fake.silent = false;
	live_step(c.live);
	client_settle(&c);
	HEARS("audio 2 1|");
	end();
}

/* ---- events */

/* What the provider says in one breath, and what comes of it. */
static const struct breath {
	const char *name;
	const char *init;
	const char *says;   /* client_says */
	const char *client; /* what it hears */
	const char *back;   /* what the provider hears */
	const char *kept;   /* in the thread; NULL where there is none */
	int opened;         /* connections */
} breaths[] = {
    {"events reach the client", THREAD,
	"in good|in  day|in!|audio 10|out hel|out lo|out! hello|complete|interrupted|handle h1|"
	"agent Bob|error slow_down not so fast|error  no code|",
	"input_transcript good|input_transcript  day|input_transcript! |audio 10|"
	"output_transcript hel|output_transcript lo|output_transcript! |turn_complete|"
	"interrupted|session_update h1|agent_changed Bob|error slow_down not so fast|"
	"error no code|",
	"", "user: good day|assistant: hello|", 1},
    {"a turn that ends finishes its transcript", THREAD,
	"out I was|interrupted|out And|out  then|complete|complete|",
	"output_transcript I was|output_transcript! |interrupted|output_transcript And|"
	"output_transcript  then|output_transcript! |turn_complete|turn_complete|",
	"", "assistant: I was|assistant: And then|", 1},
    {"pieces joined are the text, and the last one may be empty", THREAD,
	"out! at once|out one|out  two|out! one two three|in hallo|in! Hello.|in! again|"
	"out four five|out! four|out six|out! |",
	"output_transcript! at once|output_transcript one|output_transcript  two|"
	"output_transcript!  three|input_transcript hallo|input_transcript! |"
	"input_transcript! again|output_transcript four five|output_transcript! |"
	"output_transcript six|output_transcript! |",
	"", "assistant: at once|assistant: one two three|user: Hello.|user: again|assistant: four|",
	1},
    {"an end of nothing is told to nobody", "{}", "out!|in!|complete|out!|away 1234|",
	"turn_complete|go_away 1234s|", "", NULL, 2},
    /* OpenAI writes down what it hears beside its answer. */
    {"what the user said may be told after the answer", THREAD,
	"in!|in Hel|out! Yes|complete|in lo|in! Hello|",
	"input_transcript Hel|output_transcript! Yes|turn_complete|input_transcript lo|"
	"input_transcript! |",
	"", "assistant: Yes|user: Hello|", 1},
    {"or is finished by it", THREAD, "in Hello|complete|",
	"input_transcript Hello|input_transcript! |turn_complete|", "", "user: Hello|", 1},
    {"in text no audio is sent", "{\"modalities\": \"TEXT\"}", "audio 2|out! word|",
	"output_transcript! word|", "", NULL, 1},
    {"a fatal error ends the session", "{}",
	"fatal worn_out enough|out! too late|call i twice {}|lost too late|",
	"error! worn_out enough|close 1000 |", "", NULL, 1},
    {"the end of the provider ends the session", "{}", "ended|", "close 1000 |", "", NULL, 1},
    {"a tool is called and its result told, kept and given back", THREAD,
	"call c1 twice {\"n\": 4}|", "tool_call twice|tool_result 8|", "result c1 twice 8|",
	"tool: 8|", 1},
    {"a tool that fails is a result", "{}", "call c1 broken {}|",
	"tool_call broken|tool_result broken|", "result c1 broken \"broken\" failed|", NULL, 1},
    {"so is one that is not offered", "{}", "call c2 hidden {}|",
	"tool_call hidden|tool_result unknown tool: hidden|",
	"result c2 hidden \"unknown tool: hidden\" failed|", NULL, 1},
    {"before the other side goes another connection is made", "{}", "away 5|", "go_away 5s|", "",
	NULL, 2},
};

static void what_the_provider_says_is_told_and_kept(void)
{
	for (size_t i = 0; i < UNIT_COUNT(breaths); i++) {
		const struct breath *b = &breaths[i];
		unit_row("%s", b->name);
		begin(b->init);
		client_says(&c, b->says);
		client_settle_tools(&c);
		SAYS(b->client);
		HEARS(b->back);
		CU_ASSERT_EQUAL(fake.opened, b->opened);
		CU_ASSERT_EQUAL(live_is_over(c.live), strstr(b->client, "close") != NULL);
		if (b->kept)
			CU_ASSERT_STRING_EQUAL(stored(service, "t"), b->kept);
		end();
	}
}

static void texts_of_the_user_are_kept(void)
{
	begin(THREAD);
	send_text("{\"type\": \"text\", \"text\": \"typed\"}");
	CU_ASSERT_STRING_EQUAL(stored(service, "t"), "user: typed|");
	end();
}

static void a_client_that_does_not_keep_up_is_not_spoken_to(void)
{
	begin("{}");
	c.full = true;
	client_says(&c, "audio 2|out! word|");
	SAYS("");
	c.full = false;
	client_settle(&c);
	live_step(c.live);
	SAYS("audio 2|output_transcript! word|");
	end();
}

static void say_more_than_anybody_says(ag_live_session *s)
{
	enum { MIB = 1 << 20 };
	char *text = xmalloc(MIB + 1);
	memset(text, 'x', MIB);
	text[MIB] = '\0';
	for (int i = 0; i < 9; i++)
		ag_live_output_transcript(s, text, false);
	ag_live_output_transcript(s, "on", false);
	free(text);
}

static void what_is_said_without_end_is_cut(void)
{
	begin("{}");
	client_does(&c, say_more_than_anybody_says);
	const char *said = client_heard(&c);
	CU_ASSERT_STRING_EQUAL(strlen(said) > 40 ? said + strlen(said) - 40 : said,
	    "|output_transcript! |output_transcript on|" + 2);
	end();
}

static void say_garbage(ag_live_session *s)
{
	ag_live_input_transcript(s, "\xff\xfe", true);
	ag_live_input_transcript(s, NULL, false);
	ag_live_output_transcript(s, NULL, true);
	ag_live_audio(s, "123", 3);
	ag_live_audio(s, "", 1);
	ag_live_ready(s);
	ag_live_session_update(s, NULL);
	ag_live_agent_changed(s, NULL);
	ag_live_tool_call(s, NULL, NULL, NULL);
	ag_live_tool_call(s, "i", "twice", cJSON_CreateString("no object"));
	ag_live_error(s, "\xc3", false, "\xff");
}

static void garbage_does_no_harm(void)
{
	begin("{}");
	client_does(&c, say_garbage);
	client_settle_tools(&c);
	SAYS("input_transcript! ??|audio 2|session_update null|agent_changed |"
	     "tool_call |tool_call twice|error ? ?|tool_result unknown tool: |tool_result null|");
	end();
}

/* ---- tools */

static void call_slow(ag_live_session *s)
{
	for (int i = 0; i < 20; i++)
		ag_live_tool_call(s, "c3", "slow", cJSON_CreateObject());
}

static void a_slow_tool_holds_nothing_up(void)
{
	begin(THREAD);
	client_does(&c, call_slow);
	client_heard(&c);
	fake_heard();
	send_audio(2, 1);
	client_says(&c, "audio 2|out! word|");
	SAYS("audio 2|output_transcript! word|");
	HEARS("audio 2 1|");
	live_stop(c.live);
	SAYS("close 1001 Shutting down|");
	end();
}

/* ---- connections that are lost */

static void a_provider_that_cannot_be_reached_at_start_is_an_error(void)
{
	service = live_service("", "");
	fake.loses = true;
	client_open(&c, service, "{}");
	SAYS("error! provider_error the live provider cannot be reached: no ? route|close 1000 |");
	end();
	service = live_service("", "");
	fake.refuses = true;
	client_open(&c, service, "{}");
	SAYS("error! provider_error the live provider cannot be reached: the provider cannot be "
	     "used|close 1000 |");
	end();
}

static void in_production_the_error_tells_nothing(void)
{
	service = live_service("MODE=production\nORIGINS=http://example.org\n", ", \"auth\": null");
	fake.loses = true;
	client_open(&c, service, "{}");
	SAYS("error! provider_error An error occurred in a graph node.|close 1000 |");
	end();
}

static void a_provider_that_never_answers_is_given_up(void)
{
	service = live_service("", "");
	fake.silent = true;
	client_open(&c, service, "{}");
	client_pass(&c, 14999);
	SAYS("");
	client_pass(&c, 1);
	SAYS("error! provider_error the live provider cannot be reached: it does not answer|close "
	     "1000 |");
	end();
}

static void a_lost_connection_is_made_again_with_the_handle(void)
{
	begin("{}");
	buf_reset(&fake.asked);
	client_says(&c, "handle h7|out I am|lost gone|");
	SAYS("session_update h7|output_transcript I am|output_transcript! |");
	CU_ASSERT_EQUAL(fake.opened, 2);
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_str(&fake.asked), ",h7|"));
	send_audio(2, 9);
	client_settle(&c);
	HEARS("audio 2 9|");
	end();
}

static void it_is_tried_five_times_with_pauses(void)
{
	static const int pauses[] = {500, 1000, 2000, 4000};
	begin("{}");
	fake.loses = true;
	live_step(c.live);
	client_settle(&c);
	for (size_t i = 0; i < UNIT_COUNT(pauses); i++) {
		CU_ASSERT_EQUAL(fake.opened, (int)i + 2);
		client_pass(&c, pauses[i] - 1);
		CU_ASSERT_EQUAL(fake.opened, (int)i + 2);
		SAYS("");
		client_pass(&c, 1);
	}
	CU_ASSERT_EQUAL(fake.opened, 6);
	SAYS("error! reconnect_failed realtime session lost and could not be resumed after 5 "
	     "attempts|close 1000 |");
	end();
}

static void one_that_is_closed_at_once_each_time_is_given_up(void)
{
	begin("{}");
	fake.closes = true;
	client_says(&c, "lost gone|");
	client_pass(&c, 8000);
	CU_ASSERT_EQUAL(fake.opened, 6);
	SAYS("error! reconnect_failed realtime session lost and could not be resumed after 5 "
	     "attempts|close 1000 |");
	end();
}

static void one_that_was_of_use_is_tried_anew(void)
{
	begin("{}");
	for (int i = 0; i < 12; i++) {
		client_says(&c, "audio 2|out! word|");
		client_says(&c, "lost gone|");
		CU_ASSERT_EQUAL(fake.opened, i + 2);
	}
	end();
}

static void input_waits_for_the_next_connection(void)
{
	begin("{}");
	fake.silent = true;
	fake.stalls = true;
	send_audio(2, 3);
	ag_live_lost(fake.session, "gone");
	fake.stalls = false;
	client_settle(&c);
	CU_ASSERT_EQUAL(fake.opened, 2);
	HEARS("");
	fake.silent = false;
	live_step(c.live);
	client_settle(&c);
	HEARS("audio 2 3|");
	end();
}

static void go_away(ag_live_session *s)
{
	ag_live_go_away(s, 5);
}

static void but_not_in_the_middle_of_an_answer(void)
{
	begin("{}");
	client_says(&c, "out long|away 5|");
	CU_ASSERT_EQUAL(fake.opened, 1);
	client_says(&c, "complete|");
	CU_ASSERT_EQUAL(fake.opened, 2);
	SAYS("output_transcript long|go_away 5s|output_transcript! |turn_complete|");
	client_says(&c, "out long|away 5|");
	client_pass(&c, 4400);
	CU_ASSERT_EQUAL(fake.opened, 2);
	client_pass(&c, 200);
	CU_ASSERT_EQUAL(fake.opened, 3);
	end();
}

static void nor_before_a_text_is_answered(void)
{
	begin("{}");
	send_text("{\"type\": \"text\", \"text\": \"a\"}");
	client_says(&c, "away 5|");
	send_text("{\"type\": \"text\", \"text\": \"b\"}");
	CU_ASSERT_EQUAL(fake.opened, 1);
	HEARS("text a|");
	client_says(&c, "audio 2|out! word|");
	CU_ASSERT_EQUAL(fake.opened, 1);
	HEARS("");
	client_says(&c, "complete|");
	CU_ASSERT_EQUAL(fake.opened, 2);
	HEARS("text b|");
	end();
}

static void or_said_to_need_none(void)
{
	begin("{}");
	fake.replies = go_away;
	send_text("{\"type\": \"text\", \"text\": \"go\"}");
	CU_ASSERT_EQUAL(fake.opened, 2);
	SAYS("go_away 5s|");
	end();
}

/* When the session wants to be stepped again. */
static int due(void)
{
	struct pollfd fds[LIVE_FDS];
	return live_poll(c.live, fds);
}

static void but_that_has_a_limit(void)
{
	begin("{}");
	send_text("{\"type\": \"text\", \"text\": \"a\"}");
	client_says(&c, "away 60|");
	CU_ASSERT_EQUAL(due(), 10000);
	client_pass(&c, 9900);
	CU_ASSERT_EQUAL(fake.opened, 1);
	client_pass(&c, 200);
	CU_ASSERT_EQUAL(fake.opened, 2);
	end();
}

static void where_there_is_time_a_text_is_answered_before(void)
{
	begin("{}");
	client_says(&c, "call c3 slow {}|complete|away 60|");
	send_text("{\"type\": \"text\", \"text\": \"a\"}");
	CU_ASSERT_EQUAL(fake.opened, 1);
	HEARS("text a|");
	client_pass(&c, 50000);
	send_text("{\"type\": \"text\", \"text\": \"b\"}");
	HEARS("");
	client_pass(&c, 9600);
	CU_ASSERT_EQUAL(fake.opened, 2);
	HEARS("text b|");
	end();
}

static void nor_in_the_middle_of_speech(void)
{
	begin("{\"vad\": {\"enabled\": false}}");
	send_text("{\"type\": \"activity_start\"}");
	client_says(&c, "away 60|");
	send_audio(2, 1);
	send_text("{\"type\": \"activity_end\"}");
	CU_ASSERT_EQUAL(fake.opened, 1);
	HEARS("start|audio 2 1|end|");
	client_says(&c, "audio 2|out! word|");
	client_says(&c, "complete|");
	CU_ASSERT_EQUAL(fake.opened, 2);
	end();
}

static void nor_when_an_answer_was_cut(void)
{
	begin("{}");
	client_says(&c, "out I was|away 60|in Stop|interrupted|");
	CU_ASSERT_EQUAL(fake.opened, 1);
	client_says(&c, "audio 2|out! word|");
	client_says(&c, "complete|");
	CU_ASSERT_EQUAL(fake.opened, 2);
	end();
}

static void nor_before_the_handle_knows_of_the_answer(void)
{
	begin("{}");
	client_says(&c, "handle h1|out! So|away 60|complete|");
	send_audio(2, 1);
	client_settle(&c);
	CU_ASSERT_EQUAL(fake.opened, 1);
	HEARS("");
	buf_reset(&fake.asked);
	client_says(&c, "handle h2|");
	CU_ASSERT_EQUAL(fake.opened, 2);
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_str(&fake.asked), ",h2|"));
	HEARS("audio 2 1|");
	client_says(&c, "handle h1|out! So|away 60|complete|");
	CU_ASSERT_EQUAL(due(), 2000);
	client_pass(&c, 1900);
	CU_ASSERT_EQUAL(fake.opened, 2);
	client_pass(&c, 200);
	CU_ASSERT_EQUAL(fake.opened, 3);
	end();
}

static void speech_goes_on_in_the_next_connection(void)
{
	begin("{\"vad\": {\"enabled\": false}}");
	send_text("{\"type\": \"activity_start\"}");
	send_audio(2, 1);
	client_settle(&c);
	client_says(&c, "lost gone|");
	send_audio(2, 2);
	send_text("{\"type\": \"activity_end\"}");
	HEARS("start|audio 2 1|start|audio 2 2|end|");
	client_says(&c, "lost gone|");
	send_audio(2, 3);
	client_pass(&c, 500);
	HEARS("audio 2 3|");
	end();
}

static void a_silent_client_outlives_many_connections(void)
{
	begin("{}");
	for (int i = 0; i < 12; i++) {
		client_pass(&c, 60000);
		client_says(&c, "away 5|");
		CU_ASSERT_EQUAL(fake.opened, i + 2);
	}
	SAYS("go_away 5s|go_away 5s|go_away 5s|go_away 5s|go_away 5s|go_away 5s|go_away 5s|"
	     "go_away 5s|go_away 5s|go_away 5s|go_away 5s|go_away 5s|");
	end();
}

static void what_waits_to_rotate_is_said_before_the_end(void)
{
	begin("{}");
	client_says(&c, "call c3 slow {}|interrupted|away 5|");
	send_text("{\"type\": \"text\", \"text\": \"a\"}");
	HEARS("");
	send_text("{\"type\": \"close\"}");
	HEARS("text a|finish|");
	end();
}

static void the_handle_is_kept_with_the_thread(void)
{
	begin(THREAD);
	client_says(&c, "handle h1|");
	client_free(&c);
	buf_reset(&fake.asked);
	client_open(&c, service, THREAD);
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_str(&fake.asked), ",h1|"));
	client_says(&c, "handle|");
	client_free(&c);
	buf_reset(&fake.asked);
	client_open(&c, service, THREAD);
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_str(&fake.asked), ",-|"));
	end();
}

static void a_handle_that_is_refused_is_forgotten(void)
{
	begin(THREAD);
	client_says(&c, "handle h1|");
	client_free(&c);
	buf_reset(&fake.asked);
	fake.loses = true;
	client_open(&c, service, THREAD);
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_str(&fake.asked), ",h1|"));
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_str(&fake.asked), ",-|"));
	SAYS("error! provider_error the live provider cannot be reached: no ? route|close 1000 |");
	end();
}

/* ---- threads */

static void note_thread(ag_live_session *s)
{
	CU_ASSERT_STRING_EQUAL(stored(service, "t"), "");
	ag_live_turn_complete(s);
}

static void the_thread_is_there_before_the_first_event(void)
{
	service = live_service("", "");
	fake.next = note_thread;
	client_open(&c, service, THREAD);
	SAYS("turn_complete|");
	end();
}

static void a_thread_has_one_session(void)
{
	struct client second;
	begin(THREAD);
	client_open(&second, service, THREAD);
	CU_ASSERT_STRING_EQUAL(client_heard(&second),
	    "error! thread_busy Thread t is busy with another run|close 1000 |");
	client_free(&second);
	end();
}

static void a_client_that_is_gone_leaves_its_thread_to_others(void)
{
	struct client first;
	begin(THREAD);
	fake.stubborn = true;
	first = c;
	live_gone(c.live);
	client_settle(&c);
	fake.session = NULL;
	client_open(&first, service, THREAD);
	CU_ASSERT_STRING_EQUAL(client_heard(&first), "");
	client_free(&first);
	fake.session = NULL;
	end();
}

static void say_more_than_fits(ag_live_session *s)
{
	char *long_text = xcalloc(5001, 1);
	memset(long_text, 'x', 5000);
	ag_live_output_transcript(s, "short", true);
	ag_live_turn_complete(s);
	ag_live_output_transcript(s, long_text, true);
	ag_live_turn_complete(s);
	ag_live_output_transcript(s, "again", true);
	ag_live_turn_complete(s);
	free(long_text);
}

static void say_too_much_at_last(ag_live_session *s)
{
	say_more_than_fits(s);
	ag_live_ended(s);
}

static void what_does_not_fit_the_thread_is_said_but_not_stored(void)
{
	service = live_service("", ", \"threads\": {\"max_bytes\": 4000}");
	client_open(&c, service, THREAD);
	client_does(&c, say_more_than_fits);
	const char *said = client_heard(&c);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "xxx"));
	CU_ASSERT_PTR_NULL(strstr(said, "close"));
	said = strstr(said, "not_stored Thread t exceeds maximum 4000 bytes|");
	CU_ASSERT_PTR_NOT_NULL_FATAL(said);
	CU_ASSERT_PTR_NULL(strstr(said + 1, "not_stored")); /* once */
	CU_ASSERT_STRING_EQUAL(stored(service, "t"), "assistant: short|assistant: again|");
	send_text("{\"type\": \"text\", \"text\": \"go on\"}");
	HEARS("text go on|");
	end();
}

static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER; /* held while it is slow */
static bool (*write_at_once)(struct storage *st, const struct storage_context *ctx,
    struct thread_change *changes, size_t count);

static bool write_slowly(struct storage *st, const struct storage_context *ctx,
    struct thread_change *changes, size_t count)
{
	pthread_mutex_lock(&disk);
	pthread_mutex_unlock(&disk);
	return write_at_once(st, ctx, changes, count);
}

static size_t bars(const char *text)
{
	size_t count = 0;
	for (; *text; text++)
		count += *text == '|';
	return count;
}

static void texts_wait_for_a_slow_disk(void)
{
	static const char text[] = "{\"type\": \"text\", \"text\": \"on\"}";
	begin(THREAD);
	const struct thread_ops *quick = service->storage->threads;
	struct thread_ops slow = *quick;
	write_at_once = quick->write;
	slow.write = write_slowly;
	service->storage->threads = &slow;
	pthread_mutex_lock(&disk);
	for (int i = 0; i < 100; i++) {
		live_text(c.live, text, strlen(text));
		live_step(c.live);
	}
	/* one is being written */
	size_t heard = bars(fake_heard());
	CU_ASSERT(heard >= 16 && heard <= 17);
	pthread_mutex_unlock(&disk);
	client_settle(&c);
	CU_ASSERT_EQUAL(heard + bars(fake_heard()), 100);
	CU_ASSERT_EQUAL(bars(stored(service, "t")), 100);
	service->storage->threads = quick;
	end();
}

/* ---- the end */

static void close_lets_the_model_finish(void)
{
	begin(THREAD);
	fake.stubborn = true;
	send_audio(2, 1);
	send_text("{\"type\": \"close\"}");
	send_audio(2, 2);
	client_settle(&c);
	HEARS("audio 2 1|finish|");
	client_says(&c, "audio 2|out! word|");
	client_says(&c, "ended|");
	SAYS("audio 2|output_transcript! word|close 1000 |");
	CU_ASSERT_STRING_EQUAL(stored(service, "t"), "assistant: word|");
	end();
}

static void the_close_comes_when_all_is_stored(void)
{
	service = live_service("", ", \"threads\": {\"max_bytes\": 4000}");
	client_open(&c, service, THREAD);
	client_says(&c, "call c3 slow {}|");
	client_heard(&c);
	client_does(&c, say_too_much_at_last);
	const char *said = client_heard(&c);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "|tool_result t|"));
	CU_ASSERT_PTR_NOT_NULL(
	    strstr(said, "|error not_stored Thread t exceeds maximum 4000 bytes|"));
	CU_ASSERT_STRING_EQUAL(said + strlen(said) - strlen("close 1000 |"), "close 1000 |");
	CU_ASSERT_STRING_EQUAL(
	    stored(service, "t"), "assistant: short|assistant: again|tool: \"t\"|");
	end();
}

static void but_not_for_more_than_30_seconds(void)
{
	begin("{}");
	fake.stubborn = true;
	send_text("{\"type\": \"close\"}");
	client_pass(&c, 29999);
	SAYS("");
	client_pass(&c, 1);
	SAYS("close 1000 |");
	CU_ASSERT_EQUAL(fake.closed, 1);
	end();
}

static void the_model_may_finish_when_the_client_is_gone(void)
{
	begin(THREAD);
	fake.stubborn = true;
	client_says(&c, "out long|away 5|");
	client_heard(&c);
	live_gone(c.live);
	client_settle(&c);
	client_says(&c, "audio 2|out! word|");
	CU_ASSERT_FALSE(live_is_over(c.live));
	client_pass(&c, 30000);
	client_settle(&c);
	SAYS("");
	CU_ASSERT_TRUE(live_is_over(c.live));
	CU_ASSERT_STRING_EQUAL(stored(service, "t"), "assistant: word|");
	end();
}

/* The thread of that id afterwards, another one. */
static void put_another_thread(const char *id)
{
	struct storage *st = service->storage;
	struct arena *arena = arena_new();
	struct error err = {0};
	struct thread thread;
	CU_ASSERT_TRUE_FATAL(st->threads->get(st, NULL, arena, id, &thread, &err));
	struct lease *lease = st->threads->lease_acquire(st, NULL, id, CLAIM_ENQUEUE, 1000, &err);
	CU_ASSERT_TRUE_FATAL(st->threads->remove(st, NULL, lease, thread.row, &err));
	thread_blank(&thread, id, "somebody else");
	thread.created_at = thread.updated_at = clock_now();
	struct thread_write write = {.thread = &thread};
	CU_ASSERT_TRUE_FATAL(thread_write(st, NULL, lease, &write, &err));
	st->threads->lease_release(st, NULL, lease, &err);
	arena_free(arena);
}

static void what_comes_late_does_not_reach_another_thread_of_that_id(void)
{
	begin(THREAD);
	fake.stubborn = true;
	client_says(&c, "out long|away 5|");
	live_gone(c.live);
	client_settle(&c);
	put_another_thread("t");
	client_says(&c, "audio 2|out! word|");
	client_pass(&c, 30000);
	client_settle(&c);
	CU_ASSERT_TRUE(live_is_over(c.live));
	CU_ASSERT_STRING_EQUAL(stored(service, "t"), "");
	end();
}

static void a_client_that_leaves_before_the_first_frame_costs_nothing(void)
{
	begin(NULL);
	live_gone(c.live);
	CU_ASSERT_TRUE(live_is_over(c.live));
	CU_ASSERT_EQUAL(fake.opened, 0);
	end();
}

static void frames_before_a_hasty_close_are_answered(void)
{
	service = live_service("", "");
	client_open(&c, service, NULL);
	live_text(c.live, "{}", 2);
	live_text(c.live, "{\"type\":\"text\",\"text\":\"x\"}", 26);
	live_text(c.live, "{\"type\":\"close\"}", 16);
	client_settle(&c);
	HEARS("text x|finish|");
	SAYS("close 1000 |");
	end();
}

static void who_leaves_at_once_costs_no_connection(void)
{
	service = live_service("", "");
	client_open(&c, service, NULL);
	live_text(c.live, THREAD, strlen(THREAD));
	live_text(c.live, "{\"type\":\"close\"}", 16);
	client_settle(&c);
	SAYS("close 1000 |");
	CU_ASSERT_EQUAL(fake.opened, 0);
	CU_ASSERT_STRING_EQUAL(stored(service, "t"), "");
	end();
}

static void a_graph_that_is_not_live_says_so(void)
{
	service = live_service("", "");
	service->graph->live = NULL;
	client_open(&c, service, NULL);
	SAYS("error! not_live This graph is not a live (realtime) agent; use the turn-based "
	     "/v1/graph/ws endpoint instead of /v1/graph/live.|close 1008 Graph is not live|");
	CU_ASSERT_TRUE(live_is_over(c.live));
	end();
}

static const struct unit_test tests[] = {
    {"the first frame is checked", the_first_frame_is_checked},
    {"a first frame that is no text closes", a_first_frame_that_is_no_text_closes},
    {"so does none within 30 seconds", so_does_none_within_30_seconds},
    {"the first frame overrides the agent", the_first_frame_overrides_the_agent},
    {"input reaches the model in order", input_reaches_the_model_in_order},
    {"what is no frame is ignored", what_is_no_frame_is_ignored},
    {"half a sample belongs to the next frame", half_a_sample_belongs_to_the_next_frame},
    {"a frame of a mebibyte is heard and a longer one is not",
	a_frame_of_a_mebibyte_is_heard_and_a_longer_one_is_not},
    {"of too many frames the oldest are dropped", of_too_many_frames_the_oldest_are_dropped},
    {"the queue has its limit from the environment", the_queue_has_its_limit_from_the_environment},
    {"input before the connection stands waits for it",
	input_before_the_connection_stands_waits_for_it},
    {"what the provider says is told and kept", what_the_provider_says_is_told_and_kept},
    {"texts of the user are kept", texts_of_the_user_are_kept},
    {"a client that does not keep up is not spoken to",
	a_client_that_does_not_keep_up_is_not_spoken_to},
    {"garbage does no harm", garbage_does_no_harm},
    {"a slow tool holds nothing up", a_slow_tool_holds_nothing_up},
    {"a provider that cannot be reached at start is an error",
	a_provider_that_cannot_be_reached_at_start_is_an_error},
    {"in production the error tells nothing", in_production_the_error_tells_nothing},
    {"a provider that never answers is given up", a_provider_that_never_answers_is_given_up},
    {"a lost connection is made again with the handle",
	a_lost_connection_is_made_again_with_the_handle},
    {"it is tried five times with pauses", it_is_tried_five_times_with_pauses},
    {"one that is closed at once each time is given up",
	one_that_is_closed_at_once_each_time_is_given_up},
    {"one that was of use is tried anew", one_that_was_of_use_is_tried_anew},
    {"input waits for the next connection", input_waits_for_the_next_connection},
    {"but not in the middle of an answer", but_not_in_the_middle_of_an_answer},
    {"nor before a text is answered", nor_before_a_text_is_answered},
    {"or said to need no answer", or_said_to_need_none},
    {"but that has a limit", but_that_has_a_limit},
    {"where there is time a text is answered before",
	where_there_is_time_a_text_is_answered_before},
    {"nor in the middle of speech", nor_in_the_middle_of_speech},
    {"nor when an answer was cut", nor_when_an_answer_was_cut},
    {"nor before the handle knows of the answer", nor_before_the_handle_knows_of_the_answer},
    {"speech goes on in the next connection", speech_goes_on_in_the_next_connection},
    {"a silent client outlives many connections", a_silent_client_outlives_many_connections},
    {"what waits to rotate is said before the end", what_waits_to_rotate_is_said_before_the_end},
    {"the handle is kept with the thread", the_handle_is_kept_with_the_thread},
    {"a handle that is refused is forgotten", a_handle_that_is_refused_is_forgotten},
    {"the thread is there before the first event", the_thread_is_there_before_the_first_event},
    {"a thread has one session", a_thread_has_one_session},
    {"a client that is gone leaves its thread to others",
	a_client_that_is_gone_leaves_its_thread_to_others},
    {"close lets the model finish", close_lets_the_model_finish},
    {"the close comes when all is stored", the_close_comes_when_all_is_stored},
    {"but not for more than 30 seconds", but_not_for_more_than_30_seconds},
    {"the model may finish when the client is gone", the_model_may_finish_when_the_client_is_gone},
    {"what comes late does not reach another thread of that id",
	what_comes_late_does_not_reach_another_thread_of_that_id},
    {"what is said without end is cut", what_is_said_without_end_is_cut},
    {"what does not fit the thread is said, but not stored",
	what_does_not_fit_the_thread_is_said_but_not_stored},
    {"texts wait for a slow disk", texts_wait_for_a_slow_disk},
    {"a client that leaves before the first frame costs nothing",
	a_client_that_leaves_before_the_first_frame_costs_nothing},
    {"frames before a hasty close are answered", frames_before_a_hasty_close_are_answered},
    {"who leaves at once costs no connection", who_leaves_at_once_costs_no_connection},
    {"a graph that is not live says so", a_graph_that_is_not_live_says_so},
};

int main(void)
{
	memory_init();
	return unit_main("live", tests, UNIT_COUNT(tests));
}
