/* SPDX-License-Identifier: ISC */
/* The walk of each branch, which may fork again, and that of subgraphs, which are tried again. */
#include "graph/region/region.h"

#include "base/json/json.h"
#include "graph/nodes/node_cache.h"
#include "graph/nodes/tools/asking.h"
#include "graph/region/region_branch.h"

#include <inttypes.h>
#include <stdatomic.h>

/* ---- A branch, node by node like a run, but for its writes */

static void branch_stand(struct branch *b, enum branch_entry how, int node)
{
	b->how = how;
	b->at = node;
}

static enum verdict branch_pause(
    struct branch *b, enum branch_entry how, int node, const cJSON *interrupt, const char *kind)
{
	branch_stand(b, how, node);
	b->interrupt = interrupt;
	b->kind = kind;
	return PAUSED;
}

/* The same as run_pause_around (run.c). */
static enum verdict branch_pause_around(
    struct branch *b, enum branch_entry how, int node, const char *kind)
{
	const char *name = graph_node_name(b->run.setup.graph, node);
	cJSON *interrupt = interrupt_new(name, kind, NULL);
	return branch_pause(b, how, node, arena_json(b->run.setup.arena, interrupt), kind);
}

/* Whether this region, or one around it, is about to end. */
static bool branch_is_over(const struct branch *b)
{
	while (b && !b->region->over)
		b = b->region->parent->branch;
	return b;
}

/* Whether the node may run now. */
static enum verdict branch_may_run(struct branch *b, int node, bool at_pause)
{
	ag_run *run = &b->run;
	const struct run_background *background = run->setup.background;
	const struct node *n = &run->setup.graph->nodes[node];
	enum lease_order order;
	if (!run_ordered(run, &order, &b->error))
		return FAILED;
	if (order || branch_is_over(b))
		return WAS_STOPPED;
	if (background && *background->yields)
		return GIVEN_BACK;
	if (!step_in_time(run, &b->error) || !step_in_limit(run, &b->error))
		return FAILED;
	if (n->interrupt_before && !at_pause)
		return branch_pause_around(b, BRANCH_AT, node, "interrupt_before");
	return GO_ON;
}

/* Notes the calls that the client is to run, with the message that asked for them. */
static enum verdict branch_wait(struct branch *b, int node)
{
	const struct node_frame *frame = &b->run.frame;
	const cJSON *call;
	cJSON *waiting = arena_json(b->run.setup.arena, cJSON_CreateObject());
	cJSON_AddStringToObject(waiting, "message_id", frame->waiting_id);
	cJSON_AddItemToObject(waiting, "calls", cJSON_Duplicate(frame->waiting, true));
	b->waiting = waiting;
	cJSON_ArrayForEach(call, frame->waiting)
		cJSON_AddItemToArray(b->called, cJSON_Duplicate(json_get(call, "id"), true));
	branch_stand(b, BRANCH_AFTER, node);
	return WAITS_FOR_CLIENT;
}

/* Runs the node; on GO_ON *place is what follows. */
static enum verdict branch_step(struct branch *b, int node, int *place)
{
	ag_run *run = &b->run;
	const struct node *n = &run->setup.graph->nodes[node];
	struct error failure = {0};
	run->frame.node = n;
	run->thread.step = run->step = ++run->side->step;
	run->thread.next = n->name;
	run->spent++;
	run_tell_start(run);
	enum verdict verdict = step_node(run, n, &b->error);
	if (run->frame.streamed)
		held_show_all(b);
	bool passed_over = verdict == FAILED && step_may_pass_over(n, &b->error);
	run->thread.node = n->name;
	if (verdict == PAUSED)
		return branch_pause(b, BRANCH_AGAIN, node, run->frame.pause, "interrupt");
	if (verdict != GO_ON && !passed_over)
		return verdict;
	run->answers = NULL;
	if (passed_over) {
		error_move(&failure, &b->error);
		step_pass_over(run, &failure);
	}
	bool waits = run->frame.waiting;
	run_tell_end(run, waits ? WAITS_FOR_CLIENT : GO_ON, passed_over ? &failure : NULL);
	error_release(&failure);
	if (passed_over) {
		*place = n->on_error;
		return GO_ON;
	}
	if (waits)
		return branch_wait(b, node);
	if (n->interrupt_after)
		return branch_pause_around(b, BRANCH_AFTER, node, "interrupt_after");
	*place = run_choose(run, n->edge, &b->error);
	return *place == GRAPH_UNSET ? FAILED : GO_ON;
}

bool region_pass_over(ag_run *run, const struct edge *region, int *place, struct error *err)
{
	const struct node *into = region->into;
	struct error failure = {0};
	if (!into || !step_may_pass_over(into, err))
		return false;
	error_move(&failure, err);
	run->frame.node = into;
	step_pass_over(run, &failure);
	error_release(&failure);
	*place = into->on_error;
	return true;
}

