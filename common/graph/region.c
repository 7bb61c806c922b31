/* SPDX-License-Identifier: ISC */
/* The branches: what they begin with, the threads that run them, and what they leave. */
#include "graph/region.h"

#include "base/arena.h"
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "graph/document/document.h"
#include "graph/message/message.h"
#include "graph/nodes/node_cache.h"
#include "graph/region_branch.h"
#include "graph/state.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* As that of the threads that serve requests: a node may be any C function. */
#define STACK_SIZE (1 << 20)

static atomic_int region_threads; /* of all runs of the process */

/* ---- What a branch begins with */

static void branch_free_arena(void *arena)
{
	arena_free(arena);
}

/* Observers are told by one thread at a time, and in whose branch it is. */
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

/* Whether it is a subgraph with messages of its own. */
static bool branch_is_own(const struct branch *b)
{
	return b->region->edge->into && b->region->edge->into->sub->own;
}

static bool ids_have(const cJSON *ids, const char *id)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, ids) {
		if (strcmp(item->valuestring, id) == 0)
			return true;
	}
	return false;
}

/* The messages of the run that forked, as references, but for those of other branches. */
static void branch_take_messages(struct branch *b, const ag_run *parent)
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
		if (ids_have(b->run.hidden, message_id(message)) ||
		    run_answers_other(message, b->run.not_its))
			continue;
		cJSON_AddItemReferenceToArray(to->array, (cJSON *)message);
		to->stored[to->count++] = from->stored[place];
		to->brought += place < from->brought;
		to->restored += place < from->restored;
	}
	to->written = to->count;
	b->own = to->count;
}

/* The fields of the run that forked, as references until the branch sets them. */
static cJSON *branch_fields(const ag_run *parent)
{
	cJSON *fields = cJSON_CreateObject();
	const cJSON *item;
	cJSON_ArrayForEach(item, parent->fields)
		cJSON_AddItemReferenceToObject(fields, item->string, (cJSON *)item);
	return fields;
}

/* Adds the texts of an array of the branches other than b, as they were kept, to those that are
 * hidden of the run that forked: a new array. */
static cJSON *branch_of_others(const struct branch *b, const char *key, const cJSON *of_parent)
{
	cJSON *out = of_parent ? cJSON_Duplicate(of_parent, true) : cJSON_CreateArray();
	const struct region *region = b->region;
	const cJSON *text;
	for (size_t i = 0; i < region->count; i++) {
		if (&region->items[i] == b)
			continue;
		cJSON_ArrayForEach(text, json_get(region->items[i].began, key))
			cJSON_AddItemReferenceToArray(out, (cJSON *)text);
	}
	return out;
}

/* The branch walks another graph, with fields of its own. */
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
			    "Graph execution failed: the input '%s' of node %s is not of its type",
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
		if (run_answers_other(message, b->called))
			run_append(run, cJSON_Duplicate(message, true));
	}
	run->messages.brought = 1;
}

/* What the branch begins with, or goes on with; only when its turn has come, since a map may have
 * thousands.  Of each branch the messages of its siblings are hidden, and the results of their
 * calls. */
static bool branch_begin(struct branch *b)
{
	const struct node *into = b->region->edge->into;
	ag_run *parent = b->region->parent;
	struct arena *a = b->arena;
	b->observer =
	    (struct run_observer){.live = parent->setup.observer->live, .event = branch_on_event};
	/* the rest is the whole run's, and its first write may still be under way */
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
	b->run.setup.arena = a;
	b->run.setup.observer = &b->observer;
	if (parent->setup.traceparent) {
		strcpy(b->traceparent, parent->setup.traceparent);
		b->run.setup.traceparent = b->traceparent;
	}
	b->run.state.run = &b->run;
	b->run.branch = b;
	b->run.frame = (struct node_frame){.node = parent->frame.node};
	b->run.fields = arena_json(a, branch_fields(parent));
	b->run.log = arena_json(a, cJSON_CreateArray());
	b->ids = arena_json(a, cJSON_CreateArray());
	b->called = arena_json(a, cJSON_CreateArray());
	if (b->item) {
		size_t index = (size_t)(b - b->region->items);
		run_set_config(&b->run, "item", b->item);
		run_set_config(&b->run, "index", arena_json(a, json_new_int((int64_t)index)));
	}
	b->run.hidden = arena_json(a, branch_of_others(b, "ids", parent->hidden));
	b->run.not_its = arena_json(a, branch_of_others(b, "called", parent->not_its));
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
	return true;
}

/* A subgraph leaves what its output says, as long as its messages are there; and what nodes have
 * read of the thread is not kept until all have arrived. */
