/* SPDX-License-Identifier: ISC */
/* Pushes: who is told how tasks go on, and what they are to be told now. */
#include "storage/sql/run/pushes.h"

#include "storage/sql/run/runs_engine.h"

#include <stdlib.h>

/* As sql/migrations/threads-0016.sql has them. */
enum push_state { PUSH_AWAITS, PUSH_PAUSED, PUSH_OVER };

/* ---- put, read and deleted ---- */

/* Stores a push; *room is false when the task has its most already. */
static bool push_put(struct db *db, int64_t thread, const struct push *push, enum push_state state,
    int64_t most, bool *room, struct error *err)
{
	struct query q;
	query_start(&q, db, SQL_PUSH_PUT, err);
	query_int(&q, ":thread", thread);
	query_text(&q, ":task", push->task);
	query_text(&q, ":id", push->id);
	query_int(&q, ":state", state);
	query_int(&q, ":number", push->number);
	query_text(&q, ":url", push->url);
	query_text(&q, ":how", push->how_json);
	query_int(&q, ":most", most);
	if (!query_run(&q))
		return false;
	*room = db_changes(db) != 0;
	return true;
}

bool push_put_first(struct db *db, struct run_key run, const struct push *push, struct error *err)
{
	struct push first;
	bool room;
	if (!push)
		return true;
	first = *push;
	first.number = run.number;
	return push_put(db, run.thread, &first, PUSH_AWAITS, 1, &room, err);
}

struct putting {
	struct unit unit;
	int64_t thread, most;
	const struct push *push;
	enum run_status status;
	bool room;
};

static bool push_put_unit(struct db *db, struct unit *unit, struct error *err)
{
	struct putting *p = (struct putting *)unit;
	enum push_state state = run_status_goes_on(p->status) ? PUSH_AWAITS
	    : p->status == RUN_INTERRUPTED                    ? PUSH_PAUSED
							      : PUSH_OVER;
	return push_put(db, p->thread, p->push, state, p->most, &p->room, err);
}

bool engine_push_put(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct push *push, enum run_status status, int64_t most, bool *room, struct error *err)
{
	struct putting p = {.unit = {.run = push_put_unit},
	    .thread = thread_row,
	    .most = most,
	    .push = push,
	    .status = status};
	(void)ctx;
	if (!writer_run(engine_of(st)->writer, &p.unit, err))
		return false;
	*room = p.room;
	return true;
}

bool engine_pushes_read(struct storage *st, const struct storage_context *ctx, struct arena *a,
    int64_t thread_row, const char *task, struct push_list *list, struct error *err)
{
	struct query q;
	list->count = 0;
	engine_query(st, ctx, &q, SQL_PUSHES_OF_TASK, err);
	query_int(&q, ":thread", thread_row);
	query_text(&q, ":task", task);
	while (list->count < list->limit && query_row(&q))
		list->items[list->count++] = (struct push){
		    .task = task,
		    .id = arena_strdup(a, query_column_text(&q, PUSHES_OF_TASK_ID)),
		    .url = arena_strdup(a, query_column_text(&q, PUSHES_OF_TASK_URL)),
		    .how_json = arena_strdup(a, query_column_text(&q, PUSHES_OF_TASK_HOW)),
		};
	return pool_query_end(engine_of(st)->pool, &q);
}

struct push_removal {
	struct unit unit;
	int64_t thread;
	const char *task, *id;
};

static bool push_remove_unit(struct db *db, struct unit *unit, struct error *err)
{
	const struct push_removal *r = (struct push_removal *)unit;
	struct query q;
	query_start(&q, db, SQL_PUSH_DELETE, err);
	query_int(&q, ":thread", r->thread);
	query_text(&q, ":task", r->task);
	query_text(&q, ":id", r->id);
	return query_run(&q);
}

bool engine_push_remove(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const char *task, const char *id, struct error *err)
{
	struct push_removal r = {
	    .unit = {.run = push_remove_unit}, .thread = thread_row, .task = task, .id = id};
	(void)ctx;
	return writer_run(engine_of(st)->writer, &r.unit, err);
}

/* ---- told ---- */

struct open_push {
	struct open_push *next;
	struct push push;
	enum push_state state;
	enum run_status status; /* of the run push.number; RUN_IDLE: its record is gone */
};

