/* SPDX-License-Identifier: ISC */
/* The walk from node to node: where it enters, what it stores between them, and how it ends. */
#include "graph/run.h"

#include "base/json/json.h"
#include "graph/message/message.h"
#include "graph/nodes/tools/asking.h"
#include "graph/region/region.h"
#include "graph/run_internal.h"
#include "graph/state.h"

static bool run_restore_message(void *arg, const char *id, const char *body_json)
{
	cJSON *message = json_parse_own(body_json);
	(void)id;
	if (message)
		run_append(arg, message);
	return true;
}

/* Takes over what an earlier attempt has left: nodes go by the messages that the run was given and
 * has made, and what these cost counts. */
static bool run_restore(ag_run *run, struct error *err)
{
	const struct run_setup *s = &run->setup;
	struct run_record all = *s->background->record;
	struct run_messages *m = &run->messages;
	all.until = INT64_MAX; /* nobody else has had the thread since */
	entered_restore(run);
	if (!s->storage->runs->messages(
		s->storage, &s->ctx, &all, RUN_GIVEN, run_restore_message, run, err))
		return false;
	m->brought = m->count;
	if (!s->storage->runs->messages(
		s->storage, &s->ctx, &all, RUN_MADE, run_restore_message, run, err))
		return false;
	m->written = m->restored = m->count;
	return true;
}

/* ---- between nodes ---- */

/* The pause as it is stored: the interrupt that is shown, its kind, the answers the node had so
 * far, and the message whose tool calls it holds up. */
static void run_pause(ag_run *run, const cJSON *interrupt, const char *kind)
{
	const cJSON *answers = run->answers;
	const char *asked = asking_open(run);
	cJSON *pause = cJSON_CreateObject();
	cJSON_AddItemToObject(pause, "interrupt", cJSON_Duplicate(interrupt, true));
	cJSON_AddStringToObject(pause, "kind", kind);
	cJSON_AddItemToObject(
	    pause, "answers", answers ? cJSON_Duplicate(answers, true) : cJSON_CreateArray());
	if (run->error)
		cJSON_AddStringToObject(pause, "error", run->error);
	if (asked)
		cJSON_AddStringToObject(pause, "asked", asked);
	run->thread.pause_json = arena_print(run->setup.arena, pause);
	run->thread.status = RUN_INTERRUPTED;
	cJSON_Delete(pause);
}

/* interrupt_before and interrupt_after (doc/protocol-runs.md#pauses): reason and kind are one word,
 * and there is no value. */
static enum verdict run_pause_around(ag_run *run, const struct node *node, const char *kind)
{
	cJSON *interrupt = interrupt_new(node->name, kind, NULL);
	run->answers = NULL;
	run_pause(run, interrupt, kind);
	cJSON_Delete(interrupt);
	return PAUSED;
}

static enum verdict run_ended(
    ag_run *run, enum verdict verdict, enum run_status status, enum stop_state stop)
{
	run->thread.status = status;
	run->thread.stop = stop;
	return verdict;
}

/* Whether node may run now.  at_pause: the run was paused just before it and goes on. */
static enum verdict run_may_run(ag_run *run, int node, bool at_pause, struct error *err)
{
	enum lease_order order;
	if (!run_ordered(run, &order, err))
		return FAILED;
	if (node == GRAPH_END) {
		run->thread.node = AG_END;
		return run_ended(run, AT_END, RUN_COMPLETED, order ? STOP_REQUESTED : STOP_NONE);
	}
	if (order)
		return run_ended(run, WAS_STOPPED, RUN_STOPPED, STOP_DONE);
	if (GRAPH_IS_FORK(node)) { /* its branches ask for each of their nodes */
		run->thread.next = graph_first_name(run->setup.graph, node);
		return GO_ON;
	}
	if (!step_in_limit(run, err))
		return FAILED;
	run->thread.next = graph_node_name(run->setup.graph, node);
	if (run->setup.graph->nodes[node].interrupt_before && !at_pause)
		return run_pause_around(run, &run->setup.graph->nodes[node], "interrupt_before");
	return GO_ON;
}

/* Whether the run may go on at that place; GIVEN_BACK where its process is to end first. */
static enum verdict run_go_to(ag_run *run, int next, struct error *err)
{
	const struct run_background *background = run->setup.background;
	enum verdict verdict = run_may_run(run, next, false, err);
	return verdict == GO_ON && background && *background->yields ? GIVEN_BACK : verdict;
}

