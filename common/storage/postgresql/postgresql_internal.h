/* SPDX-License-Identifier: ISC */
/* What the files of the driver for PostgreSQL (postgresql_db.h) share. */
#ifndef AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_INTERNAL_H
#define AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_INTERNAL_H

#include "sql.h"
#include "storage/postgresql/postgresql_db.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#define PENDING_MOST 1024 /* most statements on their way */

/* ---- postgresql_text.c: statements as PostgreSQL takes them, with numbers where sql/ has names */

#define POSTGRESQL_PARAMETERS 48

struct postgresql_text {
	char *sql;                          /* ":thread" is "$1" in it, at each place */
	char *names[POSTGRESQL_PARAMETERS]; /* ":thread" */
	int count;
	bool gives_number; /* the statement makes a row and returns its number */
};

/* The text of a statement, made when it is first asked for; it lives as long as the process. */
const struct postgresql_text *postgresql_text(enum sql_id id);

/* ---- a struct db at work, and its queries */

struct postgresql_db {
	struct db db; /* first, so that one pointer is both */
	struct postgresql_server *server;
	struct postgresql_connection *connection; /* the transaction's; NULL outside of one */
	bool again;           /* the transaction that failed may succeed when it is run again */
	char transaction[64]; /* the transaction's id; "" until the server has told it */
	int64_t writer; /* a random number for this db, and one for the transaction; together they
			   name its note */
	int64_t number;
	struct query note; /* makes that note, right behind BEGIN */
	int64_t changes, last_row;
	/* changes is for the latest statement already, whatever is still on its way */
	bool counted;

	/* Statements of the transaction that were sent and whose results nobody has looked at yet:
	 * how many, and which query wants the result of each, if any. */
	bool pipelined;
	int pending;
	struct postgresql_query *askers[PENDING_MOST];
	struct postgresql_query *asked; /* queries that were sent ahead and have not ended */
	/* the failure of one of them that nobody was told yet; why is its error */
	enum postgresql_failure failure;
	struct error why;
};

struct postgresql_query {
	enum sql_id id;
	const struct postgresql_text *text;
	struct postgresql_connection *connection; /* its own, outside of a transaction */

	const char *values[POSTGRESQL_PARAMETERS];
	int lengths[POSTGRESQL_PARAMETERS];
	int formats[POSTGRESQL_PARAMETERS]; /* 1: binary */
	unsigned types[POSTGRESQL_PARAMETERS];
	char *owned[POSTGRESQL_PARAMETERS]; /* values that are freed with the query */

	bool sent;
	bool over;                /* no more results come */
	struct pg_result *result; /* the rows that came last */
	int row, rows;            /* the present one, counted from 0; -1 before the first */
	const struct waiter *waiter;

	bool ahead; /* it was sent ahead (query_send), and its result comes with those of others */
	struct query *q; /* the query that this belongs to, if it was sent ahead */
	struct postgresql_query *next_asked;

	int fits;       /* column that filters are applied to; -1: none */
	cJSON *filters; /* parsed from the parameter filters_at */
	int filters_at; /* the parameter with filters; -1: none */
};

static inline struct postgresql_db *postgresql_db_of(struct db *db)
{
	return (struct postgresql_db *)db;
}

static inline const struct libpq *postgresql_pq_of(struct db *db)
{
	return postgresql_libpq(postgresql_db_of(db)->server);
}

/* ---- postgresql_pipeline.c: statements of a transaction that are on their way */

/* Notes what a failure means for the transaction that it ends. */
void pipeline_note(struct postgresql_db *db, enum postgresql_failure failure);

/* Sends a statement behind those that are on their way; false when it cannot be sent. */
bool pipeline_send(struct postgresql_db *db, const char *sql);

/* Waits for all results; *last becomes the result of the last statement, where last is not NULL. */
enum postgresql_failure pipeline_collect(
    struct postgresql_db *db, struct pg_result **last, struct error *err);

/* The same for a caller that cannot report a failure; the next query reports it. */
void pipeline_settle(struct postgresql_db *db);

/* Reports a failure that nobody was told, until pipeline_forget. */
enum postgresql_failure pipeline_earlier(struct postgresql_db *db, struct error *err);
void pipeline_forget(struct postgresql_db *db);

/* ---- postgresql_values.c: parameters and columns, as struct db_driver says */

void postgresql_bind_text(struct query *q, const char *name, const char *value, size_t len);
void postgresql_bind_integer(struct query *q, const char *name, int64_t value);
void postgresql_bind_blob(struct query *q, const char *name, const void *value, size_t size);
enum db_kind postgresql_column_kind(struct query *q, int column);
const char *postgresql_column_text(struct query *q, int column);
int64_t postgresql_column_int(struct query *q, int column);
double postgresql_column_double(struct query *q, int column);
const void *postgresql_column_blob(struct query *q, int column, size_t *size);

/* ---- postgresql_query.c: queries from their start to their end, as struct db_driver says */

void postgresql_query_start(struct query *q, enum sql_id id);
void postgresql_query_watch(struct query *q, const struct waiter *waiter);
void postgresql_query_send(struct query *q);
bool postgresql_query_row(struct query *q);
bool postgresql_query_run(struct query *q);
void postgresql_query_end(struct query *q);

#endif
