/* SPDX-License-Identifier: ISC */
/* Traces, on each engine. */
#include "base/memory.h"
#include "base/os/clock.h"
#include "config/config.h"
#include "engines_fixture.h"
#include "storage/sql/db/db.h"
#include "storage/trace/trace_ring.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECE (256u << 10) /* bytes of records */

static struct shared *shared;
static struct storage *storage;
static struct traces *traces;
static struct error err;

/* A state directory of its own, with nobody else in it. */
static void open_in(const char *name)
{
	char own[64];
	snprintf(own, sizeof(own), "%s%s", name, chosen_engine ? "-memory" : "");
	const char *dir = unit_path(own);
	mkdir(dir, 0700);
	shared = shared_open(dir, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(shared);
	const struct config config = {.state_dir = (char *)dir};
	storage = open_chosen(&config, shared, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(storage);
	traces = traces_new(storage, shared);
}

static void close_all(void)
{
	traces_free(traces);
	storage_close(storage);
	shared_close(shared);
}

static struct trace_run run_of(const char *thread_id, const char *run_id)
{
	return (struct trace_run){
	    .number = traces_number(traces),
	    .thread_id = thread_id,
	    .run_id = run_id,
	    .status = TRACE_DONE,
	    .started_at = 1000,
	    .finished_at = 3000,
	    .last_at = 2000,
	    .totals = {1, 2, 3, 4, 5, 6, 7},
	};
}

static bool put(const struct trace_run *run, int first, const char *records, uint64_t *place)
{
	const struct trace_piece piece = {first, records, strlen(records)};
	return traces_put(traces, run, &piece, place);
}

static void put_run(const char *thread_id, const char *run_id)
{
	struct trace_run run = run_of(thread_id, run_id);
	uint64_t place = 0;
	CU_ASSERT_TRUE(put(&run, 0, "{},", &place));
}

/* "<ids> / <run id> <records>" of what is read. */
static const char *seen(const char *thread_id, const char *run_id)
{
	static char text[4096];
	struct arena *a = arena_new();
	struct trace_view view;
	CU_ASSERT_TRUE(traces_read(traces, NULL, a, thread_id, run_id, &view, &err));
	CU_ASSERT_STRING_EQUAL(err.cause, "");
	text[0] = '\0';
	for (size_t i = 0; i < view.run_count; i++)
		sprintf(text + strlen(text), "%s ", view.run_ids[i]);
	strcat(text, "/ ");
	if (view.found)
		sprintf(text + strlen(text), "%s %s", view.run.run_id, view.records);
	arena_free(a);
	return text;
}

static void what_was_handed_over_is_read_at_once(void)
{
	struct arena *a = arena_new();
	struct trace_view view;
	struct trace_run run;
	uint64_t place = 0;
	open_in("once");
	run = run_of("t", "r");
	CU_ASSERT_TRUE(put(&run, 0, "{\"a\":1},{\"a\":2},", &place));
	CU_ASSERT_TRUE_FATAL(traces_read(traces, NULL, a, "t", NULL, &view, &err));
	CU_ASSERT_TRUE_FATAL(view.found);
	CU_ASSERT_STRING_EQUAL(view.records, "[{\"a\":1},{\"a\":2}]");
	CU_ASSERT_EQUAL(view.run.number, run.number);
	CU_ASSERT_EQUAL(view.run.status, TRACE_DONE);
	CU_ASSERT_EQUAL(view.run.started_at, 1000);
	CU_ASSERT_EQUAL(view.run.finished_at, 3000);
	CU_ASSERT_EQUAL(view.run.last_at, 2000);
	CU_ASSERT_EQUAL(memcmp(&view.run.totals, &run.totals, sizeof(run.totals)), 0);
	/* a run that is over stays as it is */
	run.status = TRACE_RUNNING;
	run.finished_at = 0;
	place = 0;
	put(&run, 0, "{\"a\":1},{\"a\":2},", &place);
	CU_ASSERT_TRUE_FATAL(traces_read(traces, NULL, a, "t", NULL, &view, &err));
	CU_ASSERT_EQUAL(view.run.status, TRACE_DONE);
	CU_ASSERT_EQUAL(view.run.finished_at, 3000);
	arena_free(a);
	close_all();
}

static void a_later_word_takes_the_place_of_an_earlier_one(void)
{
	uint64_t place = 0;
	open_in("place");
	struct trace_run run = run_of("t", "r");
	run.status = TRACE_RUNNING;
	put(&run, 0, "{\"n\":1},", &place);
	put(&run, 0, "{\"n\":1},{\"n\":2},", &place);
	CU_ASSERT_STRING_EQUAL(seen("t", NULL), "r / r [{\"n\":1},{\"n\":2}]");
	put(&run, 0, "{\"n\":1},{\"n\":2},{\"n\":3},", &place);
	place = 0;
	put(&run, 3, "{\"n\":4},", &place);
	CU_ASSERT_STRING_EQUAL(seen("t", NULL), "r / r [{\"n\":1},{\"n\":2},{\"n\":3},{\"n\":4}]");
	close_all();
}

static void a_run_id_used_twice_replaces_the_earlier_run(void)
{
	open_in("twice");
	put_run("t", "a");
	put_run("t", "b");
	put_run("other", "a");
	put_run("t", "a");
	CU_ASSERT_STRING_EQUAL(seen("t", NULL), "b a / a [{}]");
	CU_ASSERT_STRING_EQUAL(seen("other", NULL), "a / a [{}]");
	close_all();
}

static void twenty_runs_of_a_thread_stay(void)
{
	char id[16];
	open_in("runs");
	for (int i = 1; i <= 23; i++) {
		snprintf(id, sizeof(id), "r%d", i);
		put_run("t", id);
	}
	CU_ASSERT_PTR_NOT_NULL(strstr(seen("t", "r4"), "/ r4 [{}]"));
	CU_ASSERT_EQUAL(strncmp(seen("t", "r3"), "r4 r5 ", 6), 0);
	CU_ASSERT_STRING_EQUAL(strchr(seen("t", "r3"), '/'), "/ ");
	close_all();
}

/* They count once, although they were many. */
static void runs_that_were_replaced_push_out_no_others(void)
{
	char id[16];
	open_in("replaced");
	for (int i = 1; i <= 19; i++) {
		snprintf(id, sizeof(id), "r%d", i);
		put_run("t", id);
	}
	for (int i = 0; i < 25; i++)
		put_run("t", "again");
	CU_ASSERT_EQUAL(strncmp(seen("t", NULL), "r1 r2 ", 6), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(seen("t", NULL), " r19 again / again [{}]"));
	close_all();
}

/* The one whose latest run is the oldest goes. */
static void two_hundred_threads_stay(void)
{
	char id[16];
	open_in("threads");
	for (int i = 0; i < 201; i++) {
		snprintf(id, sizeof(id), "t%d", i);
		put_run(id, "r");
		if (i == 100)
			put_run("t0", "again");
	}
	CU_ASSERT_STRING_EQUAL(seen("t1", NULL), "/ ");
	CU_ASSERT_STRING_EQUAL(seen("t0", NULL), "r again / again [{}]");
	CU_ASSERT_STRING_EQUAL(seen("t2", NULL), "r / r [{}]");
	close_all();
}

static void a_thread_is_forgotten(void)
{
	open_in("forget");
	put_run("t", "a");
	put_run("u", "b");
	CU_ASSERT_TRUE(traces_forget(traces, NULL, "t", &err));
	CU_ASSERT_STRING_EQUAL(seen("t", NULL), "/ ");
	put_run("t", "c");
	CU_ASSERT_STRING_EQUAL(seen("t", NULL), "c / c [{}]");
	CU_ASSERT_STRING_EQUAL(seen("u", NULL), "b / b [{}]");
	close_all();
}

/* Where nobody else writes, what was put before goes, whatever the clock said then. */
static void a_clock_that_is_set_back_keeps_nothing(void)
{
	struct trace_run run;
	uint64_t place = 0;
	open_in("back");
	if (!storage->engine->can.instances) {
		run = run_of("t", "a");
		run.started_at = clock_now() + 3600000000;
		CU_ASSERT_TRUE(put(&run, 0, "{},", &place));
		CU_ASSERT_TRUE(traces_forget(traces, NULL, "t", &err));
		CU_ASSERT_STRING_EQUAL(seen("t", NULL), "/ ");
	}
	close_all();
}

static void nothing_is_left_after_a_restart(void)
{
	open_in("restart");
	put_run("t", "a");
	CU_ASSERT_STRING_EQUAL(seen("t", NULL), "a / a [{}]");
	close_all();
	open_in("restart");
	CU_ASSERT_STRING_EQUAL(seen("t", NULL), "/ ");
	close_all();
}

static int see_and_put(const void *unused)
{
	(void)unused;
	const struct config config = {.state_dir = (char *)unit_path("processes")};
	shared = shared_open(config.state_dir, &err);
	storage = shared ? storage_open(&config, shared, &err) : NULL;
	traces = storage ? traces_new(storage, shared) : NULL;
	if (!traces || strcmp(seen("t", NULL), "mine / mine [{}]") != 0)
		return 1;
	put_run("t", "its");
	return 0;
}

/* Other processes come and go while the instance lives. */
static void all_processes_see_the_same(void)
{
	int status = 0;
	open_in("processes");
	put_run("t", "mine");
	CU_ASSERT_STRING_EQUAL(seen("t", NULL), "mine / mine [{}]");
	waitpid(unit_fork(see_and_put, NULL, 0), &status, 0);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_STRING_EQUAL(seen("t", NULL), "mine its / its [{}]");
	close_all();
}

/* Many more than the ring holds, around its end several times. */
static void a_thread_empties_the_ring_before_it_is_full(void)
{
	char id[16], *records = xcalloc(1, 40001);
	int lost = 0;
	open_in("ring");
	memset(records, ' ', 39997);
	memcpy(records + 39997, "{},", 3);
	for (int i = 0; i < 400; i++) {
		struct trace_run run;
		uint64_t place = 0;
		snprintf(id, sizeof(id), "r%d", i);
		run = run_of("t", id);
		while (!put(&run, 0, records, &place)) {
			usleep(1000);
			if (++lost > 20000)
				break;
		}
	}
	CU_ASSERT_TRUE(lost <= 20000);
	CU_ASSERT_EQUAL(strncmp(seen("t", "x"), "r380 r381 ", 10), 0);
	free(records);
	close_all();
}

static void *say_it_often(void *arg)
{
	struct trace_run run = run_of("t", "r");
	uint64_t place = 0;
	for (int i = 0; i < 2000; i++)
		put(&run, 0, "{},", &place);
	atomic_store((atomic_bool *)arg, true);
	return NULL;
}

/* An entry is marked as superseded while it is copied. */
static void what_is_said_meanwhile_is_read(void)
{
	atomic_bool done = false;
	pthread_t thread;
	open_in("meanwhile");
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, say_it_often, &done), 0);
	while (!atomic_load(&done))
		CU_ASSERT(!strcmp(seen("t", NULL), "/ ") || !strcmp(seen("t", NULL), "r / r [{}]"));
	pthread_join(thread, NULL);
	CU_ASSERT_STRING_EQUAL(seen("t", NULL), "r / r [{}]");
	close_all();
}

