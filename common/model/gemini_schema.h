/* SPDX-License-Identifier: ISC */
/* JSON Schema as Gemini takes it. */
#ifndef AGENTGRAPH_MODEL_GEMINI_SCHEMA_H
#define AGENTGRAPH_MODEL_GEMINI_SCHEMA_H

#include <cjson/cJSON.h>

/* A new tree: references are put in, and what Gemini refuses is left out. */
cJSON *gemini_schema(const cJSON *schema);

/* Gives the declaration of a function its parameters.  An object without properties is refused, so
 * a tool without arguments gets none. */
void gemini_add_parameters(cJSON *function, const cJSON *schema);

#endif
