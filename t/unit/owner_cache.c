/* SPDX-License-Identifier: ISC */
/* Whose thread it is: remembered, forgotten in time, and never wrong. */
#include "access/owner_cache.h"

#include "access/access.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "redis_fixture.h"
#include "storage_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* A process: its own engine over the same databases, and its own cache. */
struct worker {
	struct storage *storage;
	struct thread_ops ops; /* the engine's, with a lookup that is watched */
	const struct thread_ops *real;
	struct owner_cache *owners;
};

static int lookups;
static bool unanswered;          /* lookups fail */
static void (*in_between)(void); /* called behind a lookup */

static bool watched_owner(struct storage *st, const struct storage_context *ctx, struct arena *a,
    const char *thread_id, const char **owner, struct error *err);

static void worker_open(struct worker *w, const char *name, struct cache *cache)
{
	w->storage = open_storage(name);
	w->real = w->storage->threads;
	w->ops = *w->real;
	w->ops.owner = watched_owner;
	w->storage->threads = &w->ops;
	w->owners = owner_cache_new(w->storage, opened[opened_at(w->storage)].shared, cache);
}

static void worker_close(struct worker *w)
{
	owner_cache_free(w->owners);
	w->storage->threads = w->real;
	close_storage(w->storage);
}

static struct worker one, two;

static bool watched_owner(struct storage *st, const struct storage_context *ctx, struct arena *a,
    const char *thread_id, const char **owner, struct error *err)
{
	const struct worker *w = st == one.storage ? &one : &two;
	lookups++;
	if (unanswered)
		return error_set(err, ERR_TRANSIENT_STORAGE, NULL);
	bool found = w->real->owner(st, ctx, a, thread_id, owner, err);
	if (in_between)
		in_between();
	return found;
}

/* The owner as a worker sees it, "nobody" without one. */
static const char *owner_of(struct worker *w, const char *thread_id)
{
	static char text[64];
	struct arena *a = arena_new();
	struct error err = {0};
	const char *owner;
	CU_ASSERT(owner_cache_get(w->owners, thread_id, a, &owner, &err));
	snprintf(text, sizeof(text), "%s", owner ? owner : "nobody");
	arena_free(a);
	return text;
}

static void make(struct worker *w, const char *thread_id, const char *user_id)
{
	struct thread t = sample_thread(thread_id);
	t.user_id = user_id;
	must_put(w->storage, &t, NULL);
}

static void unmake(struct worker *w, const char *thread_id)
{
	struct error err = {0};
	int64_t row = 0;
	CU_ASSERT_FATAL(thread_exists(w->storage, thread_id, &row));
	owner_cache_evict(w->owners, thread_id);
	struct thread t = {.thread_id = thread_id, .row = row};
	CU_ASSERT(remove_one(w->storage, &t, &err));
	owner_cache_evict(w->owners, thread_id);
}

static void open_two(const char *name, struct cache *first, struct cache *second)
{
	worker_open(&one, name, first);
	worker_open(&two, name, second);
	lookups = 0;
	in_between = NULL;
}

static void close_two(void)
{
	worker_close(&one);
	worker_close(&two);
}

static void an_owner_is_looked_up_once(void)
{
	open_two("once", NULL, NULL);
	make(&one, "t", "alice");
	for (int i = 0; i < 5; i++)
		CU_ASSERT_STRING_EQUAL(owner_of(&one, "t"), "alice");
	CU_ASSERT_EQUAL(lookups, 1);
	CU_ASSERT_STRING_EQUAL(owner_of(&two, "t"), "alice");
	CU_ASSERT_EQUAL(lookups, 2);
	close_two();
}

