/* SPDX-License-Identifier: ISC */
/* ListTasks: the tasks that the latest runs of the caller are of, in pages. */
#include "base/fields.h"
#include "base/json/json.h"
#include "base/os/clock.h"
#include "service/a2a/a2a_task.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOKED_AT 2000 /* runs; what is further back is found by its id alone */
#define PAGE_MOST 100
#define PAGE 50

struct a2a_item {
	const char *task_id;
	enum a2a_state state;
	int64_t since;
	size_t place; /* of its record among all, the latest first */
	bool settled; /* its latest record says it all */
};

struct a2a_list {
	struct call *call;
	struct a2a_item *items;
	size_t count, looked_at;
	/* what is asked for */
	const char *context_id, *status, *token, *after;
	int64_t page, history;
	bool artifacts;
	enum a2a_state state; /* where status is there */
	int64_t since;        /* where after is there */
};

static const struct field_row list_rows[] = {
    FIELD_AT("contextId", a2a_list, context_id, .kind = &field_filled),
    FIELD(a2a_list, status, .kind = &field_filled),
    FIELD_AT("pageSize", a2a_list, page, .kind = &field_integer, .min = 1, .max = PAGE_MOST),
    FIELD_AT("pageToken", a2a_list, token, .kind = &field_filled),
    FIELD_AT("historyLength", a2a_list, history, .kind = &field_integer, .max = FIELD_INTEGER_MAX,
	.expected = "a whole number from 0 on"),
    FIELD_AT("statusTimestampAfter", a2a_list, after, .kind = &field_filled),
    FIELD_AT("includeArtifacts", a2a_list, artifacts, .kind = &field_bool), FIELDS_END};

/* ---- what is asked for ---- */

/* RFC 3339, to the microsecond. */
static bool a2a_read_time(const char *text, int64_t *us)
{
	struct tm tm = {0};
	int year, month, at = 0, hours = 0, minutes = 0;
	int64_t part = 100000;
	if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &year, &month, &tm.tm_mday, &tm.tm_hour,
		&tm.tm_min, &tm.tm_sec, &at) != 6 ||
	    !at)
		return false;
	tm.tm_year = year - 1900;
	tm.tm_mon = month - 1;
	*us = (int64_t)timegm(&tm) * 1000000;
	text += at;
	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9'; text++, part /= 10)
			*us += (*text - '0') * part;
	if (strcmp(text, "Z") == 0)
		return true;
	at = 0;
	char sign = *text;
	if ((sign != '+' && sign != '-') ||
	    sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &at) != 2 || !at || text[1 + at])
		return false;
	int64_t away = (hours * 60 + minutes) * INT64_C(60000000);
	*us += sign == '+' ? -away : away;
	return true;
}

static bool a2a_list_read(struct call *call, const cJSON *params, struct a2a_list *list)
{
	*list = (struct a2a_list){.call = call, .page = PAGE};
	fields_read_body(&call->error, "body.params", params, list_rows, list);
	if (list->status && strcmp(list->status, "TASK_STATE_UNSPECIFIED") == 0)
		list->status = NULL;
	if (list->status && !a2a_state_find(list->status, &list->state))
		a2a_wrong(call, "status", "a state of tasks");
	if (list->after && !a2a_read_time(list->after, &list->since))
		a2a_wrong(call, "statusTimestampAfter", "a time of ISO 8601");
	return !error_is_set(&call->error);
}

/* ---- the tasks ---- */

/* Of a thread the latest run comes first. */
static bool a2a_list_note(void *arg, const struct run_record *record)
{
	struct a2a_list *list = arg;
	const char *task_id = a2a_task_of(list->call, record->thread_id, record->run_id);
	enum a2a_state state = a2a_state_of(record->status);
	if (task_id)
		list->items[list->count++] = (struct a2a_item){.task_id = task_id,
		    .state = state,
		    .since = a2a_run_since(record),
		    .place = list->looked_at,
		    .settled = a2a_state_is_over(state) || state == A2A_SUBMITTED};
	return ++list->looked_at < LOOKED_AT;
}

static int a2a_item_by_task(const void *a, const void *b)
{
	const struct a2a_item *first = a, *second = b;
	int order = strcmp(first->task_id, second->task_id);
	return order ? order : (first->place > second->place) - (first->place < second->place);
}

