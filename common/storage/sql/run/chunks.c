/* SPDX-License-Identifier: ISC */
/* Kept chunks of runs: added, read, forgotten and expired. */
#include "base/buf.h"
#include "base/memory.h"
#include "storage/queue.h"
#include "storage/sql/run/line_pack.h"
#include "storage/sql/run/records.h"
#include "storage/sql/run/runs_engine.h"
#include "storage/sql/thread/claims.h"

#include <stdlib.h>
#include <string.h>

#define FORGET_AT_ONCE 32 /* batches in one transaction */
#define EXPIRE_AT_ONCE 64

/* ---- in and out ---- */

struct addition {
	struct unit unit;
	const struct chunk_batch *batches; /* their lines are packed */
	size_t count;
	int64_t process;     /* this process, where there are several instances; else 0 */
	struct query *asked; /* where there are several, the query that adds each batch */
};

static void chunks_add(struct db *db, const struct addition *a, const struct chunk_batch *b,
    struct query *q, struct error *err)
{
	query_start(q, db, b->mends ? SQL_CHUNKS_MEND : SQL_CHUNKS_INSERT, err);
	query_int(q, ":thread", b->thread_row);
	query_int(q, ":number", b->number);
	query_int(q, ":seq", b->seq);
	query_int(q, ":count", b->count);
	query_text_part(q, ":lines", b->lines, b->len);
	if (a->process && !b->mends)
		query_int(q, ":process", a->process);
}

/* Where there are several instances, the batches are sent ahead, so that one trip to the server is
 * enough. */
static bool chunks_append_ask(struct db *db, struct unit *unit, struct error *err)
{
	const struct addition *a = (struct addition *)unit;
	memset(a->asked, 0, a->count * sizeof(*a->asked));
	for (size_t i = 0; a->process && i < a->count; i++) {
		if (a->batches[i].mends)
			continue;
		chunks_add(db, a, &a->batches[i], &a->asked[i], err);
		query_send(&a->asked[i]);
		if (a->asked[i].failed)
			return false;
	}
	return true;
}

static bool chunks_append_unit(struct db *db, struct unit *unit, struct error *err)
{
	const struct addition *a = (struct addition *)unit;
	struct query q;
	bool taken;
	for (size_t i = 0; i < a->count; i++) {
		const struct chunk_batch *b = &a->batches[i];
		if (a->asked[i].db) {
			taken = query_row(&a->asked[i]);
			if (!query_end(&a->asked[i]))
				return false;
		} else {
			chunks_add(db, a, b, &q, err);
			if (!query_run(&q))
				return false;
			taken = b->mends || db_changes(db) > 0;
		}
		if (!taken) /* what was not stored must not be shown as kept */
			return error_set(
			    err, ERR_THREAD_BUSY, "the run has lost its thread, or its record");
		if (b->lease && !claim_drop(db, b->lease, err))
			return false;
	}
	return true;
}

bool engine_chunks_append(struct storage *st, const struct storage_context *ctx,
    const struct chunk_batch *batches, size_t count, struct error *err)
{
	struct chunk_batch *packed = xcalloc(count, sizeof(*packed));
	struct addition a = {{.run = chunks_append_unit, .ask = chunks_append_ask}, packed, count,
	    0, xcalloc(count, sizeof(*a.asked))};
	struct instances *instances = engine_of(st)->instances;
	struct buf lines = {0};
	(void)ctx;
	for (size_t i = 0; i < count; i++) {
		packed[i] = batches[i];
		packed[i].len = lines.len;
		lines_pack(&lines, batches[i].lines, batches[i].len);
		packed[i].len = lines.len - packed[i].len;
	}
	for (size_t i = 0, at = 0; i < count; at += packed[i++].len)
		packed[i].lines = buf_str(&lines) + at;

	bool ok = (!instances || instances_process(instances, &a.process, err)) &&
	    writer_run(engine_of(st)->writer, &a.unit, err);

	for (size_t i = 0; ok && i < count; i++) {
		if (batches[i].lease) {
			claim_freed(batches[i].lease);
			claims_release(st, batches[i].lease, err);
		}
		chunks_moved(engine_of(st)->shared, batches[i].thread_row, batches[i].number);
	}
	buf_release(&lines);
	free(a.asked);
	free(packed);
	return ok;
}

