/* SPDX-License-Identifier: ISC */
/* The file of shared memory: its regions, and who may open it. */
#include "base/os/shared.h"
#include "base/hash.h"
#include "base/id.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct shared *open_in(const char *dir)
{
	struct error err = {0};
	struct shared *sh = shared_open(dir, &err);
	CU_ASSERT_STRING_EQUAL(err.detail, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(sh);
	error_release(&err);
	return sh;
}

static const char *fresh_state(const char *name)
{
	const char *dir = unit_path(name);
	CU_ASSERT_EQUAL_FATAL(mkdir(dir, 0700), 0);
	return dir;
}

/* A byte of a region that no head covers. */
static unsigned char *byte_of(struct shared *sh, enum shared_region region)
{
	return (unsigned char *)shared_region(sh, region) + sizeof(struct shared_head);
}

/* A child that opened the state and waits to be killed. */
struct child {
	pid_t pid;
	uint32_t slot;
};

/* Runs act in a child that opens dir by itself; returns when act is done. */
static struct child spawn(const char *dir, void (*act)(struct shared *sh))
{
	struct child child = {0};
	int ends[2];
	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	child.pid = fork();
	if (child.pid == 0) {
		struct error err = {0};
		struct shared *sh = shared_open(dir, &err);
		if (!sh)
			_exit(1);
		if (act)
			act(sh);
		uint32_t slot = shared_self(sh);
		if (write(ends[1], &slot, sizeof(slot)) != sizeof(slot))
			_exit(1);
		for (;;)
			pause();
	}
	close(ends[1]);
	CU_ASSERT_EQUAL_FATAL(read(ends[0], &child.slot, sizeof(child.slot)), sizeof(child.slot));
	close(ends[0]);
	return child;
}

static void kill_child(const struct child *child)
{
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
}

static void files_belong_to_their_user_alone(void)
{
	const char *dir = fresh_state("modes");
	struct shared *sh = open_in(dir);
	static const char *const names[] = {"modes/shared", "modes/shared.lock", "modes/processes"};
	for (size_t i = 0; i < 3; i++) {
		struct stat st;
		CU_ASSERT_EQUAL_FATAL(stat(unit_path(names[i]), &st), 0);
		CU_ASSERT_EQUAL(st.st_mode & 0777, 0600);
	}
	shared_close(sh);
}

static void regions_are_aligned_apart_and_zero(void)
{
	static const size_t sizes[SHARED_REGIONS] = {[SHARED_IDS] = SHARED_IDS_SIZE,
	    [SHARED_WRITER] = SHARED_WRITER_SIZE,
	    [SHARED_LEASES] = SHARED_LEASES_SIZE,
	    [SHARED_OWNERS] = SHARED_OWNERS_SIZE,
	    [SHARED_LIMITS] = SHARED_LIMITS_SIZE,
	    [SHARED_TRACES] = SHARED_TRACES_SIZE,
	    [SHARED_METRICS] = SHARED_METRICS_SIZE,
	    [SHARED_FILES] = SHARED_FILES_SIZE,
	    [SHARED_STORE] = SHARED_STORE_SIZE,
	    [SHARED_BALANCE] = SHARED_BALANCE_SIZE,
	    [SHARED_FILE_RECORDS] = SHARED_FILE_RECORDS_SIZE,
	    [SHARED_PENDING] = SHARED_PENDING_SIZE,
	    [SHARED_RUNS] = SHARED_RUNS_SIZE,
	    [SHARED_INSTANCE] = SHARED_INSTANCE_SIZE};
	struct shared *sh = open_in(fresh_state("regions"));
	for (int r = 0; r < SHARED_REGIONS; r++) {
		unsigned char *region = shared_region(sh, (enum shared_region)r);
		CU_ASSERT_EQUAL((uintptr_t)region % 4096, 0);
		unsigned any = 0;
		for (size_t i = sizeof(struct shared_head); i < sizes[r]; i++)
			any |= region[i];
		CU_ASSERT_EQUAL(any, 0);
		memset(region + sizeof(struct shared_head), 0xFF,
		    sizes[r] - sizeof(struct shared_head));
	}
	struct shared_head *head = shared_region(sh, SHARED_WRITER);
	CU_ASSERT_FALSE(shared_lock(&head->mutex[0]));
	CU_ASSERT_FALSE(shared_lock(&head->mutex[1]));
	shared_unlock(&head->mutex[1]);
	shared_unlock(&head->mutex[0]);
	shared_close(sh);
}

static void write_marks(struct shared *sh)
{
	*byte_of(sh, SHARED_IDS) = 11;
	*byte_of(sh, SHARED_LEASES) = 33;
}

static void all_processes_see_the_same(void)
{
	const char *dir = fresh_state("same");
	struct shared *sh = open_in(dir);
	struct child child = spawn(dir, write_marks);
	CU_ASSERT_EQUAL(*byte_of(sh, SHARED_IDS), 11);
	CU_ASSERT_EQUAL(*byte_of(sh, SHARED_WRITER), 0);
	CU_ASSERT_EQUAL(*byte_of(sh, SHARED_LEASES), 33);
	kill_child(&child);
	shared_close(sh);
}

static void contents_stay_while_somebody_has_them_open(void)
{
	const char *dir = fresh_state("kept");
	struct child child = spawn(dir, write_marks);
	struct shared *sh = open_in(dir);
	CU_ASSERT_EQUAL(*byte_of(sh, SHARED_IDS), 11);
	kill_child(&child);
	struct shared *again = open_in(dir);
	CU_ASSERT_EQUAL(*byte_of(again, SHARED_IDS), 11);
	shared_close(sh);
	sh = open_in(dir);
	CU_ASSERT_EQUAL(*byte_of(sh, SHARED_IDS), 11);
	shared_close(again);
	shared_close(sh);
}

static void contents_go_when_nobody_has_them_open(void)
{
	const char *dir = fresh_state("gone");
	struct child child = spawn(dir, write_marks);
	kill_child(&child);
	struct shared *sh = open_in(dir);
	CU_ASSERT_EQUAL(*byte_of(sh, SHARED_IDS), 0);
	CU_ASSERT_EQUAL(*byte_of(sh, SHARED_LEASES), 0);
	*byte_of(sh, SHARED_IDS) = 1;
	shared_close(sh);
	sh = open_in(dir);
	CU_ASSERT_EQUAL(*byte_of(sh, SHARED_IDS), 0);
	shared_close(sh);
}

/* Of this process's memory, in KiB. */
static long shared_pages(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[128];
	long kib = -1;
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "RssShmem: %ld", &kib) == 1)
			break;
	fclose(f);
	return kib;
}

