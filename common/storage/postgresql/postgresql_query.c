/* SPDX-License-Identifier: ISC */
/* Queries on PostgreSQL: alone, or behind what a transaction has on its way. */
#include "storage/postgresql/postgresql_internal.h"

#include "base/json/json.h"
#include "base/memory.h"
#include "storage/memory_filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* rows of an abandoned query to read before it is cheaper to cancel it */
#define DRAINED_ROWS 256

void postgresql_query_start(struct query *q, enum sql_id id)
{
	struct postgresql_query *p = xcalloc(1, sizeof(*p));
	p->id = id;
	p->text = postgresql_text(id);
	p->row = -1;
	p->fits = p->filters_at = -1;
	q->stmt = p;
}

void postgresql_query_watch(struct query *q, const struct waiter *waiter)
{
	((struct postgresql_query *)q->stmt)->waiter = waiter;
}

/* ---- execution ---- */

static bool query_failed(struct query *q, enum postgresql_failure failure)
{
	q->failed = true;
	pipeline_note(postgresql_db_of(q->db), failure);
	return false;
}

static struct postgresql_connection *query_connection(struct query *q)
{
	const struct postgresql_query *p = q->stmt;
	return p->connection ? p->connection : postgresql_db_of(q->db)->connection;
}

static enum postgresql_failure query_prepare(struct query *q)
{
	const struct postgresql_query *p = q->stmt;
	struct postgresql_server *s = postgresql_db_of(q->db)->server;
	struct postgresql_connection *c = query_connection(q);
	enum postgresql_failure failure = POSTGRESQL_FINE, next;
	struct pg_result *result;
	char name[16];
	if (c->prepared[p->id] || c->pooled)
		return POSTGRESQL_FINE;
	snprintf(name, sizeof(name), "s%d", (int)p->id);
	if (!postgresql_pq_of(q->db)->send_prepare(
		c->conn, name, p->text->sql, p->text->count, p->types))
		return postgresql_unsent(s, c, q->err);
	do {
		next = postgresql_next(s, c, NULL, &result, q->err);
		failure = failure == POSTGRESQL_FINE ? next : failure;
		if (result)
			postgresql_pq_of(q->db)->clear(result);
	} while (next != POSTGRESQL_LOST && (result || next != POSTGRESQL_FINE));
	if (failure == POSTGRESQL_REFUSED)
		error_cause(q->err, "statement %s", sql_statements[p->id].name);
	c->prepared[p->id] = failure == POSTGRESQL_FINE;
	return failure;
}

/* Sends the query: as a prepared statement or, behind a pooler, whose sessions do not know that, as
 * text. */
static int query_post(struct query *q, struct postgresql_connection *c)
{
	const struct postgresql_query *p = q->stmt;
	const struct libpq *pq = postgresql_pq_of(q->db);
	char name[16];
	if (c->pooled)
		return pq->send_query_params(c->conn, p->text->sql, p->text->count, p->types,
		    p->values, p->lengths, p->formats, 1);
	snprintf(name, sizeof(name), "s%d", (int)p->id);
	return pq->send_query_prepared(
	    c->conn, name, p->text->count, p->values, p->lengths, p->formats, 1);
}

/* Takes the next result, or the end of them. */
static enum postgresql_failure query_next(struct query *q)
{
	struct postgresql_query *p = q->stmt;
	struct postgresql_db *db = postgresql_db_of(q->db);
	const struct libpq *pq = postgresql_pq_of(q->db);
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

/* Gets rid of rows that nobody reads any more. */
static void query_drain(struct query *q)
{
	struct postgresql_query *p = q->stmt;
	struct postgresql_db *db = postgresql_db_of(q->db);
	enum postgresql_failure failure = POSTGRESQL_FINE;
	struct error ignored = {0};
	if (p->result)
		postgresql_pq_of(q->db)->clear(p->result);
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
			postgresql_pq_of(q->db)->clear(p->result);
		p->result = NULL;
	}
	error_release(&ignored);
	p->over = true;
}

/* Whether a query may be sent again: reads may, and single writes that have the same effect when
 * they are executed twice. */
static bool query_may_repeat(const struct postgresql_query *p)
{
	return strncmp(p->text->sql, "SELECT", 6) == 0 || strncmp(p->text->sql, "WITH", 4) == 0;
}

/* Sends a query of a transaction, behind the statements that are on their way. */
static enum postgresql_failure query_queue(struct query *q)
{
	const struct postgresql_query *p = q->stmt;
	struct postgresql_db *db = postgresql_db_of(q->db);
	const struct libpq *pq = postgresql_pq_of(q->db);
	struct postgresql_connection *c = db->connection;
	enum postgresql_failure failure;
	if ((!c->prepared[p->id] && !c->pooled) || db->pending + 1 == PENDING_MOST)
		pipeline_settle(db);
	failure = pipeline_earlier(db, q->err);
	if (failure == POSTGRESQL_FINE)
		failure = query_prepare(q);
	if (failure != POSTGRESQL_FINE)
		return failure;
	if ((!db->pipelined && !pq->enter_pipeline_mode(c->conn)) || !query_post(q, c))
		return postgresql_unsent(db->server, c, q->err);
	db->pipelined = true;
	db->counted = false;
	db->askers[db->pending++] = p->ahead ? q->stmt : NULL;
	return POSTGRESQL_FINE;
}

void postgresql_query_send(struct query *q)
{
	struct postgresql_query *p = q->stmt;
	struct postgresql_db *db = postgresql_db_of(q->db);
	enum postgresql_failure failure;
	if (!db->connection)
		return;
	p->ahead = p->sent = true;
	failure = query_queue(q);
	if (failure != POSTGRESQL_FINE) { /* the asking unit may be gone before the rollback */
		query_failed(q, failure);
		db->db.driver->end(q);
		return;
	}
	p->q = q;
	p->next_asked = db->asked;
	db->asked = p;
}

