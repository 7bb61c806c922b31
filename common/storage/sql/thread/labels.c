/* SPDX-License-Identifier: ISC */
/* Labels of threads, as rows, and narrowing a listing down by labels and status. */
#include "base/json/json_quote.h"
#include "storage/sql/engine.h"

#include <inttypes.h>

/* ---- written ---- */

struct labelling {
	struct db *db;
	int64_t thread_row;
	struct error *err;
};

static bool labels_insert(void *arg, const struct label *label)
{
	struct labelling *l = arg;
	struct query q;
	query_start(&q, l->db, SQL_LABEL_INSERT, l->err);
	query_int(&q, ":thread", l->thread_row);
	query_text(&q, ":key", label->key);
	query_text(&q, ":value", label->value);
	return query_run(&q);
}

bool engine_labels_write(
    struct db *db, int64_t thread_row, const char *metadata_json, struct error *err)
{
	struct labelling l = {db, thread_row, err};
	struct query q;
	query_start(&q, db, SQL_LABELS_DELETE, err);
	query_int(&q, ":thread", thread_row);
	return query_run(&q) && labels_each(metadata_json, labels_insert, &l);
}

/* ---- read ---- */

/* With more threads than this it is cheaper to go through a listing until its page is full. */
#define LABELS_FEW 4096

/* The statuses that the index of statuses leaves out. */
#define LABELS_NOT_INDEXED (1U << RUN_COMPLETED)

/* Rows of threads, while they are few. */
struct few {
	struct buf rows; /* a JSON array without its end */
	int count;
};

/* Adds the rows of a query, of which only owner and limit are still to be bound, and ends it. */
static bool few_read(struct few *few, struct storage *st, struct query *q, const char *owner)
{
	if (owner)
		query_text(q, ":owner", owner);
	query_int(q, ":limit", LABELS_FEW + 1 - few->count);
	while (query_row(q))
		buf_printf(&few->rows, "%c%" PRId64, few->count++ ? ',' : '[',
		    query_column_int(q, LABELLED_THREAD));
	return pool_query_end(engine_of(st)->pool, q);
}

static bool few_in_status(struct few *few, struct storage *st, const struct storage_context *ctx,
    const char *owner, unsigned statuses, struct error *err)
{
	struct query q;
	for (unsigned status = 0; statuses >> status; status++) {
		if (!(statuses >> status & 1))
			continue;
		engine_query(
		    st, ctx, &q, owner ? SQL_THREADS_IN_STATUS_OWNED : SQL_THREADS_IN_STATUS, err);
		query_int(&q, ":status", status);
		if (!few_read(few, st, &q, owner))
			return false;
	}
	return true;
}

/* Keeps the fewer of both in *best. */
static void few_choose(struct few *best, struct few *other)
{
	if (other->count < best->count) {
		struct few more = *best;
		*best = *other;
		*other = more;
	}
	buf_release(&other->rows);
}

bool engine_labels_narrow(struct storage *st, const struct storage_context *ctx, const char *owner,
    const struct thread_filter *filter, char **rows, struct error *err)
{
	struct few best = {.count = LABELS_FEW + 1};
	struct query q;
	bool ok = true;
	*rows = NULL;
	for (size_t i = 0; ok && filter && i < filter->count; i++) {
		struct few few = {0};
		engine_query(st, ctx, &q, owner ? SQL_LABELLED_OWNED : SQL_LABELLED, err);
		query_text(&q, ":key", filter->labels[i].key);
		query_text(&q, ":value", filter->labels[i].value);
		ok = few_read(&few, st, &q, owner);
		few_choose(&best, &few);
	}
	if (ok && filter && filter->statuses && !(filter->statuses & LABELS_NOT_INDEXED)) {
		struct few few = {0};
		ok = few_in_status(&few, st, ctx, owner, filter->statuses, err);
		few_choose(&best, &few);
	}
	if (ok && best.count <= LABELS_FEW) {
		buf_puts(&best.rows, best.count ? "]" : "[]");
		*rows = buf_detach(&best.rows);
	}
	buf_release(&best.rows);
	return ok;
}

void engine_bind_filter(struct query *q, const struct thread_filter *filter, char **labels)
{
	struct buf pairs = {0};
	for (size_t i = 0; filter && i < filter->count; i++) {
		buf_puts(&pairs, i ? ",[" : "[[");
		json_quote(&pairs, filter->labels[i].key);
		buf_putc(&pairs, ',');
		json_quote(&pairs, filter->labels[i].value);
		buf_putc(&pairs, ']');
	}
	if (pairs.len)
		buf_putc(&pairs, ']');
	*labels = pairs.len ? buf_detach(&pairs) : NULL;
	query_int(q, ":statuses", filter ? filter->statuses : 0);
	query_text(q, ":labels", *labels);
}
