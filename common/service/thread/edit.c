/* SPDX-License-Identifier: ISC */
/* Threads made and described from outside: POST and PATCH (doc/protocol-threads.md#creating). */
#include "base/fields.h"
#include "base/json/json.h"
#include "service/history/earlier.h"
#include "service/thread/change.h"
#include "service/thread/ident.h"
#include "service/thread/threads.h"

#include <string.h>

/* What a body says of a thread; a NULL member: nothing. */
struct edit {
	const char *thread_name;
	const cJSON *metadata;
};

static bool edit_name_valid(const char *name)
{
	return !*name || id_valid(name);
}

static const struct field_row edit_rows[] = {
    FIELD(edit, thread_name, .kind = &field_text, .valid = edit_name_valid,
	.expected = "a text of at most 255 characters without control characters"),
    FIELD(edit, metadata, .kind = &field_json, .types = TYPE_OBJECT, .expected = METADATA_EXPECTED),
    FIELDS_END,
};

/* Reads the body; adds all mistakes to those that are in the error already. */
static bool edit_read(struct call *call, const cJSON *body, struct edit *edit)
{
	const cJSON *item;
	*edit = (struct edit){0};
	fields_read_body(&call->error, "body", body, edit_rows, edit);
	cJSON_ArrayForEach(item, edit->metadata) {
		if (strcmp(item->string, THREAD_RESUMPTION_HANDLE) == 0)
			error_wrong(&call->error,
			    arena_printf(call->arena, "body.metadata.%s", item->string),
			    "value_error", "is kept by the server and cannot be set");
	}
	return !error_is_set(&call->error);
}

/* Applies the edit to the thread; false with the error set where there would be too much
 * metadata. */
static bool edit_apply(struct call *call, const struct edit *edit, struct thread *thread)
{
	if (edit->thread_name)
		thread->thread_name = edit->thread_name;
	if (!edit->metadata)
		return true;
	cJSON *metadata = json_parse_own(thread->metadata_json);
	json_merge_patch(metadata, edit->metadata);
	thread->metadata_json = arena_print(call->arena, metadata);
	cJSON_Delete(metadata);
	return strlen(thread->metadata_json) <= METADATA_MAX ||
	    error_wrong(&call->error, "body.metadata", "value_error", "must be " METADATA_EXPECTED);
}

static cJSON *edit_create(struct call *call, const cJSON *body, enum checkpoint_source checkpoint)
{
	const char *wanted;
	struct edit edit;
	struct change change = {.call = call};
	thread_id_read_new(call, "body.thread_id", json_opt(body, "thread_id"), &wanted);
	if (!edit_read(call, body, &edit) ||
	    !thread_take_new(call, wanted, CLAIM_ENQUEUE, &change.lease, &change.thread))
		return NULL;
	change.checkpoint = checkpoint;
	bool made = edit_apply(call, &edit, &change.thread) && change_append(&change, NULL);
	change_end(&change);
	return made ? thread_read(call, change.thread.thread_id) : NULL;
}

cJSON *thread_create(struct call *call, const cJSON *body)
{
	return edit_create(call, body, CHECKPOINT_NONE);
}

cJSON *thread_create_kept(struct call *call, const cJSON *body)
{
	return edit_create(call, body, earlier_of_update(call));
}

cJSON *thread_update(struct call *call, const char *thread_id, const cJSON *body)
{
	struct edit edit;
	struct change change;
	thread_id_check(call, "path.thread_id", thread_id);
	if (!edit_read(call, body, &edit) || !change_begin(&change, call, thread_id))
		return NULL;
	bool says_something = edit.thread_name || edit.metadata;
	bool done = change_exists(&change) && edit_apply(call, &edit, &change.thread) &&
	    (!says_something || change_append(&change, NULL));
	change_end(&change);
	return done ? thread_read(call, thread_id) : NULL;
}
