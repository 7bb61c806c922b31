/* SPDX-License-Identifier: ISC */
/* Draining the ring into the database, trimming that, and reading a thread's runs. */
#include "storage/traces.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "storage/background.h"
#include "storage/sqlite/migrate.h"
#include "storage/trace_ring.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILL_BOUND (RING_SIZE / 4) /* then a thread empties the ring */

struct traces {
	struct shared *shared;
	struct trace_ring *ring;
	char *path;

	pthread_mutex_t lock; /* guards the connection and what follows */
	struct db *db;

	pthread_mutex_t start; /* guards the start of the thread */
	_Atomic bool started, awake;
	struct background thread;
	uint64_t told; /* drops that the log knows of; the thread's own */
};

struct traces *traces_new(struct shared *shared, const char *state_dir)
{
	struct traces *traces = xcalloc(1, sizeof(*traces));
	traces->shared = shared;
	traces->ring = shared_region(shared, SHARED_TRACES);
	traces->path = xasprintf("%s/telemetry.db", state_dir);
	pthread_mutex_init(&traces->lock, NULL);
	pthread_mutex_init(&traces->start, NULL);
	return traces;
}

void traces_free(struct traces *traces)
{
	if (!traces)
		return;
	if (traces->started)
		background_stop(&traces->thread);
	db_close(traces->db);
	pthread_mutex_destroy(&traces->lock);
	pthread_mutex_destroy(&traces->start);
	free(traces->path);
	free(traces);
}

uint64_t traces_number(struct traces *traces)
{
	return atomic_fetch_add(&traces->ring->numbers, 1) + 1;
}

/* ---- the database ---- */

static void remove_file(const char *path, const char *suffix)
{
	char *name = xasprintf("%s%s", path, suffix);
	unlink(name);
	free(name);
}

/* What an earlier instance left is of no use to this one. */
static void traces_remove_database(const char *path)
{
	remove_file(path, "");
	remove_file(path, "-wal");
	remove_file(path, "-shm");
}

/* With both locks held. */
static bool traces_open_database(struct traces *traces, struct error *err)
{
	if (traces->db)
		return true;
	if (!atomic_load(&traces->ring->made))
		traces_remove_database(traces->path);
	struct turnstile *turnstile = turnstile_of(traces->shared);
	struct db *db = database_open(traces->path, "telemetry", DB_WRITE, turnstile, err);
	if (!db)
		return false;
	if (!db_exec(db, SQL_TELEMETRY_SETUP, err)) {
		db_close(db);
		return false;
	}
	traces->db = db;
	atomic_store(&traces->ring->made, 1);
	return true;
}

/* A file that is broken is made anew; one that is locked, or has no room, may recover. */
static void traces_give_up(struct traces *traces, const struct error *err)
{
	log_warning("traces are lost: %s", *err->cause ? err->cause : err->detail);
	if (err->kind == ERR_TRANSIENT_STORAGE)
		return;
	db_close(traces->db);
	traces->db = NULL;
	atomic_store(&traces->ring->made, 0);
}

static bool put_run(struct db *db, const struct trace_run *run, bool first, struct error *err)
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

static bool put_piece(
    struct db *db, uint64_t number, const struct trace_piece *piece, struct error *err)
{
	struct query q;
	if (!piece->len)
		return true;
	query_start(&q, db, SQL_TRACE_PIECE, err);
	query_int(&q, ":number", (int64_t)number);
	query_int(&q, ":first", piece->first);
	query_text(&q, ":records", piece->records);
	return query_run(&q);
}

static bool storage_traces_forget(struct db *db, const char *thread_id, struct error *err)
{
	struct query q;
	query_start(&q, db, SQL_TRACE_FORGET, err);
	query_text(&q, ":thread_id", thread_id);
	return query_run(&q);
}

static bool put_entry(struct db *db, struct ring_entry *entry, struct error *err)
{
	struct trace_run run;
	struct trace_piece piece;
	ring_unpack(entry, &run, &piece);
	if (!run.number)
		return storage_traces_forget(db, run.thread_id, err);
	return put_run(db, &run, piece.first == 0, err) && put_piece(db, run.number, &piece, err);
}

static bool traces_trim(struct db *db, struct error *err)
{
	struct query q;
	query_start(&q, db, SQL_TRACE_TRIM_RUNS, err);
	query_int(&q, ":runs", TRACES_RUNS);
	if (!query_run(&q))
		return false;
	query_start(&q, db, SQL_TRACE_TRIM_THREADS, err);
	query_int(&q, ":threads", TRACES_THREADS);
	return query_run(&q);
}

/* What of a batch is worth writing. */
struct selection {
	struct ring_entry **entries; /* in order */
	size_t count;
	const char *threads[TRACES_THREADS]; /* those of the latest runs */
	size_t thread_count;
};

