/* SPDX-License-Identifier: ISC */
/* Reports of evaluations: a mended one is as long as before, and a scan of the text finds the same
 * as a tree of it has. */
#include "base/json/json_scan.h"
#include "base/json/json_skim.h"
#include "base/memory.h"
#include "replay.h"
#include "service/evals/eval_file.h"

#include <stdlib.h>
#include <string.h>

static void check_value(struct json_span span, const cJSON *wanted)
{
	cJSON *got = json_skim_parse(span);
	require(got && json_equal(got, wanted));
	cJSON_Delete(got);
}

static void check_walk(struct json_span root, const cJSON *tree)
{
	const cJSON *child;
	struct json_span at = {0};
	cJSON_ArrayForEach(child, tree) {
		if (cJSON_IsObject(tree))
			check_value(json_skim_member(root, child->string), child);
		else {
			require(json_skim_next(root, &at));
			check_value(at, child);
		}
	}
	require(!cJSON_IsArray(tree) || !json_skim_next(root, &at));
	require(json_skim_is_object(root) == (cJSON_IsObject(tree) != 0));
	require(json_skim_is_array(root) == (cJSON_IsArray(tree) != 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);
	size_t len = strlen(text);
	eval_text_mend(text, len);
	require(strlen(text) == len);
	cJSON *tree = json_parse(text, len, JSON_DEPTH_LIMIT, NULL);
	if (tree)
		check_walk(json_skim_text(text, len), tree);
	cJSON_Delete(tree);
	free(text);
	return 0;
}
