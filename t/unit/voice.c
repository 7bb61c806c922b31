/* SPDX-License-Identifier: ISC */
/* Where utterances start and end. */
#include "graph/live/voice.h"

#include "unit.h"

#include <stdio.h>
#include <string.h>

#define LOUD 1000
#define QUIET 100 /* -45 dB of full scale is 184 */

static struct voice voice;
static char heard[200]; /* "start 60|": what happened, with the milliseconds of an utterance */

static void on_start(void *owner)
{
	CU_ASSERT_PTR_EQUAL(owner, heard);
	snprintf(heard + strlen(heard), sizeof(heard) - strlen(heard), "start|");
}

static void on_end(void *owner, struct buf speech)
{
	CU_ASSERT_PTR_EQUAL(owner, heard);
	snprintf(heard + strlen(heard), sizeof(heard) - strlen(heard), "%zu|",
	    speech.len * 1000 / sizeof(int16_t) / VOICE_HZ);
	buf_release(&speech);
}

static void begin(bool told)
{
	voice_clear(&voice);
	voice = (struct voice){
	    .told = told, .silence_ms = 500, .started = on_start, .ended = on_end, .owner = heard};
	*heard = '\0';
}

/* Samples come in pieces that fit no window. */
static void hear(int16_t level, size_t ms)
{
	int16_t piece[77];
	size_t left = ms * VOICE_HZ / 1000;
	for (size_t i = 0; i < UNIT_COUNT(piece); i++)
		piece[i] = (int16_t)(i % 2 ? level : -level);
	while (left > 0) {
		size_t n = left < UNIT_COUNT(piece) ? left : UNIT_COUNT(piece);
		voice_hear(&voice, piece, n);
		left -= n;
	}
}

#define HEARD(expected) CU_ASSERT_STRING_EQUAL(heard, expected)

static void an_utterance_is_loud(void)
{
	begin(false);
	hear(QUIET, 300);
	hear(LOUD, 59);
	HEARD("");
	hear(LOUD, 141);
	HEARD("start|");
	hear(QUIET, 499);
	HEARD("start|");
	hear(QUIET, 1);
	HEARD("start|200|");
}

static void a_short_noise_is_none(void)
{
	begin(false);
	for (int i = 0; i < 10; i++) {
		hear(LOUD, 40);
		hear(QUIET, 20);
	}
	HEARD("");
	CU_ASSERT_EQUAL(voice.utterance.len, 0);
}

static void a_pause_is_part_of_it(void)
{
	begin(false);
	hear(LOUD, 100);
	hear(QUIET, 480);
	hear(LOUD, 100);
	hear(QUIET, 500);
	HEARD("start|680|");
}

static void the_end_of_the_input_ends_it(void)
{
	begin(false);
	hear(LOUD, 100);
	hear(QUIET, 100);
	voice_finish(&voice);
	HEARD("start|100|");
	voice_finish(&voice);
	HEARD("start|100|");
}

static void it_has_a_longest_length(void)
{
	begin(false);
	hear(LOUD, 60000);
	HEARD("start|60000|");
	hear(LOUD, 100);
	HEARD("start|60000|start|");
	begin(true);
	voice_activity(&voice, true);
	hear(QUIET, 61000);
	voice_activity(&voice, false);
	CU_ASSERT_EQUAL(strncmp(heard, "start|6000", 10), 0);
}

static void it_can_be_told(void)
{
	begin(true);
	hear(LOUD, 1000);
	HEARD("");
	voice_activity(&voice, true);
	voice_activity(&voice, true);
	hear(QUIET, 700);
	voice_activity(&voice, false);
	voice_activity(&voice, false);
	HEARD("start|700|");
}

static void nobody_tells_where_loudness_does(void)
{
	begin(false);
	voice_activity(&voice, true);
	hear(QUIET, 100);
	voice_activity(&voice, false);
	HEARD("");
}

static void what_is_forgotten_is_not_heard(void)
{
	begin(false);
	hear(LOUD, 50);
	voice_clear(&voice);
	hear(LOUD, 50);
	HEARD("");
	hear(LOUD, 30);
	HEARD("start|");
	voice_clear(&voice);
	voice_finish(&voice);
	HEARD("start|");
}

static const struct unit_test tests[] = {
    {"an utterance is loud", an_utterance_is_loud},
    {"a short noise is none", a_short_noise_is_none},
    {"a pause is part of it", a_pause_is_part_of_it},
    {"the end of the input ends it", the_end_of_the_input_ends_it},
    {"it has a longest length", it_has_a_longest_length},
    {"it can be told", it_can_be_told},
    {"nobody tells where loudness does", nobody_tells_where_loudness_does},
    {"what is forgotten is not heard", what_is_forgotten_is_not_heard},
};

int main(void)
{
	int status = unit_main("voice", tests, UNIT_COUNT(tests));
	voice_clear(&voice);
	return status;
}
