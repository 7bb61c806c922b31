/* SPDX-License-Identifier: ISC */
/* The tables, in an order in which what is referred to comes first, and their rows one by one. */
#include "storage/sql/copy.h"

#include "base/os/clock.h"

#define TELL_MS 2000

#define TABLE(id, name)                                        \
	{                                                      \
		name, SQL_COPYING_##id, SQL_COPYING_##id##_PUT \
	}

static const struct copy_table {
	const char *name;
	enum sql_id get, put;
} tables[COPY_DATABASES][19] = {
    [COPY_THREADS] = {TABLE(THREADS, "threads"), TABLE(WAITING_CALLS, "waiting_calls"),
	TABLE(LABELS, "labels"), TABLE(BODIES, "bodies"), TABLE(MESSAGES, "messages"),
	TABLE(REMOVED, "removed"), TABLE(BRANCHES, "branches"), TABLE(ENTERED, "entered"),
	TABLE(STATES, "states"), TABLE(CHECKPOINTS, "checkpoints"), TABLE(RUNS, "runs"),
	TABLE(JOBS, "jobs"), TABLE(JOB_BODIES, "job_bodies"), TABLE(ARRIVALS, "arrivals"),
	TABLE(KEPT, "kept"), TABLE(CHUNKS, "chunks"), TABLE(WEBHOOKS, "webhooks"),
	TABLE(PUSHES, "pushes")},
    [COPY_STORE] = {TABLE(MODELS, "models"), TABLE(MEMORIES, "memories"),
	TABLE(RELATIONS, "relations"), TABLE(VECTORS, "vectors"), TABLE(PENDING, "pending")},
    [COPY_FILES] = {TABLE(FILES, "files")},
};

static const enum sql_id counts[COPY_DATABASES] = {
    SQL_COPYING_THREADS_ROWS, SQL_COPYING_STORE_ROWS, SQL_COPYING_FILES_ROWS};

struct copying {
	struct copy_place from, to;
	struct copy_report *report;
	int64_t all;
	int64_t tell_at;
	struct error *err;
};

/* Binds the value of a column to the parameter of its name. */
static void copy_value(struct query *put, const char *name, struct query *get, int column)
{
	size_t size;
	const void *bytes;
	switch (query_column_kind(get, column)) {
	case DB_NULL:
		break; /* a parameter that is not bound is NULL */
	case DB_INT:
		query_int(put, name, query_column_int(get, column));
		break;
	case DB_BLOB:
		bytes = query_column_blob(get, column, &size);
		query_blob(put, name, bytes, size);
		break;
	case DB_TEXT:
	case DB_DOUBLE:
		query_text(put, name, query_column_text(get, column));
		break;
	}
}

static bool copy_row(
    struct copying *c, const struct copy_table *table, struct db *to, struct query *get)
{
	const struct sql_statement *statement = &sql_statements[table->get];
	struct query put;
	query_start(&put, to, table->put, c->err);
	for (int i = 0; i < statement->columns; i++)
		copy_value(&put, statement->names[i], get, i);
	if (!query_run(&put))
		return false;
	if (table->put == SQL_COPYING_MEMORIES_PUT) { /* the index of words */
		query_start(&put, to, SQL_WORD_INSERT, c->err);
		query_int(&put, ":row", query_column_int(get, COPYING_MEMORIES_ROW));
		if (!query_run(&put))
			return false;
	}
	c->report->rows++;
	if (clock_monotonic_ms() >= c->tell_at) {
		c->report->tell(table->name, c->report->rows, c->all);
		c->tell_at = clock_monotonic_ms() + TELL_MS;
	}
	return true;
}

static bool copy_table(
    struct copying *c, const struct copy_table *table, struct db *from, struct db *to)
{
	struct query get;
	bool ok = true;
	query_start(&get, from, table->get, c->err);
	while (ok && query_row(&get))
		ok = copy_row(c, table, to, &get);
	return query_end(&get) && ok;
}

