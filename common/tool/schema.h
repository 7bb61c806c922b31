/* SPDX-License-Identifier: ISC */
/*
 * JSON Schema for the arguments of tools: compiled once, then asked from any thread.
 *
 * Understood is draft 2020-12, and draft-07 where they differ (a "$schema" of draft-07, -06 or -04
 * says so for what stands beside "$ref"; arrays in "items", "additionalItems", "definitions" and
 * "dependencies" are taken in any draft).  References are to places in the same document: a JSON
 * Pointer or an anchor.  format, content* and the like only annotate.  unevaluatedProperties,
 * unevaluatedItems, $dynamicRef and patterns that are not understood (tool/pattern.h) are ignored
 * with a warning.  Numbers are compared as they were written, whatever their length.
 *
 * Neither a schema nor a value can make a check take long or deep, nor a schema its compiling: the
 * work is counted.
 */
#ifndef AGENTGRAPH_TOOL_SCHEMA_H
#define AGENTGRAPH_TOOL_SCHEMA_H

#include "base/problems.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

#define SCHEMA_VALUE_DEPTH 100 /* levels of a value that is checked at all */
#define SCHEMA_WHY_SIZE 512

struct schema;

/*
 * json is borrowed and outlives the result.  Mistakes and warnings go to problems, each beginning
 * with where and the place in the schema: "tool 'add': parameters/properties/a/type: expected …".
 * NULL when there was a mistake.
 */
struct schema *schema_compile(const cJSON *json, const char *where, struct problems *problems);
void schema_free(struct schema *schema);

/*
 * Whether value fits.  If not, why is one sentence that names the place, beginning with name, and
 * what was expected there: "arguments.city: expected a string, found number".
 */
bool schema_accepts(
    const struct schema *schema, const cJSON *value, const char *name, char why[SCHEMA_WHY_SIZE]);

#endif
