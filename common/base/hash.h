/* SPDX-License-Identifier: ISC */
/*
 * Hashes of texts, FNV-1a: quick for short texts and the same everywhere.  Collisions are easy to
 * make on purpose, so where strangers choose the texts they must do no harm.
 *
 * The values are stored: 64 bits of them in store.db and the files of vectors, 32 in the shared
 * memory of an instance.  So the function cannot change without them.
 */
#ifndef AGENTGRAPH_BASE_HASH_H
#define AGENTGRAPH_BASE_HASH_H

#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* Goes on from hash, which is HASH_START or what an earlier call gave. */
static inline uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

static inline uint32_t hash_text_32(const char *text)
{
	uint32_t hash = 2166136261u;
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return hash;
}

#endif
