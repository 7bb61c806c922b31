/* SPDX-License-Identifier: ISC */
/* Arrivals: the results of branches of background runs.  They are removed with the body of their
 * job. */
#include "storage/sql/run/runs_engine.h"
#include "storage/sql/thread/claims.h"

struct arriving {
	struct unit unit;
	const struct lease *lease;
	const struct arrival *arrival;
};

static bool arriving_unit(struct db *db, struct unit *unit, struct error *err)
{
	const struct arriving *arriving = (struct arriving *)unit;
	const struct arrival *a = arriving->arrival;
	struct query q;
	if (!claim_holds(db, arriving->lease, err))
		return false;
	if (a->first) {
		query_start(&q, db, SQL_JOB_BODY_APART, err);
		query_int(&q, ":row", a->job);
		if (!query_run(&q))
			return false;
		query_start(&q, db, SQL_ARRIVALS_FORGET, err);
		query_int(&q, ":job", a->job);
		query_int(&q, ":region", a->region);
		if (!query_run(&q))
			return false;
	}
	query_start(&q, db, SQL_ARRIVAL_INSERT, err);
	query_int(&q, ":region", a->region);
	query_int(&q, ":step", a->step);
	query_text(&q, ":branch", a->branch_json);
	query_int(&q, ":job", a->job);
	return query_run(&q);
}

bool engine_arrive(struct storage *st, const struct storage_context *ctx, const struct lease *lease,
    const struct arrival *arrival, struct error *err)
{
	struct arriving a = {{.run = arriving_unit}, lease, arrival};
	(void)ctx;
	return writer_run(engine_of(st)->writer, &a.unit, err);
}

bool engine_arrived(struct storage *st, const struct storage_context *ctx, int64_t job,
    int64_t region, arrival_fn fn, void *arg, struct error *err)
{
	struct arrival a = {.job = job, .region = region};
	struct query q;
	bool more = true;
	engine_query(st, ctx, &q, SQL_ARRIVALS_READ, err);
	query_int(&q, ":job", job);
	query_int(&q, ":region", region);
	while (more && query_row(&q)) {
		a.step = query_column_int(&q, ARRIVALS_READ_STEP);
		a.branch_json = query_column_text(&q, ARRIVALS_READ_BRANCH);
		more = fn(arg, &a);
	}
	return pool_query_end(engine_of(st)->pool, &q);
}
