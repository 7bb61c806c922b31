/* SPDX-License-Identifier: ISC */
/* Comparing fields. */
#include "service/run/stream/told_fields.h"

#include "base/json/json.h"

void told_fields_release(struct told_fields *told)
{
	cJSON_Delete(told->whole);
	cJSON_Delete(told->branches);
}

void told_fields_begin(
    struct told_fields *told, const ag_run *whole, const ag_run *run, const struct run_event *event)
{
	if (!told->whole)
		told->whole = cJSON_Duplicate(run_fields(whole), true);
	if (!event->branch)
		return;
	if (!told->branches)
		told->branches = cJSON_CreateObject();
	json_set(told->branches, event->branch, cJSON_Duplicate(run_fields(run), true));
}

cJSON *told_fields_end(struct told_fields *told, const ag_run *run, const struct run_event *event)
{
	const cJSON *fields = run_fields(run), *field;
	const cJSON *before = event->branch ? json_get(told->branches, event->branch) : told->whole;
	cJSON *set = cJSON_CreateArray();
	cJSON_ArrayForEach(field, fields) {
		if (!json_equal(field, json_get(before, field->string)))
			json_append(set, cJSON_CreateString(field->string));
	}
	if (event->branch) {
		cJSON_DeleteItemFromObjectCaseSensitive(told->branches, event->branch);
	} else if (set->child) {
		cJSON_Delete(told->whole);
		told->whole = cJSON_Duplicate(fields, true);
	}
	return set;
}
