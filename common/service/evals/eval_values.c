/* SPDX-License-Identifier: ISC */
/* Reading a text, number, count or flag that may be missing or wrong. */
#include "service/evals/eval_values.h"

#include "base/json.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *eval_text(const cJSON *object, const char *key)
{
	const char *text = json_str(object, key);
	return text ? text : "";
}

double eval_number(const cJSON *object, const char *key)
{
	double value;
	return json_number(json_get(object, key), &value) && isfinite(value) ? value : 0;
}

int64_t eval_count(const cJSON *object, const char *key)
{
	int64_t value;
	return json_integer(json_get(object, key), &value) ? value : 0;
}

bool eval_flag(const cJSON *object, const char *key)
{
	return cJSON_IsTrue(json_get(object, key));
}

const cJSON *eval_first(const cJSON *object, const char *key)
{
	const cJSON *array = json_get(object, key);
	return cJSON_IsArray(array) ? array->child : NULL;
}

double eval_round(double value, int decimals)
{
	char text[DBL_MAX_10_EXP + 16];
	snprintf(text, sizeof(text), "%.*f", decimals, value);
	return strtod(text, NULL);
}
