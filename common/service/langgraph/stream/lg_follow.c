/* SPDX-License-Identifier: ISC */
/* Where a reader takes up a run again, and what the run has led to. */
#include "service/langgraph/lg_run.h"

#include "base/json/json.h"
#include "service/langgraph/lg_input.h"
#include "service/langgraph/stream/lg_tell.h"
#include "service/langgraph/stream/lg_words.h"
#include "service/run/records.h"

#include <stdlib.h>
#include <string.h>

/* Without an id, or with "-1", all events follow; too large a number becomes the largest. */
static bool lg_follow_read_id(struct call *call, const char *text, struct lg_follow *follow)
{
	if (!text || strcmp(text, "-1") == 0)
		return true;
	if (!*text || text[strspn(text, "0123456789")])
		return error_wrong(&call->error, "header.Last-Event-ID", "value_error",
		    "must be the id of an event, or -1");
	int64_t id = strtoll(text, NULL, 10);
	if (id < LG_EVENTS_MOST)
		return true;
	follow->after = id / LG_EVENTS_MOST - 1;
	follow->skip = id;
	return true;
}

bool lg_run_follow(struct call *call, const char *thread_id, const char *run_id,
    const struct lg_follow_query *query, struct lg_follow *follow)
{
	const struct follow_query all = {.granularity = "full"};
	struct follow_place place;
	*follow = (struct lg_follow){0};
	bool ok = lg_follow_read_id(call, query->last_event_id, follow);
	for (size_t i = 0; i < query->mode_count; i++)
		ok = lg_mode_read(call, query->modes[i], &follow->modes) && ok;
	if (!ok || !run_follow(call, thread_id, run_id, &all, &place))
		return false;
	follow->record = place.record;
	return query->mode_count ||
	    lg_words_modes(call->service->storage, &call->ctx, record_key(&place.record),
		&follow->modes, &call->error);
}

bool lg_run_join(struct call *call, const char *thread_id, const char *run_id, bool *active,
    cJSON **failure, struct lg_reply *reply)
{
	struct storage *storage = call->service->storage;
	struct run_record record;
	struct error_view view;
	struct error err = {0};
	*reply = (struct lg_reply){.item = arena_alloc(call->arena, sizeof(*reply->item))};
	struct lg_item *item = reply->item;
	*item = (struct lg_item){0};
	if (!record_find(call, thread_id, run_id, &item->thread, &record))
		return false;
	*active = run_status_goes_on(record.status);
	*failure = NULL;
	if (record.status == RUN_ERROR) {
		record_failure(&record, &err);
		call_view_of(call, &err, &view);
		*failure = lg_failure(call, &view);
		error_release(&err);
	}
	if (*active || *failure)
		return true;
	cJSON *asked = arena_json(call->arena, lg_interrupts(&item->thread));
	if (asked->child) {
		item->more = arena_json(call->arena, cJSON_CreateObject());
		json_refer(item->more, "__interrupt__", asked);
	}
	return storage->threads->view(
	    storage, &call->ctx, item->thread.row, &item->thread.view, &call->error);
}
