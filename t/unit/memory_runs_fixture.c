/* SPDX-License-Identifier: ISC */
/* Runs of the engine in memory: their records, the queue, kept chunks and the outbox. */
#include "memory_runs_fixture.h"

#include "base/buf.h"
#include "base/http/url.h"
#include "base/id.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "storage/queue.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct memory_arrival {
	struct memory_arrival *next;
	struct arrival arrival;
};

struct memory_run {
	struct memory_run *next;
	struct run_record record; /* attempt is that of its job */
	struct run_job job;       /* row 0: it has none */
	bool claimed, over;       /* of the job */
	enum lease_order ordered;
	struct memory_arrival *arrivals;
};

struct memory_chunks {
	struct memory_chunks *next;
	struct chunk_batch batch;
};

struct memory_webhook {
	struct memory_webhook *next;
	struct webhook item;
	const char *site;
	int64_t thread_row;
};

struct memory_push {
	struct memory_push *next;
	struct push push;
	int64_t thread_row;
	enum { PUSH_AWAITS, PUSH_PAUSED, PUSH_OVER } state;
};

static int64_t jobs_made, webhooks_made;

static struct memory_run *run_numbered(struct memory_storage *m, int64_t thread, int64_t number)
{
	struct memory_run *r = m->runs;
	while (r && (r->record.thread_row != thread || r->record.number != number))
		r = r->next;
	return r;
}

static struct memory_run *run_of_job(struct memory_storage *m, int64_t job)
{
	struct memory_run *r = m->runs;
	while (r && (!job || r->job.row != job))
		r = r->next;
	return r;
}

static struct memory_run *run_named(struct memory_storage *m, int64_t thread, const char *run_id)
{
	struct memory_run *r = m->runs;
	while (r && (r->record.thread_row != thread || strcmp(r->record.run_id, run_id) != 0))
		r = r->next;
	return r;
}

static bool run_is_over(const struct memory_run *r)
{
	return r->record.status != RUN_RUNNING && r->record.status != RUN_QUEUED;
}

static struct memory_webhook *webhook_of(struct memory_storage *m, int64_t row)
{
	struct memory_webhook *w = m->outbox;
	while (w && w->item.row != row)
		w = w->next;
	return w;
}

/* The record as it is shown. */
static struct run_record run_shown(struct memory_storage *m, const struct memory_run *run)
{
	const struct kept_thread *k = memory_find_row(m, run->record.thread_row);
	const struct memory_webhook *w = run->job.row ? webhook_of(m, run->job.row) : NULL;
	struct run_record r = run->record;
	r.new_thread = k->thread.created_at == r.created_at;
	r.thread_id = k->thread.thread_id;
	r.webhook.url = run->job.webhook_url;
	if (w) {
		r.webhook.attempts = w->item.attempts;
		r.webhook.last_status = w->item.last_status;
		r.webhook.delivered_at = w->item.delivered_at;
	}
	if (!r.job)
		r.started_at = r.created_at;
	r.attempt = run->job.attempt > 1 ? run->job.attempt : 1;
	return r;
}

static struct run_record record_copy(struct arena *a, const struct run_record *from)
{
	struct run_record r = *from;
	r.run_id = arena_strdup(a, r.run_id);
	r.node = arena_strdup(a, r.node);
	r.error_json = arena_strdup(a, r.error_json);
	r.metadata_json = arena_strdup(a, r.metadata_json);
	r.answers_json = arena_strdup(a, r.answers_json);
	r.thread_id = arena_strdup(a, r.thread_id);
	r.webhook.url = arena_strdup(a, r.webhook.url);
	return r;
}

static struct run_job job_copy(struct arena *a, const struct run_job *from)
{
	struct run_job job = *from;
	job.thread_id = arena_strdup(a, job.thread_id);
	job.run_id = arena_strdup(a, job.run_id);
	job.body_json = arena_strdup(a, job.body_json);
	job.caller_json = arena_strdup(a, job.caller_json);
	job.metadata_json = arena_strdup(a, job.metadata_json);
	job.answers_json = arena_strdup(a, job.answers_json);
	job.webhook_url = arena_strdup(a, job.webhook_url);
	return job;
}

/* ---- gone ---- */

/* Chunks of a run, or with number 0 of all runs of the thread. */
static int64_t chunks_drop(struct memory_storage *m, int64_t thread, int64_t number, int64_t most)
{
	int64_t count = 0;
	for (struct memory_chunks **link = &m->chunks; *link;) {
		const struct chunk_batch *b = &(*link)->batch;
		if (b->thread_row != thread || (number && b->number != number) || count == most) {
			link = &(*link)->next;
			continue;
		}
		*link = (*link)->next;
		count++;
	}
	return count;
}

/* Those of a task, or with NULL of all tasks of the thread; or only that of an id. */
static void pushes_drop(struct memory_storage *m, int64_t thread, const char *task, const char *id)
{
	for (struct memory_push **link = &m->pushes; *link;) {
		const struct push *p = &(*link)->push;
		if ((*link)->thread_row == thread && (!task || strcmp(p->task, task) == 0) &&
		    (!id || strcmp(p->id, id) == 0))
			*link = (*link)->next;
		else
			link = &(*link)->next;
	}
}

