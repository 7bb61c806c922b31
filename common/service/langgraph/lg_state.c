/* SPDX-License-Identifier: ISC */
/* States: of now, of a checkpoint, and the list of all. */
#include "service/langgraph/lg_state.h"

#include "base/fields.h"
#include "base/json/json.h"
#include "base/os/clock.h"
#include "graph/state.h"
#include "service/history/earlier.h"
#include "service/langgraph/langgraph.h"
#include "service/langgraph/lg_assistant.h"
#include "service/run/records.h"
#include "service/thread/change.h"
#include "service/thread/page.h"
#include "service/thread/threads.h"
#include "storage/runs.h"

#include <string.h>

#define DEFAULT_LIMIT 10
#define MOST 1000
#define SIBLINGS_MOST 64 /* most runs from one checkpoint whose inputs are compared */

/* ---- ids ---- */

static const char *lg_input_id(struct call *call, const struct lg_place *place)
{
	return arena_printf(call->arena, "%s-%s", earlier_id(call->arena, place->parent),
	    earlier_id(call->arena, place->number));
}

cJSON *lg_checkpoint_view(const char *thread_id, const char *id)
{
	cJSON *out = cJSON_CreateObject();
	cJSON_AddStringToObject(out, "thread_id", thread_id);
	json_add_str(out, "checkpoint_ns", "");
	json_add_str(out, "checkpoint_id", id);
	json_add_str(out, "checkpoint_map", NULL);
	return out;
}

struct lg_named {
	const char *checkpoint_id;
	const cJSON *checkpoint;
};

static const struct field_row lg_named_rows[] = {
    FIELD(lg_named, checkpoint_id, .kind = &field_filled),
    FIELD(lg_named, checkpoint, FIELD_OBJECT),
    FIELDS_END,
};

static const struct field_row lg_inner_rows[] = {
    FIELD(lg_named, checkpoint_id, .kind = &field_filled),
    FIELDS_END,
};

const char *lg_checkpoint_id(struct call *call, const cJSON *body)
{
	struct lg_named named = {0};
	fields_read_body(&call->error, "body", body, lg_named_rows, &named);
	if (!named.checkpoint_id)
		fields_read_body(
		    &call->error, "body.checkpoint", named.checkpoint, lg_inner_rows, &named);
	return error_is_set(&call->error) ? NULL : named.checkpoint_id;
}

/* ---- what a run was given ---- */

struct lg_noting {
	struct arena *arena;
	const char *last;
};

static bool lg_keep_last(void *arg, const char *id, const char *body_json)
{
	struct lg_noting *noting = arg;
	(void)body_json;
	noting->last = arena_strdup(noting->arena, id);
	return true;
}

/* Whether the checkpoint is the first of its run, and what that run was given is known. */
static bool lg_find_input(struct call *call, const struct thread *thread,
    const struct checkpoint *checkpoint, struct lg_place *place)
{
	struct storage *storage = call->service->storage;
	const char *run_id = checkpoint->thread.run_id;
	struct lg_noting noting = {.arena = call->arena};
	struct checkpoint before = {0};
	*place = (struct lg_place){.checkpoint = *checkpoint,
	    .is_input = true,
	    .parent = checkpoint->parent,
	    .number = checkpoint->number};
	if (!run_id ||
	    (checkpoint->source != CHECKPOINT_RUN && checkpoint->source != CHECKPOINT_STEP))
		return false;
	if (checkpoint->parent &&
	    storage->history->get(storage, &call->ctx, call->arena, thread, checkpoint->parent,
		&before, &call->error) &&
	    before.source != CHECKPOINT_REWIND && before.thread.run_id &&
	    strcmp(before.thread.run_id, run_id) == 0)
		return false;
	if (error_is_set(&call->error) ||
	    !call_record(call, thread->thread_id, run_id, &place->run) ||
	    !storage->runs->messages(
		storage, &call->ctx, &place->run, RUN_GIVEN, lg_keep_last, &noting, &call->error))
		return false;
	place->last = noting.last;
	/* the graph has set nothing yet, nor is anything asked */
	place->checkpoint.thread.fields_json =
	    before.thread.fields_json ? before.thread.fields_json : "{}";
	return noting.last;
}

struct lg_siblings {
	int64_t parent;
	int64_t numbers[SIBLINGS_MOST];
	size_t count;
};

