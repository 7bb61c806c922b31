/* SPDX-License-Identifier: ISC */
/* Loading speexdsp, and passing samples through it. */
#include "model/realtime/resample.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include <speex/speex_resampler.h>

#define LIBRARY "libspeexdsp.so.1"
#define QUALITY 5
#define PART 4096 /* samples a step */

struct resampler {
	SpeexResamplerState *state;
	unsigned from, to;
};

/* The library's functions, once loaded. */
static struct {
	__typeof__(&speex_resampler_init) init;
	__typeof__(&speex_resampler_destroy) destroy;
	__typeof__(&speex_resampler_process_int) process;
	__typeof__(&speex_resampler_reset_mem) reset;
	bool there;
} speex;

static void resample_load(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	speex.there = library && library_find(library, "speex_resampler_init", &speex.init) &&
	    library_find(library, "speex_resampler_destroy", &speex.destroy) &&
	    library_find(library, "speex_resampler_process_int", &speex.process) &&
	    library_find(library, "speex_resampler_reset_mem", &speex.reset);
	if (!speex.there)
		log_error("audio cannot be resampled: %s", dlerror());
}

struct resampler *resampler_new(unsigned from_hz, unsigned to_hz)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int error = 0;
	pthread_once(&once, resample_load);
	if (!speex.there)
		return NULL;
	struct resampler *r = xcalloc(1, sizeof(*r));
	r->from = from_hz;
	r->to = to_hz;
	r->state = speex.init(1, from_hz, to_hz, QUALITY, &error);
	if (!r->state)
		abort(); /* only for want of memory */
	return r;
}

void resampler_free(struct resampler *r)
{
	if (!r)
		return;
	speex.destroy(r->state);
	free(r);
}

void resampler_reset(struct resampler *r)
{
	speex.reset(r->state);
}

void resampler_run(struct resampler *r, const int16_t *samples, size_t count, struct buf *out)
{
	while (count > 0) {
		spx_uint32_t in = count < PART ? (spx_uint32_t)count : PART;
		spx_uint32_t made = (spx_uint32_t)((uint64_t)in * r->to / r->from) + 2;
		int16_t *to = (int16_t *)(void *)buf_reserve(out, made * sizeof(*to));
		speex.process(r->state, 0, samples, &in, to, &made);
		out->len += made * sizeof(*to);
		samples += in;
		count -= in;
	}
	if (out->data)
		out->data[out->len] = '\0';
}