/* In a file system that lies in memory, which does the clearing by hand. */
static void who_clears_it_does_not_keep_it_mapped(void)
{
	char dir[] = "/dev/shm/agentgraph-unit-XXXXXX", path[64];
	if (!mkdtemp(dir))
		return; /* none here */
	struct shared *sh = open_in(dir);
	memset(byte_of(sh, SHARED_LEASES), 7, 4096);
	shared_close(sh);
	long before = shared_pages();
	sh = open_in(dir);
	CU_ASSERT(shared_pages() < before + 1024);
	CU_ASSERT_EQUAL(*byte_of(sh, SHARED_LEASES), 0);
	shared_close(sh);
	static const char *const files[] = {"shared", "shared.lock", "processes"};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		unlink(path);
	}
	CU_ASSERT_EQUAL(rmdir(dir), 0);
}

static void lock_and_mark(struct shared *sh)
{
	struct shared_head *head = shared_region(sh, SHARED_LEASES);
	shared_lock(&head->mutex[1]);
	*byte_of(sh, SHARED_LEASES) = 1;
}

static void a_dead_holder_is_told_once(void)
{
	const char *dir = fresh_state("robust");
	struct shared *sh = open_in(dir);
	struct shared_head *head = shared_region(sh, SHARED_LEASES);
	struct child child = spawn(dir, lock_and_mark);
	CU_ASSERT_EQUAL(pthread_mutex_trylock(&head->mutex[1]), EBUSY);
	kill_child(&child);
	CU_ASSERT_TRUE(shared_lock(&head->mutex[1]));
	CU_ASSERT_EQUAL(*byte_of(sh, SHARED_LEASES), 1);
	shared_unlock(&head->mutex[1]);
	CU_ASSERT_FALSE(shared_lock(&head->mutex[1]));
	shared_unlock(&head->mutex[1]);
	CU_ASSERT_FALSE(shared_lock(&head->mutex[0]));
	shared_unlock(&head->mutex[0]);
	shared_close(sh);
}

