/* SPDX-License-Identifier: ISC */
/* Copying a tree that others built, with texts, keys and numbers put right on the way. */
#include "base/json.h"
#include "base/json_members.h"

#include <stdlib.h>
#include <string.h>

static cJSON *adopt_text(const char *text)
{
	if (!text || utf8_valid(text, strlen(text)))
		return cJSON_CreateString(text ? text : "");
	char *mended = utf8_mend(text);
	cJSON *item = cJSON_CreateString(mended);
	free(mended);
	return item;
}

static cJSON *adopt_raw(const char *text)
{
	cJSON *item = text ? json_parse(text, strlen(text), JSON_REQUEST_DEPTH, NULL) : NULL;
	return item ? item : cJSON_CreateNull();
}

static void adopt_member(cJSON *object, const cJSON *child, cJSON *item)
{
	const char *key = child->string ? child->string : "";
	char *mended = utf8_valid(key, strlen(key)) ? NULL : utf8_mend(key);
	cJSON_AddItemToObject(object, mended ? mended : key, item);
	free(mended);
}

static cJSON *adopt_copy(const cJSON *item)
{
	const cJSON *child;
	if (cJSON_IsString(item))
		return adopt_text(item->valuestring);
	if (cJSON_IsNumber(item))
		return json_new_double(item->valuedouble);
	if (cJSON_IsRaw(item))
		return adopt_raw(item->valuestring);
	if (cJSON_IsBool(item))
		return cJSON_CreateBool(cJSON_IsTrue(item));
	if (!cJSON_IsObject(item) && !cJSON_IsArray(item))
		return cJSON_CreateNull();
	cJSON *out = cJSON_IsObject(item) ? cJSON_CreateObject() : cJSON_CreateArray();
	cJSON_ArrayForEach(child, item) {
		if (cJSON_IsObject(item))
			adopt_member(out, child, adopt_copy(child));
		else
			cJSON_AddItemToArray(out, adopt_copy(child));
	}
	if (cJSON_IsObject(item) && out->child)
		json_members_unique(out);
	return out;
}

cJSON *json_adopt(cJSON *built)
{
	if (!built)
		return NULL;
	cJSON *out = adopt_copy(built);
	cJSON_Delete(built);
	return out;
}
