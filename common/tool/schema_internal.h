/* SPDX-License-Identifier: ISC */
/* What the files of the schema module share: schema.c compiles, schema_check.c and schema_parts.c
 * check. */
#ifndef AGENTGRAPH_TOOL_SCHEMA_INTERNAL_H
#define AGENTGRAPH_TOOL_SCHEMA_INTERNAL_H

#include "tool/schema.h"

#define WALK_KEY_SHOWN 64 /* bytes of one member's name in a sentence */

struct pattern;
struct walk;

/* A place in a schema or a value, linked to the one that holds it; on the stack of who walks. */
struct spot {
	const struct spot *up;
	const char *key; /* NULL: an array element */
	size_t index;
};

/* One thing that a value must be. */
struct check {
	bool (*fits)(struct walk *w, const struct check *check, const cJSON *value);
	const cJSON *json; /* the keyword's value in the schema */
	size_t number;     /* the keyword's value as a count */
	/* the schemas that the keyword holds; fits knows what each is for */
	struct subschema **subs;
	size_t sub_count;
	struct object_rule *object;
	struct pattern *pattern;
};

struct subschema {
	const cJSON *json;
	bool never; /* the schema false */
	struct check *checks;
	size_t check_count;
};

struct member_rule {
	const char *name; /* lives in the schema */
	struct subschema *sub;
};

struct pattern_rule {
	struct pattern *pattern;
	struct subschema *sub;
};

/* properties, patternProperties and additionalProperties, which depend on each other. */
struct object_rule {
	struct member_rule *names; /* sorted */
	size_t name_count;
	struct pattern_rule *patterns;
	size_t pattern_count;
	struct subschema *others; /* or NULL */
};

struct schema {
	struct subschema **all; /* owned */
	size_t count;
	struct subschema *root;
};

/* A check of a value: the way through it, what it has cost, and the first mismatch. */
struct walk {
	const struct spot *at;
	const char *name; /* of the whole value */
	char *why;        /* SCHEMA_WHY_SIZE bytes, "" until something is wrong */
	unsigned quiet;   /* > 0: a mismatch here need not be told, as it does not decide alone */
	unsigned depth;
	size_t work;
	size_t matching; /* what is left for regular expressions */
	bool over;       /* too much work or depth: from here on nothing fits */
};

/* Notes why the value at hand does not fit, unless a reason is known already or nobody asks.
 * Returns false. */
bool walk_mismatch(struct walk *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Counts steps; false when there were too many. */
bool walk_spend(struct walk *w, size_t steps);

/* Whether the value at hand fits. */
bool walk_fits(struct walk *w, const struct subschema *s, const cJSON *value);

/* Whether a part of it fits: its member key, or its element index where key is NULL. */
bool walk_part_fits(
    struct walk *w, const struct subschema *s, const cJSON *value, const char *key, size_t index);

/* Whether the value fits, without a word about it if not. */
bool walk_would_fit(struct walk *w, const struct subschema *s, const cJSON *value);

/* Whether the pattern occurs in text; its steps are counted, and too many mean no. */
bool walk_text_matches(struct walk *w, const struct pattern *pattern, const char *text);

/* The checks of the keywords. */
typedef bool check_fn(struct walk *w, const struct check *check, const cJSON *value);
check_fn check_type, check_enum, check_const, check_maximum, check_minimum, check_below,
    check_above, check_multiple, check_max_length, check_min_length, check_pattern, check_max_items,
    check_min_items, check_unique, check_array, check_contains, check_max_properties,
    check_min_properties, check_required, check_object, check_names, check_dependent_names,
    check_dependent_schemas, check_all, check_any, check_one, check_not, check_condition;

/* The place in the document root that ref leads to by a JSON Pointer or an anchor behind "#".  NULL
 * when there is none, or it is in another document, or *looks is used up (then it is 0): each part
 * of the document that is looked at takes some. */
const cJSON *schema_reference(const cJSON *root, const char *ref, size_t *looks);

/* Order of struct member_rule by name. */
int member_rule_order(const void *a, const void *b);

#endif