static void run_drop(struct memory_storage *m, struct memory_run *run)
{
	struct memory_run **link = &m->runs;
	struct memory_webhook **w = &m->outbox;
	pushes_drop(m, run->record.thread_row, run->record.run_id, NULL);

	while (*link != run)
		link = &(*link)->next;
	*link = run->next;
	chunks_drop(m, run->record.thread_row, run->record.number, INT64_MAX);
	while (*w && ((*w)->item.row != run->job.row || (*w)->item.due_at))
		w = &(*w)->next;
	if (*w)
		*w = (*w)->next;
}

/* Those that are over, from that number down, but for so many. */
static void runs_trim_ended(struct memory_storage *m, int64_t thread, int64_t number)
{
	int64_t keep = m->with.storage.runs_keep;
	struct memory_run *next;
	if (!keep)
		return;
	for (struct memory_run *r = m->runs; r; r = next) {
		next = r->next;
		if (r->record.thread_row != thread || r->record.number > number || !run_is_over(r))
			continue;
		if (keep)
			keep--;
		else
			run_drop(m, r);
	}
}

static bool job_waits(const struct memory_run *r, int64_t thread)
{
	return r->record.thread_row == thread && r->job.row && !r->over;
}

/* All up to that number, or where the thread has jobs those that are over. */
static void runs_trim_begun(struct memory_storage *m, int64_t thread, int64_t number)
{
	struct memory_run *next;
	for (struct memory_run *r = m->runs; r; r = r->next) {
		if (job_waits(r, thread)) {
			runs_trim_ended(m, thread, INT64_MAX);
			return;
		}
	}
	for (struct memory_run *r = m->runs; r; r = next) {
		next = r->next;
		if (r->record.thread_row == thread && r->record.number <= number)
			run_drop(m, r);
	}
}

void memory_runs_remove(struct memory_storage *m, int64_t thread_row)
{
	struct memory_run *next;
	int64_t waiting = 0;
	for (struct memory_run *r = m->runs; r; r = next) {
		next = r->next;
		if (r->record.thread_row != thread_row)
			continue;
		waiting += r->job.row && !r->over && !r->claimed;
		run_drop(m, r);
	}
	for (struct memory_webhook **w = &m->outbox; *w;) {
		if ((*w)->thread_row == thread_row)
			*w = (*w)->next;
		else
			w = &(*w)->next;
	}
	pushes_drop(m, thread_row, NULL, NULL);
	chunks_drop(m, thread_row, 0, INT64_MAX);
	queue_waiting_add(m->shared, -waiting);
	chunks_moved_all(m->shared);
}

/* ---- told ---- */

static void outbox_put(struct memory_storage *m, int64_t thread_row, const struct webhook *item)
{
	struct memory_webhook *w = arena_alloc(m->arena, sizeof(*w));
	char *site = url_site(item->url);
	*w = (struct memory_webhook){.next = m->outbox,
	    .item = *item,
	    .site = arena_strdup(m->arena, site ? site : item->url),
	    .thread_row = thread_row};
	w->item.id = arena_printf(m->arena, "msg_%lld", (long long)++webhooks_made);
	w->item.body = arena_strdup(m->arena, item->body);
	w->item.due_at = 1;
	m->outbox = w;
	bell_ring(m->shared, BELL_OUTBOX);
	free(site);
}

static void kept_push_put(
    struct memory_storage *m, int64_t thread, const struct push *push, int state)
{
	struct memory_push *p = arena_alloc(m->arena, sizeof(*p));
	pushes_drop(m, thread, push->task, push->id);
	*p = (struct memory_push){
	    .next = m->pushes, .push = *push, .thread_row = thread, .state = state};
	p->push.task = arena_strdup(m->arena, push->task);
	p->push.id = arena_strdup(m->arena, push->id);
	p->push.url = arena_strdup(m->arena, push->url);
	p->push.how_json = arena_strdup(m->arena, push->how_json);
	m->pushes = p;
}

static void kept_push_put_first(
    struct memory_storage *m, const struct memory_run *run, const struct push *push)
{
	struct push first;
	if (!push)
		return;
	first = *push;
	first.number = run->record.number;
	kept_push_put(m, run->record.thread_row, &first, PUSH_AWAITS);
}

static void kept_push_tell(
    struct memory_storage *m, struct memory_push *p, struct memory_run *run, enum run_status status)
{
	struct run_record shown = run_shown(m, run);
	shown.status = status ? status : shown.status;
	char *body = m->with.storage.pushes->body(&shown, &p->push);
	const struct webhook item = {.row = -++webhooks_made,
	    .url = p->push.url,
	    .body = body,
	    .how_json = p->push.how_json};

	outbox_put(m, p->thread_row, &item);
	free(body);
	p->state = shown.status == RUN_INTERRUPTED ? PUSH_PAUSED : PUSH_OVER;
	p->push.number = run->record.number;
}

