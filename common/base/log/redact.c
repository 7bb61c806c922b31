/* SPDX-License-Identifier: ISC */
/* Finding what looks like a credential: values of telling names, bearer tokens and JWTs. */
#include "base/log/redact.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define LONGEST_RUN 32
#define KEPT 4 /* characters that stay at each end of a longer run */
#define MAX_DEPTH 10
#define SHORTEST_KNOWN 4

static const char *const telling[] = {"token", "password", "secret", "key", "credential", "auth",
    "bearer", "jwt", "session", "cookie", "passphrase", "pin", "ssn", "credit_card"};

static bool redact_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || (unsigned char)c >= 0x80;
}

static size_t redact_word_length(const char *s)
{
	size_t len = 0;
	while (redact_is_word(s[len]))
		len++;
	return len;
}

/* Whether a name has a telling word in it.  Only case is ignored, so "creditCard" does not match
 * "credit_card". */
static bool redact_is_telling(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(telling) / sizeof(telling[0]); i++) {
		size_t part = strlen(telling[i]);
		for (size_t at = 0; at + part <= len; at++)
			if (strncasecmp(name + at, telling[i], part) == 0)
				return true;
	}
	return false;
}

static const char *redact_skip_blanks(const char *s)
{
	return s + strspn(s, " \t");
}

/* The length of a quote at s, with the backslashes it has in JSON within JSON; 0 when there is
 * none. */
static size_t redact_quote_length(const char *s)
{
	size_t slashes = strspn(s, "\\");
	return s[slashes] == '"' || s[slashes] == '\'' ? slashes + 1 : 0;
}

/* Returns what follows the closing quote of the string that opens at s with a quote of so many
 * characters.  Only a quote with no more backslashes than the opening one closes; in doubt too much
 * is taken. */
static const char *redact_skip_string(const char *s, size_t open)
{
	char quote = s[open - 1];
	size_t slashes = 0;
	for (s += open; *s; s++) {
		if (*s == quote && slashes < open)
			return s + 1;
		slashes = *s == '\\' ? slashes + 1 : 0;
	}
	return s;
}

/* Returns what follows the bracket or brace that closes the one at s. */
static const char *redact_skip_nested(const char *s)
{
	int depth = 0;
	while (*s) {
		size_t quote = redact_quote_length(s);
		if (quote) {
			s = redact_skip_string(s, quote);
			continue;
		}
		size_t slashes = strspn(s, "\\");
		if (slashes) {
			s += slashes;
			continue;
		}
		depth += *s == '{' || *s == '[';
		depth -= *s == '}' || *s == ']';
		s++;
		if (depth == 0)
			break;
	}
	return s;
}

static bool redact_is_bearer(const char *s, size_t word)
{
	return word == 6 && strncasecmp(s, "bearer", 6) == 0;
}

/* The last of the words Bearer that begin at s with one. */
static const char *redact_bearer_last(const char *s, size_t word)
{
	for (;;) {
		const char *next = redact_skip_blanks(s + word);
		if (next == s + word || !redact_is_bearer(next, redact_word_length(next)))
			return s;
		s = next;
	}
}

/* The length of "Bearer x"; where Bearer comes twice, the second is no credential. */
static size_t redact_bearer_length(const char *s, size_t word)
{
	if (!redact_is_bearer(s, word))
		return 0;
	const char *end = redact_bearer_last(s, word) + word, *credential = redact_skip_blanks(end);
	size_t len = strcspn(credential, " \t,;\"'\\");
	return credential > end && len ? (size_t)(credential - s) + len : 0;
}

/* As in a header, a value is a scheme and its credential, too. */
static const char *redact_skip_value(const char *s)
{
	size_t word = redact_word_length(s);
	size_t bearer = redact_bearer_length(s, word);
	if (bearer)
		return s + bearer;
	if (word == 5 && strncasecmp(s, "basic", 5) == 0)
		s = redact_skip_blanks(s + word);
	size_t quote = redact_quote_length(s);
	if (quote)
		return redact_skip_string(s, quote);
	if (*s == '{' || *s == '[')
		return redact_skip_nested(s);
	return s + strcspn(s, " \t\r\n,;&)}]\"'");
}

/* Where the value begins after a name that ends at s; NULL when it is no field's name.  A colon
 * counts only after a quoted name: in running text it is punctuation. */
static const char *redact_field_value(const char *s)
{
	size_t quote = redact_quote_length(s);
	s = redact_skip_blanks(s + quote);
	if (*s != '=' && !(quote && *s == ':'))
		return NULL;
	return redact_skip_blanks(s + 1);
}

/* "eyJ" is how the base64 of a JSON object begins. */
static size_t redact_jwt_length(const char *s)
{
	if (strncmp(s, "eyJ", 3) != 0)
		return 0;
	size_t head = redact_word_length(s);
	if (s[head] != '.')
		return 0;
	size_t body = redact_word_length(s + head + 1);
	if (!body || s[head + 1 + body] != '.')
		return 0;
	return head + 1 + body + 1 + redact_word_length(s + head + 1 + body + 1);
}

static void redact_put_word(struct buf *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t run = 0;
		while (i + run < len && isalnum((unsigned char)s[i + run]))
			run++;
		if (run > LONGEST_RUN) {
			buf_add(out, s + i, KEPT);
			buf_puts(out, "...");
			buf_add(out, s + i + run - KEPT, KEPT);
		} else {
			run += run == 0;
			buf_add(out, s + i, run);
		}
		i += run;
	}
}

/* Appends what begins at the word s, redacted; returns what comes after it. */
static const char *redact_word(struct buf *out, const char *s)
{
	size_t word = redact_word_length(s), len;
	if ((len = redact_jwt_length(s)) > 0) {
		buf_puts(out, "***JWT_TOKEN***");
		return s + len;
	}
	if ((len = redact_bearer_length(s, word)) > 0) {
		buf_puts(out, "***BEARER_TOKEN***");
		return s + len;
	}
	if (redact_is_bearer(s, word)) { /* no credential follows: each word is looked at once */
		const char *last = redact_bearer_last(s, word);
		buf_add(out, s, (size_t)(last - s));
		s = last;
	}
	const char *value = redact_is_telling(s, word) ? redact_field_value(s + word) : NULL;
	redact_put_word(out, s, word);
	if (!value)
		return s + word;
	buf_add(out, s + word, (size_t)(value - s) - word);
	buf_puts(out, "***REDACTED***");
	return redact_skip_value(value);
}

void redact(struct buf *out, const char *text)
{
	int depth = 0;
	for (const char *s = text; *s;) {
		bool opens = *s == '{' || *s == '[';
		if (redact_is_word(*s)) {
			s = redact_word(out, s);
		} else if (opens && depth == MAX_DEPTH) {
			buf_puts(out, "***MAX_DEPTH_REACHED***");
			s = redact_skip_nested(s);
		} else {
			depth += opens;
			depth -= (*s == '}' || *s == ']') && depth > 0;
			buf_putc(out, *s++);
		}
	}
}

static void redact_strike(char *text, const char *secret)
{
	size_t len = strlen(secret);
	for (char *at = text; len >= SHORTEST_KNOWN && (at = strstr(at, secret)); at += len)
		memset(at, '*', len);
}

void redact_known(char *text, const char *secret)
{
	const char *blank = strrchr(secret, ' ');
	redact_strike(text, secret);
	if (blank)
		redact_strike(text, blank + 1);
}
