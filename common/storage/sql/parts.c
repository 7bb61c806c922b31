/* SPDX-License-Identifier: ISC */
/* Threads in parts, as history_ops has them: read out, and made from parts with all branches,
 * checkpoints and records. */
#include "storage/sql/engine.h"

#include "storage/runs.h"
#include "storage/sql/history/checkpoints.h"
#include "storage/sql/run/run_write.h"
#include "storage/sql/thread/claims.h"
#include "storage/sql/thread/view.h"

#include <string.h>

/* ---- taken out ---- */

bool parts_places(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    int64_t after, int64_t until, history_part_fn fn, void *arg, struct error *err)
{
	static const enum history_part_kind kinds[] = {
	    HISTORY_BRANCH, HISTORY_AGAIN, HISTORY_MESSAGE};
	struct query q;
	bool more = true;
	engine_query(st, ctx, &q, SQL_PLACE_LIST, err);
	query_int(&q, ":thread", thread_row);
	query_int(&q, ":after", after);
	query_int(&q, ":until", until);
	while (more && query_row(&q)) {
		const struct history_part part = {
		    .kind = kinds[query_column_int(&q, PLACE_LIST_KIND)],
		    .place = query_column_int(&q, PLACE_LIST_PLACE),
		    .other = query_column_int(&q, PLACE_LIST_OTHER),
		    .message_id = query_column_text(&q, PLACE_LIST_MESSAGE_ID),
		    .body_json = query_column_text(&q, PLACE_LIST_BODY),
		};
		more = fn(arg, &part) || part.kind == HISTORY_BRANCH;
	}
	return pool_query_end(engine_of(st)->pool, &q);
}

bool parts_origin(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    struct history_origin *origin, struct error *err)
{
	struct query q;
	*origin = (struct history_origin){0};
	engine_query(st, ctx, &q, SQL_THREAD_ORIGIN, err);
	query_int(&q, ":row", thread_row);
	if (query_row(&q))
		*origin = (struct history_origin){query_column_int(&q, THREAD_ORIGIN_CHECKPOINT),
		    query_column_int(&q, THREAD_ORIGIN_CHANGED) != 0};
	return pool_query_end(engine_of(st)->pool, &q);
}

/* ---- made ---- */

struct making {
	struct unit unit;
	struct storage *st;
	const struct lease *lease;
	struct thread *thread;
	const struct history_origin *origin;
	struct history_source *source;

	int64_t row;   /* the thread's */
	bool plain;    /* neither branches nor second places came so far */
	int64_t bytes; /* of messages */
	struct standing now;
	struct moves moves;
};

static bool parts_refuse_twice(const char *message_id, struct error *err)
{
	return error_set(err, ERR_INVALID_INPUT, "the list has a message %s already", message_id);
}

static bool parts_add_message(
    struct db *db, struct making *m, const struct history_part *part, struct error *err)
{
	const struct new_message message = {
	    .message_id = part->message_id, .body_json = part->body_json};
	const struct thread_view all = {.until = INT64_MAX, .plain = true};
	int64_t bytes = (int64_t)strlen(part->body_json), max = m->st->thread_max_bytes, seq = 0;
	struct view list;
	m->bytes += bytes;
	if (max && m->bytes + thread_state_size(m->thread) > max)
		return thread_too_large(m->thread, max, err);
	/* with branches, all ids are checked at the end */
	if (m->plain &&
	    (!view_read_in(&list, db, m->row, &all, err) ||
		!view_find(&list, db, part->message_id, &seq, err)))
		return false;
	if (seq)
		return parts_refuse_twice(part->message_id, err);
	return engine_message_insert(db, m->row, part->place, &message, m->plain, err);
}

static bool parts_add_checkpoint(
    struct db *db, struct making *m, const struct checkpoint *c, struct error *err)
{
	struct thread then = c->thread;
	const struct thread_write kept = {.thread = &then, .checkpoint = c->source};
	m->now.view = then.view;
	m->now.messages = c->message_count;
	m->now.checkpoint = c->parent;
	m->now.next = c->number;
	return checkpoint_keep(db, m->row, &kept, &m->now, err);
}

