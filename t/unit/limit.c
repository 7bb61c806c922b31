/* SPDX-License-Identifier: ISC */
/* Rate limits: the window, and who shares it. */
#include "access/limit_table.h"
#include "base/os/clock.h"
#include "unit.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND 1000000

static struct shared *shared;
static struct limit_table *table;

/* A clock of the test's own. */
static int64_t now;

static int64_t test_clock(void)
{
	return now;
}

static struct shared *open_in(const char *dir)
{
	struct error err = {0};
	struct shared *sh = shared_open(dir, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(sh);
	return sh;
}

/* An empty table, at some time. */
static void start(void)
{
	static int count;
	char name[16];
	snprintf(name, sizeof(name), "state%d", count++);
	const char *dir = unit_path(name);
	CU_ASSERT_EQUAL_FATAL(mkdir(dir, 0700), 0);
	shared_close(shared);
	shared = open_in(dir);
	table = limit_table_of(shared);
	now = 1000 * (int64_t)SECOND;
}

static struct limit_verdict ask(int64_t requests, int64_t window, const char *key)
{
	const struct limit_rule rule = {requests, window, test_clock};
	struct limit_verdict verdict = {0};
	limit_table_check(table, &rule, key, &verdict);
	return verdict;
}

static int64_t allowed_of(int64_t tries, int64_t requests, int64_t window, const char *key)
{
	int64_t allowed = 0;
	while (tries--)
		allowed += ask(requests, window, key).allowed;
	return allowed;
}

static void requests_are_allowed_up_to_the_limit(void)
{
	start();
	for (int i = 1; i <= 3; i++) {
		struct limit_verdict verdict = ask(3, 60, "a");
		CU_ASSERT_TRUE(verdict.allowed);
		CU_ASSERT_EQUAL(verdict.remaining, 3 - i);
		CU_ASSERT_EQUAL(verdict.reset_after, 60);
	}
	struct limit_verdict verdict = ask(3, 60, "a");
	CU_ASSERT_FALSE(verdict.allowed);
	CU_ASSERT_EQUAL(verdict.remaining, 0);
	CU_ASSERT_EQUAL(verdict.reset_after, 60);
}

static void each_request_leaves_the_window_by_itself(void)
{
	start();
	for (int i = 0; i < 10; i++) {
		CU_ASSERT_TRUE(ask(10, 60, "a").allowed);
		now += SECOND;
	}
	CU_ASSERT_EQUAL(ask(10, 60, "a").reset_after, 50);
	now += 50 * SECOND - 1;
	CU_ASSERT_FALSE(ask(10, 60, "a").allowed);
	now++; /* the first one is a window old */
	CU_ASSERT_TRUE(ask(10, 60, "a").allowed);
	CU_ASSERT_FALSE(ask(10, 60, "a").allowed);
	now += 3 * SECOND;
	CU_ASSERT_EQUAL(allowed_of(5, 10, 60, "a"), 3);
	now += 60 * SECOND;
	CU_ASSERT_EQUAL(ask(10, 60, "a").remaining, 9);
}

static void no_window_ever_holds_more_than_the_limit(void)
{
	enum { LIMIT = 20, ROUNDS = 20000 };
	static int64_t times[ROUNDS];
	int count = 0;
	start();
	srand(1);
	for (int i = 0; i < ROUNDS; i++) {
		now += rand() % 40000;
		if (ask(LIMIT, 1, "a").allowed) {
			times[count] = now;
			CU_ASSERT(count < LIMIT || now - times[count - LIMIT] >= SECOND);
			count++;
		} else {
			CU_ASSERT(now - times[count - LIMIT] < SECOND);
		}
	}
	CU_ASSERT(count > ROUNDS / 3);
}

static void refused_requests_are_not_counted(void)
{
	start();
	CU_ASSERT_EQUAL(allowed_of(1000, 2, 10, "a"), 2);
	now += 10 * SECOND;
	CU_ASSERT_EQUAL(allowed_of(1000, 2, 10, "a"), 2);
}

static void who_waits_as_told_is_let_in(void)
{
	start();
	srand(2);
	for (int i = 0; i < 1000; i++) {
		struct limit_verdict verdict = ask(2, 3, "a");
		CU_ASSERT(verdict.reset_after >= 1 && verdict.reset_after <= 3);
		if (!verdict.allowed) {
			now += verdict.reset_after * SECOND;
			CU_ASSERT_TRUE(ask(2, 3, "a").allowed);
		}
		now += rand() % SECOND;
	}
}

static void keys_are_counted_apart(void)
{
	char one[600], other[600];
	start();
	memset(one, 'x', sizeof(one) - 1);
	one[sizeof(one) - 1] = '\0';
	strcpy(other, one);
	other[sizeof(other) - 2] = 'y';
	const char *keys[] = {"a", "b", "", "user:a", one, other, one + 540, other + 540};
	for (size_t i = 0; i < UNIT_COUNT(keys); i++)
		CU_ASSERT_EQUAL(allowed_of(5, 3, 60, keys[i]), 3);
	CU_ASSERT_EQUAL(limit_table_count(table), UNIT_COUNT(keys));
}

static void a_limit_that_was_lowered_holds_at_once(void)
{
	start();
	CU_ASSERT_EQUAL(allowed_of(10, 10, 60, "a"), 10);
	CU_ASSERT_FALSE(ask(5, 60, "a").allowed);
	CU_ASSERT_EQUAL(allowed_of(5, 12, 60, "a"), 2);
}

static void a_large_limit_is_exact_in_number(void)
{
	const int64_t limit = 1000000;
	int64_t allowed = 0;
	start();
	for (int64_t i = 0; i < limit; i++) {
		now += 500; /* half a window for all */
		allowed += ask(limit, 1000, "a").allowed;
	}
	CU_ASSERT_EQUAL(allowed, limit);
	CU_ASSERT_FALSE(ask(limit, 1000, "a").allowed);
	now += 499 * (int64_t)SECOND;
	CU_ASSERT_FALSE(ask(limit, 1000, "a").allowed);
	now += 2 * SECOND; /* the first ones leave, at most a 4096th of the window late */
	CU_ASSERT_TRUE(ask(limit, 1000, "a").allowed);
	now += 500 * (int64_t)SECOND;
	CU_ASSERT_EQUAL(ask(limit, 1000, "a").remaining, limit - 2);
}

static void large_limits_do_not_end_in_an_overflow(void)
{
	start();
	CU_ASSERT_EQUAL(ask(INT64_MAX, INT64_MAX, "a").remaining, INT64_MAX - 1);
	now += 1000000 * (int64_t)SECOND;
	CU_ASSERT_EQUAL(ask(INT64_MAX, INT64_MAX, "a").remaining, INT64_MAX - 2);
	CU_ASSERT_TRUE(ask(1, INT64_MAX, "b").allowed);
	CU_ASSERT_FALSE(ask(1, INT64_MAX, "b").allowed);
}

/* Requests in turn in two time slots never share a mark: more marks than there is room for. */
static void a_key_with_all_the_room_loses_its_oldest(void)
{
	start();
	for (int i = 0; i < 100000; i++) {
		now += i % 2 ? -1000 * (int64_t)SECOND : 1000 * (int64_t)SECOND;
		CU_ASSERT_TRUE_FATAL(ask(1000000000, 4096000, "a").allowed);
	}
	int64_t counted = 1000000000 - ask(1000000000, 4096000, "a").remaining;
	CU_ASSERT(counted > 60000 && counted < 80000);
}

static const char *numbered(int i)
{
	static char key[32];
	snprintf(key, sizeof(key), "ip:%d", i);
	return key;
}

static void keys_are_limited_in_number(void)
{
	start();
	for (int i = 0; i < 3 * LIMIT_KEYS; i++)
		ask(1, 1000, numbered(i));
	size_t count = limit_table_count(table);
	CU_ASSERT(count <= LIMIT_KEYS && count > LIMIT_KEYS - LIMIT_KEYS / 20);
	CU_ASSERT_TRUE(ask(1, 1000, numbered(0)).allowed);
	CU_ASSERT_FALSE(ask(1, 1000, numbered(3 * LIMIT_KEYS - 1)).allowed);
}

static void a_key_in_use_is_not_forgotten_for_others(void)
{
	start();
	CU_ASSERT_TRUE(ask(1, 1000, "busy").allowed);
	for (int i = 0; i < 2 * LIMIT_KEYS; i++) {
		ask(1, 1000, numbered(i));
		if (i % 100 == 0)
			CU_ASSERT_FALSE_FATAL(ask(1, 1000, "busy").allowed);
	}
}

static void many_marks_push_out_the_oldest_keys(void)
{
	start();
	for (int i = 0; i < 2000; i++)
		CU_ASSERT_EQUAL_FATAL(allowed_of(1000, 1000, 1000, numbered(i)), 1000);
	CU_ASSERT_TRUE(ask(1000, 1000, numbered(0)).allowed);
	for (int i = 1900; i < 2000; i++)
		CU_ASSERT_FALSE(ask(1000, 1000, numbered(i)).allowed);
	CU_ASSERT(limit_table_count(table) < 2000);
}

/* ---- several processes ---- */

/* What children tell the test. */
struct notes {
	atomic_llong allowed;
	atomic_int ready;
};

static struct notes *notes;

static void *ask_real(void *arg)
{
	const struct limit_rule rule = {100, 3600, clock_uptime_us};
	struct limit_verdict verdict;
	notes->ready++;
	while (notes->ready < 64)
		clock_sleep_ms(1);
	for (int i = 0; i < 50; i++) {
		limit_table_check(arg, &rule, "global", &verdict);
		notes->allowed += verdict.allowed;
	}
	return NULL;
}

static void run_clients(struct limit_table *t)
{
	pthread_t threads[32];
	for (int i = 0; i < 32; i++)
		pthread_create(&threads[i], NULL, ask_real, t);
	for (int i = 0; i < 32; i++)
		pthread_join(threads[i], NULL);
}

static void two_processes_count_as_one(void)
{
	const char *dir = unit_path("two");
	memset(notes, 0, sizeof(*notes));
	mkdir(dir, 0700);
	pid_t child = fork();
	if (child == 0) {
		run_clients(limit_table_of(open_in(dir)));
		_exit(0);
	}
	struct shared *sh = open_in(dir);
	run_clients(limit_table_of(sh));
	waitpid(child, NULL, 0);
	CU_ASSERT_EQUAL(notes->allowed, 100);
	shared_close(sh);
}

static void nothing_is_left_when_all_have_ended(void)
{
	start();
	const char *dir = unit_path("ended");
	mkdir(dir, 0700);
	for (int i = 0; i < 2; i++) {
		struct shared *sh = open_in(dir), *again;
		table = limit_table_of(sh);
		CU_ASSERT_EQUAL(allowed_of(3, 2, 60, "a"), 2);
		again = open_in(dir);
		shared_close(sh); /* somebody else still has it open */
		table = limit_table_of(again);
		CU_ASSERT_EQUAL(allowed_of(3, 2, 60, "a"), 0);
		shared_close(again);
	}
}

/* ---- death at any instruction ---- */

/* Sanitizers make of each instruction a dozen. */
#ifdef __SANITIZE_ADDRESS__
enum { DEATHS = 10 };
#else
enum { DEATHS = 60 };
#endif

static char subject[32];

/* Runs act in a child and kills it after so many instructions; how many there were, at most. */
static long die_after(void (*act)(void), long instructions)
{
	int status = 0;
	long done = 0;
	pid_t child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		act();
		_exit(0);
	}
	waitpid(child, &status, 0);
	for (; WIFSTOPPED(status) && done < instructions; done++) {
		ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
		waitpid(child, &status, 0);
	}
	if (WIFSTOPPED(status)) {
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
	}
	return done;
}