static void select_all(struct selection *selection, char *entries, size_t len)
{
	selection->entries = xcalloc(len / sizeof(struct ring_entry) + 1, sizeof(void *));
	for (size_t at = 0; at < len;) {
		struct ring_entry *entry = (struct ring_entry *)(void *)(entries + at);
		if (!atomic_load(&entry->superseded))
			selection->entries[selection->count++] = entry;
		at += entry->size;
	}
}

static bool is_selected(const struct selection *selection, const struct ring_entry *entry)
{
	for (size_t i = 0; i < selection->thread_count; i++)
		if (strcmp(selection->threads[i], ring_thread(entry)) == 0)
			return true;
	return false;
}

static int latest_first(const void *a, const void *b)
{
	const struct ring_entry *x = *(struct ring_entry *const *)a;
	const struct ring_entry *y = *(struct ring_entry *const *)b;
	return (x->run.number < y->run.number) - (x->run.number > y->run.number);
}

static void select_threads(struct selection *selection)
{
	size_t size = selection->count * sizeof(void *);
	struct ring_entry **latest = xmalloc(size + 1);
	memcpy(latest, selection->entries, size);
	qsort(latest, selection->count, sizeof(*latest), latest_first);
	for (size_t i = 0; i < selection->count && selection->thread_count < TRACES_THREADS; i++)
		if (latest[i]->run.number && !is_selected(selection, latest[i]))
			selection->threads[selection->thread_count++] = ring_thread(latest[i]);
	free(latest);
}

/* Of a batch with more threads than are kept, those that would have to go at once are not even
 * written. */
static bool put_entries(struct db *db, char *entries, size_t len, struct error *err)
{
	struct selection selection = {0};
	bool ok = true;
	select_all(&selection, entries, len);
	select_threads(&selection);
	bool all = selection.thread_count < TRACES_THREADS;
	for (size_t i = 0; ok && i < selection.count; i++) {
		struct ring_entry *entry = selection.entries[i];
		if (all || !entry->run.number || is_selected(&selection, entry))
			ok = put_entry(db, entry, err);
	}
	free(selection.entries);
	return ok && traces_trim(db, err);
}

/*
 * Empties the ring into the database, in one transaction.  Entries leave the ring after it, so a
 * process that dies here loses nothing: they are put again, which changes nothing.  With both locks
 * held.
 */
static bool traces_drain(struct traces *traces, struct error *err)
{
	size_t len;
	char *entries = ring_copy(traces->ring, &len);
	if (!entries)
		return true;
	bool ok = traces_open_database(traces, err) && db_begin(traces->db, err);
	if (ok) {
		ok = put_entries(traces->db, entries, len, err) && db_commit(traces->db, err);
		if (!ok)
			db_rollback(traces->db);
	}
	free(entries);
	ring_remove(traces->ring, len);
	if (!ok)
		traces_give_up(traces, err);
	return ok;
}

static void traces_lock(struct traces *traces)
{
	pthread_mutex_lock(&traces->lock);
	shared_lock(&traces->ring->head.mutex[1]);
}

static void traces_unlock(struct traces *traces)
{
	shared_unlock(&traces->ring->head.mutex[1]);
	pthread_mutex_unlock(&traces->lock);
}

/* ---- handing over ---- */

static void tell_drops(struct traces *traces)
{
	uint64_t dropped = atomic_load(&traces->ring->dropped);
	if (dropped == traces->told)
		return;
	log_warning("%" PRIu64
		    " pieces of traces were lost, because runs were faster than the disk",
	    dropped - traces->told);
	traces->told = dropped;
}

static void drain_if_filled(struct traces *traces)
{
	struct error err = {0};
	traces_lock(traces);
	if (ring_fill(traces->ring) >= FILL_BOUND)
		traces_drain(traces, &err);
	traces_unlock(traces);
	tell_drops(traces);
	error_release(&err);
}

static void *traces_work(void *arg)
{
	struct traces *traces = arg;
	struct background *thread = &traces->thread;
	pthread_mutex_lock(&thread->lock);
	while (!thread->stopping) {
		if (!atomic_load(&traces->awake))
			background_sleep(thread, -1);
		pthread_mutex_unlock(&thread->lock);
		drain_if_filled(traces);
		atomic_store(&traces->awake, false);
		pthread_mutex_lock(&thread->lock);
	}
	pthread_mutex_unlock(&thread->lock);
	return NULL;
}

static void traces_start(struct traces *traces)
{
	struct error err = {0};
	pthread_mutex_lock(&traces->start);
	if (!traces->started)
		traces->started = background_start(&traces->thread, traces_work, traces, &err);
	pthread_mutex_unlock(&traces->start);
	error_release(&err); /* tried again with the next run */
}

/* Most processes never fill the ring, and never have the thread. */
static void traces_wake(struct traces *traces)
{
	if (atomic_exchange(&traces->awake, true))
		return;
	if (!traces->started)
		traces_start(traces);
	if (!traces->started) {
		atomic_store(&traces->awake, false);
		return;
	}
	pthread_mutex_lock(&traces->thread.lock);
	pthread_cond_signal(&traces->thread.wake);
	pthread_mutex_unlock(&traces->thread.lock);
}

