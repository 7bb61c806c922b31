/* SPDX-License-Identifier: ISC */
/* Memories in rows: adding, changing, removing and embedding memories. */
#include "storage/sql/memory/memories_engine.h"

#include "storage/vector/vector_file.h"

#define HASH_SIZE 32
#define FORGET_AT_ONCE 500 /* so that other writers get their turn meanwhile */

/* Takes a turn: rows and changes of vectors are numbered, and those who follow them go by the
 * highest number, so they must become visible in the order of their numbers. */
static bool memories_turn(struct db *db, struct error *err)
{
	return db_take_turn(db, "memories", err);
}

static void memories_bind_vector(struct query *q, const struct memories_engine *e, int64_t row,
    const float *numbers, const unsigned char *hash)
{
	query_int(q, ":memory", row);
	query_int(q, ":model", e->model);
	if (hash)
		query_blob(q, ":hash", hash, HASH_SIZE);
	query_blob(q, ":vector", numbers, e->dimension * sizeof(float));
}

static bool memories_write_vector(struct db *db, const struct memories_engine *e, int64_t row,
    const struct memory_vector *vector, struct error *err)
{
	struct query q;
	if (!vector->numbers)
		return db_run_on_row(db, SQL_PENDING_INSERT, row, err);
	query_start(&q, db, SQL_VECTOR_INSERT, err);
	memories_bind_vector(&q, e, row, vector->numbers, vector->hash);
	return query_run(&q);
}

static bool memories_write_relations(
    struct db *db, int64_t row, const struct memory_links *links, struct error *err)
{
	struct query q;
	for (size_t i = 0; i < links->relation_count; i++) {
		query_start(&q, db, SQL_RELATION_INSERT, err);
		query_int(&q, ":memory", row);
		query_text(&q, ":target", links->relations[i]);
		if (!query_run(&q))
			return false;
	}
	return true;
}

/* ---- storing ---- */

struct putting {
	struct unit unit;
	const struct memories_engine *engine;
	const struct memory *m;
	const struct memory_links *links;
	const struct memory_vector *vector;
};

static bool memories_put_unit(struct db *db, struct unit *unit, struct error *err)
{
	const struct putting *p = (struct putting *)unit;
	const struct memory *m = p->m;
	char owner[OWNER_WORD_SIZE];
	int64_t row = 0;
	struct query q;
	if (!memories_turn(db, err))
		return false;
	memories_owner_word(m->user_id, owner);
	query_start(&q, db, SQL_MEMORY_INSERT, err);
	query_text(&q, ":memory_id", m->memory_id);
	query_text(&q, ":user_id", m->user_id);
	query_text(&q, ":owner", owner);
	query_text(&q, ":thread_id", m->thread_id);
	query_text(&q, ":memory_type", m->memory_type);
	query_text(&q, ":category", m->category);
	query_text(&q, ":entity", p->links->entity);
	query_int(&q, ":created_at", m->created_at);
	query_text(&q, ":metadata", m->metadata_json);
	query_text(&q, ":content", m->content);
	if (query_row(&q))
		row = query_column_int(&q, MEMORY_INSERT_ROW);
	return query_end(&q) && db_run_on_row(db, SQL_WORD_INSERT, row, err) &&
	    memories_write_relations(db, row, p->links, err) &&
	    memories_write_vector(db, p->engine, row, p->vector, err);
}

bool memories_put(struct memory_set *set, const struct storage_context *ctx, const struct memory *m,
    const struct memory_links *links, const struct memory_vector *vector, struct error *err)
{
	struct memories_engine *e = memories_engine_of(set);
	struct putting p = {{.run = memories_put_unit}, e, m, links, vector};
	(void)ctx;
	return writer_run(e->writer, &p.unit, err);
}

/* ---- changing ---- */

struct change_of_memory {
	struct unit unit;
	const struct memories_engine *engine;
	const struct memory_filter *scope;
	const char *memory_id;
	int64_t row; /* 0: there is none */

	const struct memory_update *update; /* NULL: it is removed */
	bool vector_goes;
};

static bool change_of_memory_find(struct db *db, struct change_of_memory *c, struct error *err)
{
	struct query q;
	c->row = 0;
	query_start(&q, db, SQL_MEMORY_FIND, err);
	query_text(&q, ":memory_id", c->memory_id);
	query_text(&q, ":user_id", c->scope->user_id);
	query_text(&q, ":thread_id", c->scope->thread_id);
	if (query_row(&q))
		c->row = query_column_int(&q, MEMORY_FIND_ROW);
	return query_end(&q);
}

static bool memories_update_unit(struct db *db, struct unit *unit, struct error *err)
{
	struct change_of_memory *c = (struct change_of_memory *)unit;
	struct query q;
	if (!memories_turn(db, err) || !change_of_memory_find(db, c, err))
		return false;
	if (!c->row)
		return true;
	if (!db_run_on_row(db, SQL_WORD_DELETE, c->row, err))
		return false;
	query_start(&q, db, SQL_MEMORY_UPDATE, err);
	query_int(&q, ":row", c->row);
	query_text(&q, ":content", c->update->content);
	query_text(&q, ":metadata", c->update->metadata_json);
	query_text(&q, ":entity", c->update->links->entity);
	if (!query_run(&q) || !db_run_on_row(db, SQL_WORD_INSERT, c->row, err))
		return false;
	if (c->update->metadata_json && /* which names the relations */
	    !(db_run_on_row(db, SQL_RELATION_CLEAR, c->row, err) &&
		memories_write_relations(db, c->row, c->update->links, err)))
		return false;
	return db_run_on_row(db, SQL_VECTOR_DROP, c->row, err) &&
	    db_run_on_row(db, SQL_PENDING_DROP, c->row, err) &&
	    memories_write_vector(db, c->engine, c->row, c->update->vector, err);
}