/* A column of lines; packed ones are unpacked into plain. */
static const char *chunks_column(struct query *q, int column, struct buf *plain, size_t *len)
{
	const char *lines = query_column_blob(q, column, len);
	if (!*len || !lines_packed(lines, *len))
		return lines;
	buf_reset(plain);
	lines_unpack(plain, lines, *len);
	*len = plain->len;
	return buf_str(plain);
}

bool engine_chunks_read(struct storage *st, const struct storage_context *ctx, struct run_key run,
    int64_t after, chunk_batch_fn fn, void *arg, struct error *err)
{
	struct chunk_batch b = {.thread_row = run.thread, .number = run.number};
	struct buf plain = {0};
	struct query q;
	bool more = true;
	engine_query(st, ctx, &q, SQL_CHUNKS_READ, err);
	run_key_bind(&q, run);
	query_int(&q, ":wanted", after < INT64_MAX ? after + 1 : after);
	while (more && query_row(&q)) {
		b.seq = query_column_int(&q, CHUNKS_READ_SEQ);
		b.count = query_column_int(&q, CHUNKS_READ_COUNT);
		if (b.seq + b.count - 1 <= after)
			continue;
		b.lines = chunks_column(&q, CHUNKS_READ_LINES, &plain, &b.len);
		more = fn(arg, &b);
	}
	buf_release(&plain);
	return pool_query_end(engine_of(st)->pool, &q);
}

bool engine_chunks_last(struct storage *st, const struct storage_context *ctx, struct run_key run,
    int64_t *seq, struct error *err)
{
	struct query q;
	*seq = 0;
	engine_query(st, ctx, &q, SQL_CHUNKS_LAST, err);
	run_key_bind(&q, run);
	if (query_row(&q))
		*seq = query_column_int(&q, CHUNKS_LAST_LAST);
	return pool_query_end(engine_of(st)->pool, &q);
}

/* ---- forgotten ---- */

struct forgetting {
	struct unit unit;
	chunk_line_fn forgets;
	void *arg;
	const int64_t *rows; /* batches that had such lines when they were read */
	size_t count;
};

/* Appends the lines that stay to left; false when all do. */
static bool chunks_forget_lines(
    const struct forgetting *f, const char *lines, size_t len, struct buf *left)
{
	const char *end = lines + len, *next;
	bool some = false;
	for (const char *line = lines; line < end; line = next) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		bool gone = f->forgets(f->arg, line, (size_t)((newline ? newline : end) - line));
		next = newline ? newline + 1 : end;
		some |= gone;
		if (!gone)
			buf_add(left, line, (size_t)(next - line));
	}
	return some;
}

static bool chunks_forget_in_batch(
    struct db *db, const struct forgetting *f, int64_t row, struct error *err)
{
	struct buf plain = {0}, left = {0}, packed = {0};
	bool some = false, ok;
	struct query q;
	size_t len;
	query_start(&q, db, SQL_CHUNKS_BATCH, err);
	query_int(&q, ":row", row);
	if (query_row(&q)) {
		const char *lines = chunks_column(&q, CHUNKS_BATCH_LINES, &plain, &len);
		some = chunks_forget_lines(f, lines, len, &left);
	}
	ok = query_end(&q);
	if (ok && some) {
		lines_pack(&packed, buf_str(&left), left.len);
		query_start(&q, db, SQL_CHUNKS_REPLACE, err);
		query_text_part(&q, ":lines", buf_str(&packed), packed.len);
		query_int(&q, ":row", row);
		ok = query_run(&q);
	}
	buf_release(&packed);
	buf_release(&plain);
	buf_release(&left);
	return ok;
}

static bool chunks_forget_unit(struct db *db, struct unit *unit, struct error *err)
{
	const struct forgetting *f = (struct forgetting *)unit;
	bool ok = true;
	for (size_t i = 0; ok && i < f->count; i++)
		ok = chunks_forget_in_batch(db, f, f->rows[i], err);
	return ok;
}

