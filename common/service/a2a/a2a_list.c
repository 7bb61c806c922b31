/* SPDX-License-Identifier: ISC */
/*
 * ListTasks: the tasks of the caller, in pages.
 *
 * No task is older than its thread's latest change, so threads are walked in the order of these,
 * and a task has its place as soon as the threads that come next were changed before it.  A page
 * costs what comes before it and, for what comes behind, only the count.  Tasks behind LOOKED
 * threads can only be found by their ids.
 */
#include "base/fields.h"
#include "base/json/json.h"
#include "base/os/clock.h"
#include "service/a2a/a2a_task.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAGE_MOST 100
#define PAGE 50
#define PAGE_BYTES (1 << 20) /* a page ends after the task that brings it to this size */
#define THREADS 128          /* threads that are looked at together */
#define COUNTED 1000         /* once the page is full, tasks are counted up to this number */
#define LOOKED 2000          /* most threads that are looked at for a page */

struct a2a_item {
	const char *task_id;
	enum a2a_state state;
	int64_t since;
	int64_t at;   /* its sort key: since, but no later than its thread's latest change */
	bool settled; /* its latest record alone says its state */
};

/* A thread whose tasks come next. */
struct a2a_context {
	const char *id;
	int64_t updated_at;
};

struct a2a_list {
	struct call *call;
	bool old;
	struct arena *scratch; /* holds the contexts */
	struct a2a_context contexts[THREADS];
	size_t context_count;
	struct a2a_item *items; /* tasks that have no place yet */
	size_t count, room;
	struct a2a_item shown[PAGE_MOST];
	size_t shown_count;
	struct a2a_item last; /* the last task that got a place */
	int64_t total;        /* how many got a place */
	bool placed, more;    /* last is set; there are tasks behind the page */
	/* what is asked for */
	const char *context_id, *status, *token, *after;
	int64_t page, history;
	bool artifacts;
	enum a2a_state state;  /* set where status is */
	int64_t since;         /* set where after is */
	struct a2a_item begin; /* set where token is: the last task of the page before */
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

/* Whether text begins with a shape, in which 0 stands for any digit. */
static bool a2a_time_has(const char *text, const char *shape)
{
	for (; *shape; shape++, text++)
		if (*shape == '0' ? *text < '0' || *text > '9' : *text != *shape)
			return false;
	return true;
}

/* Reads the zone behind a time, as its distance from UTC. */
static bool a2a_read_zone(const char *text, int64_t *us)
{
	int hours = 0, minutes = 0;
	*us = 0;
	if (strcmp(text, "Z") == 0)
		return true;
	if ((*text != '+' && *text != '-') || !a2a_time_has(text + 1, "00:00") || text[6])
		return false;
	sscanf(text + 1, "%2d:%2d", &hours, &minutes);
	*us = (hours * 60 + minutes) * INT64_C(60000000) * (*text == '-' ? -1 : 1);
	return hours < 24 && minutes < 60;
}

/* RFC 3339, to the microsecond. */
static bool a2a_read_time(const char *text, int64_t *us)
{
	static const char shape[] = "0000-00-00T00:00:00";
	struct tm tm = {0};
	int64_t part = 100000, away;
	if (!a2a_time_has(text, shape))
		return false;
	sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
	    &tm.tm_min, &tm.tm_sec);
	tm.tm_year -= 1900;
	tm.tm_mon--;
	const struct tm given = tm;
	*us = (int64_t)timegm(&tm) * 1000000;
	if (tm.tm_mon != given.tm_mon || tm.tm_mday != given.tm_mday ||
	    tm.tm_hour != given.tm_hour || tm.tm_min != given.tm_min || tm.tm_sec != given.tm_sec)
		return false; /* there is no such day, or no such time */
	text += strlen(shape);
	if (a2a_time_has(text, ".0"))
		for (text++; *text >= '0' && *text <= '9'; text++, part /= 10)
			*us += (*text - '0') * part;
	bool ok = a2a_read_zone(text, &away);
	*us -= away;
	return ok;
}

