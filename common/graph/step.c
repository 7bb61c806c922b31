/* SPDX-License-Identifier: ISC */
/* One step: the node's attempts, and what the last of them leaves to the run. */
#include "base/id.h"
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/metrics/metrics.h"
#include "base/os/clock.h"
#include "graph/message/message.h"
#include "graph/nodes/node_cache.h"
#include "graph/region/region_branch.h"
#include "graph/run_internal.h"
#include "graph/state.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define LOOK_MS 50 /* how often a run that waits looks for orders */

static bool step_timed_out(ag_run *run, const char *name, double seconds, struct error *err)
{
	const char *at = arena_printf(run->setup.arena, "node.%s", name);
	error_set(
	    err, ERR_NODE_TIMEOUT, GRAPH_FAILED "node %s timed out after %g s", name, seconds);
	return error_field(
	    err, ERR_NODE_TIMEOUT, at, "node_error", "node %s timed out after %g s", name, seconds);
}

bool step_is_late(const ag_run *run)
{
	return run->limit && clock_monotonic_ms() >= run->limit->end;
}

bool step_in_time(ag_run *run, struct error *err)
{
	return !step_is_late(run) ||
	    step_timed_out(run, run->limit->node->name, run->limit->seconds, err);
}

bool step_in_limit(const ag_run *run, struct error *err)
{
	int64_t limit = run->setup.recursion_limit;
	return run->spent < limit ||
	    error_set(err, ERR_RECURSION_LIMIT,
		"Graph execution exceeded recursion limit: %" PRId64, limit);
}

static bool step_apply(ag_run *run, const char *by, cJSON *fields, cJSON *item, struct error *err)
{
	const struct field *field = graph_field_get(run->setup.graph, item->string);
	char *name = arena_strdup(run->setup.arena, item->string);
	if (field && state_reduce(fields, field, item))
		return true;
	if (!field)
		cJSON_Delete(item);
	return error_set(err, ERR_GRAPH,
	    field ? GRAPH_FAILED "the update of field '%s' by node %s is not of its type"
		  : GRAPH_FAILED "there is no state field '%s', which node %s sets",
	    name, by);
}

/* The updates are tried on copies of the fields that they change.  A branch also logs them, for the
 * join. */
bool step_update(ag_run *run, const char *by, cJSON *updates, struct error *err)
{
	cJSON *fields, *log;
	const cJSON *update;
	if (!updates->child)
		return true;
	fields = cJSON_CreateObject();
	cJSON_ArrayForEach(update, updates) {
		const cJSON *old = json_get(run->fields, update->string);
		if (old && !json_get(fields, update->string))
			cJSON_AddItemToObject(fields, update->string, cJSON_Duplicate(old, true));
	}
	log = run->log ? cJSON_Duplicate(updates, true) : NULL;
	bool ok = true;
	while (ok && updates->child)
		ok = step_apply(
		    run, by, fields, cJSON_DetachItemViaPointer(updates, updates->child), err);
	if (ok && json_deeper_than(fields, STORED_DEPTH)) {
		ag_fail(run, "expected state fields of at most %d levels of nesting", STORED_DEPTH);
		run_set_failure(run, err);
		ok = false;
	}
	while (ok && log && log->child) {
		cJSON *item = cJSON_DetachItemViaPointer(log, log->child);
		cJSON *entry = json_append(run->log, cJSON_CreateObject());
		cJSON_AddItemToObject(entry, item->string, item);
	}
	while (ok && fields->child) {
		cJSON *item = cJSON_DetachItemViaPointer(fields, fields->child);
		json_set(run->fields, item->string, item);
		run->fields_changed = true;
	}
	cJSON_Delete(log);
	cJSON_Delete(fields);
	return ok;
}

/* Takes over what a node that ended well left in its frame. */
static bool step_take_frame(ag_run *run, struct error *err)
{
	cJSON *messages = run->frame.messages;
	const char *last = run->frame.leaves;
	bool found = !last;
	if (!step_update(run, run->frame.node->name, run->frame.updates, err))
		return false;
	if (run->frame.summary)
		run->thread.summary = run->frame.summary;
	run->leaves = last;
	/* the oldest messages, up to the one that ag_trim named, leave the loaded context too */
	while (!found && run->context->child) {
		found = strcmp(message_id(run->context->child), last) == 0;
		cJSON_DeleteItemFromArray(run->context, 0);
	}
	while (messages->child)
		run_append(run, cJSON_DetachItemViaPointer(messages, messages->child));
	return true;
}

void run_limit_node(ag_run *run, double seconds)
{
	int64_t deadline = clock_monotonic_ms() + (int64_t)(seconds * 1000);
	if (deadline >= run->frame.deadline)
		return;
	run->frame.deadline = deadline;
	run->frame.seconds = seconds;
}

static void step_open(ag_run *run, const struct node *node)
{
	struct arena *a = run->setup.arena;
	run->frame = (struct node_frame){
	    .node = node,
	    .deadline = INT64_MAX,
	    .updates = arena_json(a, cJSON_CreateObject()),
	    .messages = arena_json(a, cJSON_CreateArray()),
	    .holds = node->policy.attempts > 1 || node->on_error != GRAPH_UNSET,
	};
	run_limit_node(run, run->setup.node_timeout);
	if (node->policy.timeout > 0)
		run_limit_node(run, node->policy.timeout);
	if (run->limit && run->limit->end < run->frame.deadline)
		run->frame.deadline = run->limit->end;
}