/* As in the other engine; status as in pushes_tell. */
static void pushes_tell(struct memory_storage *m, struct memory_run *run, enum run_status status)
{
	const struct push_words *words = m->with.storage.pushes;
	const char *thread_id = memory_find_row(m, run->record.thread_row)->thread.thread_id;
	for (struct memory_push *p = m->pushes; words && p; p = p->next) {
		struct memory_run *own = run_numbered(m, p->thread_row, p->push.number);
		if (p->thread_row != run->record.thread_row || p->state == PUSH_OVER)
			continue;
		if (own == run) {
			if (p->state == PUSH_AWAITS || status)
				kept_push_tell(m, p, run, status);
		} else if (p->state == PUSH_AWAITS) {
			if (own && run_is_over(own))
				kept_push_tell(m, p, own, RUN_IDLE);
		} else if (words->follows(thread_id, p->push.task, run->record.run_id)) {
			kept_push_tell(m, p, run, status);
		} else if (own) {
			kept_push_tell(m, p, own, RUN_STOPPED);
		}
	}
}

/* ---- over ---- */

/* What a job of a thread comes to that is over, with the run's record. */
static void job_end(struct memory_storage *m, struct memory_run *run)
{
	struct storage *st = &m->with.storage;
	struct run_record shown = run_shown(m, run);
	char *body = NULL;
	if (!run->claimed)
		queue_waiting_add(m->shared, -1);
	run->over = true;
	run->claimed = false;
	run->arrivals = NULL;
	run->job.body_json = run->job.caller_json = run->job.answers_json = NULL;
	if (shown.webhook.url && st->webhook_body)
		body = st->webhook_body(st->webhook_arg, &shown);
	const struct webhook item = {.row = run->job.row, .url = shown.webhook.url, .body = body};
	if (body)
		outbox_put(m, run->record.thread_row, &item);
	free(body);
	pushes_tell(m, run, RUN_IDLE);
	bell_ring(m->shared, BELL_QUEUE);
	runs_trim_ended(m, run->record.thread_row, run->record.number);
}

/* Ends a job whose run does not write. */
static void job_give_up(struct memory_storage *m, struct memory_run *run, enum run_status status,
    const char *error_json)
{
	struct kept_thread *k = memory_find_row(m, run->record.thread_row);
	struct run_record *r = &run->record;
	if (r->status == RUN_RUNNING && strcmp(k->thread.run_id, r->run_id) == 0) {
		r->node = k->thread.node;
		r->step = k->thread.step;
		r->until = k->last;
		if (k->thread.status == RUN_RUNNING) {
			k->thread.status = status;
			k->thread.stop = status == RUN_STOPPED ? STOP_DONE : STOP_NONE;
			k->changed = true;
		}
	}
	r->status = status;
	r->error_json = arena_strdup(m->arena, error_json);
	r->finished_at = clock_now();
	r->kept_until = r->finished_at + m->with.storage.chunks_keep;
	chunks_moved(m->shared, r->thread_row, r->number);
	job_end(m, run);
}

/* ---- claimed ---- */

static bool job_before(const struct run_job *a, const struct run_job *b)
{
	return a->due_at != b->due_at ? a->due_at < b->due_at : a->row < b->row;
}

/* The job that comes next in its thread: it was claimed, or became due first. */
static struct memory_run *job_first(struct memory_storage *m, int64_t thread)
{
	struct memory_run *first = NULL;
	for (struct memory_run *r = m->runs; r; r = r->next) {
		if (!job_waits(r, thread))
			continue;
		if (r->claimed)
			return r;
		if (!first || job_before(&r->job, &first->job))
			first = r;
	}
	return first;
}

static bool job_hand_out(
    struct memory_storage *m, struct arena *a, int64_t now, struct run_job *job, int64_t *next_due)
{
	struct memory_run *next = NULL;
	for (struct memory_run *r = m->runs; r; r = r->next) {
		if (r->job.row && !r->over && !r->claimed &&
		    job_first(m, r->record.thread_row) == r &&
		    (!next || job_before(&r->job, &next->job)))
			next = r;
	}
	if (!next || (next->job.due_at > now && next->job.due_at > next->job.created_at)) {
		*next_due = next ? next->job.due_at : *next_due;
		return false;
	}
	next->claimed = true;
	next->job.attempt++;
	queue_waiting_add(m->shared, -1);
	*job = job_copy(a, &next->job);
	job->thread_id =
	    arena_strdup(a, memory_find_row(m, next->record.thread_row)->thread.thread_id);
	return true;
}

static void job_take_along(struct memory_storage *m, struct run_claim *claim)
{
	int64_t next_due;
	if (claim && !claim->job.row && !atomic_load(claim->unless))
		job_hand_out(m, claim->arena, clock_now(), &claim->job, &next_due);
}

/* ---- written with the thread ---- */

static const struct run_record *write_first(const struct thread_change *c)
{
	return c->writes[0]->run ? c->writes[0]->run : c->writes[1] ? c->writes[1]->run : NULL;
}

static const struct run_record *write_last(const struct thread_change *c)
{
	return c->writes[1] && c->writes[1]->run ? c->writes[1]->run : c->writes[0]->run;
}

bool memory_run_may_write(struct memory_storage *m, const struct thread_change *c)
{
	const struct run_record *begun = write_first(c);
	const struct memory_run *run = begun ? run_of_job(m, begun->job) : NULL;
	return !begun || !begun->job || (run && run->claimed);
}

