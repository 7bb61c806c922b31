/* SPDX-License-Identifier: ISC */
/* Listing and reading the checkpoints of a thread. */
#include "service/history/history.h"

#include "graph/state.h"
#include "service/history/earlier.h"
#include "service/thread/change.h"
#include "service/thread/feed.h"
#include "service/thread/ident.h"
#include "service/thread/page.h"

#define DEFAULT_LIMIT "20"

static bool history_add(void *arg, const struct checkpoint *checkpoint)
{
	cJSON_AddItemToArray(arg, earlier_record(checkpoint));
	return true;
}

cJSON *history_list(struct call *call, const char *thread_id, const struct history_query *query)
{
	struct storage *storage = call->service->storage;
	const struct list_query numbers = {.limit = query->limit ? query->limit : DEFAULT_LIMIT};
	struct thread thread;
	struct checkpoint before = {0};
	struct page page;
	thread_id_check(call, "path.thread_id", thread_id);
	if (!page_read(call, &numbers, &page) || !thread_find(call, thread_id, &thread) ||
	    (query->before && !earlier_find(call, &thread, query->before, &before)))
		return NULL;
	const struct checkpoint_filter filter = {
	    .before = before.number, .run_id = query->run_id, .limit = page.limit};
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	cJSON *history = cJSON_AddArrayToObject(data, "history");
	bool ok = storage->history->list(
	    storage, &call->ctx, &thread, &filter, history_add, history, &call->error);
	return ok ? data : NULL;
}

cJSON *history_read(struct call *call, const char *thread_id, const char *checkpoint_id)
{
	struct thread now;
	struct checkpoint checkpoint;
	if (!thread_find(call, thread_id, &now) ||
	    !earlier_find(call, &now, checkpoint_id, &checkpoint))
		return NULL;
	const struct thread *then = &checkpoint.thread;
	const struct run_flags flags = {.running = checkpoint.source == CHECKPOINT_STEP};
	cJSON *data = arena_json(call->arena, earlier_record(&checkpoint));
	cJSON *context = feed_context(call, then->row, &then->view);
	cJSON_AddItemToObject(
	    data, "state", state_json(call->service->graph, then, &flags, context));
	cJSON_AddItemToObject(data, "messages", feed_beside(call, then->row, &then->view));
	return data;
}
