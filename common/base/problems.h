/* SPDX-License-Identifier: ISC */
/*
 * A list of start-up problems, so that `agentgraph check` can report all of them at once.  Each is
 * one sentence that names the file or variable, the key, and what was expected.  Warnings do not
 * stop the start.
 */
#ifndef AGENTGRAPH_BASE_PROBLEMS_H
#define AGENTGRAPH_BASE_PROBLEMS_H

#include <stdbool.h>
#include <stddef.h>

struct problem {
	char *text;
	bool warning;
};

struct problems { /* all-zero is an empty list */
	struct problem *items;
	size_t count;
	size_t errors; /* those that are not warnings */
};

/* Appends a mistake, which counts as an error, or a warning: one sentence, without a newline. */
void problems_add(struct problems *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void problems_warn(struct problems *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void problems_release(struct problems *p);

/* Writes the mistakes to standard error, a line each: "WHO: TEXT".  Warnings are left out, for
 * programs whose starter has shown them, and for commands that serve nobody. */
void problems_print_errors(const struct problems *p, const char *who);

#endif
