/* SPDX-License-Identifier: ISC */
/* Hearing windows of 20 ms one by one, and collecting the samples of an utterance. */
#include "graph/live/voice.h"

#include <string.h>

#define START_MS 60
#define LONGEST_MS 60000
#define LOUD (32768.0 * 32768.0 * 3.1622776601683795e-5) /* -45 dB, squared */

static void voice_end_after(struct voice *v, size_t samples)
{
	struct buf speech = v->utterance;
	speech.len = samples * sizeof(int16_t);
	v->utterance = (struct buf){0};
	v->speaking = false;
	v->loud_ms = v->quiet_ms = 0;
	v->ended(v->owner, speech);
}

static void voice_end(struct voice *v)
{
	voice_end_after(v, v->utterance.len / sizeof(int16_t));
}

/* Ends the utterance, without the silence at its end. */
static void voice_end_loud(struct voice *v)
{
	size_t quiet = (size_t)(v->quiet_ms / VOICE_WINDOW_MS) * VOICE_WINDOW;
	voice_end_after(v, v->utterance.len / sizeof(int16_t) - quiet);
}

static bool voice_is_longest(const struct voice *v)
{
	return v->utterance.len >= (size_t)VOICE_HZ / 1000 * LONGEST_MS * sizeof(int16_t);
}

static void voice_hear_window(struct voice *v)
{
	double sum = 0;
	for (size_t i = 0; i < VOICE_WINDOW; i++)
		sum += (double)v->window[i] * v->window[i];
	bool loud = sum / VOICE_WINDOW > LOUD;
	v->loud_ms = loud ? v->loud_ms + VOICE_WINDOW_MS : 0;
	v->quiet_ms = loud ? 0 : v->quiet_ms + VOICE_WINDOW_MS;
	if (!v->speaking && !loud) {
		buf_release(&v->utterance);
		return;
	}
	buf_add(&v->utterance, v->window, sizeof(v->window));
	if (!v->speaking && v->loud_ms >= START_MS) {
		v->speaking = true;
		v->started(v->owner);
	}
	if (v->speaking && (v->quiet_ms >= v->silence_ms || voice_is_longest(v)) && !loud)
		voice_end_loud(v);
	else if (v->speaking && voice_is_longest(v))
		voice_end(v);
}

void voice_hear(struct voice *v, const int16_t *samples, size_t count)
{
	if (v->told) {
		if (v->speaking && !voice_is_longest(v))
			buf_add(&v->utterance, samples, count * sizeof(*samples));
		return;
	}
	while (count > 0) {
		size_t n = VOICE_WINDOW - v->filled < count ? VOICE_WINDOW - v->filled : count;
		memcpy(v->window + v->filled, samples, n * sizeof(*samples));
		v->filled += n;
		samples += n;
		count -= n;
		if (v->filled < VOICE_WINDOW)
			return;
		v->filled = 0;
		voice_hear_window(v);
	}
}

void voice_activity(struct voice *v, bool starts)
{
	if (!v->told || starts == v->speaking)
		return;
	v->speaking = starts;
	if (starts)
		v->started(v->owner);
	else
		voice_end(v);
}

void voice_finish(struct voice *v)
{
	if (v->speaking)
		voice_end_loud(v);
}

void voice_clear(struct voice *v)
{
	v->speaking = false;
	v->filled = 0;
	v->loud_ms = v->quiet_ms = 0;
	buf_release(&v->utterance);
}
