/* SPDX-License-Identifier: ISC */
/*
 * Where utterances start and end in a stream of audio: by loudness, or as somebody tells.
 *
 * - A window is 20 ms, counted from the first sample; it is loud when its root mean square is above
 *   -45 dB of full scale (32768).  An utterance starts with three loud windows in a row, and ends
 *   when silence_ms have passed in windows that are not loud, or with the input.  It reaches from
 *   its first loud window to its last one.
 * - An utterance is 60 s at most: by loudness another one may follow, else the rest is not heard.
 */
#ifndef AGENTGRAPH_GRAPH_LIVE_VOICE_H
#define AGENTGRAPH_GRAPH_LIVE_VOICE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define VOICE_HZ 16000 /* of the samples: 16 bits, one channel */
#define VOICE_WINDOW_MS 20
#define VOICE_WINDOW (VOICE_HZ * VOICE_WINDOW_MS / 1000) /* samples */

struct voice {
	/* set by the owner */
	bool told; /* voice_activity tells the bounds, and loudness does not matter */
	int silence_ms;
	void (*started)(void *owner);
	void (*ended)(void *owner, struct buf speech); /* which is then the owner's */
	void *owner;

	/* zero in the beginning */
	int16_t window[VOICE_WINDOW];
	size_t filled;         /* samples of the window */
	bool speaking;         /* inside an utterance */
	int loud_ms, quiet_ms; /* in a row */
	struct buf utterance;  /* also the loud windows that may become one */
};

/* The next samples of the stream; calls started and ended, as often as that happens in them. */
void voice_hear(struct voice *v, const int16_t *samples, size_t count);

/* Tells that an utterance starts or ends now; without effect when it has already, or when told is
 * false. */
void voice_activity(struct voice *v, bool starts);

/* The input ends, and with it an utterance, without the silence at its end. */
void voice_finish(struct voice *v);

/* Forgets what was heard, and frees it. */
void voice_clear(struct voice *v);

#endif
