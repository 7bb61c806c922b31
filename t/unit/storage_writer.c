/* SPDX-License-Identifier: ISC */
/* The writer of a database: groups, deferred writes, leases. */
#include "base/os/clock.h"
#include "storage/sql/db/writer.h"
#include "storage/sqlite/sqlite_db.h"
#include "storage_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 16
#define PROCESSES 3
#define WRITES 20

static struct error err;

/* Memory that forked children share with the test. */
static void *shared_memory(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void check_integrity(const char *name)
{
	char path[64];
	struct db *db;
	sqlite3_stmt *stmt;

	snprintf(path, sizeof(path), "%s/threads.db", name);
	db = sqlite_open(unit_path(path), DB_WRITE, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(db);
	sqlite3_prepare_v2(sqlite_db_of(db)->handle, "PRAGMA integrity_check", -1, &stmt, NULL);
	CU_ASSERT_EQUAL(sqlite3_step(stmt), SQLITE_ROW);
	CU_ASSERT_STRING_EQUAL((const char *)sqlite3_column_text(stmt, 0), "ok");
	sqlite3_finalize(stmt);
	db_close(db);
}

struct writer_job {
	struct storage *st;
	int process, number;
	int64_t common; /* row of a thread that all write to */
	bool ok;
};

static bool write_common(struct writer_job *job, const char *message_id)
{
	struct thread t = sample_thread("common");
	struct error mine = {0};
	t.row = job->common;
	return put(job->st, &t, message_id, &mine);
}

static void *write_many(void *arg)
{
	struct writer_job *job = arg;
	struct error mine = {0};
	char id[64];
	job->ok = true;
	for (int i = 0; i < WRITES && job->ok; i++) {
		struct thread t = sample_thread(id);
		snprintf(id, sizeof(id), "w-%d-%d-%d", job->process, job->number, i);
		job->ok = put(job->st, &t, id, &mine) && put(job->st, &t, "second", &mine) &&
		    write_common(job, id);
	}
	return NULL;
}

static int write_with_threads(int process, int64_t common)
{
	struct writer_job jobs[THREADS];
	pthread_t ids[THREADS];
	struct storage *st = try_open("many", &err);
	bool ok = st != NULL;
	for (int i = 0; ok && i < THREADS; i++) {
		jobs[i] = (struct writer_job){st, process, i, common, false};
		pthread_create(&ids[i], NULL, write_many, &jobs[i]);
	}
	for (int i = 0; st && i < THREADS; i++) {
		pthread_join(ids[i], NULL);
		ok = ok && jobs[i].ok;
	}
	if (st)
		close_storage(st);
	return ok ? 0 : 1;
}

static int64_t create_common(void)
{
	struct storage *st = open_storage("many");
	struct thread t = sample_thread("common");
	must_put(st, &t, NULL);
	close_storage(st);
	return t.row;
}

struct tally {
	int count;
	int wrong;
};

static bool count_message(void *arg, const char *message_id, const char *body_json)
{
	struct tally *tally = arg;
	tally->count++;
	tally->wrong += strstr(body_json, message_id) == NULL;
	return true;
}

static void check_thread(struct storage *st, const char *id)
{
	int64_t row = 0;
	char both[100];
	CU_ASSERT_TRUE(thread_exists(st, id, &row));
	snprintf(both, sizeof(both), "%s second ", id);
	CU_ASSERT_STRING_EQUAL(listed(st, row, NULL), both);
}

static void nothing_is_lost_or_doubled(void)
{
	struct tally tally = {0};
	int64_t common = create_common();
	pid_t children[PROCESSES];
	struct storage *st;
	char id[64];
	int status;
	for (int p = 0; p < PROCESSES; p++) {
		children[p] = fork();
		if (children[p] == 0)
			_exit(write_with_threads(p, common));
	}
	for (int p = 0; p < PROCESSES; p++) {
		waitpid(children[p], &status, 0);
		CU_ASSERT_EQUAL(status, 0);
	}
	st = open_storage("many");
	for (int i = 0; i < PROCESSES * THREADS * WRITES; i++) {
		snprintf(id, sizeof(id), "w-%d-%d-%d", i / WRITES / THREADS, i / WRITES % THREADS,
		    i % WRITES);
		check_thread(st, id);
	}
	CU_ASSERT_TRUE(st->threads->context(st, NULL, common, NULL, count_message, &tally, &err));
	CU_ASSERT_EQUAL(tally.count, PROCESSES * THREADS * WRITES);
	CU_ASSERT_EQUAL(tally.wrong, 0);
	close_storage(st);
	check_integrity("many");
}

struct victim {
	atomic_bool may; /* begin */
	_Atomic uint64_t generation;
};

/* A process that takes a lease on "t", once it may, and dies with it. */
static pid_t fork_victim(struct victim *victim)
{
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	while (!victim->may)
		clock_sleep_ms(1);
	struct storage *st = try_open("widowed", &err);
	struct lease *lease = st ? hold(st, "t") : NULL;
	victim->generation = lease ? lease->generation : 0;
	raise(SIGKILL);
	_exit(1);
}

static void the_lease_of_the_dead_gets_a_new_generation(void)
{
	struct victim *victim = shared_memory(sizeof(*victim));
	/* before the storage starts threads: a fork would copy the locks that they hold */
	pid_t pid = fork_victim(victim);
	struct storage *st = open_storage("widowed");
	struct thread t = sample_thread("t");
	victim->may = true;
	waitpid(pid, NULL, 0);
	uint64_t dead = victim->generation;
	struct lease *lease = hold(st, "t");
	CU_ASSERT(dead > 0);
	CU_ASSERT(lease->generation > dead);
	let_go(st, lease);
	must_put(st, &t, "m");
	close_storage(st);
	munmap(victim, sizeof(*victim));
}

struct faulty_job {
	struct storage *st;
	int number;
	int failures;
};

/* Every second thread only writes what cannot be written. */
static void *write_or_fail(void *arg)
{
	struct faulty_job *job = arg;
	struct error mine = {0};
	char id[64];
	for (int i = 0; i < WRITES; i++) {
		struct thread t = sample_thread(id);
		snprintf(id, sizeof(id), job->number % 2 ? "taken" : "g-%d-%d", job->number, i);
		if (!put(job->st, &t, "m", &mine))
			job->failures++;
		error_release(&mine);
	}
	return NULL;
}

static void a_faulty_write_does_not_hurt_its_group(void)
{
	struct storage *st = open_storage("faulty");
	struct faulty_job jobs[THREADS];
	struct thread taken = sample_thread("taken");
	pthread_t ids[THREADS];
	must_put(st, &taken, NULL);
	for (int i = 0; i < THREADS; i++) {
		jobs[i] = (struct faulty_job){st, i, 0};
		pthread_create(&ids[i], NULL, write_or_fail, &jobs[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(ids[i], NULL);
		CU_ASSERT_EQUAL(jobs[i].failures, i % 2 ? WRITES : 0);
	}
	CU_ASSERT_TRUE(thread_exists(st, "g-0-0", NULL));
	CU_ASSERT_TRUE(thread_exists(st, "g-14-19", NULL));
	close_storage(st);
}

static void *defer_many(void *arg)
{
	struct writer_job *job = arg;
	struct error mine = {0};
	struct deferred *pending;
	char id[64], body[256];
	job->ok = true;
	for (int i = 0; i < WRITES && job->ok; i++) {
		struct new_message m;
		struct thread first = sample_thread(id), second = first;
		struct thread_write w1 = {.thread = &first, .messages = &m, .message_count = 1};
		struct thread_write w2 = {.thread = &second};
		snprintf(id, sizeof(id), "d-%d-%d", job->number, i);
		m = sample_message(id, body);
		struct lease *lease = hold(job->st, id);
		thread_defer(job->st, lease, &w1, &pending);
		clock_sleep_ms(i % 8);
		job->ok = thread_write_after(job->st, NULL, lease, &pending, &w2, &mine) &&
		    first.row != 0 && second.row == first.row;
		let_go(job->st, lease);
	}
	return NULL;
}

static void deferred_writes_and_their_flusher_get_along(void)
{
	struct storage *st = open_storage("deferring");
	struct writer_job jobs[THREADS];
	pthread_t ids[THREADS];
	int64_t row;
	for (int i = 0; i < THREADS; i++) {
		jobs[i] = (struct writer_job){.st = st, .number = i};
		pthread_create(&ids[i], NULL, defer_many, &jobs[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(ids[i], NULL);
		CU_ASSERT_TRUE(jobs[i].ok);
	}
	CU_ASSERT_TRUE(thread_exists(st, "d-3-7", &row));
	CU_ASSERT_STRING_EQUAL(listed(st, row, NULL), "d-3-7 ");
	close_storage(st);
}

/* Writes threads k-<number>-0, -1, … for ever and counts those that were acknowledged. */
static void write_until_killed(int number, atomic_int *acknowledged)
{
	struct storage *st = try_open("killed", &err);
	char id[64];
	for (int i = 0; st; i++) {
		struct thread t = sample_thread(id);
		snprintf(id, sizeof(id), "k-%d-%d", number, i);
		if (!put(st, &t, id, &err) || !put(st, &t, "second", &err))
			break;
		atomic_store(acknowledged, i + 1);
	}
	_exit(1);
}

#define KILLS 12

static void a_killed_writer_loses_nothing_and_blocks_nobody(void)
{
	atomic_int *acknowledged = shared_memory(KILLS * sizeof(*acknowledged));
	struct storage *st;
	char id[64];
	int64_t start;

	for (int n = 0; n < KILLS; n += 2) {
		pid_t pids[2];
		for (int i = 0; i < 2; i++) {
			pids[i] = fork();
			if (pids[i] == 0)
				write_until_killed(n + i, &acknowledged[n + i]);
		}
		while (!acknowledged[n] || !acknowledged[n + 1])
			clock_sleep_ms(1);
		clock_sleep_ms(n * 2);
		kill(pids[0], SIGKILL);
		clock_sleep_ms(n);
		kill(pids[1], SIGKILL);
		waitpid(pids[0], NULL, 0);
		waitpid(pids[1], NULL, 0);
	}
	start = clock_monotonic_ms();
	st = open_storage("killed");
	struct thread t = sample_thread("afterwards");
	must_put(st, &t, "m");
	CU_ASSERT(clock_monotonic_ms() - start < 60000);
	for (int n = 0; n < KILLS; n++) {
		for (int i = 0; i < acknowledged[n]; i++) {
			snprintf(id, sizeof(id), "k-%d-%d", n, i);
			check_thread(st, id);
		}
	}
	close_storage(st);
	check_integrity("killed");
	munmap(acknowledged, KILLS * sizeof(*acknowledged));
}

static void a_survivor_writes_on_while_others_are_killed(void)
{
	atomic_int *acknowledged = shared_memory(2 * sizeof(*acknowledged));
	pid_t survivor = fork(), victim;
	int before;

	if (survivor == 0)
		write_until_killed(100, &acknowledged[0]);
	for (int i = 0; i < 10; i++) {
		acknowledged[1] = 0;
		victim = fork();
		if (victim == 0)
			write_until_killed(200 + i, &acknowledged[1]);
		while (!acknowledged[1])
			clock_sleep_ms(1);
		kill(victim, SIGKILL);
		waitpid(victim, NULL, 0);
		before = acknowledged[0];
		for (int k = 0; k < 6000 && acknowledged[0] == before; k++)
			clock_sleep_ms(10);
		CU_ASSERT(acknowledged[0] > before);
	}
	kill(survivor, SIGKILL);
	waitpid(survivor, NULL, 0);
	munmap(acknowledged, 2 * sizeof(*acknowledged));
}

static void limit_file_size(rlim_t size)
{
	struct rlimit limit;
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = size;
	setrlimit(RLIMIT_FSIZE, &limit);
}

/* 0 when a full disk is a transient error, hurts nobody else's data, and is over once there is room
 * again. */
static int write_to_a_full_disk(void)
{
	struct storage *st = try_open("full", &err);
	char id[64];
	int stored = 0;
	signal(SIGXFSZ, SIG_IGN);
	limit_file_size(600000); /* the schema takes half of that */
	while (st && stored < 10000) {
		struct thread t = sample_thread(id);
		snprintf(id, sizeof(id), "f-%d", stored);
		if (!put(st, &t, id, &err))
			break;
		stored++;
	}
	if (!st || stored == 0 || stored == 10000)
		return 1;
	if (err.kind != ERR_TRANSIENT_STORAGE) {
		printf("# %s (%s)\n", err.detail, err.cause);
		return 2;
	}
	error_release(&err);
	if (thread_exists(st, id, NULL) || !thread_exists(st, "f-0", NULL))
		return 3;
	limit_file_size(RLIM_INFINITY);
	struct thread t = sample_thread(id);
	if (!put(st, &t, id, &err) || !thread_exists(st, id, NULL))
		return 4;
	close_storage(st);
	return 0;
}

static void a_full_disk_is_transient(void)
{
	pid_t pid = fork();
	int status;
	if (pid == 0)
		_exit(write_to_a_full_disk());
	waitpid(pid, &status, 0);
	CU_ASSERT_TRUE(WIFEXITED(status));
	CU_ASSERT_EQUAL(WEXITSTATUS(status), 0);
	check_integrity("full");
}

/* Holds SQLite's write lock as a shell would, for ms milliseconds after telling so. */
static void hold_write_lock(atomic_bool *held, int64_t ms)
{
	struct db *db = sqlite_open(unit_path("outsider/threads.db"), DB_WRITE, &err);
	if (!db || !db_begin(db, &err))
		_exit(1);
	*held = true;
	clock_sleep_ms(ms);
	db_rollback(db);
	db_close(db);
	_exit(0);
}

/* What a write has to wait, and its error, while an outsider holds the lock for ms. */
static int64_t write_against_outsider(int64_t ms)
{
	atomic_bool *held = shared_memory(sizeof(*held));
	struct storage *st = open_storage("outsider");
	struct thread t = sample_thread(ms > 1000 ? "long" : "short");
	int64_t start;
	pid_t pid;

	close_storage(st);
	pid = fork();
	if (pid == 0)
		hold_write_lock(held, ms);
	while (!*held)
		clock_sleep_ms(1);
	st = open_storage("outsider");
	start = clock_monotonic_ms();
	put(st, &t, "m", &err);
	start = clock_monotonic_ms() - start;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close_storage(st);
	munmap(held, sizeof(*held));
	return start;
}

static void an_outsider_with_the_lock_is_waited_for(void)
{
	write_against_outsider(300);
	CU_ASSERT_FALSE(error_is_set(&err));
	error_release(&err);
}

static void an_outsider_that_keeps_the_lock_is_a_transient_error(void)
{
	int64_t waited = write_against_outsider(20000);
	CU_ASSERT(waited > 4000 && waited < 19000);
	CU_ASSERT_EQUAL(err.kind, ERR_TRANSIENT_STORAGE);
	CU_ASSERT_STRING_EQUAL(err.detail, "Storage is temporarily unavailable");
	error_release(&err);
}

static off_t size_of(const char *name)
{
	struct stat info;
	return stat(unit_path(name), &info) == 0 ? info.st_size : -1;
}

/* Waits up to a minute. */
static bool shrinks_to_nothing(const char *name)
{
	for (int i = 0; i < 6000 && size_of(name) > 0; i++)
		clock_sleep_ms(10);
	return size_of(name) == 0;
}

/* 80 MiB in pieces. */
static void write_much(struct storage *st)
{
	char *body = calloc(1, 512 << 10), id[16];
	struct new_message m = {"big", body};
	memset(body, 'x', (512 << 10) - 1);
	for (int i = 0; i < 160; i++) {
		struct thread t = sample_thread(id);
		struct thread_write w = {.thread = &t, .messages = &m, .message_count = 1};
		snprintf(id, sizeof(id), "big-%d", i);
		CU_ASSERT_TRUE(write_one(st, &w, &err));
	}
	free(body);
}

/* Opens, is the first and so the one that checkpoints, and dies. */
static void kill_a_checkpointer(void)
{
	atomic_bool *ready = shared_memory(sizeof(*ready));
	pid_t pid = fork();

	if (pid == 0) {
		*ready = try_open("log", &err) != NULL;
		for (;;)
			pause();
	}
	while (!*ready)
		clock_sleep_ms(1);
	clock_sleep_ms(50);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap(ready, sizeof(*ready));
}

static void a_large_log_gives_its_space_back(void)
{
	struct storage *st;
	kill_a_checkpointer();
	st = open_storage("log");
	write_much(st);
	CU_ASSERT(size_of("log/threads.db-wal") > 0);
	CU_ASSERT_TRUE(shrinks_to_nothing("log/threads.db-wal"));
	CU_ASSERT(size_of("log/threads.db") > 80 << 20);
	CU_ASSERT_TRUE(thread_exists(st, "big-159", NULL));
	close_storage(st);
}

/* A database of which nobody can say whether its first commit was one. */
static int commits;

static bool begin_well(struct db *db, struct error *e)
{
	(void)e;
	db->unclear = false;
	return true;
}

static bool commit_unclear(struct db *db, struct error *e)
{
	db->unclear = ++commits == 1;
	return !db->unclear || error_set(e, ERR_TRANSIENT_STORAGE, NULL);
}

static void nothing(struct db *db)
{
	(void)db;
}

struct counted {
	struct unit unit;
	int runs;
};

static bool count_run(struct db *db, struct unit *unit, struct error *e)
{
	(void)db;
	(void)e;
	((struct counted *)unit)->runs++;
	return true;
}

static void what_may_be_committed_is_not_run_again(void)
{
	static const struct db_driver driver = {
	    .begin = begin_well, .commit = commit_unclear, .rollback = nothing, .close = nothing};
	struct db db = {.driver = &driver};
	struct counted first = {.unit.run = count_run}, second = {.unit.run = count_run};
	struct writer *w = writer_new(&db, NULL);
	commits = 0;
	writer_submit(w, &first.unit);
	writer_submit(w, &second.unit);
	CU_ASSERT_FALSE(writer_wait(w, &first.unit, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_TRANSIENT_STORAGE);
	error_release(&err);
	CU_ASSERT_FALSE(writer_wait(w, &second.unit, &err));
	error_release(&err);
	CU_ASSERT_EQUAL(first.runs + second.runs, 2);
	CU_ASSERT_TRUE(writer_run(w, &first.unit, &err));
	CU_ASSERT_EQUAL(first.runs, 2);
	writer_free(w);
}

static const struct unit_test of_any_engine[] = {
    {"a faulty write does not hurt its group", a_faulty_write_does_not_hurt_its_group},
    {"deferred writes and their flusher get along", deferred_writes_and_their_flusher_get_along},
    {"what may be committed is not run again", what_may_be_committed_is_not_run_again},
};

static const struct unit_test of_sqlite[] = {
    {"nothing is lost or doubled", nothing_is_lost_or_doubled},
    {"the lease of the dead gets a new generation", the_lease_of_the_dead_gets_a_new_generation},
    {"a killed writer loses nothing and blocks nobody",
	a_killed_writer_loses_nothing_and_blocks_nobody},
    {"a survivor writes on while others are killed", a_survivor_writes_on_while_others_are_killed},
    {"a full disk is transient", a_full_disk_is_transient},
    {"an outsider with the lock is waited for", an_outsider_with_the_lock_is_waited_for},
    {"an outsider that keeps the lock is a transient error",
	an_outsider_that_keeps_the_lock_is_a_transient_error},
    {"a large log gives its space back", a_large_log_gives_its_space_back},
};

int main(void)
{
	return storage_main("storage_writer", of_any_engine, UNIT_COUNT(of_any_engine), of_sqlite,
	    UNIT_COUNT(of_sqlite), choose_memory);
}
