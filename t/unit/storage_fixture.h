/* SPDX-License-Identifier: ISC */
/* What the tests of the storage room share: opening an engine, and threads to write. */
#ifndef AGENTGRAPH_UNIT_STORAGE_FIXTURE_H
#define AGENTGRAPH_UNIT_STORAGE_FIXTURE_H

#include "base/os/shared.h"
#include "config/config.h"
#include "engines_fixture.h"
#include "storage/defer.h"
#include "storage/runs.h"
#include "storage/sqlite/sqlite_db.h"
#include "storage/threads.h"
#include "unit.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The storages that are open, each with the memory of its instance as a process has it. */
static struct {
	struct storage *st;
	struct shared *shared;
} opened[16];

static inline size_t opened_at(const struct storage *st)
{
	size_t i = 0;
	while (i < sizeof(opened) / sizeof(opened[0]) && opened[i].st != st)
		i++;
	assert(i < sizeof(opened) / sizeof(opened[0]));
	return i;
}

static inline struct storage *try_open_with(const struct config *config, struct error *err)
{
	size_t i = opened_at(NULL);
	opened[i].shared = shared_make(config->state_dir, err);
	if (opened[i].shared)
		opened[i].st = open_chosen(config, opened[i].shared, err);
	if (!opened[i].st)
		shared_close(opened[i].shared);
	return opened[i].st;
}

/* Opens the engine over <unit_dir>/<name>. */
static inline struct storage *try_open(const char *name, struct error *err)
{
	struct config config = {.state_dir = (char *)unit_path(name)};
	return try_open_with(&config, err);
}

static inline void close_storage(struct storage *st)
{
	size_t i = opened_at(st);
	storage_close(st);
	shared_close(opened[i].shared);
	opened[i].st = NULL;
}

static inline struct storage *open_storage(const char *name)
{
	struct error err = {0};
	struct storage *st = try_open(name, &err);
	if (!st)
		printf("# %s (%s)\n", err.detail, err.cause);
	CU_ASSERT_PTR_NOT_NULL_FATAL(st);
	return st;
}

/* The storage of all tests of a program, for storage_main_on. */
static struct storage **tested;

static inline void tested_in_memory(void)
{
	close_storage(*tested);
	choose_memory();
	*tested = open_storage("in-memory");
}

/* storage_main with *st open: on "state" first, then on the engine in memory. */
static inline int storage_main_on(struct storage **st, const char *name,
    const struct unit_test *any, size_t any_count, const struct unit_test *own, size_t own_count)
{
	struct error err = {0};
	int rc;
	*st = try_open("state", &err);
	if (!*st) {
		printf("Bail out! %s\n", err.detail);
		return 1;
	}
	tested = st;
	rc = storage_main(name, any, any_count, own, own_count, tested_in_memory);
	close_storage(*st);
	return rc;
}

/* The first column of the first row that a query of an SQLite file gives, -1 for no row. */
static inline int64_t sqlite_ask(const char *name, const char *sql)
{
	struct error err = {0};
	struct db *db = sqlite_open(unit_path(name), DB_READ, &err);
	sqlite3_stmt *stmt = NULL;
	int64_t value = -1;

	CU_ASSERT_PTR_NOT_NULL_FATAL(db);
	CU_ASSERT_EQUAL_FATAL(
	    sqlite3_prepare_v2(sqlite_db_of(db)->handle, sql, -1, &stmt, NULL), SQLITE_OK);
	if (sqlite3_step(stmt) == SQLITE_ROW)
		value = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	db_close(db);
	return value;
}

static inline struct thread sample_thread(const char *thread_id)
{
	return (struct thread){
	    .thread_id = thread_id,
	    .thread_name = "",
	    .user_id = "alice",
	    .metadata_json = "{}",
	    .created_at = 1000,
	    .updated_at = 1000,
	    .node = "START",
	    .fields_json = "{}",
	};
}

/* A message whose one text block is its id. */
static inline struct new_message sample_message(const char *message_id, char body[256])
{
	snprintf(body, 256,
	    "{\"message_id\":\"%s\",\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}", message_id,
	    message_id);
	return (struct new_message){message_id, body};
}

