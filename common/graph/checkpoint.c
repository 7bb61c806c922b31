/* SPDX-License-Identifier: ISC */
/* What a run writes, and when. */
#include "base/json/json.h"
#include "base/os/clock.h"
#include "graph/message/message.h"
#include "graph/nodes/tools/asking.h"
#include "graph/run_internal.h"
#include "storage/defer.h"
#include "storage/history.h"

#include <stdlib.h>

/* A write of the thread as it is now, with those messages of the run that no write was handed
 * yet. */
static struct thread_write checkpoint_next_write(ag_run *run, struct thread *thread)
{
	struct run_messages *m = &run->messages;
	struct thread_write w = {
	    .thread = thread,
	    .messages = m->stored ? m->stored + m->written : NULL,
	    .message_count = m->count - m->written,
	    .leave = run->leaves,
	    .rewind = run->rewind,
	};
	m->written = m->count;
	run->leaves = NULL;
	run->rewind = NULL;
	return w;
}

static void checkpoint_freshen(ag_run *run)
{
	run->thread.updated_at = clock_now();
	if (!run->thread.created_at)
		run->thread.created_at = run->thread.updated_at;
	if (!run->fields_changed)
		return;
	run->thread.fields_json = arena_print(run->setup.arena, run->fields);
	run->fields_changed = false;
}

/* ---- the record ---- */

static void checkpoint_record_begin(ag_run *run)
{
	struct run_record *r = &run->record;
	*r = (struct run_record){
	    .run_id = run->thread.run_id,
	    .status = RUN_RUNNING,
	    .created_at = run->thread.updated_at,
	    .node = run->thread.node,
	    .step = run->thread.step,
	    .brought = (int64_t)run->messages.brought,
	    .replaces = run->setup.replaces,
	    .keeps = run->setup.keeps,
	    .push = run->setup.push,
	    .keep = run->setup.storage->runs_keep,
	    .buries = run->before->status == RUN_RUNNING,
	};
	if (!run->setup.background)
		return;
	r->job = run->setup.background->record->job;
	r->number = run->setup.background->record->number;
	r->created_at = run->setup.background->record->created_at;
	r->started_at = run->thread.updated_at;
	r->answers_json = entered_text(run);
	r->claims = run->setup.background->claims;
}

const char *run_failure_json(struct arena *a, const struct error *failure)
{
	cJSON *error = cJSON_CreateObject();
	cJSON_AddStringToObject(error, "code", error_code_of(failure));
	cJSON_AddStringToObject(error, "message", failure->detail);
	json_add_int(error, "status", error_status_of(failure));
	json_refer(error, "details", failure->details);
	char *text = arena_print(a, error);
	cJSON_Delete(error);
	return text;
}

static void checkpoint_record_end(ag_run *run, const struct error *failure)
{
	struct run_record *r = &run->record;
	const cJSON *message;
	size_t i = 0;
	if (!r->created_at)
		checkpoint_record_begin(run);
	r->status = run->thread.status;
	r->finished_at = run->thread.updated_at;
	r->node = run->thread.node;
	r->step = run->thread.step;
	r->error_json = failure ? run_failure_json(run->setup.arena, failure) : NULL;
	r->usage = run->usage;
	cJSON_ArrayForEach(message, run->messages.array) {
		if (i++ >= run->messages.brought)
			message_usage(message, &r->usage);
	}
}

struct run_key run_record_key(const ag_run *run)
{
	if (run->start_write.run) /* the start has a write of its own */
		return (struct run_key){run->start_thread.row, run->start_record.number};
	return (struct run_key){run->thread.row, run->record.number};
}

/* ---- writes ---- */

/* Tells the observer; the storage calls it from a thread of its own. */
static void checkpoint_tell_settled(void *arg, bool ok)
{
	ag_run *run = arg;
	struct run_observer *observer = run->setup.observer;
	if (ok)
		run->begun = true;
	if (observer->settled)
		observer->settled(observer, ok);
}

static void checkpoint_free_region(void *run)
{
	free(((ag_run *)run)->region_text);
}

/* Notes in pause_json what a run needs that goes on at this checkpoint (run_recall): what a node
 * failed of, what was spent, the region that the run is in, and the id of the message whose tool
 * calls are still to run (asked, or NULL). */
static void checkpoint_note_open(ag_run *run, const char *asked)
{
	bool counts = run->spent != run->step || run->usage.total;
	if (!asked && !run->error && !run->region && !counts)
		return;
	cJSON *kept = cJSON_CreateObject();
	if (asked)
		cJSON_AddStringToObject(kept, "asked", asked);
	if (run->error)
		cJSON_AddStringToObject(kept, "error", run->error);
	json_refer(kept, "region", run->region);
	if (run->spent != run->step)
		json_add_int(kept, "spent", run->spent);
	message_keep_usage(kept, &run->usage);
	char *text = json_print(kept);
	cJSON_Delete(kept);
	if (!run->region || !run->side) {
		/* kept to the end, as the first write may still be waiting when a branch arrives */
		arena_defer(run->setup.arena, cJSON_free, text);
	} else { /* made anew whenever a branch arrives */
		if (!run->region_text)
			arena_defer(run->setup.arena, checkpoint_free_region, run);
		free(run->region_text);
		run->region_text = text;
	}
	run->thread.pause_json = text;
}