bool traces_put(struct traces *traces, const struct trace_run *run, const struct trace_piece *piece,
    uint64_t *place)
{
	bool put = ring_add(traces->ring, run, piece, place);
	metrics_count(METRIC_TRACES_DROPPED, !put);
	if (ring_fill(traces->ring) >= FILL_BOUND)
		traces_wake(traces);
	return put;
}

bool traces_forget(struct traces *traces, const char *thread_id, struct error *err)
{
	const struct trace_run run = {.thread_id = thread_id, .run_id = ""};
	const struct trace_piece none = {0};
	uint64_t place = 0;
	if (ring_add(traces->ring, &run, &none, &place))
		return true;
	traces_lock(traces);
	bool ok = traces_drain(traces, err) && traces_open_database(traces, err) &&
	    storage_traces_forget(traces->db, thread_id, err);
	traces_unlock(traces);
	return ok;
}

/* ---- reading ---- */

static bool read_ids(struct traces *traces, struct arena *a, const char *thread_id,
    struct trace_view *view, struct error *err)
{
	struct query q;
	view->run_ids = arena_alloc(a, (TRACES_RUNS + 1) * sizeof(*view->run_ids));
	query_start(&q, traces->db, SQL_TRACE_IDS, err);
	query_text(&q, ":thread_id", thread_id);
	while (view->run_count < TRACES_RUNS && query_row(&q))
		view->run_ids[view->run_count++] =
		    arena_strdup(a, query_column_text(&q, TRACE_IDS_RUN_ID));
	return query_end(&q);
}

static void take_run(struct query *q, struct arena *a, struct trace_run *run)
{
	run->number = (uint64_t)query_column_int(q, TRACE_GET_NUMBER);
	run->run_id = arena_strdup(a, query_column_text(q, TRACE_GET_RUN_ID));
	run->status = (enum trace_status)query_column_int(q, TRACE_GET_STATUS);
	run->started_at = query_column_int(q, TRACE_GET_STARTED_AT);
	run->finished_at = query_column_int(q, TRACE_GET_FINISHED_AT);
	run->last_at = query_column_int(q, TRACE_GET_LAST_AT);
	run->totals.prompt = query_column_int(q, TRACE_GET_PROMPT_TOKENS);
	run->totals.completion = query_column_int(q, TRACE_GET_COMPLETION_TOKENS);
	run->totals.reasoning = query_column_int(q, TRACE_GET_REASONING_TOKENS);
	run->totals.total = query_column_int(q, TRACE_GET_TOTAL_TOKENS);
	run->totals.llm_calls = query_column_int(q, TRACE_GET_LLM_CALLS);
	run->totals.tool_calls = query_column_int(q, TRACE_GET_TOOL_CALLS);
	run->totals.iterations = query_column_int(q, TRACE_GET_ITERATIONS);
}

static bool read_run(struct traces *traces, struct arena *a, const char *run_id,
    struct trace_view *view, struct error *err)
{
	struct query q;
	query_start(&q, traces->db, SQL_TRACE_GET, err);
	query_text(&q, ":thread_id", view->run.thread_id);
	query_text(&q, ":run_id", run_id);
	view->found = query_row(&q);
	if (view->found)
		take_run(&q, a, &view->run);
	return query_end(&q);
}

/* The pieces as one array: each record is followed by a comma, the last one by the end. */
static bool read_records(
    struct traces *traces, struct arena *a, struct trace_view *view, struct error *err)
{
	struct buf records = {0};
	struct query q;
	buf_putc(&records, '[');
	query_start(&q, traces->db, SQL_TRACE_PIECES, err);
	query_int(&q, ":number", (int64_t)view->run.number);
	while (query_row(&q))
		buf_puts(&records, query_column_text(&q, TRACE_PIECES_RECORDS));
	bool ok = query_end(&q);
	if (records.len > 1)
		records.len--;
	buf_putc(&records, ']');
	view->records = arena_strdup(a, buf_str(&records));
	buf_release(&records);
	return ok;
}

static bool traces_read_view(struct traces *traces, struct arena *a, const char *run_id,
    struct trace_view *view, struct error *err)
{
	const char *thread_id = view->run.thread_id;
	return traces_open_database(traces, err) && read_ids(traces, a, thread_id, view, err) &&
	    read_run(traces, a, run_id, view, err) &&
	    (!view->found || read_records(traces, a, view, err));
}

bool traces_read(struct traces *traces, struct arena *a, const char *thread_id, const char *run_id,
    struct trace_view *view, struct error *err)
{
	*view = (struct trace_view){.run.thread_id = arena_strdup(a, thread_id)};
	traces_lock(traces);
	bool ok = traces_drain(traces, err) && traces_read_view(traces, a, run_id, view, err);
	traces_unlock(traces);
	return ok;
}
