/* SPDX-License-Identifier: ISC */
/* Changing the list of a thread's messages and its context, in the transaction that writes the
 * thread. */
#include "storage/sql/engine.h"

#include "storage/sql/history/checkpoints.h"
#include "storage/sql/thread/view.h"

#include <string.h>

/* The list while it is changed, and where the thread stands by now. */
struct list {
	struct db *db;
	int64_t thread_row;
	struct standing *now;
	struct error *err;
	struct view view; /* the list, wherever it will end */
	bool read;
};

/* Lets the context begin behind this place. */
static bool list_move_context(struct list *l, int64_t after)
{
	struct query q;
	l->now->view.after = after;
	query_start(&q, l->db, SQL_CONTEXT_MOVE, l->err);
	query_int(&q, ":after", after);
	query_int(&q, ":row", l->thread_row);
	return query_run(&q);
}

/* The seq of a message of the thread as it stands; 0: there is none. */
static bool list_find(struct list *l, const char *message_id, int64_t *seq)
{
	struct thread_view shown = l->now->view;
	if (!l->read) {
		if (shown.until == shown.last)
			shown.until = INT64_MAX;
		shown.after = shown.until; /* no second places need to be read */
		l->read = view_read_in(&l->view, l->db, l->thread_row, &shown, l->err);
	}
	return l->read && view_find(&l->view, l->db, message_id, seq, l->err);
}

static bool list_leave_context(struct list *l, const char *message_id)
{
	struct view v;
	int64_t seq, place;
	bool ok = view_read_in(&v, l->db, l->thread_row, &l->now->view, l->err) &&
	    view_find(&v, l->db, message_id, &seq, l->err);
	place = ok && seq ? view_place(&v, seq) : 0;
	view_release(&v);
	return ok && (place <= l->now->view.after || list_move_context(l, place));
}

/* Deletes those of the messages that are there. */
static bool list_delete(struct list *l, const char *const *message_ids, size_t id_count)
{
	struct query q;
	int64_t bytes = 0, count = 0;
	for (size_t i = 0; i < id_count; i++) {
		int64_t body = 0, seq;
		if (!list_find(l, message_ids[i], &seq) || !seq) {
			if (error_is_set(l->err))
				return false;
			continue;
		}
		query_start(&q, l->db, SQL_MESSAGE_DELETE, l->err);
		query_int(&q, ":thread", l->thread_row);
		query_int(&q, ":seq", seq);
		if (query_row(&q)) {
			body = query_column_int(&q, MESSAGE_DELETE_BODY);
			bytes += query_column_int(&q, MESSAGE_DELETE_BYTES);
			count++;
		}
		if (!query_end(&q) || !db_run_on_row(l->db, SQL_BODY_DELETE, body, l->err))
			return false;
	}
	l->now->messages -= count;
	query_start(&q, l->db, SQL_THREAD_SHRINK, l->err);
	query_int(&q, ":bytes", bytes);
	query_int(&q, ":messages", count);
	query_int(&q, ":row", l->thread_row);
	return query_run(&q);
}

/* Takes the next place.  A thread that has gone back gets a new branch that begins there. */
static bool list_next_place(struct list *l)
{
	struct thread_view *view = &l->now->view;
	struct query q;
	if (view->until != view->last) {
		query_start(&q, l->db, SQL_BRANCH_INSERT, l->err);
		query_int(&q, ":thread", l->thread_row);
		query_int(&q, ":first", view->last + 1);
		query_int(&q, ":until", view->until);
		if (!query_run(&q))
			return false;
		view->plain = false;
		view_release(&l->view);
		l->view = (struct view){0};
		l->read = false;
	}
	view->until = ++view->last;
	return true;
}

/* Gives a message that the thread has a second place, by which it enters the context again. */
static bool list_enter_context(struct list *l, const char *message_id)
{
	struct query q;
	int64_t seq;
	if (!list_find(l, message_id, &seq) || !list_next_place(l))
		return false;
	if (!seq)
		return true;
	l->now->view.plain = false;
	query_start(&q, l->db, SQL_CONTEXT_ENTER, l->err);
	query_int(&q, ":thread", l->thread_row);
	query_int(&q, ":number", l->now->view.last);
	query_int(&q, ":seq", seq);
	return query_run(&q);
}

