/* SPDX-License-Identifier: ISC */
/*
 * Expressions of `matches` rules: the first line is a POSIX extended regular expression, the rest a
 * text.  A whole expression is understood or says why not, costs no more than its steps times the
 * characters of the text, and says of ASCII texts what regexec says.
 */
#include "base/utf8.h"
#include "replay.h"
#include "tool/pattern_internal.h"

#include <ctype.h>
#include <regex.h>
#include <string.h>

/* regcomp takes time and memory by the product of all repetitions, and twice as much for each that
 * repeats another, or more around anchors and alternatives. */
#define MOST_EXPRESSION 40
#define MOST_REPEATS 4 /* anchors and alternatives included; "{" is three, "+" two */
#define MOST_TEXT 60
#define BUDGET 100000000

static bool is_ascii(const char *text)
{
	while (*text && !(*text & 0x80))
		text++;
	return *text == '\0';
}

static bool is_small(const char *expression)
{
	size_t repeats = 0;
	for (const char *p = expression; *p; p++) {
		repeats += *p == '{' ? 3 : *p == '+' ? 2 : strchr("*?^$|\\", *p) != NULL;
		if (isdigit((unsigned char)p[0]) && isdigit((unsigned char)p[1]))
			return false;
	}
	return strlen(expression) <= MOST_EXPRESSION && repeats <= MOST_REPEATS;
}

static void check(const char *expression, const char *text, bool ignore_case)
{
	regex_t regex;
	const char *why = NULL;
	size_t budget = BUDGET;
	if (regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB | (ignore_case ? REG_ICASE : 0)))
		return;
	struct pattern *pattern = pattern_compile_posix(expression, ignore_case, &why);
	require(!pattern == (why != NULL));
	if (pattern) {
		bool found = pattern_matches(pattern, text, &budget);
		require(BUDGET - budget <= 2 * pattern->count * (strlen(text) + 1));
		/* where case does not matter, glibc takes the ends of ranges for capital letters,
		 * and finds an escaped small letter nowhere; "^" and "$" within an expression hold
		 * at a newline, too */
		bool same = (!ignore_case || !strpbrk(expression, "-\\")) &&
		    !(strpbrk(expression, "^$") && strchr(text, '\n'));
		if (same && is_ascii(expression) && is_ascii(text))
			require(found == (regexec(&regex, text, 0, NULL, 0) == 0));
	}
	pattern_free(pattern);
	regfree(&regex);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *expression = strndup((const char *)data, size), *text = expression;
	strsep(&text, "\n");
	if (text && utf8_valid(expression, strlen(expression)) && is_small(expression) &&
	    utf8_valid(text, strlen(text)) && strlen(text) <= MOST_TEXT) {
		check(expression, text, false);
		check(expression, text, true);
	}
	free(expression);
	return 0;
}