static void an_owner_who_cannot_be_looked_up_is_nobody(void)
{
	open_two("unanswered", NULL, NULL);
	char secret[] = "a secret of at least thirty-two bytes";
	const struct config config = {
	    .auth = AUTH_JWT, .env = {.jwt_secret = secret, .jwt_algorithm = (char[]){"HS256"}}};
	const struct permission read = {"graph", "read", "t"};
	struct problems problems = {0};
	struct error err = {0};
	struct arena *a = arena_new();
	struct identity alice = {
	    .user = arena_json(a, cJSON_CreateObject()), .user_id = "alice", .verified = true};
	struct access *access =
	    access_open(&config, one.storage, opened[opened_at(one.storage)].shared, &problems);
	CU_ASSERT_PTR_NOT_NULL_FATAL(access);
	make(&one, "t", "alice");
	unanswered = true;
	CU_ASSERT_FALSE(access_permit(access, &alice, &read, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_PERMISSION);
	error_release(&err);
	unanswered = false;
	CU_ASSERT_TRUE(access_permit(access, &alice, &read, &err));
	access_close(access);
	arena_free(a);
	close_two();
}

static void that_there_is_none_is_never_kept(void)
{
	open_two("none", NULL, NULL);
	CU_ASSERT_STRING_EQUAL(owner_of(&one, "t"), "nobody");
	CU_ASSERT_STRING_EQUAL(owner_of(&one, "t"), "nobody");
	CU_ASSERT_EQUAL(lookups, 2);
	make(&two, "t", "bob");
	CU_ASSERT_STRING_EQUAL(owner_of(&one, "t"), "bob");
	close_two();
}

static void a_deleted_thread_is_forgotten_by_all(void)
{
	open_two("deleted", NULL, NULL);
	make(&one, "t", "alice");
	CU_ASSERT_STRING_EQUAL(owner_of(&one, "t"), "alice");
	CU_ASSERT_STRING_EQUAL(owner_of(&two, "t"), "alice");
	unmake(&two, "t");
	CU_ASSERT_STRING_EQUAL(owner_of(&one, "t"), "nobody");
	CU_ASSERT_STRING_EQUAL(owner_of(&two, "t"), "nobody");
	make(&two, "t", "bob");
	CU_ASSERT_STRING_EQUAL(owner_of(&one, "t"), "bob");
	CU_ASSERT_STRING_EQUAL(owner_of(&two, "t"), "bob");
	close_two();
}

static void what_another_instance_deleted_is_found_out(void)
{
	struct arena *a = arena_new();
	struct error err = {0};
	const char *owner;
	open_two("instances", NULL, NULL);
	make(&one, "t", "alice");
	CU_ASSERT_STRING_EQUAL(owner_of(&one, "t"), "alice");
	CU_ASSERT(owner_cache_ask(one.owners, "t", "alice", a, &owner, &err));
	CU_ASSERT_STRING_EQUAL(owner, "alice");
	int64_t row = 0;
	CU_ASSERT_FATAL(thread_exists(one.storage, "t", &row));
	struct thread t = {.thread_id = "t", .row = row};
	CU_ASSERT(remove_one(one.storage, &t, &err)); /* without a word to this instance */
	make(&two, "t", "bob");
	CU_ASSERT_STRING_EQUAL(owner_of(&one, "t"), "alice");
	CU_ASSERT(owner_cache_ask(one.owners, "t", "alice", a, &owner, &err));
	CU_ASSERT_STRING_EQUAL(owner, "bob");
	CU_ASSERT_STRING_EQUAL(owner_of(&one, "t"), "bob");
	close_two();
	arena_free(a);
}

static void replace_owner(void)
{
	in_between = NULL;
	unmake(&two, "t");
	make(&two, "t", "bob");
}

static void a_deletion_during_the_lookup_is_noticed(void)
{
	open_two("race", NULL, NULL);
	make(&one, "t", "alice");
	in_between = replace_owner;
	CU_ASSERT_STRING_EQUAL(owner_of(&one, "t"), "alice"); /* as it was when it was asked */
	CU_ASSERT_STRING_EQUAL(owner_of(&one, "t"), "bob");
	close_two();
}

static void evict_alone(void)
{
	in_between = NULL;
	owner_cache_evict(two.owners, "t");
}

static void a_process_that_died_while_deleting_leaves_nothing(void)
{
	struct error err = {0};
	int64_t row = 0;
	open_two("died", NULL, NULL);
	make(&one, "t", "alice");
	CU_ASSERT_STRING_EQUAL(owner_of(&one, "t"), "alice");
	evict_alone();
	CU_ASSERT(thread_exists(two.storage, "t", &row));
	const struct thread t = {.thread_id = "t", .row = row};
	CU_ASSERT(remove_one(two.storage, &t, &err));
	CU_ASSERT_STRING_EQUAL(owner_of(&one, "t"), "nobody");
	close_two();
}

/* A storage where every thread exists. */
static bool made_up_owner(struct storage *st, const struct storage_context *ctx, struct arena *a,
    const char *thread_id, const char **owner, struct error *err)
{
	(void)st, (void)ctx, (void)err;
	lookups++;
	*owner = arena_printf(a, "owner of %s", thread_id);
	return true;
}

static void ask_for(int number)
{
	char id[16], expected[32];
	snprintf(id, sizeof(id), "%d", number);
	snprintf(expected, sizeof(expected), "owner of %d", number);
	CU_ASSERT_STRING_EQUAL(owner_of(&one, id), expected);
}

static void the_one_not_asked_for_longest_goes_first(void)
{
	open_two("lru", NULL, NULL);
	one.ops.owner = made_up_owner;
	for (int i = 0; i < OWNER_CACHE_SIZE; i++)
		ask_for(i);
	ask_for(0);
	CU_ASSERT_EQUAL(lookups, OWNER_CACHE_SIZE);
	for (int i = 0; i < 100; i++)
		ask_for(OWNER_CACHE_SIZE + i);
	CU_ASSERT_EQUAL(owner_cache_count(one.owners), OWNER_CACHE_SIZE);
	lookups = 0;
	ask_for(0);
	ask_for(101);
	ask_for(OWNER_CACHE_SIZE - 1);
	CU_ASSERT_EQUAL(lookups, 0);
	ask_for(1);
	CU_ASSERT_EQUAL(lookups, 1);
	close_two();
}

static void a_huge_id_is_not_kept(void)
{
	open_two("huge", NULL, NULL);
	one.ops.owner = made_up_owner;
	char *id = xcalloc(1, 2001);
	memset(id, 'x', 2000);
	owner_of(&one, id);
	CU_ASSERT_EQUAL(owner_cache_count(one.owners), 0);
	free(id);
	close_two();
}

/* ---- with a shared cache ---- */

static struct cache *caches[2];

static pid_t open_shared(const char *name)
{
	struct problems problems = {0};
	const char *path = unit_path("redis.sock");
	char *url = xasprintf("unix://%s", path);
	pid_t pid = redis_start(path);
	for (int i = 0; i < 2; i++)
		caches[i] = cache_new(url, "cache", &problems);
	free(url);
	if (pid < 0)
		printf("# redis-server is not installed\n");
	open_two(name, caches[0], caches[1]);
	return pid;
}

static void close_shared(pid_t pid)
{
	close_two();
	cache_free(caches[0]);
	cache_free(caches[1]);
	redis_stop(pid);
}

static bool cached(const char *thread_id, const char *expected)
{
	char *key = xasprintf(OWNER_KEY_PREFIX "%s", thread_id), *value;
	bool known = cache_get(caches[0], key, &value);
	bool same = known && (value && expected ? !strcmp(value, expected) : value == expected);
	free(key);
	free(value);
	return same;
}

static void the_others_learn_from_the_shared_cache(void)
{
	pid_t pid = open_shared("learn");
	make(&one, "t", "alice");
	CU_ASSERT_STRING_EQUAL(owner_of(&one, "t"), "alice");
	CU_ASSERT_STRING_EQUAL(owner_of(&two, "t"), "alice");
	if (pid > 0) {
		CU_ASSERT_EQUAL(lookups, 1);
		CU_ASSERT(cached("t", "alice"));
		CU_ASSERT_STRING_EQUAL(owner_of(&two, "gone"), "nobody");
		CU_ASSERT(cached("gone", NULL));
	}
	close_shared(pid);
}

static void a_deletion_empties_the_shared_cache_too(void)
{
	pid_t pid = open_shared("empties");
	make(&one, "t", "alice");
	owner_of(&one, "t");
	owner_of(&two, "t");
	unmake(&one, "t");
	CU_ASSERT(pid < 0 || cached("t", NULL));
	make(&two, "t", "bob");
	CU_ASSERT_STRING_EQUAL(owner_of(&one, "t"), "bob");
	CU_ASSERT_STRING_EQUAL(owner_of(&two, "t"), "bob");
	CU_ASSERT(pid < 0 || cached("t", "bob"));
	close_shared(pid);
}

static void a_lookup_overtaken_by_a_deletion_leaves_nothing_there(void)
{
	pid_t pid = open_shared("overtaken");
	make(&one, "t", "alice");
	in_between = evict_alone;
	CU_ASSERT_STRING_EQUAL(owner_of(&one, "t"), "alice");
	CU_ASSERT(pid < 0 || cached("t", NULL));
	close_shared(pid);
}

static void what_a_dead_server_could_not_be_told_is_not_believed(void)
{
	pid_t pid = open_shared("dead");
	make(&one, "t", "alice");
	owner_of(&one, "t");
	redis_stop(pid);
	unmake(&one, "t");
	make(&one, "t", "bob");
	/* It is back, and says what it said before. */
	pid = pid < 0 ? -1 : redis_start(unit_path("redis.sock"));
	cache_set(caches[1], OWNER_KEY_PREFIX "t", "alice");
	CU_ASSERT_STRING_EQUAL(owner_of(&two, "t"), "bob");
	close_shared(pid);
}

static const struct unit_test tests[] = {
    {"an owner is looked up once", an_owner_is_looked_up_once},
    {"an owner who cannot be looked up is nobody", an_owner_who_cannot_be_looked_up_is_nobody},
    {"that there is no thread is never kept", that_there_is_none_is_never_kept},
    {"a deleted thread is forgotten by all processes", a_deleted_thread_is_forgotten_by_all},
    {"what another instance deleted is found out", what_another_instance_deleted_is_found_out},
    {"a deletion during the lookup is noticed", a_deletion_during_the_lookup_is_noticed},
    {"a process that died while deleting leaves nothing wrong",
	a_process_that_died_while_deleting_leaves_nothing},
    {"the one not asked for longest goes first", the_one_not_asked_for_longest_goes_first},
    {"a huge id is not kept", a_huge_id_is_not_kept},
    {"the others learn from the shared cache", the_others_learn_from_the_shared_cache},
    {"a deletion empties the shared cache, too", a_deletion_empties_the_shared_cache_too},
    {"a lookup overtaken by a deletion leaves nothing there",
	a_lookup_overtaken_by_a_deletion_leaves_nothing_there},
    {"what a dead server could not be told is not believed",
	what_a_dead_server_could_not_be_told_is_not_believed},
};

int main(void)
{
	memory_init();
	signal(SIGPIPE, SIG_IGN);
	return unit_main("owner_cache", tests, UNIT_COUNT(tests));
}