void memory_run_bury(
    struct memory_storage *m, const struct thread_change *c, const struct kept_thread *before)
{
	const struct run_record *begun = write_first(c);
	if (!c->writes[0]->rewind && (!begun || begun->number || !begun->buries))
		return;
	for (struct memory_run *r = m->runs; r; r = r->next) {
		if (r->record.thread_row != before->thread.row || r->job.row ||
		    r->record.status != RUN_RUNNING)
			continue;
		r->record.status = RUN_ERROR;
		r->record.node = before->thread.node;
		r->record.step = before->thread.step;
		r->record.finished_at = before->thread.updated_at;
		r->record.until = before->last;
		if (r->record.kept_until == RUN_KEPT)
			r->record.kept_until =
			    before->thread.updated_at + m->with.storage.chunks_keep;
	}
}

static int64_t run_next_number(struct memory_storage *m, int64_t thread)
{
	for (const struct memory_run *r = m->runs; r; r = r->next) {
		if (r->record.thread_row == thread)
			return r->record.number + 1;
	}
	return 1;
}

static struct memory_run *run_make(struct memory_storage *m, int64_t thread)
{
	struct memory_run *run = arena_alloc(m->arena, sizeof(*run));
	*run = (struct memory_run){.next = m->runs,
	    .record = {.thread_row = thread,
		.number = run_next_number(m, thread),
		.metadata_json = "{}",
		.kept_until = RUN_NOT_KEPT}};
	m->runs = run;
	return run;
}

/* The members that each write replaces. */
static void run_take(struct memory_storage *m, struct memory_run *run,
    const struct run_record *latest, int64_t until)
{
	struct run_record *r = &run->record;
	r->status = latest->status;
	r->finished_at = latest->finished_at;
	r->node = arena_strdup(m->arena, latest->node);
	r->step = latest->step;
	r->usage = latest->usage;
	r->error_json = arena_strdup(m->arena, latest->error_json);
	r->until = until;
	if (r->kept_until == RUN_KEPT && r->status != RUN_RUNNING)
		r->kept_until = r->finished_at + m->with.storage.chunks_keep;
}

static void run_begin(struct memory_storage *m, struct memory_run *run,
    const struct run_record *begun, const struct memory_run_place *place)
{
	struct run_record *r = &run->record;
	r->after = place->after;
	r->brought = begun->brought;
	if (run->job.row) {
		r->started_at = begun->started_at;
		run->job.answers_json = arena_strdup(m->arena, begun->answers_json);
		return;
	}
	r->run_id = arena_strdup(m->arena, begun->run_id);
	r->created_at = begun->created_at;
	if (begun->keeps)
		r->kept_until = RUN_KEPT;
}

void memory_run_add(struct memory_storage *m, int64_t thread_row, const struct run_record *record)
{
	const struct memory_run_place place = {thread_row, record->after, record->until};
	struct memory_run *run = run_make(m, thread_row);
	run->record.number = record->number;
	run_begin(m, run, record, &place);
	run_take(m, run, record, place.until);
}

void memory_run_write(
    struct memory_storage *m, const struct thread_change *c, const struct memory_run_place *place)
{
	const struct run_record *begun = write_first(c), *latest = write_last(c);
	struct memory_run *run, *replaced;
	bool begins;
	if (!begun)
		return;
	run = begun->number ? run_numbered(m, place->thread_row, begun->number)
			    : run_make(m, place->thread_row);
	begins = !begun->number || run->record.status == RUN_QUEUED;
	if (begins)
		run_begin(m, run, begun, place);
	if (!begun->number)
		kept_push_put_first(m, run, begun->push);
	run_take(m, run, latest, place->until);
	for (int i = 0; i < 2 && c->writes[i]; i++) {
		if (c->writes[i]->run)
			c->writes[i]->run->number = run->record.number;
	}
	replaced = begins && !run->job.row && begun->replaces
	    ? run_numbered(m, place->thread_row, begun->replaces)
	    : NULL;
	if (replaced)
		run_drop(m, replaced);
	if (begins && !run->job.row && begun->keep)
		runs_trim_begun(m, place->thread_row, run->record.number - begun->keep);
	if (latest->status == RUN_RUNNING)
		return;
	chunks_moved(m->shared, place->thread_row, run->record.number);
	if (!run->job.row) {
		pushes_tell(m, run, RUN_IDLE);
		return;
	}
	job_end(m, run);
	job_take_along(m, latest->claims);
}

/* ---- records ---- */

static bool memory_run_get(struct storage *st, const struct storage_context *ctx, struct arena *a,
    const char *thread_id, const char *run_id, struct run_record *record, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	const struct kept_thread *k = memory_find_id(m, thread_id);
	const struct memory_run *run = k ? run_named(m, k->thread.row, run_id) : NULL;
	struct run_record shown;
	(void)ctx, (void)err;
	if (run) {
		shown = run_shown(m, run);
		*record = record_copy(a, &shown);
	}
	return memory_unlock(m, run != NULL);
}

static bool record_matches(
    struct memory_storage *m, const struct record_filter *filter, const struct run_record *r)
{
	const struct kept_thread *k = memory_find_row(m, r->thread_row);
	return (!filter->owner || strcmp(filter->owner, k->thread.user_id) == 0) &&
	    (!filter->thread_id || strcmp(filter->thread_id, k->thread.thread_id) == 0) &&
	    filter->statuses >> r->status & 1;
}

static int newest_first(const void *a, const void *b)
{
	const struct run_record *x = a, *y = b;
	if (x->created_at != y->created_at)
		return x->created_at < y->created_at ? 1 : -1;
	if (x->thread_row != y->thread_row)
		return x->thread_row < y->thread_row ? 1 : -1;
	return x->number < y->number ? 1 : -1;
}

