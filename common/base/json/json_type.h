/* SPDX-License-Identifier: ISC */
/* Types of JSON as sets, for tables that say what a value may be. */
#ifndef AGENTGRAPH_BASE_JSON_JSON_TYPE_H
#define AGENTGRAPH_BASE_JSON_JSON_TYPE_H

#include "base/buf.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

enum json_type {
	TYPE_ANY = 0,
	TYPE_STRING = 1,
	TYPE_NUMBER = 2,
	TYPE_BOOLEAN = 4,
	TYPE_ARRAY = 8,
	TYPE_OBJECT = 16
};

/* Whether the value has one of these types. */
bool json_is_of(const cJSON *value, unsigned wanted);

/* Appends them in words: "a string or an array". */
void json_types_say(unsigned wanted, struct buf *out);

#endif
