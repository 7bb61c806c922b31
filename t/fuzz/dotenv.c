/* SPDX-License-Identifier: ISC */
/* Dotenv files: whatever the bytes, the result is the line of a mistake, or variables that can be
 * used. */
#include "config/environment/dotenv.h"
#include "base/json/json.h"
#include "config/environment/expand.h"
#include "replay.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dotenv_fault fault = {0};
	cJSON *variables = dotenv_parse((const char *)data, size, &fault);
	require(variables || (fault.line >= 1 && fault.line <= size + 1 && fault.expected));
	const cJSON *v;
	cJSON_ArrayForEach(v, variables) {
		require(v->string[0] && variable_name_length(v->string) == strlen(v->string));
		require(utf8_valid(v->valuestring, strlen(v->valuestring)));
	}
	cJSON_Delete(variables);
	return 0;
}
