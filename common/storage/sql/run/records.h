/* SPDX-License-Identifier: ISC */
/* Rows of runs: read, and removed with what belongs to them, as parts of transactions. */
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

/* The row of a query that has the columns of run_get.  The texts live as long as the row. */
void record_read_row(struct query *q, struct run_record *r);

/* The number that the thread's next run gets; keeps: its chunks are kept.  Also in two steps, so
 * that others may ask meanwhile (query_send). */
bool record_next_number(
    struct db *db, int64_t thread, bool keeps, int64_t *number, struct error *err);
void record_number_ask(
    struct db *db, int64_t thread, bool keeps, struct query *q, struct error *err);
bool record_number_answer(struct query *q, int64_t *number);

/* Of a run whose chunks are kept: from its begin on, and for how long when it has ended (0: it goes
 * on).  That of one in the background is told when it ends, and from its submission on only where
 * its chunks are to lock something. */
bool record_keep_chunks(
    struct db *db, struct run_key key, bool job, int64_t until, struct error *err);
bool record_keep_chunks_until(struct db *db, struct run_key key, int64_t until, struct error *err);
bool record_keep_chunks_of_job(struct db *db, struct run_key key, int64_t until, struct error *err);

/* Removes a record; one whose job is not over stays. */
bool record_drop(const struct storage *st, struct db *db, struct run_key key, struct moves *moves,
    struct error *err);

/* The first number that may have a record when the latest has that one. */
int64_t record_oldest(int64_t keep, int64_t number);

/*
 * Removes what is too old, by the number of a thread's latest run; keep 0 removes nothing.  Begun:
 * the run begins, and so what says that it runs is dead; while others wait it is counted how many
 * are over, and while very many do nothing is removed.  As old records lie in pages of their own,
 * most runs leave theirs to a later one, so that there are up to an eighth more.  Ended: the run
 * has ended in the background.  Then that is counted, too.
 */
bool record_trim_begun(const struct storage *st, struct db *db, struct run_key key, int64_t keep,
    struct moves *moves, struct error *err);
bool record_trim_ended(const struct storage *st, struct db *db, struct run_key key, int64_t keep,
    struct moves *moves, struct error *err);

#endif
