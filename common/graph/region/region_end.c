/* SPDX-License-Identifier: ISC */
/* What the branches of a region leave to the run that forked: messages and updates, in the order of
 * declaration. */
#include "base/json/json.h"
#include "graph/document/document.h"
#include "graph/message/message.h"
#include "graph/region/region_branch.h"
#include "graph/state.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

bool branch_end(struct branch *b)
{
	const struct node *into = b->region->edge->into;
	const struct values values = {&b->run, &b->run.state, NULL};
	if (into && into->sub->output)
		b->output = arena_json(b->arena, values_json(into->sub->output, &values));
	run_drop_context(&b->run);
	return run_could_read(&b->run, &b->error);
}

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

/* Hands on what a subgraph with messages of its own leaves: its last answer when it has ended, or
 * the message that asks the client for calls.  Of the others only the cost counts. */
static void branch_hand_answer(struct branch *b, ag_run *run)
{
	bool hands = b->verdict == AT_END || b->verdict == WAITS_FOR_CLIENT;
	const cJSON *answer = hands ? message_last(b->run.messages.array, "assistant") : NULL;
	const cJSON *message;
	size_t i = 0;
	if (answer && json_has_str(b->ids, message_id(answer)))
		answer = NULL;
	cJSON_ArrayForEach(message, b->run.messages.array) {
		if (i++ >= b->charged && message != answer && b->verdict != GIVEN_BACK)
			message_usage(message, &run->usage);
	}
	if (!answer)
		return;
	/* one that had ended before its process died has run no node in this one */
	const struct node *node = b->run.frame.node;
	const struct run_event event = {.kind = RUN_MESSAGE,
	    .node = node ? node->name : b->name,
	    .step = b->run.step,
	    .message = answer,
	    .again = true};
	cJSON_AddItemToArray(b->ids, cJSON_CreateString(message_id(answer)));
	run_append(run, cJSON_Duplicate(answer, true));
	run->setup.observer->event(run->setup.observer, run, &event);
}

/* Hands the messages of the branch on, and notes their ids in it. */
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

void branch_hand_on(struct branch *b)
{
	ag_run *parent = b->region->parent;
	bool shows = !b->run.apart;
	if (shows)
		branch_hand_messages(b, parent);
	if (parent->branch)
		branch_hand_on(parent->branch);
	if (shows)
		branch_take_messages(b, parent);
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
		    GRAPH_FAILED "branches %s and %s both set '%s', which has no reducer",
		    other->name, b->name, item->string);
	if (state_reduce(fields, field, cJSON_Duplicate(item, true)))
		return true;
	return error_set(err, ERR_GRAPH,
	    GRAPH_FAILED "the update of field '%s' by branch %s is not of its type", item->string,
	    b->name);
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
	run->log_told = cJSON_GetArraySize(run->log); /* by the branches */
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

/* Hands on what a run has only one of: that of the first branch that has something new. */
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
		if (run->leaves || !b->leaves || json_has_str(region->items[i].ids, b->leaves))
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

enum verdict region_close(struct region *region, struct error *err)
{
	ag_run *run = region->parent;
	enum verdict verdict = region_verdict(region);
	bool over = verdict == GO_ON || verdict == FAILED || verdict == WAS_STOPPED;
	const struct branch *inner = region->edge->into ? region->items : NULL;
	struct error unfit = {0};
	run->frame = (struct node_frame){.node = region->last ? region->last : run->frame.node};
	/* the first branch that failed, and did not just end because another one had, tells why */
	for (size_t i = 0; i < region->count; i++) {
		struct branch *b = &region->items[i];
		if (b->verdict == FAILED && !error_is_set(err)) {
			error_move(err, &b->error);
			run->frame.node = b->run.frame.node;
		}
		error_release(&b->error);
	}
	for (size_t i = 0; i < region->count; i++)
		branch_hand_messages(&region->items[i], run);
	region_hand_rest(region, verdict);
	bool fits = inner
	    ? !inner->output || step_update(run, region->edge->into->name, inner->output, &unfit)
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

void subgraph_drop(struct region *region, struct error *err)
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
