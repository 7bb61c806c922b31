/* SPDX-License-Identifier: ISC */
/* Rows of the thread, its messages and its context written, and the size that limits them. */
#include "storage/sqlite/change.h"

#include "base/clock.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static int64_t text_size(const char *text)
{
	return text ? (int64_t)strlen(text) : 0;
}

static int64_t state_size(const struct thread *t)
{
	return text_size(t->fields_json) + text_size(t->summary) + text_size(t->pause_json) +
	    text_size(t->waiting_json);
}

static int64_t message_size(const struct thread_write *w)
{
	int64_t size = 0;

	for (size_t i = 0; i < w->message_count; i++)
		size += text_size(w->messages[i].body_json);
	return size;
}

/* The columns that every write replaces. */
static void bind_columns(struct query *q, const struct thread *t)
{
	query_int(q, ":updated_at", t->updated_at);
	query_text(q, ":thread_name", t->thread_name);
	query_text(q, ":metadata", t->metadata_json);
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
}

/* What all writes of a change add to the thread. */
struct growth {
	int64_t numbers; /* for messages that get a place */
	int64_t bytes;   /* of new messages */
};

static struct growth growth_of(const struct change *c)
{
	struct growth g = {0};

	for (int i = 0; i < c->count; i++) {
		g.numbers += (int64_t)c->writes[i]->message_count;
		g.bytes += message_size(c->writes[i]);
	}
	return g;
}

static void bind_growth(struct query *q, const struct growth *g, const struct thread *t)
{
	query_int(q, ":numbers", g->numbers);
	query_int(q, ":added", g->bytes);
	query_int(q, ":state_bytes", state_size(t));
}

static bool change_too_large(const struct thread *t, int64_t max, struct error *err)
{
	return error_set(err, ERR_THREAD_TOO_LARGE, "Thread %s exceeds maximum %" PRId64 " bytes",
	    t->thread_id, max);
}

bool thread_write_fits(const struct storage *st, const struct thread_write *w, struct error *err)
{
	int64_t added = message_size(w), max = st->thread_max_bytes;
	const struct thread *t = w->thread;

	return !max || !added || t->message_bytes + added + state_size(t) <= max ||
	    change_too_large(t, max, err);
}

static bool insert_thread(
    struct db *db, struct change *c, const struct growth *growth, struct error *err)
{
	const struct thread *identity = c->writes[0]->thread;
	const struct thread *rest = c->writes[c->count - 1]->thread;
	struct query q;

	if (c->max_bytes && growth->bytes + state_size(rest) > c->max_bytes)
		return change_too_large(identity, c->max_bytes, err);
	query_start(&q, db, SQL_THREAD_INSERT, err);
	query_int(&q, ":now", clock_now());
	query_text(&q, ":thread_id", identity->thread_id);
	query_text(&q, ":user_id", identity->user_id);
	query_int(&q, ":created_at", identity->created_at);
	bind_growth(&q, growth, rest);
	bind_columns(&q, rest);
	if (!query_run(&q))
		return false;
	c->row = sqlite3_last_insert_rowid(db->handle);
	return true;
}

/* *last becomes the last of the numbers that the thread has given out. */
static bool update_thread(
    struct db *db, struct change *c, const struct growth *growth, int64_t *last, struct error *err)
{
	const struct thread *t = c->writes[c->count - 1]->thread;
	struct query q;
	bool found;

	c->row = c->writes[0]->thread->row;
	query_start(&q, db, SQL_THREAD_UPDATE, err);
	query_int(&q, ":row", c->row);
	bind_growth(&q, growth, t);
	bind_columns(&q, t);
	query_int(&q, ":max", c->max_bytes);
	found = query_row(&q);
	if (found)
		*last = query_column_int(&q, THREAD_UPDATE_LAST_NUMBER);
	if (!query_end(&q) || found)
		return found;
	query_start(&q, db, SQL_THREAD_IS_STORED, err);
	query_int(&q, ":row", c->row);
	found = query_row(&q);
	if (!query_end(&q))
		return false;
	if (found)
		return change_too_large(t, c->max_bytes, err);
	error_set(err, ERR_STORAGE, NULL);
	return error_cause(err, "thread row %lld is gone", (long long)c->row);
}

static bool leave_context(struct db *db, int64_t row, const char *message_id, struct error *err)
{
	struct query q;

	query_start(&q, db, SQL_CONTEXT_LEAVE, err);
	query_int(&q, ":thread", row);
	query_text(&q, ":message_id", message_id);
	return query_run(&q);
}

