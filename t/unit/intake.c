/* SPDX-License-Identifier: ISC */
/* Requests whose bodies come slowly: where their records end, and what is counted of them. */
#include "fcgi/pool/pool.h"

#include "base/os/clock.h"
#include "unit.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BEGIN "\1\1\0\1\0\10\0\0\0\1\0\0\0\0\0\0"
#define PARAMS "\1\4\0\1\0\3\5\0abcpppp\1\1\4\0\1\0\0\0\0"
#define BODY "\1\5\0\1\0\5\2\0hello\1\5"
#define END "\1\5\0\1\0\0\0\0"

/* The end looks the same however the bytes are cut. */
static void records_end_wherever_they_are_cut(void)
{
	static const char whole[] = BEGIN PARAMS BODY BODY END;
	size_t len = sizeof(whole) - 1;
	for (size_t step = 1; step <= len; step++) {
		struct records r = {0};
		for (size_t at = 0; at < len; at += step) {
			CU_ASSERT_FALSE(r.end);
			records_scan(&r, whole + at, at + step < len ? step : len - at);
		}
		CU_ASSERT_TRUE(r.head);
		CU_ASSERT_TRUE(r.end);
		CU_ASSERT_FALSE(r.bad);
		CU_ASSERT_EQUAL(r.body, 10);
	}
}

static struct records scanned(const char *data, size_t len)
{
	struct records r = {0};
	records_scan(&r, data, len);
	return r;
}

static void a_head_without_a_body_is_no_end(void)
{
	static const char head[] = BEGIN PARAMS BODY;
	struct records r = scanned(head, sizeof(head) - 1);
	CU_ASSERT_TRUE(r.head);
	CU_ASSERT_FALSE(r.end);
	r = scanned(head, sizeof(BEGIN PARAMS) - 2);
	CU_ASSERT_FALSE(r.head);
}

static void what_is_no_request_is_said(void)
{
	static const char other[] = "GET / HTTP/1.1\r\n", off[] = BEGIN "\1\2\0\1\0\0\0\0";
	CU_ASSERT_TRUE(scanned(other, sizeof(other) - 1).bad);
	CU_ASSERT_TRUE(scanned(off, sizeof(off) - 1).bad);
}

static struct shared *open_in(const char *name)
{
	struct error err = {0};
	const char *dir = unit_path(name);
	mkdir(dir, 0700);
	struct shared *shared = shared_open(dir, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(shared);
	return shared;
}

static void an_address_has_so_many_and_all_so_many_bytes(void)
{
	struct shared *shared = open_in("counts");
	struct pending a = {0}, b = {0}, c = {0};
	CU_ASSERT_EQUAL(pending_take(&a, shared, "192.0.2.1", 2), PENDING_TAKEN);
	CU_ASSERT_EQUAL(pending_take(&b, shared, "192.0.2.1", 2), PENDING_TAKEN);
	CU_ASSERT_EQUAL(pending_take(&c, shared, "192.0.2.1", 2), PENDING_ADDRESS_FULL);
	CU_ASSERT_EQUAL(pending_take(&c, shared, "192.0.2.2", 2), PENDING_TAKEN);
	CU_ASSERT_TRUE(pending_grow(&a, 60, 100));
	CU_ASSERT_TRUE(pending_grow(&c, 40, 100));
	CU_ASSERT_FALSE(pending_grow(&b, 1, 100));
	pending_drop(&a);
	pending_drop(&a);
	CU_ASSERT_TRUE(pending_grow(&b, 60, 100));
	CU_ASSERT_FALSE(pending_grow(&b, 1, 100));
	CU_ASSERT_EQUAL(pending_take(&a, shared, "192.0.2.1", 2), PENDING_TAKEN);
	pending_drop(&a);
	pending_drop(&b);
	pending_drop(&c);
	shared_close(shared);
}

static void all_places_can_be_taken(void)
{
	struct shared *shared = open_in("full");
	struct pending one = {0}, first = {0};
	CU_ASSERT_EQUAL(pending_take(&first, shared, "a", 10000), PENDING_TAKEN);
	int taken = 1;
	while (pending_take(&one, shared, "a", 10000) == PENDING_TAKEN)
		taken++;
	CU_ASSERT_EQUAL(taken, 4096);
	CU_ASSERT_EQUAL(pending_take(&one, shared, "b", 1), PENDING_FULL);
	pending_drop(&first);
	CU_ASSERT_EQUAL(pending_take(&first, shared, "b", 1), PENDING_TAKEN);
	shared_close(shared);
}

static void the_dead_have_none(void)
{
	int ends[2];
	char told;
	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		struct pending p = {0};
		struct shared *own = open_in("dead");
		told = pending_take(&p, own, "a", 1) == PENDING_TAKEN && pending_grow(&p, 100, 100)
		    ? 'y'
		    : 'n';
		if (write(ends[1], &told, 1) == 1)
			pause();
		_exit(1);
	}
	struct shared *shared = open_in("dead");
	struct pending p = {0}, q = {0};
	CU_ASSERT_EQUAL_FATAL(read(ends[0], &told, 1), 1);
	CU_ASSERT_EQUAL(told, 'y');
	CU_ASSERT_EQUAL(pending_take(&p, shared, "a", 1), PENDING_ADDRESS_FULL);
	CU_ASSERT_EQUAL(pending_take(&q, shared, "b", 1), PENDING_TAKEN);
	CU_ASSERT_FALSE(pending_grow(&q, 1, 100));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	CU_ASSERT_TRUE(pending_grow(&q, 100, 100));
	CU_ASSERT_EQUAL(pending_take(&p, shared, "a", 1), PENDING_TAKEN);
	close(ends[0]);
	close(ends[1]);
	shared_close(shared);
}