static void a_death_during_the_repair_is_told_again(void)
{
	const char *dir = fresh_state("repair");
	struct shared *sh = open_in(dir);
	struct shared_head *head = shared_region(sh, SHARED_LEASES);
	for (int i = 0; i < 2; i++) { /* the second one dies as the repairer */
		struct child child = spawn(dir, lock_and_mark);
		kill_child(&child);
	}
	CU_ASSERT_TRUE(shared_lock(&head->mutex[1]));
	shared_unlock(&head->mutex[1]);
	shared_close(sh);
}

static void the_living_are_told_from_the_dead(void)
{
	const char *dir = fresh_state("slots");
	struct shared *sh = open_in(dir);
	struct child a = spawn(dir, NULL), b = spawn(dir, NULL);
	uint32_t own = shared_self(sh);
	CU_ASSERT(own >= 1 && own < SHARED_PROCESSES);
	CU_ASSERT(own != a.slot && own != b.slot && a.slot != b.slot);
	CU_ASSERT_TRUE(shared_alive(sh, own));
	CU_ASSERT_TRUE(shared_alive(sh, a.slot));
	CU_ASSERT_TRUE(shared_alive(sh, b.slot));
	kill_child(&a);
	CU_ASSERT_FALSE(shared_alive(sh, a.slot));
	CU_ASSERT_TRUE(shared_alive(sh, b.slot));
	kill_child(&b);
	CU_ASSERT_FALSE(shared_alive(sh, b.slot));
	CU_ASSERT_FALSE(shared_alive(sh, 0));
	CU_ASSERT_FALSE(shared_alive(sh, SHARED_PROCESSES));
	CU_ASSERT_FALSE(shared_alive(sh, UINT32_MAX));
	shared_close(sh);
}

static void a_slot_ends_with_its_close(void)
{
	const char *dir = fresh_state("close");
	struct shared *a = open_in(dir), *b = open_in(dir);
	uint32_t slot = shared_self(b);
	CU_ASSERT_TRUE(shared_alive(a, slot));
	shared_close(b);
	CU_ASSERT_FALSE(shared_alive(a, slot));
	CU_ASSERT_TRUE(shared_alive(a, shared_self(a)));
	shared_close(a);
}

static void slots_are_not_reused_at_once(void)
{
	const char *dir = fresh_state("rotate");
	struct shared *sh = open_in(dir);
	uint32_t last = shared_self(sh);
	for (int i = 0; i < 50; i++) {
		struct shared *next = open_in(dir);
		CU_ASSERT(shared_self(next) > last);
		last = shared_self(next);
		shared_close(next);
	}
	shared_close(sh);
}

static void another_layout_in_use_is_refused(void)
{
	const char *dir = fresh_state("layout");
	struct shared *sh = open_in(dir);
	int fd = open(unit_path("layout/shared"), O_RDWR);
	CU_ASSERT_EQUAL(pwrite(fd, "\x7F", 1, 8), 1); /* the layout follows the magic */
	struct error err = {0};
	CU_ASSERT_PTR_NULL(shared_open(dir, &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "another version"));
	error_release(&err);
	shared_close(sh);
	close(fd);
	shared_close(open_in(dir)); /* nobody uses it any more: it starts afresh */
}

static void another_size_in_use_is_refused(void)
{
	const char *dir = fresh_state("size");
	struct shared *sh = open_in(dir);
	CU_ASSERT_EQUAL(truncate(unit_path("size/shared"), 8192), 0);
	struct error err = {0};
	CU_ASSERT_PTR_NULL(shared_open(dir, &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "another version"));
	error_release(&err);
	shared_close(sh);
}

static void rubbish_from_the_past_does_no_harm(void)
{
	const char *dir = fresh_state("rubbish");
	int fd = open(unit_path("rubbish/shared"), O_RDWR | O_CREAT, 0600);
	CU_ASSERT_EQUAL(write(fd, "rubbish", 7), 7);
	close(fd);
	shared_close(open_in(dir));
}

static void a_missing_directory_is_named(void)
{
	struct error err = {0};
	CU_ASSERT_PTR_NULL(shared_open(unit_path("nowhere"), &err));
	CU_ASSERT_EQUAL(err.kind, ERR_STORAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "nowhere/shared.lock: No such file"));
	error_release(&err);
	shared_close(NULL);
}

enum { COUNTERS = 4, ROUNDS = 2000 };

