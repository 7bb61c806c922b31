/* SPDX-License-Identifier: ISC */
/* What the files of the driver for PostgreSQL (postgresql_db.h) share. */
#ifndef AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_INTERNAL_H
#define AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_INTERNAL_H

#include "sql.h"
#include "storage/postgresql/postgresql_db.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#define PENDING_MOST 1024 /* statements on their way */

/* ---- postgresql_text.c: statements as PostgreSQL takes them, with numbers where sql/ has names */

#define POSTGRESQL_PARAMETERS 48

struct postgresql_text {
	char *sql;                          /* ":thread" is "$1" in it, at each place */
	char *names[POSTGRESQL_PARAMETERS]; /* ":thread" */
	int count;
	bool gives_number; /* it makes a row, and returns its number */
};

/* That of a statement, made when it is first asked for; it lives as long as the process. */
const struct postgresql_text *postgresql_text(enum sql_id id);

/* ---- one that is at work, and its queries */

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
	bool counted; /* changes is that of the latest statement, whatever is on its way */

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

/* Sends one that is behind what was sent so far; false when it cannot be sent. */
bool pipeline_send(struct postgresql_db *db, const char *sql);

/* Waits for all; *last is the result of the last one, where last is not NULL. */
enum postgresql_failure pipeline_collect(
    struct postgresql_db *db, struct pg_result **last, struct error *err);

/* The same for who has nowhere to say that it failed; the next one says it. */
void pipeline_settle(struct postgresql_db *db);

/* Tells what nobody was told, until that is forgotten. */
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