static void a_full_ring_takes_no_more(void)
{
	struct trace_ring *ring;
	char *records = xcalloc(1, PIECE + 1);
	struct trace_piece piece = {0, records, PIECE};
	struct trace_run run;
	uint64_t place = 0;
	int count = 0;
	open_in("full");
	ring = shared_region(shared, SHARED_TRACES);
	memset(records, ' ', PIECE);
	run = run_of("t", "r");
	while (count < 100 && ring_add(ring, &run, &piece, &place)) {
		place = 0;
		count++;
	}
	CU_ASSERT_EQUAL(count, RING_SIZE / PIECE - 1);
	CU_ASSERT_TRUE(ring_fill(ring) <= RING_SIZE);
	CU_ASSERT_EQUAL(ring->dropped, 1);
	CU_ASSERT_TRUE(traces_forget(traces, NULL, "t", &err));
	CU_ASSERT_STRING_EQUAL(seen("t", NULL), "/ ");
	free(records);
	close_all();
}

/* What cannot be read is thrown away: traces are worth no stop. */
static void a_broken_file_is_made_anew(void)
{
	struct arena *a = arena_new();
	struct trace_view view;
	open_in("broken");
	put_run("t", "a");
	seen("t", NULL);
	close_all();
	open_in("broken");
	atomic_store(&((struct trace_ring *)shared_region(shared, SHARED_TRACES))->made, 1);
	FILE *file = fopen(unit_path("broken/telemetry.db"), "w");
	fputs("this is no database, and it is longer than a header of one would be: it goes on "
	      "and on, with nothing in it that anybody could read as a page of SQLite's",
	    file);
	fclose(file);
	put_run("t", "lost");
	CU_ASSERT_FALSE(traces_read(traces, NULL, a, "t", NULL, &view, &err));
	error_release(&err);
	put_run("t", "b");
	CU_ASSERT_STRING_EQUAL(seen("t", NULL), "b / b [{}]");
	arena_free(a);
	close_all();
}

