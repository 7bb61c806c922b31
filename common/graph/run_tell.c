/* SPDX-License-Identifier: ISC */
/* What a run's observer is told of its nodes, and in which order. */
#include "graph/run_internal.h"

void run_ignore_event(struct run_observer *observer, ag_run *run, const struct run_event *event)
{
	(void)observer, (void)run, (void)event;
}

static void run_tell(ag_run *run, enum run_event_kind kind, const cJSON *message, const char *json)
{
	const struct run_event event = {.kind = kind,
	    .node = run->frame.node->name,
	    .step = run->step,
	    .message = message,
	    .json = json};
	run->setup.observer->event(run->setup.observer, run, &event);
}

static void run_show_held(ag_run *run)
{
	const cJSON *held = run->frame.held;
	run->frame.held = NULL;
	for (; held; held = held->next)
		run_tell(run, RUN_MESSAGE, held, NULL);
}

void run_show_piece(ag_run *run, const cJSON *piece, const char *json)
{
	run_show_held(run);
	run_tell(run, RUN_PIECE, piece, json);
}

void run_show_custom(ag_run *run, const cJSON *data)
{
	if (!run->frame.holds)
		run_show_held(run);
	const struct run_event event = {
	    .kind = RUN_CUSTOM, .node = run->frame.node->name, .step = run->step, .data = data};
	run->setup.observer->event(run->setup.observer, run, &event);
}

void run_tell_start(ag_run *run)
{
	run_tell(run, RUN_NODE_STARTS, NULL, NULL);
}

/* The updates of a branch that were not told yet.  Those of a subgraph are about fields that nobody
 * is shown. */
static const cJSON *run_tell_set(ag_run *run)
{
	int told = run->log_told;
	run->log_told = cJSON_GetArraySize(run->log);
	return run->outer ? NULL : cJSON_GetArrayItem(run->log, told);
}

void run_tell_end(ag_run *run, enum verdict verdict, const struct error *failure)
{
	const cJSON *held = run->frame.held, *message;
	size_t i = run->messages.count;
	run->frame.held = NULL;
	for (message = held; message; message = message->next)
		i--;
	for (message = held; message; message = message->next)
		run_tell(run, RUN_MESSAGE, message, run->messages.stored[i++].body_json);
	const struct run_event event = {.kind = RUN_NODE_ENDS,
	    .node = run->frame.node->name,
	    .step = run->step,
	    .set = run_tell_set(run),
	    .failure = failure,
	    .cached = run->frame.cached,
	    .reason = verdict == WAITS_FOR_CLIENT ? "Remote tool call - graph interrupted" : NULL};
	run->setup.observer->event(run->setup.observer, run, &event);
}

void run_tell_subgraph(ag_run *run, const struct node *node)
{
	const struct run_event event = {.kind = RUN_SUBGRAPH_ENDS,
	    .node = node->name,
	    .step = run->step,
	    .set = run_tell_set(run)};
	run->setup.observer->event(run->setup.observer, run, &event);
}

void run_tell_attempt(
    ag_run *run, const struct node *node, int attempt, const struct error *failure)
{
	const struct run_event event = {.kind = RUN_ATTEMPT_FAILS,
	    .node = node->name,
	    .step = run->step,
	    .attempt = attempt,
	    .failure = failure,
	    .hidden = true};
	run->setup.observer->event(run->setup.observer, run, &event);
}

void run_add_message(ag_run *run, cJSON *message)
{
	if (!run->frame.holds || run->frame.streamed)
		run_show_held(run);
	cJSON_AddItemToArray(run->frame.messages, message);
	if (!run->frame.held)
		run->frame.held = message;
}
