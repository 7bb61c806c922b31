/* SPDX-License-Identifier: ISC */
/* What the branches of a region begin with. */
#include "base/arena.h"
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/os/clock.h"
#include "graph/document/document.h"
#include "graph/message/message.h"
#include "graph/region/region_branch.h"
#include "graph/state.h"

#include <string.h>

/* Passes an event on to the run's observer, which is told by one thread at a time, and in which
 * branch it was. */
static void branch_on_event(
    struct run_observer *observer, ag_run *run, const struct run_event *event)
{
	struct branch *b = (struct branch *)observer;
	struct run_side *side = run->side;
	struct run_event told = *event;
	told.branch = b->path;
	told.traceparent = b->traceparent;
	if (event->kind == RUN_PIECE)
		held_show_all(b);
	told.hidden = event->hidden ||
	    (b->run.apart && (event->kind == RUN_PIECE || event->kind == RUN_MESSAGE));
	pthread_mutex_lock(&side->lock);
	if (event->kind == RUN_MESSAGE && !told.hidden)
		told.hidden = held_keep(b->holder, run, &told);
	side->root->setup.observer->event(side->root->setup.observer, run, &told);
	pthread_mutex_unlock(&side->lock);
}

void branch_take_messages(struct branch *b, const ag_run *parent)
{
	const struct run_messages *from = &parent->messages;
	struct run_messages *to = &b->run.messages;
	struct arena *a = b->run.setup.arena;
	const cJSON *message;
	size_t i = 0;
	*to = (struct run_messages){.array = arena_json(a, cJSON_CreateArray()),
	    .stored = arena_alloc(a, (from->count + 8) * sizeof(*to->stored)),
	    .size = from->count + 8};
	cJSON_ArrayForEach(message, from->array) {
		size_t place = i++;
		if (others_have(b->run.hidden, message_id(message)) ||
		    run_answers_other(message, NULL, b->run.not_its))
			continue;
		cJSON_AddItemReferenceToArray(to->array, (cJSON *)message);
		to->stored[to->count++] = from->stored[place];
		to->brought += place < from->brought;
		to->restored += place < from->restored;
	}
	to->written = to->count;
	b->own = to->count;
}

/* The texts that the branches have kept in the array key. */
static struct branch_texts region_texts(const struct region *region, const char *key)
{
	struct branch_texts texts = {0};
	const cJSON *text;
	size_t room = 1;
	for (size_t i = 0; i < region->count; i++)
		room += (size_t)cJSON_GetArraySize(json_get(region->items[i].began, key));
	texts.items = arena_alloc(region->parent->setup.arena, room * sizeof(*texts.items));
	for (size_t i = 0; i < region->count; i++) {
		cJSON_ArrayForEach(text, json_get(region->items[i].began, key)) {
			if (cJSON_IsString(text))
				texts.items[texts.count++] =
				    (struct branch_text){text->valuestring, i};
		}
	}
	branch_texts_sort(&texts);
	return texts;
}

/* Those as the branch sees them, behind what the run that forked does not see itself. */
static const struct others *branch_others(
    const struct branch *b, const struct branch_texts *texts, const struct others *outer)
{
	struct others *others = arena_alloc(b->arena, sizeof(*others));
	*others = (struct others){outer, texts, (size_t)(b - b->region->items)};
	return others;
}

/* Lets the branch walk the graph of a subgraph, with fields of its own. */
static bool branch_enter_graph(struct branch *b, const struct subgraph *sub)
{
	ag_run *parent = b->region->parent;
	const struct values values = {parent, &parent->state, NULL};
	const cJSON *kept = json_get(b->began, "input"), *item;
	b->run.setup.graph = sub->graph;
	b->run.outer = parent;
	b->run.apart = parent->apart || sub->own;
	b->run.fields = arena_json(b->arena, state_fields(sub->graph, "{}"));
	b->input = kept  ? kept
	    : sub->input ? arena_json(b->arena, values_json(sub->input, &values))
			 : NULL;
	cJSON_ArrayForEach(item, b->input) {
		const struct field *field = graph_field_get(sub->graph, item->string);
		if (!field || !graph_field_accepts(field, item))
			return error_set(&b->error, ERR_GRAPH,
			    GRAPH_FAILED "the input '%s' of node %s is not of its type",
			    item->string, b->name);
		json_set(
		    b->run.fields, field->name, state_value(field, cJSON_Duplicate(item, true)));
	}
	return true;
}

/* A subgraph with messages of its own begins with what the user said last; when it goes on, it has
 * the results of its calls besides. */
static void branch_take_last_text(struct branch *b)
{
	ag_run *run = &b->run, *parent = b->region->parent;
	const cJSON *message;
	char id[UUID_SIZE];
	run->messages.array = arena_json(b->arena, cJSON_CreateArray());
	if (!json_get(b->began, "said"))
		run_append(run,
		    message_new("user", id_make(run->setup.ids, id),
			content_text(ag_user_text(&parent->state))));
	branch_say_kept(b);
	cJSON_ArrayForEach(message, parent->messages.array) {
		if (run_answers_other(message, b->called, NULL))
			run_append(run, cJSON_Duplicate(message, true));
	}
	run->messages.brought = 1;
}

