/* SPDX-License-Identifier: ISC */
/* Connections and queries of any database: each call goes to the driver of its connection. */
#include "storage/sql/db/db.h"

#include <stdatomic.h>
#include <string.h>

static atomic_bool used[SQL_COUNT];

bool db_was_used(enum sql_id id)
{
	return atomic_load(&used[id]);
}

struct db *db_open(const struct db_source *source, enum db_mode mode, struct error *err)
{
	return source->driver->open(source, mode, err);
}

void db_close(struct db *db)
{
	if (db)
		db->driver->close(db);
}

bool db_exec(struct db *db, enum sql_id id, struct error *err)
{
	atomic_store_explicit(&used[id], true, memory_order_relaxed);
	return db_script(db, db->driver->statement(id), err);
}

bool db_script(struct db *db, const char *sql, struct error *err)
{
	return db->driver->script(db, sql, err);
}

bool db_begin(struct db *db, struct error *err)
{
	return db->driver->begin(db, err);
}

bool db_commit(struct db *db, struct error *err)
{
	return db->driver->commit(db, err);
}

void db_rollback(struct db *db)
{
	db->driver->rollback(db);
}

int64_t db_changes(struct db *db)
{
	return db->driver->changes(db);
}

int64_t db_last_row(struct db *db)
{
	return db->driver->last_row(db);
}

bool db_again(struct db *db)
{
	return db->driver->again && db->driver->again(db);
}

bool db_take_turn(struct db *db, const char *of, struct error *err)
{
	struct query q;
	if (!db->driver->side_by_side)
		return true;
	query_start(&q, db, SQL_TURN_TAKE, err);
	query_text(&q, ":of", of);
	return query_run(&q);
}

bool database_is_there(const struct db_source *source)
{
	return source->driver->is_there(source);
}

struct db *database_open(const struct db_source *source, const char *name, enum db_mode mode,
    struct turnstile *turnstile, struct error *err)
{
	return source->driver->open_current(source, name, mode, turnstile, err);
}

void database_throw_away(const struct db_source *source)
{
	if (source->driver->throw_away)
		source->driver->throw_away(source);
}

void query_start(struct query *q, struct db *db, enum sql_id id, struct error *err)
{
	*q = (struct query){.db = db, .err = err, .failed = !db};
	if (!db)
		return;
	atomic_store_explicit(&used[id], true, memory_order_relaxed);
	db->driver->start(q, id);
}

void query_text(struct query *q, const char *name, const char *value)
{
	if (!q->failed)
		q->db->driver->text(q, name, value, value ? strlen(value) : 0);
}

void query_text_part(struct query *q, const char *name, const char *value, size_t len)
{
	if (!q->failed)
		q->db->driver->text(q, name, value, len);
}

void query_int(struct query *q, const char *name, int64_t value)
{
	if (!q->failed)
		q->db->driver->integer(q, name, value);
}

void query_blob(struct query *q, const char *name, const void *value, size_t size)
{
	if (!q->failed)
		q->db->driver->blob(q, name, value, size);
}

void query_watch(struct query *q, const struct waiter *waiter)
{
	if (waiter && !q->failed)
		q->db->driver->watch(q, waiter);
}

void query_send(struct query *q)
{
	if (!q->failed && q->db->driver->send)
		q->db->driver->send(q);
}

bool query_row(struct query *q)
{
	return !q->failed && q->db->driver->row(q);
}

enum db_kind query_column_kind(struct query *q, int column)
{
	return q->db->driver->column_kind(q, column);
}

const char *query_column_text(struct query *q, int column)
{
	return q->db->driver->column_text(q, column);
}

int64_t query_column_int(struct query *q, int column)
{
	return q->db->driver->column_int(q, column);
}

double query_column_double(struct query *q, int column)
{
	return q->db->driver->column_double(q, column);
}

const void *query_column_blob(struct query *q, int column, size_t *size)
{
	return q->db->driver->column_blob(q, column, size);
}

bool query_end(struct query *q)
{
	if (q->stmt)
		q->db->driver->end(q);
	return !q->failed;
}

bool query_run(struct query *q)
{
	if (!q->failed && q->db->driver->run)
		return q->db->driver->run(q);
	query_row(q);
	return query_end(q);
}

bool db_run_on_row(struct db *db, enum sql_id id, int64_t row, struct error *err)
{
	struct query q;
	query_start(&q, db, id, err);
	query_int(&q, ":row", row);
	return query_run(&q);
}
