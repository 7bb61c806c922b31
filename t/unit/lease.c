/* SPDX-License-Identifier: ISC */
/* Leases in shared memory, among threads and processes. */
#include "storage/lease.h"
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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct shared *shared;
static struct leases *leases;
static struct error err;

/* What forked children tell the test. */
struct notes {
	atomic_int step;
	atomic_int inside;
	atomic_int overlaps;
	atomic_int order[64];
	atomic_int served;
};

static struct notes *notes;

static void wait_for(const atomic_int *value, int wanted)
{
	for (int i = 0; i < 10000 && *value < wanted; i++)
		clock_sleep_ms(1);
	CU_ASSERT_EQUAL(*value, wanted);
}

/* Until a process or thread that has nothing else to do sleeps: it waits in line then, or holds
 * what it wanted. */
static void wait_asleep(pid_t id)
{
	char path[64], state = 0;
	FILE *file;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)id);
	for (int i = 0; i < 30000 && state != 'S'; i++) {
		file = fopen(path, "re");
		if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			state = 0;
		if (file)
			fclose(file);
		clock_sleep_ms(1);
	}
	CU_ASSERT_EQUAL(state, 'S');
}

static struct lease *acquire_as(const char *id, enum lease_claim claim, int64_t wait_ms)
{
	struct lease *l = lease_acquire(leases, id, claim, wait_ms, &err);
	CU_ASSERT_FALSE(error_is_set(&err));
	return l;
}

static struct lease *acquire(const char *id, int64_t wait_ms)
{
	return acquire_as(id, CLAIM_ENQUEUE, wait_ms);
}

/* In a forked child: a process of its own over the same table. */
static struct leases *join(void)
{
	struct shared *sh = shared_open(unit_dir(), &err);
	if (!sh)
		_exit(1);
	return leases_new(sh);
}