static bool memory_run_list(struct storage *st, const struct storage_context *ctx,
    const struct record_filter *filter, record_fn fn, void *arg, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	struct run_record *list;
	size_t count = 0, i = 0;
	(void)ctx, (void)err;
	for (const struct memory_run *r = m->runs; r; r = r->next)
		count++;
	list = xcalloc(count + 1, sizeof(*list));
	count = 0;
	for (const struct memory_run *r = m->runs; r; r = r->next) {
		if (record_matches(m, filter, &r->record))
			list[count++] = run_shown(m, r);
	}
	memory_unlock(m, true);
	if (!filter->thread_id)
		qsort(list, count, sizeof(*list), newest_first);
	while (i < count && fn(arg, &list[i]))
		i++;
	free(list);
	return true;
}

static bool memory_run_messages(struct storage *st, const struct storage_context *ctx,
    const struct run_record *record, enum run_share which, message_fn fn, void *arg,
    struct error *err)
{
	int64_t begin = record->after + record->brought;
	int64_t after = which == RUN_MADE ? begin : record->after;
	int64_t until = which == RUN_MADE ? record->until : begin;
	struct memory_storage *m = memory_lock(st);
	const struct kept_thread *k = memory_find_row(m, record->thread_row);
	bool more = true;
	(void)ctx, (void)err;
	for (int64_t n = after + 1; k && n <= until && n <= k->last && more; n++) {
		struct kept_place p = k->places[n - 1];
		memory_unlock(m, true);
		more = !p.body || fn(arg, p.id, p.body);
		m = memory_lock(st);
		k = memory_find_row(m, record->thread_row);
	}
	return memory_unlock(m, true);
}

static bool memory_run_remove(struct storage *st, const struct storage_context *ctx,
    const struct run_record *record, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	struct memory_run *run = run_numbered(m, record->thread_row, record->number);
	(void)ctx, (void)err;
	if (run && (!run->job.row || run->over))
		run_drop(m, run);
	return memory_unlock(m, true);
}

/* ---- the queue ---- */

/* Stops what no process runs, and keeps the order with what goes on. */
static void jobs_stop(
    struct memory_storage *m, int64_t thread, const char *run_id, enum lease_order order)
{
	struct memory_run *next;
	for (struct memory_run *r = m->runs; r; r = next) {
		next = r->next;
		if (!job_waits(r, thread) || (run_id && strcmp(run_id, r->record.run_id) != 0))
			continue;
		if (r->record.status == RUN_RUNNING && r->ordered < order)
			r->ordered = order;
		if (r->record.status == RUN_RUNNING && (r->claimed || order == ORDER_ROLLBACK))
			continue;
		job_give_up(m, r, RUN_STOPPED, NULL);
	}
}

static void job_put(struct memory_storage *m, struct run_job *job)
{
	struct memory_run *run = run_make(m, job->thread_row);
	struct run_record *r = &run->record;
	job->row = ++jobs_made;
	job->number = r->number;
	run->job = job_copy(m->arena, job);
	r->run_id = run->job.run_id;
	r->status = RUN_QUEUED;
	r->created_at = job->created_at;
	r->node = "START";
	r->job = job->row;
	r->metadata_json = run->job.metadata_json;
	r->kept_until = RUN_KEPT;
	kept_push_put_first(m, run, job->push);
	queue_waiting_add(m->shared, 1);
	bell_ring(m->shared, BELL_QUEUE);
}

static bool memory_submit(struct storage *st, const struct storage_context *ctx,
    const struct lease *lease, struct thread *thread, struct run_job *job,
    enum submit_result *result, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	struct kept_thread *k = memory_find_row(m, thread->row);
	(void)ctx;
	*result = SUBMIT_THREAD_GONE;
	if (thread->row && !k)
		return memory_unlock(m, true);
	*result = SUBMIT_KNOWN;
	if (k && !job->fresh_id && run_named(m, thread->row, job->run_id))
		return memory_unlock(m, true);
	*result = SUBMIT_DONE;
	if (!k && !memory_holds(m, lease))
		return memory_unlock(m, thread_lost(thread->thread_id, err));
	if (!k) {
		memory_thread_make(m, thread);
		k = memory_find_row(m, thread->row);
	}
	if (job->orders)
		jobs_stop(m, thread->row, NULL, job->orders);
	if (k->thread.updated_at < job->created_at)
		k->thread.updated_at = job->created_at;
	job->thread_row = thread->row;
	job_put(m, job);
	return memory_unlock(m, true);
}

static bool memory_claim(struct storage *st, const struct storage_context *ctx, struct arena *a,
    int64_t row, int64_t now, struct run_job *job, int64_t *next_due, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	(void)ctx, (void)err;
	*next_due = INT64_MAX;
	return memory_unlock(m, !row && job_hand_out(m, a, now, job, next_due));
}

static void memory_begins(struct storage *st, const struct run_job *job)
{
	(void)st, (void)job;
}