static bool change_of_memory_run(
    struct memories_engine *e, struct change_of_memory *c, bool *found, struct error *err)
{
	if (!writer_run(e->writer, &c->unit, err))
		return false;
	*found = c->row != 0;
	if (c->vector_goes && *found)
		memories_drop_vectors(e, &c->row, 1);
	return true;
}

bool memories_update(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *scope, const char *memory_id, const struct memory_update *update,
    bool *found, struct error *err)
{
	struct memories_engine *e = memories_engine_of(set);
	struct change_of_memory c = {
	    .unit = {.run = memories_update_unit},
	    .engine = e,
	    .scope = scope,
	    .memory_id = memory_id,
	    .update = update,
	    .vector_goes = !update->vector->numbers,
	};
	(void)ctx;
	return change_of_memory_run(e, &c, found, err);
}

static bool memories_delete(struct db *db, int64_t row, struct error *err)
{
	return db_run_on_row(db, SQL_WORD_DELETE, row, err) &&
	    db_run_on_row(db, SQL_MEMORY_DELETE, row, err);
}

static bool memories_remove_unit(struct db *db, struct unit *unit, struct error *err)
{
	struct change_of_memory *c = (struct change_of_memory *)unit;
	if (!memories_turn(db, err) || !change_of_memory_find(db, c, err))
		return false;
	return !c->row || memories_delete(db, c->row, err);
}

bool memories_remove(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *scope, const char *memory_id, bool *found, struct error *err)
{
	struct memories_engine *e = memories_engine_of(set);
	struct change_of_memory c = {.unit = {.run = memories_remove_unit},
	    .scope = scope,
	    .memory_id = memory_id,
	    .vector_goes = true};
	(void)ctx;
	return change_of_memory_run(e, &c, found, err);
}

/* ---- forgetting ---- */

struct forgetting {
	struct unit unit;
	const struct memory_filter *filter;
	const int64_t *rows; /* that the filter held when they were read */
	size_t count;
	int64_t gone[FORGET_AT_ONCE]; /* of those, what this unit removed */
	size_t gone_count;
};

/* Deletes rows that were found outside of the transaction, where a slow filter delays no other
 * writer; others may have removed or changed them since. */
static bool memories_forget_unit(struct db *db, struct unit *unit, struct error *err)
{
	struct forgetting *f = (struct forgetting *)unit;
	f->gone_count = 0;
	if (!memories_turn(db, err))
		return false;
	for (size_t i = 0; i < f->count; i++) {
		struct query q;
		bool held;
		query_start(&q, db, SQL_MEMORY_LOAD, err);
		query_int(&q, ":row", f->rows[i]);
		memories_bind_filter(&q, f->filter);
		held = query_row(&q);
		if (!query_end(&q) || (held && !memories_delete(db, f->rows[i], err)))
			return false;
		if (held)
			f->gone[f->gone_count++] = f->rows[i];
	}
	return true;
}

bool memories_forget(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *filter, int64_t *count, struct error *err)
{
	struct memories_engine *e = memories_engine_of(set);
	int64_t rows[FORGET_AT_ONCE], newest = INT64_MAX;
	struct forgetting f = {
	    .unit = {.run = memories_forget_unit}, .filter = filter, .rows = rows};
	*count = 0;
	for (;;) {
		struct query q;
		f.count = 0;
		memories_rows_query(e, ctx, &q, filter, newest, FORGET_AT_ONCE, err);
		while (query_row(&q))
			rows[f.count++] = query_column_int(&q, MEMORY_MATCHING_ROW);
		if (!pool_query_end(e->pool, &q))
			return false;
		if (f.count == 0)
			return true;
		newest = rows[f.count - 1] - 1;
		if (!writer_run(e->writer, &f.unit, err))
			return false;
		*count += (int64_t)f.gone_count;
		memories_drop_vectors(e, f.gone, f.gone_count);
	}
}

/* ---- vectors that come later ---- */

struct adoption {
	struct unit unit;
	const struct memories_engine *engine;
	const struct memory_batch *batch;
};

/* Stores each vector, and that the memory waits for none any more; unless the text has changed
 * since. */
static bool memories_adopt_unit(struct db *db, struct unit *unit, struct error *err)
{
	struct adoption *a = (struct adoption *)unit;
	const struct memory_batch *batch = a->batch;
	if (!memories_turn(db, err))
		return false;
	for (size_t i = 0; i < batch->count; i++) {
		const struct memory_text *text = &batch->texts[i];
		struct query q;
		query_start(&q, db, SQL_VECTOR_ADOPT, err);
		memories_bind_vector(&q, a->engine, text->row,
		    batch->vectors + i * a->engine->dimension,
		    batch->hashes ? batch->hashes + i * HASH_SIZE : NULL);
		query_text(&q, ":content", text->content);
		if (!query_run(&q))
			return false;
		query_start(&q, db, SQL_PENDING_SETTLE, err);
		query_int(&q, ":memory", text->row);
		query_text(&q, ":content", text->content);
		if (!query_run(&q))
			return false;
	}
	return true;
}

bool memories_adopt(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_batch *batch, struct error *err)
{
	struct memories_engine *e = memories_engine_of(set);
	struct adoption a = {{.run = memories_adopt_unit}, e, batch};
	(void)ctx;
	return writer_run(e->writer, &a.unit, err);
}
