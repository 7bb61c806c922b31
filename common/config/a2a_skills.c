/* SPDX-License-Identifier: ISC */
/* The key `a2a.skills`: what the agent can do, as its card tells. */
#include "config/keys.h"

#include "base/json/json.h"

static const struct field_row skill_rows[] = {
    FIELD_ONLY("id", .kind = &field_string, .required = true),
    FIELD_ONLY("name", .kind = &field_string, .required = true),
    FIELD_ONLY("description", .kind = &field_string, .required = true),
    FIELD_ONLY("tags", .kind = &field_strings),
    FIELD_ONLY("examples", .kind = &field_strings),
    FIELD_ONLY("inputModes", .kind = &field_strings),
    FIELD_ONLY("outputModes", .kind = &field_strings),
    FIELDS_END,
};

void a2a_skills_check(const struct section *root, struct config *config)
{
	cJSON *skill;
	size_t index = 0;
	cJSON_ArrayForEach(skill, config->a2a.skills) {
		struct section entry;
		if (!section_entry(&entry, root, "a2a.skills", index++, skill))
			continue;
		section_read(&entry, skill_rows, NULL);
		section_warn_unknown(&entry, skill_rows);
		/* clients of both versions of the protocol need tags */
		if (!json_get(skill, "tags"))
			json_add(skill, "tags", cJSON_CreateArray());
	}
}
