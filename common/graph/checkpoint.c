/* SPDX-License-Identifier: ISC */
/* What a run writes, and when. */
#include "base/clock.h"
#include "base/json.h"
#include "graph/run_internal.h"

/* The part of the run's messages that no write was handed yet, with the thread as it is now. */
static struct thread_write next_write(ag_run *run, struct thread *thread)
{
	struct run_messages *m = &run->messages;
	struct thread_write w = {
	    .thread = thread,
	    .messages = m->stored ? m->stored + m->written : NULL,
	    .message_count = m->count - m->written,
	    .leave = run->leaves,
	};
	m->written = m->count;
	run->leaves = NULL;
	return w;
}

static void freshen(ag_run *run)
{
	run->thread.updated_at = clock_now();
	if (!run->thread.created_at)
		run->thread.created_at = run->thread.updated_at;
	if (!run->setup.graph->field_count)
		return;
	char *text = json_print(run->fields);
	arena_defer(run->setup.arena, cJSON_free, text);
	run->thread.fields_json = text;
}

/* Tells the observer; the storage calls it from a thread of its own. */
static void tell_settled(void *arg, bool ok)
{
	struct run_observer *observer = ((ag_run *)arg)->setup.observer;
	if (observer->settled)
		observer->settled(observer, ok);
}

bool checkpoint_begin(ag_run *run, struct error *err)
{
	freshen(run);
	run->start_thread = run->thread;
	run->start_write = next_write(run, &run->start_thread);
	if (!thread_write_fits(run->setup.storage, &run->start_write, err))
		return false;
	run->start_write.settled = tell_settled;
	run->start_write.arg = run;
	run->setup.storage->ops->thread_defer(run->setup.storage, &run->start_write, &run->pending);
	return true;
}

/* A thread that the first write created now has its row. */
static bool settled(ag_run *run, bool ok)
{
	if (!run->thread.row)
		run->thread.row = run->start_thread.row;
	tell_settled(run, ok);
	return ok;
}

bool checkpoint_settle(ag_run *run, struct error *err)
{
	const struct storage_ops *ops = run->setup.storage->ops;
	return !run->pending ||
	    settled(run, ops->thread_flush(run->setup.storage, &run->pending, err));
}

bool checkpoint_save(ag_run *run, struct error *err)
{
	const struct storage_ops *ops = run->setup.storage->ops;
	const char *fields = run->thread.fields_json;
	freshen(run);
	struct thread_write w = next_write(run, &run->thread);
	bool ok = settled(run, ops->thread_write_after(run->setup.storage, &run->pending, &w, err));
	if (!ok)
		run->thread.fields_json = fields;
	return ok;
}

bool checkpoint_end(ag_run *run, struct error *err)
{
	struct thread_write w = {.thread = &run->thread};
	run->thread.updated_at = clock_now();
	return !run->thread.row ||
	    run->setup.storage->ops->thread_write(run->setup.storage, &w, err);
}
