/* SPDX-License-Identifier: ISC */
/*
 * Moving the messages of an older threads.db into the present tables, in many transactions.
 *
 * Large messages made the old table's tree slow to search, so it is searched only once in a
 * transaction and otherwise read from one end to the other.  Moved messages are deleted in the same
 * transaction, and the next ones take their pages; so the file hardly grows.
 */
#include "storage/sqlite/migrate.h"

#include "base/log/log.h"
#include "base/os/clock.h"

#include <inttypes.h>
#include <string.h>

/* The most that one transaction moves, which bounds the length of the log. */
#define PIECE_BYTES (64 << 20)
#define PIECE_MESSAGES 10000

struct move {
	struct db *db;
	struct error *err;
	int64_t thread, seq;  /* of the latest message that was moved */
	int64_t bytes, after; /* to be counted in its thread's row */
	int64_t messages;     /* moved by this process */
	bool found;           /* the latest piece had any messages */
};

static bool move_count(struct move *m)
{
	struct query q;
	query_start(&q, m->db, SQL_MOVE_COUNT, m->err);
	query_int(&q, ":row", m->thread);
	query_int(&q, ":bytes", m->bytes);
	query_int(&q, ":after", m->after);
	m->bytes = m->after = 0;
	return query_run(&q);
}

/* Moves the message of the old table that row stands on. */
static bool move_message(struct move *m, struct query *row)
{
	const char *body = query_column_text(row, MOVE_NEXT_BODY);
	int64_t thread = query_column_int(row, MOVE_NEXT_THREAD), bytes = (int64_t)strlen(body);
	struct query q;
	if (thread != m->thread && !move_count(m))
		return false;
	m->thread = thread;
	m->seq = query_column_int(row, MOVE_NEXT_SEQ);
	m->bytes += bytes;
	if (query_column_int(row, MOVE_NEXT_OUTSIDE))
		m->after = m->seq;
	if (m->messages++ == 0)
		log_info("threads.db: its messages move to the layout of version 3; that takes "
			 "time");
	query_start(&q, m->db, SQL_BODY_INSERT, m->err);
	query_text(&q, ":body", body);
	if (!query_run(&q))
		return false;
	query_start(&q, m->db, SQL_MOVE_INSERT, m->err);
	query_int(&q, ":thread", thread);
	query_int(&q, ":seq", m->seq);
	query_int(&q, ":position", query_column_int(row, MOVE_NEXT_PLACE));
	query_text(&q, ":message_id", query_column_text(row, MOVE_NEXT_MESSAGE_ID));
	query_int(&q, ":bytes", bytes);
	return query_run(&q);
}

static bool move_piece(struct move *m)
{
	int64_t size = 0, count = 0;
	struct query q;
	bool ok = true;
	query_start(&q, m->db, SQL_MOVE_NEXT, m->err);
	query_int(&q, ":thread", m->thread);
	query_int(&q, ":seq", m->seq);
	while (ok && size < PIECE_BYTES && count < PIECE_MESSAGES && query_row(&q)) {
		ok = move_message(m, &q);
		size += (int64_t)strlen(query_column_text(&q, MOVE_NEXT_BODY));
		count++;
	}
	m->found = count > 0;
	if (!query_end(&q) || !ok || !move_count(m))
		return false;
	query_start(&q, m->db, SQL_MOVE_DELETE, m->err);
	query_int(&q, ":thread", m->thread);
	query_int(&q, ":seq", m->seq);
	return query_run(&q);
}

bool messages_move(struct db *db, struct error *err)
{
	struct move m = {.db = db, .err = err, .found = true};
	int64_t start = clock_monotonic_ms();
	struct query q;
	query_start(&q, db, SQL_MOVE_LAST, err);
	if (query_row(&q)) { /* go on where another process has stopped */
		m.thread = query_column_int(&q, MOVE_LAST_THREAD);
		m.seq = query_column_int(&q, MOVE_LAST_SEQ);
	}
	bool ok = query_end(&q);
	while (ok && m.found) {
		ok = db_begin(db, err);
		if (!ok)
			break;
		ok = move_piece(&m) && db_commit(db, err);
		if (ok) /* the log begins anew */
			sqlite3_wal_checkpoint_v2(sqlite_db_of(db)->handle, "main",
			    SQLITE_CHECKPOINT_RESTART, NULL, NULL);
		else
			db_rollback(db);
	}
	if (ok && m.messages)
		log_info("threads.db: %" PRId64 " messages moved in %.1f s", m.messages,
		    (double)(clock_monotonic_ms() - start) / 1000);
	return ok;
}
