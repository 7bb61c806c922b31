/* SPDX-License-Identifier: ISC */
/* The sweeper: a background thread that deletes, piece by piece, what removed threads have left,
 * chunks of runs that are gone, and checkpoints that are too old. */
#include "storage/sql/sweep.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/chore.h"
#include "base/os/clock.h"
#include "storage/sql/reserve.h"

#include <stdlib.h>
#include <string.h>

/* A piece has at most this many messages, and ends with the one that brings it to this many
 * bytes. */
#define PIECE_MESSAGES 500
#define PIECE_MESSAGES_TIGHT 20 /* when the disk had no room for a whole piece */
#define PIECE_BYTES (8 << 20)
#define PIECE_CHUNKS 64 /* batches of chunks */
#define PIECE_CHUNKS_TIGHT 4
#define TRIMS 64 /* most threads that can wait to be trimmed */

/* How long to wait after a failure, most likely a full disk or an outsider's lock. */
#define RETRY_MS 2000

/* A thread that has more checkpoints than are kept. */
struct trim_wish {
	int64_t thread; /* its row */
	int64_t keep;
};

struct sweeper {
	struct chore thread;
	struct writer *writer;
	struct pool *pool;
	const char *reserve;
	bool wanted; /* there may be something to do; guarded by the thread's lock */
	bool told;   /* it was logged that sweeping fails at present */

	struct trim_wish trims[TRIMS]; /* guarded by the thread's lock */
	size_t trim_count;
};

struct piece {
	struct unit unit;
	int64_t thread; /* its row; with number 0 a removed thread, or one that is trimmed */
	int64_t number; /* a run of it whose record is gone, or 0 */
	int messages;   /* most messages, and as many records, that are deleted */
	int chunks;     /* most batches that are deleted */
	int64_t keep;   /* how many checkpoints stay of a thread that is trimmed */
	bool last;      /* set when there was nothing left to trim */
};

/* Deletes the messages that belong to the piece; *last says that none are left. */
static bool piece_delete_messages(
    struct db *db, const struct piece *p, bool *last, struct error *err)
{
	static const enum sql_id steps[] = {SQL_REMOVED_BODIES_DELETE, SQL_REMOVED_MESSAGES_DELETE};
	int64_t bytes = 0, seq = 0;
	struct query q;
	int count = 0;
	query_start(&q, db, SQL_REMOVED_MESSAGES, err);
	query_int(&q, ":thread", p->thread);
	query_int(&q, ":limit", p->messages);
	while (bytes < PIECE_BYTES && query_row(&q)) {
		seq = query_column_int(&q, REMOVED_MESSAGES_SEQ);
		bytes += query_column_int(&q, REMOVED_MESSAGES_BYTES);
		count++;
	}
	*last = bytes < PIECE_BYTES && count < p->messages;
	if (!query_end(&q))
		return false;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		query_start(&q, db, steps[i], err);
		query_int(&q, ":thread", p->thread);
		query_int(&q, ":seq", seq);
		if (!query_run(&q))
			return false;
	}
	return true;
}

/* Deletes as many records, with their jobs; *last says that none are left. */
static bool piece_delete_runs(struct db *db, const struct piece *p, bool *last, struct error *err)
{
	static const enum sql_id steps[] = {
	    SQL_REMOVED_RUNS_JOBS, SQL_REMOVED_RUNS_BODIES, SQL_REMOVED_RUNS_DELETE};
	struct query q;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		query_start(&q, db, steps[i], err);
		query_int(&q, ":thread", p->thread);
		query_int(&q, ":limit", p->messages);
		if (!query_run(&q))
			return false;
	}
	query_start(&q, db, SQL_RUN_LAST, err);
	query_int(&q, ":thread", p->thread);
	*last = query_row(&q) && query_column_int(&q, RUN_LAST_NUMBER) == 0;
	return query_end(&q);
}

/* Deletes batches of chunks of the thread, or of one run of it; *last says that none are left. */
static bool piece_delete_chunks(struct db *db, const struct piece *p, bool *last, struct error *err)
{
	struct query q;
	bool ok;
	query_start(&q, db, p->number ? SQL_CHUNKS_DELETE : SQL_REMOVED_CHUNKS_DELETE, err);
	query_int(&q, ":thread", p->thread);
	if (p->number)
		query_int(&q, ":number", p->number);
	query_int(&q, ":limit", p->chunks);
	ok = query_run(&q);
	*last = db_changes(db) < p->chunks;
	return ok;
}

/* Deletes a piece of a removed thread, if it still waits for that.  Chunks go after the records,
 * without which nobody can add more. */
static bool piece_run(struct db *db, struct unit *unit, struct error *err)
{
	/* what a thread has only once, or little of */
	static const enum sql_id rest[] = {SQL_REMOVED_WEBHOOKS_DELETE, SQL_REMOVED_PUSHES_DELETE,
	    SQL_REMOVED_KEPT_DELETE, SQL_REMOVED_DELETE};
	const struct piece *p = (struct piece *)unit;
	struct query q;
	bool wanted, last;
	/* where it does not wait any more, another process has swept it, and the row may be that of
	 * a new thread */
	query_start(&q, db, SQL_REMOVED_HOLDS, err);
	query_int(&q, ":thread", p->thread);
	wanted = query_row(&q);
	if (!query_end(&q) || !wanted)
		return !error_is_set(err);
	if (!piece_delete_messages(db, p, &last, err) || !last ||
	    !piece_delete_runs(db, p, &last, err) || !last ||
	    !piece_delete_chunks(db, p, &last, err) || !last ||
	    !trim_removed(db, p->thread, p->messages, &last, err) || !last)
		return !error_is_set(err);
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++) {
		query_start(&q, db, rest[i], err);
		query_int(&q, ":thread", p->thread);
		if (!query_run(&q))
			return false;
	}
	return true;
}

