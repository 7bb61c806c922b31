/* SPDX-License-Identifier: ISC */
/* The engine over PostgreSQL, where it is not as the others are: connections, crashes of the
 * server, its schema and whose it is.  All else is in storage_*.c, with ENGINE=postgresql. */
#include "base/memory.h"
#include "base/os/clock.h"
#include "base/os/shared.h"
#include "postgresql_fixture.h"
#include "storage/postgresql/postgresql_db.h"
#include "storage/postgresql/postgresql_schema.h"
#include "storage/postgresql/postgresql_server.h"
#include "storage/sql/engine.h"
#include "storage/sql/instances.h"
#include "storage/threads.h"
#include "unit.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRITERS 6
#define MOST_WRITES 4000
#define CRASHES 3
#define CUT_OFFS 60

static struct error err;

/* ---- a storage over a schema, as an instance has it ---- */

struct opened {
	struct storage *st;
	struct shared *shared;
};

static bool try_open(const char *state, const char *schema, struct opened *o, struct error *why)
{
	struct config config = {.state_dir = (char *)unit_path(state)};
	config.database = postgresql_url(schema);
	o->shared = shared_make(config.state_dir, why);
	o->st = o->shared ? storage_open_engine(&postgresql_engine, &config, o->shared, why) : NULL;
	if (!o->st)
		shared_close(o->shared);
	free(config.database);
	return o->st != NULL;
}

static struct opened must_open(const char *state, const char *schema)
{
	struct opened o;
	if (!try_open(state, schema, &o, &err))
		printf("# %s (%s)\n", err.detail, err.cause);
	CU_ASSERT_PTR_NOT_NULL_FATAL(o.st);
	return o;
}

static void opened_close(struct opened *o)
{
	storage_close(o->st);
	shared_close(o->shared);
}

/* A connection beside all storages. */
static struct postgresql_server *beside(const char *schema)
{
	char *url = postgresql_url(schema);
	struct postgresql_server *s = postgresql_server_new(url, &err);
	free(url);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	return s;
}

