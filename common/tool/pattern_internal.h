/* SPDX-License-Identifier: ISC */
/* What the parts of the pattern module share: pattern.c compiles, pattern_posix.c rewrites,
 * pattern_match.c matches. */
#ifndef AGENTGRAPH_TOOL_PATTERN_INTERNAL_H
#define AGENTGRAPH_TOOL_PATTERN_INTERNAL_H

#include "tool/pattern.h"

#include <stdint.h>

enum step_kind {
	STEP_CLASS, /* reads one character of a class */
	STEP_SPLIT, /* goes on at both of two places */
	STEP_JUMP,
	STEP_BEGIN, /* here and below, reads nothing: the text begins here, ends here, a word does
		       or does not */
	STEP_END,
	STEP_BORDER,
	STEP_NO_BORDER,
	STEP_DONE
};

/* A step of the machine; places are relative to it. */
struct step {
	enum step_kind kind;
	int32_t to, or_to;
	size_t class; /* index */
};

struct span {
	uint32_t first, last;
};

/* Characters: sorted spans that do not meet. */
struct class
{
	struct span *spans;
	size_t count;
};

struct pattern {
	struct step *steps;
	size_t count;
	struct class *classes;
	size_t class_count;
};

/* As pattern_compile; with fold, ASCII letters stand for both cases. */
struct pattern *pattern_read(
    const char *text, bool fold, enum pattern_fault *fault, const char **why);

/* The next character of valid UTF-8, 0 at the end. */
uint32_t utf8_take(const char **p);

/* Whether c is one of \w. */
bool is_word(uint32_t c);

#endif
