/* SPDX-License-Identifier: ISC */
/*
 * Regular expressions of JSON Schema (ECMA 262, Unicode mode), matched in time that grows with the
 * length of the text alone.
 *
 * The regexec of libc and the backtracking matchers take quadratic or exponential time on patterns
 * that look harmless, and libc keeps every state it meets for ever; here the patterns may come from
 * elsewhere, and so may the texts.
 *
 * Understood: characters, ".", classes with ranges, negation and \d \w \s (and their opposites),
 * groups (capturing, named, not capturing), alternatives, greedy and lazy quantifiers, "^", "$", \b
 * and \B, \t \n \v \f \r \xHH \uHHHH \u{…} \cX.
 *
 * Not understood: back-references, look-ahead and look-behind, \p and \P, inline flags, and what
 * would become too large: more than 1,000 bytes, 50 groups deep, or repetitions of more than 10,000
 * parts in all.
 */
#ifndef AGENTGRAPH_TOOL_PATTERN_H
#define AGENTGRAPH_TOOL_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

struct pattern;

enum pattern_fault {
	PATTERN_OK,
	PATTERN_INVALID, /* no regular expression at all */
	PATTERN_UNKNOWN  /* not understood */
};

/* NULL with *fault and *why, a fixed sentence part, set.  Any thread may use the result. */
struct pattern *pattern_compile(const char *text, enum pattern_fault *fault, const char **why);

/*
 * The same for a POSIX extended regular expression that regcomp has taken; "." is any character
 * then.  With ignore_case, ASCII letters stand for both cases.  NULL for what is not understood,
 * with *why set: back-references, collating elements, and what would become too large.
 */
struct pattern *pattern_compile_posix(const char *text, bool ignore_case, const char **why);

void pattern_free(struct pattern *pattern);

/*
 * Whether the pattern occurs in text, which is valid UTF-8.  *budget is what it may cost, in steps
 * of some nanoseconds, and is lowered; at 0 the answer is false.
 */
bool pattern_matches(const struct pattern *pattern, const char *text, size_t *budget);

#endif
