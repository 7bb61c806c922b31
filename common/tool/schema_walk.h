/* SPDX-License-Identifier: ISC */
/* What the checks of a value share: the way through it, what it has cost, and the first mismatch.
 */
#ifndef AGENTGRAPH_TOOL_SCHEMA_WALK_H
#define AGENTGRAPH_TOOL_SCHEMA_WALK_H

#include "tool/schema_internal.h"

#define WALK_KEY_SHOWN 64 /* bytes of one member's name in a sentence */

struct walk {
	const struct spot *at;
	const char *name; /* of the whole value */
	char *why;        /* SCHEMA_WHY_SIZE bytes, "" until something is wrong */
	unsigned quiet;   /* > 0: a mismatch here decides nothing alone */
	unsigned depth;
	size_t work;
	size_t matching; /* what is left for regular expressions */
	bool over;       /* work or depth: nothing fits any more */
};

/* Notes why the value at hand does not fit, unless that is known already or nobody asks.  Returns
 * false. */
bool walk_mismatch(struct walk *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Counts steps; false when there were too many. */
bool walk_spend(struct walk *w, size_t steps);

/* Whether the value at hand fits. */
bool walk_fits(struct walk *w, const struct subschema *s, const cJSON *value);

/* Whether a part of it does: its member key, or its element index where key is NULL. */
bool walk_part_fits(
    struct walk *w, const struct subschema *s, const cJSON *value, const char *key, size_t index);

/* Whether the value fits, without a word about it if not. */
bool walk_would_fit(struct walk *w, const struct subschema *s, const cJSON *value);

/* Whether the pattern occurs in text; its steps are counted, and too many mean no. */
bool walk_text_matches(struct walk *w, const struct pattern *pattern, const char *text);

#endif
