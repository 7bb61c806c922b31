/* SPDX-License-Identifier: ISC */
/* Finding the labels in the metadata of a thread. */
#include "storage/threads.h"

#include "base/json/json.h"

bool labels_each(const char *metadata_json, label_fn fn, void *arg)
{
	cJSON *metadata = json_parse_own(metadata_json);
	const cJSON *member;
	bool more = true;
	cJSON_ArrayForEach(member, metadata) {
		bool text = cJSON_IsString(member);
		if (!more || !(text || cJSON_IsBool(member) || json_is_number(member)))
			continue;
		char *printed = text ? NULL : json_print(member);
		const struct label label = {member->string, text ? member->valuestring : printed};
		more = fn(arg, &label);
		cJSON_free(printed);
	}
	cJSON_Delete(metadata);
	return more;
}