static bool lg_note_sibling(void *arg, const struct checkpoint *checkpoint)
{
	struct lg_siblings *siblings = arg;
	if (checkpoint->number <= siblings->parent)
		return false;
	if (checkpoint->parent == siblings->parent)
		siblings->numbers[siblings->count++] = checkpoint->number;
	return siblings->count < SIBLINGS_MOST;
}

#define GIVEN_KNOWN 1024

/* What the runs from one checkpoint were given, remembered so that a list does not read it again
 * for each of them. */
struct lg_given {
	struct arena *arena; /* holds the ids */
	struct {
		int64_t number;
		const char *last;
	} known[GIVEN_KNOWN];
};

/* The id of the last message that a run was given whose first checkpoint has this number; NULL:
 * there is none, or the error is set.  given may be NULL. */
static const char *lg_last_given(
    struct call *call, const struct thread *thread, int64_t number, struct lg_given *given)
{
	struct storage *storage = call->service->storage;
	size_t at = (size_t)number % GIVEN_KNOWN;
	struct checkpoint checkpoint;
	struct lg_place place;
	const char *last = NULL;
	if (given && given->known[at].number == number)
		return given->known[at].last;
	if (storage->history->get(
		storage, &call->ctx, call->arena, thread, number, &checkpoint, &call->error) &&
	    lg_find_input(call, thread, &checkpoint, &place))
		last = place.last;
	if (given && !error_is_set(&call->error)) {
		given->known[at].number = number;
		given->known[at].last = last ? arena_strdup(given->arena, last) : NULL;
	}
	return last;
}

/* The same; where an earlier run from the same checkpoint was given the same message, so that this
 * one is another answer to it, the input is that one's. */
static bool lg_has_input(struct call *call, const struct thread *thread,
    const struct checkpoint *checkpoint, struct lg_given *given, struct lg_place *place)
{
	struct storage *storage = call->service->storage;
	struct checkpoint_filter filter = {.before = checkpoint->number, .limit = INT64_MAX};
	struct lg_siblings siblings = {.parent = checkpoint->parent};
	if (!lg_find_input(call, thread, checkpoint, place) ||
	    !storage->history->list(
		storage, &call->ctx, thread, &filter, lg_note_sibling, &siblings, &call->error))
		return false;
	while (siblings.count && !place->shared) { /* the oldest first */
		int64_t number = siblings.numbers[--siblings.count];
		const char *last = lg_last_given(call, thread, number, given);
		if (!last || strcmp(last, place->last) != 0)
			continue;
		place->number = number;
		place->shared = true;
	}
	return !error_is_set(&call->error);
}

bool lg_place_find(struct call *call, const struct thread *thread, const char *checkpoint_id,
    struct lg_place *place)
{
	const char *dash = strchr(checkpoint_id, '-');
	struct checkpoint checkpoint;
	*place = (struct lg_place){0};
	if (!dash)
		return earlier_find(call, thread, checkpoint_id, &place->checkpoint);
	return earlier_find(call, thread, dash + 1, &checkpoint) &&
	    ((lg_find_input(call, thread, &checkpoint, place) &&
		 strcmp(lg_input_id(call, place), checkpoint_id) == 0) ||
		error_is_set(&call->error) || earlier_not_found(call)) &&
	    !error_is_set(&call->error);
}

const char *lg_latest_id(struct call *call, const struct thread *thread)
{
	struct storage *storage = call->service->storage;
	struct history_origin origin = {0};
	storage->history->origin(storage, &call->ctx, thread->row, &origin, &call->error);
	return origin.number ? earlier_id(call->arena, origin.number) : NULL;
}

/* ---- a state ---- */

static cJSON *lg_task(const char *id, const char *name, cJSON *interrupts)
{
	cJSON *task = cJSON_CreateObject();
	cJSON_AddStringToObject(task, "id", id);
	cJSON_AddStringToObject(task, "name", name);
	json_add_str(task, "error", NULL);
	json_add(task, "interrupts", interrupts);
	json_add_str(task, "checkpoint", NULL);
	json_add_str(task, "state", NULL);
	json_add_str(task, "result", NULL);
	return task;
}

