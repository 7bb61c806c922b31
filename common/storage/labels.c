/* SPDX-License-Identifier: ISC */
/* Labels out of metadata. */
#include "storage/labels.h"

#include "base/json.h"

#include <string.h>

static bool label_tell(const cJSON *member, label_fn fn, void *arg)
{
	char *printed = cJSON_IsString(member) ? NULL : json_print(member);
	bool more =
	    fn(arg, &(struct label){member->string, printed ? printed : member->valuestring});

	cJSON_free(printed);
	return more;
}

bool labels_each(const char *metadata_json, label_fn fn, void *arg)
{
	cJSON *metadata =
	    json_parse(metadata_json, strlen(metadata_json), JSON_TRUSTED_DEPTH, NULL);
	const cJSON *member;
	bool more = true;

	cJSON_ArrayForEach(member, metadata) {
		bool is_label =
		    cJSON_IsString(member) || cJSON_IsBool(member) || json_is_number(member);

		if (more && is_label)
			more = label_tell(member, fn, arg);
	}
	cJSON_Delete(metadata);
	return more;
}
