/* SPDX-License-Identifier: ISC */
/* Guessing the encoding from the first bytes, and converting with replacements. */
#include "extract/charset.h"

#include "base/utf8.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define LOOK 1024 /* bytes in which a document may name its character set */
#define NAME_SIZE 32
#define HELD 16 /* bytes that a converter may hold back, at most */
#define REPLACEMENT "\xef\xbf\xbd"

/* Names in use on the web that are neither UTF-8 nor windows-1252, and what iconv calls them. */
static const struct {
	const char *name, *iconv;
} charsets[] = {
    {"windows-1250", "CP1250"},
    {"windows-1251", "CP1251"},
    {"windows-1253", "CP1253"},
    {"windows-1254", "CP1254"},
    {"windows-1255", "CP1255"},
    {"windows-1256", "CP1256"},
    {"windows-1257", "CP1257"},
    {"windows-1258", "CP1258"},
    {"windows-874", "CP874"},
    {"iso-8859-2", "ISO-8859-2"},
    {"iso-8859-3", "ISO-8859-3"},
    {"iso-8859-4", "ISO-8859-4"},
    {"iso-8859-5", "ISO-8859-5"},
    {"iso-8859-6", "ISO-8859-6"},
    {"iso-8859-7", "ISO-8859-7"},
    {"iso-8859-8", "ISO-8859-8"},
    {"iso-8859-9", "CP1254"},
    {"iso-8859-10", "ISO-8859-10"},
    {"iso-8859-13", "ISO-8859-13"},
    {"iso-8859-14", "ISO-8859-14"},
    {"iso-8859-15", "ISO-8859-15"},
    {"iso-8859-16", "ISO-8859-16"},
    {"koi8-r", "KOI8-R"},
    {"koi8-u", "KOI8-U"},
    {"ibm866", "CP866"},
    {"macintosh", "MACINTOSH"},
    {"shift_jis", "CP932"},
    {"shift-jis", "CP932"},
    {"windows-31j", "CP932"},
    {"euc-jp", "EUC-JP"},
    {"iso-2022-jp", "ISO-2022-JP"},
    {"euc-kr", "CP949"},
    {"gbk", "GB18030"},
    {"gb2312", "GB18030"},
    {"gb18030", "GB18030"},
    {"big5", "BIG5-HKSCS"},
};

static bool charset_begins(const char *data, size_t len, const char *with)
{
	return len >= strlen(with) && memcmp(data, with, strlen(with)) == 0;
}

/* Finds the name behind word, an equals sign and perhaps a quote; false when there is none. */
static bool charset_name_behind(
    const char *data, size_t len, const char *word, char name[NAME_SIZE])
{
	const char *end = data + len, *at = NULL;
	size_t n = 0, size = strlen(word);
	for (size_t i = 0; !at && i + size <= len; i++)
		if (strncasecmp(data + i, word, size) == 0)
			at = data + i + size;
	while (at && at < end && memchr(" \t\r\n=\"'", *at, 8))
		at++;
	while (at && at < end && n + 1 < NAME_SIZE && memchr("\"' \t\r\n;>?/", *at, 10) == NULL)
		name[n++] = *at++;
	name[n] = '\0';
	return n > 0;
}

static const char *charset_by_name(const char *data, size_t len)
{
	char name[NAME_SIZE];
	bool xml = charset_begins(data, len, "<?xml");
	const char *xml_end = xml ? memchr(data, '>', len) : NULL;
	size_t head = xml_end ? (size_t)(xml_end - data) : len;
	if (!(xml && charset_name_behind(data, head, "encoding", name)) &&
	    !charset_name_behind(data, len, "charset", name))
		return NULL;
	for (size_t i = 0; i < sizeof(charsets) / sizeof(charsets[0]); i++)
		if (strcasecmp(name, charsets[i].name) == 0)
			return charsets[i].iconv;
	return NULL;
}

