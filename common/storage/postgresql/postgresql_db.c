/* SPDX-License-Identifier: ISC */
/* Transactions and queries on PostgreSQL. */
#include "storage/postgresql/postgresql_db.h"

#include "base/id.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "storage/memory_filter.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Types of the server's catalogue, which never change their numbers. */
enum {
	TYPE_BOOL = 16,
	TYPE_BYTEA = 17,
	TYPE_INT8 = 20,
	TYPE_INT4 = 23,
	TYPE_TEXT = 25,
	TYPE_FLOAT8 = 701,
	TYPE_NUMERIC = 1700
};

#define DRAINED_ROWS 256  /* what comes of a query before it is cheaper to have it cancelled */
#define PENDING_MOST 1024 /* statements on their way */
#define CLEAR_UP_MS 30000 /* how long it is asked what became of a commit */

struct postgresql_db {
	struct db db; /* first, so that one pointer is both */
	struct postgresql_server *server;
	struct postgresql_connection *connection; /* of the transaction; NULL outside */
	bool again;           /* the transaction that failed would do when it is run again */
	char transaction[64]; /* its id; "" until the server has told it */
	int64_t writer;       /* who writes here, and its number, by which the commit is known */
	int64_t number;
	struct query note; /* of that, behind BEGIN */
	int64_t changes, last_row;

	/* Statements of the transaction that were sent, and whose results nobody has looked at yet;
	 * who asked for that of each, if anybody. */
	bool pipelined;
	int pending;
	struct postgresql_query *askers[PENDING_MOST];
	struct postgresql_query *asked;  /* queries that were sent ahead and have not ended */
	enum postgresql_failure failure; /* of one of them, which nobody was told; why says it */
	struct error why;
};

struct postgresql_query {
	enum sql_id id;
	const struct postgresql_text *text;
	struct postgresql_connection *connection; /* its own, where there is no transaction */

	const char *values[POSTGRESQL_PARAMETERS];
	int lengths[POSTGRESQL_PARAMETERS];
	int formats[POSTGRESQL_PARAMETERS]; /* 1: binary */
	unsigned types[POSTGRESQL_PARAMETERS];
	char *owned[POSTGRESQL_PARAMETERS]; /* values that are freed with the query */

	bool sent;
	bool over;                /* no more results come */
	struct pg_result *result; /* rows of it */
	int row, rows;            /* the present one, counted from 0; -1 before the first */
	const struct waiter *waiter;

	bool ahead;      /* it was sent ahead of others, and its result comes with theirs */
	struct query *q; /* its own, where that is so */
	struct postgresql_query *next_asked;

	int fits;       /* column that filters are held against; -1: none */
	cJSON *filters; /* parsed once */
	int filters_at; /* the parameter; -1: none */
};

static struct postgresql_db *db_of(struct db *db)
{
	return (struct postgresql_db *)db;
}

static const struct libpq *pq_of(struct db *db)
{
	return postgresql_libpq(db_of(db)->server);
}

/* ---- transactions ---- */

static struct db *postgresql_open(
    const struct db_source *source, enum db_mode mode, struct error *err)
{
	struct postgresql_db *db = xcalloc(1, sizeof(*db));

	(void)mode;
	(void)err;
	db->db.driver = &postgresql_driver;
	db->server = source->server;
	random_bytes(&db->writer, sizeof(db->writer));
	return &db->db;
}

static void postgresql_close(struct db *base)
{
	assert(!db_of(base)->connection);
	free(base);
}

static void db_let_go(struct postgresql_db *db)
{
	if (db->connection)
		postgresql_give_back(db->server, db->connection);
	db->connection = NULL;
	db->pipelined = false;
	db->pending = 0;
}

/* Notes what a failure means for the transaction that it ends. */
static void db_note(struct postgresql_db *db, enum postgresql_failure failure)
{
	if (failure == POSTGRESQL_LOST || failure == POSTGRESQL_AGAIN)
		db->again = true;
}

/* ---- statements on their way ---- */

/* The result of the next one that was sent, and what ends it. */
static enum postgresql_failure db_next(
    struct postgresql_db *db, struct pg_result **result, struct error *err)
{
	struct error ignored = {0};
	struct pg_result *end;
	enum postgresql_failure failure =
	    postgresql_next(db->server, db->connection, NULL, result, err);