/* What comes after a node that ended well; *next is the node to run on GO_ON. */
static enum verdict run_after_node(ag_run *run, int *next, struct error *err)
{
	const struct node *node = run->frame.node;
	if (run->frame.waiting) {
		cJSON *waiting = cJSON_CreateObject();
		cJSON_AddStringToObject(waiting, "message_id", run->frame.waiting_id);
		json_refer(waiting, "calls", run->frame.waiting);
		run->thread.waiting_json = arena_print(run->setup.arena, waiting);
		run->thread.status = RUN_COMPLETED;
		cJSON_Delete(waiting);
		return WAITS_FOR_CLIENT;
	}
	if (node->interrupt_after)
		return run_pause_around(run, node, "interrupt_after");
	*next = run_choose(run, node->edge, err);
	return *next == GRAPH_UNSET ? FAILED : run_go_to(run, *next, err);
}

/* A stop that comes during the last node of a run changes nothing but stop_current_execution
 * (doc/protocol-runs.md#stop).  A rollback still counts: true when that is ordered. */
static bool run_note_late_order(ag_run *run, enum verdict verdict)
{
	bool is_last = verdict == PAUSED || verdict == WAITS_FOR_CLIENT || verdict == FAILED;
	struct error err = {0};
	enum lease_order order;
	bool ordered =
	    verdict != GO_ON && verdict != GIVEN_BACK && run_ordered(run, &order, &err) && order;
	error_release(&err);
	if (is_last && ordered)
		run->thread.stop = STOP_REQUESTED;
	return ordered && order == ORDER_ROLLBACK;
}

static void run_fail_thread(struct thread *t)
{
	t->status = RUN_ERROR;
	t->next = NULL;
	t->pause_json = NULL;
}

/* A failed run keeps the state up to its last completed node, and the next run is a new turn.  A
 * run that is to be rolled back keeps nothing, however it ended. */
static bool run_save(ag_run *run, enum verdict verdict, struct error *err)
{
	struct error storage = {0};
	if (verdict == FAILED && run->setup.background && err->kind == ERR_TRANSIENT_STORAGE) {
		/* it is not over: whoever has it takes it up again, or ends it */
		checkpoint_settle(run, &storage);
		error_release(&storage);
		return false;
	}
	bool back = run_note_late_order(run, verdict);
	if (verdict == FAILED)
		run_fail_thread(&run->thread);
	const struct error *failure = verdict == FAILED ? err : NULL;
	if (back ? checkpoint_roll_back(run, failure, &storage)
		 : checkpoint_save(run, failure, &storage))
		return true;
	error_release(err);
	error_move(err, &storage);
	if (err->kind == ERR_THREAD_TOO_LARGE) {
		run_fail_thread(&run->thread);
		checkpoint_end(run, err, &storage);
		error_release(&storage);
	}
	return false;
}

/* An order that has come by now is for this run, and not for the one that goes on elsewhere. */
static enum verdict run_give_back(ag_run *run, struct error *err)
{
	enum lease_order order;
	if (!run_ordered(run, &order, err))
		return FAILED;
	if (!order)
		return GIVEN_BACK;
	run->frame.completed = false; /* its checkpoint is written */
	enum verdict verdict = run_ended(run, WAS_STOPPED, RUN_STOPPED, STOP_DONE);
	return run_save(run, verdict, err) ? verdict : FAILED;
}

/* Notes where the run is when its node has ended or paused; one that is given back stands before
 * the node again. */
static void run_note_step(ag_run *run, enum verdict verdict)
{
	if (verdict == GIVEN_BACK) {
		run->thread.step = --run->step;
		run->spent--;
		return;
	}
	run->thread.node = run->frame.node->name;
	if (verdict == PAUSED) {
		run_pause(run, run->frame.pause, "interrupt");
		return;
	}
	run->thread.pause_json = NULL;
	run->thread.next = NULL;
	run->answers = NULL;
	if (verdict == WAS_STOPPED)
		run_ended(run, verdict, RUN_STOPPED, STOP_DONE);
}