static void ask(struct postgresql_server *s, const char *sql, char *answer, size_t size)
{
	struct postgresql_connection *c = postgresql_take(s, POSTGRESQL_ANY, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	CU_ASSERT_EQUAL(postgresql_execute(s, c, sql, answer, size, &err), POSTGRESQL_FINE);
	postgresql_give_back(s, c);
}

static long ask_number(const char *schema, const char *sql)
{
	struct postgresql_server *s = beside(schema);
	char answer[64];
	ask(s, sql, answer, sizeof(answer));
	postgresql_server_free(s);
	return strtol(answer, NULL, 10);
}

/* One message, under a lease; thread->row is set by the first. */
static bool append(struct storage *st, struct thread *t, const char *message_id, struct error *why)
{
	char body[200];
	struct new_message m = {message_id, body};
	struct thread_write w = {.thread = t, .messages = &m, .message_count = 1};
	struct lease *lease =
	    st->threads->lease_acquire(st, NULL, t->thread_id, CLAIM_ENQUEUE, 60000, why);
	bool ok;
	snprintf(body, sizeof(body), "{\"message_id\":\"%s\",\"content\":[]}", message_id);
	ok = lease && thread_write(st, NULL, lease, &w, why);
	if (lease)
		st->threads->lease_release(st, NULL, lease, why);
	return ok;
}

static struct thread thread_called(const char *thread_id)
{
	return (struct thread){.thread_id = thread_id,
	    .thread_name = "",
	    .user_id = "alice",
	    .metadata_json = "{}",
	    .node = "START",
	    .fields_json = "{}"};
}

/* ---- crashes ---- */

struct writes {
	struct storage *st;
	int writer, count, broken; /* what failed as if it were in vain to try again */
	_Atomic int stored;
	bool acknowledged[MOST_WRITES];
	int64_t row;
};

static _Atomic bool enough;

static void *write_on(void *arg)
{
	struct writes *w = arg;
	char thread_id[32], message_id[48];
	struct thread t;
	snprintf(thread_id, sizeof(thread_id), "t%d", w->writer);
	t = thread_called(thread_id);
	while (!atomic_load(&enough) && w->count < MOST_WRITES) {
		struct error why = {0};
		snprintf(message_id, sizeof(message_id), "%d-%d", w->writer, w->count);
		w->acknowledged[w->count] = append(w->st, &t, message_id, &why);
		w->stored += w->acknowledged[w->count++];
		if (error_is_set(&why)) {
			w->broken += why.kind == ERR_STORAGE;
			clock_sleep_ms(20);
			error_release(&why);
		}
	}
	w->row = t.row;
	return NULL;
}

static void kill_connections(void)
{
	ask_number("crash",
	    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
	    "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'");
}

static bool note_found(void *arg, const char *message_id, const char *body_json)
{
	bool *found = arg;
	const char *number = strchr(message_id, '-');
	CU_ASSERT_PTR_NOT_NULL(body_json);
	found[strtol(number + 1, NULL, 10)] = true;
	return true;
}

/* Whoever was told that it is stored finds it, and nobody else. */
static void check_writes(const struct writes *w)
{
	static bool found[MOST_WRITES];
	struct page all = {.limit = 2 * MOST_WRITES};
	int lost = 0, risen = 0, acknowledged = 0;
	memset(found, 0, sizeof(found));
	if (w->row)
		CU_ASSERT_TRUE(w->st->threads->message_list(
		    w->st, NULL, w->row, NULL, &all, note_found, found, &err));
	for (int i = 0; i < w->count; i++) {
		acknowledged += w->acknowledged[i];
		lost += w->acknowledged[i] && !found[i];
		risen += !w->acknowledged[i] && found[i];
	}
	printf("# writer %d: %d acknowledged, %d refused\n", w->writer, acknowledged,
	    w->count - acknowledged);
	CU_ASSERT_EQUAL(lost, 0);
	CU_ASSERT_EQUAL(risen, 0);
	CU_ASSERT_EQUAL(w->broken, 0);
	CU_ASSERT(acknowledged > 0);
}

static void what_was_acknowledged_outlives_crashes(void)
{
	static struct writes writes[WRITERS];
	struct opened o = must_open("crash", "crash");
	pthread_t threads[WRITERS];
	atomic_store(&enough, false);
	for (int i = 0; i < WRITERS; i++) {
		writes[i].st = o.st;
		writes[i].writer = i;
		pthread_create(&threads[i], NULL, write_on, &writes[i]);
	}
	for (int i = 0; i < CUT_OFFS; i++) /* some in the moment that they are opened */
		kill_connections();
	for (int i = 0; i < CRASHES; i++) {
		clock_sleep_ms(150);
		kill_connections();
		clock_sleep_ms(50);
		kill_connections();
		clock_sleep_ms(50);
		postgresql_crash(false);
	}
	clock_sleep_ms(200);
	for (int i = 0; i < WRITERS; i++) /* a busy server may take long to come back */
		for (int k = 0; k < 6000 && writes[i].stored == 0; k++)
			clock_sleep_ms(10);
	atomic_store(&enough, true);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < WRITERS; i++)
		check_writes(&writes[i]);
	opened_close(&o);
}

/* After a crash the server gives the ids of transactions that are lost with it to others. */
static void a_commit_that_was_lost_is_not_taken_for_another_one(void)
{
	struct postgresql_server *s = beside("ids");
	const struct db_source source = {.driver = &postgresql_driver, .server = s};
	struct db *db = db_open(&source, DB_DURABLE, &err);
	long again = 0;
	CU_ASSERT_PTR_NOT_NULL_FATAL(db);
	CU_ASSERT_TRUE_FATAL(postgresql_migrate(s, 0, &err));
	for (int round = 0; round < 40 && again == 0; round++) {
		long id = ask_number("ids", "SELECT pg_snapshot_xmax(pg_current_snapshot())");
		struct query q;
		CU_ASSERT_TRUE_FATAL(db_begin(db, &err));
		query_start(&q, db, SQL_SECRET_READ, &err);
		query_row(&q);
		CU_ASSERT_TRUE(query_end(&q)); /* from now on the server has the transaction */
		postgresql_crash(false);
		for (int i = 0; i < 20; i++)
			again += ask_number("ids", "SELECT pg_current_xact_id()") == id;
		CU_ASSERT_FALSE(db_commit(db, &err));
		CU_ASSERT_TRUE(db_again(db));
		error_release(&err);
	}
	printf("# %ld ids were given again\n", again);
	CU_ASSERT(again > 0);
	db_close(db);
	postgresql_server_free(s);
}