	if (failure == POSTGRESQL_LOST)
		return failure;
	if (*result)
		db->changes = strtoll(pq_of(&db->db)->cmd_tuples(*result), NULL, 10);
	if (postgresql_next(db->server, db->connection, NULL, &end, &ignored) == POSTGRESQL_LOST) {
		pq_of(&db->db)->clear(*result);
		*result = NULL;
		failure = POSTGRESQL_LOST;
		error_release(err);
		error_move(err, &ignored);
	}
	error_release(&ignored);
	return failure;
}

/* The result of that one goes to who has asked for it; what nobody has asked for comes back. */
static struct pg_result *db_hand_over(struct postgresql_db *db, int at, struct pg_result *result)
{
	const struct libpq *pq = pq_of(&db->db);
	struct postgresql_query *p = db->askers[at];

	if (p && p == db->note.stmt && result && pq->ntuples(result) == 1)
		snprintf(
		    db->transaction, sizeof(db->transaction), "%s", pq->getvalue(result, 0, 0));
	if (!p)
		return result;
	p->result = result;
	p->rows = result ? pq->ntuples(result) : 0;
	p->over = true;
	return NULL;
}

/* Waits for all; *last is the result of the last one, where last is not NULL. */
static enum postgresql_failure db_collect(
    struct postgresql_db *db, struct pg_result **last, struct error *err)
{
	const struct libpq *pq = pq_of(&db->db);
	enum postgresql_failure failure = POSTGRESQL_FINE, next = POSTGRESQL_FINE;
	struct pg_result *result = NULL;

	if (!db->pipelined)
		return POSTGRESQL_FINE;
	if (!pq->pipeline_sync(db->connection->conn))
		return postgresql_unsent(db->server, db->connection, err);
	for (int at = 0; at < db->pending && next != POSTGRESQL_LOST; at++) {
		struct error own = {0};

		pq->clear(result);
		next = db_next(db, &result, &own);
		if (failure == POSTGRESQL_FINE || next == POSTGRESQL_LOST) {
			failure = next;
			error_release(err);
			error_move(err, &own);
		}
		error_release(&own);
		result = db_hand_over(db, at, result);
	}
	if (last && failure == POSTGRESQL_FINE)
		*last = result;
	else
		pq->clear(result);
	db->pending = 0;
	db->pipelined = false;
	if (failure == POSTGRESQL_LOST)
		return failure;
	next = postgresql_next(db->server, db->connection, NULL, &result, err);
	pq->clear(result);
	if (next == POSTGRESQL_FINE && !pq->exit_pipeline_mode(db->connection->conn))
		next = postgresql_unsent(db->server, db->connection, err);
	return failure == POSTGRESQL_FINE ? next : failure;
}

/* For who has nowhere to say that it failed; the next one says it. */
static void db_settle(struct postgresql_db *db)
{
	if (db->connection && db->failure == POSTGRESQL_FINE)
		db->failure = db_collect(db, NULL, &db->why);
}

/* Tells what nobody was told. */
static enum postgresql_failure db_earlier(struct postgresql_db *db, struct error *err)
{
	if (db->failure != POSTGRESQL_FINE && !error_is_set(err) && error_is_set(&db->why))
		error_move(err, &db->why);
	return db->failure;
}

static void db_forget(struct postgresql_db *db)
{
	db->failure = POSTGRESQL_FINE;
	error_release(&db->why);
	db->why = (struct error){0};
}

/* One that is behind what was sent so far. */
static bool db_send(struct postgresql_db *db, const char *sql)
{
	if (!pq_of(&db->db)->send_query_params(
		db->connection->conn, sql, 0, NULL, NULL, NULL, NULL, 0))
		return false;
	db->askers[db->pending++] = NULL;
	return true;
}

/* What units have asked for and not looked at, as the transaction is over. */
static void db_forget_asked(struct postgresql_db *db)
{
	while (db->asked) {
		struct query *q = db->asked->q;

		q->failed = true;
		db->db.driver->end(q);
	}
}

static const char *postgresql_statement(enum sql_id id)
{
	return sql_statements[id].postgresql;
}

