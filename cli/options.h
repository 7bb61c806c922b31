/* Command line options: --name VALUE, --name=VALUE, and --name alone for flags. */
#ifndef AGENTGRAPH_CLI_OPTIONS_H
#define AGENTGRAPH_CLI_OPTIONS_H

#include <stdbool.h>

enum option_kind { OPTION_TEXT, OPTION_NUMBER, OPTION_FLAG };

/* One option; a row without a name ends the table. */
struct option_spec {
	const char *name; /* with its dashes */
	enum option_kind kind;
	void *value;   /* const char **, long * or bool * */
	long min, max; /* of a number */
};

/*
 * Reads argv[1..argc-1].  Operands are moved to the front: argv[0..*operands-1], and there must be
 * as many as wanted.  On a mistake, says in one sentence what is wrong and returns false.
 */
bool options_parse(
    const struct option_spec *specs, int argc, char **argv, int wanted, int *operands);

#endif