/* A child that holds thread_id, or waits for it, until it is killed. */
static pid_t start_child(const char *thread_id, bool runs)
{
	int before = notes->step;
	pid_t pid = fork();
	struct lease *l;
	if (pid != 0) {
		wait_for(&notes->step, before + 1);
		wait_asleep(pid);
		return pid;
	}
	leases = join();
	notes->step++;
	l = lease_acquire(leases, thread_id, CLAIM_ENQUEUE, 60000, &err);
	if (l && runs)
		lease_run(l, "r1");
	for (;;)
		pause();
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void a_lease_is_held_by_one(void)
{
	struct lease *l = acquire("one", 0), *other;
	CU_ASSERT_PTR_NOT_NULL_FATAL(l);
	CU_ASSERT_PTR_NULL(acquire("one", 0));
	other = acquire("two", 0);
	CU_ASSERT_PTR_NOT_NULL(other);
	lease_release(other);
	lease_release(l);
	l = acquire("one", 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(l);
	lease_release(l);
}

static void one_that_comes_next_knows_it(void)
{
	uint64_t before = lease_ended(leases, "next");
	struct lease *l = acquire("next", 0);
	CU_ASSERT_TRUE(lease_is_next(l, before));
	CU_ASSERT_PTR_NULL(acquire("next", 0)); /* who has waited in vain has had nothing */
	CU_ASSERT_TRUE(lease_is_next(l, before));
	uint64_t meanwhile = lease_ended(leases, "next");
	lease_release(l);
	l = acquire("next", 0);
	CU_ASSERT_FALSE(lease_is_next(l, before));
	CU_ASSERT_FALSE(lease_is_next(l, meanwhile));
	lease_release(l);

	pid_t child = start_child("next", false);
	meanwhile = lease_ended(leases, "next");
	end_child(child);
	l = acquire("next", 0);
	CU_ASSERT_FALSE(lease_is_next(l, meanwhile));
	lease_release(l);
}

static void threads_with_similar_ids_are_different(void)
{
	char ids[3][1021];
	struct lease *l[3];
	for (int i = 0; i < 3; i++) {
		memset(ids[i], 'x', 1020);
		ids[i][1020 - i] = '\0';
		l[i] = acquire(ids[i], 0);
		CU_ASSERT_PTR_NOT_NULL_FATAL(l[i]);
	}
	for (int i = 0; i < 3; i++)
		lease_release(l[i]);
}

static void a_wait_ends_in_time(void)
{
	struct lease *l = acquire("busy", 0);
	int64_t start = clock_monotonic_ms(), took;
	CU_ASSERT_PTR_NULL(acquire("busy", 330));
	took = clock_monotonic_ms() - start;
	CU_ASSERT(took >= 329 && took < 60000);
	lease_release(l);
	l = acquire("busy", 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(l);
	lease_release(l);
}

/* Waits for "line" in a thread, and notes its number when it has had its turn. */
struct queued {
	pthread_t thread;
	atomic_int id; /* of the thread, as the kernel has it */
	int number;
	enum lease_claim claim;
	int64_t served_at;
};

static void *wait_and_note(void *arg)
{
	struct queued *w = arg;
	struct lease *l;
	w->id = (int)syscall(SYS_gettid);
	l = lease_acquire(leases, "line", w->claim, 60000, &(struct error){0});
	w->served_at = clock_monotonic_ms();
	if (l) {
		notes->order[notes->served++] = w->number;
		lease_release(l);
	}
	return NULL;
}

/* Returns when it waits. */
static void start_waiter_as(struct queued *w, int number, enum lease_claim claim)
{
	*w = (struct queued){.number = number, .claim = claim};
	CU_ASSERT_EQUAL_FATAL(pthread_create(&w->thread, NULL, wait_and_note, w), 0);
	while (!w->id)
		clock_sleep_ms(1);
	wait_asleep(w->id);
}

static void start_waiter(struct queued *w, int number)
{
	start_waiter_as(w, number, CLAIM_ENQUEUE);
}

static void waiters_are_served_in_the_order_of_arrival(void)
{
	struct lease *l = acquire("line", 0);
	struct queued waiters[8];
	notes->served = 0;
	for (int i = 0; i < 8; i++)
		start_waiter(&waiters[i], i);
	CU_ASSERT_EQUAL(notes->served, 0);
	lease_release(l);
	for (int i = 0; i < 8; i++)
		pthread_join(waiters[i].thread, NULL);
	for (int i = 0; i < 8; i++)
		CU_ASSERT_EQUAL(notes->order[i], i);
}

/* Chains are then made anew. */
static void die_with_the_lock(void)
{
	pid_t pid = fork();
	struct shared *sh;
	struct shared_head *head;
	if (pid != 0) {
		waitpid(pid, NULL, 0);
		return;
	}
	sh = shared_open(unit_dir(), &err);
	head = shared_region(sh, SHARED_LEASES);
	shared_lock(&head->mutex[0]);
	_exit(0);
}

/* Of those that overtake the latest is the first. */
static void line_is_overtaken(bool lock_dies)
{
	static const int expected[] = {4, 1, 0, 2, 3};
	static const enum lease_claim claims[] = {
	    CLAIM_ENQUEUE, CLAIM_INTERRUPT, CLAIM_ENQUEUE, CLAIM_ENQUEUE, CLAIM_ROLLBACK};
	struct lease *l = acquire("line", 0);
	struct queued waiters[5];
	notes->served = 0;
	for (int i = 0; i < 5; i++)
		start_waiter_as(&waiters[i], i, claims[i]);
	CU_ASSERT_EQUAL(notes->served, 0);
	if (lock_dies)
		die_with_the_lock();
	lease_release(l);
	for (int i = 0; i < 5; i++)
		pthread_join(waiters[i].thread, NULL);
	for (int i = 0; i < 5; i++)
		CU_ASSERT_EQUAL(notes->order[i], expected[i]);
}

static void one_that_interrupts_overtakes_those_that_wait(void)
{
	line_is_overtaken(false);
}

static void the_order_outlives_a_death_within_the_table(void)
{
	line_is_overtaken(true);
}

static void one_that_rejects_does_not_wait(void)
{
	struct lease *l = acquire("line", 0);
	int64_t start = clock_monotonic_ms();
	CU_ASSERT_PTR_NULL(acquire_as("line", CLAIM_REJECT, 60000));
	CU_ASSERT(clock_monotonic_ms() - start < 30000);
	CU_ASSERT_EQUAL(lease_ordered(l), ORDER_NONE);
	lease_release(l);
	l = acquire_as("line", CLAIM_REJECT, 60000);
	CU_ASSERT_PTR_NOT_NULL_FATAL(l);
	lease_release(l);
}

static void one_that_rejects_waits_for_a_run_that_is_over(void)
{
	struct lease *l = acquire("line", 0);
	struct queued waiter;

	notes->served = 0;
	lease_run(l, "r1");
	CU_ASSERT_PTR_NULL(acquire_as("line", CLAIM_REJECT, 60000));
	lease_run(l, NULL);
	CU_ASSERT_PTR_NULL(acquire_as("line", CLAIM_REJECT, 10));
	start_waiter_as(&waiter, 9, CLAIM_REJECT);
	lease_release(l);
	pthread_join(waiter.thread, NULL);
	CU_ASSERT_EQUAL(notes->served, 1);
}

static void one_that_gave_up_is_left_out_of_the_line(void)
{
	struct lease *l = acquire("line", 0);
	struct queued waiter;
	notes->served = 0;
	CU_ASSERT_PTR_NULL(acquire("line", 10));
	start_waiter(&waiter, 9);
	lease_release(l);
	pthread_join(waiter.thread, NULL);
	CU_ASSERT_EQUAL(notes->served, 1);
}

/* A waiter that nobody woke would look by itself after 250 ms.  A busy machine may be late now and
 * then, but not always. */
static void a_release_wakes_the_next_at_once(void)
{
	int64_t best = INT64_MAX, start;
	struct queued waiter;
	struct lease *l;
	for (int i = 0; i < 20 && best >= 100; i++) {
		l = acquire("line", 60000);
		CU_ASSERT_PTR_NOT_NULL_FATAL(l);
		start_waiter(&waiter, 1);
		start = clock_monotonic_ms();
		lease_release(l);
		pthread_join(waiter.thread, NULL);
		if (waiter.served_at - start < best)
			best = waiter.served_at - start;
	}
	CU_ASSERT(best < 100);
}

/* It may come while is_refused has the last place. */
static void *wait_for_lease(void *thread_id)
{
	struct lease *l;
	while (!(l = lease_acquire(leases, thread_id, CLAIM_ENQUEUE, 60000, &(struct error){0})))
		clock_sleep_ms(5);
	notes->served++;
	lease_release(l);
	return NULL;
}

/* Whether there comes a time from which on nobody else can wait for thread_id. */
static bool is_refused(const char *thread_id)
{
	int64_t start;
	for (int i = 0; i < 60; i++) {
		start = clock_monotonic_ms();
		if (acquire(thread_id, 300))
			return false;
		if (clock_monotonic_ms() - start < 150)
			return true;
		clock_sleep_ms(20);
	}
	return false;
}

static void callers_wait_only_where_there_is_room(void)
{
	struct lease *first = acquire("first", 0), *second = acquire("second", 0);
	pthread_t ids[4];
	notes->served = 0;
	leases_room(leases, 4);
	for (int i = 0; i < 3; i++)
		pthread_create(&ids[i], NULL, wait_for_lease, "first");
	CU_ASSERT_TRUE(is_refused("first"));
	pthread_create(&ids[3], NULL, wait_for_lease, "second"); /* the part of other threads */
	CU_ASSERT_TRUE(is_refused("second"));
	CU_ASSERT_EQUAL(notes->served, 0);
	lease_release(first);
	lease_release(second);
	for (int i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
	CU_ASSERT_EQUAL(notes->served, 4);

	first = acquire("first", 0); /* the room was given back */
	pthread_create(&ids[0], NULL, wait_for_lease, "first");
	clock_sleep_ms(50);
	lease_release(first);
	pthread_join(ids[0], NULL);
	CU_ASSERT_EQUAL(notes->served, 5);
	leases_room(leases, UINT_MAX);
}

/* A process of its own in which as many wait for "queue" as may. */
static pid_t start_queue(void)
{
	pid_t pid = fork();
	pthread_t id;
	if (pid != 0)
		return pid;
	leases = join();
	for (int i = 0; i < 64; i++)
		pthread_create(&id, NULL, wait_for_lease, "queue");
	for (;;)
		pause();
}

static void the_line_of_a_thread_is_bounded_and_the_dead_do_not_count(void)
{
	struct lease *l = acquire("queue", 0);
	pid_t pid = start_queue();
	int64_t start;
	CU_ASSERT_TRUE(is_refused("queue"));
	end_child(pid);
	start = clock_monotonic_ms();
	CU_ASSERT_PTR_NULL(acquire("queue", 300));
	CU_ASSERT(clock_monotonic_ms() - start >= 299);
	lease_release(l);
	l = acquire("queue", 60000);
	CU_ASSERT_PTR_NOT_NULL_FATAL(l);
	lease_release(l);
}

static void only_a_run_can_be_stopped(void)
{
	struct lease *l = acquire("runs", 0);
	bool stop = true;
	CU_ASSERT_FALSE(lease_stop(leases, "runs", NULL));
	CU_ASSERT_FALSE(lease_running(leases, "runs", &stop));
	CU_ASSERT_FALSE(stop);
	lease_run(l, "r1");
	CU_ASSERT_TRUE(lease_running(leases, "runs", &stop));
	CU_ASSERT_FALSE(stop);
	CU_ASSERT_EQUAL(lease_ordered(l), ORDER_NONE);
	CU_ASSERT_TRUE(lease_stop(leases, "runs", NULL));
	CU_ASSERT_EQUAL(lease_ordered(l), ORDER_STOP);
	CU_ASSERT_TRUE(lease_running(leases, "runs", &stop));
	CU_ASSERT_TRUE(stop);
	lease_release(l);
	CU_ASSERT_FALSE(lease_running(leases, "runs", &stop));
	CU_ASSERT_FALSE(lease_stop(leases, "runs", NULL));
}

static void a_stop_never_hits_the_next_run(void)
{
	struct lease *l = acquire("next", 0);
	lease_run(l, "r1");
	CU_ASSERT_TRUE(lease_stop(leases, "next", NULL));
	lease_release(l);
	l = acquire("next", 0);
	CU_ASSERT_EQUAL(lease_ordered(l), ORDER_NONE);
	lease_run(l, "r1");
	CU_ASSERT_EQUAL(lease_ordered(l), ORDER_NONE);
	lease_release(l);
}

static void a_stop_can_name_the_run_that_it_is_for(void)
{
	const struct lease_aim this = {.order = ORDER_STOP, .only = "r1"},
			       another = {.order = ORDER_STOP, .only = "r2"},
			       others = {.order = ORDER_ROLLBACK, .but = "r1"},
			       all_others = {.order = ORDER_ROLLBACK, .but = "r2"};
	struct lease *l = acquire("aim", 0);
	CU_ASSERT_FALSE(lease_stop(leases, "aim", &this));
	lease_run(l, "r1");
	CU_ASSERT_FALSE(lease_stop(leases, "aim", &another));
	CU_ASSERT_FALSE(lease_stop(leases, "aim", &others));
	CU_ASSERT_EQUAL(lease_ordered(l), ORDER_NONE);
	CU_ASSERT_TRUE(lease_stop(leases, "aim", &this));
	CU_ASSERT_EQUAL(lease_ordered(l), ORDER_STOP);
	CU_ASSERT_TRUE(lease_stop(leases, "aim", &all_others));
	CU_ASSERT_EQUAL(lease_ordered(l), ORDER_ROLLBACK);
	lease_release(l);
	l = acquire("aim", 0);
	lease_run(l, "r2");
	CU_ASSERT_FALSE(lease_stop(leases, "aim", &this));
	CU_ASSERT_EQUAL(lease_ordered(l), ORDER_NONE);
	lease_release(l);
}

/* Also when it runs only afterwards, and whoever comes meanwhile; those that wait are not asked. */
static void a_holder_is_told_what_the_others_want(void)
{
	static const struct {
		enum lease_claim claim;
		enum lease_order order;
	} wants[] = {{CLAIM_ENQUEUE, ORDER_NONE}, {CLAIM_REJECT, ORDER_NONE},
	    {CLAIM_INTERRUPT, ORDER_STOP}, {CLAIM_ROLLBACK, ORDER_ROLLBACK},
	    {CLAIM_INTERRUPT, ORDER_ROLLBACK}};
	struct lease *l = acquire("line", 0);
	struct queued waiter;
	bool stop;
	for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++) {
		CU_ASSERT_PTR_NULL(acquire_as("line", wants[i].claim, 0));
		CU_ASSERT_EQUAL(lease_ordered(l), wants[i].order);
	}
	lease_run(l, "r1");
	CU_ASSERT_EQUAL(lease_ordered(l), ORDER_ROLLBACK);
	CU_ASSERT_TRUE(lease_running(leases, "line", &stop));
	CU_ASSERT_TRUE(stop);
	CU_ASSERT_TRUE(lease_stop(leases, "line", NULL));
	CU_ASSERT_EQUAL(lease_ordered(l), ORDER_ROLLBACK);
	notes->served = 0;
	start_waiter(&waiter, 1);
	CU_ASSERT_PTR_NULL(acquire_as("line", CLAIM_ROLLBACK, 0));
	lease_release(l);
	pthread_join(waiter.thread, NULL);
	CU_ASSERT_EQUAL(notes->served, 1);
	l = acquire("line", 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(l);
	CU_ASSERT_EQUAL(lease_ordered(l), ORDER_NONE);
	lease_release(l);
}

static void one_that_overtakes_a_dead_holder_has_the_lease(void)
{
	struct lease *l;
	end_child(start_child("dead", true));
	l = acquire_as("dead", CLAIM_ROLLBACK, 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(l);
	CU_ASSERT_EQUAL(lease_ordered(l), ORDER_NONE);
	lease_release(l);
}

static void other_processes_see_and_stop_a_run(void)
{
	pid_t child = start_child("remote", true);
	bool stop;
	CU_ASSERT_PTR_NULL(acquire("remote", 0));
	CU_ASSERT_TRUE(lease_running(leases, "remote", &stop));
	CU_ASSERT_TRUE(lease_stop(leases, "remote", NULL));
	CU_ASSERT_TRUE(lease_running(leases, "remote", &stop));
	CU_ASSERT_TRUE(stop);
	end_child(child);
	CU_ASSERT_FALSE(lease_running(leases, "remote", &stop));
	CU_ASSERT_FALSE(lease_stop(leases, "remote", NULL));
}

static void a_dead_holders_lease_is_free(void)
{
	struct lease *l;
	end_child(start_child("dead", true));
	l = acquire("dead", 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(l);
	CU_ASSERT_EQUAL(lease_ordered(l), ORDER_NONE);
	lease_release(l);
}

static void *kill_later(void *arg)
{
	clock_sleep_ms(100);
	end_child(*(pid_t *)arg);
	return NULL;
}

static void a_waiter_notices_the_holders_death(void)
{
	pid_t child = start_child("dying", false);
	int64_t start = clock_monotonic_ms();
	struct lease *l;
	pthread_t id;
	pthread_create(&id, NULL, kill_later, &child);
	l = acquire("dying", 60000);
	CU_ASSERT_PTR_NOT_NULL_FATAL(l);
	CU_ASSERT(clock_monotonic_ms() - start < 50000);
	lease_release(l);
	pthread_join(id, NULL);
}

static void a_dead_waiter_is_passed_over(void)
{
	struct lease *l = acquire("skip", 0);
	pid_t child = start_child("skip", false);
	end_child(child);
	lease_release(l);
	l = acquire("skip", 60000);
	CU_ASSERT_PTR_NOT_NULL_FATAL(l);
	lease_release(l);
}

/* Takes and releases leases for ever, on few threads, so that it often dies inside the table's
 * lock. */
static void churn(int number)
{
	struct lease *l;
	char id[32];
	leases = join();
	notes->step++;
	for (unsigned i = 0;; i++) {
		snprintf(id, sizeof(id), "churn-%u", (i * 7 + (unsigned)number) % 5);
		l = lease_acquire(leases, id, (enum lease_claim)(i % 4), 50, &err);
		if (!l)
			continue;
		if (atomic_fetch_add(&notes->order[id[6] - '0'], 1) != 0)
			notes->overlaps++;
		atomic_fetch_sub(&notes->order[id[6] - '0'], 1);
		lease_release(l);
	}
}

static void deaths_at_any_point_leave_the_table_whole(void)
{
	struct lease *l;
	char id[32];
	for (int i = 0; i < 40; i++) {
		pid_t pids[2];
		int before = notes->step;
		memset(notes->order, 0, sizeof(notes->order));
		for (int k = 0; k < 2; k++) {
			pids[k] = fork();
			if (pids[k] == 0)
				churn(k);
		}
		wait_for(&notes->step, before + 2);
		clock_sleep_ms(3 + i % 7);
		CU_ASSERT_EQUAL(notes->overlaps, 0);
		end_child(pids[0]);
		end_child(pids[1]);
		notes->overlaps = 0; /* a process that dies between the two notes is no overlap */
	}
	for (int i = 0; i < 5; i++) {
		snprintf(id, sizeof(id), "churn-%d", i);
		l = acquire(id, 60000);
		CU_ASSERT_PTR_NOT_NULL_FATAL(l);
		lease_release(l);
	}
}

static void *enter_and_leave(void *arg)
{
	struct lease *l;
	for (int i = 0; i < 300; i++) {
		l = lease_acquire(arg, "crowd", CLAIM_ENQUEUE, 20000, &(struct error){0});
		if (!l)
			return NULL;
		if (atomic_fetch_add(&notes->inside, 1) != 0)
			notes->overlaps++;
		atomic_fetch_sub(&notes->inside, 1);
		lease_release(l);
		notes->served++;
	}
	return NULL;
}

static void run_crowd(struct leases *mine)
{
	pthread_t ids[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&ids[i], NULL, enter_and_leave, mine);
	for (int i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
}

static void a_crowd_of_processes_and_threads_enters_one_by_one(void)
{
	pid_t pids[2];
	notes->served = notes->inside = notes->overlaps = 0;
	for (int i = 0; i < 2; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			run_crowd(join());
			_exit(0);
		}
	}
	run_crowd(leases);
	for (int i = 0; i < 2; i++)
		waitpid(pids[i], NULL, 0);
	CU_ASSERT_EQUAL(notes->served, 3 * 4 * 300);
	CU_ASSERT_EQUAL(notes->overlaps, 0);
}

/* Fills the table and dies. */
static void take_all(void)
{
	char id[32];
	int n = 0;
	leases = join();
	do
		snprintf(id, sizeof(id), "full-%d", n++);
	while (lease_acquire(leases, id, CLAIM_ENQUEUE, 0, &err));
	notes->order[0] = err.kind == ERR_TRANSIENT_STORAGE && n > 10000;
	_exit(0);
}

static void a_full_table_is_transient_and_is_swept_of_the_dead(void)
{
	struct lease *l;
	pid_t pid = fork();
	if (pid == 0)
		take_all();
	waitpid(pid, NULL, 0);
	CU_ASSERT_TRUE(notes->order[0]);
	l = acquire("after-the-flood", 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(l);
	lease_release(l);
}

static const struct unit_test tests[] = {
    {"a lease is held by one", a_lease_is_held_by_one},
    {"one that comes next knows it", one_that_comes_next_knows_it},
    {"threads with similar ids are different", threads_with_similar_ids_are_different},
    {"a wait ends in time", a_wait_ends_in_time},
    {"waiters are served in the order of arrival", waiters_are_served_in_the_order_of_arrival},
    {"one that interrupts overtakes those that wait",
	one_that_interrupts_overtakes_those_that_wait},
    {"the order outlives a death within the table", the_order_outlives_a_death_within_the_table},
    {"one that rejects does not wait", one_that_rejects_does_not_wait},
    {"one that rejects waits for a run that is over",
	one_that_rejects_waits_for_a_run_that_is_over},
    {"one that gave up is left out of the line", one_that_gave_up_is_left_out_of_the_line},
    {"a release wakes the next at once", a_release_wakes_the_next_at_once},
    {"callers wait only where there is room, and not all for one thread",
	callers_wait_only_where_there_is_room},
    {"the line of a thread is bounded, and the dead in it do not count",
	the_line_of_a_thread_is_bounded_and_the_dead_do_not_count},
    {"only a run can be stopped", only_a_run_can_be_stopped},
    {"a stop can name the run that it is for", a_stop_can_name_the_run_that_it_is_for},
    {"a stop never hits the next run", a_stop_never_hits_the_next_run},
    {"a holder is told what the others want", a_holder_is_told_what_the_others_want},
    {"one that overtakes a dead holder has the lease",
	one_that_overtakes_a_dead_holder_has_the_lease},
    {"other processes see and stop a run", other_processes_see_and_stop_a_run},
    {"a dead holder's lease is free", a_dead_holders_lease_is_free},
    {"a waiter notices the holder's death", a_waiter_notices_the_holders_death},
    {"a dead waiter is passed over", a_dead_waiter_is_passed_over},
    {"deaths at any point leave the table whole", deaths_at_any_point_leave_the_table_whole},
    {"a crowd of processes and threads enters one by one",
	a_crowd_of_processes_and_threads_enters_one_by_one},
    {"a full table is transient and is swept of the dead",
	a_full_table_is_transient_and_is_swept_of_the_dead},
};

int main(void)
{
	int rc;
	notes =
	    mmap(NULL, sizeof(*notes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	shared = shared_open(unit_dir(), &err);
	if (!shared) {
		printf("Bail out! %s\n", err.detail);
		return 1;
	}
	leases = leases_new(shared);
	rc = unit_main("lease", tests, UNIT_COUNT(tests));
	leases_free(leases);
	shared_close(shared);
	return rc;
}