/* Adds what comes next, and what it asks. */
static void lg_add_tasks(cJSON *head, const char *next, cJSON *interrupts, const char *id)
{
	cJSON *names = json_add(head, "next", cJSON_CreateArray());
	cJSON *tasks = json_add(head, "tasks", cJSON_CreateArray()), *one;
	cJSON_AddItemToObject(head, "interrupts", cJSON_Duplicate(interrupts, true));
	if (!interrupts->child && next)
		json_append(tasks, lg_task(id ? id : next, next, cJSON_CreateArray()));
	while ((one = interrupts->child)) {
		cJSON_DetachItemViaPointer(interrupts, one);
		cJSON *alone = cJSON_CreateArray();
		const char *node = cJSON_GetStringValue(json_get(one, "ns")->child);
		json_append(tasks, lg_task(json_str(one, "id"), node ? node : "", alone));
		json_append(alone, one);
	}
	const cJSON *task;
	cJSON_ArrayForEach(task, tasks)
		json_append(names, cJSON_CreateString(json_str(task, "name")));
	cJSON_Delete(interrupts);
}

/* Where a paused thread goes on: the node itself, or what stands behind it. */
static const char *lg_next(struct call *call, const struct thread *thread)
{
	cJSON *interrupt = arena_json(call->arena, thread_interrupt(thread));
	if (thread->next)
		return thread->next;
	return interrupt ? json_str(interrupt, "node") : NULL;
}

static const char *lg_source(enum checkpoint_source source)
{
	switch (source) {
	case CHECKPOINT_UPDATE:
		return "update";
	case CHECKPOINT_REWIND:
	case CHECKPOINT_COPY:
		return "fork";
	case CHECKPOINT_NONE:
	case CHECKPOINT_RUN:
	case CHECKPOINT_STEP:
		break;
	}
	return "loop";
}

/* Adds the task of the node that a run failed at, from which pages show the failure once they are
 * loaded again.  It comes next only if somebody asks for it, so it is not in next. */
static void lg_add_failed(struct call *call, const struct thread *thread, cJSON *head)
{
	struct run_record record;
	struct error_view view;
	struct error err = {0};
	if (!thread->run_id || !thread->node ||
	    !record_now(call, thread->thread_id, thread->run_id, &record) ||
	    record.status != RUN_ERROR)
		return;
	record_failure(&record, &err);
	call_view_of(call, &err, &view);
	const cJSON *failure = json_get(lg_failure(call, &view), "__error__");
	const char *node = thread->next ? thread->next : thread->node;
	cJSON *tasks = json_get(head, "tasks");
	if (!tasks->child)
		json_append(tasks, lg_task(thread->run_id, node, cJSON_CreateArray()));
	json_set(tasks->child, "error", cJSON_CreateString(arena_print(call->arena, failure)));
	error_release(&err);
}

/* The ids of a state and of the one before it; either may be NULL. */
struct lg_ids {
	const char *id, *parent;
};

static void lg_state_item(struct call *call, const struct thread *thread, const char *next,
    const struct lg_ids *ids, const char *source, int64_t time, struct lg_item *item)
{
	char text[ISO_TIME_SIZE];
	cJSON *head = arena_json(call->arena, cJSON_CreateObject());
	*item = (struct lg_item){.head = head, .thread = *thread, .whole = true};
	json_add(head, "checkpoint", lg_checkpoint_view(thread->thread_id, ids->id));
	if (ids->parent)
		json_add(
		    head, "parent_checkpoint", lg_checkpoint_view(thread->thread_id, ids->parent));
	else
		json_add_str(head, "parent_checkpoint", NULL);
	cJSON *metadata = json_add(head, "metadata", cJSON_CreateObject());
	json_add_str(metadata, "source", source);
	json_add_int(metadata, "step", thread->step);
	json_add_str(metadata, "writes", NULL);
	json_add(metadata, "parents", cJSON_CreateObject());
	cJSON_AddStringToObject(metadata, "thread_id", thread->thread_id);
	cJSON_AddStringToObject(metadata, "graph_id", lg_graph_id(call));
	cJSON_AddStringToObject(metadata, "assistant_id", lg_assistant_id(call));
	if (thread->run_id)
		cJSON_AddStringToObject(metadata, "run_id", thread->run_id);
	json_add_str(head, "created_at", clock_iso(time, text));
	lg_add_tasks(head, next, lg_interrupts(thread), ids->id);
	if (thread->status == RUN_ERROR)
		lg_add_failed(call, thread, head);
}

