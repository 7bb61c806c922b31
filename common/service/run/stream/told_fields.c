/* SPDX-License-Identifier: ISC */
/* Comparing fields. */
#include "service/run/stream/told_fields.h"

#include "base/json/json.h"
#include "graph/state.h"

void told_fields_release(struct told_fields *told)
{
	cJSON_Delete(told->whole);
}

void told_fields_begin(struct told_fields *told, const ag_run *whole)
{
	if (!told->whole)
		told->whole = cJSON_Duplicate(run_fields(whole), true);
}

bool told_fields_begin_late(
    struct told_fields *told, const ag_graph *graph, const struct thread *before)
{
	if (told->whole)
		return false;
	told->whole = state_fields(graph, before->fields_json);
	return true;
}

cJSON *told_fields_end(struct told_fields *told, const ag_run *run, const struct run_event *event)
{
	const cJSON *fields = run_fields(run), *field;
	cJSON *set = cJSON_CreateArray();
	if (event->branch) {
		for (const cJSON *update = event->set; update; update = update->next)
			if (!json_has_str(set, update->child->string))
				json_append(set, cJSON_CreateString(update->child->string));
		return set;
	}
	cJSON_ArrayForEach(field, fields) {
		if (!json_equal(field, json_get(told->whole, field->string)))
			json_append(set, cJSON_CreateString(field->string));
	}
	if (set->child) {
		cJSON_Delete(told->whole);
		told->whole = cJSON_Duplicate(fields, true);
	}
	return set;
}