static void a_server_that_is_away_is_transient(void)
{
	struct opened o = must_open("away", "away");
	struct thread t = thread_called("t");
	CU_ASSERT_TRUE(append(o.st, &t, "m-1", &err));
	postgresql_crash(true);
	CU_ASSERT_FALSE(append(o.st, &t, "m-2", &err));
	CU_ASSERT_EQUAL(err.kind, ERR_TRANSIENT_STORAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.cause, "PostgreSQL: "));
	error_release(&err);
	postgresql_crash(false);
	CU_ASSERT_TRUE(append(o.st, &t, "m-2", &err));
	opened_close(&o);
}

/* ---- connections ---- */

static void *read_often(void *arg)
{
	struct arena *a = arena_new();
	struct error why = {0};
	struct thread t;
	for (int i = 0; i < 50; i++)
		CU_ASSERT_TRUE(((struct storage *)arg)->threads->get(arg, NULL, a, "t", &t, &why));
	arena_free(a);
	return NULL;
}

static void connections_are_few(void)
{
	struct opened o = must_open("few", "few");
	struct thread t = thread_called("t");
	pthread_t threads[16];
	CU_ASSERT_TRUE(append(o.st, &t, "m-1", &err));
	for (int i = 0; i < 16; i++)
		pthread_create(&threads[i], NULL, read_often, o.st);
	for (int i = 0; i < 16; i++)
		pthread_join(threads[i], NULL);
	CU_ASSERT(ask_number("few",
		      "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
		      "AND application_name = 'agentgraph'") <= POSTGRESQL_CONNECTIONS);
	opened_close(&o);
}

static void *take_and_give(void *server)
{
	struct error why = {0};
	struct postgresql_connection *c = postgresql_take(server, POSTGRESQL_ANY, &why);
	CU_ASSERT_PTR_NOT_NULL(c);
	CU_ASSERT_FALSE(error_is_set(&why));
	if (c)
		postgresql_give_back(server, c);
	error_release(&why);
	return NULL;
}

static void where_the_server_takes_no_more_one_is_waited_for(void)
{
	struct postgresql_server *s = beside("more"), *few;
	struct postgresql_connection *c;
	char *url = postgresql_url("more"), *role = xasprintf("%s&user=few", url);
	pthread_t threads[8];
	ask(s, "CREATE ROLE few LOGIN CONNECTION LIMIT 1", NULL, 0);
	few = postgresql_server_new(role, &err);
	c = postgresql_take(few, POSTGRESQL_ANY, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, take_and_give, few);
	clock_sleep_ms(200); /* in which they are refused */
	postgresql_give_back(few, c);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	postgresql_server_free(few);
	postgresql_server_free(s);
	free(role);
	free(url);
}

static bool read_again(void *arg, const char *message_id, const char *body_json)
{
	struct opened *o = arg;
	struct arena *a = arena_new();
	struct thread t;
	(void)message_id;
	(void)body_json;
	CU_ASSERT_TRUE(o->st->threads->get(o->st, NULL, a, "t", &t, &err));
	arena_free(a);
	return false;
}

static struct opened walked;
static int64_t walked_row;

static void *walk_and_read(void *arg)
{
	struct page all = {.limit = 10};
	(void)arg;
	CU_ASSERT_TRUE(walked.st->threads->message_list(
	    walked.st, NULL, walked_row, NULL, &all, read_again, &walked, &err));
	return NULL;
}

