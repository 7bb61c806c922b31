/* SPDX-License-Identifier: ISC */
/*
 * Conditions on metadata: an input is one JSON object with "filters" and "metadata".  Whatever they
 * are, the result is a mistake with a text, or an answer; conditions kept as text mean the same,
 * and an object meets the condition of being like itself.
 */
#include "storage/memory_filter.h"
#include "base/json/json.h"
#include "base/utf8.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

static cJSON *again(const cJSON *item)
{
	char *text = json_print(item);
	cJSON *copy = json_parse(text, strlen(text), JSON_TRUSTED_DEPTH, NULL);
	require(copy != NULL);
	free(text);
	return copy;
}

static void check_mistake(const struct error *err)
{
	char *details = json_print(err->details);
	require(error_status_of(err) == 422 && err->detail[0]);
	require(utf8_valid(err->detail, strlen(err->detail)));
	require(utf8_valid(details, strlen(details)));
	free(details);
}

static void apply(const cJSON *metadata, const cJSON *filters)
{
	cJSON *copy = again(filters);
	require(memory_filter_fits(metadata, filters) == memory_filter_fits(metadata, copy));
	cJSON_Delete(copy);
}

/* Checks values that are neither lists nor objects: each is a condition by itself. */
static void check_equality(const cJSON *metadata)
{
	const cJSON *member;
	cJSON_ArrayForEach(member, metadata) {
		cJSON *filters = cJSON_CreateObject();
		cJSON_AddItemReferenceToObject(filters, member->string, (cJSON *)member);
		if (!cJSON_IsObject(member) && !cJSON_IsArray(member))
			require(memory_filter_fits(metadata, filters));
		cJSON_Delete(filters);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cJSON *input = json_parse((const char *)data, size, JSON_REQUEST_DEPTH, NULL);
	const cJSON *filters = json_get(input, "filters"), *metadata = json_get(input, "metadata");
	struct error err = {0};
	if (cJSON_IsObject(filters) && cJSON_IsObject(metadata)) {
		bool ok = memory_filter_check(filters, "body.filters", &err);
		require(ok != error_is_set(&err));
		if (ok)
			apply(metadata, filters);
		else
			check_mistake(&err);
		check_equality(metadata);
	}
	error_release(&err);
	cJSON_Delete(input);
	return 0;
}