static void arrival_told(void *arg, struct arrival *arrival, bool gone)
{
	char told = gone ? 'g' : arrival->lacking ? 'l' : 'y';
	CU_ASSERT_EQUAL(write(*(int *)arg, &told, 1), 1);
}

/* A process that takes one arrival from the socket, within 300 ms, and says what has become of
 * it. */
static pid_t start_taking(int socket, int tell)
{
	pid_t child = fork();
	if (child != 0)
		return child;
	struct error err = {0};
	struct arrival arrival = {.socket = socket,
	    .file = arrival_file(),
	    .most = -1,
	    .deadline = clock_monotonic_ms() + 300};
	intake_add(intake_start(arrival_told, &tell, &err), &arrival);
	for (;;)
		pause();
}

/* The worker is stopped, not the client slow. */
static void who_was_stopped_gives_the_time_back(void)
{
	static const char head[] = BEGIN PARAMS, body[] = BODY END;
	int ends[2], pair[2];
	char told = 0;
	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	CU_ASSERT_EQUAL(write(pair[1], head, sizeof(head) - 1), sizeof(head) - 1);
	pid_t child = start_taking(pair[0], ends[1]);
	clock_sleep_ms(100);
	kill(child, SIGSTOP);
	clock_sleep_ms(1600);
	kill(child, SIGCONT);
	clock_sleep_ms(100);
	CU_ASSERT_EQUAL(write(pair[1], body, sizeof(body) - 1), sizeof(body) - 1);
	CU_ASSERT_EQUAL(read(ends[0], &told, 1), 1);
	CU_ASSERT_EQUAL(told, 'y');
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	for (int i = 0; i < 2; i++)
		close(ends[i]), close(pair[i]);
}

static const struct unit_test tests[] = {
    {"records end wherever they are cut", records_end_wherever_they_are_cut},
    {"a head without a body is no end", a_head_without_a_body_is_no_end},
    {"what is no request is said", what_is_no_request_is_said},
    {"an address has so many, and all so many bytes", an_address_has_so_many_and_all_so_many_bytes},
    {"all places can be taken", all_places_can_be_taken},
    {"the dead have none", the_dead_have_none},
    {"who was stopped gives the time back", who_was_stopped_gives_the_time_back},
};

int main(void)
{
	return unit_main("intake", tests, UNIT_COUNT(tests));
}
