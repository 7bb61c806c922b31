/* SPDX-License-Identifier: ISC */
/* Naming a value by its kind, or by as much of its text as a message can show. */
#include "config/found.h"

#include "base/json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 40 /* bytes of a text that are shown */

/* Copies the text, which ends after SHOWN bytes and an ellipsis when it is longer. */
static char *found_shorten(char out[FOUND_SIZE], const char *text)
{
	size_t len = strlen(text);
	size_t cut = len > SHOWN ? utf8_cut(text, SHOWN) : len;
	snprintf(out, FOUND_SIZE, "%.*s%s", (int)cut, text, cut < len ? "…" : "");
	return out;
}

char *found_json(char out[FOUND_SIZE], const cJSON *value)
{
	if (!value)
		return found_shorten(out, "nothing");
	if (cJSON_IsObject(value))
		return found_shorten(out, "an object");
	if (cJSON_IsArray(value))
		return found_shorten(out, "an array");
	if (cJSON_IsString(value) && strstr(value->valuestring, "://"))
		return found_shorten(out, "a URL");
	if (cJSON_IsString(value) && strchr(value->valuestring, '@'))
		return found_shorten(out, "a text with an @");
	char *json = json_print(value);
	found_shorten(out, json);
	free(json);
	return out;
}

char *found_text(char out[FOUND_SIZE], const char *value)
{
	cJSON *item = cJSON_CreateString(value);
	found_json(out, item);
	cJSON_Delete(item);
	return out;
}
