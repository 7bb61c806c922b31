/* SPDX-License-Identifier: ISC */
/* Regions as JSON beside a thread's pause: written, read, and answered. */
#include "graph/region/region.h"

#include "base/json/json.h"
#include "graph/message/message.h"
#include "graph/region/region_branch.h"
#include "graph/state.h"

#include <string.h>

static const char *const entry_names[] = {
    "before", "at", "again", "after", "in", "arrived", "start"};

/* ---- written */

cJSON *branch_json(const struct branch *b)
{
	const ag_run *run = &b->run;
	const cJSON *message;
	size_t i = 0;
	cJSON *out = cJSON_CreateObject();
	const char *at = GRAPH_IS_FORK(b->at) ? GRAPH_FORK_EDGE(run->setup.graph, b->at)->from
					      : graph_node_name(run->setup.graph, b->at);
	json_add_str(out, "branch", b->name);
	json_add_str(out, "how", entry_names[b->how]);
	json_add_str(out, "at", at);
	json_add_int(out, "spent", run->spent);
	message_keep_usage(out, &run->usage);
	if (json_get(b->began, "charged"))
		json_add_int(out, "charged", (int64_t)b->charged);
	if (run->log->child)
		cJSON_AddItemToObject(out, "updates", cJSON_Duplicate(run->log, true));
	if (b->input)
		cJSON_AddItemToObject(out, "input", cJSON_Duplicate(b->input, true));
	cJSON_AddItemToObject(out, "ids", cJSON_Duplicate(b->ids, true));
	cJSON *said = cJSON_AddArrayToObject(out, "said");
	cJSON_ArrayForEach(message, run->messages.array) {
		if (i++ >= b->own)
			cJSON_AddItemToArray(said, cJSON_Duplicate(message, true));
	}
	if (run->answers)
		cJSON_AddItemToObject(out, "answers", cJSON_Duplicate(run->answers, true));
	if (run->answers && run->question)
		cJSON_AddItemToObject(out, "question", cJSON_Duplicate(run->question, true));
	if (run->asked)
		json_add_str(out, "asked", run->asked);
	if (run->error)
		json_add_str(out, "error", run->error);
	if (b->interrupt)
		cJSON_AddItemToObject(out, "interrupt", cJSON_Duplicate(b->interrupt, true));
	if (b->kind)
		json_add_str(out, "kind", b->kind);
	if (b->waiting)
		cJSON_AddItemToObject(out, "waiting", cJSON_Duplicate(b->waiting, true));
	if (b->called->child)
		cJSON_AddItemToObject(out, "called", cJSON_Duplicate(b->called, true));
	if (b->within)
		cJSON_AddItemToObject(out, "region", cJSON_Duplicate(b->within, true));
	return out;
}

cJSON *region_frame(const struct region *region, cJSON **branches)
{
	cJSON *out = cJSON_CreateObject();
	json_add_str(out, "from", region->edge->from);
	if (region->edge->map)
		json_add_str(out, "map", region->edge->names[0]);
	if (region->edge->into)
		cJSON_AddTrueToObject(out, "graph");
	*branches = cJSON_AddArrayToObject(out, "branches");
	return out;
}

cJSON *region_json(const struct region *region)
{
	cJSON *branches, *out = region_frame(region, &branches);
	for (size_t i = 0; i < region->count; i++)
		cJSON_AddItemToArray(branches, branch_json(&region->items[i]));
	return out;
}

/* ---- read */

static enum branch_entry branch_entry_of(const char *name)
{
	for (size_t i = 0; i < sizeof(entry_names) / sizeof(*entry_names); i++) {
		if (strcmp(entry_names[i], name) == 0)
			return (enum branch_entry)i;
	}
	return BRANCH_BEFORE;
}

