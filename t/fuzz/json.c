/* SPDX-License-Identifier: ISC */
/* JSON texts: an accepted one prints as JSON that means the same, and that prints the same again.
 * */
#include "base/json/json.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

/* Checks that every string is valid UTF-8, and that every key occurs once. */
static void check_tree(const cJSON *item)
{
	const cJSON *child;
	cJSON_ArrayForEach(child, item) {
		if (child->string) {
			require(utf8_valid(child->string, strlen(child->string)));
			require(json_get(item, child->string) == child);
		}
		check_tree(child);
	}
	if (cJSON_IsString(item) || cJSON_IsRaw(item))
		require(utf8_valid(item->valuestring, strlen(item->valuestring)));
	int64_t integer;
	double number;
	require(!json_integer(item, &integer) || json_number(item, &number));
}

static void check_round_trip(cJSON *root)
{
	char *text = json_print(root);
	cJSON *again = json_parse(text, strlen(text), JSON_REQUEST_DEPTH, NULL);
	require(again && json_equal(root, again) && json_equal(again, root));
	char *second = json_print(again);
	require(strcmp(text, second) == 0);
	require(!json_repeated_key(text, strlen(text), '/'));
	json_merge(again, root);
	require(json_equal(root, again));
	free(second);
	free(text);
	cJSON_Delete(again);
}

static void check_keys(const char *text, size_t len)
{
	char *key = json_repeated_key(text, len, '/');
	require(!key || utf8_valid(key, strlen(key)));
	free(key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum json_fault fault;
	cJSON *root = json_parse((const char *)data, size, JSON_REQUEST_DEPTH, &fault);
	require((root != NULL) == (fault == JSON_OK));
	if (root) {
		check_tree(root);
		check_round_trip(root);
		check_keys((const char *)data, size);
	}
	cJSON_Delete(root);
	return 0;
}