static bool postgresql_script(struct db *base, const char *sql, struct error *err)
{
	struct postgresql_db *db = db_of(base);
	struct postgresql_connection *c = postgresql_take(db->server, false, err);
	bool ok;

	if (!c)
		return false;
	ok = postgresql_execute(db->server, c, sql, NULL, 0, err) == POSTGRESQL_FINE;
	postgresql_give_back(db->server, c);
	return ok;
}

static void postgresql_rollback(struct db *base)
{
	struct postgresql_db *db = db_of(base);
	struct error ignored = {0};

	if (!db->connection)
		return;
	db_collect(db, NULL, &ignored);
	error_release(&ignored);
	db_forget_asked(db);
	db_forget(db);
	if (pq_of(base)->status(db->connection->conn) == LIBPQ_CONNECTION_OK)
		postgresql_execute(db->server, db->connection, "ROLLBACK", NULL, 0, &ignored);
	error_release(&ignored);
	db_let_go(db);
}

/* Which transaction it is: where the answer to its commit is lost, that is what can be asked for.
 */
static bool db_note_commit(struct postgresql_db *db, struct error *err)
{
	query_start(&db->note, &db->db, SQL_COMMIT_NOTE, err);
	query_int(&db->note, ":writer", db->writer);
	query_int(&db->note, ":number", ++db->number);
	query_send(&db->note);
	return !db->note.failed;
}

/* Goes with the first statements: what comes of it is seen with theirs. */
static bool postgresql_begin(struct db *base, struct error *err)
{
	struct postgresql_db *db = db_of(base);

	db->again = false;
	*db->transaction = '\0';
	db->connection = postgresql_take(db->server, false, err);
	if (!db->connection)
		return false;
	db->pipelined = pq_of(base)->enter_pipeline_mode(db->connection->conn) != 0;
	if (!db->pipelined || !db_send(db, "BEGIN"))
		db_note(db, postgresql_unsent(db->server, db->connection, err));
	else if (db_note_commit(db, err))
		return true;
	postgresql_rollback(base);
	return false;
}

/* What became of the transaction; "" when it cannot be found out now. */
static void db_ask(struct postgresql_db *db, char status[32])
{
	struct error ignored = {0};
	struct postgresql_connection *c = postgresql_take(db->server, true, &ignored);
	char sql[192];

	/* nobody commits what has no id */
	snprintf(status, 32, "%s", *db->transaction ? "" : "aborted");
	if (c && !*status) {
		snprintf(sql, sizeof(sql), "SELECT pg_xact_status('%s'::xid8)", db->transaction);
		/* an id that is yet to come is one that a standby never heard of */
		if (postgresql_execute(db->server, c, sql, status, 32, &ignored) ==
		    POSTGRESQL_REFUSED)
			snprintf(status, 32, "aborted");
	}
	if (c && strcmp(status, "committed") == 0) { /* that, or one with its id since a crash */
		snprintf(sql, sizeof(sql),
		    "SELECT CASE count(*) WHEN 0 THEN 'aborted' ELSE 'committed' END FROM commits "
		    "WHERE writer = %" PRId64 " AND number = %" PRId64,
		    db->writer, db->number);
		if (postgresql_execute(db->server, c, sql, status, 32, &ignored) != POSTGRESQL_FINE)
			*status = '\0';
	}
	if (c)
		postgresql_give_back(db->server, c);
	error_release(&ignored);
}

/* Behind a commit whose answer was lost: true when it was one. */
static bool db_clear_up(struct postgresql_db *db, struct error *err)
{
	int64_t end = clock_monotonic_ms() + CLEAR_UP_MS;
	char status[32];

	for (;;) {
		db_ask(db, status);
		if (strcmp(status, "committed") == 0) {
			error_release(err);
			return true;
		}
		if (strcmp(status, "aborted") == 0) {
			db->again = true;
			return false;
		}
		if (clock_monotonic_ms() > end)
			break;
		clock_sleep_ms(50);
	}
	db->again = false;
	return false;
}

/*
 * Behind what is on its way; where one of that fails it is not executed.  Nobody could ask what
 * became of it without the transaction's id, so that is known before.
 */
static enum postgresql_failure db_send_commit(struct postgresql_db *db, struct error *err)
{
	struct postgresql_connection *c = db->connection;
	struct pg_result *committed = NULL;
	enum postgresql_failure failure = POSTGRESQL_FINE;

