/* SPDX-License-Identifier: ISC */
/*
 * Command line options as rows of a table: --name VALUE, --name=VALUE, and --name alone for flags.
 * Every program reads its command line here, so that all of them refuse the same mistakes with the
 * same words.  Names are not abbreviated, and "--" ends the options.
 */
#ifndef AGENTGRAPH_BASE_OPTIONS_H
#define AGENTGRAPH_BASE_OPTIONS_H

#include "base/error.h"

#define EXIT_USAGE 2 /* the exit status after a wrong command line */

enum option_kind {
	OPTION_TEXT,   /* value is a const char **, which then points into argv */
	OPTION_NUMBER, /* value is a long * */
	OPTION_FLAG,   /* value is a bool *, set to true */
	OPTION_ANSWER  /* value is a text; it is printed, and ends the program with status 0 */
};

/* One option; its value is only set if it is given.  The last row of a table is OPTION_END. */
struct option_spec {
	const char *name; /* with its dashes */
	enum option_kind kind;
	void *value;
	long min, max; /* of a number */
};

#define OPTION_END                            \
	{                                     \
		NULL, OPTION_FLAG, NULL, 0, 0 \
	}

/*
 * Reads argv[1..argc-1] up to the first mistake.  Operands, "-" alone among them, are moved to the
 * front: with the result n they are argv[0..n-1].  A mistake is -1 and a sentence in err that names
 * the option.
 */
int options_parse(const struct option_spec *specs, int argc, char **argv, struct error *err);

/* The same for a program without operands.  A mistake is told on standard error, after the name of
 * the program, and ends it with EXIT_USAGE. */
void options_take(const char *program, const struct option_spec *specs, int argc, char **argv);

/*
 * The exit status of a program that has printed something: status, or EXIT_FAILURE after a
 * complaint when standard output did not take all of it, because a disk is full or the reader gone.
 */
int exit_status(int status);

#endif