static void branch_end(struct branch *b)
{
	const struct node *into = b->region->edge->into;
	const struct values values = {&b->run, &b->run.state, NULL};
	if (into && into->sub->output)
		b->output = arena_json(b->arena, values_json(into->sub->output, &values));
	run_drop_context(&b->run);
}

/* Its branches, none of which has begun. */
static struct region *region_open(ag_run *run, const struct edge *fork, const cJSON *kept)
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
	return region;
}

/* ---- Running them */

static void *region_work(void *arg)
{
	struct region *region = arg;
	struct run_side *side = region->parent->side;
	log_request(region->ids.request);
	log_run(region->ids.run);
	pthread_mutex_lock(&side->lock);
	while (region->next < region->count) {
		struct branch *b = &region->items[region->next++];
		b->arena = arena_new();
		arena_defer(region->parent->setup.arena, branch_free_arena, b->arena);
		pthread_mutex_unlock(&side->lock);
		b->verdict = branch_begin(b) ? branch_walk(b) : FAILED;
		if (b->verdict == AT_END)
			branch_end(b);
		pthread_mutex_lock(&side->lock);
		if (b->verdict == FAILED || b->verdict == WAS_STOPPED)
			region->over = true;
		else if (b->verdict == AT_END)
			branch_keep(b);
	}
	pthread_mutex_unlock(&side->lock);
	return NULL;
}

/* Takes the right to another thread, of the run's and of the process's. */
static bool region_take_thread(struct run_side *side)
{
	bool taken = false;
	pthread_mutex_lock(&side->lock);
	if (side->threads + 1 < side->parallel) {
		taken = atomic_fetch_add(&region_threads, 1) < REGION_THREADS;
		if (taken)
			side->threads++;
		else
			atomic_fetch_sub(&region_threads, 1);
	}
	pthread_mutex_unlock(&side->lock);
	return taken;
}

static void region_give_thread(struct run_side *side)
{
	pthread_mutex_lock(&side->lock);
	side->threads--;
	pthread_mutex_unlock(&side->lock);
	atomic_fetch_sub(&region_threads, 1);
}

static void *region_thread(void *arg)
{
	struct region *region = arg;
	region_work(region);
	region_give_thread(region->parent->side);
	return NULL;
}