/* Runs a region in the branch, new or as it was kept; on GO_ON *place is what follows. */
static enum verdict branch_fork(struct branch *b, const struct edge *fork, int *place)
{
	const cJSON *within = b->within;
	const struct node *into = fork->into;
	ag_run *run = &b->run;
	b->within = NULL;
	enum verdict verdict = into ? subgraph_run(run, fork, within, &b->error)
				    : region_run(run, fork, within, &b->error);
	if (verdict == GIVEN_BACK && !run->region)
		branch_stand(b, BRANCH_BEFORE, *place);
	b->within = run->region;
	run->region = NULL;
	if (verdict == FAILED && region_pass_over(run, fork, place, &b->error))
		return GO_ON;
	if (verdict != GO_ON || !into) {
		*place = fork->joins;
		return verdict;
	}
	if (!run->frame.cached) /* else it was a step, whose end was told */
		run_tell_subgraph(run, into);
	if (into->interrupt_after)
		return branch_pause_around(b, BRANCH_AFTER, *place, "interrupt_after");
	*place = run_choose(run, into->edge, &b->error);
	return *place == GRAPH_UNSET ? FAILED : GO_ON;
}

/* Whether one of the calls that it waited for has no answer yet. */
static bool branch_still_waits(struct branch *b)
{
	if (!b->waiting)
		return false;
	b->run.asked = json_str(b->waiting, "message_id");
	if (asking_open(&b->run))
		return true;
	b->waiting = NULL;
	return false;
}

/* False with b->error set where the node of the branch is gone: an earlier version of the graph may
 * have kept it. */
static bool branch_has_node(struct branch *b)
{
	return b->at >= 0 ||
	    error_set(&b->error, ERR_GRAPH, GRAPH_FAILED "the graph has no node '%s' any more",
		b->name_at ? b->name_at : "");
}

/* Finds where the branch begins, or where it goes on when it was kept. */
static enum verdict branch_enter(struct branch *b, int *place)
{
	const ag_graph *graph = b->run.setup.graph;
	*place = b->at;
	if (b->interrupt)
		return PAUSED;
	switch (b->how) {
	case BRANCH_BEFORE:
	case BRANCH_AT:
	case BRANCH_AGAIN:
		return branch_has_node(b) ? GO_ON : FAILED;
	case BRANCH_AFTER:
		if (!branch_has_node(b))
			return FAILED;
		if (branch_still_waits(b))
			return WAITS_FOR_CLIENT;
		*place = run_choose(&b->run, graph->nodes[b->at].edge, &b->error);
		return *place == GRAPH_UNSET ? FAILED : GO_ON;
	case BRANCH_IN:
		*place = region_place(&b->run, b->within, &b->error);
		return *place == GRAPH_UNSET ? FAILED : GO_ON;
	case BRANCH_ARRIVED:
		return AT_END;
	case BRANCH_START:
		*place = run_choose(&b->run, graph->start, &b->error);
		return *place == GRAPH_UNSET ? FAILED : GO_ON;
	}
	return FAILED;
}

/* Keeps that a subgraph is behind a node: in the background it goes on there, like the run around
 * it, and it may have a checkpoint there. */
static enum verdict branch_keep_step(struct branch *b, int node, int place)
{
	if (place >= 0)
		branch_stand(b, BRANCH_BEFORE, place);
	else if (node >= 0)
		branch_stand(b, BRANCH_AFTER, node);
	if (branch_has_checkpoints(b))
		return branch_checkpoint(b, place) ? GO_ON : FAILED;
	branch_keep(b);
	return GO_ON;
}

/* Walks the branch to its join: AT_END, or what kept it from there; FAILED with b->error set. */
static enum verdict branch_walk(struct branch *b)
{
	const ag_graph *graph = b->run.setup.graph;
	int place, join = b->region->edge->joins;
	enum verdict verdict = branch_enter(b, &place);
	bool at_pause = b->how == BRANCH_AT || b->how == BRANCH_AGAIN;
	while (verdict == GO_ON && place != join) {
		const struct edge *region = graph_region_edge(graph, place);
		int node = place;
		if (place >= 0 && !b->within) {
			branch_stand(b, at_pause ? b->how : BRANCH_BEFORE, place);
			verdict = branch_may_run(b, place, at_pause);
			at_pause = false;
		}
		if (verdict == GO_ON && region) {
			branch_stand(b, BRANCH_IN, place);
			verdict = branch_fork(b, region, &place);
		} else if (verdict == GO_ON) {
			verdict = branch_step(b, place, &place);
		}
		if (verdict == GO_ON && b->region->edge->into && place != join)
			verdict = branch_keep_step(b, node, place);
	}
	if (verdict == PAUSED || verdict == GIVEN_BACK)
		b->run.asked = asking_open(&b->run);
	if (verdict != GO_ON)
		return verdict;
	branch_stand(b, BRANCH_ARRIVED, GRAPH_END);
	return AT_END;
}

