/* SPDX-License-Identifier: ISC */
/* Encoding, and a decoder that looks digits up in a table. */
#include "base/base64.h"

#include "base/memory.h"

#include <openssl/evp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* All digits of the text as groups of four, the missing ones of the last group as zeroes; false
 * where there is another sign. */
static bool base64_groups(const char *text, size_t count, char *out)
{
	uint8_t values[256] = {0}; /* of a digit, and 64 more, so that 0 is what is none */
	for (uint8_t i = 0; i < 64; i++)
		values[(uint8_t)digits[i]] = i | 64;
	for (size_t i = 0; i < count; i += 4) {
		uint32_t group = 0;
		for (size_t k = i; k < i + 4; k++) {
			uint8_t value = k < count ? values[(uint8_t)text[k]] : 64;
			if (!value)
				return false;
			group = group << 6 | (value & 63);
		}
		*out++ = (char)(group >> 16);
		*out++ = (char)(group >> 8);
		*out++ = (char)group;
	}
	return true;
}

char *base64_decode(const char *text, size_t *len)
{
	size_t total = strlen(text), count = total;
	while (count > 0 && total - count < 2 && text[count - 1] == '=')
		count--;
	if (total % 4 != 0)
		return NULL;
	char *out = xmalloc(total / 4 * 3 + 1);
	if (!base64_groups(text, count, out)) {
		free(out);
		return NULL;
	}
	*len = count / 4 * 3 + (count % 4 ? count % 4 - 1 : 0);
	out[*len] = '\0';
	return out;
}

char *base64_encode(const void *data, size_t len)
{
	char *text = xmalloc((len + 2) / 3 * 4 + 1);
	EVP_EncodeBlock((unsigned char *)text, data, (int)len);
	return text;
}
