/* SPDX-License-Identifier: ISC */
/* A table of runs, the blocks that their readers share, and looks at their records. */
#include "runner/follow_runs.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "service/run/records.h"
#include "storage/queue.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_BYTES (1 << 20) /* of each run's blocks, whether or not a client still needs them */
#define KEPT_BLOCKS 64
#define LOOK_MS 1000   /* how often to look whether a run has died */
#define QUEUED_MS 5000 /* how often to look at a run that nobody executes yet */
#define TRUST_MS 15000 /* so long whoever holds the thread's lease is taken for this run */
#define DOUBT_MS 50    /* the least time between two looks */
#define GRACE_MS 5000  /* a run's last chunk may come so long after its record says it is over */

/* ---- the table ---- */

static struct followed_run **followed_slot(struct followed_runs *runs, int64_t row, int64_t number)
{
	uint64_t mixed = ((uint64_t)row * 31 + (uint64_t)number) * 0x9e3779b97f4a7c15u;
	return &runs->slots[mixed >> 32 & (FOLLOWED_SLOTS - 1)];
}

static uint32_t followed_run_count(const struct followed_runs *runs, const struct followed_run *run)
{
	return chunks_count(runs->service->shared, run->thread_row, run->number);
}

struct followed_run *followed_run_get(struct followed_runs *runs, int64_t thread_row,
    int64_t number, const char *thread_id, const char *run_id)
{
	struct followed_run **slot = followed_slot(runs, thread_row, number), *run;
	for (run = *slot; run; run = run->next)
		if (run->thread_row == thread_row && run->number == number)
			return run;
	run = xcalloc(1, sizeof(*run));
	run->thread_row = thread_row;
	run->number = number;
	run->thread_id = xstrdup(thread_id);
	run->run_id = xstrdup(run_id);
	run->look_at = INT64_MAX;
	run->seen = followed_run_count(runs, run);
	run->next = *slot;
	*slot = run;
	run->list_next = runs->first;
	if (runs->first)
		runs->first->list_previous = run;
	runs->first = run;
	return run;
}

void followed_run_leave(struct followed_runs *runs, struct followed_run *run)
{
	struct follow_block *block;
	if (run->clients)
		return;
	struct followed_run **at = followed_slot(runs, run->thread_row, run->number);
	while (*at != run)
		at = &(*at)->next;
	*at = run->next;
	if (run->list_next)
		run->list_next->list_previous = run->list_previous;
	if (run->list_previous)
		run->list_previous->list_next = run->list_next;
	else
		runs->first = run->list_next;
	while ((block = run->blocks)) {
		run->blocks = block->next;
		follow_block_leave(block);
	}
	free(run->thread_id);
	free(run->run_id);
	free(run);
}

bool followed_run_moved(struct followed_runs *runs, struct followed_run *run)
{
	uint32_t count = followed_run_count(runs, run);
	bool moved = count != run->seen;
	run->seen = count;
	return moved;
}

/* ---- blocks ---- */

void follow_block_leave(struct follow_block *block)
{
	if (!block || --block->users)
		return;
	free(block->data);
	free(block);
}

static bool follow_form_same(const struct follow_form *a, const struct follow_form *b)
{
	return a->events == b->events && a->granularity == b->granularity && a->words == b->words &&
	    a->modes == b->modes;
}

/* The block that was read at that place already, after the latest chunk was written. */
static struct follow_block *followed_find(const struct followed_run *run, uint32_t count,
    const struct follow_form *form, const struct replay_place *place)
{
	for (struct follow_block *b = run->blocks; b; b = b->next)
		if (b->count == count && follow_form_same(&b->form, form) &&
		    replay_same(&b->from, place))
			return b;
	return NULL;
}

static void followed_keep(struct followed_run *run, struct follow_block *block)
{
	struct follow_block **at = &run->blocks;
	size_t bytes = 0;
	block->next = run->blocks;
	run->blocks = block;
	for (int i = 0; *at && i < KEPT_BLOCKS && (i == 0 || bytes < KEPT_BYTES); i++) {
		bytes += (*at)->len;
		at = &(*at)->next;
	}
	while (*at) {
		struct follow_block *old = *at;
		*at = old->next;
		follow_block_leave(old);
	}
}

/* Frames the text as a chunk of HTTP; behind the run's terminator comes HTTP's own last chunk. */
static void follow_block_frame(struct follow_block *block, const struct buf *text)
{
	struct buf out = {0};
	if (text->len) {
		buf_printf(&out, "%zx\r\n", text->len);
		block->text = out.len;
		block->text_len = text->len;
		buf_add(&out, text->data, text->len);
		buf_puts(&out, "\r\n");
	}
	if (block->ends)
		buf_puts(&out, "0\r\n\r\n");
	block->len = out.len;
	block->data = buf_detach(&out);
}