static bool memory_give_back(struct storage *st, const struct storage_context *ctx,
    const struct run_job *job, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	struct memory_run *run = run_of_job(m, job->row);
	(void)ctx, (void)err;
	if (run && run->claimed) {
		run->claimed = false;
		run->job.attempt--;
		run->job.given_back = true;
		queue_waiting_add(m->shared, 1);
		bell_ring(m->shared, BELL_QUEUE);
	}
	return memory_unlock(m, true);
}

/* Who has lost it claims it again: nobody else is there. */
static bool memory_lose(struct storage *st, const struct storage_context *ctx,
    const struct run_job *job, bool *lost, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	struct memory_run *run = run_of_job(m, job->row);
	(void)ctx, (void)err;
	*lost = run && run->claimed;
	if (*lost) {
		run->claimed = run->job.given_back = false;
		queue_waiting_add(m->shared, 1);
		bell_ring(m->shared, BELL_QUEUE);
	}
	return memory_unlock(m, true);
}

static bool memory_finish(struct storage *st, const struct storage_context *ctx, int64_t job_row,
    enum run_status status, const char *error_json, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	struct memory_run *run = run_of_job(m, job_row);
	(void)ctx, (void)err;
	if (run && !run->over)
		job_give_up(m, run, status, error_json);
	return memory_unlock(m, true);
}

/* Who claims here lives as long as the queue. */
static bool memory_recover(struct storage *st, const struct storage_context *ctx,
    int64_t max_attempts, int64_t *rows, size_t *count, struct error *err)
{
	(void)st, (void)ctx, (void)max_attempts, (void)rows, (void)err;
	*count = 0;
	return true;
}

static bool memory_stop_queued(struct storage *st, const struct storage_context *ctx,
    const char *thread_id, const char *run_id, enum lease_order order, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	const struct kept_thread *k = memory_find_id(m, thread_id);
	(void)ctx, (void)err;
	if (k && order)
		jobs_stop(m, k->thread.row, run_id, order);
	return memory_unlock(m, true);
}

static bool memory_ordered(struct storage *st, const struct storage_context *ctx, int64_t job_row,
    enum lease_order *order, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	const struct memory_run *run = run_of_job(m, job_row);
	(void)ctx, (void)err;
	*order = run ? run->ordered : ORDER_NONE;
	return memory_unlock(m, true);
}

static bool memory_arrive(struct storage *st, const struct storage_context *ctx,
    const struct lease *lease, const struct arrival *arrival, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	struct memory_run *run = run_of_job(m, arrival->job);
	struct memory_arrival **at, *new = arena_alloc(m->arena, sizeof(*new));
	(void)ctx, (void)lease, (void)err;
	if (!run || run->over)
		return memory_unlock(m, true);
	if (arrival->first)
		run->arrivals = NULL;
	new->arrival = *arrival;
	new->arrival.branch_json = arena_strdup(m->arena, arrival->branch_json);
	for (at = &run->arrivals; *at; at = &(*at)->next)
		;
	*at = new;
	return memory_unlock(m, true);
}

static bool memory_arrived(struct storage *st, const struct storage_context *ctx, int64_t job,
    int64_t region, arrival_fn fn, void *arg, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	const struct memory_run *run = run_of_job(m, job);
	(void)ctx, (void)err;
	for (const struct memory_arrival *a = run ? run->arrivals : NULL; a; a = a->next) {
		if (a->arrival.region == region && !fn(arg, &a->arrival))
			break;
	}
	return memory_unlock(m, true);
}

static bool memory_queued_due(struct storage *st, const struct storage_context *ctx,
    const char *thread_id, int64_t now, int64_t at_least, bool *reached, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	const struct kept_thread *k = thread_id ? memory_find_id(m, thread_id) : NULL;
	(void)ctx, (void)err;
	for (const struct memory_run *r = m->runs; r; r = r->next) {
		if (!r->job.row || r->over || r->job.due_at > now)
			continue;
		at_least -= thread_id ? k && r->record.thread_row == k->thread.row : !r->claimed;
	}
	*reached = at_least <= 0;
	return memory_unlock(m, true);
}

bool memory_run_waits(struct storage *st, int64_t thread_row)
{
	struct memory_storage *m = memory_lock(st);
	return memory_unlock(m, job_first(m, thread_row) != NULL);
}

/* ---- chunks ---- */

/* The first batch of a run with chunks behind that one, or NULL. */
static const struct memory_chunks *chunks_behind(
    struct memory_storage *m, int64_t thread, int64_t number, int64_t after)
{
	const struct memory_chunks *first = NULL;
	for (const struct memory_chunks *c = m->chunks; c; c = c->next) {
		const struct chunk_batch *b = &c->batch;
		if (b->thread_row == thread && b->number == number &&
		    b->seq + b->count - 1 > after && (!first || b->seq < first->batch.seq))
			first = c;
	}
	return first;
}

