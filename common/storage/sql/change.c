/* SPDX-License-Identifier: ISC */
/* A change of a thread in one transaction: its row, within the limit of its size; and with it its
 * messages, its checkpoints and the record of its run. */
#include "storage/sql/engine.h"

#include "base/memory.h"
#include "base/os/clock.h"
#include "storage/lease.h"
#include "storage/queue.h"
#include "storage/runs.h"
#include "storage/sql/history/checkpoints.h"
#include "storage/sql/history/recent.h"
#include "storage/sql/run/run_write.h"
#include "storage/sql/thread/claims.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/*
 * A change on its way through the writer.  Its second write would replace the columns of the first,
 * so the thread's row is written once: identity from the first write, the rest from the last.
 */
struct change {
	struct unit unit;
	struct storage *st;
	struct thread_change *change;
	int count; /* of writes in change */

	int64_t holder; /* the process that holds a new thread; 0: there is only one instance */
	bool frees;     /* the change ends a run, and so gives the thread back */

	struct query hold;   /* asks whether the claim still holds */
	struct query thread; /* makes the thread's row, or reads it as it was before */
	struct query number; /* asks for the number of the run's record */
	struct run_writing run;

	int64_t row; /* the thread's */
	struct standing now;
	int64_t rewound; /* how many messages the list has that the first write goes back to */
	bool apart; /* its checkpoints go into the row of the thread or of a record (recent.h) */
	bool in_record;    /* into the record's, where those in the thread's row go as well */
	struct buf recent; /* text of all checkpoints that this row then has */
	int64_t kept_from; /* number of the first record that has checkpoints; 0: none has */
	bool prepared;     /* what can be found out before the transaction is known */
};

/* What the writes of a change add to the thread, together. */
struct growth {
	int64_t places;      /* of new messages, and of those that enter the context again */
	int64_t messages;    /* new messages */
	int64_t bytes;       /* size of the new messages */
	int64_t checkpoints; /* that are kept */
};

static struct growth growth_of(const struct change *c)
{
	struct growth g = {0};
	for (int i = 0; i < c->count; i++) {
		const struct thread_write *w = c->change->writes[i];
		g.places += (int64_t)w->message_count;
		for (size_t j = 0; j < w->message_count; j++)
			g.messages += w->messages[j].body_json != NULL;
		g.bytes += thread_write_size(w);
		g.checkpoints += w->checkpoint != CHECKPOINT_NONE;
	}
	return g;
}

/* Binds the columns that every write changes, of a thread that stood where c->now says and has
 * grown. */
static void change_bind_columns(struct query *q, const struct change *c, const struct growth *g)
{
	const struct thread_write *last = c->change->writes[c->count - 1];
	const struct thread *t = last->thread;
	int64_t checkpoint = g->checkpoints ? c->now.next + g->checkpoints - 1 : c->now.checkpoint;
	query_int(q, ":updated_at", t->updated_at);
	query_text(q, ":thread_name", t->thread_name);
	query_text(q, ":metadata", t->metadata_json);
	query_int(q, ":numbers", g->places);
	query_text(q, ":run_id", t->run_id);
	query_int(q, ":status", t->status);
	query_int(q, ":stop", t->stop);
	query_text(q, ":node", t->node);
	query_text(q, ":next", t->next);
	query_int(q, ":step", t->step);
	query_text(q, ":pause", t->pause_json);
	query_text(q, ":waiting", t->waiting_json);
	query_text(q, ":summary", t->summary);
	query_text(q, ":fields", t->fields_json);
	query_int(q, ":added", g->bytes);
	query_int(q, ":state_bytes", thread_state_size(t));
	query_int(q, ":message_count", c->now.messages + g->messages);
	if (checkpoint)
		query_int(q, ":checkpoint", checkpoint);
	query_int(q, ":checkpoints", c->now.checkpoints + g->checkpoints);
	query_int(q, ":changed", last->checkpoint == CHECKPOINT_NONE);
	if (c->recent.len && !c->in_record)
		query_text(q, ":recent", c->recent.data);
	if (c->kept_from)
		query_int(q, ":kept_from", c->kept_from);
}

