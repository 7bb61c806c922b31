/* SPDX-License-Identifier: ISC */
/* Keeping checkpoints, and going back to them, within the transaction of a write. */
#include "storage/sql/history/checkpoints.h"

#include "storage/runs.h"
#include "storage/sql/history/checkpoint_row.h"
#include "storage/sql/history/recent.h"
#include "storage/sql/thread/view.h"

/* ---- states ---- */

static void checkpoint_bind_state(struct query *q, const struct thread *t)
{
	query_text(q, ":pause", t->pause_json);
	query_text(q, ":waiting", t->waiting_json);
	query_text(q, ":summary", t->summary);
	query_text(q, ":fields", t->fields_json);
}

/* ---- kept ---- */

static void standing_kept(struct standing *now)
{
	now->checkpoint = now->next++;
	now->checkpoints++;
}

/* Moves checkpoints that lie elsewhere into the table, before another one goes there. */
static bool standing_spill(
    struct db *db, int64_t thread_row, struct standing *now, struct error *err)
{
	if (now->apart && !recent_spill(db, thread_row, err))
		return false;
	now->apart = false;
	return true;
}

struct checkpoint checkpoint_take(const struct thread_write *w, struct standing *now)
{
	struct checkpoint taken = {.number = now->next,
	    .parent = now->checkpoint,
	    .source = w->checkpoint,
	    .message_count = now->messages,
	    .thread = *w->thread};
	taken.thread.view = now->view;
	standing_kept(now);
	return taken;
}

bool checkpoint_keep(struct db *db, int64_t thread_row, const struct thread_write *w,
    struct standing *now, struct error *err)
{
	struct checkpoint kept = checkpoint_take(w, now);
	int64_t state = 0; /* the row of its state; a short one needs none */
	struct query q;
	if (!standing_spill(db, thread_row, now, err))
		return false;
	if (state_is_short(w->thread))
		return checkpoint_insert(db, thread_row, &kept, state, err);
	if (kept.parent) {
		query_start(&q, db, SQL_STATE_SAME, err);
		query_int(&q, ":thread", thread_row);
		query_int(&q, ":parent", kept.parent);
		checkpoint_bind_state(&q, w->thread);
		if (query_row(&q))
			state = query_column_int(&q, STATE_SAME_ROW);
		if (!query_end(&q))
			return false;
	}
	if (!state) {
		query_start(&q, db, SQL_STATE_INSERT, err);
		checkpoint_bind_state(&q, w->thread);
		if (!query_run(&q))
			return false;
		state = db_last_row(db);
	}
	return checkpoint_insert(db, thread_row, &kept, state, err);
}

/* ---- gone back to ---- */

bool checkpoint_rewind(struct db *db, int64_t thread_row, const struct checkpoint *to, bool changed,
    int64_t messages, struct standing *now, struct error *err)
{
	const struct thread_view *then = &to->thread.view;
	struct query q;
	bool known;
	if (!standing_spill(db, thread_row, now, err))
		return false;
	query_start(&q, db, SQL_CHECKPOINT_KNOWN, err);
	query_int(&q, ":thread", thread_row);
	query_int(&q, ":number", to->number);
	known = query_row(&q);
	if (!query_end(&q))
		return false;
	if (!known)
		return error_set(err, ERR_RESOURCE_NOT_FOUND, "Checkpoint not found");
	if (changed) { /* keep what the thread's row says, which is replaced */
		query_start(&q, db, SQL_STATE_KEEP, err);
		query_int(&q, ":row", thread_row);
		if (!query_run(&q))
			return false;
		query_start(&q, db, SQL_CHECKPOINT_KEEP, err);
		query_int(&q, ":number", now->next);
		query_int(&q, ":source", CHECKPOINT_UPDATE);
		query_int(&q, ":state", db_last_row(db));
		query_int(&q, ":row", thread_row);
		standing_kept(now);
		if (!query_run(&q))
			return false;
	}
	now->view.after = then->after;
	now->view.until = then->until;
	now->messages = messages;
	now->checkpoint = to->number;
	return true;
}

static void checkpoints_bind_later(
    struct query *q, int64_t thread_row, int64_t place, const struct run_record *run)
{
	query_int(q, ":thread", thread_row);
	query_int(q, ":until", place);
	query_text(q, ":run_id", run ? run->run_id : NULL);
	query_int(q, ":step", CHECKPOINT_STEP);
}

bool checkpoints_drop_later(struct db *db, int64_t thread_row, int64_t place,
    const struct run_record *run, struct standing *now, int64_t *dropped, struct error *err)
{
	struct query q;
	*dropped = 0;
	if (!standing_spill(db, thread_row, now, err))
		return false;
	query_start(&q, db, SQL_LATER_STATES_DELETE, err);
	checkpoints_bind_later(&q, thread_row, place, run);
	if (!query_run(&q))
		return false;
	query_start(&q, db, SQL_LATER_CHECKPOINTS_DELETE, err);
	checkpoints_bind_later(&q, thread_row, place, run);
	if (!query_run(&q))
		return false;
	*dropped = db_changes(db);
	now->checkpoints -= *dropped;
	return true;
}

bool checkpoints_are_many(const struct storage *st, int64_t before, const struct standing *now)
{
	int64_t keep = st->history_keep, at_once = keep / 2 + 8;
	int64_t more = now->checkpoints - keep, more_before = before > keep ? before - keep : 0;
	/* once for every at_once of them: a call that the sweeper misses is made up by the next */
	return keep && more > 0 && more / at_once > more_before / at_once;
}