static bool memory_chunks_append(struct storage *st, const struct storage_context *ctx,
    const struct chunk_batch *batches, size_t count, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	(void)ctx;
	for (size_t i = 0; i < count; i++) {
		const struct memory_run *run =
		    run_numbered(m, batches[i].thread_row, batches[i].number);
		if (!batches[i].mends && (!run || run->record.kept_until == RUN_NOT_KEPT)) {
			memory_unlock(m, true);
			return error_set(err, ERR_THREAD_BUSY, "there is no such run");
		}
	}
	for (size_t i = 0; i < count; i++) {
		const struct memory_run *run =
		    run_numbered(m, batches[i].thread_row, batches[i].number);
		struct memory_chunks *c;
		if (!run || run->record.kept_until == RUN_NOT_KEPT ||
		    (batches[i].mends &&
			chunks_behind(
			    m, batches[i].thread_row, batches[i].number, batches[i].seq - 1)))
			continue;
		c = arena_alloc(m->arena, sizeof(*c));
		*c = (struct memory_chunks){m->chunks, batches[i]};
		c->batch.lines = arena_strndup(m->arena, batches[i].lines, batches[i].len);
		m->chunks = c;
		chunks_moved(m->shared, batches[i].thread_row, batches[i].number);
	}
	memory_unlock(m, true);
	for (size_t i = 0; i < count; i++)
		if (batches[i].lease)
			st->threads->lease_release(st, NULL, batches[i].lease, err);
	return true;
}

static bool memory_chunks_read(struct storage *st, const struct storage_context *ctx,
    struct run_key key, int64_t after, chunk_batch_fn fn, void *arg, struct error *err)
{
	struct chunk_batch batch;
	bool more = true;
	(void)ctx, (void)err;
	while (more) {
		struct memory_storage *m = memory_lock(st);
		const struct memory_chunks *c = chunks_behind(m, key.thread, key.number, after);
		if (c)
			batch = c->batch;
		memory_unlock(m, true);
		if (!c)
			break;
		after = batch.seq + batch.count - 1;
		more = fn(arg, &batch);
	}
	return true;
}

static bool memory_chunks_last(struct storage *st, const struct storage_context *ctx,
    struct run_key key, int64_t *seq, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	const struct memory_chunks *c;
	(void)ctx, (void)err;
	*seq = 0;
	while ((c = chunks_behind(m, key.thread, key.number, *seq)) != NULL)
		*seq = c->batch.seq + c->batch.count - 1;
	return memory_unlock(m, true);
}

static void batch_forget(
    struct memory_storage *m, struct chunk_batch *b, chunk_line_fn forgets, void *arg)
{
	struct buf left = {0};
	const char *end = b->lines + b->len, *next;
	for (const char *line = b->lines; line < end; line = next) {
		next = memchr(line, '\n', (size_t)(end - line));
		next = next ? next + 1 : end;
		if (!forgets(arg, line, (size_t)(next - line) - (next[-1] == '\n')))
			buf_add(&left, line, (size_t)(next - line));
	}
	b->len = left.len;
	b->lines = arena_strndup(m->arena, buf_str(&left), left.len);
	buf_release(&left);
}

static bool memory_chunks_forget(struct storage *st, const struct storage_context *ctx,
    int64_t thread_row, chunk_line_fn forgets, void *arg, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	(void)ctx, (void)err;
	for (struct memory_chunks *c = m->chunks; c; c = c->next) {
		if (c->batch.thread_row == thread_row)
			batch_forget(m, &c->batch, forgets, arg);
	}
	return memory_unlock(m, true);
}

/* What says that it runs and keeps its chunks, while no run has the thread. */
static void runs_find_lost(struct memory_storage *m, int64_t now)
{
	for (struct memory_run *r = m->runs; r; r = r->next) {
		if (r->job.row || r->record.status != RUN_RUNNING ||
		    r->record.kept_until != RUN_KEPT)
			continue;
		if (!memory_run_held(m, memory_find_row(m, r->record.thread_row)->thread.thread_id))
			r->record.kept_until = now + m->with.storage.chunks_keep;
	}
}

static bool memory_chunks_expire(struct storage *st, const struct storage_context *ctx, int64_t now,
    int64_t most, int64_t *count, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	(void)ctx, (void)err;
	*count = 0;
	runs_find_lost(m, now);
	for (struct memory_run *r = m->runs; r && *count < most; r = r->next) {
		if (r->record.kept_until <= RUN_KEPT || r->record.kept_until > now)
			continue;
		*count += chunks_drop(m, r->record.thread_row, r->record.number, most - *count);
		if (*count < most) {
			r->record.kept_until = RUN_NOT_KEPT;
			++*count;
		}
	}
	return memory_unlock(m, true);
}

/* ---- the outbox ---- */

/* The webhook of a site that is due for longest, behind that one, or NULL. */
static const struct memory_webhook *webhook_next(
    struct memory_storage *m, const char *site, const struct memory_webhook *after)
{
	const struct memory_webhook *next = NULL;
	for (const struct memory_webhook *w = m->outbox; w; w = w->next) {
		if (!w->item.due_at || strcmp(w->site, site) != 0 ||
		    (after &&
			(w->item.due_at < after->item.due_at ||
			    (w->item.due_at == after->item.due_at &&
				w->item.row <= after->item.row))))
			continue;
		if (!next || w->item.due_at < next->item.due_at ||
		    (w->item.due_at == next->item.due_at && w->item.row < next->item.row))
			next = w;
	}
	return next;
}

static const char *webhook_site(struct memory_storage *m, const char *after)
{
	const char *site = NULL;
	for (const struct memory_webhook *w = m->outbox; w; w = w->next) {
		if (w->item.due_at && strcmp(w->site, after) > 0 &&
		    (!site || strcmp(w->site, site) < 0))
			site = w->site;
	}
	return site;
}

