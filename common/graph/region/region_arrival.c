/* SPDX-License-Identifier: ISC */
/*
 * How branches of a run in the background are kept while others run: the region as a whole beside
 * the thread's pause, and behind it a row for each that has arrived since, so that each arrival
 * costs what is new.  When the rows have outgrown it, it is written anew.
 */
#include "graph/region/region.h"

#include "base/json/json.h"
#include "base/os/clock.h"
#include "graph/nodes/tools/asking.h"
#include "graph/region/region_branch.h"

#include <stdlib.h>
#include <string.h>

/* How many bytes the rows may be longer than the region. */
#define BEHIND_LEAST ((size_t)64 << 10)

/* ---- written */

static char *branch_text(const struct branch *b)
{
	cJSON *kept = branch_json(b);
	char *text = json_print(kept);
	cJSON_Delete(kept);
	return text;
}

/* The branches of a region as they were when they were last at rest: a new tree. */
static cJSON *region_stable(const struct region *region);

static cJSON *branch_stable(const struct branch *b)
{
	if (b->inside) {
		cJSON *kept = json_parse_own(b->stable);
		cJSON_AddItemToObject(kept, "region", region_stable(b->inner));
		return kept;
	}
	if (b->stable)
		return json_raw_reference(b->stable);
	if (b->began)
		return cJSON_CreateObjectReference(b->began->child);
	cJSON *none = cJSON_CreateObject();
	json_add_str(none, "branch", b->name);
	return none;
}

static cJSON *region_stable(const struct region *region)
{
	cJSON *branches, *out = region_frame(region, &branches);
	for (size_t i = 0; i < region->count; i++)
		cJSON_AddItemToArray(branches, branch_stable(&region->items[i]));
	return out;
}

/* What the branch has come to in the region that it leaves stays kept until it is at rest again. */
void branch_set_inner(struct branch *b, struct region *region)
{
	if (b->inside) {
		cJSON *kept = branch_stable(b);
		char *text = json_print(kept);
		free(b->stable);
		b->stable = text;
		cJSON_Delete(kept);
	}
	b->inner = region;
	b->inside = false;
}

/* Adds the numbers of the branches that lead to this one, from the outermost on. */
static void arrival_add_place(const struct branch *b, cJSON *at)
{
	if (b->region->parent->branch)
		arrival_add_place(b->region->parent->branch, at);
	cJSON_AddItemToArray(at, json_new_int(b - b->region->items));
}

/* Keeps of each branch around this one that it is in its region, where that was not kept yet.  The
 * outermost of these, or this branch: what is to be written. */
static const struct branch *arrival_top(const struct branch *b)
{
	const struct branch *top = b;
	for (ag_run *run = b->region->parent; run->branch; run = run->branch->region->parent) {
		struct branch *outer = run->branch;
		if (outer->inside)
			continue;
		free(outer->stable);
		outer->stable = branch_text(outer);
		outer->inside = true;
		top = outer;
	}
	return top;
}

static bool region_keep(struct run_side *side, enum checkpoint_source source, struct error *err)
{
	ag_run *root = side->root;
	cJSON *kept = region_stable(side->region);
	side->kept = clock_now();
	if (root->setup.background)
		json_add_int(kept, "arrivals", side->kept);
	root->region = kept;
	root->step = side->step;
	root->thread.step = root->step;
	bool ok = checkpoint_region(root, source, err);
	root->region = NULL;
	side->kept_bytes = strlen(root->region_text);
	side->behind = 0;
	if (!ok)
		side->kept = 0;
	cJSON_Delete(kept);
	return ok;
}

/* Writes an arrival.  Branches may do that side by side, without the lock, but none before the one
 * that it is in. */
