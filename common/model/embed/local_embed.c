/* SPDX-License-Identifier: ISC */
/* Words and groups of letters, folded and hashed into the numbers of a vector. */
#include "model/embed/embed.h"

#include "base/utf8.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define WORD_MAX 64 /* characters; a longer one is cut into several */
#define EDGE 1      /* stands for the beginning and the end of a word */

/* What a word weighs as a whole, and all groups of letters in it together. */
#define WHOLE_WEIGHT 1.0f
#define GROUPS_WEIGHT 1.0f
#define SHORT_WEIGHT 0.4f /* words of up to SHORT characters say little: the, of, und */
#define SHORT 3

/* ---- letters ---- */

/* Latin letters with marks (U+00C0 to U+017F) without them, in lower case; '.' stays as it is. */
static const char plain_latin[] =
    "aaaaaa.ceeeeiiii.nooooo.ouuuuy..aaaaaa.ceeeeiiii.nooooo.ouuuuy.y" /* to U+00FF */
    "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii..jjkk.lllllll" /* to U+013F */
    "lllnnnnnnnnnoooooo..rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";

static uint32_t local_embed_fold(uint32_t c)
{
	if (c < 0x80)
		return (uint32_t)tolower((int)c);
	if (c >= 0xc0 && c < 0x180 && plain_latin[c - 0xc0] != '.')
		return (uint32_t)plain_latin[c - 0xc0];
	if ((c >= 0x391 && c <= 0x3a9) || (c >= 0x410 && c <= 0x42f))
		return c + 0x20; /* Greek, Cyrillic */
	return c;
}

static bool local_embed_is_letter(uint32_t c)
{
	if (c < 0x80)
		return isalnum((int)c);
	return c != 0xa0 && !(c >= 0x2000 && c <= 0x206f) && c != 0x3000 && c != 0x3001 &&
	    c != 0x3002;
}

/* ---- features ---- */

static uint64_t local_embed_hash_of(const uint32_t *chars, size_t count, uint64_t seed)
{
	uint64_t h = seed * 0x9e3779b97f4a7c15u + count;
	for (size_t i = 0; i < count; i++) {
		h = (h ^ chars[i]) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	h *= 0xc4ceb9fe1a85ec53u;
	return h ^ h >> 29;
}

/* The sign makes collisions cancel out on average instead of adding up. */
static void local_embed_add(float *vector, uint64_t hash, float weight)
{
	float *number = &vector[(hash >> 1) % LOCAL_EMBED_DIMENSIONS];
	*number += hash & 1 ? weight : -weight;
}

struct word {
	uint32_t chars[WORD_MAX + 2]; /* an edge on both sides */
	size_t count;                 /* with the edges */
	bool unspaced;
};

static void word_add_groups(float *vector, const struct word *w, size_t size, float weight)
{
	for (size_t i = 0; i + size <= w->count; i++)
		local_embed_add(vector, local_embed_hash_of(w->chars + i, size, size), weight);
}

static size_t word_count_groups(const struct word *w, size_t size)
{
	return w->count >= size ? w->count - size + 1 : 0;
}

static void word_add(float *vector, struct word *w)
{
	size_t small = w->unspaced ? 2 : 3, letters = w->count - 1;
	if (letters == 0)
		return;
	w->chars[w->count++] = EDGE;
	float weight = letters <= SHORT && !w->unspaced ? SHORT_WEIGHT : 1;
	size_t groups = word_count_groups(w, small) + word_count_groups(w, small + 1);
	local_embed_add(vector, local_embed_hash_of(w->chars, w->count, 0), weight * WHOLE_WEIGHT);
	if (groups) {
		float each = weight * GROUPS_WEIGHT / sqrtf((float)groups);
		word_add_groups(vector, w, small, each);
		word_add_groups(vector, w, small + 1, each);
	}
}

static void word_begin(struct word *w)
{
	w->chars[0] = EDGE;
	w->count = 1;
	w->unspaced = false;
}

static float local_embed_length_of(const float *vector)
{
	float squares = 0;
	for (size_t i = 0; i < LOCAL_EMBED_DIMENSIONS; i++)
		squares += vector[i] * vector[i];
	return sqrtf(squares);
}

void local_embed(const char *text, float vector[LOCAL_EMBED_DIMENSIONS])
{
	struct word w;
	size_t len;
	memset(vector, 0, LOCAL_EMBED_DIMENSIONS * sizeof(*vector));
	word_begin(&w);
	for (const char *p = text; *p; p += len) {
		uint32_t c = utf8_decode(p, &len);
		if (!local_embed_is_letter(c) || w.count > WORD_MAX) {
			word_add(vector, &w);
			word_begin(&w);
		}
		if (local_embed_is_letter(c)) {
			w.chars[w.count++] = local_embed_fold(c);
			/* scripts that have no blanks between words */
			w.unspaced = w.unspaced || (c >= 0x2e80 && c < 0xac00);
		}
	}
	word_add(vector, &w);
	float length = local_embed_length_of(vector);
	if (length <= 0) {
		/* a text without a word is one feature: nothing is near it but itself */
		uint64_t hash = 1;
		for (const char *p = text; *p; p += len) {
			uint32_t c = utf8_decode(p, &len);
			if (c > ' ')
				hash = local_embed_hash_of(&c, 1, hash);
		}
		if (hash != 1)
			local_embed_add(vector, hash, 1);
		length = local_embed_length_of(vector);
	}
	for (size_t i = 0; length > 0 && i < LOCAL_EMBED_DIMENSIONS; i++)
		vector[i] /= length;
}