static bool query_execute_once(
    struct query *q, enum postgresql_age age, enum postgresql_failure *failure)
{
	struct postgresql_query *p = q->stmt;
	struct postgresql_db *db = postgresql_db_of(q->db);
	const struct libpq *pq = postgresql_pq_of(q->db);
	*failure = POSTGRESQL_REFUSED;
	if (db->connection) { /* in a transaction, its rows come all at once */
		*failure = query_queue(q);
		p->over = p->sent = true;
		if (*failure == POSTGRESQL_FINE)
			*failure = pipeline_collect(db, &p->result, q->err);
		if (*failure == POSTGRESQL_FINE && p->result)
			p->rows = pq->ntuples(p->result);
		return *failure == POSTGRESQL_FINE;
	}
	if (!(p->connection = postgresql_take(db->server, age, q->err)))
		return false;
	*failure = query_prepare(q);
	if (*failure == POSTGRESQL_FINE && !query_post(q, p->connection))
		*failure = postgresql_unsent(db->server, p->connection, q->err);
	if (*failure != POSTGRESQL_FINE)
		return false;
	/* outside of one they come one by one, so that a reader can end early */
	pq->set_single_row_mode(p->connection->conn);
	p->sent = true;
	p->over = false;
	*failure = query_next(q);
	db->db.unclear |= *failure == POSTGRESQL_LOST;
	return *failure == POSTGRESQL_FINE;
}

static bool query_execute(struct query *q)
{
	struct postgresql_query *p = q->stmt;
	struct postgresql_db *db = postgresql_db_of(q->db);
	enum postgresql_failure failure;
	if (!db->connection)
		db->db.unclear = false;
	if (query_execute_once(q, POSTGRESQL_ANY, &failure))
		return true;
	if (failure == POSTGRESQL_LOST && p->connection && p->connection->reused &&
	    query_may_repeat(p)) {
		postgresql_give_back(db->server, p->connection);
		p->connection = NULL;
		p->sent = false;
		error_release(q->err);
		if (query_execute_once(q, POSTGRESQL_FRESH, &failure))
			return true;
	}
	return query_failed(q, failure);
}

/* ---- rows ---- */

static void query_note_fits(struct query *q)
{
	struct postgresql_query *p = q->stmt;
	const struct libpq *pq = postgresql_pq_of(q->db);
	const char *filters = p->filters_at >= 0 ? p->values[p->filters_at] : NULL;
	int last = pq->nfields(p->result) - 1;
	if (p->filters || !filters || last < 0 ||
	    strcmp(pq->fname(p->result, last), "memory_fits") != 0)
		return;
	p->fits = last;
	p->filters = json_parse_own(filters);
}

static bool query_row_fits(struct query *q)
{
	const struct postgresql_query *p = q->stmt;
	const struct libpq *pq = postgresql_pq_of(q->db);
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
	struct postgresql_db *db = postgresql_db_of(q->db);
	enum postgresql_failure failure;
	if (p->ahead) {
		/* if the result came with those of others, do not wait for what was sent since */
		if (!p->over)
			pipeline_settle(db);
		failure = pipeline_earlier(db, q->err);
		if (failure != POSTGRESQL_FINE)
			return query_failed(q, failure);
		db->changes = strtoll(postgresql_pq_of(q->db)->cmd_tuples(p->result), NULL, 10);
		db->counted = true;
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

bool postgresql_query_row(struct query *q)
{
	const struct postgresql_query *p = q->stmt;
	while (query_step(q)) {
		if (!query_row_fits(q)) {
			if (p->waiter && p->waiter->gone(p->waiter->arg)) {
				error_set(q->err, ERR_TRANSIENT_STORAGE, NULL);
				q->err->status = ERROR_NOBODY_WAITS;
				error_cause(q->err, "the client left before its answer was found");
				return query_failed(q, POSTGRESQL_LEFT);
			}
			continue;
		}
		/* a statement that inserts returns the number of the new row */
		if (strncmp(p->text->sql, "INSERT", 6) == 0)
			postgresql_db_of(q->db)->last_row = postgresql_column_int(q, 0);
		return true;
	}
	return false;
}

void postgresql_query_end(struct query *q)
{
	struct postgresql_query *p = q->stmt;
	struct postgresql_db *db = postgresql_db_of(q->db);
	for (struct postgresql_query **at = &db->asked; p->ahead && *at; at = &(*at)->next_asked)
		if (*at == p) {
			*at = p->next_asked;
			break;
		}
	for (int i = 0; p->ahead && i < db->pending; i++)
		if (db->askers[i] == p)
			db->askers[i] = NULL;
	p->over |= p->ahead; /* nobody wants the result any more */
	query_drain(q);
	if (p->connection)
		postgresql_give_back(db->server, p->connection);
	for (int i = 0; i < p->text->count; i++)
		free(p->owned[i]);
	cJSON_Delete(p->filters);
	free(p);
	q->stmt = NULL;
}

/* Within a transaction, a statement is waited for only if it returns the number of a row. */
bool postgresql_query_run(struct query *q)
{
	const struct postgresql_query *p = q->stmt;
	enum postgresql_failure failure;
	if (!postgresql_db_of(q->db)->connection || p->text->gives_number) {
		postgresql_query_row(q);
	} else {
		failure = query_queue(q);
		if (failure != POSTGRESQL_FINE)
			query_failed(q, failure);
	}
	postgresql_query_end(q);
	return !q->failed;
}
