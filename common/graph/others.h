/* SPDX-License-Identifier: ISC */
/*
 * What the other branches of a region have said or called, which is hidden from each of them.
 *
 * A map may have thousands of branches: what they have kept is sorted once for all of them, and
 * none has a list of its own.
 */
#ifndef AGENTGRAPH_GRAPH_OTHERS_H
#define AGENTGRAPH_GRAPH_OTHERS_H

#include <stdbool.h>
#include <stddef.h>

/* The id of a message or a call, and the number of the branch that it is of. */
struct branch_text {
	const char *text;
	size_t branch;
};

/* Those of all branches of a region, sorted. */
struct branch_texts {
	struct branch_text *items;
	size_t count;
};

/* As one branch sees them. */
struct others {
	const struct others *outer; /* what the run that forked does not see itself, or NULL */
	const struct branch_texts *of_all;
	size_t own; /* the number of the branch */
};

void branch_texts_sort(struct branch_texts *texts);

/* Whether another branch has the text, or any; NULL has none. */
bool others_have(const struct others *others, const char *text);
bool others_have_any(const struct others *others);

#endif