/* Has a child die in act at many places, and looks at the table after each. */
static void die_everywhere(void (*prepare)(void), void (*act)(void), void (*check)(void))
{
	snprintf(subject, sizeof(subject), "whole");
	prepare();
	long length = die_after(act, LONG_MAX);
	for (int i = 0; i < DEATHS; i++) {
		snprintf(subject, sizeof(subject), "death %d", i);
		prepare();
		die_after(act, length * i / DEATHS);
		check();
	}
}

static void ask_one_more(void)
{
	ask(30, 1000, subject);
}

static void ask_seven_times(void)
{
	CU_ASSERT_EQUAL(allowed_of(7, 30, 1000, subject), 7);
}

/* So many are counted, or one more; and the key goes on as if nothing had happened. */
static void check_count(int64_t expected)
{
	int64_t counted = 29 - ask(30, 1000, subject).remaining;
	CU_ASSERT(counted == expected || counted == expected + 1);
	CU_ASSERT_EQUAL(allowed_of(50, 30, 1000, subject), 29 - counted);
	now += 1000 * (int64_t)SECOND;
	CU_ASSERT_EQUAL(allowed_of(50, 30, 1000, subject), 30);
}

static void check_seven(void)
{
	check_count(7);
}

static void a_death_while_counting_forgets_nothing(void)
{
	start();
	die_everywhere(ask_seven_times, ask_one_more, check_seven);
}