/* Each has a connection, and needs another one before it gives that back. */
static void readers_that_read_do_not_wait_for_each_other(void)
{
	struct thread t = thread_called("t");
	pthread_t threads[16];
	walked = must_open("walk", "walk");
	CU_ASSERT_TRUE(append(walked.st, &t, "m-1", &err));
	walked_row = t.row;
	for (int i = 0; i < 16; i++)
		pthread_create(&threads[i], NULL, walk_and_read, NULL);
	for (int i = 0; i < 16; i++)
		pthread_join(threads[i], NULL);
	opened_close(&walked);
}

/* ---- the schema ---- */

static void *open_and_close(void *arg)
{
	struct opened o;
	struct error why = {0};
	bool ok = try_open("together", "together", &o, &why);
	(void)arg;
	if (ok)
		opened_close(&o);
	else
		printf("# %s (%s)\n", why.detail, why.cause);
	error_release(&why);
	return ok ? "opened" : NULL;
}

static void processes_that_start_together_make_one_schema(void)
{
	pthread_t threads[8];
	void *opened;
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, open_and_close, NULL);
	for (int i = 0; i < 8; i++) {
		pthread_join(threads[i], &opened);
		CU_ASSERT_PTR_NOT_NULL(opened);
	}
	CU_ASSERT_EQUAL(ask_number("together", "SELECT count(*) FROM version"), 1);
}

static void a_schema_may_take_its_time(void)
{
	static const char slow[] =
	    "CREATE FUNCTION public.slow() RETURNS event_trigger LANGUAGE plpgsql AS "
	    "'BEGIN PERFORM pg_sleep(3); END'; CREATE EVENT TRIGGER slow ON ddl_command_start "
	    "WHEN TAG IN ('CREATE SCHEMA') EXECUTE FUNCTION public.slow()";
	struct postgresql_server *s = beside("slow");
	char ignored[8];
	ask(s, slow, ignored, sizeof(ignored));
	postgresql_answer_within(s, 1500);
	CU_ASSERT_FALSE(postgresql_migrate(s, 1000, &err));
	CU_ASSERT_STRING_EQUAL(err.cause, "PostgreSQL: no answer within 1 s");
	error_release(&err);
	CU_ASSERT_TRUE(postgresql_migrate(s, 0, &err));
	CU_ASSERT_EQUAL(postgresql_answer_within(s, 60000), 1500);
	ask(s, "DROP EVENT TRIGGER slow", ignored, sizeof(ignored));
	postgresql_server_free(s);
}