static bool a2a_list_read(struct call *call, const struct a2a_request *rq, struct a2a_list *list)
{
	*list = (struct a2a_list){.call = call, .old = rq->old, .page = PAGE};
	fields_read_body(&call->error, "body.params", rq->params, list_rows, list);
	if (list->token) { /* it names the last task of a page, so that new tasks shift nothing */
		char *end;
		list->begin.at = strtoll(list->token, &end, 10);
		list->begin.task_id = end + (*end == ' ');
		if (end == list->token || *end != ' ' || !id_valid(end + 1))
			a2a_wrong(call, "pageToken", "one that was given");
	}
	if (list->status && strcmp(list->status, "TASK_STATE_UNSPECIFIED") == 0)
		list->status = NULL;
	if (list->status && !a2a_state_find(rq->old, list->status, &list->state))
		a2a_wrong(call, "status", "a state of tasks");
	if (list->after && !a2a_read_time(list->after, &list->since))
		a2a_wrong(call, "statusTimestampAfter", "a time of ISO 8601");
	return !error_is_set(&call->error);
}

/* ---- the tasks of a thread ---- */

/* Newest first; those of the same moment by id. */
static int a2a_item_compare(const void *a, const void *b)
{
	const struct a2a_item *first = a, *second = b;
	if (first->at != second->at)
		return first->at < second->at ? 1 : -1;
	return strcmp(first->task_id, second->task_id);
}

/* Notes a run of a task.  The latest comes first, and says what the task is. */
static bool a2a_list_note(void *arg, const struct run_record *record)
{
	struct a2a_list *list = arg;
	size_t len = a2a_task_length(record->thread_id, record->run_id);
	enum a2a_state state = a2a_state_of(record->status);
	struct arena *a = list->call->arena;
	if (!len)
		return true;
	if (list->count == list->room) {
		list->room = 2 * list->room + THREADS;
		struct a2a_item *items = arena_alloc(a, list->room * sizeof(*items));
		if (list->count)
			memcpy(items, list->items, list->count * sizeof(*items));
		list->items = items;
	}
	list->items[list->count] =
	    (struct a2a_item){.task_id = arena_strndup(a, record->run_id, len),
		.state = state,
		.since = a2a_run_since(record),
		.at = -(int64_t)list->count, /* keeps the order in which they come */
		.settled = a2a_state_is_over(state) || state == A2A_SUBMITTED};
	list->count++;
	return true;
}

static int a2a_item_by_task(const void *a, const void *b)
{
	const struct a2a_item *first = a, *second = b;
	int order = strcmp(first->task_id, second->task_id);
	return order ? order : a2a_item_compare(a, b);
}

/* Keeps for each task, from place begin on, the run that came first. */
static void a2a_list_once(struct a2a_list *list, size_t begin)
{
	size_t kept = begin;
	if (list->count == begin)
		return;
	qsort(list->items + begin, list->count - begin, sizeof(*list->items), a2a_item_by_task);
	for (size_t i = begin; i < list->count; i++)
		if (i == begin ||
		    strcmp(list->items[i].task_id, list->items[kept - 1].task_id) != 0)
			list->items[kept++] = list->items[i];
	list->count = kept;
}

/* Reads a task as it is now: one that waits may have been answered by another protocol, and one
 * that runs may have lost its process. */
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

/* Adds the tasks of a thread that fit, as they are now; one that has gone meanwhile is left out. */
static bool a2a_list_read_context(struct a2a_list *list, const struct a2a_context *context)
{
	struct call *call = list->call;
	struct storage *storage = call->service->storage;
	const struct record_filter filter = {
	    .owner = call->owner, .thread_id = context->id, .statuses = ~0U};
	size_t first = list->count, kept = first;
	if (!storage->runs->list(storage, &call->ctx, &filter, a2a_list_note, list, &call->error))
		return false;
	a2a_list_once(list, first);
	for (size_t i = first; i < list->count; i++) {
		struct a2a_item item = list->items[i];
		if (!a2a_item_look(call, &item)) {
			if (error_status_of(&call->error) >= 500)
				return false;
			error_release(&call->error);
			continue;
		}
		item.at = item.since < context->updated_at ? item.since : context->updated_at;
		if ((!list->status || item.state == list->state) &&
		    (!list->after || item.since >= list->since))
			list->items[kept++] = item;
	}
	list->count = kept;
	return true;
}

/* ---- the walk ---- */

static bool a2a_list_note_context(void *arg, const struct thread *thread)
{
	struct a2a_list *list = arg;
	list->contexts[list->context_count++] = (struct a2a_context){
	    arena_strdup(list->scratch, thread->thread_id), thread->updated_at};
	return true;
}

