/* SPDX-License-Identifier: ISC */
/*
 * How SQLite would go about each statement: by an index, however much there is.  What goes through
 * all of a table or an index, or sorts or keeps what it has found, is known here, and why that is
 * well.  Only a copy of the databases has to take everything.
 */
#include "base/buf.h"
#include "storage/sqlite/sqlite_db.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static struct error err;

static const struct plan {
	const char *statement, *step;
} known[] = {
    /* one step at a time, as far as the page goes */
    {"thread_list", "SCAN threads USING INDEX threads_by_update"},
    {"run_list_from", "SCAN runs USING INDEX runs_completed"},
    {"removed_next", "SCAN removed"},
    /* of what stands beside it, which has a limit */
    {"checkpoint_get", "SCAN later"},
    {"trim_upto", "SCAN oldest"},
    {"trim_range", "SCAN first"},
    {"run_trim_look", "SCAN waiting"},
    {"webhooks_of_site", "SCAN fresh"},
    {"webhooks_of_site", "SCAN again"},
    {"webhooks_of_site", "USE TEMP B-TREE FOR ORDER BY"},
    /* of what it copies */
    {"copy_bodies", "SCAN (subquery-2)"},
    {"copy_messages", "SCAN (subquery-2)"},
    /* of rows that were found before */
    {"thread_list_of", "USE TEMP B-TREE FOR ORDER BY"},
    /* of one thread */
    {"trim_tips", "USE TEMP B-TREE FOR ORDER BY"},
    {"thread_waits", "USE TEMP B-TREE FOR DISTINCT"},
    /* of runs that go on, or whose process has died */
    {"job_claimers", "USE TEMP B-TREE FOR DISTINCT"},
    {"jobs_of_claimer", "USE TEMP B-TREE FOR ORDER BY"},
    {"jobs_lost", "USE TEMP B-TREE FOR ORDER BY"},
    /* of what a user has with one of the words, or linked */
    {"memory_matching", "SCAN words VIRTUAL TABLE"},
    {"memory_matching", "SCAN (subquery-"},
    {"memory_matching", "USE TEMP B-TREE FOR ORDER BY"},
    {"memory_linked", "UNION USING TEMP B-TREE"},
    {"memory_linked", "MATERIALIZE linked"},
    {"memory_linked", "SCAN linked"},
    {"memory_linked", "USE TEMP B-TREE FOR ORDER BY"},
    {"trace_forget_all", "SCAN trace_runs"},
    /* telemetry.db has 200 threads of 20 runs at most */
    {"trace_trim_threads", "SCAN trace_runs"},
    {"trace_trim_threads", "USE TEMP B-TREE FOR ORDER BY"},
    {"trace_trim_runs", "SCAN"},
    {"trace_trim_runs", "USE TEMP B-TREE FOR RIGHT PART OF ORDER BY"},
    /* no client waits for these: metrics, commands, the start */
    {"webhooks_waiting", "SCAN webhooks USING COVERING INDEX webhooks_due"},
    {"model_counts", "SCAN models"},
    {"memory_count", "SCAN memories USING COVERING INDEX"},
    {"files_forget", "SCAN files"},
};

/* SQLite takes the rows of a thread for few, and might go through all of them to find one. */
static const struct plan of_one_row[] = {
    {"message_get", "SEARCH m USING INDEX messages_by_id (message_id=? AND thread=?)"},
    {"message_places",
	"SEARCH messages USING COVERING INDEX messages_by_id (message_id=? AND thread=?)"},
};

static bool plan_is_known(const char *statement, const char *step)
{
	for (size_t i = 0; i < UNIT_COUNT(of_one_row); i++) {
		const struct plan *p = &of_one_row[i];
		size_t table = strcspn(p->step, " ") + 1;
		table += strcspn(p->step + table, " ");
		if (strcmp(p->statement, statement) == 0 && strncmp(p->step, step, table) == 0)
			return strcmp(p->step, step) == 0;
	}
	bool dear = strncmp(step, "SCAN", 4) == 0 || strncmp(step, "MATERIALIZE", 11) == 0 ||
	    strstr(step, "TEMP B-TREE") || strstr(step, "AUTOMATIC");
	/* of a JSON text or of no table, which a statement has by itself */
	bool own = strstr(step, "VIRTUAL TABLE") && !strstr(step, "SCAN words");
	if (!dear || own || strstr(step, "CONSTANT ROW"))
		return true;
	for (size_t i = 0; i < UNIT_COUNT(known); i++)
		if (strcmp(known[i].statement, statement) == 0 &&
		    strncmp(step, known[i].step, strlen(known[i].step)) == 0)
			return true;
	return false;
}

/* Those that copy a whole database, or move it to a newer version,
 * and those that SQLite never has. */
static bool plan_is_of_all(const char *file)
{
	return strcmp(file, "copy") == 0 || strcmp(file, "threads-move") == 0 ||
	    strcmp(file, "claims") == 0;
}

