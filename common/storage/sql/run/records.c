/* SPDX-License-Identifier: ISC */
/* Records of runs, as rows, and which of them are too old. */
#include "storage/sql/run/records.h"

#include "storage/sql/history/recent.h"

/* While this many of a thread's jobs wait nothing is trimmed, since each of them would be looked
 * at. */
#define TRIM_QUEUED_MOST 100

#define TRIM_PIECE_MOST 64

void record_read_row(struct query *q, struct run_record *r)
{
	*r = (struct run_record){
	    .number = query_column_int(q, RUN_GET_NUMBER),
	    .run_id = query_column_text(q, RUN_GET_RUN_ID),
	    .status = (enum run_status)query_column_int(q, RUN_GET_STATUS),
	    .created_at = query_column_int(q, RUN_GET_CREATED_AT),
	    .finished_at = query_column_int(q, RUN_GET_FINISHED_AT),
	    .node = query_column_text(q, RUN_GET_NODE),
	    .step = query_column_int(q, RUN_GET_STEP),
	    .usage = {query_column_int(q, RUN_GET_PROMPT_TOKENS),
		query_column_int(q, RUN_GET_COMPLETION_TOKENS),
		query_column_int(q, RUN_GET_REASONING_TOKENS),
		query_column_int(q, RUN_GET_TOTAL_TOKENS)},
	    .error_json = query_column_text(q, RUN_GET_ERROR),
	    .after = query_column_int(q, RUN_GET_MESSAGES_AFTER),
	    .until = query_column_int(q, RUN_GET_MESSAGES_UNTIL),
	    .brought = query_column_int(q, RUN_GET_BROUGHT),
	    .job = query_column_int(q, RUN_GET_JOB),
	    .started_at = query_column_int(q, RUN_GET_STARTED_AT),
	    .thread_row = query_column_int(q, RUN_GET_THREAD),
	    .thread_id = query_column_text(q, RUN_GET_THREAD_ID),
	    .new_thread = query_column_int(q, RUN_GET_NEW_THREAD) != 0,
	    .attempt = query_column_int(q, RUN_GET_ATTEMPT),
	    .metadata_json = query_column_text(q, RUN_GET_METADATA),
	    .kept_until = query_column_int(q, RUN_GET_KEPT_UNTIL),
	    .webhook = {query_column_text(q, RUN_GET_WEBHOOK),
		query_column_int(q, RUN_GET_ATTEMPTS), query_column_int(q, RUN_GET_LAST_STATUS),
		query_column_int(q, RUN_GET_DELIVERED_AT)},
	};
}

void record_number_ask(
    struct db *db, int64_t thread, bool keeps, struct query *q, struct error *err)
{
	query_start(q, db, keeps ? SQL_RUN_LAST_KEPT : SQL_RUN_LAST, err);
	query_int(q, ":thread", thread);
	query_send(q);
}

bool record_number_answer(struct query *q, int64_t *number)
{
	if (query_row(q))
		*number = query_column_int(q, RUN_LAST_NUMBER) + 1;
	return query_end(q);
}

/* Executes a statement on a record. */
static bool record_run(struct db *db, enum sql_id id, struct run_key key, struct error *err)
{
	struct query q;
	query_start(&q, db, id, err);
	run_key_bind(&q, key);
	return query_run(&q);
}

bool record_keep_chunks(
    struct db *db, struct run_key key, bool job, int64_t until, struct error *err)
{
	struct query q;
	query_start(&q, db, SQL_KEPT_INSERT, err);
	run_key_bind(&q, key);
	query_int(&q, ":job", job);
	if (until)
		query_int(&q, ":until", until);
	return query_run(&q);
}

static bool record_keep(
    struct db *db, enum sql_id id, struct run_key key, int64_t until, struct error *err)
{
	struct query q;
	query_start(&q, db, id, err);
	query_int(&q, ":until", until);
	run_key_bind(&q, key);
	return query_run(&q);
}

bool record_keep_chunks_until(struct db *db, struct run_key key, int64_t until, struct error *err)
{
	return record_keep(db, SQL_KEPT_END, key, until, err);
}

bool record_keep_chunks_of_job(struct db *db, struct run_key key, int64_t until, struct error *err)
{
	return record_keep(db, SQL_KEPT_END_JOB, key, until, err);
}

/* To be called before records up to key.number are removed: moves the checkpoints in them into the
 * table, unless they are too old.  later is how many were kept after them; negative: there are
 * none. */
static bool record_spill(
    const struct storage *st, struct db *db, struct run_key key, int64_t later, struct error *err)
{
	return later < 0 || (st->history_keep && later >= st->history_keep) ||
	    recent_spill_records(db, key.thread, key.number, err);
}

