/* SPDX-License-Identifier: ISC */
/* A schema of PostgreSQL that is copied from or to.  Rows are read one by one, beside the
 * transaction that keeps others out; all rows are written in one transaction. */
#include "storage/postgresql/postgresql_db.h"

#include "storage/postgresql/postgresql_schema.h"

static bool postgresql_copy_open(
    struct copy_place *place, const char *url, bool is_target, struct error *err)
{
	struct db_source source = {.driver = &postgresql_driver};
	struct db *db;
	source.server = place->server = postgresql_server_new(url, err);
	if (!source.server || !postgresql_migrate(source.server, 0, err) ||
	    !postgresql_is_own(source.server, err))
		return false;
	postgresql_answer_within(source.server, 0); /* counting and sorting take long */
	place->lock = db_open(&source, DB_DURABLE, err);
	if (!place->lock || !copy_begin(place->lock, err))
		return false;
	db = is_target ? place->lock : db_open(&source, DB_READ, err);
	for (int d = 0; d < COPY_DATABASES; d++)
		place->dbs[d] = db;
	return db != NULL;
}

static bool postgresql_copy_publish(struct copy_place *place, struct error *err)
{
	struct error ignored = {0};
	(void)err; /* the copy is complete, so nothing fails here */
	/* without statistics, statements would be planned as for empty tables */
	postgresql_driver.script(place->lock, "ANALYZE", &ignored);
	error_release(&ignored);
	return true;
}

static void postgresql_copy_close(struct copy_place *place)
{
	if (place->dbs[0] != place->lock)
		db_close(place->dbs[0]);
	if (place->lock) {
		db_rollback(place->lock);
		db_close(place->lock);
	}
	postgresql_server_free(place->server);
}

const struct copy_ops postgresql_copy = {
    .open = postgresql_copy_open,
    .publish = postgresql_copy_publish,
    .close = postgresql_copy_close,
};