/* The steps of all statements, each with a blank behind it. */
static struct buf steps;

/* False where the database has not what the statement is about. */
static bool plan_look(struct db *db, const struct sql_statement *statement)
{
	char sql[16384];
	sqlite3_stmt *stmt;
	if (plan_is_of_all(statement->file))
		return false;
	snprintf(sql, sizeof(sql), "EXPLAIN QUERY PLAN %s", statement->text);
	if (sqlite3_prepare_v2(sqlite_db_of(db)->handle, sql, -1, &stmt, NULL) != SQLITE_OK)
		return false;
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		const char *step = (const char *)sqlite3_column_text(stmt, 3);
		bool good = plan_is_known(statement->name, step);
		buf_printf(&steps, "%s \n", step);
		if (!good)
			printf("# %s: %s\n", statement->name, step);
		CU_ASSERT_TRUE(good);
	}
	sqlite3_finalize(stmt);
	return true;
}

static struct db *plan_database(const char *name)
{
	const char *path = unit_path(name);
	fclose(fopen(path, "w"));
	struct db *db = sqlite_open(path, DB_WRITE, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(db);
	for (size_t i = 0; i < sql_migration_count; i++)
		if (strcmp(sql_migrations[i].database, name) == 0)
			CU_ASSERT_TRUE(db_script(db, sql_migrations[i].text, &err));
	return db;
}

/* An index that no statement goes by costs something with each write, for nothing. */
static void plan_check_indexes(struct db *db)
{
	char step[128];
	sqlite3_stmt *stmt;
	CU_ASSERT_EQUAL_FATAL(
	    sqlite3_prepare_v2(sqlite_db_of(db)->handle,
		"SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL", -1,
		&stmt, NULL),
	    SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		snprintf(step, sizeof(step), "INDEX %s ", sqlite3_column_text(stmt, 0));
		unit_row("%s", step);
		CU_ASSERT_PTR_NOT_NULL(strstr(buf_str(&steps), step));
	}
	sqlite3_finalize(stmt);
}

static void no_statement_goes_through_all(void)
{
	static const char *const names[] = {"threads", "store", "files", "telemetry"};
	bool known_somewhere[SQL_COUNT] = {false};
	size_t looked = 0;
	for (size_t i = 0; i < UNIT_COUNT(names); i++) {
		struct db *db = plan_database(names[i]);
		for (size_t k = 0; k < SQL_COUNT; k++)
			if (!known_somewhere[k])
				looked += known_somewhere[k] = plan_look(db, &sql_statements[k]);
		plan_check_indexes(db);
		db_close(db);
	}
	printf("# %zu of %d statements\n", looked, SQL_COUNT);
	CU_ASSERT_TRUE(looked > 200);
	buf_release(&steps);
}

static bool copy_takes(const char *table, const char *column)
{
	char statement[64];
	snprintf(statement, sizeof(statement), "copying_%s", table);
	for (size_t i = 0; i < SQL_COUNT; i++)
		if (strcmp(sql_statements[i].name, statement) == 0)
			for (int k = 0; k < sql_statements[i].columns; k++)
				if (strcmp(sql_statements[i].names[k] + 1, column) == 0)
					return true;
	/* which it takes as if all of them stood in job_bodies */
	return strcmp(table, "jobs") == 0 && strcmp(column, "body") == 0;
}

static void a_copy_takes_every_column(void)
{
	static const char *const names[] = {"threads", "store", "files"};
	for (size_t i = 0; i < UNIT_COUNT(names); i++) {
		struct db *db = plan_database(names[i]);
		sqlite3_stmt *stmt;
		int columns = 0;
		CU_ASSERT_EQUAL_FATAL(
		    sqlite3_prepare_v2(sqlite_db_of(db)->handle,
			"SELECT t.name, c.name "
			"FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c "
			"WHERE t.type = 'table' AND t.name NOT LIKE 'words%' "
			"AND t.name NOT LIKE 'sqlite_%'",
			-1, &stmt, NULL),
		    SQLITE_OK);
		for (; sqlite3_step(stmt) == SQLITE_ROW; columns++) {
			const char *table = (const char *)sqlite3_column_text(stmt, 0);
			const char *column = (const char *)sqlite3_column_text(stmt, 1);
			unit_row("%s.%s", table, column);
			CU_ASSERT_TRUE(copy_takes(table, column));
		}
		CU_ASSERT_TRUE(columns > 5);
		sqlite3_finalize(stmt);
		db_close(db);
	}
}

static const struct unit_test tests[] = {
    {"no statement goes through all that is kept, and each index serves one",
	no_statement_goes_through_all},
    {"a copy takes every column of every table", a_copy_takes_every_column},
};

int main(void)
{
	return unit_main("plans", tests, UNIT_COUNT(tests));
}