static bool memory_webhooks_due(struct storage *st, const struct storage_context *ctx,
    struct arena *a, struct webhooks_due *due, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	(void)ctx, (void)err;
	due->count = 0;
	due->next_due = INT64_MAX;
	for (const char *site = ""; (site = webhook_site(m, site)) != NULL;) {
		const struct memory_webhook *w = webhook_next(m, site, NULL);
		for (int64_t n = 0; w && w->item.due_at <= due->now; n++) {
			if (n < due->per_site && due->count < due->limit) {
				struct webhook *item = &due->items[due->count++];
				*item = w->item;
				item->id = arena_strdup(a, item->id);
				item->url = arena_strdup(a, item->url);
				item->body = arena_strdup(a, item->body);
				item->how_json = arena_strdup(a, item->how_json);
			}
			w = webhook_next(m, site, w);
		}
		if (w && w->item.due_at < due->next_due)
			due->next_due = w->item.due_at;
	}
	return memory_unlock(m, true);
}

static bool memory_webhooks_waiting(
    struct storage *st, const struct storage_context *ctx, int64_t *count, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	(void)ctx, (void)err;
	*count = 0;
	for (const struct memory_webhook *w = m->outbox; w; w = w->next)
		*count += w->item.due_at != 0;
	return memory_unlock(m, true);
}

static bool memory_webhook_settle(struct storage *st, const struct storage_context *ctx,
    const struct webhook *item, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	struct memory_webhook *w = webhook_of(m, item->row);
	(void)ctx, (void)err;
	if (w) {
		w->item.attempts = item->attempts;
		w->item.last_status = item->last_status;
		w->item.delivered_at = item->delivered_at;
		w->item.due_at = item->delivered_at ? 0 : item->due_at;
	}
	return memory_unlock(m, true);
}

/* ---- pushes ---- */

static bool memory_push_put(struct storage *st, const struct storage_context *ctx,
    int64_t thread_row, const struct push *push, enum run_status status, int64_t most, bool *room,
    struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	int64_t others = 0;
	(void)ctx, (void)err;
	for (const struct memory_push *p = m->pushes; p; p = p->next)
		others += p->thread_row == thread_row && strcmp(p->push.task, push->task) == 0 &&
		    strcmp(p->push.id, push->id) != 0;
	*room = others < most && memory_find_row(m, thread_row);
	if (*room)
		kept_push_put(m, thread_row, push,
		    status == RUN_RUNNING || status == RUN_QUEUED ? PUSH_AWAITS
			: status == RUN_INTERRUPTED               ? PUSH_PAUSED
								  : PUSH_OVER);
	return memory_unlock(m, true);
}

static int push_by_id(const void *a, const void *b)
{
	return strcmp(((const struct push *)a)->id, ((const struct push *)b)->id);
}

static bool memory_pushes_read(struct storage *st, const struct storage_context *ctx,
    struct arena *a, int64_t thread_row, const char *task, struct push_list *list,
    struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	(void)ctx, (void)err;
	list->count = 0;
	for (const struct memory_push *p = m->pushes; p && list->count < list->limit; p = p->next) {
		if (p->thread_row != thread_row || strcmp(p->push.task, task) != 0)
			continue;
		list->items[list->count++] = (struct push){.task = task,
		    .id = arena_strdup(a, p->push.id),
		    .url = arena_strdup(a, p->push.url),
		    .how_json = arena_strdup(a, p->push.how_json)};
	}
	qsort(list->items, list->count, sizeof(*list->items), push_by_id);
	return memory_unlock(m, true);
}

static bool memory_push_remove(struct storage *st, const struct storage_context *ctx,
    int64_t thread_row, const char *task, const char *id, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	(void)ctx, (void)err;
	pushes_drop(m, thread_row, task, id);
	return memory_unlock(m, true);
}

static bool memory_pushes_tell(struct storage *st, const struct storage_context *ctx,
    struct run_key key, enum run_status status, struct error *err)
{
	struct memory_storage *m = memory_lock(st);
	struct memory_run *run = run_numbered(m, key.thread, key.number);
	(void)ctx, (void)err;
	if (run)
		pushes_tell(m, run, status);
	return memory_unlock(m, true);
}

const struct run_ops memory_runs = {
    .get = memory_run_get,
    .list = memory_run_list,
    .messages = memory_run_messages,
    .remove = memory_run_remove,
    .submit = memory_submit,
    .claim = memory_claim,
    .begins = memory_begins,
    .give_back = memory_give_back,
    .lose = memory_lose,
    .finish = memory_finish,
    .recover = memory_recover,
    .stop_queued = memory_stop_queued,
    .ordered = memory_ordered,
    .arrive = memory_arrive,
    .arrived = memory_arrived,
    .queued_due = memory_queued_due,
    .chunks_append = memory_chunks_append,
    .chunks_read = memory_chunks_read,
    .chunks_last = memory_chunks_last,
    .chunks_forget = memory_chunks_forget,
    .chunks_expire = memory_chunks_expire,
    .webhooks_due = memory_webhooks_due,
    .webhooks_waiting = memory_webhooks_waiting,
    .webhook_settle = memory_webhook_settle,
    .push_put = memory_push_put,
    .pushes_read = memory_pushes_read,
    .push_remove = memory_push_remove,
    .pushes_tell = memory_pushes_tell,
};