static void branch_arrive(struct branch *b, const struct branch *top)
{
	struct run_side *side = b->run.side;
	const struct run_setup *s = &side->root->setup;
	struct error err = {0};
	cJSON *row = cJSON_CreateObject();
	arrival_add_place(top, cJSON_AddArrayToObject(row, "at"));
	cJSON_AddItemToObject(row, "branch", branch_stable(top));
	char *text = json_print(row);
	size_t len = strlen(text);
	cJSON_Delete(row);
	if (!side->kept || side->behind + len > BEHIND_LEAST + side->kept_bytes) {
		region_keep(side, CHECKPOINT_NONE, &err);
	} else {
		const struct arrival arrival = {.job = s->background->record->job,
		    .region = side->kept,
		    .first = side->behind == 0,
		    .step = side->step,
		    .branch_json = text};
		side->behind += len;
		if (top == b)
			pthread_mutex_unlock(&side->lock);
		s->storage->runs->arrive(s->storage, &s->ctx, s->lease, &arrival, &err);
		if (top == b)
			pthread_mutex_lock(&side->lock);
	}
	error_release(&err); /* it fails again at the region's end, which says so */
	free(text);
}

void branch_keep(struct branch *b)
{
	struct run_side *side = b->run.side;
	char *text = side->root->setup.background ? branch_text(b) : NULL;
	pthread_mutex_lock(&side->lock);
	if (b->run.frame.node)
		b->region->last = b->run.frame.node;
	if (text) {
		free(b->stable);
		b->stable = text;
		branch_arrive(b, arrival_top(b));
	}
	pthread_mutex_unlock(&side->lock);
}

bool branch_has_checkpoints(const struct branch *b)
{
	const struct run_setup *s = &b->run.setup;
	bool has = s->lease && s->history == HISTORY_STEPS && !(b->holder && !b->holder->said);
	for (; b && has; b = b->region->parent->branch)
		has = b->region->edge->into;
	return has;
}

bool branch_checkpoint(struct branch *b, int place)
{
	struct run_side *side = b->run.side;
	struct thread *thread = &side->root->thread;
	const struct ag_graph *graph = b->run.setup.graph;
	const char *asked = b->run.asked;
	branch_hand_on(b);
	b->run.asked = asking_open(&b->run);
	pthread_mutex_lock(&side->lock);
	b->region->last = b->run.frame.node;
	free(b->stable);
	b->stable = branch_text(b);
	for (ag_run *run = b->region->parent; run->branch; run = run->branch->region->parent)
		run->branch->inside = false; /* its messages are the run's by now */
	arrival_top(b);
	if (b->run.frame.node) /* a subgraph may have had nothing to do */
		thread->node = b->run.frame.node->name;
	thread->next = graph_first_name(graph, place);
	bool ok = region_keep(side, CHECKPOINT_STEP, &b->error);
	pthread_mutex_unlock(&side->lock);
	b->run.asked = asked;
	return ok;
}

/* ---- read */

struct recall {
	ag_run *run;
	cJSON *kept;
};

static bool arrival_recall(void *arg, const struct arrival *arrival)
{
	struct recall *recall = arg;
	ag_run *run = recall->run;
	cJSON *row = json_parse_own(arrival->branch_json);
	cJSON *branch = NULL, *region = recall->kept, *new;
	const cJSON *index;
	cJSON_ArrayForEach(index, json_get(row, "at")) {
		branch = cJSON_GetArrayItem(json_get(region, "branches"), index->valueint);
		region = json_get(branch, "region");
	}
	new = cJSON_DetachItemFromObjectCaseSensitive(row, "branch");
	if (branch && new)
		json_assign(branch, new);
	else
		cJSON_Delete(new);
	if (arrival->step > run->step)
		run->thread.step = run->step = (int)arrival->step;
	cJSON_Delete(row);
	return true;
}

void region_recall(ag_run *run, cJSON *kept, struct error *err)
{
	const struct run_setup *s = &run->setup;
	struct recall recall = {run, kept};
	int64_t region;
	if (!json_integer(json_get(kept, "arrivals"), &region))
		return;
	cJSON_DeleteItemFromObjectCaseSensitive(kept, "arrivals");
	s->storage->runs->arrived(
	    s->storage, &s->ctx, s->background->record->job, region, arrival_recall, &recall, err);
}
