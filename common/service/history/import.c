/* SPDX-License-Identifier: ISC */
/* Importing a thread with all its history.  The lines are read once for mistakes, and once more
 * within the one transaction that writes the thread. */
#include "base/json/json.h"
#include "base/os/clock.h"
#include "service/history/history.h"
#include "service/history/lines.h"
#include "service/thread/change.h"
#include "service/thread/ident.h"
#include "service/thread/threads.h"

#include <inttypes.h>

static bool import_write(
    struct call *call, const struct lease *lease, struct lines *lines, struct thread *to)
{
	struct storage *storage = call->service->storage;
	struct thread thread = lines->thread;
	int64_t now = clock_now();
	thread.row = 0;
	thread.thread_id = to->thread_id;
	thread.user_id = call->user_id;
	/* the server's own member belongs to a live session of another thread */
	cJSON *metadata = arena_json(call->arena, json_parse_own(lines->thread.metadata_json));
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, THREAD_RESUMPTION_HANDLE);
	thread.metadata_json = arena_print(call->arena, metadata);
	thread.updated_at = now;
	if (thread.created_at > now)
		thread.created_at = now;
	if (storage->history->make(
		storage, &call->ctx, lease, &thread, &lines->origin, &lines->source, &call->error))
		return true;
	if (call->error.kind == ERR_INVALID_INPUT) {
		struct error err = {0};
		error_move(&err, &call->error);
		error_set(&call->error, ERR_INVALID_INPUT, "line %" PRId64 ": %s", lines->number,
		    err.detail);
		error_release(&err);
	}
	return false;
}

cJSON *history_import(struct call *call, FILE *in, const char *wanted, bool trusted)
{
	const char *thread_id;
	struct lines lines;
	struct thread to;
	struct lease *lease;
	cJSON *data = NULL;
	bool ok = lines_open(&lines, call, in, trusted);
	const char *named = wanted ? wanted : lines.thread.thread_id;
	const cJSON *item = ok && named ? arena_json(call->arena, cJSON_CreateString(named)) : NULL;
	if (ok && thread_id_read_new(call, "body.thread_id", item, &thread_id) &&
	    thread_take_new(call, thread_id, CLAIM_ENQUEUE, &lease, &to)) {
		ok = import_write(call, lease, &lines, &to);
		lease_drop(call->service->storage, &call->ctx, lease);
		data = ok ? thread_read(call, to.thread_id) : NULL;
	}
	lines_release(&lines);
	return data;
}
