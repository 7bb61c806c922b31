/* SPDX-License-Identifier: ISC */
/* Values compared with the types that they may have, and those types in words. */
#include "base/json/json_type.h"

#include "base/json/json.h"

#include <string.h>

static const struct {
	unsigned type;
	const char *name; /* as json_type_name says it */
	const char *phrase;
} types[] = {{TYPE_STRING, "string", "a string"}, {TYPE_NUMBER, "number", "a number"},
    {TYPE_BOOLEAN, "boolean", "true or false"}, {TYPE_ARRAY, "array", "an array"},
    {TYPE_OBJECT, "object", "an object"}};

#define TYPE_COUNT (sizeof(types) / sizeof(types[0]))

bool json_is_of(const cJSON *value, unsigned wanted)
{
	for (size_t i = 0; i < TYPE_COUNT; i++)
		if ((types[i].type & wanted) && strcmp(types[i].name, json_type_name(value)) == 0)
			return true;
	return wanted == TYPE_ANY;
}

void json_types_say(unsigned wanted, struct buf *out)
{
	const char *before = "";
	for (size_t i = 0; i < TYPE_COUNT; i++) {
		if (!(types[i].type & wanted))
			continue;
		buf_printf(out, "%s%s", before, types[i].phrase);
		before = " or ";
	}
}