/* Makes the run of the branch, which has said and set nothing yet.  Its fields are references to
 * those of the run that forked, until the branch sets them. */
static void branch_open(struct branch *b)
{
	ag_run *parent = b->region->parent;
	struct arena *a = b->arena;
	const cJSON *field;
	b->observer =
	    (struct run_observer){.live = parent->setup.observer->live, .event = branch_on_event};
	/* The rest belongs to the whole run, whose first write may still be under way.  The lock is
	 * for the thread, which another branch writes when it arrives. */
	pthread_mutex_lock(&parent->side->lock);
	b->run = (struct ag_run){.setup = parent->setup,
	    .thread = parent->thread,
	    .before = parent->before,
	    .entry = parent->entry,
	    .step = parent->step,
	    .spent = parent->spent,
	    .rolled_back = parent->rolled_back,
	    .side = parent->side,
	    .outer = parent->outer,
	    .limit = b->region->limit.node ? &b->region->limit : parent->limit,
	    .apart = parent->apart,
	    .error = parent->error};
	pthread_mutex_unlock(&parent->side->lock);
	b->run.setup.arena = a;
	b->run.setup.observer = &b->observer;
	if (parent->setup.trace.parent) {
		strcpy(b->traceparent, parent->setup.trace.parent);
		b->run.setup.trace.parent = b->traceparent;
	}
	b->run.state.run = &b->run;
	b->run.branch = b;
	b->run.frame = (struct node_frame){.node = parent->frame.node};
	b->run.fields = arena_json(a, cJSON_CreateObject());
	cJSON_ArrayForEach(field, parent->fields)
		json_refer(b->run.fields, field->string, field);
	b->run.log = arena_json(a, cJSON_CreateArray());
	b->ids = arena_json(a, cJSON_CreateArray());
	b->called = arena_json(a, cJSON_CreateArray());
}

/* The messages of its siblings are hidden from a branch, and the results of their calls. */
bool branch_begin(struct branch *b)
{
	const struct node *into = b->region->edge->into;
	ag_run *parent = b->region->parent;
	struct arena *a = b->arena;
	branch_open(b);
	if (b->item) {
		size_t index = (size_t)(b - b->region->items);
		run_set_config(&b->run, "item", b->item);
		run_set_config(&b->run, "index", arena_json(a, json_new_int((int64_t)index)));
	}
	b->run.hidden = branch_others(b, &b->region->ids_kept, parent->hidden);
	b->run.not_its = branch_others(b, &b->region->calls_kept, parent->not_its);
	b->outer_holder = parent->branch ? parent->branch->holder : NULL;
	b->holder = into && into->policy.attempts > 1 ? b : b->outer_holder;
	b->held_end = &b->held;
	if (into && !branch_enter_graph(b, into->sub))
		return false;
	branch_restore(b);
	if (branch_is_own(b)) {
		branch_take_last_text(b);
	} else {
		branch_take_messages(b, parent);
		branch_say_kept(b);
	}
	return !into || run_could_read(parent, &b->error);
}

struct region *region_open(ag_run *run, const struct edge *fork, const cJSON *kept)
{
	struct arena *a = run->setup.arena;
	struct region *region = arena_alloc(a, sizeof(*region));
	const cJSON *array = fork->map ? json_get(run->fields, fork->map) : NULL;
	const cJSON *item = array ? array->child : NULL, *branches = json_get(kept, "branches");
	const cJSON *began = branches ? branches->child : NULL;
	const char *up = run->branch ? run->branch->path : NULL;
	region->parent = run;
	region->edge = fork;
	region->ids = log_ids();
	if (fork->into && fork->into->policy.timeout > 0) {
		double seconds = fork->into->policy.timeout;
		int64_t end = clock_monotonic_ms() + (int64_t)(seconds * 1000);
		if (!run->limit || end < run->limit->end)
			region->limit = (struct time_limit){end, seconds, fork->into};
	}
	region->count = fork->into ? 1
	    : array                ? (size_t)cJSON_GetArraySize(array)
				   : fork->target_count;
	region->items = arena_alloc(a, region->count * sizeof(*region->items));
	for (size_t i = 0; i < region->count; i++) {
		struct branch *b = &region->items[i];
		b->region = region;
		if (fork->into) {
			b->name = fork->from;
			b->path = up;
			b->how = BRANCH_START;
			b->at = GRAPH_END;
		} else {
			const char *name = fork->names[array ? 0 : i];
			b->name = array ? arena_printf(a, "%s[%zu]", name, i) : name;
			b->path = up ? arena_printf(a, "%s/%s", up, b->name) : b->name;
			b->how = BRANCH_BEFORE;
			b->at = fork->targets[array ? 0 : i];
		}
		b->item = item;
		b->began = began;
		item = item ? item->next : NULL;
		began = began ? began->next : NULL;
	}
	region->ids_kept = region_texts(region, "ids");
	region->calls_kept = region_texts(region, "called");
	return region;
}
