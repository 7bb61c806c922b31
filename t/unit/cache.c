/* SPDX-License-Identifier: ISC */
/* The shared cache: where it is, what it keeps, and what it costs when it is not there. */
#include "access/cache.h"

#include "base/memory.h"
#include "base/os/clock.h"
#include "redis_fixture.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- URLs ---- */

/* "host port user password database", - for what is absent; or what is wrong. */
static const char *parsed(const char *text)
{
	static char out[256];
	struct cache_url url;
	const char *wrong = cache_url_parse(&url, text);
	if (wrong)
		return wrong;
	snprintf(out, sizeof(out), "%s %d %s %s %d", url.host ? url.host : url.path, url.port,
	    url.user ? url.user : "-", url.password ? url.password : "-", url.database);
	cache_url_release(&url);
	return out;
}

static void a_url_says_where_the_server_is(void)
{
	CU_ASSERT_STRING_EQUAL(parsed("redis://cache"), "cache 6379 - - 0");
	CU_ASSERT_STRING_EQUAL(parsed("redis://cache:7000/3"), "cache 7000 - - 3");
	CU_ASSERT_STRING_EQUAL(parsed("redis://cache/"), "cache 6379 - - 0");
	CU_ASSERT_STRING_EQUAL(parsed("redis://:s%40cret@10.0.0.1"), "10.0.0.1 6379 - s@cret 0");
	CU_ASSERT_STRING_EQUAL(parsed("redis://me:a:b@h:1/2"), "h 1 me a:b 2");
	CU_ASSERT_STRING_EQUAL(parsed("redis://[::1]:7000"), "::1 7000 - - 0");
	CU_ASSERT_STRING_EQUAL(parsed("REDIS://h"), "h 6379 - - 0");
	CU_ASSERT_STRING_EQUAL(parsed("redis://"), "localhost 6379 - - 0");
	CU_ASSERT_STRING_EQUAL(parsed("unix:///run/redis.sock"), "/run/redis.sock 0 - - 0");
}

static void other_urls_are_refused_without_their_text(void)
{
	static const char *const wrong[] = {"", "redis", "http://h", "memcached://h", "redis:/h",
	    "redis://h:0", "redis://h:65536", "redis://h:x", "redis://h:", "redis://h/x",
	    "redis://h/-1", "redis://[::1", "redis://[::1]x", "redis://h?x", "unix://run",
	    "unix://", "redis://:secret@h:x"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const char *said = parsed(wrong[i]);
		CU_ASSERT(!strncmp(said, "expected redis://", 17));
		CU_ASSERT_PTR_NULL(strstr(said, "secret"));
	}
}

static void tls_is_refused_with_a_sentence(void)
{
	struct problems problems = {0};
	CU_ASSERT_PTR_NULL(cache_new("rediss://:secret@h", "cache", &problems));
	CU_ASSERT_EQUAL_FATAL(problems.errors, 1);
	CU_ASSERT(!strncmp(problems.items[0].text, "cache: rediss:// is not supported", 33));
	CU_ASSERT_PTR_NULL(strstr(problems.items[0].text, "secret"));
	problems_release(&problems);
}

/* ---- a real server ---- */

static const char *socket_path(void)
{
	return unit_path("redis.sock");
}

static struct cache *open_cache(void)
{
	struct problems problems = {0};
	char *url = xasprintf("unix://%s", socket_path());
	struct cache *cache = cache_new(url, "cache", &problems);
	free(url);
	CU_ASSERT_PTR_NOT_NULL_FATAL(cache);
	return cache;
}

static pid_t start(void)
{
	pid_t pid = redis_start(socket_path());
	if (pid < 0)
		printf("# redis-server is not installed\n");
	return pid;
}

static bool has(struct cache *cache, const char *key, const char *expected)
{
	char *value;
	bool known = cache_get(cache, key, &value);
	bool same = known && (value && expected ? !strcmp(value, expected) : value == expected);
	free(value);
	return same;
}

static void a_server_keeps_values(void)
{
	pid_t pid = start();
	if (pid < 0)
		return;
	struct cache *cache = open_cache();
	const char *why;
	CU_ASSERT(cache_ping(cache, &why));
	CU_ASSERT(has(cache, "k", NULL));
	CU_ASSERT(cache_set(cache, "k", "v 1\r\n"));
	CU_ASSERT(has(cache, "k", "v 1\r\n"));
	CU_ASSERT(cache_set(cache, "k", ""));
	CU_ASSERT(has(cache, "k", ""));
	CU_ASSERT(cache_delete(cache, "k"));
	CU_ASSERT(cache_delete(cache, "k"));
	CU_ASSERT(has(cache, "k", NULL));
	cache_free(cache);
	redis_stop(pid);
}

static void a_server_that_was_restarted_is_used_again(void)
{
	pid_t pid = start();
	if (pid < 0)
		return;
	struct cache *cache = open_cache();
	CU_ASSERT(cache_set(cache, "k", "v"));
	redis_stop(pid);
	pid = start();
	CU_ASSERT(has(cache, "k", NULL)); /* over a new connection, at once */
	redis_stop(pid);
	/* not tried so soon; where the server took too long to start that says nothing */
	for (int tries = 0; tries < 20; tries++) {
		CU_ASSERT_FALSE(cache_set(cache, "k", "v"));
		int64_t failed = clock_monotonic_ms();
		pid = start();
		bool kept = cache_set(cache, "k", "v");
		if (clock_monotonic_ms() - failed < CACHE_RETRY_MS) {
			CU_ASSERT_FALSE(kept);
			break;
		}
		redis_stop(pid);
		clock_sleep_ms(CACHE_RETRY_MS);
	}
	clock_sleep_ms(CACHE_RETRY_MS + 50);
	CU_ASSERT(cache_set(cache, "k", "v"));
	cache_free(cache);
	redis_stop(pid);
}

