/* SPDX-License-Identifier: ISC */
/* The outbox: what is due, and what came of it. */
#include "storage/sql/run/jobs.h"
#include "storage/sql/run/runs_engine.h"

struct outbox {
	struct storage *st;
	const struct storage_context *ctx;
	struct arena *arena;
	struct webhooks_due *due;
};

/* Adds the items of one site that are due, and lowers next_due to when its next one will be. */
static bool webhooks_add(struct outbox *o, const char *site, struct error *err)
{
	struct pool *pool = engine_of(o->st)->pool;
	struct webhooks_due *due = o->due;
	int64_t due_at = 0;
	struct query q;
	engine_query(o->st, o->ctx, &q, SQL_WEBHOOKS_OF_SITE, err);
	query_text(&q, ":site", site);
	query_int(&q, ":now", due->now);
	query_int(&q, ":limit", due->per_site);
	while (due->count < due->limit && query_row(&q))
		due->items[due->count++] = (struct webhook){
		    .row = query_column_int(&q, WEBHOOKS_OF_SITE_ROW),
		    .id = arena_strdup(o->arena, query_column_text(&q, WEBHOOKS_OF_SITE_ID)),
		    .url = arena_strdup(o->arena, query_column_text(&q, WEBHOOKS_OF_SITE_URL)),
		    .body = arena_strdup(o->arena, query_column_text(&q, WEBHOOKS_OF_SITE_BODY)),
		    .how_json = arena_strdup(o->arena, query_column_text(&q, WEBHOOKS_OF_SITE_HOW)),
		    .due_at = query_column_int(&q, WEBHOOKS_OF_SITE_DUE_AT),
		    .attempts = query_column_int(&q, WEBHOOKS_OF_SITE_ATTEMPTS),
		    .last_status = query_column_int(&q, WEBHOOKS_OF_SITE_LAST_STATUS),
		};
	if (!pool_query_end(pool, &q))
		return false;
	engine_query(o->st, o->ctx, &q, SQL_WEBHOOK_LATER, err);
	query_text(&q, ":site", site);
	query_int(&q, ":now", due->now);
	if (query_row(&q))
		due_at = query_column_int(&q, WEBHOOK_LATER_DUE_AT);
	if (due_at && due_at < due->next_due)
		due->next_due = due_at;
	return pool_query_end(pool, &q);
}

/* The next site in order, or NULL.  The caller is a sender, so it must have a row that says so: by
 * that, other instances tell a service from a command, which has a state directory of its own but
 * sends nothing. */
static const char *webhooks_site(struct outbox *o, const char *after, struct error *err)
{
	struct instances *instances = engine_of(o->st)->instances;
	const char *site = NULL;
	int64_t process;
	struct query q;
	if (instances && !instances_process(instances, &process, err))
		return NULL;
	engine_query(o->st, o->ctx, &q, SQL_WEBHOOK_SITE, err);
	query_text(&q, ":after", after);
	if (instances)
		query_int(&q, ":instance", instances_number(instances));
	if (query_row(&q))
		site = arena_strdup(o->arena, query_column_text(&q, WEBHOOK_SITE_SITE));
	pool_query_end(engine_of(o->st)->pool, &q);
	return site;
}

bool engine_webhooks_due(struct storage *st, const struct storage_context *ctx, struct arena *a,
    struct webhooks_due *due, struct error *err)
{
	struct outbox o = {.st = st, .ctx = ctx, .arena = a, .due = due};
	const char *site = "";
	bool ok = true;
	due->count = 0;
	due->next_due = INT64_MAX;
	while (ok && (site = webhooks_site(&o, site, err)) != NULL)
		ok = webhooks_add(&o, site, err);
	return ok && !error_is_set(err);
}

bool engine_webhooks_waiting(
    struct storage *st, const struct storage_context *ctx, int64_t *count, struct error *err)
{
	struct query q;
	engine_query(st, ctx, &q, SQL_WEBHOOKS_WAITING, err);
	if (query_row(&q))
		*count = query_column_int(&q, WEBHOOKS_WAITING_COUNT);
	return pool_query_end(engine_of(st)->pool, &q);
}

struct settling {
	struct unit unit;
	const struct webhook *item;
};

static bool webhook_unit(struct db *db, struct unit *unit, struct error *err)
{
	const struct webhook *w = ((struct settling *)unit)->item;
	struct query q;
	query_start(&q, db, SQL_WEBHOOK_SETTLE, err);
	query_int(&q, ":attempts", w->attempts);
	query_int(&q, ":last_status", w->last_status);
	if (w->delivered_at)
		query_int(&q, ":delivered_at", w->delivered_at);
	else if (w->due_at)
		query_int(&q, ":due_at", w->due_at);
	query_int(&q, ":row", w->row);
	return query_run(&q) &&
	    ((w->due_at && !w->delivered_at) || db_run_on_row(db, SQL_WEBHOOK_FORGET, w->row, err));
}

bool engine_webhook_settle(struct storage *st, const struct storage_context *ctx,
    const struct webhook *item, struct error *err)
{
	struct settling s = {.unit = {.run = webhook_unit}, .item = item};
	(void)ctx;
	return writer_run(engine_of(st)->writer, &s.unit, err);
}