void branch_restore(struct branch *b)
{
	const cJSON *kept = b->began;
	const cJSON *update, *id;
	const char *error = json_str(kept, "error");
	if (!kept)
		return;
	if (json_str(kept, "how")) { /* else it had not begun */
		b->how = branch_entry_of(json_str(kept, "how"));
		b->name_at = json_str(kept, "at");
		b->at = graph_node_index(b->run.setup.graph, b->name_at ? b->name_at : "");
	}
	b->interrupt = json_get(kept, "interrupt");
	b->kind = json_str(kept, "kind");
	b->waiting = json_get(kept, "waiting");
	b->within = json_get(kept, "region");
	b->run.answers = json_get(kept, "answers");
	b->run.question = json_get(kept, "question");
	b->run.asked = arena_strdup(b->run.setup.arena, json_str(kept, "asked"));
	if (error)
		run_set_error(&b->run, error);
	b->run.spent = json_int(kept, "spent", b->run.spent);
	message_usage(kept, &b->run.usage);
	b->charged = (size_t)json_int(kept, "charged", 0);
	cJSON_ArrayForEach(id, json_get(kept, "ids"))
		cJSON_AddItemToArray(b->ids, cJSON_Duplicate(id, true));
	cJSON_ArrayForEach(id, json_get(kept, "called"))
		cJSON_AddItemToArray(b->called, cJSON_Duplicate(id, true));
	cJSON_ArrayForEach(update, json_get(kept, "updates")) {
		const struct field *field =
		    graph_field_get(b->run.setup.graph, update->child->string);
		if (!field)
			continue;
		cJSON_AddItemToArray(b->run.log, cJSON_Duplicate(update, true));
		/* A field that is a reference becomes a copy, which may be changed. */
		const cJSON *item = json_get(b->run.fields, field->name);
		if (item && (item->type & cJSON_IsReference))
			json_set(b->run.fields, field->name, cJSON_Duplicate(item, true));
		if (state_reduce(b->run.fields, field, cJSON_Duplicate(update->child, true)))
			b->run.fields_changed = true;
	}
	b->run.log_told = cJSON_GetArraySize(b->run.log);
}

/* Appends the messages that were kept.  A run that is taken up again tells them once more, since
 * some may not have been told before its process died. */
void branch_say_kept(struct branch *b)
{
	const struct run_background *background = b->run.setup.background;
	struct run_observer *observer = b->run.setup.observer;
	const cJSON *kept;
	cJSON_ArrayForEach(kept, json_get(b->began, "said")) {
		cJSON *message = cJSON_Duplicate(kept, true);
		const struct run_event event = {.kind = RUN_MESSAGE,
		    .node = b->name,
		    .step = b->run.step,
		    .message = message,
		    .again = true};
		run_append(&b->run, message);
		if (background && background->entered)
			observer->event(observer, &b->run, &event);
	}
}

void region_renew(cJSON *kept)
{
	cJSON *branch;
	cJSON_ArrayForEach(branch, json_get(kept, "branches")) {
		cJSON_DeleteItemFromObjectCaseSensitive(branch, "spent");
		cJSON_DeleteItemFromObjectCaseSensitive(branch, "usages");
		json_set(
		    branch, "charged", json_new_int(cJSON_GetArraySize(json_get(branch, "said"))));
		region_renew(json_get(branch, "region"));
	}
	cJSON_DeleteItemFromObjectCaseSensitive(kept, "arrivals");
}

static bool region_text_sound(const cJSON *item)
{
	return cJSON_IsString(item);
}

static bool region_update_sound(const cJSON *item)
{
	return cJSON_IsObject(item) && item->child;
}

static bool region_message_sound(const cJSON *item)
{
	return json_str(item, "message_id") && json_str(item, "role");
}

/* Whether the member is an array of such items, if it is there. */
static bool region_items_sound(
    const cJSON *branch, const char *key, bool (*sound)(const cJSON *item))
{
	const cJSON *array = json_get(branch, key), *item;
	cJSON_ArrayForEach(item, array) {
		if (!sound(item))
			return false;
	}
	return !array || cJSON_IsArray(array);
}

/* Whether all that is read of a kept region has its form: in an imported thread it may be
 * anything. */