/* Calls the node's function and judges what it returned.  A node that overran its time has failed,
 * whatever it says. */
static enum verdict step_call(ag_run *run, struct error *err)
{
	const struct node *node = run->frame.node;
	/* a tools node keeps the result of each call instead */
	const char *key = node->is_tools ? NULL : node_cache_key(run, node, NULL, NULL);
	cJSON *kept = node_cache_find(run, key);
	if (kept)
		node_cache_say(run, kept);
	ag_result result = kept ? AG_OK
	    : node->is_tools    ? tools_node_run(run)
				: node->fn(run, &run->state, node->data);
	if (!step_in_time(run, err))
		return FAILED;
	if (clock_monotonic_ms() >= run->frame.deadline) {
		step_timed_out(run, node->name, run->frame.seconds, err);
		return FAILED;
	}
	if (!run_could_read(run, err))
		return FAILED;
	bool asked = run->frame.pause;
	if (result == AG_PAUSE && asked)
		return PAUSED;
	if (result == AG_PAUSE && !run->frame.failure)
		ag_fail(run, "the node returned AG_PAUSE, and has asked nothing");
	if (result == AG_OK && asked && !node->is_tools)
		result = ag_fail(run, "the node has asked a person, and did not return AG_PAUSE");
	if (result != AG_OK) {
		run_set_failure(run, err);
		return FAILED;
	}
	/* the cache keeps nothing where a person answered, where calls wait for the client, where
	 * messages are to leave the context, and where a model's answer is not whole */
	const struct node_frame *frame = &run->frame;
	bool passing = (run->answers && run->answers->child) || frame->waiting || frame->leaves ||
	    frame->summary || frame->cut;
	cJSON *left = key && !kept && !passing
	    ? node_cache_result(frame->messages->child, frame->updates)
	    : NULL;
	bool applied = step_take_frame(run, err);
	if (left && applied)
		node_cache_put(run, node, key, left);
	else
		cJSON_Delete(left);
	return applied ? GO_ON : FAILED;
}

enum verdict step_again(ag_run *run, const struct node *node, int attempt, struct error *err)
{
	const struct run_background *background = run->setup.background;
	const struct node_policy *policy = &node->policy;
	/* At random between half of the time that the policy says and all of it, so that runs that
	 * failed together do not come back together. */
	unsigned chance;
	random_bytes(&chance, sizeof(chance));
	double most = fmin(policy->initial * pow(policy->factor, attempt - 1), policy->max);
	int64_t ms = (int64_t)(most * 1000 * (0.5 + 0.5 * chance / (double)UINT_MAX));
	run_tell_attempt(run, node, attempt, err);
	log_warning("thread %s, node %s: attempt %d of %d failed, the next follows in %.3f s: %s",
	    run->thread.thread_id, node->name, attempt, policy->attempts, (double)ms / 1000,
	    err->detail);
	error_release(err);
	metrics_count(METRIC_NODE_RETRIES, 1);
	/* whoever wants the run to end, or to go on elsewhere, need not wait for the next one */
	int64_t until = clock_monotonic_ms() + ms;
	for (;;) {
		enum lease_order order;
		int64_t left = until - clock_monotonic_ms();
		if (!run_ordered(run, &order, err))
			return FAILED;
		if (order)
			return WAS_STOPPED;
		if (background && *background->yields)
			return GIVEN_BACK;
		if (left <= 0)
			return GO_ON;
		clock_sleep_ms(left < LOOK_MS ? left : LOOK_MS);
	}
}

enum verdict step_node(ag_run *run, const struct node *node, struct error *err)
{
	for (int attempt = 1;; attempt++) {
		step_open(run, node);
		enum verdict verdict = step_call(run, err);
		if (verdict != FAILED || attempt >= node->policy.attempts || run->frame.streamed ||
		    step_is_late(run))
			return verdict;
		verdict = step_again(run, node, attempt, err);
		if (verdict != GO_ON)
			return verdict;
	}
}

bool step_say_kept(ag_run *run, const struct node *node, cJSON *kept, struct error *err)
{
	run->step = run->branch ? ++run->side->step : run->step + 1;
	run->thread.step = run->step;
	run->spent++;
	step_open(run, node);
	run_tell_start(run);
	node_cache_say(run, kept);
	if (!step_take_frame(run, err))
		return false;
	run->frame.untold = !run->branch;
	if (run->branch)
		run_tell_end(run, GO_ON, NULL);
	return true;
}

void step_pass_over(ag_run *run, const struct error *failure)
{
	struct arena *a = run->setup.arena;
	struct node_frame *frame = &run->frame;
	const char *text = failure->detail, *begins = GRAPH_FAILED;
	if (strncmp(text, begins, strlen(begins)) == 0)
		text += strlen(begins);
	log_warning("thread %s, node %s failed, node %s follows: %s", run->thread.thread_id,
	    frame->node->name, graph_node_name(run->setup.graph, frame->node->on_error), text);
	run_set_error(run, text);
	*frame = (struct node_frame){.node = frame->node,
	    .updates = arena_json(a, cJSON_CreateObject()),
	    .messages = arena_json(a, cJSON_CreateArray())};
}