/* Gives the tasks that are later than later_than their places: no other can come before them. */
static void a2a_list_settle(struct a2a_list *list, int64_t later_than)
{
	size_t placed = 0;
	if (!list->count)
		return;
	qsort(list->items, list->count, sizeof(*list->items), a2a_item_compare);
	while (placed < list->count && list->items[placed].at > later_than) {
		const struct a2a_item *item = &list->items[placed++];
		/* it has its place already: its thread moved in the list, and came twice */
		if (list->placed && a2a_item_compare(item, &list->last) <= 0)
			continue;
		list->last = *item;
		list->placed = true;
		list->total++;
		if (list->token && a2a_item_compare(item, &list->begin) <= 0)
			continue;
		if (list->shown_count < (size_t)list->page)
			list->shown[list->shown_count++] = *item;
		else
			list->more = true;
	}
	list->count -= placed;
	memmove(list->items, list->items + placed, list->count * sizeof(*list->items));
}

/* Whether the next threads can change nothing of what is answered. */
static bool a2a_list_is_full(const struct a2a_list *list, int64_t updated_at)
{
	return (list->more && list->total >= COUNTED) || (list->after && updated_at < list->since);
}

static bool a2a_list_walk(struct a2a_list *list)
{
	const struct thread_filter asking = {.statuses = 1U << RUN_INTERRUPTED};
	struct call *call = list->call;
	struct storage *storage = call->service->storage;
	bool asks = list->status && list->state == A2A_INPUT_REQUIRED;
	struct page page = {.limit = THREADS};
	int64_t updated_at;
	bool more;
	do {
		list->scratch = arena_new();
		list->context_count = 0;
		bool ok = storage->threads->list(storage, &call->ctx, call->owner, &page,
		    asks ? &asking : NULL, a2a_list_note_context, list, &call->error);
		for (size_t i = 0; ok && i < list->context_count; i++)
			ok = a2a_list_read_context(list, &list->contexts[i]);
		arena_free(list->scratch);
		if (!ok)
			return false;
		more = list->context_count == THREADS;
		updated_at = more ? list->contexts[THREADS - 1].updated_at : INT64_MIN;
		a2a_list_settle(list, updated_at);
		page.offset += THREADS;
	} while (more && page.offset < LOOKED && !a2a_list_is_full(list, updated_at));
	a2a_list_settle(list, INT64_MIN);
	return true;
}

/* ---- a page ---- */

/* Adds a task as text, freeing all that it takes to make that; *bytes grows by its length.  A task
 * that has gone meanwhile is left out.  False with the error set. */
static bool a2a_list_show(
    struct a2a_list *list, const struct a2a_item *item, cJSON *tasks, size_t *bytes)
{
	struct call *call = list->call;
	const struct a2a_shown shown = {list->old, list->artifacts, list->history};
	struct arena *kept = call->arena;
	struct a2a_task task;
	cJSON *view = NULL;
	call->arena = arena_new();
	if (a2a_task_find(call, item->task_id, "read", &task))
		view = a2a_task_view(call, &task, &shown);
	char *text = view ? json_print(view) : NULL;
	arena_free(call->arena);
	call->arena = kept;
	if (!text && error_status_of(&call->error) >= 500)
		return false;
	error_release(&call->error);
	if (!text)
		return true;
	*bytes += strlen(text);
	arena_defer(kept, cJSON_free, text);
	return json_append(tasks, json_raw_reference(text));
}

cJSON *a2a_tasks_list(struct call *call, const struct a2a_request *rq)
{
	const struct permission reads = {"graph", "read", NULL};
	struct a2a_list *list = arena_alloc(call->arena, sizeof(*list));
	size_t bytes = 0, count = 0;
	if (!call_permit(call, &reads) || !a2a_list_read(call, rq, list))
		return NULL;
	if (list->context_id) {
		const struct a2a_context context = {list->context_id, INT64_MAX};
		if (!a2a_list_read_context(list, &context))
			return NULL;
		a2a_list_settle(list, INT64_MIN);
	} else if (!a2a_list_walk(list)) {
		return NULL;
	}
	cJSON *result = arena_json(call->arena, cJSON_CreateObject());
	cJSON *tasks = json_add(result, "tasks", cJSON_CreateArray());
	while (count < list->shown_count && bytes < PAGE_BYTES)
		if (!a2a_list_show(list, &list->shown[count++], tasks, &bytes))
			return NULL;
	const struct a2a_item *last = list->shown + count - (count > 0);
	json_add_str(result, "nextPageToken",
	    list->more || count < list->shown_count
		? arena_printf(call->arena, "%" PRId64 " %s", last->at, last->task_id)
		: "");
	json_add_int(result, "pageSize", list->page);
	json_add_int(result, "totalSize", list->total);
	return result;
}