/* Whatever has got a number so far is outside of the context then. */
static bool clear_context(struct db *db, int64_t row, int64_t number, struct error *err)
{
	struct query q;

	query_start(&q, db, SQL_CONTEXT_CLEAR, err);
	query_int(&q, ":thread", row);
	query_int(&q, ":after", number);
	return query_run(&q);
}

/* Adds its size to *bytes; a message that is not there is none. */
static bool sqlite_change_delete_message(
    struct db *db, int64_t row, const char *message_id, int64_t *bytes, struct error *err)
{
	struct query q;
	int64_t body = 0;

	query_start(&q, db, SQL_MESSAGE_DELETE, err);
	query_int(&q, ":thread", row);
	query_text(&q, ":message_id", message_id);
	if (query_row(&q)) {
		body = query_column_int(&q, MESSAGE_DELETE_BODY);
		*bytes += query_column_int(&q, MESSAGE_DELETE_BYTES);
	}
	if (!query_end(&q))
		return false;
	query_start(&q, db, SQL_BODY_DELETE, err);
	query_int(&q, ":row", body);
	return query_run(&q);
}

static bool delete_messages(
    struct db *db, int64_t row, const struct thread_write *w, struct error *err)
{
	struct query q;
	int64_t bytes = 0;

	for (size_t i = 0; i < w->remove_count; i++) {
		if (!sqlite_change_delete_message(db, row, w->remove[i], &bytes, err))
			return false;
	}
	query_start(&q, db, SQL_THREAD_SHRINK, err);
	query_int(&q, ":row", row);
	query_int(&q, ":bytes", bytes);
	return query_run(&q);
}

static bool enter_context(
    struct db *db, int64_t row, const char *message_id, int64_t position, struct error *err)
{
	struct query q;

	query_start(&q, db, SQL_CONTEXT_ENTER, err);
	query_int(&q, ":thread", row);
	query_int(&q, ":position", position);
	query_text(&q, ":message_id", message_id);
	return query_run(&q);
}

static bool insert_message(
    struct db *db, int64_t row, const struct new_message *m, int64_t seq, struct error *err)
{
	struct query q;

	query_start(&q, db, SQL_BODY_INSERT, err);
	query_text(&q, ":body", m->body_json);
	if (!query_run(&q))
		return false;
	query_start(&q, db, SQL_MESSAGE_INSERT, err);
	query_int(&q, ":thread", row);
	query_int(&q, ":seq", seq);
	query_int(&q, ":position", seq);
	query_text(&q, ":message_id", m->message_id);
	query_int(&q, ":bytes", text_size(m->body_json));
	return query_run(&q);
}

static bool sqlite_change_add_message(
    struct db *db, int64_t row, const struct new_message *m, int64_t number, struct error *err)
{
	return m->body_json ? insert_message(db, row, m, number, err)
			    : enter_context(db, row, m->message_id, number, err);
}

/* *number is the last one used. */
static bool apply_messages(
    struct db *db, int64_t row, const struct thread_write *w, int64_t *number, struct error *err)
{
	if (w->clear_context && !clear_context(db, row, *number, err))
		return false;
	if (w->remove_count && !delete_messages(db, row, w, err))
		return false;
	for (size_t i = 0; i < w->message_count; i++) {
		if (!sqlite_change_add_message(db, row, &w->messages[i], ++*number, err))
			return false;
	}
	return !w->leave || leave_context(db, row, w->leave, err);
}

static bool sqlite_change_apply(struct db *db, struct unit *unit, struct error *err)
{
	struct change *c = (struct change *)unit;
	struct growth growth = growth_of(c);
	int64_t last = growth.numbers;
	bool ok = c->writes[0]->thread->row == 0 ? insert_thread(db, c, &growth, err)
						 : update_thread(db, c, &growth, &last, err);
	int64_t number = last - growth.numbers;

	for (int i = 0; ok && i < c->count; i++)
		ok = apply_messages(db, c->row, c->writes[i], &number, err);
	return ok;
}

void change_init(
    struct change *c, int64_t max_bytes, struct thread_write *first, struct thread_write *second)
{
	assert(!second || second->thread->row == 0 || second->thread->row == first->thread->row);
	*c = (struct change){.unit = {.run = sqlite_change_apply},
	    .max_bytes = max_bytes,
	    .writes = {first, second},
	    .count = second ? 2 : 1};
}

bool change_finish(struct change *c, bool ok)
{
	for (int i = 0; ok && i < c->count; i++)
		c->writes[i]->thread->row = c->row;
	return ok;
}
