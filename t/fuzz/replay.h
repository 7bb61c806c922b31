/* SPDX-License-Identifier: ISC */
/*
 * What each fuzz target exports, in the form that libFuzzer asks for.
 *
 * t/fuzz/NAME.c defines it for one parser; t/fuzz/corpus/NAME/ holds inputs.  In ordinary test runs
 * replay.c is its main program and gives it every file of the corpus; `make fuzz FUZZ=NAME` lets
 * libFuzzer look for new ones.
 */
#ifndef AGENTGRAPH_FUZZ_REPLAY_H
#define AGENTGRAPH_FUZZ_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Feeds the parser one input; returns 0.  A finding is a crash, a failed assertion, or a
 * sanitizer's report. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold for every input. */
static inline void require(bool condition)
{
	if (!condition)
		abort();
}

#endif