static bool region_sound(const cJSON *kept)
{
	const cJSON *branch, *answers;
	cJSON_ArrayForEach(branch, json_get(kept, "branches")) {
		const cJSON *interrupt = json_get(branch, "interrupt");
		answers = json_get(branch, "answers");
		if (!cJSON_IsObject(branch) ||
		    !region_items_sound(branch, "ids", region_text_sound) ||
		    !region_items_sound(branch, "called", region_text_sound) ||
		    !region_items_sound(branch, "updates", region_update_sound) ||
		    !region_items_sound(branch, "said", region_message_sound) ||
		    (answers && !cJSON_IsArray(answers)) ||
		    (interrupt && (!json_str(interrupt, "node") || !json_str(branch, "kind"))))
			return false;
		const cJSON *within = json_get(branch, "region");
		if (within && !region_sound(within))
			return false;
	}
	return cJSON_IsObject(kept);
}

/* Whether the edge has the branches that were kept. */
static bool region_fits(const struct edge *edge, const cJSON *kept)
{
	const cJSON *branches = json_get(kept, "branches");
	const cJSON *branch = branches ? branches->child : NULL;
	const char *map = json_str(kept, "map");
	if (json_get(kept, "graph"))
		return false;
	if (edge->map || map)
		return edge->map && map && strcmp(map, edge->names[0]) == 0;
	if (cJSON_GetArraySize(branches) != (int)edge->target_count)
		return false;
	for (size_t i = 0; i < edge->target_count; i++, branch = branch->next) {
		if (!json_str_is(branch, "branch", edge->names[i]))
			return false;
	}
	return true;
}

int region_place(const ag_run *run, const cJSON *kept, struct error *err)
{
	const ag_graph *graph = run->setup.graph;
	bool sound = region_sound(kept);
	const char *from = sound ? json_str(kept, "from") : NULL;
	for (size_t i = 0; from && i < graph->edge_count; i++) {
		const struct edge *edge = &graph->edges[i];
		if (!edge->join || strcmp(edge->from, from) != 0 || !region_fits(edge, kept))
			continue;
		int had = cJSON_GetArraySize(json_get(kept, "branches"));
		int has = edge->map ? cJSON_GetArraySize(json_get(run->fields, edge->map)) : had;
		if (had == has)
			return GRAPH_FORK(i);
		/* somebody may have changed the state of a thread that waits */
		error_set(err, ERR_GRAPH,
		    GRAPH_FAILED "'%s' had %d elements when their branches began and has %d now",
		    edge->map, had, has);
		return GRAPH_UNSET;
	}
	for (size_t i = 0; from && i < graph->node_count; i++) {
		const struct node *node = &graph->nodes[i];
		if (node->sub && json_get(kept, "graph") && strcmp(node->name, from) == 0)
			return (int)i;
	}
	error_set(err, ERR_GRAPH, GRAPH_FAILED "the graph has no such branches from '%s' any more",
	    from ? from : "");
	return GRAPH_UNSET;
}

/* ---- pauses */

/* Adds references to the branches that wait for an answer, in order of declaration. */
static void region_open_branches(const cJSON *kept, cJSON *out)
{
	const cJSON *branch;
	cJSON_ArrayForEach(branch, json_get(kept, "branches")) {
		if (json_get(branch, "interrupt"))
			cJSON_AddItemReferenceToArray(out, (cJSON *)branch);
		region_open_branches(json_get(branch, "region"), out);
	}
}

cJSON *region_interrupts(const cJSON *kept)
{
	cJSON *open = cJSON_CreateArray(), *out = cJSON_CreateArray();
	const cJSON *branch;
	region_open_branches(kept, open);
	cJSON_ArrayForEach(branch, open)
		cJSON_AddItemReferenceToArray(out, json_get(branch, "interrupt"));
	cJSON_Delete(open);
	return out;
}

const char *region_pause_kind(const cJSON *kept)
{
	cJSON *open = cJSON_CreateArray();
	region_open_branches(kept, open);
	const char *kind = open->child ? json_str(open->child, "kind") : NULL;
	cJSON_Delete(open);
	return kind;
}

