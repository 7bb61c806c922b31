/* SPDX-License-Identifier: ISC */
/* Checking, cutting, decoding and repairing text; what is plain goes eight bytes at a time. */
#include "base/utf8.h"

#include "base/memory.h"

#include <string.h>

/* The same byte in all eight places of a word. */
#define EVERY(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Non-zero when one of the eight bytes is zero; the lowest bit that is set is exact, which is all
 * that matters here. */
static inline uint64_t utf8_has_zero(uint64_t word)
{
	return (word - EVERY(0x01)) & ~word & EVERY(0x80);
}

static inline uint64_t utf8_has_special(uint64_t word)
{
	uint64_t control = (word - EVERY(0x20)) & ~word & EVERY(0x80);
	return control | (word & EVERY(0x80)) | utf8_has_zero(word ^ EVERY('"')) |
	    utf8_has_zero(word ^ EVERY('\\'));
}

/* Whether what is left behind whole words is plain, by words that have bytes of it twice, or some
 * of those before it; false where there are too few. */
static inline bool utf8_rest_is_plain(const char *s, size_t len)
{
	uint64_t word;
	uint32_t halves[2];
	if (len >= sizeof(word)) {
		memcpy(&word, s + len - sizeof(word), sizeof(word));
		return !utf8_has_special(word);
	}
	if (len < sizeof(halves[0]))
		return false;
	memcpy(&halves[0], s, sizeof(halves[0]));
	memcpy(&halves[1], s + len - sizeof(halves[1]), sizeof(halves[1]));
	return !utf8_has_special((uint64_t)halves[0] << 32 | halves[1]);
}

size_t utf8_plain(const char *s, size_t len)
{
	size_t i = 0;
	for (uint64_t word; i + sizeof(word) <= len; i += sizeof(word)) {
		memcpy(&word, s + i, sizeof(word));
		if (utf8_has_special(word))
			break;
	}
	if (len - i < sizeof(uint64_t) && utf8_rest_is_plain(s, len))
		return len;
	for (; i < len; i++) {
		unsigned char c = (unsigned char)s[i];
		if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\')
			break;
	}
	return i;
}

static inline bool utf8_continues(unsigned char c)
{
	return (c & 0xC0) == 0x80;
}

/* The second byte decides about overlong forms, surrogates and the upper end (RFC 3629, 4). */
static inline bool utf8_second_fits(unsigned char lead, unsigned char second)
{
	switch (lead) {
	case 0xE0:
		return second >= 0xA0 && second <= 0xBF;
	case 0xED:
		return second >= 0x80 && second <= 0x9F;
	case 0xF0:
		return second >= 0x90 && second <= 0xBF;
	case 0xF4:
		return second >= 0x80 && second <= 0x8F;
	default:
		return utf8_continues(second);
	}
}

/* What the first byte promises; 0 for one that begins no character. */
static inline size_t utf8_promised(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead < 0xC2)
		return 0;
	if (lead < 0xE0)
		return 2;
	if (lead < 0xF0)
		return 3;
	return lead < 0xF5 ? 4 : 0;
}

size_t utf8_sequence(const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t n = utf8_promised(p[0]);
	if (n < 2)
		return n;
	if (n > len || !utf8_second_fits(p[0], p[1]))
		return 0;
	for (size_t i = 2; i < n; i++)
		if (!utf8_continues(p[i]))
			return 0;
	return n;
}

bool utf8_valid(const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		i += utf8_plain(s + i, len - i);
		if (i == len)
			break;
		size_t n = utf8_sequence(s + i, len - i);
		if (!n || s[i] == '\0')
			return false;
		i += n;
	}
	return true;
}

size_t utf8_cut(const char *s, size_t n)
{
	size_t lead = n;
	for (int back = 0; lead > 0 && back < 4; back++) {
		lead--;
		if (!utf8_continues((unsigned char)s[lead]))
			return utf8_promised((unsigned char)s[lead]) > n - lead ? lead : n;
	}
	return n; /* no UTF-8: any place is as good */
}

uint32_t utf8_decode(const char *s, size_t *len)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t n = utf8_promised(p[0]);
	*len = n ? n : 1;
	if (n < 2)
		return p[0];
	uint32_t c = p[0] & (0x7Fu >> n);
	for (size_t i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3Fu);
	return c;
}

void utf8_repair(char *s)
{
	size_t left = strlen(s);
	while (left) {
		size_t n = utf8_sequence(s, left);
		if (!n) {
			*s = '?';
			n = 1;
		}
		s += n;
		left -= n;
	}
}

size_t utf8_characters(const char *s)
{
	size_t count = 0;
	for (; *s; s++)
		count += !utf8_continues((unsigned char)*s);
	return count;
}

char *utf8_mend(const char *s)
{
	size_t left = strlen(s);
	char *copy = xmalloc(3 * left + 1), *out = copy;
	while (left) {
		size_t n = utf8_sequence(s, left);
		memcpy(out, n ? s : "\xEF\xBF\xBD", n ? n : 3);
		out += n ? n : 3;
		n = n ? n : 1;
		s += n;
		left -= n;
	}
	*out = '\0';
	return copy;
}