static void a_statement_that_takes_too_long_is_given_up(void)
{
	static const char working[] =
	    "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(600)%' "
	    "AND state = 'active'";
	struct postgresql_server *s = beside("late");
	struct postgresql_connection *c = postgresql_take(s, POSTGRESQL_ANY, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	postgresql_answer_within(s, 1000);
	CU_ASSERT_EQUAL(
	    postgresql_execute(s, c, "SELECT pg_sleep(600)", NULL, 0, &err), POSTGRESQL_LOST);
	CU_ASSERT_STRING_EQUAL(err.cause, "PostgreSQL: no answer within 1 s");
	error_release(&err);
	for (int i = 0; i < 600 && !ask_number("late", working); i++)
		clock_sleep_ms(100);
	CU_ASSERT_EQUAL(ask_number("late", working), 1);
	postgresql_give_back(s, c);
	for (int i = 0; i < 600 && ask_number("late", working); i++)
		clock_sleep_ms(100);
	CU_ASSERT_EQUAL(ask_number("late", working), 0); /* by the server, too */
	postgresql_server_free(s);
}

static void a_session_has_the_services_settings(void)
{
	static const char set[] =
	    "ALTER ROLE agent SET default_transaction_isolation = serializable;"
	    "ALTER ROLE agent SET standard_conforming_strings = off";
	static const char reset[] = "ALTER ROLE agent RESET default_transaction_isolation;"
				    "ALTER ROLE agent RESET standard_conforming_strings";
	struct postgresql_server *s = beside("settings"), *next;
	char answer[32];
	ask(s, set, NULL, 0);
	next = beside("settings");
	ask(next, "SHOW transaction_isolation", answer, sizeof(answer));
	CU_ASSERT_STRING_EQUAL(answer, "read committed");
	ask(next, "SHOW standard_conforming_strings", answer, sizeof(answer));
	CU_ASSERT_STRING_EQUAL(answer, "on");
	postgresql_server_free(next);
	ask(s, reset, NULL, 0);
	postgresql_server_free(s);
}

static void a_schema_of_a_newer_version_is_refused(void)
{
	struct opened o = must_open("newer", "newer");
	opened_close(&o);
	ask_number("newer", "UPDATE version SET number = 1000");
	CU_ASSERT_FALSE(try_open("newer", "newer", &o, &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "schema version 1000"));
	error_release(&err);
}

/* ---- instances ---- */

static void an_instance_has_its_own_node_and_the_common_secret(void)
{
	struct opened o = must_open("one", "shared"), other = must_open("two", "shared");
	CU_ASSERT_EQUAL(o.st->node, 0);
	CU_ASSERT_EQUAL(other.st->node, 1);
	CU_ASSERT_EQUAL(memcmp(o.st->secret, other.st->secret, sizeof(o.st->secret)), 0);
	opened_close(&o);
	/* the next life over the same directory ends what the one before held, not its node */
	o = must_open("one", "shared");
	CU_ASSERT_EQUAL(o.st->node, 2);
	CU_ASSERT_EQUAL(ask_number("shared", "SELECT count(*) FROM instances WHERE NOT gone"), 2);
	opened_close(&o);
	opened_close(&other);
}

static struct lease *take(struct opened *o, const char *thread_id, enum lease_claim claim, int ms)
{
	struct error why = {0};
	struct lease *lease =
	    o->st->threads->lease_acquire(o->st, NULL, thread_id, claim, ms, &why);
	CU_ASSERT_FALSE(error_is_set(&why));
	error_release(&why);
	return lease;
}

static void give(struct opened *o, struct lease *lease)
{
	struct error why = {0};
	CU_ASSERT_PTR_NOT_NULL_FATAL(lease);
	CU_ASSERT_TRUE(o->st->threads->lease_release(o->st, NULL, lease, &why));
}

/* With the thread at that status, as a run that begins writes it. */
static bool write_status(
    struct opened *o, struct lease *lease, struct thread *t, enum run_status status)
{
	struct thread_write w = {.thread = t};
	struct error why = {0};
	bool ok;
	t->status = status;
	t->run_id = "r1";
	ok = thread_write(o->st, NULL, lease, &w, &why);
	CU_ASSERT(ok || why.kind == ERR_THREAD_BUSY);
	error_release(&why);
	return ok;
}

static bool runs(struct opened *o, const char *thread_id)
{
	bool running, stop;
	CU_ASSERT_TRUE(
	    o->st->threads->lease_running(o->st, NULL, thread_id, &running, &stop, &err));
	return running;
}

static struct opened one, two;

static void open_two(const char *schema)
{
	one = must_open("one", schema);
	two = must_open("two", schema);
}

static void close_two(void)
{
	opened_close(&one);
	opened_close(&two);
}

static void a_thread_is_one_instances_at_a_time(void)
{
	struct thread t = thread_called("t");
	struct lease *lease;
	open_two("claims");
	CU_ASSERT_TRUE(append(one.st, &t, "m-1", &err));
	lease = take(&one, "t", CLAIM_ENQUEUE, 60000);
	CU_ASSERT_PTR_NULL(take(&two, "t", CLAIM_REJECT, 0));
	CU_ASSERT_PTR_NULL(take(&two, "t", CLAIM_ENQUEUE, 100));
	give(&one, lease);
	give(&two, take(&two, "t", CLAIM_REJECT, 0));
	close_two();
}

/* As when the answer of a claim was lost: the database knows of it, and the instance does not. */
static void what_may_have_been_claimed_is_given_back(void)
{
	const char *threads[] = {"t", "unborn"};
	const char *claims[] = {"UPDATE threads SET holder = number FROM processes",
	    "INSERT INTO unborn (thread_id, holder) SELECT 'unborn', number FROM processes"};
	struct thread t = thread_called("t");
	struct instances *instances;
	int64_t process;
	open_two("claims_lost");
	CU_ASSERT_TRUE(append(one.st, &t, "m-1", &err));
	instances = engine_of(one.st)->instances;
	CU_ASSERT_TRUE(instances_process(instances, &process, &err));
	for (size_t i = 0; i < 2; i++) {
		char *sql =
		    xasprintf("%s WHERE number = %" PRId64 " RETURNING 1", claims[i], process);
		struct lease *lease;
		CU_ASSERT_EQUAL(ask_number("claims_lost", sql), 1);
		free(sql);
		CU_ASSERT_PTR_NULL(take(&two, threads[i], CLAIM_REJECT, 0));
		instances_release_later(instances, process, 0, 0, threads[i]);
		lease = take(&two, threads[i], CLAIM_ENQUEUE, 60000);
		CU_ASSERT_PTR_NOT_NULL_FATAL(lease);
		give(&two, lease);
	}
	close_two();
}

static void *give_soon(void *lease)
{
	clock_sleep_ms(50);
	give(&one, lease);
	return NULL;
}

static void of_two_that_make_a_thread_one_does(void)
{
	struct thread t = thread_called("t");
	struct lease *lease;
	pthread_t giver;
	open_two("claims_new");
	lease = take(&one, "t", CLAIM_ENQUEUE, 60000);
	CU_ASSERT_PTR_NULL(take(&two, "t", CLAIM_REJECT, 0));
	CU_ASSERT_PTR_NULL(take(&two, "t", CLAIM_ENQUEUE, 100));
	CU_ASSERT_TRUE(write_status(&one, lease, &t, RUN_RUNNING));
	CU_ASSERT_TRUE(runs(&two, "t"));
	CU_ASSERT_PTR_NULL(take(&two, "t", CLAIM_REJECT, INT_MAX));
	/* the run is over, but its thread is not free yet */
	CU_ASSERT_TRUE(write_status(&one, lease, &t, RUN_COMPLETED));
	CU_ASSERT_FALSE(runs(&two, "t"));
	pthread_create(&giver, NULL, give_soon, lease);
	give(&two, take(&two, "t", CLAIM_REJECT, 60000));
	pthread_join(giver, NULL);
	close_two();
}

static _Atomic int turns_of_two;

static void *take_turns(void *arg)
{
	(void)arg;
	for (int i = 0; i < 5; i++) {
		give(&two, take(&two, "t", CLAIM_ENQUEUE, 60000));
		atomic_fetch_add(&turns_of_two, 1);
	}
	return NULL;
}

static void *crowd(void *arg)
{
	while (!atomic_load((_Atomic bool *)arg)) {
		struct lease *lease = take(&one, "t", CLAIM_ENQUEUE, 60000);
		clock_sleep_ms(2);
		give(&one, lease);
	}
	return NULL;
}

static void an_instance_that_waits_is_not_passed_over(void)
{
	struct thread t = thread_called("t");
	_Atomic bool over = false;
	pthread_t threads[4], other;
	open_two("claims_fair");
	CU_ASSERT_TRUE(append(one.st, &t, "m-1", &err));
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, crowd, &over);
	pthread_create(&other, NULL, take_turns, NULL);
	pthread_join(other, NULL);
	atomic_store(&over, true);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CU_ASSERT_EQUAL(atomic_load(&turns_of_two), 5);
	close_two();
}

