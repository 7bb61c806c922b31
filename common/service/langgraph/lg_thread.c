/* SPDX-License-Identifier: ISC */
/* Threads: made, read, described, removed, copied, looked for and counted. */
#include "base/fields.h"
#include "base/json/json.h"
#include "base/os/clock.h"
#include "graph/state.h"
#include "service/history/earlier.h"
#include "service/history/history.h"
#include "service/langgraph/langgraph.h"
#include "service/langgraph/lg_assistant.h"
#include "service/langgraph/lg_item.h"
#include "service/thread/change.h"
#include "service/thread/threads.h"

#include <inttypes.h>
#include <string.h>

/* ---- what a thread says ---- */

static const char *lg_thread_status(enum run_status status)
{
	switch (status) {
	case RUN_RUNNING:
	case RUN_QUEUED:
		return "busy";
	case RUN_INTERRUPTED:
		return "interrupted";
	case RUN_ERROR:
		return "error";
	case RUN_IDLE:
	case RUN_COMPLETED:
	case RUN_STOPPED:
		break;
	}
	return "idle";
}

static void lg_thread_item(struct call *call, const struct thread *thread,
    const struct run_flags *flags, struct lg_item *item)
{
	char time[ISO_TIME_SIZE];
	cJSON *head = arena_json(call->arena, cJSON_CreateObject());
	*item = (struct lg_item){.head = head, .thread = *thread, .whole = true};
	cJSON_AddStringToObject(head, "thread_id", thread->thread_id);
	json_add_str(head, "created_at", clock_iso(thread->created_at, time));
	json_add_str(head, "updated_at", clock_iso(thread->updated_at, time));
	json_add_str(head, "state_updated_at", clock_iso(thread->updated_at, time));
	/* pages look for threads by the graph's name and id */
	cJSON *metadata = json_add(head, "metadata", json_parse_own(thread->metadata_json));
	json_set(metadata, "graph_id", cJSON_CreateString(lg_graph_id(call)));
	json_set(metadata, "assistant_id", cJSON_CreateString(lg_assistant_id(call)));
	json_add_str(head, "status", lg_thread_status(thread_status(thread, flags)));
	json_add(head, "config", cJSON_CreateObject());
	/* by the id of the task that asks */
	cJSON *interrupts = json_add(head, "interrupts", cJSON_CreateObject()), *one;
	cJSON *all = flags->running ? cJSON_CreateArray() : lg_interrupts(thread);
	while ((one = all->child)) {
		const char *id = json_str(one, "id");
		cJSON *alone = cJSON_AddArrayToObject(interrupts, id ? id : "");
		json_append(alone, cJSON_DetachItemViaPointer(all, one));
	}
	cJSON_Delete(all);
}

bool lg_thread_read(struct call *call, const char *thread_id, struct lg_reply *reply)
{
	struct thread thread;
	struct run_flags flags;
	if (!thread_look(call, thread_id, &thread, &flags))
		return false;
	*reply = (struct lg_reply){.item = arena_alloc(call->arena, sizeof(*reply->item))};
	lg_thread_item(call, &thread, &flags, reply->item);
	return true;
}

/* ---- making and changing ---- */

struct lg_thread_body {
	const char *if_exists;
	const cJSON *metadata, *supersteps, *ttl;
};

static const struct field_row lg_thread_rows[] = {
    FIELD(lg_thread_body, if_exists, .kind = &field_text),
    FIELD(lg_thread_body, metadata, FIELD_OBJECT),
    FIELD(lg_thread_body, supersteps, FIELD_ARRAY),
    FIELD(lg_thread_body, ttl, .kind = &field_json, .types = TYPE_OBJECT | TYPE_NUMBER,
	.expected = "a number or an object"),
    FIELDS_END,
};