/* Runs one node and stores what came of it; on GO_ON *node is the next one. */
static enum verdict run_step(ag_run *run, int *node, struct error *err)
{
	const struct node *now = &run->setup.graph->nodes[*node];
	struct error failure = {0};
	run->frame.node = now;
	run->thread.step = ++run->step;
	run->spent++;
	run_tell_start(run);
	enum verdict verdict = step_node(run, now, err);
	bool passed_over = verdict == FAILED && step_may_pass_over(now, err);
	bool completed = verdict == GO_ON || passed_over;
	run_note_step(run, verdict);
	run->frame.completed = completed;
	if (passed_over) {
		error_move(&failure, err);
		step_pass_over(run, &failure);
		*node = now->on_error;
		verdict = run_go_to(run, *node, err);
	} else if (completed) {
		verdict = run_after_node(run, node, err);
	}
	if (!run_save(run, verdict, err))
		verdict = FAILED;
	else if (completed)
		run_tell_end(run, verdict, passed_over ? &failure : NULL);
	error_release(&failure);
	return verdict == GIVEN_BACK ? run_give_back(run, err) : verdict;
}

/* The pause of a region: its first interrupt, as if a node had paused, and all of them where there
 * are several.  The answers so far are kept with its branches. */
static void run_pause_region(ag_run *run)
{
	cJSON *open = region_interrupts(run->region), *pause = cJSON_CreateObject();
	cJSON_AddItemToObject(pause, "interrupt", cJSON_Duplicate(open->child, true));
	if (open->child->next)
		cJSON_AddItemToObject(pause, "interrupts", cJSON_Duplicate(open, true));
	json_add_str(pause, "kind", region_pause_kind(run->region));
	cJSON_AddArrayToObject(pause, "answers");
	json_refer(pause, "region", run->region);
	if (run->error)
		cJSON_AddStringToObject(pause, "error", run->error);
	run->thread.pause_json = arena_print(run->setup.arena, pause);
	run->thread.node = json_str(open->child, "node");
	run->thread.node = arena_strdup(run->setup.arena, run->thread.node);
	run->thread.next = run->thread.node;
	run->thread.status = RUN_INTERRUPTED;
	cJSON_Delete(pause);
	cJSON_Delete(open);
}

static void run_wait_region(ag_run *run)
{
	cJSON *waiting = region_waiting(run->region), *kept = cJSON_CreateObject();
	json_refer(kept, "region", run->region);
	run->thread.waiting_json = arena_print(run->setup.arena, waiting);
	run->thread.pause_json = arena_print(run->setup.arena, kept);
	run->thread.status = RUN_COMPLETED;
	cJSON_Delete(waiting);
	cJSON_Delete(kept);
}

/* Goes on behind branches that have joined, or behind a subgraph. */
static enum verdict run_leave(ag_run *run, const struct edge *region, int *node, struct error *err)
{
	if (!region->into) {
		*node = region->joins;
		return run_go_to(run, *node, err);
	}
	const struct node *last = run->frame.node ? run->frame.node : region->into;
	run->frame.node = region->into;
	run->thread.node = region->into->name;
	enum verdict verdict = run_after_node(run, node, err);
	run->frame.node = last;
	if (verdict != AT_END && verdict != PAUSED) /* a pause stands behind the whole */
		run->thread.node = last->name;
	return verdict;
}

/* Runs the branches, or the subgraph, at the place *node, and stores what came of them; on GO_ON
 * *node is the next node, or place. */
static enum verdict run_region(ag_run *run, const struct edge *fork, int *node, struct error *err)
{
	const cJSON *kept = run->region;
	run->region = NULL;
	run->answers = NULL;
	/* whoever is shown the state of a branch must find the thread in the storage */
	if (run->setup.observer->live && !checkpoint_settle(run, err))
		return FAILED;
	enum verdict verdict =
	    fork->into ? subgraph_run(run, fork, kept, err) : region_run(run, fork, kept, err);
	run->thread.pause_json = NULL;
	if (run->frame.node)
		run->thread.node = run->frame.node->name;
	run->frame.completed = verdict == GO_ON;
	if (verdict != GIVEN_BACK)
		run->thread.next = NULL;
	if (verdict == GO_ON) {
		verdict = run_leave(run, fork, node, err);
	} else if (verdict == FAILED && region_pass_over(run, fork, node, err)) {
		verdict = run_go_to(run, *node, err);
	} else if (verdict == PAUSED) {
		run_pause_region(run);
	} else if (verdict == WAITS_FOR_CLIENT) {
		run_wait_region(run);
	} else if (verdict == WAS_STOPPED) {
		run_ended(run, verdict, RUN_STOPPED, STOP_DONE);
	}
	if (!run_save(run, verdict, err))
		return FAILED;
	if (run->frame.untold)
		run_tell_end(run, verdict, NULL);
	else if (run->frame.completed && fork->into)
		run_tell_subgraph(run, fork->into);
	run->frame.untold = false;
	run->region = NULL;
	return verdict == GIVEN_BACK ? run_give_back(run, err) : verdict;
}

