/* SPDX-License-Identifier: ISC */
/* Finding mail addresses, IP addresses and long numbers in running text. */
#include "telemetry/tracker.h"

#include "base/log/redact.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#define LONG_NUMBER 9 /* digits of a number that may be personal */

/* Whether a character is part of a word.  Bytes beyond ASCII are, as they are letters of some
 * script. */
static bool scrub_in_word(char c)
{
	unsigned char u = (unsigned char)c;
	return isalnum(u) || u >= 0x80 || (u && strchr("@.+-_%", u));
}

static size_t scrub_digits_of(const char *word, size_t len)
{
	size_t count = 0;
	for (size_t i = 0; i < len; i++)
		count += isdigit((unsigned char)word[i]) != 0;
	return count;
}

static bool scrub_is_ipv4(const char *word, size_t len)
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

/* The length of the IPv6 address, with its zone, that text begins with; 0 when there is none.
 * inet_pton tells it from times and other digits between colons.  Without a digit it may be a
 * qualified name of a programming language (dead::beef), and does not count. */
static size_t scrub_ipv6_length(const char *text)
{
	char address[INET6_ADDRSTRLEN];
	struct in6_addr ignored;
	size_t len = 0;
	while (len < sizeof(address) - 1 &&
	    (isxdigit((unsigned char)text[len]) || text[len] == ':' || text[len] == '.'))
		len++;
	if (isalnum((unsigned char)text[len]) || text[len] == '_' || !scrub_digits_of(text, len))
		return 0;
	while (len > 2 && /* a full stop or a colon at the end belongs to the sentence */
	    (text[len - 1] == '.' ||
		(text[len - 1] == ':' && (text[len - 2] != ':' || text[len - 3] == ':'))))
		len--;
	memcpy(address, text, len);
	address[len] = '\0';
	if (inet_pton(AF_INET6, address, &ignored) != 1)
		return 0;
	if (text[len] == '%' && isalnum((unsigned char)text[len + 1]))
		for (len++; isalnum((unsigned char)text[len]) || text[len] == '-';)
			len++;
	return len;
}

static void scrub_put_word(struct buf *out, const char *word, size_t len)
{
	const char *at = memchr(word, '@', len);
	if (at && at > word && at < word + len - 1)
		buf_puts(out, "[mail]");
	else if (scrub_is_ipv4(word, len))
		buf_puts(out, "[address]");
	else if (scrub_digits_of(word, len) >= LONG_NUMBER && strspn(word, "0123456789+-._") >= len)
		buf_puts(out, "[number]");
	else
		buf_add(out, word, len);
}

void scrub(struct buf *out, const char *text)
{
	struct buf clean = {0};
	redact(&clean, text);
	const char *start = buf_str(&clean);
	const char *none_before = start; /* where a number may begin again */
	for (const char *at = start; *at;) {
		/* an address begins neither in a word, nor in a qualified name */
		bool may = at == start ||
		    (!scrub_in_word(at[-1]) && !(at - start > 1 && at[-1] == ':' && at[-2] == ':'));
		size_t address = may ? scrub_ipv6_length(at) : 0;
		if (address) {
			buf_puts(out, "[address]");
			at += address;
			continue;
		}
		/* long numbers are also written as groups of digits with blanks between them */
		bool begins = *at != ' ' && at >= none_before;
		size_t len = begins ? strspn(at, "0123456789+-() ") : 0, word = 0;
		while (len && at[len - 1] == ' ')
			len--;
		none_before = len ? at + len : none_before;
		if (scrub_digits_of(at, len) >= LONG_NUMBER && !scrub_in_word(at[len])) {
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