/* Whether the record of this number may have checkpoints, besides those that have some. */
static bool change_has_record(const struct change *c, int64_t number)
{
	int64_t first = record_oldest(c->st->runs_keep, number);
	if (!instances_know_records(engine_of(c->st)->instances))
		return false;
	if (c->kept_from > first)
		first = c->kept_from;
	return !c->kept_from || number - first < RECENT_RECORDS;
}

/* Appends the checkpoints that the writes keep to c->recent, as the thread will stand when the
 * messages are written.  False where they belong into the table. */
static bool change_print(struct change *c, struct recent_row *row)
{
	struct standing then = c->now;
	for (int i = 0; i < c->count; i++) {
		const struct thread_write *w = c->change->writes[i];
		for (size_t j = 0; j < w->message_count; j++)
			then.messages += w->messages[j].body_json != NULL;
		then.view.last += (int64_t)w->message_count;
		if (w->message_count)
			then.view.until = then.view.last;
		/* a row only takes checkpoints of writes that add messages and do nothing else */
		if (w->rewind || w->back_to || w->clear_context || w->remove_count || w->leave ||
		    (w->checkpoint && (!recent_takes(w) || row->count == RECENT_MOST)))
			return false;
		if (!w->checkpoint)
			continue;
		const struct checkpoint taken = checkpoint_take(w, &then);
		recent_print(&c->recent, row, &taken);
	}
	return true;
}

/* Decides where the change's checkpoints go, and those that lie in the thread's row as text (NULL:
 * none do).  keeps says whether the change has any; number is that of a record that it makes. */
static void change_place(struct change *c, const char *text, bool keeps, int64_t number)
{
	const struct run_record *ends = run_keeps(c->change, &number);
	struct recent_row row;
	bool in_record;
	recent_look(text, &row);
	in_record = (keeps || row.count) && ends && change_has_record(c, number);
	if (in_record && !row.count)
		row.run_id = (struct recent_text){ends->run_id, strlen(ends->run_id)};
	buf_reset(&c->recent);
	buf_puts(&c->recent, text ? text : "");
	c->apart = (in_record || (keeps && !ends)) && change_print(c, &row);
	c->in_record = in_record && c->apart;
	if (!c->apart) { /* the row keeps what it had, until recent_spill */
		buf_reset(&c->recent);
		buf_puts(&c->recent, text ? text : "");
	}
	if (c->in_record && !c->kept_from)
		c->kept_from = number;
}

/* Asks for a new row; the first write says whose the thread is, and when it was made. */
static bool change_insert_ask(struct db *db, struct change *c, struct query *q,
    const struct growth *growth, struct error *err)
{
	const struct thread *identity = c->change->writes[0]->thread;
	const struct thread *rest = c->change->writes[c->count - 1]->thread;
	c->now = (struct standing){.view.plain = true, .next = clock_now()};
	c->kept_from = 0;
	change_place(c, NULL, growth->checkpoints, 1);
	if (c->st->thread_max_bytes &&
	    growth->bytes + thread_state_size(rest) > c->st->thread_max_bytes)
		return thread_too_large(identity, c->st->thread_max_bytes, err);
	query_start(q, db, SQL_THREAD_INSERT, err);
	query_int(q, ":now", clock_now());
	query_text(q, ":thread_id", identity->thread_id);
	query_text(q, ":user_id", identity->user_id);
	query_int(q, ":created_at", identity->created_at);
	change_bind_columns(q, c, growth);
	query_int(q, ":plain", growth->places == growth->messages);
	if (c->holder && !c->frees)
		query_int(q, ":holder", c->holder);
	query_send(q);
	return !q->failed;
}