static void count_up(struct shared *sh)
{
	struct shared_head *head = shared_region(sh, SHARED_WRITER);
	uint32_t *counter = (uint32_t *)(head + 1);
	for (int i = 0; i < ROUNDS; i++) {
		shared_lock(&head->mutex[0]);
		++*counter;
		shared_unlock(&head->mutex[0]);
	}
}

static void the_mutex_excludes_other_processes(void)
{
	const char *dir = fresh_state("mutex");
	struct shared *sh = open_in(dir);
	struct child child[COUNTERS];
	for (int i = 0; i < COUNTERS; i++)
		child[i] = spawn(dir, count_up);
	count_up(sh);
	struct shared_head *head = shared_region(sh, SHARED_WRITER);
	CU_ASSERT_EQUAL(*(uint32_t *)(head + 1), (COUNTERS + 1) * ROUNDS);
	for (int i = 0; i < COUNTERS; i++)
		kill_child(&child[i]);
	shared_close(sh);
}

/* Children that open the state all at once, so that start-ups meet. */
static void processes_may_start_at_the_same_time(void)
{
	enum { COUNT = 12 };
	const char *dir = fresh_state("together");
	pid_t child[COUNT];
	for (int i = 0; i < COUNT; i++) {
		child[i] = fork();
		if (child[i] == 0) {
			struct error err = {0};
			struct shared *sh = shared_open(dir, &err);
			if (sh)
				count_up(sh);
			_exit(sh ? 0 : 1);
		}
	}
	int failed = 0;
	for (int i = 0; i < COUNT; i++) {
		int status;
		waitpid(child[i], &status, 0);
		failed += status != 0;
	}
	CU_ASSERT_EQUAL(failed, 0);
}

static void the_snowflake_word_is_one_word(void)
{
	const char *dir = fresh_state("word");
	struct shared *one = open_in(dir), *two = open_in(dir);
	*snowflake_word(one) = 42;
	CU_ASSERT_EQUAL(*snowflake_word(two), 42);
	shared_close(one);
	shared_close(two);
}

/* Of FNV-1a: processes of two builds can share an instance, and store.db outlives them all. */
static void stored_hashes_keep_their_values(void)
{
	CU_ASSERT_EQUAL(hash_text_32(""), 0x811c9dc5);
	CU_ASSERT_EQUAL(hash_text_32("foobar"), 0xbf9cf968);
	CU_ASSERT_EQUAL(hash_text_32("\xc3\xa9"), 0x1e9de8c1);
	CU_ASSERT_EQUAL(hash_text(HASH_START, "foobar"), UINT64_C(0x85944171f73967e8));
	CU_ASSERT_EQUAL(
	    hash_text(hash_text(HASH_START, "foo"), "bar"), UINT64_C(0x85944171f73967e8));
}

static const struct unit_test tests[] = {
    {"files belong to their user alone", files_belong_to_their_user_alone},
    {"regions are aligned, apart, and zero", regions_are_aligned_apart_and_zero},
    {"all processes see the same", all_processes_see_the_same},
    {"contents stay while somebody has them open", contents_stay_while_somebody_has_them_open},
    {"contents go when nobody has them open", contents_go_when_nobody_has_them_open},
    {"who clears it does not keep it mapped", who_clears_it_does_not_keep_it_mapped},
    {"a dead holder of a mutex is told once", a_dead_holder_is_told_once},
    {"a death during the repair is told again", a_death_during_the_repair_is_told_again},
    {"the living are told from the dead", the_living_are_told_from_the_dead},
    {"a slot ends with its close", a_slot_ends_with_its_close},
    {"slots are not reused at once", slots_are_not_reused_at_once},
    {"another layout in use is refused", another_layout_in_use_is_refused},
    {"another size in use is refused", another_size_in_use_is_refused},
    {"rubbish from the past does no harm", rubbish_from_the_past_does_no_harm},
    {"a missing directory is named", a_missing_directory_is_named},
    {"the mutex excludes other processes", the_mutex_excludes_other_processes},
    {"the snowflake word is one word", the_snowflake_word_is_one_word},
    {"stored hashes keep their values", stored_hashes_keep_their_values},
    {"processes may start at the same time", processes_may_start_at_the_same_time},
};

int main(void)
{
	return unit_main("shared", tests, UNIT_COUNT(tests));
}