/* What the graph begins with, where that is always the same. */
static const char *lg_first_node(const ag_graph *graph)
{
	for (size_t i = 0; i < graph->edge_count; i++) {
		if (strcmp(graph->edges[i].from, AG_START) == 0 && graph->edges[i].target_count)
			return graph->edges[i].names[0];
	}
	return NULL;
}

static void lg_input_item(struct call *call, const struct lg_place *place, struct lg_item *item)
{
	struct thread thread = place->checkpoint.thread;
	const struct lg_ids ids = {lg_input_id(call, place),
	    place->parent ? earlier_id(call->arena, place->parent) : NULL};
	thread.status = RUN_IDLE;
	thread.step = 0;
	thread.pause_json = NULL;
	lg_state_item(call, &thread, lg_first_node(call->service->graph), &ids, "input",
	    place->run.created_at, item);
	item->last = place->last;
}

/* The checkpoint itself; input is what stands before it, NULL: nothing does. */
static void lg_checkpoint_item(struct call *call, const struct checkpoint *checkpoint,
    const struct lg_place *input, struct lg_item *item)
{
	const struct lg_ids ids = {earlier_id(call->arena, checkpoint->number),
	    input                    ? lg_input_id(call, input)
		: checkpoint->parent ? earlier_id(call->arena, checkpoint->parent)
				     : NULL};
	lg_state_item(call, &checkpoint->thread, lg_next(call, &checkpoint->thread), &ids,
	    lg_source(checkpoint->source), checkpoint->number, item);
}

/* ---- the state of now, or of a checkpoint ---- */

static bool lg_state_now(struct call *call, const struct thread *thread, struct lg_item *item)
{
	struct storage *storage = call->service->storage;
	struct checkpoint latest;
	struct lg_place input;
	bool before;
	const char *id = lg_latest_id(call, thread);
	if (error_is_set(&call->error))
		return false;
	if (id &&
	    storage->history->get(storage, &call->ctx, call->arena, thread, earlier_number(id),
		&latest, &call->error)) {
		/* what has changed since is shown as well */
		latest.thread = *thread;
		before = lg_has_input(call, thread, &latest, NULL, &input);
		lg_checkpoint_item(call, &latest, before ? &input : NULL, item);
	} else {
		const struct lg_ids none = {0};
		lg_state_item(
		    call, thread, lg_next(call, thread), &none, "loop", thread->updated_at, item);
	}
	if (thread->status == RUN_RUNNING) /* or its process has died */
		lg_add_failed(call, thread, item->head);
	return !error_is_set(&call->error);
}

bool lg_state_read(
    struct call *call, const char *thread_id, const char *checkpoint_id, struct lg_reply *reply)
{
	struct lg_item *item = arena_alloc(call->arena, sizeof(*item));
	struct thread thread;
	struct run_flags flags;
	struct lg_place place, input;
	bool before;
	*reply = (struct lg_reply){.item = item};
	if (!thread_look(call, thread_id, &thread, &flags))
		return false;
	if (!checkpoint_id)
		return lg_state_now(call, &thread, item);
	if (!lg_place_find(call, &thread, checkpoint_id, &place))
		return false;
	if (place.is_input) {
		lg_input_item(call, &place, item);
		return true;
	}
	before = lg_has_input(call, &thread, &place.checkpoint, NULL, &input);
	lg_checkpoint_item(call, &place.checkpoint, before ? &input : NULL, item);
	return !error_is_set(&call->error);
}

bool lg_state_named(
    struct call *call, const char *thread_id, const cJSON *body, struct lg_reply *reply)
{
	const char *id = lg_checkpoint_id(call, body);
	return !error_is_set(&call->error) && lg_state_read(call, thread_id, id, reply);
}

/* ---- the list ---- */

#define BEFORE_EXPECTED "the id of a checkpoint, or an object that names it"

struct lg_history_body {
	int64_t limit;
	const cJSON *before, *metadata;
};

static const struct field_row lg_history_rows[] = {
    FIELD(lg_history_body, limit, .kind = &field_integer, .min = 1, .max = MOST,
	.expected = "between 1 and 1000"),
    FIELD(lg_history_body, before, .kind = &field_json, .types = TYPE_STRING | TYPE_OBJECT,
	.expected = BEFORE_EXPECTED),
    FIELD(lg_history_body, metadata, FIELD_OBJECT),
    FIELDS_END,
};

