/* SPDX-License-Identifier: ISC */
/* Answers of an embeddings service: an accepted one has finite numbers in every place. */
#include "model/embed/embed.h"
#include "replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	float vectors[6] = {NAN, NAN, NAN, NAN, NAN, NAN};
	char *text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = '\0';
	const char *wrong = embed_scan(text, size, 2, 3, vectors);
	for (size_t i = 0; !wrong && i < 6; i++)
		require(isfinite(vectors[i]));
	free(text);
	return 0;
}