bool engine_thread_insert_ask(
    struct storage *st, struct db *db, const struct thread *t, struct query *q, struct error *err)
{
	struct thread copy = *t;
	struct thread_write w = {.thread = &copy};
	struct thread_change change = {.writes = {&w}};
	struct change c = {.st = st, .change = &change, .count = 1};
	const struct growth none = {0};
	bool ok = change_insert_ask(db, &c, q, &none, err);
	buf_release(&c.recent);
	return ok;
}

bool engine_thread_insert_answer(
    struct db *db, const struct thread *t, struct query *q, int64_t *row, struct error *err)
{
	if (!query_run(q))
		return false;
	if (db_changes(db) == 0)
		return thread_lost(t->thread_id, err);
	*row = db_last_row(db);
	return (strcmp(t->metadata_json, "{}") == 0 ||
		   engine_labels_write(db, *row, t->metadata_json, err)) &&
	    (!t->waiting_json || db_run_on_row(db, SQL_THREAD_WAITS, *row, err));
}

bool engine_thread_insert(
    struct storage *st, struct db *db, const struct thread *t, int64_t *row, struct error *err)
{
	struct query q;
	return engine_thread_insert_ask(st, db, t, &q, err) &&
	    engine_thread_insert_answer(db, t, &q, row, err);
}

/* What a thread was before an update, apart from where it stood. */
struct before {
	bool waits_anew; /* the calls that it waits for are not those of before */
	bool labels_anew;
	bool changed; /* it has changed since its latest checkpoint */
	int64_t message_bytes, state_bytes;
};

static bool change_read_before_ask(
    struct db *db, struct change *c, const struct growth *growth, struct error *err)
{
	const struct thread_write *first = c->change->writes[0];
	const struct thread *t = c->change->writes[c->count - 1]->thread;
	struct query *q = &c->thread;
	c->row = first->thread->row;
	query_start(q, db, SQL_THREAD_BEFORE, err);
	query_text(q, ":waiting", t->waiting_json);
	query_text(q, ":metadata", t->metadata_json);
	query_int(q, ":keeps", growth->checkpoints || first->rewind);
	query_int(q, ":row", c->row);
	query_send(q);
	return !q->failed;
}

/* Reads that, and where the thread stands; number is that of the record that the change makes. */
static bool change_read_before(struct change *c, const struct growth *growth, int64_t number,
    struct before *before, struct error *err)
{
	struct query *q = &c->thread;
	bool found = query_row(q);
	if (found) {
		const char *recent = query_column_text(q, THREAD_BEFORE_RECENT);
		int64_t now = clock_now(), newest;
		c->kept_from = query_column_int(q, THREAD_BEFORE_KEPT_FROM);
		newest = query_column_int(
		    q, recent || c->kept_from ? THREAD_BEFORE_CHECKPOINT : THREAD_BEFORE_NEWEST);
		*before = (struct before){
		    .waits_anew = query_column_int(q, THREAD_BEFORE_WAITS_ANEW) != 0,
		    .labels_anew = query_column_int(q, THREAD_BEFORE_LABELS_ANEW) != 0,
		    .changed = query_column_int(q, THREAD_BEFORE_CHANGED) != 0,
		    .message_bytes = query_column_int(q, THREAD_BEFORE_MESSAGE_BYTES),
		    .state_bytes = query_column_int(q, THREAD_BEFORE_STATE_BYTES)};
		c->now = (struct standing){
		    .view = {query_column_int(q, THREAD_BEFORE_CONTEXT_AFTER),
			query_column_int(q, THREAD_BEFORE_UNTIL),
			query_column_int(q, THREAD_BEFORE_LAST_NUMBER),
			query_column_int(q, THREAD_BEFORE_PLAIN) != 0},
		    .messages = query_column_int(q, THREAD_BEFORE_MESSAGE_COUNT),
		    .checkpoint = query_column_int(q, THREAD_BEFORE_CHECKPOINT),
		    .checkpoints = query_column_int(q, THREAD_BEFORE_CHECKPOINTS),
		    .next = newest < now ? now : newest + 1,
		    .apart = recent || c->kept_from,
		};
		change_place(c, recent, growth->checkpoints, number);
	}
	if (!query_end(q) || found)
		return found;
	error_set(err, ERR_STORAGE, NULL);
	return error_cause(err, "thread row %lld is gone", (long long)c->row);
}