	if (!*db->transaction)
		failure = db_collect(db, NULL, err);
	if (failure != POSTGRESQL_FINE)
		return failure;
	if (!db->pipelined)
		return postgresql_execute(db->server, c, "COMMIT", NULL, 0, err);
	if (!db_send(db, "COMMIT"))
		return postgresql_unsent(db->server, c, err);
	failure = db_collect(db, &committed, err);
	if (!committed)
		return failure;
	/* whatever came behind it */
	pq_of(&db->db)->clear(committed);
	error_release(err);
	return POSTGRESQL_FINE;
}

static bool postgresql_commit(struct db *base, struct error *err)
{
	struct postgresql_db *db = db_of(base);
	enum postgresql_failure failure = db_earlier(db, err);

	if (failure == POSTGRESQL_FINE)
		failure = db_send_commit(db, err);
	db_forget_asked(db);
	if (failure != POSTGRESQL_FINE && failure != POSTGRESQL_LOST) {
		db_note(db, failure);
		postgresql_rollback(base);
		if (failure != POSTGRESQL_PASSES)
			return false;
		/* A failure that may be one of the connection, behind a commit or before it: which
		 * it was.  What has failed by itself is not run again. */
		bool committed = db_clear_up(db, err);

		db->again = false;
		return committed;
	}
	db_forget(db);
	db_let_go(db);
	return failure == POSTGRESQL_FINE || db_clear_up(db, err);
}

static bool postgresql_again(struct db *base)
{
	bool again = db_of(base)->again;

	db_of(base)->again = false;
	return again;
}

static int64_t postgresql_changes(struct db *base)
{
	db_settle(db_of(base));
	return db_of(base)->changes;
}

static int64_t postgresql_last_row(struct db *base)
{
	return db_of(base)->last_row;
}

/* ---- parameters ---- */

static void postgresql_start(struct query *q, enum sql_id id)
{
	struct postgresql_query *p = xcalloc(1, sizeof(*p));

	p->id = id;
	p->text = postgresql_text(id);
	p->row = -1;
	p->fits = p->filters_at = -1;
	q->stmt = p;
}

/* Most code binds them in the order of the text, so that the next one is it.  -1: the statement has
 * no use for it. */
static int postgresql_parameter(struct query *q, const char *name)
{
	const struct postgresql_text *t = ((struct postgresql_query *)q->stmt)->text;

	for (int i = 0; i < t->count; i++) {
		int at = (q->bound + i) % t->count;

		if (strcmp(t->names[at], name) == 0) {
			q->bound = at + 1;
			return at;
		}
	}
	return -1;
}

static void bind_text(struct query *q, const char *name, const char *value, size_t len)
{
	struct postgresql_query *p = q->stmt;
	int at = postgresql_parameter(q, name);

	if (at < 0)
		return;
	free(p->owned[at]);
	/* libpq reads to the NUL */
	p->owned[at] = value && value[len] ? xstrndup(value, len) : NULL;
	p->values[at] = p->owned[at] ? p->owned[at] : value;
	p->types[at] = TYPE_TEXT;
	if (strcmp(name, ":filters") == 0)
		p->filters_at = at;
}

static void bind_integer(struct query *q, const char *name, int64_t value)
{
	struct postgresql_query *p = q->stmt;
	int at = postgresql_parameter(q, name);

	if (at < 0)
		return;
	free(p->owned[at]);
	p->values[at] = p->owned[at] = xasprintf("%" PRId64, value);
	p->types[at] = TYPE_INT8;
}

static void bind_blob(struct query *q, const char *name, const void *value, size_t size)
{
	struct postgresql_query *p = q->stmt;
	int at = postgresql_parameter(q, name);

	if (at < 0)
		return;
	p->values[at] = value;
	p->lengths[at] = (int)size;
	p->formats[at] = 1;
	p->types[at] = TYPE_BYTEA;
}

static void query_of_waiter(struct query *q, const struct waiter *waiter)
{
	((struct postgresql_query *)q->stmt)->waiter = waiter;
}

/* ---- execution ---- */

static bool query_failed(struct query *q, enum postgresql_failure failure)
{
	q->failed = true;
	db_note(db_of(q->db), failure);
	return false;
}

