/* SPDX-License-Identifier: ISC */
/* The words in shared memory by which queues wake who waits. */
#include "storage/queue.h"
#include "base/os/clock.h"
#include "unit.h"

#include <sys/wait.h>
#include <unistd.h>

static struct shared *shared;

static void what_moves_is_seen_by_its_run(void)
{
	uint32_t word = bell_word(shared, BELL_CHUNKS), one = chunks_count(shared, 7, 1);
	uint32_t two = chunks_count(shared, 7, 2);
	chunks_moved(shared, 7, 1);
	CU_ASSERT_NOT_EQUAL(bell_word(shared, BELL_CHUNKS), word);
	CU_ASSERT_NOT_EQUAL(chunks_count(shared, 7, 1), one);
	CU_ASSERT_EQUAL(chunks_count(shared, 7, 2), two);
	chunks_moved_all(shared);
	CU_ASSERT_NOT_EQUAL(chunks_count(shared, 7, 2), two);
}

static void runs_of_a_thread_seldom_share_a_counter(void)
{
	int alike = 0;
	for (int64_t number = 1; number <= 100; number++) {
		uint32_t before[101];
		for (int64_t other = 1; other <= 100; other++)
			before[other] = chunks_count(shared, 5, other);
		chunks_moved(shared, 5, number);
		for (int64_t other = 1; other <= 100; other++)
			alike += other != number && before[other] != chunks_count(shared, 5, other);
	}
	CU_ASSERT(alike < 20);
}

static void the_gauge_adds_up(void)
{
	CU_ASSERT_TRUE(queue_waiting_unknown(shared));
	CU_ASSERT_FALSE(queue_waiting_unknown(shared));
	queue_waiting_add(shared, 5);
	queue_waiting_add(shared, -2);
	CU_ASSERT_EQUAL(queue_waiting(shared), 3);
}

static void a_claimed_job_is_unbegun_for_who_claimed_it(void)
{
	queue_claimed(shared, 7, 1);
	CU_ASSERT_TRUE(queue_is_unbegun(shared, 7, 1));
	CU_ASSERT_FALSE(queue_is_unbegun(shared, 8, 1));
	CU_ASSERT_FALSE(queue_is_unbegun(shared, 7, 2)); /* who may have begun it elsewhere */
	queue_claimed(shared, 7, 2);
	CU_ASSERT_TRUE(queue_is_unbegun(shared, 7, 2));
	CU_ASSERT_FALSE(queue_is_unbegun(shared, 7, 1));
	queue_begun(shared, 7);
	CU_ASSERT_FALSE(queue_is_unbegun(shared, 7, 2));
}

static void who_looks_at_an_old_word_does_not_sleep(void)
{
	uint32_t seen = bell_word(shared, BELL_QUEUE);
	bell_ring(shared, BELL_QUEUE);
	bell_wait(shared, BELL_QUEUE, seen, -1);
	seen = bell_word(shared, BELL_CHUNKS);
	chunks_moved(shared, 1, 1);
	chunks_wait(shared, seen, -1);
	bell_wait(shared, BELL_QUEUE, bell_word(shared, BELL_QUEUE), 1);
	CU_PASS("it came back each time");
}

/* Another process wakes all that sleep, time and again, until they have gone. */
static void all_sleepers_are_woken(void)
{
	pid_t sleepers[3];
	int status;
	for (int i = 0; i < 3; i++) {
		sleepers[i] = fork();
		if (sleepers[i] == 0) {
			struct error err = {0};
			struct shared *own = shared_open(unit_dir(), &err);
			uint32_t seen = own ? bell_word(own, BELL_QUEUE) : 0;
			while (own && bell_word(own, BELL_QUEUE) == seen)
				bell_wait(own, BELL_QUEUE, seen, -1);
			_exit(!own);
		}
	}
	for (int i = 0; i < 3; i++) {
		while (waitpid(sleepers[i], &status, WNOHANG) == 0) {
			bell_ring(shared, BELL_QUEUE);
			clock_sleep_ms(1);
		}
		CU_ASSERT_EQUAL(status, 0);
	}
}

static const struct unit_test tests[] = {
    {"what moves is seen by its run", what_moves_is_seen_by_its_run},
    {"runs of a thread seldom share a counter", runs_of_a_thread_seldom_share_a_counter},
    {"the gauge adds up", the_gauge_adds_up},
    {"a claimed job is unbegun for who claimed it", a_claimed_job_is_unbegun_for_who_claimed_it},
    {"who looks at an old word does not sleep", who_looks_at_an_old_word_does_not_sleep},
    {"all sleepers are woken", all_sleepers_are_woken},
};

int main(void)
{
	struct error err = {0};
	int rc;
	shared = shared_open(unit_dir(), &err);
	if (!shared)
		return 1;
	rc = unit_main("queue", tests, UNIT_COUNT(tests));
	shared_close(shared);
	return rc;
}
