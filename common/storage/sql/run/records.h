/* SPDX-License-Identifier: ISC */
/* Rows of records: read, and removed with what belongs to them, as parts of transactions. */
#ifndef AGENTGRAPH_STORAGE_SQL_RUN_RECORDS_H
#define AGENTGRAPH_STORAGE_SQL_RUN_RECORDS_H

#include "storage/runs.h"
#include "storage/sql/db/db.h"
#include "storage/sql/moves.h"

static inline void run_key_bind(struct query *q, struct run_key key)
{
	query_int(q, ":thread", key.thread);
	query_int(q, ":number", key.number);
}

/* Reads the present row of a query with the columns of run_get.  The texts live as long as the
 * row. */
void record_read_row(struct query *q, struct run_record *r);

/* Finds the number of the thread's next record; keeps says whether its chunks are kept.  In two
 * steps, so that other units can ask in between (query_send). */
void record_number_ask(
    struct db *db, int64_t thread, bool keeps, struct query *q, struct error *err);
bool record_number_answer(struct query *q, int64_t *number);

/* For a run whose chunks are kept: the first notes it when the run begins, with until 0; the others
 * say until when they are kept, once the run has ended.  A background run gets its note when it
 * ends; from its submission on it has one only where its chunks need a row to lock. */
bool record_keep_chunks(
    struct db *db, struct run_key key, bool job, int64_t until, struct error *err);
bool record_keep_chunks_until(struct db *db, struct run_key key, int64_t until, struct error *err);
bool record_keep_chunks_of_job(struct db *db, struct run_key key, int64_t until, struct error *err);

/* Removes a record, unless its job is not over. */
bool record_drop(const struct storage *st, struct db *db, struct run_key key, struct moves *moves,
    struct error *err);

/* The lowest number that may still have a record when number is the latest. */
int64_t record_oldest(int64_t keep, int64_t number);

/*
 * Removes records that are too old; key is the thread's latest run, and keep 0 removes nothing.
 * begun is for a run that begins, so that any other record that says RUN_RUNNING is dead.  It
 * counts the records that are over only while jobs wait in the thread, and removes nothing while
 * very many wait.  Old records lie in pages of their own, so most runs leave the work to a later
 * one, and there may be an eighth more records than keep.  ended is for a background run that has
 * ended; it always counts.
 */
bool record_trim_begun(const struct storage *st, struct db *db, struct run_key key, int64_t keep,
    struct moves *moves, struct error *err);
bool record_trim_ended(const struct storage *st, struct db *db, struct run_key key, int64_t keep,
    struct moves *moves, struct error *err);

#endif
