/* SPDX-License-Identifier: ISC */
/* JSON Schema as Gemini takes it, for gemini.c alone. */
#ifndef AGENTGRAPH_MODEL_GEMINI_SCHEMA_H
#define AGENTGRAPH_MODEL_GEMINI_SCHEMA_H

#include <cjson/cJSON.h>

/* A new tree: references are put in, and what Gemini refuses is left out. */
cJSON *gemini_schema(const cJSON *schema);

#endif
