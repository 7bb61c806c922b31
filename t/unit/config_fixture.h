/* SPDX-License-Identifier: ISC */
/*
 * What the tests of common/config share: an environment with none of the service's variables, a
 * private current directory with agentgraph.json in it, and the load whose outcome is looked at.
 */
#ifndef AGENTGRAPH_UNIT_CONFIG_FIXTURE_H
#define AGENTGRAPH_UNIT_CONFIG_FIXTURE_H

#include "base/problems.h"
#include "config/config.h"
#include "unit.h"

#include <stdbool.h>

struct load {
	struct config *config; /* NULL when there were errors */
	struct problems problems;
};

/* Changes to the private directory; call first in main. */
void fixture_init(void);

/* Writes a file in the private directory. */
void fixture_write(const char *name, const char *text);
void fixture_remove(const char *name);

/* Loads with text as agentgraph.json; fixture_load_default loads whatever is there. */
struct load fixture_load(const char *text);
struct load fixture_load_default(void);

/* Loads {"agent": "builtin:demo"} and the members in text, which starts with a comma or is "". */
struct load fixture_load_with(const char *text);

/* True when some error, or some warning, has the part in its text. */
bool fixture_has_error(const struct load *l, const char *part);
bool fixture_has_warning(const struct load *l, const char *part);

/* Frees, and clears the service's environment for the next test. */
void fixture_end(struct load *l);

/* Asserts that the members in text give one error, with the part in it. */
#define CHECK_REFUSED(text, part)                              \
	do {                                                   \
		struct load refused = fixture_load_with(text); \
		CU_ASSERT_PTR_NULL(refused.config);            \
		CU_ASSERT_EQUAL(refused.problems.errors, 1);   \
		CU_ASSERT(fixture_has_error(&refused, part));  \
		fixture_end(&refused);                         \
	} while (0)

/* Asserts that the members in text are accepted and the expression over c, the config, holds. */
#define CHECK_ACCEPTED(text, expression)                        \
	do {                                                    \
		struct load accepted = fixture_load_with(text); \
		const struct config *c = accepted.config;       \
		CU_ASSERT_PTR_NOT_NULL(c);                      \
		CU_ASSERT(c && (expression));                   \
		fixture_end(&accepted);                         \
	} while (0)

#endif