static void every_statement_was_used(void)
{
	for (size_t i = 0; i < SQL_COUNT; i++) {
		const char *name = sql_statements[i].name;
		if (strncmp(name, "trace_", 6) != 0 && strncmp(name, "telemetry_", 10) != 0)
			continue;
		if (!db_was_used((enum sql_id)i))
			printf("# no test uses %s\n", name);
		CU_ASSERT_TRUE(db_was_used((enum sql_id)i));
	}
}

static const struct unit_test of_any_engine[] = {
    {"what was handed over is read at once", what_was_handed_over_is_read_at_once},
    {"a later word takes the place of an earlier one",
	a_later_word_takes_the_place_of_an_earlier_one},
    {"a run id used twice replaces the earlier run", a_run_id_used_twice_replaces_the_earlier_run},
    {"twenty runs of a thread stay", twenty_runs_of_a_thread_stay},
    {"runs that were replaced push out no others", runs_that_were_replaced_push_out_no_others},
    {"two hundred threads stay", two_hundred_threads_stay},
    {"a thread is forgotten", a_thread_is_forgotten},
    {"a clock that is set back keeps nothing", a_clock_that_is_set_back_keeps_nothing},
    {"nothing is left after a restart", nothing_is_left_after_a_restart},
    {"a thread empties the ring before it is full", a_thread_empties_the_ring_before_it_is_full},
    {"what is said meanwhile is read", what_is_said_meanwhile_is_read},
    {"a full ring takes no more", a_full_ring_takes_no_more},
};

static const struct unit_test of_sqlite[] = {
    {"all processes see the same", all_processes_see_the_same},
    {"a broken file is made anew", a_broken_file_is_made_anew},
    {"every statement was used", every_statement_was_used},
};

int main(void)
{
	memory_init();
	unit_fork_early();
	return storage_main("storage_traces", of_any_engine, UNIT_COUNT(of_any_engine), of_sqlite,
	    UNIT_COUNT(of_sqlite), choose_memory);
}