/* The same, where later has still to be read; also where only the record key itself is removed. */
static bool record_leave(
    const struct storage *st, struct db *db, struct run_key key, struct error *err)
{
	int64_t later = -1;
	struct query q;
	query_start(&q, db, SQL_RUN_LEAVES, err);
	run_key_bind(&q, key);
	if (query_row(&q))
		later = query_column_int(&q, RUN_LEAVES_LATER);
	return query_end(&q) && record_spill(st, db, key, later, err);
}

bool record_drop(const struct storage *st, struct db *db, struct run_key key, struct moves *moves,
    struct error *err)
{
	int64_t job = 0;
	struct query q;
	query_start(&q, db, SQL_RUN_JOB, err);
	run_key_bind(&q, key);
	if (query_row(&q))
		job = query_column_int(&q, RUN_JOB_JOB);
	if (!query_end(&q))
		return false;
	if (job) {
		if (!db_run_on_row(db, SQL_JOB_DELETE, job, err))
			return false;
		if (db_changes(db) == 0)
			return true; /* the job is not over, so its record stays */
		if (!db_run_on_row(db, SQL_WEBHOOK_DROP, job, err))
			return false;
	}
	if (!record_leave(st, db, key, err) || !record_run(db, SQL_PUSHES_DROP, key, err) ||
	    !record_run(db, SQL_KEPT_DROP, key, err))
		return false;
	moves->dropped |= db_changes(db) != 0;
	return record_run(db, SQL_RUN_DELETE, key, err);
}

static bool record_trim_run(
    struct db *db, enum sql_id id, struct run_key key, enum run_status from, struct error *err)
{
	struct query q;
	query_start(&q, db, id, err);
	run_key_bind(&q, key);
	query_int(&q, ":from", from);
	return query_run(&q);
}

/* Removes what belongs to records, before the records themselves. */
static bool record_trim_apart(
    struct db *db, struct run_key key, enum run_status from, struct moves *moves, struct error *err)
{
	if (!record_trim_run(db, SQL_RUN_TRIM_JOBS, key, from, err) ||
	    !record_trim_run(db, SQL_RUN_TRIM_WEBHOOKS, key, from, err) ||
	    !record_trim_run(db, SQL_RUN_TRIM_PUSHES, key, from, err) ||
	    !record_trim_run(db, SQL_RUN_TRIM_KEPT, key, from, err))
		return false;
	moves->dropped |= db_changes(db) != 0;
	return true;
}

/* How many records one run removes, for itself and those before it that left it to this one. */
static int64_t record_trim_piece(int64_t keep)
{
	int64_t piece = keep < 16 ? 1 : keep / 8;
	return piece < TRIM_PIECE_MOST ? piece : TRIM_PIECE_MOST;
}

int64_t record_oldest(int64_t keep, int64_t number)
{
	int64_t most = keep + record_trim_piece(keep) - 1;
	return keep && number > most ? number - most + 1 : 1;
}

bool record_trim_begun(const struct storage *st, struct db *db, struct run_key key, int64_t keep,
    struct moves *moves, struct error *err)
{
	const struct run_key latest = key;
	int64_t queued = 0, later = -1;
	bool apart = false;
	struct query q;
	if (!keep || key.number <= keep || key.number % record_trim_piece(keep))
		return true;
	key.number -= keep;
	query_start(&q, db, SQL_RUN_TRIM_LOOK, err);
	run_key_bind(&q, key);
	query_int(&q, ":most", TRIM_QUEUED_MOST);
	if (query_row(&q)) {
		queued = query_column_int(&q, RUN_TRIM_LOOK_QUEUED);
		apart = query_column_int(&q, RUN_TRIM_LOOK_APART) != 0;
		later = query_column_int(&q, RUN_TRIM_LOOK_LATER);
	}
	if (!query_end(&q))
		return false;
	if (queued)
		return queued == TRIM_QUEUED_MOST ||
		    record_trim_ended(st, db, latest, keep, moves, err);
	return record_spill(st, db, key, later, err) &&
	    (!apart || record_trim_apart(db, key, RUN_RUNNING, moves, err)) &&
	    record_trim_run(db, SQL_RUN_TRIM, key, RUN_RUNNING, err);
}

bool record_trim_ended(const struct storage *st, struct db *db, struct run_key key, int64_t keep,
    struct moves *moves, struct error *err)
{
	struct run_key last = {.thread = key.thread};
	struct query q;
	if (!keep || key.number <= keep)
		return true;
	query_start(&q, db, SQL_RUN_TRIM_AT, err);
	run_key_bind(&q, key);
	query_int(&q, ":keep", keep);
	if (query_row(&q))
		last.number = query_column_int(&q, RUN_TRIM_AT_NUMBER);
	if (!query_end(&q) || !last.number)
		return !error_is_set(err);
	return record_leave(st, db, last, err) &&
	    record_trim_apart(db, last, RUN_INTERRUPTED, moves, err) &&
	    record_trim_run(db, SQL_RUN_TRIM, last, RUN_INTERRUPTED, err);
}