/* Takes over what a pause, or the step before, has kept for the nodes that follow. */
static void run_recall(ag_run *run, enum run_entry entry, struct error *err)
{
	cJSON *kept = json_parse_own(run->thread.pause_json);
	if (!kept)
		return;
	const char *error = json_str(kept, "error"), *asked = pause_asked(kept);
	if (entry == RUN_FROM_START) {
		region_abandon(run, json_get(kept, "region"));
		cJSON_Delete(kept);
		return;
	}
	if (error)
		run_set_error(run, error);
	if (entry == RUN_AGAIN)
		run->question = arena_json(run->setup.arena,
		    cJSON_Duplicate(json_get(json_get(kept, "interrupt"), "value"), true));
	if (entry != RUN_ON) {
		run->asked = arena_strdup(run->setup.arena, asked);
	} else {
		run->spent = json_int(kept, "spent", run->spent);
		message_usage(kept, &run->usage);
	}
	cJSON *region = cJSON_DetachItemFromObjectCaseSensitive(kept, "region");
	if (region && entry != RUN_ON && entry != RUN_AFTER_NODE)
		region_answer(region, cJSON_GetArrayItem(run->answers, 0));
	else if (region && entry == RUN_AFTER_NODE && !run->thread.waiting_json)
		region_answer(region, NULL);
	if (entry == RUN_ON)
		region_recall(run, region, err);
	else
		region_renew(region);
	run->region = arena_json(run->setup.arena, region);
	cJSON_Delete(kept);
}

/* The first node of the run, or what keeps it from running. */
static enum verdict run_enter(ag_run *run, enum run_entry entry, int *node, struct error *err)
{
	const ag_graph *graph = run->setup.graph;
	bool at_pause = entry == RUN_AGAIN || entry == RUN_AT_NEXT || entry == RUN_ON;
	const char *from = at_pause ? run->thread.next : run->thread.node;
	int i = from ? graph_node_index(graph, from) : GRAPH_UNSET;
	run_recall(run, entry, err);
	run->thread.next = NULL;
	run->thread.pause_json = NULL;
	run->thread.waiting_json = NULL;
	if (error_is_set(err))
		return FAILED;
	if (entry == RUN_FROM_START)
		*node = run_choose(run, graph->start, err);
	else if (run->region)
		*node = region_place(run, run->region, err);
	else if (i < 0)
		error_set(err, ERR_GRAPH, GRAPH_FAILED "the graph has no node '%s' any more",
		    from ? from : "");
	else if (at_pause && graph->nodes[i].fork) /* in a branch, of which nothing is kept */
		*node = GRAPH_FORK(graph->nodes[i].fork - graph->edges);
	else
		*node = at_pause ? i : run_choose(run, graph->nodes[i].edge, err);
	if (error_is_set(err))
		return FAILED;
	return run_may_run(run, *node, at_pause || run->region, err);
}

bool run_execute(ag_run *run, enum run_entry entry, const cJSON *answers, struct error *err)
{
	int node = GRAPH_END;
	run->answers = answers;
	run->entry = entry;
	struct storage *storage = run->setup.storage;
	if (run->setup.lease &&
	    !storage->threads->lease_run(
		storage, &run->setup.ctx, run->setup.lease, run->setup.run_id, err))
		return false;
	if (entry == RUN_ON && !run_restore(run, err))
		return false;
	enum verdict verdict = run_enter(run, entry, &node, err);
	if (verdict != GO_ON && !run_save(run, verdict, err))
		return false;
	if (verdict == GO_ON && !checkpoint_begin(run, err))
		return false;
	while (verdict == GO_ON) {
		const struct edge *region = graph_region_edge(run->setup.graph, node);
		verdict = region ? run_region(run, region, &node, err) : run_step(run, &node, err);
	}
	run_drop_context(run); /* a client may take its time to read the answer */
	return verdict != FAILED;
}
