/* SPDX-License-Identifier: ISC */
/*
 * JSON Schemas and values: an input is one JSON object with "schema" and "value".  Whatever they
 * are, a schema compiles or has problems, and a check ends, with a reason if the value does not
 * fit.
 */
#include "tool/schema.h"
#include "base/json/json.h"
#include "base/utf8.h"
#include "replay.h"

#include <string.h>

static void check(const cJSON *json, const cJSON *value)
{
	struct problems problems = {0};
	char why[SCHEMA_WHY_SIZE];
	struct schema *schema = schema_compile(json, "S", &problems);
	require((schema != NULL) == (problems.errors == 0));
	for (size_t i = 0; i < problems.count; i++)
		require(problems.items[i].text[0] &&
		    utf8_valid(problems.items[i].text, strlen(problems.items[i].text)));
	if (schema && value) {
		bool fits = schema_accepts(schema, value, "value", why);
		require(fits == (*why == '\0') && utf8_valid(why, strlen(why)));
	}
	schema_free(schema);
	problems_release(&problems);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cJSON *input = json_parse((const char *)data, size, JSON_REQUEST_DEPTH, NULL);
	const cJSON *json = json_get(input, "schema");
	if (json)
		check(json, json_get(input, "value"));
	cJSON_Delete(input);
	return 0;
}