/* As if nobody had seen it for a while, until another one has given it up. */
static void cut_off(const char *schema, int64_t node)
{
	char sql[160];
	snprintf(sql, sizeof(sql),
	    "UPDATE instances SET seen_at = seen_at - interval '1 min' WHERE node = %d; "
	    "SELECT count(*) FROM instances WHERE gone OR node <> %d",
	    (int)node, (int)node);
	while (ask_number(schema, sql) < 2)
		clock_sleep_ms(20);
}

static void one_that_was_cut_off_writes_nothing(void)
{
	struct thread t = thread_called("t"), u;
	struct lease *lease, *other;
	open_two("claims_late");
	lease = take(&one, "t", CLAIM_ENQUEUE, 60000);
	CU_ASSERT_TRUE(write_status(&one, lease, &t, RUN_RUNNING));
	u = t;
	CU_ASSERT_TRUE(runs(&two, "t"));
	cut_off("claims_late", one.st->node);
	CU_ASSERT_FALSE(runs(&two, "t"));
	CU_ASSERT_FALSE(write_status(&one, lease, &t, RUN_COMPLETED));
	other = take(&two, "t", CLAIM_ENQUEUE, 60000);
	CU_ASSERT_TRUE(write_status(&two, other, &u, RUN_RUNNING));
	CU_ASSERT_FALSE(write_status(&one, lease, &t, RUN_COMPLETED));
	give(&one, lease);
	CU_ASSERT_TRUE(write_status(&two, other, &u, RUN_COMPLETED));
	give(&two, other);
	/* and then it is one as before */
	while (!(lease = take(&one, "t", CLAIM_REJECT, 0)))
		clock_sleep_ms(20);
	CU_ASSERT_TRUE(write_status(&one, lease, &t, RUN_RUNNING));
	give(&one, lease);
	close_two();
}