/* The calling thread works as well, so that branches run even where no thread can be had. */
static void region_work_together(struct region *region)
{
	struct run_side *side = region->parent->side;
	size_t limit = region->edge->limit ? (size_t)region->edge->limit : region->count;
	size_t most = limit < region->count ? limit : region->count, started = 0;
	pthread_t *threads = xcalloc(most, sizeof(*threads));
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	while (started + 1 < most && region_take_thread(side)) {
		if (pthread_create(&threads[started], &attr, region_thread, region) != 0) {
			region_give_thread(side);
			break;
		}
		started++;
	}
	pthread_attr_destroy(&attr);
	region_work(region);
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

/* ---- What they leave */

/* How the region ended: what is worst for the run counts. */
static enum verdict region_verdict(const struct region *region)
{
	static const enum verdict worst[] = {
	    FAILED, WAS_STOPPED, GIVEN_BACK, PAUSED, WAITS_FOR_CLIENT};
	for (size_t k = 0; k < sizeof(worst) / sizeof(*worst); k++) {
		for (size_t i = 0; i < region->count; i++) {
			if (region->items[i].verdict == worst[k])
				return worst[k];
		}
	}
	return GO_ON;
}

/* The first branch that failed by itself tells why. */
static void region_take_failure(struct region *region, struct error *err)
{
	ag_run *run = region->parent;
	for (size_t i = 0; i < region->count; i++) {
		struct branch *b = &region->items[i];
		if (b->verdict == FAILED && !error_is_set(err)) {
			error_move(err, &b->error);
			run->frame.node = b->run.frame.node;
		}
		error_release(&b->error);
	}
}

/* Of a subgraph with messages of its own the last answer when it has ended, or what asks the client
 * for calls; what the others have cost counts. */
static void branch_hand_answer(struct branch *b, ag_run *run)
{
	bool hands = b->verdict == AT_END || b->verdict == WAITS_FOR_CLIENT;
	const cJSON *answer = hands ? message_last(b->run.messages.array, "assistant") : NULL;
	const cJSON *message;
	size_t i = 0;
	if (answer && ids_have(b->ids, message_id(answer)))
		answer = NULL;
	cJSON_ArrayForEach(message, b->run.messages.array) {
		if (i++ >= b->charged && message != answer && b->verdict != GIVEN_BACK)
			message_usage(message, &run->usage);
	}
	if (!answer)
		return;
	const struct run_event event = {.kind = RUN_MESSAGE,
	    .node = b->run.frame.node->name,
	    .step = b->run.step,
	    .message = answer,
	    .again = true};
	cJSON_AddItemToArray(b->ids, cJSON_CreateString(message_id(answer)));
	run_append(run, cJSON_Duplicate(answer, true));
	run->setup.observer->event(run->setup.observer, run, &event);
}

/* Messages, in order of declaration; the branch keeps their ids. */
static void branch_hand_messages(struct branch *b, ag_run *run)
{
	if (branch_is_own(b)) {
		branch_hand_answer(b, run);
		return;
	}
	cJSON *message = cJSON_GetArrayItem(b->run.messages.array, (int)b->own);
	while (message) {
		cJSON *next = message->next;
		cJSON_AddItemToArray(b->ids, cJSON_CreateString(message_id(message)));
		run_append(run, cJSON_DetachItemViaPointer(b->run.messages.array, message));
		message = next;
	}
	b->run.messages.count = b->own;
	const cJSON *call, *called = run->branch ? b->called : NULL;
	cJSON_ArrayForEach(call, called)
		cJSON_AddItemToArray(run->branch->called, cJSON_Duplicate(call, true));
}

/* The branch before b that has set the field, or NULL. */
static const struct branch *region_other_writer(const struct branch *b, const char *field)
{
	const cJSON *update;
	for (const struct branch *other = b->region->items; other < b; other++) {
		cJSON_ArrayForEach(update, other->run.log) {
			if (strcmp(update->child->string, field) == 0)
				return other;
		}
	}
	return NULL;
}

static bool branch_hand_update(
    const struct branch *b, cJSON *fields, const cJSON *item, struct error *err)
{
	const struct field *field = graph_field_get(b->run.setup.graph, item->string);
	const struct branch *other =
	    field->reducer == AG_REPLACE ? region_other_writer(b, item->string) : NULL;
	if (other)
		return error_set(err, ERR_GRAPH,
		    "Graph execution failed: branches %s and %s both set '%s', which has no reducer",
		    other->name, b->name, item->string);
	if (state_reduce(fields, field, cJSON_Duplicate(item, true)))
		return true;
	return error_set(err, ERR_GRAPH,
	    "Graph execution failed: the update of field '%s' is not of its type", item->string);
}

/* Updates that do not fit together fail the run, which then has none of them; where it has failed
 * or was stopped already, those that came first are kept. */
static bool region_hand_updates(struct region *region, enum verdict verdict, struct error *err)
{
	ag_run *run = region->parent;
	cJSON *fields = cJSON_Duplicate(run->fields, true), *old = run->fields->child;
	cJSON *log = cJSON_CreateArray();
	const cJSON *update;
	for (size_t i = 0; i < region->count; i++) {
		struct branch *b = &region->items[i];
		cJSON_ArrayForEach(update, b->run.log) {
			if (branch_hand_update(b, fields, update->child, err))
				cJSON_AddItemToArray(log, cJSON_Duplicate(update, true));
		}
	}
	bool keeps = verdict != GO_ON || !error_is_set(err);
	if (keeps && log->child) {
		run->fields->child = fields->child;
		fields->child = old;
		run->fields_changed = true;
	}
	while (keeps && run->log && log->child)
		cJSON_AddItemToArray(run->log, cJSON_DetachItemViaPointer(log, log->child));
	cJSON_Delete(fields);
	cJSON_Delete(log);
	return keeps;
}

static void run_add_usage(ag_run *run, const struct run_usage *usage)
{
	run->usage.prompt += usage->prompt;
	run->usage.completion += usage->completion;
	run->usage.reasoning += usage->reasoning;
	run->usage.total += usage->total;
}

/* What is one of a run and not of a branch: the first that has something new gives it. */
static void region_hand_rest(struct region *region, enum verdict verdict)
{
	ag_run *run = region->parent;
	const char *error = run->error, *summary = run->thread.summary;
	for (size_t i = 0; i < region->count; i++) {
		const ag_run *b = &region->items[i].run;
		if (verdict != GIVEN_BACK) { /* else each of them goes on with its own */
			run->spent = b->spent > run->spent ? b->spent : run->spent;
			run_add_usage(run, &b->usage);
		}
		if (branch_is_own(&region->items[i]))
			continue;
		if (run->error == error && b->error != error)
			run_set_error(run, b->error);
		if (run->leaves || !b->leaves || ids_have(region->items[i].ids, b->leaves))
			continue;
		run->leaves = b->leaves;
		if (run->thread.summary == summary)
			run->thread.summary = b->thread.summary;
	}
	run->step = atomic_load(&run->side->step);
	run->thread.step = run->step;
	if (run->leaves)
		run->context = NULL; /* it is read anew */
}

static enum verdict region_close(struct region *region, struct error *err)
{
	ag_run *run = region->parent;
	enum verdict verdict = region_verdict(region);
	bool over = verdict == GO_ON || verdict == FAILED || verdict == WAS_STOPPED;
	const struct branch *inner = region->edge->into ? region->items : NULL;
	struct error unfit = {0};
	run->frame = (struct node_frame){.node = region->last ? region->last : run->frame.node};
	region_take_failure(region, err);
	for (size_t i = 0; i < region->count; i++)
		branch_hand_messages(&region->items[i], run);
	region_hand_rest(region, verdict);
	bool fits = inner ? !inner->output || step_update(run, inner->output, &unfit)
			  : !over || region_hand_updates(region, verdict, &unfit);
	if (!fits) {
		error_move(err, &unfit);
		verdict = FAILED;
	}
	error_release(&unfit);
	if (!over)
		run->region = arena_json(run->setup.arena, region_json(region));
	for (size_t i = 0; i < region->count; i++)
		free(region->items[i].stable);
	return verdict;
}

static void region_set_inner(ag_run *run, struct region *region)
{
	struct run_side *side = run->side;
	pthread_mutex_lock(&side->lock);
	if (!run->branch)
		side->region = region;
	else
		run->branch->inner = region;
	pthread_mutex_unlock(&side->lock);
}

/* Runs its branches to their ends; they are the caller's to close. */
static struct region *region_walk(ag_run *run, const struct edge *fork, const cJSON *kept)
{
	struct run_side *side = run->side;
	if (!side) {
		side = run->side = arena_alloc(run->setup.arena, sizeof(*side));
		side->root = run;
		side->parallel = run->setup.parallel ? run->setup.parallel : REGION_PARALLEL;
		pthread_mutex_init(&side->lock, NULL);
	}
	if (!run->branch)
		atomic_store(&side->step, run->step);
	struct region *region = region_open(run, fork, kept);
	region_set_inner(run, region);
	region_work_together(region);
	region_set_inner(run, NULL);
	return region;
}

enum verdict region_run(ag_run *run, const struct edge *fork, const cJSON *kept, struct error *err)
{
	return region_close(region_walk(run, fork, kept), err);
}

/* ---- Subgraphs */

/* Whether an attempt that failed may be followed by another one: nothing of it was shown, no person
 * has answered it, and the recursion limit and the time of those around it are not what it failed
 * of. */
static bool subgraph_may_again(const struct region *region)
{
	const ag_run *run = region->parent;
	const struct branch *b = region->items;
	bool whole = !json_get(b->began, "charged");
	return b->verdict == FAILED && !b->said && whole && b->error.kind != ERR_RECURSION_LIMIT &&
	    !(run->limit && clock_monotonic_ms() >= run->limit->end);
}

/* Leaves nothing of an attempt but what it has cost and why it failed. */
static void subgraph_drop(struct region *region, struct error *err)
{
	ag_run *run = region->parent;
	struct branch *b = region->items;
	const cJSON *message;
	size_t i = 0, before = branch_is_own(b) ? b->charged : b->own;
	cJSON_ArrayForEach(message, b->run.messages.array) {
		if (i++ >= before)
			message_usage(message, &run->usage);
	}
	run_add_usage(run, &b->run.usage);
	run->step = atomic_load(&run->side->step);
	run->thread.step = run->step;
	run->frame = (struct node_frame){.node = region->edge->into};
	error_move(err, &b->error);
	free(b->stable);
}

/* Closes the last attempt, and keeps what it has left under the key, unless that is NULL. */
static enum verdict subgraph_close(struct region *region, const char *key, struct error *err)
{
	ag_run *run = region->parent;
	cJSON *output = cJSON_Duplicate(region->items->output, true);
	cJSON *result = NULL;
	size_t first = run->messages.count;
	bool trims =
	    region->items->run.leaves || region->items->run.thread.summary != run->thread.summary;
	held_hand(region->items);
	enum verdict verdict = region_close(region, err);
	if (verdict == GO_ON && key && !trims)
		result =
		    node_cache_result(cJSON_GetArrayItem(run->messages.array, (int)first), output);
	if (result)
		node_cache_put(run, region->edge->into, key, result);
	cJSON_Delete(output);
	return verdict;
}

enum verdict subgraph_run(
    ag_run *run, const struct edge *enter, const cJSON *kept, struct error *err)
{
	const struct node *node = enter->into;
	const char *key = kept ? NULL : node_cache_key(run, node, NULL, NULL);
	cJSON *found = node_cache_find(run, key);
	if (found)
		return step_say_kept(run, node, found, err) ? GO_ON : FAILED;
	for (int attempt = 1;; attempt++) {
		struct region *region = region_walk(run, enter, kept);
		if (attempt >= node->policy.attempts || !subgraph_may_again(region))
			return subgraph_close(region, key, err);
		subgraph_drop(region, err);
		kept = NULL;
		enum verdict verdict = step_again(run, node, attempt, err);
		if (verdict != GO_ON)
			return verdict;
	}
}