/* Ten requests that are about to leave the window, and four that are not. */
static void ask_early_and_late(void)
{
	CU_ASSERT_EQUAL(allowed_of(10, 30, 1000, subject), 10);
	now += 500 * (int64_t)SECOND;
	CU_ASSERT_EQUAL(allowed_of(4, 30, 1000, subject), 4);
	now += 500 * (int64_t)SECOND;
}

static void check_four(void)
{
	check_count(4);
}

static void a_death_while_requests_leave_the_window_does_no_harm(void)
{
	start();
	die_everywhere(ask_early_and_late, ask_one_more, check_four);
}

static void nothing(void)
{
}

/* The newest keys are not those that had to go. */
static void check_neighbours(void)
{
	CU_ASSERT(limit_table_count(table) <= LIMIT_KEYS);
	for (int i = LIMIT_KEYS + 1900; i < LIMIT_KEYS + 2000; i++)
		CU_ASSERT_EQUAL(ask(30, 1000000000, numbered(i)).remaining, 0);
}

static void use_newest(void)
{
	for (int i = LIMIT_KEYS + 1900; i < LIMIT_KEYS + 2000; i++)
		CU_ASSERT_EQUAL(allowed_of(40, 30, 1000000000, numbered(i)), 29);
}

static void a_death_while_a_key_is_forgotten_does_no_harm(void)
{
	start();
	for (int i = 0; i < LIMIT_KEYS + 2000; i++)
		ask(5, 1000, numbered(i));
	now += 1000 * (int64_t)SECOND;
	use_newest();
	die_everywhere(nothing, ask_one_more, check_neighbours);
	for (int i = 0; i < 2 * LIMIT_KEYS; i++)
		ask(5, 1000, numbered(i));
	CU_ASSERT(limit_table_count(table) <= LIMIT_KEYS);
	for (int i = 2 * LIMIT_KEYS - 1000; i < 2 * LIMIT_KEYS; i++)
		CU_ASSERT_EQUAL(allowed_of(5, 5, 1000, numbered(i)), 4);
}