/* Each task once: what its latest run is says what it is. */
static void a2a_list_once(struct a2a_list *list)
{
	size_t kept = 0;
	qsort(list->items, list->count, sizeof(*list->items), a2a_item_by_task);
	for (size_t i = 0; i < list->count; i++)
		if (!kept || strcmp(list->items[kept - 1].task_id, list->items[i].task_id) != 0)
			list->items[kept++] = list->items[i];
	list->count = kept;
}

/* Newest first; of those of one moment the order is that of their ids. */
static int a2a_item_compare(const void *a, const void *b)
{
	const struct a2a_item *first = a, *second = b;
	if (first->since != second->since)
		return first->since < second->since ? 1 : -1;
	return strcmp(first->task_id, second->task_id);
}

/* What waits may have been answered by another protocol, and what runs have lost its process. */
static bool a2a_item_look(struct call *call, struct a2a_item *item)
{
	struct a2a_task task;
	if (!a2a_task_permit(call, item->task_id, "read"))
		return false;
	if (item->settled)
		return true;
	if (!a2a_task_read(call, item->task_id, &task))
		return false;
	item->state = task.state;
	item->since = task.since;
	return true;
}

/* Those that fit, as they are now; a task that has gone meanwhile is none. */
static bool a2a_list_fill(struct a2a_list *list)
{
	struct call *call = list->call;
	size_t kept = 0;
	a2a_list_once(list);
	for (size_t i = 0; i < list->count; i++) {
		struct a2a_item item = list->items[i];
		if (!a2a_item_look(call, &item)) {
			if (error_status_of(&call->error) >= 500)
				return false;
			error_release(&call->error);
			continue;
		}
		if ((!list->status || item.state == list->state) &&
		    (!list->after || item.since >= list->since))
			list->items[kept++] = item;
	}
	list->count = kept;
	qsort(list->items, list->count, sizeof(*list->items), a2a_item_compare);
	return true;
}

/* ---- a page ---- */

/* A token is what the last one of a page was, so that those that come meanwhile shift nothing. */
static bool a2a_list_start(struct a2a_list *list, size_t *first)
{
	struct a2a_item last = {0};
	char *end = NULL;
	*first = 0;
	if (!list->token)
		return true;
	last.since = strtoll(list->token, &end, 10);
	if (end == list->token || *end != ' ' || !id_valid(end + 1))
		return a2a_wrong(list->call, "pageToken", "one that was given");
	last.task_id = end + 1;
	while (*first < list->count && a2a_item_compare(&list->items[*first], &last) <= 0)
		++*first;
	return true;
}

static cJSON *a2a_list_page(struct a2a_list *list, size_t first)
{
	struct call *call = list->call;
	const struct a2a_shown shown = {false, list->artifacts, list->history};
	cJSON *result = arena_json(call->arena, cJSON_CreateObject());
	cJSON *tasks = json_add(result, "tasks", cJSON_CreateArray());
	size_t next = first;
	for (; next < list->count && next < first + (size_t)list->page; next++) {
		struct a2a_task task;
		cJSON *view = NULL;
		if (a2a_task_find(call, list->items[next].task_id, "read", &task))
			view = a2a_task_view(call, &task, &shown);
		if (view)
			cJSON_AddItemReferenceToArray(tasks, view);
		else if (error_status_of(&call->error) >= 500)
			return NULL;
		error_release(&call->error);
	}
	json_add_str(result, "nextPageToken",
	    next < list->count ? arena_printf(call->arena, "%" PRId64 " %s",
				     list->items[next - 1].since, list->items[next - 1].task_id)
			       : "");
	json_add_int(result, "pageSize", list->page);
	json_add_int(result, "totalSize", (int64_t)list->count);
	return result;
}

cJSON *a2a_tasks_list(struct call *call, const struct a2a_request *rq)
{
	const struct permission reads = {"graph", "read", NULL};
	struct storage *storage = call->service->storage;
	struct a2a_list list;
	size_t first;
	if (!call_permit(call, &reads) || !a2a_list_read(call, rq->params, &list))
		return NULL;
	const struct record_filter filter = {
	    .owner = call->owner, .thread_id = list.context_id, .statuses = ~0U};
	list.items = arena_alloc(call->arena, LOOKED_AT * sizeof(*list.items));
	if (!storage->runs->list(
		storage, &call->ctx, &filter, a2a_list_note, &list, &call->error) ||
	    !a2a_list_fill(&list) || !a2a_list_start(&list, &first))
		return NULL;
	return a2a_list_page(&list, first);
}