bool engine_message_insert(struct db *db, int64_t thread_row, int64_t place,
    const struct new_message *m, bool plain, struct error *err)
{
	struct query q;
	if (!db->driver->side_by_side) {
		query_start(&q, db, SQL_BODY_INSERT, err);
		query_text(&q, ":body", m->body_json);
		if (!query_run(&q))
			return false;
	}
	query_start(&q, db, SQL_MESSAGE_INSERT, err);
	if (db->driver->side_by_side) /* a server stores body and message in one statement */
		query_text(&q, ":body", m->body_json);
	query_int(&q, ":thread", thread_row);
	query_int(&q, ":seq", place);
	query_text(&q, ":message_id", m->message_id);
	query_int(&q, ":bytes", (int64_t)strlen(m->body_json));
	query_int(&q, ":apart", plain ? 0 : place);
	return query_run(&q);
}

static bool list_insert(struct list *l, const struct new_message *m)
{
	bool plain = l->now->view.plain && l->now->view.until == l->now->view.last;
	int64_t seq = 0;
	/* where there are no branches the index refuses a second message of the same id */
	if (!plain && !list_find(l, m->message_id, &seq))
		return false;
	if (seq) {
		error_set(l->err, ERR_STORAGE, NULL);
		return error_cause(l->err, "the thread has that message: %s", m->message_id);
	}
	if (!list_next_place(l))
		return false;
	l->now->messages++;
	return engine_message_insert(l->db, l->thread_row, l->now->view.last, m, plain, l->err);
}

/* Puts the thread back to what it had at w->back_to, and removes all that came later. */
static bool list_go_back(struct list *l, const struct thread_write *w)
{
	static const enum sql_id steps[] = {SQL_LATER_BODIES_DELETE, SQL_LATER_MESSAGES_DELETE,
	    SQL_LATER_BRANCHES_DELETE, SQL_LATER_ENTERED_DELETE};
	const struct thread_view *to = w->back_to;
	struct standing *now = l->now;
	int64_t bytes = 0, dropped;
	struct query q;
	query_start(&q, l->db, SQL_LATER_MESSAGES_BYTES, l->err);
	query_int(&q, ":thread", l->thread_row);
	query_int(&q, ":until", to->last);
	if (query_row(&q))
		bytes = query_column_int(&q, LATER_MESSAGES_BYTES_BYTES);
	if (!query_end(&q))
		return false;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		query_start(&q, l->db, steps[i], l->err);
		query_int(&q, ":thread", l->thread_row);
		query_int(&q, ":until", to->last);
		if (!query_run(&q))
			return false;
	}
	/* the places in between stay empty */
	now->view = (struct thread_view){.after = to->after,
	    .until = to->until == to->last ? now->view.last : to->until,
	    .last = now->view.last,
	    .plain = to->plain};
	if (!checkpoints_drop_later(
		l->db, l->thread_row, to->last, w->run, now, &dropped, l->err) ||
	    !view_count(l->db, l->thread_row, &now->view, &now->messages, l->err))
		return false;
	query_start(&q, l->db, SQL_THREAD_BACK, l->err);
	query_int(&q, ":after", to->after);
	if (to->until != to->last)
		query_int(&q, ":tip", to->until);
	query_int(&q, ":plain", to->plain);
	query_int(&q, ":message_count", now->messages);
	query_int(&q, ":bytes", bytes);
	query_int(&q, ":row", l->thread_row);
	query_int(&q, ":dropped", dropped);
	return query_run(&q);
}

static bool list_write(struct list *l, const struct thread_write *w)
{
	/* all messages that have a place so far leave the context */
	if (w->clear_context && !list_move_context(l, l->now->view.last))
		return false;
	if (w->remove_count && !list_delete(l, w->remove, w->remove_count))
		return false;
	for (size_t i = 0; i < w->message_count; i++) {
		const struct new_message *m = &w->messages[i];
		if (!(m->body_json ? list_insert(l, m) : list_enter_context(l, m->message_id)))
			return false;
	}
	return !w->leave || list_leave_context(l, w->leave);
}

bool engine_messages_write(struct db *db, int64_t thread_row, const struct thread_write *w,
    struct standing *now, struct error *err)
{
	struct list l = {.db = db, .thread_row = thread_row, .now = now, .err = err};
	bool ok = w->back_to ? list_go_back(&l, w) : list_write(&l, w);
	view_release(&l.view);
	return ok;
}
