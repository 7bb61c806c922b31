/* SPDX-License-Identifier: ISC */
/* Finding mail addresses, IP addresses and long numbers in running text. */
#include "telemetry/tracker.h"

#include "base/log/redact.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define LONG_NUMBER 9

/* Letters of any script count: their bytes are beyond ASCII. */
static bool scrub_in_word(char c)
{
	unsigned char u = (unsigned char)c;
	return isalnum(u) || u >= 0x80 || (u && strchr("@.+-_%", u));
}

static size_t digits_of(const char *word, size_t len)
{
	size_t count = 0;
	for (size_t i = 0; i < len; i++)
		count += isdigit((unsigned char)word[i]) != 0;
	return count;
}

static bool is_ipv4(const char *word, size_t len)
{
	int dots = 0, digits = 0;
	for (size_t i = 0; i < len; i++) {
		if (word[i] == '.' && digits && i + 1 < len) {
			dots++;
			digits = 0;
		} else if (isdigit((unsigned char)word[i]) && digits < 3) {
			digits++;
		} else if (!(word[i] == '.' && i + 1 == len)) {
			return false;
		}
	}
	return dots == 3;
}

static void scrub_put_word(struct buf *out, const char *word, size_t len)
{
	const char *at = memchr(word, '@', len);
	if (at && at > word && at < word + len - 1)
		buf_puts(out, "[mail]");
	else if (is_ipv4(word, len))
		buf_puts(out, "[address]");
	else if (digits_of(word, len) >= LONG_NUMBER && strspn(word, "0123456789+-._") >= len)
		buf_puts(out, "[number]");
	else
		buf_add(out, word, len);
}

void scrub(struct buf *out, const char *text)
{
	struct buf clean = {0};
	redact(&clean, text);
	const char *none_before = buf_str(&clean); /* where a number may begin again */
	for (const char *at = none_before; *at;) {
		/* numbers are also written in groups with blanks between them */
		bool begins = *at != ' ' && at >= none_before;
		size_t len = begins ? strspn(at, "0123456789+-() ") : 0, word = 0;
		while (len && at[len - 1] == ' ')
			len--;
		none_before = len ? at + len : none_before;
		if (digits_of(at, len) >= LONG_NUMBER && !scrub_in_word(at[len])) {
			buf_puts(out, "[number]");
			at += len;
			continue;
		}
		while (scrub_in_word(at[word]))
			word++;
		if (word)
			scrub_put_word(out, at, word);
		else
			buf_putc(out, at[word++]);
		at += word;
	}
	buf_release(&clean);
}
