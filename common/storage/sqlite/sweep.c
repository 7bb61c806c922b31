/* SPDX-License-Identifier: ISC */
/* The sweeper: a background thread that deletes the messages of removed threads, piece by piece. */
#include "storage/sqlite/sweep.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "storage/background.h"
#include "storage/sqlite/reserve.h"

#include <stdlib.h>

/* A piece has at most so many messages, and ends with the one that brings it to so many bytes. */
#define PIECE_MESSAGES 500
#define PIECE_MESSAGES_TIGHT 20 /* where there was no room for that on the disk */
#define PIECE_BYTES (8 << 20)

/* After a failure, which is a full disk or an outsider's lock. */
#define RETRY_MS 2000

struct sweeper {
	struct background thread;
	struct writer *writer;
	struct pool *pool;
	const char *reserve;
	bool wanted; /* there may be something to do; guarded by the thread's lock */
	bool told;   /* that it does not work at present */
};

struct piece {
	struct unit unit;
	int64_t thread; /* which was removed */
	int messages;   /* at most */
};

/* The last message that still belongs to the piece, and whether it is the thread's last. */
static bool piece_end(
    struct db *db, const struct piece *p, int64_t *seq, bool *last, struct error *err)
{
	struct query q;
	int64_t bytes = 0;
	int count = 0;

	*seq = 0;
	query_start(&q, db, SQL_REMOVED_MESSAGES, err);
	query_int(&q, ":thread", p->thread);
	query_int(&q, ":limit", p->messages);
	while (bytes < PIECE_BYTES && query_row(&q)) {
		*seq = query_column_int(&q, REMOVED_MESSAGES_SEQ);
		bytes += query_column_int(&q, REMOVED_MESSAGES_BYTES);
		count++;
	}
	*last = bytes < PIECE_BYTES && count < p->messages;
	return query_end(&q);
}

static bool piece_delete(
    struct db *db, enum sql_id id, int64_t thread, int64_t seq, struct error *err)
{
	struct query q;

	query_start(&q, db, id, err);
	query_int(&q, ":thread", thread);
	query_int(&q, ":seq", seq);
	return query_run(&q);
}

static bool piece_run(struct db *db, struct unit *unit, struct error *err)
{
	const struct piece *p = (struct piece *)unit;
	int64_t thread = p->thread, seq;
	struct query q;
	bool last;

	if (!piece_end(db, p, &seq, &last, err) ||
	    !piece_delete(db, SQL_REMOVED_BODIES_DELETE, thread, seq, err) ||
	    !piece_delete(db, SQL_REMOVED_MESSAGES_DELETE, thread, seq, err))
		return false;
	if (!last)
		return true;
	query_start(&q, db, SQL_REMOVED_DELETE, err);
	query_int(&q, ":thread", thread);
	return query_run(&q);
}

/* *thread becomes 0 when no removed thread has anything left.  Read first, because a transaction
 * that writes nothing would still wait for the lock. */
static bool sweep_next(struct sweeper *s, int64_t *thread, struct error *err)
{
	struct query q;

	*thread = 0;
	pool_query(s->pool, &q, SQL_REMOVED_NEXT, err);
	if (query_row(&q))
		*thread = query_column_int(&q, REMOVED_NEXT_THREAD);
	return pool_query_end(s->pool, &q);
}

/* How long to rest before the next piece; negative: there is none. */
static int64_t sweep_piece(struct sweeper *s)
{
	struct piece p = {.unit = {.run = piece_run},
	    .messages = s->told ? PIECE_MESSAGES_TIGHT : PIECE_MESSAGES};
	struct error err = {0};
	int64_t start = clock_monotonic_ms();

	if (sweep_next(s, &p.thread, &err) &&
	    (p.thread == 0 || writer_run(s->writer, &p.unit, &err))) {
		if (!p.thread)
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
			background_sleep(&s->thread, -1);
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
			background_sleep(&s->thread, clock_monotonic_ms() + pause);
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
	if (background_start(&s->thread, sweep_run, s, err))
		return s;
	free(s);
	return NULL;
}

void sweeper_free(struct sweeper *s)
{
	if (!s)
		return;
	background_stop(&s->thread);
	free(s);
}

void sweeper_wake(struct sweeper *s)
{
	pthread_mutex_lock(&s->thread.lock);
	s->wanted = true;
	pthread_cond_signal(&s->thread.wake);
	pthread_mutex_unlock(&s->thread.lock);
}
