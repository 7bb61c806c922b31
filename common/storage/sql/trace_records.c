/* SPDX-License-Identifier: ISC */
/* Runs and their records: a database that is made anew in each life of the instance. */
#include "storage/trace/trace_records.h"

#include "base/buf.h"
#include "base/memory.h"
#include "storage/sql/engine.h"

#include <stdlib.h>

struct traced {
	struct trace_records records; /* first, so that one pointer is both */
	struct db_source source;      /* telemetry.db */
	struct turnstile *turnstile;
	struct db *db; /* NULL before begin */
};

static struct traced *traced_of(struct trace_records *records)
{
	return (struct traced *)records;
}

static struct trace_records *traced_open(struct storage *st)
{
	const struct engine *e = engine_of(st);
	struct traced *t = xcalloc(1, sizeof(*t));
	t->records.ops = &sql_trace_records;
	engine_source(e, "telemetry", &t->source);
	t->turnstile = engine_turnstile(e, SHARED_WRITER);
	return &t->records;
}

static void traced_close(struct trace_records *records)
{
	struct traced *t = traced_of(records);
	db_close(t->db);
	free(t->source.path);
	free(t);
}

static bool traced_begin(
    struct trace_records *records, const struct storage_context *ctx, bool anew, struct error *err)
{
	struct traced *t = traced_of(records);
	(void)ctx;
	db_close(t->db);
	t->db = NULL;
	if (anew)
		database_throw_away(&t->source);
	struct db *db = database_open(&t->source, "telemetry", DB_WRITE, t->turnstile, err);
	if (db &&
	    !(db_exec(db, SQL_TELEMETRY_SETUP, err) &&
		(!anew || db_exec(db, SQL_TRACE_FORGET_ALL, err)))) {
		db_close(db);
		db = NULL;
	}
	t->db = db;
	return db != NULL;
}

/* ---- writing ---- */

static bool trace_put_run(struct db *db, const struct trace_run *run, bool first, struct error *err)
{
	struct query q;
	if (first) {
		query_start(&q, db, SQL_TRACE_REPLACE, err);
		query_text(&q, ":thread_id", run->thread_id);
		query_text(&q, ":run_id", run->run_id);
		query_int(&q, ":number", (int64_t)run->number);
		if (!query_run(&q))
			return false;
	}
	query_start(&q, db, SQL_TRACE_PUT, err);
	query_int(&q, ":number", (int64_t)run->number);
	query_text(&q, ":thread_id", run->thread_id);
	query_text(&q, ":run_id", run->run_id);
	query_int(&q, ":status", run->status);
	query_int(&q, ":started_at", run->started_at);
	query_int(&q, ":finished_at", run->finished_at);
	query_int(&q, ":last_at", run->last_at);
	query_int(&q, ":prompt", run->totals.prompt);
	query_int(&q, ":completion", run->totals.completion);
	query_int(&q, ":reasoning", run->totals.reasoning);
	query_int(&q, ":total", run->totals.total);
	query_int(&q, ":llm_calls", run->totals.llm_calls);
	query_int(&q, ":tool_calls", run->totals.tool_calls);
	query_int(&q, ":iterations", run->totals.iterations);
	return query_run(&q);
}

static bool trace_put(struct db *db, const struct trace_record *record, struct error *err)
{
	const struct trace_run *run = &record->run;
	const struct trace_piece *piece = &record->piece;
	struct query q;
	if (!run->number) { /* all runs of its thread are to be forgotten */
		query_start(&q, db, SQL_TRACE_FORGET, err);
		query_text(&q, ":thread_id", run->thread_id);
		query_int(&q, ":until", run->started_at);
		return query_run(&q);
	}
	if (!trace_put_run(db, run, piece->first == 0, err))
		return false;
	if (!piece->len)
		return true;
	query_start(&q, db, SQL_TRACE_PIECE, err);
	query_int(&q, ":number", (int64_t)run->number);
	query_int(&q, ":first", piece->first);
	query_text(&q, ":records", piece->records);
	return query_run(&q);
}

