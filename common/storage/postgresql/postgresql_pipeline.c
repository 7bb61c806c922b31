/* SPDX-License-Identifier: ISC */
/* The statements of a transaction that were sent, and whose results nobody has looked at yet. */
#include "storage/postgresql/postgresql_internal.h"

#include <stdio.h>
#include <stdlib.h>

void pipeline_note(struct postgresql_db *db, enum postgresql_failure failure)
{
	if (failure == POSTGRESQL_LOST || failure == POSTGRESQL_AGAIN)
		db->again = true;
}

/* Takes the result of the next statement that was sent, and the end of its results. */
static enum postgresql_failure pipeline_next(
    struct postgresql_db *db, struct pg_result **result, struct error *err)
{
	struct error ignored = {0};
	struct pg_result *end;
	enum postgresql_failure failure =
	    postgresql_next(db->server, db->connection, NULL, result, err);
	if (failure == POSTGRESQL_LOST)
		return failure;
	if (*result)
		db->changes = strtoll(postgresql_pq_of(&db->db)->cmd_tuples(*result), NULL, 10);
	if (postgresql_next(db->server, db->connection, NULL, &end, &ignored) == POSTGRESQL_LOST) {
		postgresql_pq_of(&db->db)->clear(*result);
		*result = NULL;
		failure = POSTGRESQL_LOST;
		error_release(err);
		error_move(err, &ignored);
	}
	error_release(&ignored);
	return failure;
}

/* Hands the result of statement at to the query that wants it; returns it where none does. */
static struct pg_result *pipeline_hand_over(
    struct postgresql_db *db, int at, struct pg_result *result)
{
	const struct libpq *pq = postgresql_pq_of(&db->db);
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

enum postgresql_failure pipeline_collect(
    struct postgresql_db *db, struct pg_result **last, struct error *err)
{
	const struct libpq *pq = postgresql_pq_of(&db->db);
	enum postgresql_failure failure = POSTGRESQL_FINE, next = POSTGRESQL_FINE;
	struct pg_result *result = NULL;
	if (!db->pipelined)
		return POSTGRESQL_FINE;
	if (!pq->pipeline_sync(db->connection->conn))
		return postgresql_unsent(db->server, db->connection, err);
	for (int at = 0; at < db->pending && next != POSTGRESQL_LOST; at++) {
		struct error own = {0};
		pq->clear(result);
		next = pipeline_next(db, &result, &own);
		if (failure == POSTGRESQL_FINE || next == POSTGRESQL_LOST) {
			failure = next;
			error_release(err);
			error_move(err, &own);
		}
		error_release(&own);
		result = pipeline_hand_over(db, at, result);
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

void pipeline_settle(struct postgresql_db *db)
{
	if (db->connection && db->failure == POSTGRESQL_FINE)
		db->failure = pipeline_collect(db, NULL, &db->why);
}

enum postgresql_failure pipeline_earlier(struct postgresql_db *db, struct error *err)
{
	if (db->failure != POSTGRESQL_FINE && !error_is_set(err) && error_is_set(&db->why))
		error_move(err, &db->why);
	return db->failure;
}

void pipeline_forget(struct postgresql_db *db)
{
	db->failure = POSTGRESQL_FINE;
	error_release(&db->why);
	db->why = (struct error){0};
}

bool pipeline_send(struct postgresql_db *db, const char *sql)
{
	if (!postgresql_pq_of(&db->db)->send_query_params(
		db->connection->conn, sql, 0, NULL, NULL, NULL, NULL, 0))
		return false;
	db->askers[db->pending++] = NULL;
	return true;
}
