/* SPDX-License-Identifier: ISC */
/* Migrations under a lock, and a look at what there is. */
#include "storage/postgresql/postgresql_schema.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The schema is the only one in the search_path, where its name is quoted if it must be. */
static const char prepare[] = "DO $$BEGIN "
			      "IF to_regnamespace(current_setting('search_path')) IS NULL THEN "
			      "EXECUTE 'CREATE SCHEMA ' || current_setting('search_path'); "
			      "END IF; END$$;"
			      "CREATE TABLE IF NOT EXISTS version (number integer NOT NULL)";

static int schema_newest(void)
{
	int newest = 0;
	for (size_t i = 0; i < sql_migration_count; i++)
		if (strcmp(sql_migrations[i].database, "postgresql") == 0 &&
		    sql_migrations[i].version > newest)
			newest = sql_migrations[i].version;
	return newest;
}

static bool schema_run(struct postgresql_server *s, struct postgresql_connection *c,
    const char *sql, struct error *err)
{
	return postgresql_execute(s, c, sql, NULL, 0, err) == POSTGRESQL_FINE;
}

/* A version of the schema only adds to the one before, so that instances of two neighbouring
 * versions can work side by side while they are replaced one by one. */
static bool schema_is_known(int version, struct error *err)
{
	return version <= schema_newest() + 1 ||
	    error_set(err, ERR_STORAGE,
		"the database has schema version %d, but this program knows versions up to %d: it was "
		"written by a newer one",
		version, schema_newest());
}

static bool schema_version(
    struct postgresql_server *s, struct postgresql_connection *c, int *version, struct error *err)
{
	char number[32];
	if (postgresql_execute(s, c, "SELECT coalesce(max(number), 0) FROM version", number,
		sizeof(number), err) != POSTGRESQL_FINE)
		return false;
	*version = (int)strtol(number, NULL, 10);
	return true;
}

static bool schema_migrate(
    struct postgresql_server *s, struct postgresql_connection *c, struct error *err)
{
	char note[96];
	int version;
	if (!schema_run(s, c,
		"SELECT pg_advisory_xact_lock("
		"hashtextextended('agentgraph schema ' || current_setting('search_path'), 0))",
		err) ||
	    !schema_run(s, c, prepare, err) || !schema_version(s, c, &version, err) ||
	    !schema_is_known(version, err))
		return false;
	for (size_t i = 0; i < sql_migration_count; i++) {
		const struct sql_migration *m = &sql_migrations[i];
		if (strcmp(m->database, "postgresql") != 0 || m->version <= version)
			continue;
		snprintf(note, sizeof(note),
		    "DELETE FROM version; INSERT INTO version (number) VALUES (%d)", m->version);
		if (!schema_run(s, c, m->text, err) || !schema_run(s, c, note, err))
			return false;
	}
	return true;
}

/* Gives an error a sentence, as a failure at the start needs.  A transient error may happen in a
 * request, which gets none. */
static void schema_name_failure(struct error *err)
{
	struct error named = {0};
	if (err->kind != ERR_STORAGE || err->cause[0] == '\0')
		return;
	error_set(&named, err->kind, "the database cannot be opened: %s", err->cause);
	error_release(err);
	error_move(err, &named);
}

bool postgresql_migrate(struct postgresql_server *s, int64_t within_ms, struct error *err)
{
	struct postgresql_connection *c = postgresql_take(s, POSTGRESQL_ANY, err);
	struct error ignored = {0};
	int64_t usual_ms;
	bool ok;
	if (!c) {
		schema_name_failure(err);
		return false;
	}
	usual_ms = postgresql_answer_within(s, within_ms);
	ok = schema_run(s, c, "BEGIN", err) && schema_migrate(s, c, err) &&
	    schema_run(s, c, "COMMIT", err);
	if (!ok)
		schema_run(s, c, "ROLLBACK", &ignored);
	error_release(&ignored);
	postgresql_answer_within(s, usual_ms);
	postgresql_give_back(s, c);
	if (!ok)
		schema_name_failure(err);
	return ok;
}

bool postgresql_is_own(struct postgresql_server *s, struct error *err)
{
	struct postgresql_connection *c = postgresql_take(s, POSTGRESQL_ANY, err);
	int version;
	bool ok = c && schema_version(s, c, &version, err) &&
	    (version <= schema_newest() ||
		error_set(err, ERR_STORAGE,
		    "the database has schema version %d, of the next version of agentgraph, which "
		    "has to copy it: this one knows versions up to %d",
		    version, schema_newest()));
	if (c)
		postgresql_give_back(s, c);
	return ok;
}

/* ---- a look ---- */

static const char rights[] =
    "SELECT CASE WHEN to_regnamespace(current_setting('search_path')) IS NULL "
    "THEN CASE WHEN has_database_privilege(current_database(), 'CREATE') THEN 'new' "
    "ELSE 'no right to make it' END "
    "WHEN NOT has_schema_privilege(to_regnamespace(current_setting('search_path'))::oid, 'USAGE, "
    "CREATE') THEN 'no right to make tables in it' "
    "WHEN to_regclass(current_setting('search_path') || '.version') IS NULL THEN 'new' "
    "WHEN EXISTS (SELECT 1 FROM pg_class "
    "WHERE relnamespace = to_regnamespace(current_setting('search_path')) AND relkind = 'r' "
    "AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT') "
    "AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))) "
    "THEN 'no right to its tables' "
    "ELSE 'there' END";

/* Writes what is to be said of the schema. */
static bool schema_look(struct postgresql_server *s, struct postgresql_connection *c, char *text,
    size_t size, struct error *err)
{
	char answer[64];
	int version;
	if (postgresql_execute(s, c, rights, answer, sizeof(answer), err) != POSTGRESQL_FINE)
		return false;
	if (strcmp(answer, "new") == 0) {
		snprintf(text, size, "which the first start makes");
		return true;
	}
	if (strcmp(answer, "there") != 0)
		return error_set(err, ERR_STORAGE, "the role has %s", answer);
	if (!schema_version(s, c, &version, err) || !schema_is_known(version, err))
		return false;
	if (version > schema_newest())
		snprintf(text, size,
		    "version %d, of the next version of agentgraph, beside which this one works",
		    version);
	else if (version < schema_newest())
		snprintf(text, size, "version %d, which the next start brings to %d", version,
		    schema_newest());
	else
		snprintf(text, size, "version %d", version);
	return true;
}

char *postgresql_look(struct postgresql_server *s, struct error *err)
{
	char *where = postgresql_describe(s, err), *text = NULL, what[128];
	struct postgresql_connection *c = where ? postgresql_take(s, POSTGRESQL_ANY, err) : NULL;
	struct error why = {0};
	if (c && schema_look(s, c, what, sizeof(what), &why))
		text = xasprintf("%s, %s", where, what);
	else if (c && why.kind == ERR_TRANSIENT_STORAGE) /* the server has gone meanwhile */
		error_move(err, &why);
	else if (c)
		error_set(err, ERR_STORAGE, "%s: %s", where, error_why(&why));
	if (c)
		postgresql_give_back(s, c);
	error_release(&why);
	free(where);
	return text;
}