/* A branch is given what it begins with only when its turn has come, since a map may have
 * thousands. */
static enum verdict branch_run(struct branch *b)
{
	enum verdict verdict = branch_begin(b) ? branch_walk(b) : FAILED;
	return verdict == AT_END && !branch_end(b) ? FAILED : verdict;
}

/* ---- Branches side by side */

static void region_set_inner(ag_run *run, struct region *region)
{
	struct run_side *side = run->side;
	pthread_mutex_lock(&side->lock);
	if (!run->branch) {
		side->region = region;
		side->kept = 0;
	} else {
		branch_set_inner(run->branch, region);
	}
	pthread_mutex_unlock(&side->lock);
}

static struct run_side *region_side(ag_run *run)
{
	struct run_side *side = run->side;
	const cJSON *message, *call;
	if (side)
		return side;
	side = run->side = arena_alloc(run->setup.arena, sizeof(*side));
	side->root = run;
	side->parallel = run->setup.parallel ? run->setup.parallel : REGION_PARALLEL;
	side->elements_most = run->setup.elements ? run->setup.elements : REGION_ELEMENTS;
	side->calls = arena_json(run->setup.arena, cJSON_CreateArray());
	cJSON_ArrayForEach(message, run->messages.array) {
		cJSON_ArrayForEach(call, json_get(message, "tools_calls"))
			cJSON_AddItemToArray(
			    side->calls, cJSON_Duplicate(json_get(call, "id"), true));
	}
	pthread_mutex_init(&side->lock, NULL);
	return side;
}

/* Runs the branches to their ends; the region is the caller's to close. */
static struct region *region_walk(ag_run *run, const struct edge *fork, const cJSON *kept)
{
	struct run_side *side = region_side(run);
	if (!run->branch)
		atomic_store(&side->step, run->step);
	struct region *region = region_open(run, fork, kept);
	region_set_inner(run, region);
	region_work_together(region, branch_run);
	region_set_inner(run, NULL);
	return region;
}

enum verdict region_run(ag_run *run, const struct edge *fork, const cJSON *kept, struct error *err)
{
	struct run_side *side = region_side(run);
	/* a branch holds its memory to the end of the run, and the array may be a client's: the
	 * maps of a run may have only so many elements */
	if (fork->map) {
		pthread_mutex_lock(&side->lock);
		side->elements += cJSON_GetArraySize(json_get(run->fields, fork->map));
		int64_t elements = side->elements;
		pthread_mutex_unlock(&side->lock);
		if (elements > side->elements_most) {
			error_set(err, ERR_GRAPH,
			    GRAPH_FAILED "with '%s' the maps of this run have %" PRId64
					 " elements, and graph.elements is %" PRId64,
			    fork->map, elements, side->elements_most);
			return FAILED;
		}
	}
	return region_close(region_walk(run, fork, kept), err);
}

/* ---- Subgraphs */

/* Whether an attempt that failed may be followed by another one: nothing of it was shown, no person
 * has answered it, and it did not fail of the recursion limit or of the time of the subgraphs
 * around it. */
static bool subgraph_may_again(const struct region *region)
{
	const ag_run *run = region->parent;
	const struct branch *b = region->items;
	bool whole = !json_get(b->began, "charged");
	return b->verdict == FAILED && !b->said && whole && b->error.kind != ERR_RECURSION_LIMIT &&
	    !step_is_late(run);
}

/* Closes the last attempt, and keeps what it has left under the key, unless that is NULL. */
static enum verdict subgraph_close(
    struct region *region, size_t first, const char *key, struct error *err)
{
	ag_run *run = region->parent;
	cJSON *output = cJSON_Duplicate(region->items->output, true);
	cJSON *result = NULL;
	bool trims =
	    region->items->run.leaves || region->items->run.thread.summary != run->thread.summary;
	held_hand_on(region->items);
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
	if (!run_could_read(run, err))
		return FAILED;
	cJSON *found = node_cache_find(run, key);
	if (found)
		return step_say_kept(run, node, found, err) ? GO_ON : FAILED;
	for (int attempt = 1;; attempt++) {
		size_t first = run->messages.count;
		struct region *region = region_walk(run, enter, kept);
		if (attempt >= node->policy.attempts || !subgraph_may_again(region))
			return subgraph_close(region, first, key, err);
		subgraph_drop(region, err);
		kept = NULL;
		enum verdict verdict = step_again(run, node, attempt, err);
		if (verdict != GO_ON)
			return verdict;
	}
}