static inline struct lease *hold(struct storage *st, const char *thread_id)
{
	struct error err = {0};
	struct lease *lease =
	    st->threads->lease_acquire(st, NULL, thread_id, CLAIM_ENQUEUE, 60000, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(lease);
	return lease;
}

static inline void let_go(struct storage *st, struct lease *lease)
{
	struct error err = {0};
	CU_ASSERT_TRUE(st->threads->lease_release(st, NULL, lease, &err));
}

/* One write, or the removal of a thread, under a lease of its own. */
static inline bool write_one(struct storage *st, struct thread_write *w, struct error *err)
{
	struct lease *lease = hold(st, w->thread->thread_id);
	bool ok = thread_write(st, NULL, lease, w, err);
	let_go(st, lease);
	return ok;
}

static inline bool remove_one(struct storage *st, const struct thread *t, struct error *err)
{
	struct lease *lease = hold(st, t->thread_id);
	bool ok = st->threads->remove(st, NULL, lease, t->row, err);
	let_go(st, lease);
	return ok;
}

/* Writes the thread, with one message unless message_id is NULL. */
static inline bool put(
    struct storage *st, struct thread *t, const char *message_id, struct error *err)
{
	char body[256];
	struct new_message m = sample_message(message_id ? message_id : "", body);
	struct thread_write w = {.thread = t, .messages = &m, .message_count = message_id != NULL};
	return write_one(st, &w, err);
}

/* As put, for what must work. */
static inline void must_put(struct storage *st, struct thread *t, const char *message_id)
{
	struct error err = {0};
	bool ok = put(st, t, message_id, &err);
	if (!ok)
		printf("# %s (%s)\n", err.detail, err.cause);
	CU_ASSERT_TRUE_FATAL(ok);
}

/* Collects ids, each followed by a space. */
struct id_list {
	char text[4096];
	int left; /* how many more are wanted */
};

static inline bool add_id(struct id_list *list, const char *id)
{
	strcat(list->text, id);
	strcat(list->text, " ");
	return --list->left > 0;
}

static inline bool collect_message(void *arg, const char *message_id, const char *body_json)
{
	return body_json && add_id(arg, message_id);
}

static inline bool collect_thread(void *arg, const struct thread *thread)
{
	return add_id(arg, thread->thread_id);
}

/* The messages of the list or of the context. */
static inline const char *listed(struct storage *st, int64_t row, const struct page *page)
{
	static struct id_list list;
	struct page all = {.limit = 1000};
	struct error err = {0};
	list = (struct id_list){.left = 100};
	CU_ASSERT_TRUE(st->threads->message_list(
	    st, NULL, row, NULL, page ? page : &all, collect_message, &list, &err));
	return list.text;
}

static inline const char *context_of(struct storage *st, int64_t row)
{
	static struct id_list list;
	struct error err = {0};
	list = (struct id_list){.left = 100};
	CU_ASSERT_TRUE(st->threads->context(st, NULL, row, NULL, collect_message, &list, &err));
	return list.text;
}

/* What a run made, or was given. */
static inline const char *run_messages_of(
    struct storage *st, const struct run_record *r, enum run_share which)
{
	static struct id_list list;
	struct error err = {0};
	list = (struct id_list){.left = 100};
	CU_ASSERT_TRUE(st->runs->messages(st, NULL, r, which, collect_message, &list, &err));
	return list.text;
}

/* Makes <unit_dir>/<name>/threads.db as that version of the schema had it, with these rows. */
static inline void make_version(const char *name, int version, const char *rows)
{
	struct error err = {0};
	char path[256];
	struct db *db;
	FILE *f;
	snprintf(path, sizeof(path), "%s/threads.db", unit_path(name));
	CU_ASSERT_EQUAL_FATAL(mkdir(unit_path(name), 0700), 0);
	f = fopen(path, "w");
	CU_ASSERT_FATAL(f && fclose(f) == 0);
	db = sqlite_open(path, DB_WRITE, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(db);
	CU_ASSERT_TRUE(db_exec(db, SQL_JOURNAL_WAL, &err));
	for (size_t i = 0; i < sql_migration_count; i++) {
		const struct sql_migration *m = &sql_migrations[i];
		if (strcmp(m->database, "threads") == 0 && m->version <= version)
			CU_ASSERT_TRUE(db_script(db, m->text, &err));
	}
	CU_ASSERT_TRUE(db_script(db, rows, &err));
	db_close(db);
}

static inline void make_old(const char *name, const char *rows)
{
	make_version(name, 1, rows);
}

static inline bool thread_exists(struct storage *st, const char *thread_id, int64_t *row)
{
	struct arena *a = arena_new();
	struct error err = {0};
	struct thread t = {0};
	bool found = st->threads->get(st, NULL, a, thread_id, &t, &err);
	CU_ASSERT_FALSE(error_is_set(&err));
	if (row)
		*row = t.row;
	arena_free(a);
	return found;
}

#endif