static struct postgresql_connection *query_connection(struct query *q)
{
	const struct postgresql_query *p = q->stmt;

	return p->connection ? p->connection : db_of(q->db)->connection;
}

static enum postgresql_failure query_prepare(struct query *q)
{
	const struct postgresql_query *p = q->stmt;
	struct postgresql_server *s = db_of(q->db)->server;
	struct postgresql_connection *c = query_connection(q);
	enum postgresql_failure failure = POSTGRESQL_FINE, next;
	struct pg_result *result;
	char name[16];

	if (c->prepared[p->id] || c->pooled)
		return POSTGRESQL_FINE;
	snprintf(name, sizeof(name), "s%d", (int)p->id);
	if (!pq_of(q->db)->send_prepare(c->conn, name, p->text->sql, p->text->count, p->types))
		return postgresql_unsent(s, c, q->err);
	do {
		next = postgresql_next(s, c, NULL, &result, q->err);
		failure = failure == POSTGRESQL_FINE ? next : failure;
		if (result)
			pq_of(q->db)->clear(result);
	} while (next != POSTGRESQL_LOST && (result || next != POSTGRESQL_FINE));
	if (failure == POSTGRESQL_REFUSED)
		error_cause(q->err, "statement %s", sql_statements[p->id].name);
	c->prepared[p->id] = failure == POSTGRESQL_FINE;
	return failure;
}

/* Sends it: by its name, or behind a pooler, whose sessions do not know it, as a text. */
static int query_post(struct query *q, struct postgresql_connection *c)
{
	const struct postgresql_query *p = q->stmt;
	const struct libpq *pq = pq_of(q->db);
	char name[16];

	if (c->pooled)
		return pq->send_query_params(c->conn, p->text->sql, p->text->count, p->types,
		    p->values, p->lengths, p->formats, 1);
	snprintf(name, sizeof(name), "s%d", (int)p->id);
	return pq->send_query_prepared(
	    c->conn, name, p->text->count, p->values, p->lengths, p->formats, 1);
}

/* Outside of transactions: rows that come one by one let a reader end early. */
static enum postgresql_failure query_send_alone(struct query *q)
{
	struct postgresql_connection *c = query_connection(q);
	enum postgresql_failure failure;

	failure = query_prepare(q);
	if (failure != POSTGRESQL_FINE)
		return failure;
	if (!query_post(q, c))
		return postgresql_unsent(db_of(q->db)->server, c, q->err);
	pq_of(q->db)->set_single_row_mode(c->conn);
	return POSTGRESQL_FINE;
}

/* The next result, which may be that there is none. */
static enum postgresql_failure query_next(struct query *q)
{
	struct postgresql_query *p = q->stmt;
	struct postgresql_db *db = db_of(q->db);
	const struct libpq *pq = pq_of(q->db);
	enum postgresql_failure failure;

	if (p->result)
		pq->clear(p->result);
	p->row = -1;
	p->rows = 0;
	failure = postgresql_next(db->server, query_connection(q), p->waiter, &p->result, q->err);
	if (failure != POSTGRESQL_FINE) {
		p->over = failure == POSTGRESQL_LOST || failure == POSTGRESQL_LEFT;
		return failure;
	}
	p->over = !p->result;
	if (!p->result)
		return POSTGRESQL_FINE;
	p->rows = pq->ntuples(p->result);
	db->changes = strtoll(pq->cmd_tuples(p->result), NULL, 10);
	return POSTGRESQL_FINE;
}

/* What nobody reads any more. */
static void query_drain(struct query *q)
{
	struct postgresql_query *p = q->stmt;
	struct postgresql_db *db = db_of(q->db);
	enum postgresql_failure failure = POSTGRESQL_FINE;
	struct error ignored = {0};

	if (p->result)
		pq_of(q->db)->clear(p->result);
	p->result = NULL;
	for (int rows = 0; p->sent && !p->over && failure != POSTGRESQL_LOST; rows++) {
		if (rows == DRAINED_ROWS) {
			postgresql_abandon(db->server, query_connection(q));
			break;
		}
		failure =
		    postgresql_next(db->server, query_connection(q), NULL, &p->result, &ignored);
		p->over = !p->result && failure == POSTGRESQL_FINE;
		if (p->result)
			pq_of(q->db)->clear(p->result);
		p->result = NULL;
	}
	error_release(&ignored);
	p->over = true;
}