struct follow_block *followed_run_next(struct followed_runs *runs, struct followed_run *run,
    const struct follow_form *form, const struct replay_place *place, struct error *err)
{
	const struct replay replay = {.reader = {.storage = runs->service->storage,
					  .run = {run->thread_row, run->number},
					  .granularity = form->granularity,
					  .words = form->words,
					  .modes = form->modes,
					  .thread_id = run->thread_id,
					  .run_id = run->run_id},
	    .events = form->events};
	uint32_t count = followed_run_count(runs, run);
	struct follow_block *block = followed_find(run, count, form, place);
	/* streams in other words, which have many forms, share the last place */
	struct followed_dry *dry =
	    &run->dry[form->words ? FOLLOWED_DRY - 1 : form->granularity * 2 + form->events];
	struct replay_place to = *place;
	struct buf text = {0};
	bool ends;
	if (block) {
		block->users++;
		return block;
	}
	if (dry->known && dry->count == count && follow_form_same(&dry->form, form) &&
	    replay_same(&dry->place, place))
		return NULL;
	if (!replay_read(&replay, &to, &text, &ends, err)) {
		buf_release(&text);
		return NULL;
	}
	if (replay_same(&to, place)) {
		*dry = (struct followed_dry){
		    .known = true, .form = *form, .count = count, .place = *place};
		return NULL;
	}
	block = xcalloc(1, sizeof(*block));
	*block = (struct follow_block){
	    .users = 2, .count = count, .form = *form, .from = *place, .to = to, .ends = ends};
	follow_block_frame(block, &text);
	buf_release(&text);
	followed_keep(run, block);
	return block;
}

/* ---- the record ---- */

void followed_run_doubt(struct followed_runs *runs, struct followed_run *run, int64_t now)
{
	int64_t at =
	    run->looked_at && now - run->looked_at < DOUBT_MS ? run->looked_at + DOUBT_MS : now;
	if (at < run->look_at)
		run->look_at = at;
	if (at < runs->look_at)
		runs->look_at = at;
}

/* Whether somebody holds the thread's lease, which mostly is for this run. */
static bool followed_run_lives(struct followed_runs *runs, const struct followed_run *run)
{
	struct storage *storage = runs->service->storage;
	struct error err = {0};
	bool held = false;
	storage->threads->lease_held(storage, NULL, run->thread_id, &held, &err);
	error_release(&err);
	return held;
}

/* Whether a later run, begun after the end of this one, was the last to have the thread. */
static bool followed_run_has_successor(struct call *call, const struct run_record *record)
{
	struct run_record latest;
	struct thread thread;
	if (!call_thread(call, record->thread_id, &thread) || !thread.run_id ||
	    strcmp(thread.run_id, record->run_id) == 0 ||
	    !call_record(call, record->thread_id, thread.run_id, &latest))
		return false;
	int64_t begun_at = latest.job ? latest.started_at : latest.created_at;
	return latest.number > record->number && begun_at >= record->finished_at;
}

/* Notes that the run is over.  Whoever writes its last chunk holds the thread until that is on disk
 * (keeper.h), so the lease, seen after the record and before the chunks, says whether it can still
 * be expected. */
static void followed_run_over(struct followed_runs *runs, struct call *call,
    struct followed_run *run, const struct run_record *record)
{
	bool held = followed_run_lives(runs, run);
	if (record->kept_until != RUN_NOT_KEPT && !replay_find_tail(call, record, &run->tail))
		return;
	run->unkept = record->kept_until == RUN_NOT_KEPT;
	/* of one that was stopped in the queue no process has written chunks, or will */
	bool began = record->status != RUN_STOPPED || !record->job || record->started_at;
	bool lives = held && !run->tail.done && began && !followed_run_has_successor(call, record);
	if (error_is_set(&call->error))
		return;
	if (!lives)
		run->ended_at = 0;
	else if (run->state != FOLLOWED_OVER)
		run->ended_at = run->looked_at;
	run->state = FOLLOWED_OVER;
}

static void followed_run_look(struct followed_runs *runs, struct followed_run *run, int64_t now)
{
	struct call call;
	struct run_record record;
	run->look_at = INT64_MAX;
	run->looked_at = now;
	call_init(&call, runs->service, NULL);
	bool found = record_now(&call, run->thread_id, run->run_id, &record);
	if (error_is_set(&call.error)) {
		log_warning("run %s cannot be looked at: %s", run->run_id, call.error.cause);
	} else if (!found || record.thread_row != run->thread_row || record.number != run->number) {
		run->state = FOLLOWED_GONE;
	} else {
		run->queued = record.status == RUN_QUEUED;
		if (run_status_goes_on(record.status))
			run->state = FOLLOWED_ACTIVE;
		else
			followed_run_over(runs, &call, run, &record);
	}
	call_release(&call);
}

/* A process that dies tells nobody, so runs that go on are looked at now and then. */
static bool followed_run_may_be_dead(
    struct followed_runs *runs, const struct followed_run *run, int64_t now)
{
	int64_t ago = now - run->looked_at;
	bool waits = run->state == FOLLOWED_OVER && !run->tail.done && run->ended_at;
	if ((run->state != FOLLOWED_ACTIVE && !waits) || ago < (run->queued ? QUEUED_MS : LOOK_MS))
		return false;
	return waits || ago >= TRUST_MS || !followed_run_lives(runs, run);
}

void followed_runs_look(
    struct followed_runs *runs, int64_t now, void (*fn)(struct followed_run *run))
{
	runs->look_at = INT64_MAX;
	for (struct followed_run *run = runs->first; run; run = run->list_next) {
		if (run->look_at <= now || followed_run_may_be_dead(runs, run, now)) {
			followed_run_look(runs, run, now);
			if (run->state != FOLLOWED_ACTIVE)
				fn(run);
		}
		if (run->look_at < runs->look_at)
			runs->look_at = run->look_at;
	}
}

bool followed_run_lacks_end(const struct followed_run *run, int64_t now)
{
	return run->state == FOLLOWED_OVER && !run->tail.done &&
	    (!run->ended_at || now - run->ended_at > GRACE_MS);
}