struct lg_listing {
	struct thread thread;
	int64_t before;   /* the checkpoint whose input is the first item, if it has one; or 0 */
	int64_t *numbers; /* numbers of the checkpoints that follow */
	size_t count, most, shown;
	bool from_now; /* the list begins with the latest checkpoint */
	struct lg_given given;
};

static bool lg_note_checkpoint(void *arg, const struct checkpoint *checkpoint)
{
	struct lg_listing *list = arg;
	list->numbers[list->count++] = checkpoint->number;
	return list->count < list->most;
}

/* Makes the items of a checkpoint and of the input before it; of the first place only the input. */
static int lg_list_place(
    struct call *call, void *arg, size_t place, struct lg_item items[LG_PLACE_ITEMS])
{
	struct storage *storage = call->service->storage;
	struct lg_listing *list = arg;
	struct checkpoint checkpoint;
	struct lg_place input;
	int64_t number = place ? list->numbers[place - 1] : list->before;
	bool before;
	int count = 0;
	if (!number || list->shown == list->most)
		return 0;
	if (!storage->history->get(
		storage, &call->ctx, call->arena, &list->thread, number, &checkpoint, &call->error))
		return error_is_set(&call->error) ? -1 : 0; /* the checkpoint has just gone */
	before = lg_has_input(call, &list->thread, &checkpoint, &list->given, &input);
	if (error_is_set(&call->error))
		return -1;
	if (place)
		lg_checkpoint_item(call, &checkpoint, before ? &input : NULL, &items[count++]);
	if (place == 1 && list->from_now && list->thread.status == RUN_RUNNING)
		lg_add_failed(call, &list->thread, items[0].head);
	if (before && !input.shared && list->shown + (size_t)count < list->most)
		lg_input_item(call, &input, &items[count++]);
	list->shown += (size_t)count;
	return count;
}

static bool lg_list_history(struct call *call, const char *thread_id, int64_t limit,
    const char *before, struct lg_reply *reply)
{
	struct storage *storage = call->service->storage;
	struct lg_listing *list = arena_alloc(call->arena, sizeof(*list));
	struct run_flags flags;
	size_t most = (size_t)limit;
	*list = (struct lg_listing){.most = most,
	    .from_now = !before,
	    .numbers = arena_alloc(call->arena, most * sizeof(*list->numbers)),
	    .given = {.arena = call->arena}};
	struct checkpoint_filter filter = {.limit = (int64_t)most};
	if (!thread_look(call, thread_id, &list->thread, &flags))
		return false;
	/* the list begins behind before: a checkpoint, whose input comes then, or an input */
	if (before) {
		struct lg_place place;
		if (!lg_place_find(call, &list->thread, before, &place))
			return false;
		filter.before = place.checkpoint.number;
		if (!place.is_input)
			list->before = place.checkpoint.number;
	}
	if (!storage->history->list(storage, &call->ctx, &list->thread, &filter, lg_note_checkpoint,
		list, &call->error))
		return false;
	*reply = (struct lg_reply){.make = lg_list_place, .list = list, .places = list->count + 1};
	return true;
}

bool lg_history(struct call *call, const char *thread_id, const cJSON *body, struct lg_reply *reply)
{
	struct lg_history_body b = {.limit = DEFAULT_LIMIT};
	fields_read_body(&call->error, "body", body, lg_history_rows, &b);
	/* before: a text, a checkpoint, or a configuration or a state that has one */
	const cJSON *inner = json_opt(b.before, "configurable");
	if (!inner)
		inner = json_opt(b.before, "checkpoint");
	const char *id = json_str(inner ? inner : b.before, "checkpoint_id");
	if (cJSON_IsObject(b.before) && b.before->child && !id)
		error_wrong(&call->error, "body.before", "value_error", "must be " BEFORE_EXPECTED);
	if (cJSON_IsString(b.before))
		id = b.before->valuestring;
	return !error_is_set(&call->error) && lg_list_history(call, thread_id, b.limit, id, reply);
}

bool lg_history_by_query(struct call *call, const char *thread_id,
    const struct lg_history_query *query, struct lg_reply *reply)
{
	const struct list_query numbers = {.limit = query->limit};
	struct page page;
	return page_read(call, &numbers, &page) &&
	    lg_list_history(
		call, thread_id, query->limit ? page.limit : DEFAULT_LIMIT, query->before, reply);
}