/* Reads, and single writes that a second execution leaves as they are, may be sent again. */
static bool query_may_repeat(const struct postgresql_query *p)
{
	return strncmp(p->text->sql, "SELECT", 6) == 0 || strncmp(p->text->sql, "WITH", 4) == 0;
}

/* Of a transaction: behind what is on its way. */
static enum postgresql_failure query_queue(struct query *q)
{
	const struct postgresql_query *p = q->stmt;
	struct postgresql_db *db = db_of(q->db);
	const struct libpq *pq = pq_of(q->db);
	struct postgresql_connection *c = db->connection;
	enum postgresql_failure failure;

	if ((!c->prepared[p->id] && !c->pooled) || db->pending + 1 == PENDING_MOST)
		db_settle(db);
	failure = db_earlier(db, q->err);
	if (failure == POSTGRESQL_FINE)
		failure = query_prepare(q);
	if (failure != POSTGRESQL_FINE)
		return failure;
	if ((!db->pipelined && !pq->enter_pipeline_mode(c->conn)) || !query_post(q, c))
		return postgresql_unsent(db->server, c, q->err);
	db->pipelined = true;
	db->askers[db->pending++] = p->ahead ? q->stmt : NULL;
	return POSTGRESQL_FINE;
}

static void postgresql_send(struct query *q)
{
	struct postgresql_query *p = q->stmt;
	struct postgresql_db *db = db_of(q->db);
	enum postgresql_failure failure;

	if (!db->connection)
		return;
	p->ahead = p->sent = true;
	failure = query_queue(q);
	if (failure != POSTGRESQL_FINE) { /* whoever has asked may be gone before the rollback */
		query_failed(q, failure);
		db->db.driver->end(q);
		return;
	}
	p->q = q;
	p->next_asked = db->asked;
	db->asked = p;
}

/* The same, and waits for its rows, which come all at once. */
static enum postgresql_failure query_execute_in(struct query *q)
{
	struct postgresql_query *p = q->stmt;
	enum postgresql_failure failure = query_queue(q);

	p->over = p->sent = true;
	if (failure == POSTGRESQL_FINE)
		failure = db_collect(db_of(q->db), &p->result, q->err);
	if (failure == POSTGRESQL_FINE && p->result)
		p->rows = pq_of(q->db)->ntuples(p->result);
	return failure;
}

static bool query_execute_once(struct query *q, bool fresh, enum postgresql_failure *failure)
{
	struct postgresql_query *p = q->stmt;
	struct postgresql_db *db = db_of(q->db);

	*failure = POSTGRESQL_REFUSED;
	if (db->connection) {
		*failure = query_execute_in(q);
		return *failure == POSTGRESQL_FINE;
	}
	if (!(p->connection = postgresql_take(db->server, fresh, q->err)))
		return false;
	*failure = query_send_alone(q);
	if (*failure != POSTGRESQL_FINE)
		return false;
	p->sent = true;
	p->over = false;
	*failure = query_next(q);
	return *failure == POSTGRESQL_FINE;
}

static bool query_execute(struct query *q)
{
	struct postgresql_query *p = q->stmt;
	struct postgresql_db *db = db_of(q->db);
	enum postgresql_failure failure;

	if (query_execute_once(q, false, &failure))
		return true;
	if (failure == POSTGRESQL_LOST && p->connection && p->connection->reused &&
	    query_may_repeat(p)) {
		postgresql_give_back(db->server, p->connection);
		p->connection = NULL;
		p->sent = false;
		error_release(q->err);
		if (query_execute_once(q, true, &failure))
			return true;
	}
	return query_failed(q, failure);
}

/* ---- rows ---- */

static void query_note_fits(struct query *q)
{
	struct postgresql_query *p = q->stmt;
	const struct libpq *pq = pq_of(q->db);
	const char *filters = p->filters_at >= 0 ? p->values[p->filters_at] : NULL;
	int last = pq->nfields(p->result) - 1;

	if (p->filters || !filters || last < 0 ||
	    strcmp(pq->fname(p->result, last), "memory_fits") != 0)
		return;
	p->fits = last;
	p->filters = json_parse(filters, strlen(filters), JSON_TRUSTED_DEPTH, NULL);
}