/* The body of POST or PATCH thread: the graph's name and id are everywhere, and kept nowhere. */
static cJSON *lg_thread_edit(struct call *call, const cJSON *body, struct lg_thread_body *b)
{
	*b = (struct lg_thread_body){.if_exists = "raise"};
	fields_read_body(&call->error, "body", body, lg_thread_rows, b);
	if (b->supersteps && b->supersteps->child)
		lg_wrong(call, "supersteps", "is not supported");
	if (b->ttl)
		lg_wrong(call, "ttl", "is not supported");
	if (strcmp(b->if_exists, "raise") != 0 && strcmp(b->if_exists, "do_nothing") != 0)
		lg_wrong(call, "if_exists", "must be one of raise, do_nothing");
	cJSON *edit = arena_json(call->arena, cJSON_CreateObject());
	if (b->metadata) {
		cJSON *metadata = cJSON_Duplicate(b->metadata, true);
		cJSON_DeleteItemFromObjectCaseSensitive(metadata, "graph_id");
		cJSON_DeleteItemFromObjectCaseSensitive(metadata, "assistant_id");
		json_add(edit, "metadata", metadata);
	}
	const cJSON *id = json_opt(body, "thread_id");
	json_refer(edit, "thread_id", id);
	return error_is_set(&call->error) ? NULL : edit;
}

/* The route was allowed without knowing which threads its body names. */
static bool lg_thread_permit(struct call *call, const char *id, const char *action)
{
	const struct permission permission = {"checkpointer", action, id};
	return call_permit(call, &permission);
}

bool lg_thread_create(struct call *call, const cJSON *body, struct lg_reply *reply)
{
	struct lg_thread_body b;
	cJSON *edit = lg_thread_edit(call, body, &b);
	if (!edit)
		return false;
	/* with a checkpoint before its first message a page can change that message, too */
	const cJSON *made = thread_create_kept(call, edit);
	const char *id = made ? json_str(json_get(made, "thread_data"), "thread_id")
			      : json_str(edit, "thread_id");
	if (!made && (call->error.kind != ERR_THREAD_EXISTS || strcmp(b.if_exists, "raise") == 0))
		return false;
	if (!made) {
		error_release(&call->error);
		if (!lg_thread_permit(call, id, "read"))
			return false;
	}
	return lg_thread_read(call, id, reply);
}

bool lg_thread_update(
    struct call *call, const char *thread_id, const cJSON *body, struct lg_reply *reply)
{
	struct lg_thread_body b;
	cJSON *edit = lg_thread_edit(call, body, &b);
	return edit && thread_update(call, thread_id, edit) &&
	    lg_thread_read(call, thread_id, reply);
}

bool lg_thread_remove(struct call *call, const char *thread_id)
{
	return thread_remove(call, thread_id, NULL);
}

struct lg_prune {
	const cJSON *thread_ids;
	const char *strategy;
};

static const struct field_row lg_prune_rows[] = {
    FIELD(lg_prune, thread_ids, .kind = &field_json, .types = TYPE_ARRAY, .required = true,
	.expected = "an array of ids"),
    FIELD(lg_prune, strategy, .kind = &field_text),
    FIELDS_END,
};

/* Refuses a thread of somebody else's; those before it in the list are deleted by then. */
cJSON *lg_threads_prune(struct call *call, const cJSON *body)
{
	struct lg_prune prune = {0};
	const cJSON *id;
	int64_t count = 0;
	if (fields_read_body(&call->error, "body", body, lg_prune_rows, &prune) && prune.strategy &&
	    strcmp(prune.strategy, "delete") != 0)
		lg_wrong(call, "strategy", "must be delete");
	lg_list_check(call, "thread_ids", prune.thread_ids);
	cJSON_ArrayForEach(id, prune.thread_ids) {
		if (error_is_set(&call->error))
			return NULL;
		if (!cJSON_IsString(id))
			continue;
		if (lg_thread_permit(call, id->valuestring, "delete") &&
		    thread_remove(call, id->valuestring, NULL))
			count++;
		else if (call->error.kind == ERR_RESOURCE_NOT_FOUND)
			error_release(&call->error);
	}
	if (error_is_set(&call->error))
		return NULL;
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	json_add_int(data, "pruned_count", count);
	return data;
}

bool lg_thread_copy(struct call *call, const char *thread_id, struct lg_reply *reply)
{
	const cJSON *made = history_copy(call, thread_id, NULL);
	return made &&
	    lg_thread_read(call, json_str(json_get(made, "thread_data"), "thread_id"), reply);
}

/* ---- looking for them ---- */

#define LABELS_MAX 16 /* doc/protocol-threads.md#listing */

struct lg_search_body {
	const char *status, *sort_by, *sort_order;
	const cJSON *metadata, *ids, *select, *values;
	int64_t limit, offset;
};

