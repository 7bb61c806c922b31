#include "storage/change.h"

#include "base/clock.h"

#include <assert.h>

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

static bool insert_thread(struct db *db, struct change *c, int64_t numbers, struct error *err)
{
	const struct thread *identity = c->writes[0]->thread;
	struct query q;

	query_start(&q, db, SQL_THREAD_INSERT, err);
	query_int(&q, ":now", clock_now());
	query_text(&q, ":thread_id", identity->thread_id);
	query_text(&q, ":user_id", identity->user_id);
	query_int(&q, ":created_at", identity->created_at);
	query_int(&q, ":numbers", numbers);
	bind_columns(&q, c->writes[c->count - 1]->thread);
	if (!query_run(&q))
		return false;
	c->row = sqlite3_last_insert_rowid(db->handle);
	return true;
}

/* *last becomes the last of the numbers that the thread has given out. */
static bool update_thread(
    struct db *db, struct change *c, int64_t numbers, int64_t *last, struct error *err)
{
	struct query q;
	bool found;

	c->row = c->writes[0]->thread->row;
	query_start(&q, db, SQL_THREAD_UPDATE, err);
	query_int(&q, ":row", c->row);
	query_int(&q, ":numbers", numbers);
	bind_columns(&q, c->writes[c->count - 1]->thread);
	found = query_row(&q);
	if (found)
		*last = query_column_int(&q, 0);
	if (!query_end(&q) || found)
		return found;
	error_set(err, ERR_STORAGE, NULL);
	return error_cause(err, "thread row %lld is gone", (long long)c->row);
}

/* Runs a statement on one message of a thread. */
static bool on_message(
    struct db *db, enum sql_id id, int64_t row, const char *message_id, struct error *err)
{
	struct query q;

	query_start(&q, db, id, err);
	query_int(&q, ":thread", row);
	query_text(&q, ":message_id", message_id);
	return query_run(&q);
}

static bool clear_context(struct db *db, int64_t row, struct error *err)
{
	struct query q;

	query_start(&q, db, SQL_CONTEXT_CLEAR, err);
	query_int(&q, ":thread", row);
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

	query_start(&q, db, SQL_MESSAGE_INSERT, err);
	query_int(&q, ":thread", row);
	query_int(&q, ":seq", seq);
	query_text(&q, ":message_id", m->message_id);
	query_text(&q, ":body", m->body_json);
	return query_run(&q);
}

static bool add_message(
    struct db *db, int64_t row, const struct new_message *m, int64_t number, struct error *err)
{
	return m->body_json ? insert_message(db, row, m, number, err)
			    : enter_context(db, row, m->message_id, number, err);
}

/* *number is the last one used. */
static bool apply_messages(
    struct db *db, int64_t row, const struct thread_write *w, int64_t *number, struct error *err)
{
	if (w->clear_context && !clear_context(db, row, err))
		return false;
	for (size_t i = 0; i < w->remove_count; i++) {
		if (!on_message(db, SQL_MESSAGE_DELETE, row, w->remove[i], err))
			return false;
	}
	for (size_t i = 0; i < w->message_count; i++) {
		if (!add_message(db, row, &w->messages[i], ++*number, err))
			return false;
	}
	return !w->leave || on_message(db, SQL_CONTEXT_LEAVE, row, w->leave, err);
}

static int64_t numbers_needed(const struct change *c)
{
	size_t n = 0;

	for (int i = 0; i < c->count; i++)
		n += c->writes[i]->message_count;
	return (int64_t)n;
}

static bool apply(struct db *db, struct unit *unit, struct error *err)
{
	struct change *c = (struct change *)unit;
	int64_t numbers = numbers_needed(c), last = numbers;
	bool ok = c->writes[0]->thread->row == 0 ? insert_thread(db, c, numbers, err)
						 : update_thread(db, c, numbers, &last, err);
	int64_t number = last - numbers;

	for (int i = 0; ok && i < c->count; i++)
		ok = apply_messages(db, c->row, c->writes[i], &number, err);
	return ok;
}

void change_init(struct change *c, struct thread_write *first, struct thread_write *second)
{
	assert(!second || second->thread->row == 0 || second->thread->row == first->thread->row);
	*c = (struct change){
	    .unit = {.run = apply}, .writes = {first, second}, .count = second ? 2 : 1};
}

bool change_finish(struct change *c, bool ok)
{
	for (int i = 0; ok && i < c->count; i++)
		c->writes[i]->thread->row = c->row;
	return ok;
}