static bool change_update(
    struct db *db, struct change *c, const struct growth *growth, int64_t number, struct error *err)
{
	const struct thread_write *first = c->change->writes[0];
	const struct thread_write *last = c->change->writes[c->count - 1];
	const struct thread *t = last->thread;
	int64_t max_bytes = c->st->thread_max_bytes, state_bytes = thread_state_size(t);
	struct before before = {0}; /* for compilers that do not see that it is always read */
	struct query q;
	if (!change_read_before(c, growth, number, &before, err))
		return false;
	/* what does not make the thread larger is always fine */
	if (!last->back_to && max_bytes &&
	    before.message_bytes + growth->bytes + state_bytes > max_bytes &&
	    (growth->bytes || state_bytes > before.state_bytes))
		return thread_too_large(t, max_bytes, err);
	if (first->rewind) {
		if (!checkpoint_rewind(
			db, c->row, first->rewind, before.changed, c->rewound, &c->now, err))
			return false;
		buf_reset(&c->recent); /* checkpoints that were apart lie in the table now */
		c->kept_from = 0;
	}

	bool on_end = growth->places || c->now.view.until == c->now.view.last;

	query_start(&q, db, SQL_THREAD_UPDATE, err);
	change_bind_columns(&q, c, growth);
	query_int(&q, ":context_after", c->now.view.after);
	if (!on_end)
		query_int(&q, ":tip", c->now.view.until);
	query_int(&q, ":plain",
	    c->now.view.plain && growth->places == growth->messages &&
		c->now.view.until == c->now.view.last);
	query_int(&q, ":row", c->row);
	if (c->change->lease->claim)
		query_int(&q, ":frees", c->frees);
	if (!query_run(&q) ||
	    (before.labels_anew && !engine_labels_write(db, c->row, t->metadata_json, err)))
		return false;
	if (!before.waits_anew)
		return true;
	return db_run_on_row(db, SQL_THREAD_WAITS_NO_MORE, c->row, err) &&
	    (!t->waiting_json || db_run_on_row(db, SQL_THREAD_WAITS, c->row, err));
}

/* Asks whether the claim holds, what the thread is, and which number its run gets; or makes a new
 * thread. */
static bool sql_change_ask(struct db *db, struct unit *unit, struct error *err)
{
	struct change *c = (struct change *)unit;
	struct growth growth = growth_of(c);
	c->number = (struct query){0};
	if (!claim_ask(db, c->change->lease, &c->hold, err) || !run_ask(&c->run, db, err))
		return false;
	if (c->change->writes[0]->thread->row == 0)
		return change_insert_ask(db, c, &c->thread, &growth, err);
	if (!change_read_before_ask(db, c, &growth, err))
		return false;
	run_number_ask(db, c->change, &c->number, err);
	return !c->number.failed;
}

static bool sql_change_apply(struct db *db, struct unit *unit, struct error *err)
{
	struct change *c = (struct change *)unit;
	struct thread_write **writes = c->change->writes;
	struct growth growth = growth_of(c);
	bool is_new = writes[0]->thread->row == 0;
	int64_t number = 1; /* of the record that the change makes, if it makes one */
	bool ok;
	c->run.written = (struct run_written){0};
	if (!db->driver->send && !sql_change_ask(db, unit, err))
		return false;
	if (!claim_answer(c->change->lease, &c->hold, err) ||
	    (c->number.db && !record_number_answer(&c->number, &number))) {
		query_end(&c->thread);
		return false;
	}
	ok = is_new ? engine_thread_insert_answer(
			  db, writes[c->count - 1]->thread, &c->thread, &c->row, err)
		    : run_prepare(&c->run, db, err) && change_update(db, c, &growth, number, err);
	struct run_place place = {
	    .thread_row = c->row, .after = c->now.view.last, .number = number};
	int64_t checkpoints = c->now.checkpoints;
	for (int i = 0; ok && i < c->count; i++) {
		ok = engine_messages_write(db, c->row, writes[i], &c->now, err);
		if (ok && writes[i]->checkpoint && c->apart)
			checkpoint_take(writes[i], &c->now);
		else if (ok && writes[i]->checkpoint)
			ok = checkpoint_keep(db, c->row, writes[i], &c->now, err);
	}
	if (checkpoints_are_many(c->st, checkpoints, &c->now))
		c->run.written.moves.trims = c->row;
	place.until = c->now.view.last;
	place.checkpoints = c->in_record ? c->recent.data : NULL;
	place.kept_count = c->now.checkpoints;
	return ok && run_write(&c->run, db, &place, err);
}

