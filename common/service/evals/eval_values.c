/* SPDX-License-Identifier: ISC */
/* Reading a text, number, count or flag that may be missing or wrong; and seconds, tokens, ages and
 * moments as short texts. */
#include "service/evals/eval_values.h"

#include "base/json/json.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MINUTE 60.0
#define HOUR 3600.0
#define DAY 86400.0

#define LAST_SECOND 253402300799.0 /* of the year 9999 */

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

/* ---- Wording ---- */

char *eval_seconds(double seconds, char out[EVAL_TEXT_SIZE])
{
	snprintf(out, EVAL_TEXT_SIZE, "%.1fs", seconds);
	return out;
}

char *eval_tokens(int64_t tokens, char out[EVAL_TEXT_SIZE])
{
	if (tokens >= 1000)
		snprintf(out, EVAL_TEXT_SIZE, "%.1fk tok", (double)tokens / 1000);
	else
		snprintf(out, EVAL_TEXT_SIZE, "%" PRId64 " tok", tokens);
	return out;
}

char *eval_ago(double age_seconds, char out[EVAL_TEXT_SIZE])
{
	if (age_seconds < MINUTE)
		snprintf(out, EVAL_TEXT_SIZE, "just now");
	else if (age_seconds < HOUR)
		snprintf(out, EVAL_TEXT_SIZE, "%.0fm ago", floor(age_seconds / MINUTE));
	else if (age_seconds < DAY)
		snprintf(out, EVAL_TEXT_SIZE, "%.0fh ago", floor(age_seconds / HOUR));
	else
		snprintf(out, EVAL_TEXT_SIZE, "%.0fd ago", floor(age_seconds / DAY));
	return out;
}

char *eval_moment(double timestamp, char out[EVAL_TEXT_SIZE])
{
	struct tm tm;
	*out = '\0';
	if (timestamp == 0 || fabs(timestamp) > LAST_SECOND)
		return out;
	time_t seconds = (time_t)floor(timestamp);
	if (gmtime_r(&seconds, &tm) && tm.tm_year >= -1900)
		snprintf(out, EVAL_TEXT_SIZE, "%04d-%02d-%02d %02d:%02d", tm.tm_year + 1900,
		    tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min);
	return out;
}

const char *eval_status(bool passed)
{
	return passed ? "pass" : "fail";
}