static const struct unit_test tests[] = {
    {"requests are allowed up to the limit", requests_are_allowed_up_to_the_limit},
    {"each request leaves the window by itself", each_request_leaves_the_window_by_itself},
    {"no window ever holds more than the limit", no_window_ever_holds_more_than_the_limit},
    {"refused requests are not counted", refused_requests_are_not_counted},
    {"who waits as told is let in", who_waits_as_told_is_let_in},
    {"keys are counted apart", keys_are_counted_apart},
    {"a limit that was lowered holds at once", a_limit_that_was_lowered_holds_at_once},
    {"a large limit is exact in number", a_large_limit_is_exact_in_number},
    {"large limits do not end in an overflow", large_limits_do_not_end_in_an_overflow},
    {"a key with all the room loses its oldest", a_key_with_all_the_room_loses_its_oldest},
    {"keys are limited in number", keys_are_limited_in_number},
    {"a key in use is not forgotten for others", a_key_in_use_is_not_forgotten_for_others},
    {"many marks push out the oldest keys", many_marks_push_out_the_oldest_keys},
    {"two processes count as one", two_processes_count_as_one},
    {"nothing is left when all have ended", nothing_is_left_when_all_have_ended},
    {"a death while counting forgets nothing", a_death_while_counting_forgets_nothing},
    {"a death while requests leave the window does no harm",
	a_death_while_requests_leave_the_window_does_no_harm},
    {"a death while a key is forgotten does no harm",
	a_death_while_a_key_is_forgotten_does_no_harm},
};

int main(void)
{
	notes =
	    mmap(NULL, sizeof(*notes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = unit_main("limit", tests, UNIT_COUNT(tests));
	shared_close(shared);
	return status;
}