bool engine_chunks_forget(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    chunk_line_fn forgets, void *arg, struct error *err)
{
	struct forgetting f = {.unit = {.run = chunks_forget_unit}, .forgets = forgets, .arg = arg};
	struct buf plain = {0}, left = {0};
	int64_t *rows = NULL;
	size_t count = 0, len;
	struct query q;
	bool ok;
	engine_query(st, ctx, &q, SQL_CHUNKS_OF_THREAD, err);
	query_int(&q, ":thread", thread_row);
	while (query_row(&q)) {
		const char *lines = chunks_column(&q, CHUNKS_OF_THREAD_LINES, &plain, &len);
		buf_reset(&left);
		if (!chunks_forget_lines(&f, lines, len, &left))
			continue;
		rows = xrealloc(rows, (count + 1) * sizeof(*rows));
		rows[count++] = query_column_int(&q, CHUNKS_OF_THREAD_ROW);
	}
	buf_release(&plain);
	buf_release(&left);
	ok = pool_query_end(engine_of(st)->pool, &q);
	for (size_t at = 0; ok && at < count; at += f.count) {
		f.rows = rows + at;
		f.count = count - at < FORGET_AT_ONCE ? count - at : FORGET_AT_ONCE;
		ok = writer_run(engine_of(st)->writer, &f.unit, err);
	}
	if (count)
		chunks_moved_all(engine_of(st)->shared); /* readers may hold these lines */
	free(rows);
	return ok;
}

/* ---- expired ---- */

struct expiry {
	struct unit unit;
	struct run_key run;
	int64_t kept_until; /* for a run that was lost */

	int64_t count;
};

static bool chunks_expire_unit(struct db *db, struct unit *unit, struct error *err)
{
	struct expiry *e = (struct expiry *)unit;
	struct query q;
	query_start(&q, db, SQL_CHUNKS_DELETE, err);
	run_key_bind(&q, e->run);
	query_int(&q, ":limit", EXPIRE_AT_ONCE);
	if (!query_run(&q))
		return false;
	e->count = db_changes(db);
	if (e->count == EXPIRE_AT_ONCE)
		return true;
	e->count++;
	query_start(&q, db, SQL_KEPT_DELETE, err);
	run_key_bind(&q, e->run);
	return query_run(&q);
}

static bool chunks_expire_lost_unit(struct db *db, struct unit *unit, struct error *err)
{
	const struct expiry *e = (struct expiry *)unit;
	return record_keep_chunks_until(db, e->run, e->kept_until, err);
}

/*
 * Looks for runs whose process has died among those whose chunks say that they go on.  A run that
 * has the thread is either such a run, or buries it when it begins.  So a run that says it goes on,
 * on a thread that no run has, has died or has just ended, and then its record says so.  The chunks
 * of the dead are kept as if they had ended now: somebody looks soon after they died.
 */
static bool chunks_expire_lost(
    struct storage *st, const struct storage_context *ctx, int64_t now, struct error *err)
{
	struct expiry e = {
	    .unit = {.run = chunks_expire_lost_unit}, .kept_until = now + st->chunks_keep};
	for (;;) {
		bool found, running = true, stop;
		struct query q;
		engine_query(st, ctx, &q, SQL_KEPT_UNENDED, err);
		run_key_bind(&q, e.run);
		found = query_row(&q);
		if (found) {
			e.run.thread = query_column_int(&q, KEPT_UNENDED_THREAD);
			e.run.number = query_column_int(&q, KEPT_UNENDED_NUMBER);
			claims_running(st, ctx, query_column_text(&q, KEPT_UNENDED_THREAD_ID),
			    &running, &stop, err);
		}
		if (!pool_query_end(engine_of(st)->pool, &q) || error_is_set(err))
			return false;
		if (!found)
			return true;
		if (!running && !writer_run(engine_of(st)->writer, &e.unit, err))
			return false;
	}
}

bool engine_chunks_expire(struct storage *st, const struct storage_context *ctx, int64_t now,
    int64_t most, int64_t *count, struct error *err)
{
	struct expiry e = {.unit = {.run = chunks_expire_unit}};
	struct query q;
	bool found;
	*count = 0;
	if (!chunks_expire_lost(st, ctx, now, err))
		return false;
	while (*count < most) {
		engine_query(st, ctx, &q, SQL_KEPT_DUE, err);
		query_int(&q, ":now", now);
		found = query_row(&q);
		if (found) {
			e.run.thread = query_column_int(&q, KEPT_DUE_THREAD);
			e.run.number = query_column_int(&q, KEPT_DUE_NUMBER);
		}
		if (!pool_query_end(engine_of(st)->pool, &q))
			return false;
		if (!found)
			break;
		if (!writer_run(engine_of(st)->writer, &e.unit, err))
			return false;
		*count += e.count;
	}
	return true;
}
