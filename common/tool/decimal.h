/* SPDX-License-Identifier: ISC */
/*
 * Numbers of JSON as they were written: compared and divided exactly, whatever their length.  A
 * double would call 9007199254740993 and 9007199254740992 the same, and 0.3 no multiple of 0.1.
 */
#ifndef AGENTGRAPH_TOOL_DECIMAL_H
#define AGENTGRAPH_TOOL_DECIMAL_H

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Less than, equal to, or greater than 0, as a is to b.  Both are numbers (json_is_number). */
int decimal_compare(const cJSON *a, const cJSON *b);

/* Whether the number has no fraction: 5, 5.0, 1e300. */
bool decimal_is_integer(const cJSON *number);

/* Whether value is a whole multiple of divisor, which is greater than 0. */
bool decimal_is_multiple(const cJSON *value, const cJSON *divisor);

#endif