/* ---- servers that are none ---- */

static int64_t time_of_failure(struct cache *cache)
{
	char *value;
	int64_t began = clock_monotonic_ms();
	CU_ASSERT_FALSE(cache_get(cache, "k", &value));
	CU_ASSERT_PTR_NULL(value);
	return clock_monotonic_ms() - began;
}

/* Of some: a busy machine is late now and then, but not always. */
static int64_t shortest_failure(struct cache *cache)
{
	int64_t shortest = INT64_MAX, took;
	for (int i = 0; i < 5; i++) {
		took = time_of_failure(cache);
		if (took < shortest)
			shortest = took;
	}
	return shortest;
}

static void check_misbehaving(enum fake_manner manner)
{
	pid_t pid = fake_start(socket_path(), manner);
	struct cache *cache = open_cache();
	const char *why = "";
	CU_ASSERT(time_of_failure(cache) < CACHE_PATIENCE_MS + 30000);
	/* From then on it costs nothing for a while. */
	CU_ASSERT(shortest_failure(cache) < 100);
	CU_ASSERT_FALSE(cache_ping(cache, &why));
	CU_ASSERT(*why);
	cache_free(cache);
	redis_stop(pid);
}

static void no_server_costs_little(void)
{
	unlink(socket_path());
	struct cache *cache = open_cache();
	CU_ASSERT(shortest_failure(cache) < 100);
	cache_free(cache);
}

static void a_silent_server_is_given_up(void)
{
	check_misbehaving(FAKE_SILENT);
}

static void a_dripping_server_is_given_up(void)
{
	check_misbehaving(FAKE_DRIPS);
}

static void garbage_is_no_answer(void)
{
	check_misbehaving(FAKE_GARBAGE);
}

static void millions_of_values_are_not_waited_for(void)
{
	pid_t pid = fake_start(socket_path(), FAKE_MILLIONS);
	int64_t shortest = INT64_MAX;
	for (int i = 0; i < 10 && shortest >= CACHE_PATIENCE_MS / 2; i++) {
		struct cache *cache = open_cache();
		int64_t took = time_of_failure(cache);
		shortest = took < shortest ? took : shortest;
		cache_free(cache);
	}
	CU_ASSERT(shortest < CACHE_PATIENCE_MS / 2);
	redis_stop(pid);
}

static void a_server_that_hangs_up_is_given_up(void)
{
	check_misbehaving(FAKE_CLOSES);
}

static void a_reply_that_comes_twice_is_not_that_to_the_next_command(void)
{
	pid_t pid = fake_start(socket_path(), FAKE_TWICE);
	struct cache *cache = open_cache();
	CU_ASSERT(has(cache, "a", "a"));
	CU_ASSERT(has(cache, "b", "b"));
	CU_ASSERT(has(cache, "c", "c"));
	cache_free(cache);
	redis_stop(pid);
}

/* How many lines the log got of commands of which one half fails. */
static int lines_of_failures(struct cache *cache)
{
	FILE *log = tmpfile();
	int saved = dup(STDERR_FILENO), lines = 0;
	dup2(fileno(log), STDERR_FILENO);
	for (int i = 0; i < 10; i++) {
		CU_ASSERT_FALSE(cache_set(cache, "k", "v"));
		CU_ASSERT(has(cache, "k", "k"));
	}
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(log);
	for (int c; (c = getc(log)) != EOF;)
		lines += c == '\n';
	fclose(log);
	return lines;
}

static void a_server_that_is_full_is_told_of_once(void)
{
	pid_t pid = fake_start(socket_path(), FAKE_FULL);
	struct cache *cache = open_cache();
	CU_ASSERT_EQUAL(lines_of_failures(cache), 1);
	cache_free(cache);
	redis_stop(pid);
}

static const struct unit_test tests[] = {
    {"a URL says where the server is", a_url_says_where_the_server_is},
    {"other URLs are refused without their text", other_urls_are_refused_without_their_text},
    {"TLS is refused with a sentence", tls_is_refused_with_a_sentence},
    {"a server keeps values", a_server_keeps_values},
    {"a server that was restarted is used again", a_server_that_was_restarted_is_used_again},
    {"no server costs little", no_server_costs_little},
    {"a silent server is given up", a_silent_server_is_given_up},
    {"a dripping server is given up", a_dripping_server_is_given_up},
    {"garbage is no answer", garbage_is_no_answer},
    {"millions of values are not waited for", millions_of_values_are_not_waited_for},
    {"a server that hangs up is given up", a_server_that_hangs_up_is_given_up},
    {"a reply that comes twice is not that to the next command",
	a_reply_that_comes_twice_is_not_that_to_the_next_command},
    {"a server that is full is told of once", a_server_that_is_full_is_told_of_once},
};

int main(void)
{
	memory_init();
	signal(SIGPIPE, SIG_IGN);
	return unit_main("cache", tests, UNIT_COUNT(tests));
}
