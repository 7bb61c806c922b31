/* SPDX-License-Identifier: ISC */
/* Putting a tree that others built right: its texts, keys, numbers, and what is only borrowed. */
#include "base/json/json.h"
#include "base/json/json_members.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

static void adopt_text(char **text)
{
	if (*text && utf8_valid(*text, strlen(*text)))
		return;
	char *mended = utf8_mend(*text ? *text : "");
	cJSON_free(*text);
	*text = mended;
}

static void adopt_item(cJSON *item)
{
	bool object = cJSON_IsObject(item);
	cJSON *child;
	if (item->type & cJSON_IsReference)
		json_assign(item, cJSON_Duplicate(item, true));
	if (cJSON_IsString(item)) {
		adopt_text(&item->valuestring);
	} else if (cJSON_IsRaw(item)) {
		const char *text = item->valuestring ? item->valuestring : "";
		cJSON *value = json_parse(text, strlen(text), JSON_REQUEST_DEPTH, NULL);
		json_assign(item, value ? value : cJSON_CreateNull());
	} else if (object || cJSON_IsArray(item)) {
		cJSON_ArrayForEach(child, item) {
			if (object && child->type & cJSON_StringIsConst)
				child->string = xstrdup(child->string);
			if (object) {
				child->type &= ~cJSON_StringIsConst;
				adopt_text(&child->string);
			}
			adopt_item(child);
		}
	} else if (!cJSON_IsBool(item) && !cJSON_IsNull(item) &&
	    !(cJSON_IsNumber(item) && isfinite(item->valuedouble))) {
		json_assign(item, cJSON_CreateNull());
	}
	if (object && item->child)
		json_members_unique(item);
}

cJSON *json_adopt(cJSON *built)
{
	if (built)
		adopt_item(built);
	return built;
}