bool checkpoint_begin(ag_run *run, struct error *err)
{
	if (run->begun || !run->setup.lease) {
		checkpoint_tell_settled(run, true);
		return true;
	}
	checkpoint_freshen(run);
	checkpoint_note_open(run, NULL);
	checkpoint_record_begin(run);
	run->start_thread = run->thread;
	run->start_record = run->record;
	run->start_write = checkpoint_next_write(run, &run->start_thread);
	run->start_write.run = &run->start_record;
	if (!thread_write_fits(run->setup.storage, &run->start_write, err))
		return false;
	run->start_write.settled = checkpoint_tell_settled;
	run->start_write.arg = run;
	thread_defer(run->setup.storage, run->setup.lease, &run->start_write, &run->pending);
	return true;
}

/* After a write: a thread and a record that the first one created have their keys now. */
static bool checkpoint_wrote(ag_run *run, bool ok)
{
	if (!run->thread.row)
		run->thread.row = run->start_thread.row;
	if (!run->record.number)
		run->record.number = run->start_record.number;
	checkpoint_tell_settled(run, ok);
	return ok;
}

/* Writes w, behind the first write where that still waits. */
static bool checkpoint_write(ag_run *run, struct thread_write *w, struct error *err)
{
	struct run_setup *s = &run->setup;
	return checkpoint_wrote(
	    run, thread_write_after(s->storage, &s->ctx, s->lease, &run->pending, w, err));
}

bool checkpoint_settle(ag_run *run, struct error *err)
{
	return !run->pending ||
	    checkpoint_wrote(
		run, thread_flush(run->setup.storage, &run->setup.ctx, &run->pending, err));
}

/* The end of a run whose last node ended well, with the checkpoint of that node before its own. */
static bool checkpoint_write_last(ag_run *run, struct thread_write *end, struct error *err)
{
	struct storage *storage = run->setup.storage;
	if (!checkpoint_settle(run, err))
		return false;
	struct thread between = run->thread;
	struct thread_write step = *end;
	struct thread_change change = {
	    .lease = run->setup.lease, .writes = {&step, end}, .err = err};
	between.node = run->frame.node->name;
	between.status = RUN_RUNNING;
	between.stop = STOP_NONE;
	between.next = between.pause_json = between.waiting_json = NULL;
	step.thread = &between;
	step.run = NULL;
	step.checkpoint = CHECKPOINT_STEP;
	end->messages = NULL;
	end->message_count = 0;
	end->leave = NULL;
	end->rewind = NULL;
	return checkpoint_wrote(run, storage->threads->write(storage, &run->setup.ctx, &change, 1));
}

static enum checkpoint_source checkpoint_of_end(const ag_run *run)
{
	return run->setup.history == HISTORY_OFF ? CHECKPOINT_NONE : CHECKPOINT_RUN;
}

bool checkpoint_save(ag_run *run, const struct error *failure, struct error *err)
{
	if (!run->setup.lease)
		return true;
	const char *fields = run->thread.fields_json;
	checkpoint_freshen(run);
	bool ends = run->thread.status != RUN_RUNNING, steps = run->setup.history == HISTORY_STEPS;
	if (!ends) /* runs may begin at a step, so that it keeps the open calls, too */
		checkpoint_note_open(run, steps ? asking_open(run) : NULL);
	struct thread_write w = checkpoint_next_write(run, &run->thread);
	if (ends) {
		checkpoint_record_end(run, failure);
		w.run = &run->record;
		w.checkpoint = checkpoint_of_end(run);
		const struct run_background *background = run->setup.background;
		if (background && background->stores) /* no node runs any more */
			background->stores(background->arg);
	} else if (steps) {
		w.checkpoint = CHECKPOINT_STEP;
	}
	bool ok = ends && steps && run->frame.completed ? checkpoint_write_last(run, &w, err)
							: checkpoint_write(run, &w, err);
	if (ok)
		run->placed = true;
	else
		run->thread.fields_json = fields;
	return ok;
}

bool checkpoint_region(ag_run *run, enum checkpoint_source source, struct error *err)
{
	checkpoint_freshen(run);
	checkpoint_note_open(run, NULL);
	struct thread_write w = checkpoint_next_write(run, &run->thread);
	w.checkpoint = source;
	return checkpoint_write(run, &w, err);
}

bool checkpoint_roll_back(ag_run *run, const struct error *failure, struct error *err)
{
	struct thread was = *run->before;
	struct thread_write w = {
	    .thread = &was, .back_to = &run->before->view, .run = &run->record};
	run->thread.status = failure ? RUN_ERROR : RUN_STOPPED;
	run->thread.updated_at = clock_now();
	checkpoint_record_end(run, failure);
	if (!run->start_write.thread && !run->begun)
		run->record.brought = 0; /* the messages were never stored */
	was.row = run->thread.row;
	was.updated_at = run->thread.updated_at;
	if (!was.created_at)
		was.created_at = run->record.created_at;
	if (!checkpoint_write(run, &w, err))
		return false;
	was.status = run->thread.status;
	was.stop = STOP_DONE;
	run->thread = was;
	run->context = NULL;
	run->rolled_back = true;
	return true;
}

bool checkpoint_end(ag_run *run, const struct error *failure, struct error *err)
{
	struct thread_write w = {
	    .thread = &run->thread, .run = &run->record, .checkpoint = checkpoint_of_end(run)};
	run->thread.updated_at = clock_now();
	checkpoint_record_end(run, failure);
	if (!run->begun) { /* nor were they */
		run->record.brought = 0;
		w.rewind = run->setup.rewind;
	}
	return !run->thread.row ||
	    thread_write(run->setup.storage, &run->setup.ctx, run->setup.lease, &w, err);
}