/* A process that begins writes the row of its instance, before the others have seen that it was
 * given up: they hear of it all the same. */
static void one_that_begins_hides_no_loss(void)
{
	struct opened begins;
	struct lease *lease;
	open_two("claims_begin");
	lease = take(&one, "t", CLAIM_ENQUEUE, 60000);
	ask_number("claims_begin",
	    "WITH lost AS (UPDATE instances SET gone = true WHERE node = 0 RETURNING number) "
	    "DELETE FROM processes USING lost WHERE instance = lost.number; SELECT 1");
	begins = must_open("one", "claims_begin");
	give(&one, lease);
	lease = take(&one, "t", CLAIM_ENQUEUE, 60000);
	CU_ASSERT_PTR_NOT_NULL(lease);
	if (lease)
		give(&one, lease);
	opened_close(&begins);
	close_two();
}

static bool is_ordered(struct lease *lease, enum lease_order wanted)
{
	enum lease_order order = ORDER_NONE;
	for (int i = 0; i < 6000 && order != wanted; i++) {
		CU_ASSERT_TRUE(one.st->threads->lease_ordered(one.st, NULL, lease, &order, &err));
		clock_sleep_ms(10);
	}
	return order == wanted;
}

static void a_stop_reaches_another_instance(void)
{
	const struct lease_aim another = {.order = ORDER_STOP, .only = "r2"};
	struct thread t = thread_called("t");
	struct lease *lease;
	bool running, stop;
	open_two("claims_stop");
	lease = take(&one, "t", CLAIM_ENQUEUE, 60000);
	CU_ASSERT_TRUE(one.st->threads->lease_run(one.st, NULL, lease, "r1", &err));
	CU_ASSERT_TRUE(write_status(&one, lease, &t, RUN_RUNNING));
	CU_ASSERT_TRUE(two.st->threads->lease_stop(two.st, NULL, "t", &another, &running, &err));
	CU_ASSERT_FALSE(running);
	CU_ASSERT_TRUE(two.st->threads->lease_stop(two.st, NULL, "t", NULL, &running, &err));
	CU_ASSERT_TRUE(running);
	CU_ASSERT_TRUE(two.st->threads->lease_running(two.st, NULL, "t", &running, &stop, &err));
	CU_ASSERT_TRUE(stop);
	CU_ASSERT_TRUE(is_ordered(lease, ORDER_STOP));
	CU_ASSERT_PTR_NULL(take(&two, "t", CLAIM_ROLLBACK, 50));
	CU_ASSERT_TRUE(is_ordered(lease, ORDER_ROLLBACK));
	give(&one, lease);
	close_two();
}