/* Puts a notification of the end of a run into the outbox, and notes that the push was told. */
static bool push_tell(struct storage *st, struct db *db, struct open_push *p,
    const struct push_end *end, struct moves *moves, struct error *err)
{
	enum run_status status = end->status;
	struct run_record record;
	char *body = NULL;
	struct query q;
	query_start(&q, db, SQL_RUN_READ, err);
	run_key_bind(&q, end->run);
	if (query_row(&q)) {
		record_read_row(&q, &record);
		status = record.status = status ? status : record.status;
		body = st->pushes->body(&record, &p->push);
	}
	const struct outgoing out = {.thread = end->run.thread,
	    .url = p->push.url,
	    .body = body,
	    .how_json = p->push.how_json};
	bool ok = query_end(&q) && (!body || outbox_put(db, &out, err));
	moves->outbox |= body != NULL;
	free(body);
	if (!ok)
		return false;
	query_start(&q, db, SQL_PUSH_SETTLE, err);
	query_int(&q, ":state", status == RUN_INTERRUPTED ? PUSH_PAUSED : PUSH_OVER);
	run_key_bind(&q, end->run);
	query_text(&q, ":task", p->push.task);
	query_text(&q, ":id", p->push.id);
	return query_run(&q);
}

/* Which end of a run the push is to be told of now; number 0: none yet. */
static struct push_end push_due(const struct storage *st, const struct open_push *p,
    const struct push_end *end, const struct run_record *ended)
{
	struct push_end none = {0}, own = {.run = {end->run.thread, p->push.number}};
	if (p->push.number == end->run.number)
		return p->state == PUSH_AWAITS || end->status ? *end : none;
	if (p->state == PUSH_AWAITS) /* the process of that run died, and nobody was told yet */
		return p->status != RUN_IDLE && !run_status_goes_on(p->status) ? own : none;
	if (st->pushes->follows(ended->thread_id, p->push.task, ended->run_id))
		return *end;
	own.status = RUN_STOPPED; /* nobody can answer it any more */
	return own;
}

bool pushes_tell(struct storage *st, struct db *db, const struct push_end *end, struct moves *moves,
    struct error *err)
{
	struct open_push *open = NULL;
	struct run_record ended = {0};
	struct query q;
	if (!st->pushes)
		return true;
	struct arena *a = arena_new();
	query_start(&q, db, SQL_PUSHES_OPEN, err);
	query_int(&q, ":thread", end->run.thread);
	while (query_row(&q)) {
		struct open_push *p = arena_alloc(a, sizeof(*p));
		*p = (struct open_push){.next = open,
		    .push = {.task = arena_strdup(a, query_column_text(&q, PUSHES_OPEN_TASK)),
			.id = arena_strdup(a, query_column_text(&q, PUSHES_OPEN_ID)),
			.url = arena_strdup(a, query_column_text(&q, PUSHES_OPEN_URL)),
			.how_json = arena_strdup(a, query_column_text(&q, PUSHES_OPEN_HOW)),
			.number = query_column_int(&q, PUSHES_OPEN_NUMBER)},
		    .state = (enum push_state)query_column_int(&q, PUSHES_OPEN_STATE),
		    .status = (enum run_status)query_column_int(&q, PUSHES_OPEN_STATUS)};
		open = p;
	}
	bool ok = query_end(&q);
	if (ok && open) {
		query_start(&q, db, SQL_RUN_READ, err);
		run_key_bind(&q, end->run);
		if (query_row(&q)) {
			record_read_row(&q, &ended);
			ended.thread_id = arena_strdup(a, ended.thread_id);
			ended.run_id = arena_strdup(a, ended.run_id);
		}
		ok = query_end(&q);
	}
	for (; ok && open && ended.run_id; open = open->next) {
		const struct push_end due = push_due(st, open, end, &ended);
		ok = !due.run.number || push_tell(st, db, open, &due, moves, err);
	}
	arena_free(a);
	return ok;
}

struct telling {
	struct unit unit;
	struct storage *st;
	struct push_end end;
	struct moves moves;
};

static bool pushes_tell_unit(struct db *db, struct unit *unit, struct error *err)
{
	struct telling *t = (struct telling *)unit;
	t->moves = (struct moves){0};
	return pushes_tell(t->st, db, &t->end, &t->moves, err);
}

bool engine_pushes_tell(struct storage *st, const struct storage_context *ctx, struct run_key run,
    enum run_status status, struct error *err)
{
	struct telling t = {.unit = {.run = pushes_tell_unit}, .st = st, .end = {run, status}};
	(void)ctx;
	return writer_run(engine_of(st)->writer, &t.unit, err) && moves_tell(st, &t.moves);
}