/* Tells the owner of a change, which is on disk now, and others. */
static void change_tell(struct storage *st, const struct change *c)
{
	const struct lease *lease = c->change->lease;
	const struct thread_write *last = c->change->writes[c->count - 1];
	bool ended = false;
	if (!c->change->writes[0]->thread->row)
		claim_made(lease, c->row, c->holder);
	if (c->frees)
		claim_freed(lease);
	if (last->run && last->thread->status != RUN_RUNNING)
		lease_run(lease, NULL);
	for (int i = 0; i < c->count; i++) {
		struct thread_write *w = c->change->writes[i];
		w->thread->row = c->row;
		w->thread->view = c->now.view;
		if (!w->run)
			continue;
		w->run->number = c->run.written.number;
		ended |= w->run->status != RUN_RUNNING;
	}
	if (ended)
		chunks_moved(engine_of(st)->shared, c->row, c->run.written.number);
	run_hand_over(&c->run);
	moves_tell(st, &c->run.written.moves);
}

/* Finds out before the transaction what may take long; the lease keeps it true. */
static bool change_prepare(struct storage *st, const struct storage_context *ctx, struct change *c)
{
	const struct thread_write *first = c->change->writes[0];
	const struct run_record *last = c->change->writes[c->count - 1]->run;
	struct thread_view list;
	/* where the run's chunks are kept, the last of them gives the thread back */
	c->frees = c->change->lease->claim && last && last->status != RUN_RUNNING && !last->keeps &&
	    !last->job;
	if (!first->thread->row && !claim_holder(st, c->change->lease, &c->holder, c->change->err))
		return false;
	if (!first->rewind)
		return true;
	list = first->rewind->thread.view;
	list.after = 0; /* a context that begins there has all of it */
	return engine_context_count(
	    st, ctx, first->thread->row, &list, &c->rewound, c->change->err);
}

bool engine_thread_write(struct storage *st, const struct storage_context *ctx,
    struct thread_change *changes, size_t count)
{
	struct writer *writer = engine_of(st)->writer;
	struct change one, *all = count == 1 ? &one : xcalloc(count, sizeof(*all));
	bool ok = true;
	/* submit all before waiting for the first, so that they can share a transaction */
	for (size_t i = 0; i < count; i++) {
		assert(strcmp(changes[i].lease->thread_id,
			   changes[i].writes[0]->thread->thread_id) == 0);
		all[i] = (struct change){.unit = {.run = sql_change_apply, .ask = sql_change_ask},
		    .st = st,
		    .change = &changes[i],
		    .run = {.st = st, .change = &changes[i]},
		    .count = changes[i].writes[1] ? 2 : 1};
		all[i].unit.patient = run_claims(&changes[i]);
		all[i].prepared = change_prepare(st, ctx, &all[i]);
		if (all[i].prepared)
			writer_submit(writer, &all[i].unit);
	}
	for (size_t i = 0; i < count; i++) {
		bool written = all[i].prepared && writer_wait(writer, &all[i].unit, changes[i].err);
		if (written)
			change_tell(st, &all[i]);
		buf_release(&all[i].recent);
		ok &= written;
	}
	if (all != &one)
		free(all);
	return ok;
}
