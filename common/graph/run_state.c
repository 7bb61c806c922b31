/* SPDX-License-Identifier: ISC */
/* A run as nodes, observers and services see it: what it was given, its fields, what is wanted of
 * it. */
#include "base/json/json.h"
#include "graph/run_internal.h"
#include "graph/state.h"

#include <stdio.h>
#include <string.h>

ag_run *run_new(const struct run_setup *setup)
{
	ag_run *run = arena_alloc(setup->arena, sizeof(*run));
	run->setup = *setup;
	run->state.run = run;
	run->thread = *setup->thread;
	run->thread.run_id = setup->run_id;
	run->thread.status = RUN_RUNNING;
	run->thread.stop = STOP_NONE;
	run->thread.step = 0;
	run->before = setup->rewind ? setup->stored : setup->thread;
	run->rewind = setup->rewind;
	run->fields = arena_json(setup->arena, state_fields(setup->graph, run->thread.fields_json));
	run->fields_changed = setup->graph->field_count > 0;
	run->messages.array = arena_json(setup->arena, cJSON_CreateArray());
	return run;
}

bool run_initial_state(ag_run *run, const cJSON *initial, struct error *err)
{
	const cJSON *item;
	run->initial = initial;
	cJSON_ArrayForEach(item, initial) {
		const struct field *field = graph_field_get(run->setup.graph, item->string);
		if (!field || cJSON_IsNull(item))
			continue;
		if (!graph_field_accepts(field, item)) {
			char at[160];
			snprintf(at, sizeof(at), "body.initial_state.%s", field->name);
			return error_field(err, ERR_VALIDATION, at, "type_error",
			    "initial_state.%s must be of type %s", field->name, field->type);
		}
		json_set(run->fields, field->name, state_value(field, cJSON_Duplicate(item, true)));
	}
	return true;
}

bool run_ordered(const ag_run *run, enum lease_order *order, struct error *err)
{
	const struct run_setup *s = &run->setup;
	*order = ORDER_NONE;
	if (s->lease &&
	    !s->storage->threads->lease_ordered(s->storage, &s->ctx, s->lease, order, err))
		return false;
	if (*order == ORDER_NONE && s->client && s->client->gone(s->client->arg))
		*order = ORDER_STOP;
	if (s->background && *order < s->background->ordered)
		*order = s->background->ordered;
	return true;
}

int run_choose(ag_run *run, const struct edge *edge, struct error *err)
{
	const char *name = edge->fn ? edge->fn(&run->state, edge->data) : NULL;
	if (!run_could_read(run, err))
		return GRAPH_UNSET;
	if (edge->map && !cJSON_GetArraySize(json_get(run->fields, edge->map)))
		return edge->joins;
	if (edge->join)
		return GRAPH_FORK(edge - run->setup.graph->edges);
	if (!edge->fn)
		return edge->targets[0];
	for (size_t i = 0; name && i < edge->target_count; i++) {
		if (strcmp(edge->names[i], name) == 0)
			return edge->targets[i];
	}
	error_set(err, ERR_GRAPH,
	    GRAPH_FAILED "the edge from '%s' chose %s%s%s, none of its targets", edge->from,
	    name ? "'" : "", name ? name : "nothing", name ? "'" : "");
	return GRAPH_UNSET;
}

const struct thread *run_thread(const ag_run *run)
{
	return &run->thread;
}

const struct thread_view *run_view(const ag_run *run)
{
	return run->placed ? &run->thread.view : NULL;
}

const struct run_usage *run_spent_apart(const ag_run *run)
{
	return &run->usage;
}

int run_steps(const ag_run *run)
{
	return run->step;
}

const ag_graph *run_graph(const ag_run *run)
{
	return run->setup.graph;
}

const struct client_tools *run_client_tools(const ag_run *run)
{
	return &run->setup.client_tools;
}

const cJSON *run_messages_shown(const ag_run *run)
{
	const ag_run *shown = run;
	for (; run->outer; run = run->outer) {
		if (run->apart)
			shown = run->outer;
	}
	return run_messages(shown);
}

const cJSON *run_fields(const ag_run *run)
{
	while (run->outer)
		run = run->outer;
	return run->fields;
}

bool run_is_new_turn(const ag_run *run)
{
	return run->entry == RUN_FROM_START;
}

struct trace_headers run_trace(const ag_run *run)
{
	return run->setup.trace;
}

const char *run_node(const ag_run *run)
{
	return run->frame.node ? run->frame.node->name : run->thread.node;
}

cJSON *run_state(const ag_run *run, bool in_node, cJSON *context)
{
	struct thread shown = run->thread;
	const struct run_flags flags = {in_node, in_node && ag_stop_requested(run)};
	if (in_node)
		shown.next = run_node(run);
	while (run->outer)
		run = run->outer;
	/* of a branch nothing is printed for a write */
	char *fields = run->branch ? json_print(run->fields) : NULL;
	if (fields)
		shown.fields_json = fields;
	cJSON *state = state_json(run->setup.graph, &shown, &flags, context);
	cJSON_free(fields);
	return state;
}

void run_set_config(ag_run *run, const char *name, const cJSON *value)
{
	cJSON *config = arena_json(run->setup.arena, cJSON_CreateObject());
	const cJSON *item;
	cJSON_ArrayForEach(item, run->setup.config) {
		if (strcmp(item->string, name) != 0)
			json_refer(config, item->string, item);
	}
	json_refer(config, name, value);
	run->setup.config = config;
}

void run_set_error(ag_run *run, const char *text)
{
	cJSON *item = arena_json(run->setup.arena, cJSON_CreateString(text));
	run->error = item->valuestring;
	run_set_config(run, "error", item);
}
