/* SPDX-License-Identifier: ISC */
/* Going back to a checkpoint, in the thread itself or in a copy. */
#include "base/fields.h"
#include "base/json/json.h"
#include "base/os/clock.h"
#include "graph/state.h"
#include "service/history/earlier.h"
#include "service/history/history.h"
#include "service/thread/change.h"
#include "service/thread/ident.h"
#include "service/thread/threads.h"

struct history_body {
	const char *checkpoint_id; /* NULL: none is named */
};

static const struct field_row rewind_rows[] = {
    FIELD(history_body, checkpoint_id, .kind = &field_text, .required = true,
	.wrong = "is required and must be a string"),
    FIELDS_END,
};

static const struct field_row copy_rows[] = {
    FIELD(history_body, checkpoint_id, .kind = &field_text),
    FIELDS_END,
};

/* ---- rewind ---- */

static bool rewind_add_checkpoint(void *arg, const struct checkpoint *checkpoint)
{
	cJSON_AddItemToObject(arg, "checkpoint", earlier_record(checkpoint));
	return false;
}

cJSON *history_rewind(struct call *call, const char *thread_id, const cJSON *body)
{
	struct storage *storage = call->service->storage;
	const struct checkpoint_filter latest = {.limit = 1};
	struct history_body given = {0};
	struct change change;
	struct checkpoint to;
	cJSON *data = arena_json(call->arena, cJSON_CreateObject()), *state = NULL;
	bool ok = change_check(call, thread_id, body);
	ok = fields_read_body(&call->error, "body", body, rewind_rows, &given) && ok;
	if (!ok || !change_begin(&change, call, thread_id))
		return NULL;
	if (change_exists(&change) &&
	    earlier_take(call, &change.thread, given.checkpoint_id, &to)) {
		change.thread = to.thread;
		change.rewind = &to;
		change.checkpoint = CHECKPOINT_REWIND;
		cJSON_AddTrueToObject(data, "success");
		/* beside the thread's latest checkpoint, which the rewind has added */
		if (change_append(&change, NULL) &&
		    storage->history->list(storage, &call->ctx, &change.thread, &latest,
			rewind_add_checkpoint, data, &call->error))
			state = change_state(&change);
		cJSON_AddItemToObject(data, "state", state);
	}
	change_end(&change);
	return state ? data : NULL;
}

/* ---- copy ---- */

static bool rewind_write_copy(
    struct call *call, const struct lease *lease, const struct thread *from, struct thread *to)
{
	struct storage *storage = call->service->storage;
	struct thread copy = *from, gone;
	copy.row = 0;
	copy.thread_id = to->thread_id;
	copy.user_id = call->user_id;
	/* the server's own member belongs to a live session of the other thread */
	cJSON *metadata = json_parse_own(from->metadata_json);
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, THREAD_RESUMPTION_HANDLE);
	copy.metadata_json = arena_print(call->arena, metadata);
	cJSON_Delete(metadata);
	copy.run_id = NULL; /* its record is in the other thread */
	copy.created_at = copy.updated_at = clock_now();
	*to = copy;
	if (storage->history->copy(storage, &call->ctx, lease, from, to, &call->error))
		return true;
	if (call->error.kind == ERR_STORAGE) {
		struct error err = {0};
		error_move(&err, &call->error);
		/* somebody may have deleted the thread meanwhile */
		if (thread_find(call, from->thread_id, &gone))
			error_move(&call->error, &err);
		error_release(&err);
	}
	return false;
}

cJSON *history_copy(struct call *call, const char *thread_id, const cJSON *body)
{
	struct history_body given = {0};
	const char *wanted = NULL;
	struct thread from, to;
	struct run_flags flags;
	struct checkpoint checkpoint;
	struct lease *lease;
	bool ok = change_check(call, thread_id, body);
	ok = fields_read_body(&call->error, "body", body, copy_rows, &given) && ok;
	ok = thread_id_read_new(call, "body.thread_id", json_opt(body, "thread_id"), &wanted) && ok;
	if (!ok || !thread_look(call, thread_id, &from, &flags))
		return NULL;
	/* the thread as it was at the checkpoint, or as it is now */
	if (given.checkpoint_id) {
		if (!earlier_take(call, &from, given.checkpoint_id, &checkpoint))
			return NULL;
		from = checkpoint.thread;
	} else if (!earlier_ready(call, &from, flags.running)) {
		return NULL;
	}
	if (!thread_take_new(call, wanted, CLAIM_ENQUEUE, &lease, &to))
		return NULL;
	ok = rewind_write_copy(call, lease, &from, &to);
	lease_drop(call->service->storage, &call->ctx, lease);
	return ok ? thread_read(call, to.thread_id) : NULL;
}