static const struct field_row lg_search_rows[] = {
    FIELD(lg_search_body, status, .kind = &field_text),
    FIELD(lg_search_body, sort_by, .kind = &field_text),
    FIELD(lg_search_body, sort_order, .kind = &field_text),
    FIELD(lg_search_body, metadata, FIELD_OBJECT),
    FIELD(lg_search_body, ids, FIELD_ARRAY),
    FIELD(lg_search_body, select, FIELD_ARRAY),
    FIELD(lg_search_body, values, FIELD_OBJECT),
    FIELD(lg_search_body, limit, .kind = &field_integer, .min = 1, .max = 1000,
	.expected = "between 1 and 1000"),
    FIELD(lg_search_body, offset, .kind = &field_integer, .expected = "an integer, 0 or more"),
    FIELDS_END,
};

static const struct choice lg_statuses[] = {
    {"idle", 1 << RUN_IDLE | 1 << RUN_COMPLETED | 1 << RUN_STOPPED},
    {"busy", 1 << RUN_RUNNING},
    {"interrupted", 1 << RUN_INTERRUPTED},
    {"error", 1 << RUN_ERROR},
    {NULL, 0},
};

/* A search, as the listing of threads takes it. */
struct lg_search {
	struct lg_search_body body;
	struct label labels[LABELS_MAX];
	struct thread_query query;
	bool none; /* it asks for threads of another graph, and finds none */
};

/* Adds a member of the metadata to the search; false with the mistake set. */
static bool lg_search_label(struct call *call, struct lg_search *s, const cJSON *item)
{
	const char *text = cJSON_GetStringValue(item);
	if (!text && cJSON_IsBool(item))
		text = cJSON_IsTrue(item) ? "true" : "false";
	if (!text && json_is_number(item)) {
		char *printed = json_print(item);
		arena_defer(call->arena, cJSON_free, printed);
		text = printed;
	}
	if (strcmp(item->string, "graph_id") == 0 || strcmp(item->string, "assistant_id") == 0) {
		s->none = s->none || !text || !lg_assistant_is(call, text);
		return true;
	}
	const char *at = arena_printf(call->arena, "body.metadata.%s", item->string);
	if (!text)
		return error_wrong(
		    &call->error, at, "type_error", "must be a string, a number or a boolean");
	if (s->query.label_count == LABELS_MAX)
		return error_wrong(&call->error, "body.metadata", "value_error",
		    "must be an object of at most %d members", LABELS_MAX);
	s->labels[s->query.label_count++] = (struct label){item->string, text};
	return true;
}

static bool lg_search_read(struct call *call, const cJSON *body, struct lg_search *s)
{
	struct lg_search_body *b = &s->body;
	const cJSON *item;
	int statuses = 0;
	*s = (struct lg_search){.body = {.limit = 10}};
	if (!fields_read_body(&call->error, "body", body, lg_search_rows, b))
		return false;
	if (b->status && !choice_find(lg_statuses, b->status, &statuses))
		lg_wrong(call, "status", "must be one of idle, busy, interrupted, error");
	if (b->sort_by && strcmp(b->sort_by, "updated_at") != 0 &&
	    strcmp(b->sort_by, "state_updated_at") != 0)
		lg_wrong(call, "sort_by", "must be one of updated_at, state_updated_at");
	if (b->sort_order && strcmp(b->sort_order, "desc") != 0)
		lg_wrong(call, "sort_order", "must be desc");
	if (b->values && b->values->child)
		lg_wrong(call, "values", "is not supported");
	lg_list_check(call, "ids", b->ids);
	lg_list_check(call, "select", b->select);
	cJSON_ArrayForEach(item, b->metadata)
		if (!lg_search_label(call, s, item))
			break;
	s->query.page.limit = arena_printf(call->arena, "%" PRId64, b->limit);
	s->query.page.offset = arena_printf(call->arena, "%" PRId64, b->offset);
	s->query.statuses = (unsigned)statuses;
	s->query.labels = s->labels;
	return !error_is_set(&call->error);
}