static bool traced_write(struct trace_records *records, const struct storage_context *ctx,
    const struct trace_record *list, size_t count, struct error *err)
{
	struct db *db = traced_of(records)->db;
	struct query q;
	(void)ctx;
	if (!db_begin(db, err))
		return false;
	bool ok = db_take_turn(db, "traces", err);
	for (size_t i = 0; ok && i < count; i++)
		ok = trace_put(db, &list[i], err);
	if (ok) {
		query_start(&q, db, SQL_TRACE_TRIM_RUNS, err);
		query_int(&q, ":runs", TRACES_RUNS);
		ok = query_run(&q);
	}
	if (ok) {
		query_start(&q, db, SQL_TRACE_TRIM_THREADS, err);
		query_int(&q, ":threads", TRACES_THREADS);
		ok = query_run(&q);
	}
	ok = ok && db_commit(db, err);
	if (!ok)
		db_rollback(db);
	return ok;
}

/* ---- reading ---- */

static bool trace_read_run(
    struct db *db, struct arena *a, const char *run_id, struct trace_view *view, struct error *err)
{
	struct trace_run *run = &view->run;
	struct query q;
	query_start(&q, db, SQL_TRACE_GET, err);
	query_text(&q, ":thread_id", run->thread_id);
	query_text(&q, ":run_id", run_id);
	view->found = query_row(&q);
	if (view->found) {
		run->number = (uint64_t)query_column_int(&q, TRACE_GET_NUMBER);
		run->run_id = arena_strdup(a, query_column_text(&q, TRACE_GET_RUN_ID));
		run->status = (enum trace_status)query_column_int(&q, TRACE_GET_STATUS);
		run->started_at = query_column_int(&q, TRACE_GET_STARTED_AT);
		run->finished_at = query_column_int(&q, TRACE_GET_FINISHED_AT);
		run->last_at = query_column_int(&q, TRACE_GET_LAST_AT);
		run->totals.prompt = query_column_int(&q, TRACE_GET_PROMPT_TOKENS);
		run->totals.completion = query_column_int(&q, TRACE_GET_COMPLETION_TOKENS);
		run->totals.reasoning = query_column_int(&q, TRACE_GET_REASONING_TOKENS);
		run->totals.total = query_column_int(&q, TRACE_GET_TOTAL_TOKENS);
		run->totals.llm_calls = query_column_int(&q, TRACE_GET_LLM_CALLS);
		run->totals.tool_calls = query_column_int(&q, TRACE_GET_TOOL_CALLS);
		run->totals.iterations = query_column_int(&q, TRACE_GET_ITERATIONS);
	}
	return query_end(&q);
}

static bool traced_read(struct trace_records *records, const struct storage_context *ctx,
    struct arena *a, const char *thread_id, const char *run_id, struct trace_view *view,
    struct error *err)
{
	struct db *db = traced_of(records)->db;
	struct buf pieces = {0};
	struct query q;
	bool ok;
	(void)ctx;
	*view = (struct trace_view){.run.thread_id = arena_strdup(a, thread_id)};
	view->run_ids = arena_alloc(a, (TRACES_RUNS + 1) * sizeof(*view->run_ids));
	query_start(&q, db, SQL_TRACE_IDS, err);
	query_text(&q, ":thread_id", thread_id);
	while (view->run_count < TRACES_RUNS && query_row(&q))
		view->run_ids[view->run_count++] =
		    arena_strdup(a, query_column_text(&q, TRACE_IDS_RUN_ID));
	if (!query_end(&q) || !trace_read_run(db, a, run_id, view, err))
		return false;
	if (!view->found)
		return true;
	/* as one array: each record is followed by a comma, the last one by the end */
	buf_putc(&pieces, '[');
	query_start(&q, db, SQL_TRACE_PIECES, err);
	query_int(&q, ":number", (int64_t)view->run.number);
	while (query_row(&q))
		buf_puts(&pieces, query_column_text(&q, TRACE_PIECES_RECORDS));
	ok = query_end(&q);
	if (pieces.len > 1)
		pieces.len--;
	buf_putc(&pieces, ']');
	view->records = arena_take(a, &pieces);
	return ok;
}

const struct trace_record_ops sql_trace_records = {
    .open = traced_open,
    .close = traced_close,
    .begin = traced_begin,
    .write = traced_write,
    .read = traced_read,
};