/* Deletes a piece of the chunks of a run whose record is gone. */
static bool piece_run_dropped(struct db *db, struct unit *unit, struct error *err)
{
	const struct piece *p = (struct piece *)unit;
	struct query q;
	bool last;
	if (!piece_delete_chunks(db, p, &last, err) || !last)
		return !error_is_set(err);
	query_start(&q, db, SQL_KEPT_SPEND, err);
	query_int(&q, ":thread", p->thread);
	query_int(&q, ":number", p->number);
	if (!query_run(&q))
		return false;
	query_start(&q, db, SQL_KEPT_DELETE_SPENT, err);
	query_int(&q, ":thread", p->thread);
	return query_run(&q);
}

/* Trims a piece of a thread that has too many checkpoints. */
static bool piece_run_trim(struct db *db, struct unit *unit, struct error *err)
{
	struct piece *p = (struct piece *)unit;
	return trim_piece(db, p->thread, p->keep, p->messages, &p->last, err);
}

/* Finds the next piece; p->thread is 0 when there is none.  This only reads, because a transaction
 * that writes nothing would still wait for the lock. */
static bool sweep_next(struct sweeper *s, struct piece *p, struct error *err)
{
	struct query q;
	p->unit.run = piece_run;
	pool_query(s->pool, &q, SQL_REMOVED_NEXT, err);
	if (query_row(&q))
		p->thread = query_column_int(&q, REMOVED_NEXT_THREAD);
	if (!pool_query_end(s->pool, &q) || p->thread)
		return !error_is_set(err);
	p->unit.run = piece_run_dropped;
	pool_query(s->pool, &q, SQL_KEPT_DROPPED, err);
	if (query_row(&q)) {
		p->thread = query_column_int(&q, KEPT_DUE_THREAD);
		p->number = query_column_int(&q, KEPT_DUE_NUMBER);
	}
	if (!pool_query_end(s->pool, &q) || p->thread)
		return !error_is_set(err);
	p->unit.run = piece_run_trim;
	pthread_mutex_lock(&s->thread.lock);
	if (s->trim_count) {
		p->thread = s->trims[0].thread;
		p->keep = s->trims[0].keep;
	}
	pthread_mutex_unlock(&s->thread.lock);
	return true;
}

/* Deletes a piece.  Returns how long to rest before the next one; negative: there is none. */
static int64_t sweep_piece(struct sweeper *s)
{
	struct piece p = {.messages = s->told ? PIECE_MESSAGES_TIGHT : PIECE_MESSAGES,
	    .chunks = s->told ? PIECE_CHUNKS_TIGHT : PIECE_CHUNKS};
	struct error err = {0};
	int64_t start = clock_monotonic_ms();
	if (sweep_next(s, &p, &err) && (p.thread == 0 || writer_run(s->writer, &p.unit, &err))) {
		if (p.last) {
			/* the thread that has waited longest is trimmed */
			pthread_mutex_lock(&s->thread.lock);
			s->trim_count--;
			memmove(s->trims, s->trims + 1, s->trim_count * sizeof(*s->trims));
			pthread_mutex_unlock(&s->thread.lock);
		}
		if (!p.thread && s->reserve)
			reserve_keep(s->reserve);
		s->told = s->told && p.thread;
		return p.thread ? clock_monotonic_ms() - start + 1 : -1;
	}
	if (!s->told)
		log_warning("messages of deleted threads stay for now: %s", err.cause);
	s->told = true;
	error_release(&err);
	return RETRY_MS;
}

static void *sweep_run(void *arg)
{
	struct sweeper *s = arg;
	int64_t pause;
	pthread_mutex_lock(&s->thread.lock);
	while (!s->thread.stopping) {
		if (!s->wanted) {
			chore_sleep(&s->thread, -1);
			continue;
		}
		s->wanted = false;
		pthread_mutex_unlock(&s->thread.lock);
		pause = sweep_piece(s);
		pthread_mutex_lock(&s->thread.lock);
		if (pause < 0)
			continue;
		s->wanted = true;
		if (!s->thread.stopping)
			chore_sleep(&s->thread, clock_monotonic_ms() + pause);
	}
	pthread_mutex_unlock(&s->thread.lock);
	return NULL;
}

struct sweeper *sweeper_new(
    struct writer *writer, struct pool *pool, const char *reserve, struct error *err)
{
	struct sweeper *s = xcalloc(1, sizeof(*s));
	s->writer = writer;
	s->pool = pool;
	s->reserve = reserve;
	s->wanted = true;
	if (chore_start(&s->thread, sweep_run, s, err))
		return s;
	free(s);
	return NULL;
}

void sweeper_free(struct sweeper *s)
{
	if (!s)
		return;
	chore_stop(&s->thread);
	free(s);
}

void sweeper_wake(struct sweeper *s)
{
	pthread_mutex_lock(&s->thread.lock);
	s->wanted = true;
	pthread_cond_signal(&s->thread.wake);
	pthread_mutex_unlock(&s->thread.lock);
}

void sweeper_trim(struct sweeper *s, int64_t thread_row, int64_t keep)
{
	size_t i = 0;
	pthread_mutex_lock(&s->thread.lock);
	while (i < s->trim_count && s->trims[i].thread != thread_row)
		i++;
	if (i == s->trim_count && s->trim_count < TRIMS)
		s->trims[s->trim_count++] = (struct trim_wish){.thread = thread_row, .keep = keep};
	pthread_mutex_unlock(&s->thread.lock);
	sweeper_wake(s);
}