/* The members that are asked for; all of them without select. */
static void lg_select(struct lg_item *item, const cJSON *select)
{
	const cJSON *name;
	cJSON *member, *next;
	if (!select)
		return;
	for (member = item->head->child; member; member = next) {
		bool wanted = false;
		next = member->next;
		cJSON_ArrayForEach(name, select)
			wanted = wanted ||
			    (cJSON_IsString(name) &&
				strcmp(name->valuestring, member->string) == 0);
		if (!wanted)
			cJSON_Delete(cJSON_DetachItemViaPointer(item->head, member));
	}
	item->whole = false;
	cJSON_ArrayForEach(name, select)
		item->whole = item->whole ||
		    (cJSON_IsString(name) && strcmp(name->valuestring, "values") == 0);
}

struct lg_found {
	const char **ids;
	size_t most, shown;
	const cJSON *select;
	const struct thread_query *query; /* what the threads must fit; NULL: all do */
	int64_t skip;                     /* how many of those that fit are left out first */
};

static bool lg_label_differs(void *arg, const struct label *label)
{
	const struct label *wanted = arg;
	return strcmp(label->key, wanted->key) != 0 || strcmp(label->value, wanted->value) != 0;
}

/* Whether a thread is of those that the listing of threads would have found. */
static bool lg_found_fits(
    const struct thread_query *query, const struct thread *thread, const struct run_flags *flags)
{
	if (query->statuses && !(query->statuses >> thread_status(thread, flags) & 1))
		return false;
	for (size_t i = 0; i < query->label_count; i++)
		if (labels_each(thread->metadata_json, lg_label_differs, (void *)&query->labels[i]))
			return false;
	return true;
}

/* Makes the item of a thread, if it still exists and the caller may read it. */
static int lg_found_place(
    struct call *call, void *arg, size_t place, struct lg_item items[LG_PLACE_ITEMS])
{
	struct lg_found *found = arg;
	struct thread thread;
	struct run_flags flags;
	if (found->shown == found->most)
		return 0;
	if (!lg_thread_permit(call, found->ids[place], "read") ||
	    !thread_look(call, found->ids[place], &thread, &flags)) {
		bool gone = call->error.kind == ERR_RESOURCE_NOT_FOUND ||
		    call->error.kind == ERR_PERMISSION || call->error.kind == ERR_VALIDATION;
		if (gone)
			error_release(&call->error);
		return gone ? 0 : -1;
	}
	if ((found->query && !lg_found_fits(found->query, &thread, &flags)) || found->skip-- > 0)
		return 0;
	lg_thread_item(call, &thread, &flags, items);
	lg_select(items, found->select);
	found->shown++;
	return 1;
}

/* Whether one of the items before it is the same text. */
static bool lg_search_repeats(const cJSON *ids, const cJSON *item)
{
	const char *id = cJSON_GetStringValue(item);
	const cJSON *before = ids->child;
	while (before != item &&
	    (!id || !cJSON_IsString(before) || strcmp(before->valuestring, id) != 0))
		before = before->next;
	return before != item;
}

bool lg_threads_search(struct call *call, const cJSON *body, struct lg_reply *reply)
{
	struct lg_found *found = arena_alloc(call->arena, sizeof(*found));
	struct lg_search *s = arena_alloc(call->arena, sizeof(*s));
	const cJSON *ids, *item;
	size_t places = 0;
	if (!lg_search_read(call, body, s))
		return false;
	ids = s->body.ids;
	if (s->none) {
		ids = NULL;
	} else if (!ids) {
		const cJSON *data = threads_list(call, &s->query);
		if (!data)
			return false;
		ids = json_get(data, "threads");
	}
	*found = (struct lg_found){.ids = arena_alloc(call->arena,
				       ((size_t)cJSON_GetArraySize(ids) + 1) * sizeof(*found->ids)),
	    .most = (size_t)s->body.limit,
	    .select = s->body.select};
	if (s->body.ids) {
		found->query = &s->query;
		found->skip = s->body.offset;
	}
	cJSON_ArrayForEach(item, ids) {
		const char *id =
		    cJSON_IsObject(item) ? json_str(item, "thread_id") : cJSON_GetStringValue(item);
		if (id && !lg_search_repeats(ids, item))
			found->ids[places++] = id;
	}
	*reply = (struct lg_reply){.make = lg_found_place, .list = found, .places = places};
	return true;
}

cJSON *lg_threads_count(struct call *call, const cJSON *body)
{
	struct lg_search s;
	int64_t count = 0;
	if (!lg_search_read(call, body, &s) || (!s.none && !threads_count(call, &s.query, &count)))
		return NULL;
	return arena_json(call->arena, json_new_int(count));
}