static bool query_row_fits(struct query *q)
{
	const struct postgresql_query *p = q->stmt;
	const struct libpq *pq = pq_of(q->db);
	cJSON *metadata;
	bool fits;

	if (p->fits < 0)
		return true;
	metadata = json_parse(pq->getvalue(p->result, p->row, p->fits),
	    (size_t)pq->getlength(p->result, p->row, p->fits), JSON_TRUSTED_DEPTH, NULL);
	fits = metadata && p->filters && memory_filter_fits(metadata, p->filters);
	cJSON_Delete(metadata);
	return fits;
}

static bool query_step(struct query *q)
{
	struct postgresql_query *p = q->stmt;
	enum postgresql_failure failure;

	if (p->ahead) {
		db_settle(db_of(q->db));
		failure = db_earlier(db_of(q->db), q->err);
		if (failure != POSTGRESQL_FINE)
			return query_failed(q, failure);
		db_of(q->db)->changes = strtoll(pq_of(q->db)->cmd_tuples(p->result), NULL, 10);
	}
	for (;;) {
		if (!p->sent && !query_execute(q))
			return false;
		if (p->result && ++p->row < p->rows) {
			query_note_fits(q);
			return true;
		}
		if (p->over)
			return false;
		failure = query_next(q);
		if (failure != POSTGRESQL_FINE)
			return query_failed(q, failure);
	}
}

/* Of what writes, the row that came back is the number of what was made. */
static void query_note_row(struct query *q);

static bool postgresql_row(struct query *q)
{
	const struct postgresql_query *p = q->stmt;

	while (query_step(q)) {
		if (!query_row_fits(q)) {
			if (p->waiter && p->waiter->gone(p->waiter->arg)) {
				error_set(q->err, ERR_TRANSIENT_STORAGE, NULL);
				q->err->status = 499;
				error_cause(q->err, "the client left before its answer was found");
				return query_failed(q, POSTGRESQL_LEFT);
			}
			continue;
		}
		query_note_row(q);
		return true;
	}
	return false;
}

static bool value_is_null(struct query *q, int column)
{
	const struct postgresql_query *p = q->stmt;
	const struct libpq *pq = pq_of(q->db);

	return column >= pq->nfields(p->result) || pq->getisnull(p->result, p->row, column);
}

static enum db_kind take_kind(struct query *q, int column)
{
	const struct postgresql_query *p = q->stmt;

	if (value_is_null(q, column))
		return DB_NULL;
	switch (pq_of(q->db)->ftype(p->result, column)) {
	case TYPE_BOOL:
	case TYPE_INT4:
	case TYPE_INT8:
	case TYPE_NUMERIC:
		return DB_INT;
	case TYPE_FLOAT8:
		return DB_DOUBLE;
	case TYPE_BYTEA:
		return DB_BLOB;
	default:
		return DB_TEXT;
	}
}

static const char *take_text(struct query *q, int column)
{
	const struct postgresql_query *p = q->stmt;

	return value_is_null(q, column) ? NULL : pq_of(q->db)->getvalue(p->result, p->row, column);
}

static uint64_t value_bits(const unsigned char *value, int len)
{
	uint64_t bits = 0;

	for (int i = 0; i < len; i++)
		bits = bits << 8 | value[i];
	return bits;
}

/* A whole number in base 10000: how many digits, the weight of the first, sign, scale, digits. */
static int64_t value_numeric(const unsigned char *value)
{
	int digits = (int)value_bits(value, 2), weight = (int16_t)value_bits(value + 2, 2);
	bool negative = value_bits(value + 4, 2) == 0x4000;
	int64_t number = 0;

	for (int i = 0; i <= weight; i++)
		number =
		    number * 10000 + (i < digits ? (int64_t)value_bits(value + 8 + 2 * i, 2) : 0);
	return negative ? -number : number;
}