static void a_look_changes_nothing_and_tells_no_password(void)
{
	char *plain = postgresql_url("looked"), *url = xasprintf("%s&password=sesame", plain);
	struct postgresql_server *s = postgresql_server_new(url, &err);
	char *found = postgresql_look(s, &err), answer[32];
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_PTR_NOT_NULL(strstr(found, "schema looked, which the first start makes"));
	CU_ASSERT_PTR_NULL(strstr(found, "sesame"));
	ask(s, "SELECT count(*) FROM pg_namespace WHERE nspname = 'looked'", answer,
	    sizeof(answer));
	CU_ASSERT_STRING_EQUAL(answer, "0");
	postgresql_server_free(s);
	free(found);
	free(url);
	free(plain);
}

static void an_address_with_nobody_tells_no_password(void)
{
	struct postgresql_server *s =
	    postgresql_server_new("postgresql://u:sesame@/d?host=/nowhere", &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	CU_ASSERT_PTR_NULL(postgresql_look(s, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_TRANSIENT_STORAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.cause, "/nowhere"));
	CU_ASSERT_PTR_NULL(strstr(err.cause, "sesame"));
	error_release(&err);
	postgresql_server_free(s);
	static const char *const wrong[] = {"postgresql://u:sesame@h:x/d",
	    "postgresql://u:ses%zzame@h/d", "postgresql://u:open@sesame@h/d",
	    "postgresql://u:sesame/@h/d", "postgresql://u:open@s,@ame/d"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CU_ASSERT_PTR_NULL(postgresql_server_new(wrong[i], &err));
		CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "as libpq reads it"));
		CU_ASSERT_PTR_NULL(strstr(err.detail, "ame"));
		error_release(&err);
	}
	s = postgresql_server_new("postgresql:///d?host=@one,@two", &err);
	CU_ASSERT_PTR_NOT_NULL(s); /* abstract sockets */
	postgresql_server_free(s);
}

static const struct unit_test tests[] = {
    {"what was acknowledged outlives crashes, and what was refused does not",
	what_was_acknowledged_outlives_crashes},
    {"a commit that was lost is not taken for another one",
	a_commit_that_was_lost_is_not_taken_for_another_one},
    {"a server that is away is transient", a_server_that_is_away_is_transient},
    {"connections are few", connections_are_few},
    {"where the server takes no more, one is waited for",
	where_the_server_takes_no_more_one_is_waited_for},
    {"readers that read do not wait for each other", readers_that_read_do_not_wait_for_each_other},
    {"processes that start together make one schema",
	processes_that_start_together_make_one_schema},
    {"a schema may take its time", a_schema_may_take_its_time},
    {"a statement that takes too long is given up", a_statement_that_takes_too_long_is_given_up},
    {"a session has the service's settings, whatever the role's",
	a_session_has_the_services_settings},
    {"a schema of a newer version is refused", a_schema_of_a_newer_version_is_refused},
    {"an instance has its own node, and the common secret",
	an_instance_has_its_own_node_and_the_common_secret},
    {"a thread is one instance's at a time", a_thread_is_one_instances_at_a_time},
    {"what may have been claimed is given back", what_may_have_been_claimed_is_given_back},
    {"of two that make a thread one does", of_two_that_make_a_thread_one_does},
    {"an instance that waits is not passed over", an_instance_that_waits_is_not_passed_over},
    {"one that was cut off writes nothing", one_that_was_cut_off_writes_nothing},
    {"one that begins hides no loss", one_that_begins_hides_no_loss},
    {"a stop reaches another instance", a_stop_reaches_another_instance},
    {"a look changes nothing and tells no password", a_look_changes_nothing_and_tells_no_password},
    {"an address with nobody tells no password", an_address_with_nobody_tells_no_password},
};

int main(void)
{
	postgresql_start();
	return unit_main("postgresql", tests, UNIT_COUNT(tests));
}