static bool parts_add(
    struct db *db, struct making *m, const struct history_part *part, struct error *err)
{
	struct query q;
	switch (part->kind) {
	case HISTORY_BRANCH:
		m->plain = false;
		query_start(&q, db, SQL_BRANCH_INSERT, err);
		query_int(&q, ":thread", m->row);
		query_int(&q, ":first", part->place);
		query_int(&q, ":until", part->other);
		return query_run(&q);
	case HISTORY_AGAIN:
		m->plain = false;
		query_start(&q, db, SQL_CONTEXT_ENTER, err);
		query_int(&q, ":thread", m->row);
		query_int(&q, ":number", part->place);
		query_int(&q, ":seq", part->other);
		return query_run(&q);
	case HISTORY_MESSAGE:
		return parts_add_message(db, m, part, err);
	case HISTORY_CHECKPOINT:
		return parts_add_checkpoint(db, m, part->checkpoint, err);
	case HISTORY_RUN:
		return run_make(db, m->row, part->run, err);
	case HISTORY_END:
		break;
	}
	return true;
}

static bool parts_add_all(struct db *db, struct making *m, struct error *err)
{
	struct history_part part;
	do {
		if (!m->source->next(m->source, &part, err) || !parts_add(db, m, &part, err))
			return false;
	} while (part.kind != HISTORY_END);
	return true;
}

/* Refuses a list that has an id twice; the source then stands behind the message, so that the error
 * can name it. */
static bool parts_check_ids(struct db *db, struct making *m, struct error *err)
{
	struct history_part part;
	int64_t place = 0;
	if (m->plain)
		return true;
	if (!view_find_twice(db, m->row, &place, err) ||
	    (place && !m->source->rewind(m->source, err)))
		return false;
	while (place) {
		if (!m->source->next(m->source, &part, err))
			return false;
		if (part.kind == HISTORY_MESSAGE && part.place == place)
			return parts_refuse_twice(part.message_id, err);
	}
	return true;
}

/* Updates the row of the new thread, which was made without messages. */
static bool parts_stand(struct db *db, struct making *m, struct error *err)
{
	struct thread_view view = m->thread->view;
	int64_t messages;
	struct query q;
	view.plain = m->plain && view.until == view.last;
	if (!view_count(db, m->row, &view, &messages, err))
		return false;
	query_start(&q, db, SQL_COPY_STAND, err);
	query_int(&q, ":last", view.last);
	query_int(&q, ":after", view.after);
	if (view.until != view.last)
		query_int(&q, ":tip", view.until);
	query_int(&q, ":plain", view.plain);
	query_int(&q, ":bytes", m->bytes);
	query_int(&q, ":messages", messages);
	if (m->origin->number)
		query_int(&q, ":checkpoint", m->origin->number);
	query_int(&q, ":checkpoints", m->now.checkpoints);
	query_int(&q, ":changed", m->origin->changed);
	query_int(&q, ":row", m->row);
	return query_run(&q);
}

static bool parts_apply(struct db *db, struct unit *unit, struct error *err)
{
	struct making *m = (struct making *)unit;
	bool ok;
	if (!claim_holds(db, m->lease, err))
		return false;
	m->now = (struct standing){0};
	m->moves = (struct moves){0};
	m->bytes = 0;
	m->plain = true;
	ok = m->source->rewind(m->source, err) &&
	    engine_thread_insert(m->st, db, m->thread, &m->row, err) && parts_add_all(db, m, err) &&
	    parts_check_ids(db, m, err) && parts_stand(db, m, err);
	if (checkpoints_are_many(m->st, 0, &m->now))
		m->moves.trims = m->row;
	return ok;
}

bool parts_make(struct storage *st, const struct storage_context *ctx, const struct lease *lease,
    struct thread *thread, const struct history_origin *origin, struct history_source *source,
    struct error *err)
{
	struct making m = {.unit = {.run = parts_apply},
	    .st = st,
	    .lease = lease,
	    .thread = thread,
	    .origin = origin,
	    .source = source};
	(void)ctx;
	if (!writer_run(engine_of(st)->writer, &m.unit, err))
		return false;
	thread->row = m.row;
	return moves_tell(st, &m.moves);
}