static double value_double(const unsigned char *value)
{
	uint64_t bits = value_bits(value, 8);
	double number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

static int64_t take_int(struct query *q, int column)
{
	const struct postgresql_query *p = q->stmt;
	const struct libpq *pq = pq_of(q->db);
	const unsigned char *value;

	if (value_is_null(q, column))
		return 0;
	value = (const unsigned char *)pq->getvalue(p->result, p->row, column);
	switch (pq->ftype(p->result, column)) {
	case TYPE_BOOL:
		return *value;
	case TYPE_INT4:
		return (int32_t)value_bits(value, 4);
	case TYPE_INT8:
		return (int64_t)value_bits(value, 8);
	case TYPE_NUMERIC:
		return value_numeric(value);
	case TYPE_FLOAT8:
		return (int64_t)value_double(value);
	default:
		assert(!"a column that is no number");
		return 0;
	}
}

static double take_double(struct query *q, int column)
{
	const struct postgresql_query *p = q->stmt;
	const struct libpq *pq = pq_of(q->db);

	if (value_is_null(q, column))
		return 0;
	if (pq->ftype(p->result, column) == TYPE_FLOAT8)
		return value_double((const unsigned char *)pq->getvalue(p->result, p->row, column));
	return (double)take_int(q, column);
}

static const void *take_blob(struct query *q, int column, size_t *size)
{
	const struct postgresql_query *p = q->stmt;
	const struct libpq *pq = pq_of(q->db);

	*size = 0;
	if (value_is_null(q, column))
		return NULL;
	*size = (size_t)pq->getlength(p->result, p->row, column);
	return pq->getvalue(p->result, p->row, column);
}

static void query_note_row(struct query *q)
{
	const struct postgresql_query *p = q->stmt;

	if (strncmp(p->text->sql, "INSERT", 6) == 0)
		db_of(q->db)->last_row = take_int(q, 0);
}

static void postgresql_end(struct query *q)
{
	struct postgresql_query *p = q->stmt;
	struct postgresql_db *db = db_of(q->db);

	for (struct postgresql_query **at = &db->asked; p->ahead && *at; at = &(*at)->next_asked)
		if (*at == p) {
			*at = p->next_asked;
			break;
		}
	for (int i = 0; p->ahead && i < db->pending; i++)
		if (db->askers[i] == p)
			db->askers[i] = NULL;
	p->over |= p->ahead; /* what comes is nobody's */
	query_drain(q);
	if (p->connection)
		postgresql_give_back(db->server, p->connection);
	for (int i = 0; i < p->text->count; i++)
		free(p->owned[i]);
	cJSON_Delete(p->filters);
	free(p);
	q->stmt = NULL;
}

/* What gives no number of a row is not waited for within a transaction. */
static bool postgresql_run(struct query *q)
{
	const struct postgresql_query *p = q->stmt;
	enum postgresql_failure failure;

	if (!db_of(q->db)->connection || p->text->gives_number) {
		postgresql_row(q);
	} else {
		failure = query_queue(q);
		if (failure != POSTGRESQL_FINE)
			query_failed(q, failure);
	}
	postgresql_end(q);
	return !q->failed;
}

/* ---- databases ---- */

static bool postgresql_is_there(const struct db_source *source)
{
	(void)source;
	return true;
}

/* The engine has brought the one schema up to date when it was opened. */
static struct db *postgresql_open_current(const struct db_source *source, const char *name,
    enum db_mode mode, struct turnstile *turnstile, struct error *err)
{
	(void)name;
	(void)turnstile;
	return postgresql_open(source, mode, err);
}

const struct db_driver postgresql_driver = {
    .open = postgresql_open,
    .close = postgresql_close,
    .statement = postgresql_statement,
    .script = postgresql_script,
    .begin = postgresql_begin,
    .commit = postgresql_commit,
    .rollback = postgresql_rollback,
    .changes = postgresql_changes,
    .last_row = postgresql_last_row,
    .again = postgresql_again,
    .side_by_side = true,
    .is_there = postgresql_is_there,
    .open_current = postgresql_open_current,
    .start = postgresql_start,
    .text = bind_text,
    .integer = bind_integer,
    .blob = bind_blob,
    .watch = query_of_waiter,
    .send = postgresql_send,
    .row = postgresql_row,
    .run = postgresql_run,
    .column_kind = take_kind,
    .column_text = take_text,
    .column_int = take_int,
    .column_double = take_double,
    .column_blob = take_blob,
    .end = postgresql_end,
};