/* Adds the number that a statement gives to *number. */
static bool copy_ask(struct db *db, enum sql_id sql, int64_t *number, struct error *err)
{
	struct query q;
	query_start(&q, db, sql, err);
	if (query_row(&q))
		*number += query_column_int(&q, COPYING_THREADS_ROWS_COUNT);
	return query_end(&q);
}

static bool copy_execute(struct db *db, enum sql_id sql, struct error *err)
{
	struct query q;
	query_start(&q, db, sql, err);
	return query_run(&q);
}

/* Counts all rows, copies them, and commits them. */
static bool copy_all(struct copying *c)
{
	struct db *files = c->from.dbs[COPY_FILES];
	int64_t rows = 0, bytes = 0;
	for (int d = 0; d < COPY_DATABASES; d++)
		if (!copy_ask(c->to.dbs[d], counts[d], &rows, c->err))
			return false;
	if (rows)
		return error_set(c->err, ERR_STORAGE,
		    "the target is not empty: a copy needs an empty one, so that nothing is lost");
	for (int d = 0; d < COPY_DATABASES; d++)
		if (c->from.dbs[d] && !copy_ask(c->from.dbs[d], counts[d], &c->all, c->err))
			return false;
	if (files &&
	    (!copy_ask(files, SQL_COPYING_LOCAL, &c->report->local_files, c->err) ||
		!copy_ask(files, SQL_COPYING_BYTES, &bytes, c->err)))
		return false;
	if (bytes)
		return error_set(c->err, ERR_STORAGE,
		    "%lld files have their bytes in the database (MEDIA_STORAGE_TYPE), and "
		    "SQLite has no place for them: delete them first",
		    (long long)bytes);
	for (enum copy_database d = 0; d < COPY_DATABASES; d++)
		for (const struct copy_table *t = tables[d]; c->from.dbs[d] && t->name; t++)
			if (!copy_table(c, t, c->from.dbs[d], c->to.dbs[d]))
				return false;
	if (!copy_execute(c->to.dbs[COPY_THREADS], SQL_COPYING_SETTLE, c->err))
		return false;
	for (int d = 0; d < COPY_DATABASES; d++)
		if ((d == 0 || c->to.dbs[d] != c->to.dbs[0]) && !db_commit(c->to.dbs[d], c->err))
			return false;
	return c->to.ops->publish(&c->to, c->err);
}

bool copy_begin(struct db *db, struct error *err)
{
	struct query q;
	const char *host;
	if (!db_begin(db, err) || !copy_execute(db, SQL_COPYING_PATIENCE, err) ||
	    !copy_execute(db, SQL_COPYING_LOCK, err))
		return false;
	query_start(&q, db, SQL_COPYING_BUSY, err);
	host = query_row(&q) ? query_column_text(&q, COPYING_BUSY_HOST) : NULL;
	if (host)
		error_set(err, ERR_STORAGE,
		    "a service on %s works on the database: stop it, and wait for 10 s", host);
	return query_end(&q) && !host;
}

bool sql_copy(const struct copy_ops *from_ops, const char *from, const struct copy_ops *to_ops,
    const char *to, struct copy_report *report, struct error *err)
{
	struct copying c = {.from = {.ops = from_ops},
	    .to = {.ops = to_ops},
	    .report = report,
	    .tell_at = clock_monotonic_ms() + TELL_MS,
	    .err = err};
	bool done = from_ops->open(&c.from, from, false, err) &&
	    to_ops->open(&c.to, to, true, err) && copy_all(&c);
	for (int d = 0; !done && d < COPY_DATABASES; d++)
		if (c.to.dbs[d] && (d == 0 || c.to.dbs[d] != c.to.dbs[0]))
			db_rollback(c.to.dbs[d]);
	to_ops->close(&c.to);
	from_ops->close(&c.from);
	return done;
}