static void region_collect_waiting(const cJSON *kept, cJSON *out)
{
	const cJSON *branch, *call;
	cJSON_ArrayForEach(branch, json_get(kept, "branches")) {
		const cJSON *waiting = json_get(branch, "waiting");
		if (waiting && !json_get(out, "message_id"))
			json_add_str(out, "message_id", json_str(waiting, "message_id"));
		cJSON_ArrayForEach(call, json_get(waiting, "calls"))
			cJSON_AddItemToArray(json_get(out, "calls"), cJSON_Duplicate(call, true));
		region_collect_waiting(json_get(branch, "region"), out);
	}
}

cJSON *region_waiting(const cJSON *kept)
{
	cJSON *out = cJSON_CreateObject();
	cJSON_AddArrayToObject(out, "calls");
	region_collect_waiting(kept, out);
	return out;
}

/* branch must be the one in the tree, and no reference to it. */
static void branch_answer(cJSON *branch, const cJSON *answer)
{
	bool asks = json_str_is(branch, "kind", "interrupt");
	cJSON *answers = json_get(branch, "answers");
	cJSON *asked =
	    cJSON_DetachItemFromObjectCaseSensitive(json_get(branch, "interrupt"), "value");
	if (asks && answer) {
		if (!answers)
			answers = cJSON_AddArrayToObject(branch, "answers");
		cJSON_AddItemToArray(answers, cJSON_Duplicate(answer, true));
		json_set(branch, "question", asked ? asked : cJSON_CreateNull());
		asked = NULL;
	}
	cJSON_Delete(asked);
	cJSON_DeleteItemFromObjectCaseSensitive(branch, "interrupt");
	cJSON_DeleteItemFromObjectCaseSensitive(branch, "kind");
}

/* Answers the branches whose interrupts' ids are keys of by_id, or the first that waits where by_id
 * is NULL; true when that one was found. */
static bool region_answer_each(cJSON *kept, const cJSON *by_id, const cJSON *answer)
{
	cJSON *branch;
	cJSON_ArrayForEach(branch, json_get(kept, "branches")) {
		const char *id = json_str(json_get(branch, "interrupt"), "id");
		const cJSON *own = id && by_id ? json_get(by_id, id) : NULL;
		if (own)
			branch_answer(branch, own);
		if (id && !by_id) {
			branch_answer(branch, answer);
			return true;
		}
		if (region_answer_each(json_get(branch, "region"), by_id, answer))
			return true;
	}
	return false;
}

void region_answer(cJSON *kept, const cJSON *answer)
{
	cJSON *open = region_interrupts(kept);
	bool by_id = interrupts_named(open, answer);
	cJSON_Delete(open);
	region_answer_each(kept, by_id ? answer : NULL, answer);
}

/* ---- left behind */

/* Whether the branch sets the field: where that takes a single value, the first branch that has set
 * it does.  writers has that one by the field's name. */
static bool region_abandon_may_set(cJSON *writers, const struct field *field, const cJSON *branch)
{
	const cJSON *writer = json_get(writers, field->name);
	if (!writer)
		json_refer(writers, field->name, branch);
	return field->reducer != AG_REPLACE || !writer || writer->child == branch->child;
}

static void region_abandon_updates(ag_run *run, const cJSON *kept, cJSON *writers)
{
	const cJSON *branch, *update;
	if (json_get(kept, "graph"))
		return;
	cJSON_ArrayForEach(branch, json_get(kept, "branches")) {
		cJSON_ArrayForEach(update, json_get(branch, "updates")) {
			const char *name = update->child->string;
			const struct field *field = graph_field_get(run->setup.graph, name);
			if (field && !json_opt(run->initial, name) &&
			    region_abandon_may_set(writers, field, branch) &&
			    state_reduce(run->fields, field, cJSON_Duplicate(update->child, true)))
				run->fields_changed = true;
		}
		region_abandon_updates(run, json_get(branch, "region"), writers);
	}
}

void region_abandon(ag_run *run, const cJSON *kept)
{
	cJSON *writers = cJSON_CreateObject();
	if (kept && region_sound(kept))
		region_abandon_updates(run, kept, writers);
	cJSON_Delete(writers);
}
