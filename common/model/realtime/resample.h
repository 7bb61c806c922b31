/* SPDX-License-Identifier: ISC */
/*
 * Audio at another rate: PCM16 mono, by speexdsp at quality 5 (2.5 ms of delay at these rates).
 *
 * The library is loaded with the first resampler, so that a process without audio does not pay for
 * it.
 */
#ifndef AGENTGRAPH_MODEL_REALTIME_RESAMPLE_H
#define AGENTGRAPH_MODEL_REALTIME_RESAMPLE_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

struct resampler;

/* NULL when speexdsp cannot be loaded; the log then says why. */
struct resampler *resampler_new(unsigned from_hz, unsigned to_hz);

/* NULL is fine. */
void resampler_free(struct resampler *r);

/* Forgets what came before: the next sample begins a new stream. */
void resampler_reset(struct resampler *r);

/* Appends the samples that follow from count more, as native 16-bit words. */
void resampler_run(struct resampler *r, const int16_t *samples, size_t count, struct buf *out);

#endif
