/* SPDX-License-Identifier: ISC */
/* Who may see a trace, the view of it, and runs whose process has died. */
#include "service/trace/observe.h"

#include "base/json/json.h"
#include "service/thread/ident.h"
#include "service/trace/trace_view.h"

#include <string.h>

/*
 * A process that died says nothing of its runs.  A run says how it ended before it gives up its
 * thread; so one that goes on after its thread was seen free is dead.
 */
static bool observe_read_view(
    struct call *call, const char *thread_id, const char *run_id, struct trace_view *view)
{
	struct storage *storage = call->service->storage;
	struct traces *traces = call->service->traces;
	struct trace_run *run = &view->run;
	if (!traces_read(traces, &call->ctx, call->arena, thread_id, run_id, view, &call->error))
		return false;
	if (!view->found || run->status != TRACE_RUNNING)
		return true;
	bool last = view->run_count && strcmp(view->run_ids[view->run_count - 1], run->run_id) == 0;
	bool running, stop;
	if (last &&
	    storage->threads->lease_running(
		storage, &call->ctx, run->thread_id, &running, &stop, &call->error) &&
	    running)
		return true;
	if (!traces_read(
		traces, &call->ctx, call->arena, thread_id, run->run_id, view, &call->error))
		return false;
	if (view->found && run->status == TRACE_RUNNING) {
		/* for good, so that no later run on the thread makes it look alive */
		const struct trace_piece none = {.first = 1};
		uint64_t place = 0;
		run->status = TRACE_ERROR;
		run->finished_at = run->last_at;
		traces_put(traces, run, &none, &place);
	}
	return true;
}

cJSON *observe_thread(struct call *call, const char *thread_id, const char *run_id)
{
	struct storage *storage = call->service->storage;
	struct trace_view view = {0};
	struct thread thread;
	if (!thread_id_check(call, "path.thread_id", thread_id))
		return NULL;
	/* One that is somebody else's is refused.  One that is not stored is nobody's yet: it has
	 * no traces, though its first run may have begun. */
	bool is_stored = storage->threads->get(
	    storage, &call->ctx, call->arena, thread_id, &thread, &call->error);
	if (is_stored ? !call_owns(call, &thread) : error_is_set(&call->error))
		return NULL;
	if (is_stored && call->service->traces &&
	    !observe_read_view(call, thread_id, run_id, &view))
		return NULL;
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	cJSON_AddStringToObject(data, "thread_id", thread_id);
	json_add_int(data, "run_count", (int64_t)view.run_count);
	cJSON *ids = cJSON_AddArrayToObject(data, "run_ids");
	for (size_t i = 0; i < view.run_count; i++)
		cJSON_AddItemToArray(ids, cJSON_CreateString(view.run_ids[i]));
	if (!view.found) {
		cJSON_AddNullToObject(data, "run");
		return data;
	}
	cJSON *records = json_parse(view.records, strlen(view.records), JSON_TRUSTED_DEPTH, NULL);
	cJSON_AddItemToObject(data, "run", trace_view(&view.run, records));
	cJSON_Delete(records);
	return data;
}

bool observe_forget(struct call *call, const char *thread_id)
{
	struct traces *traces = call->service->traces;
	return !traces || traces_forget(traces, &call->ctx, thread_id, &call->error);
}