struct charset charset_open(const char *data, size_t len, bool named)
{
	/* XML without a mark begins with the character '<' all the same */
	static const struct {
		char bytes[2];
		bool xml;
		const char *charset;
	} firsts[] = {{{'\xff', '\xfe'}, false, "UTF-16LE"}, {{'\xfe', '\xff'}, false, "UTF-16BE"},
	    {{'<', '\0'}, true, "UTF-16LE"}, {{'\0', '<'}, true, "UTF-16BE"}};
	const char *name = NULL;
	struct charset charset = {CHARSET_NONE, 1};
	for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]) && len >= 2; i++)
		if (memcmp(data, firsts[i].bytes, 2) == 0 && (named || !firsts[i].xml))
			name = firsts[i].charset;
	if (name)
		charset.unit = sizeof(firsts[0].bytes);
	else if (named)
		name = charset_by_name(data, len < LOOK ? len : LOOK);
	if (name)
		charset.converter = iconv_open("UTF-8", name);
	return charset;
}

/* ---- converting ---- */

/* Has the converter give out a letter that it holds back for a mark that may follow, as in
 * windows-1258. */
static void charset_give_held(const struct charset *charset, struct buf *out)
{
	char *to = buf_reserve(out, HELD);
	size_t left = HELD;
	iconv(charset->converter, NULL, NULL, &to, &left);
	out->len += HELD - left;
}

/* Converts with iconv; each unit that is wrong becomes one replacement. */
static void charset_by_iconv(
    const struct charset *charset, const char *data, size_t len, struct buf *out)
{
	char *in = (char *)data;
	while (len > 0) {
		size_t size = 2 * len + 16;
		char *to = buf_reserve(out, size);
		size_t left = size;
		size_t done = iconv(charset->converter, &in, &len, &to, &left);
		out->len += size - left;
		if (done != (size_t)-1 || errno == E2BIG)
			continue;
		bool cut = errno == EINVAL; /* half a character at the end */
		charset_give_held(charset, out);
		buf_puts(out, REPLACEMENT);
		if (cut)
			break;
		size_t wrong = len < charset->unit ? len : charset->unit;
		in += wrong;
		len -= wrong;
	}
	charset_give_held(charset, out);
	buf_add(out, "", 0);
}

/* The bytes 0x80 to 0x9f, where windows-1252 differs from ISO 8859-1. */
static const uint16_t windows[32] = {0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021,
    0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0x8d, 0x17d, 0x8f, 0x90, 0x2018, 0x2019, 0x201c, 0x201d,
    0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0x9d, 0x17e, 0x178};

static void charset_from_windows(const char *data, size_t len, struct buf *out)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)data[i];
		uint32_t c = byte < 0x80 || byte >= 0xa0 ? byte : windows[byte - 0x80];
		if (c < 0x80) {
			buf_putc(out, (char)c);
			continue;
		}
		if (c < 0x800) {
			buf_putc(out, (char)(0xc0 | c >> 6));
		} else {
			buf_putc(out, (char)(0xe0 | c >> 12));
			buf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
		}
		buf_putc(out, (char)(0x80 | (c & 0x3f)));
	}
}

/* Whether the bytes are UTF-8, of which the last character may be cut off. */
static bool charset_is_utf8(const char *data, size_t len)
{
	size_t at = 0;
	while (at < len) {
		at += utf8_plain(data + at, len - at);
		size_t n = at < len ? utf8_sequence(data + at, len - at) : 1;
		if (n == 0)
			return false;
		at += at < len ? n : 0;
	}
	return true;
}

void charset_convert(const struct charset *charset, const char *data, size_t len, struct buf *out)
{
	size_t before = out->len;
	if (charset->converter != CHARSET_NONE)
		charset_by_iconv(charset, data, len, out);
	else if (charset_is_utf8(data, len))
		buf_add(out, data, len);
	else
		charset_from_windows(data, len, out);
	if (charset_begins(buf_str(out) + before, out->len - before, "\xef\xbb\xbf")) {
		out->len -= 3;
		memmove(out->data + before, out->data + before + 3, out->len - before + 1);
	}
}
