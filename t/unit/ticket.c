/* SPDX-License-Identifier: ISC */
/* Tickets from a worker to the relay: what they carry, and which pass. */
#include "access/ticket/run_ticket.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "unit.h"

#include <errno.h>
#include <jwt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ROUTE "/v1/graph/ws"

static struct ticket_key key = {"0123456789abcdef0123456789abcde"};
static struct arena *arena;
static struct error err;
static struct ticket got;

static const char *sign(void)
{
	static const char context[] = "{\"user_id\":\"ann\",\"big\":7239874398723498723123}";
	cJSON *user = arena_json(arena, json_parse(context, strlen(context), 10, NULL));
	const struct ticket ticket = {.route = ROUTE,
	    .request_id = "r-1",
	    .user_id = "ann",
	    .verified = true,
	    .owner = "ann",
	    .subprotocol = "service-bearer",
	    .address = "192.0.2.1",
	    .credential_exp = 4102444800,
	    .user = user};
	return ticket_sign(&key, &ticket, arena);
}

/* A ticket as anybody could make it, from claims and an algorithm of their choice. */
static const char *forge(const char *claims, jwt_alg_t alg, const void *with, int size)
{
	jwt_t *jwt;
	CU_ASSERT_EQUAL_FATAL(jwt_new(&jwt), 0);
	CU_ASSERT_EQUAL_FATAL(jwt_add_grants_json(jwt, claims), 0);
	CU_ASSERT_EQUAL_FATAL(jwt_set_alg(jwt, alg, with, size), 0);
	char *text = jwt_encode_str(jwt);
	const char *copy = arena_strdup(arena, text);
	free(text);
	jwt_free(jwt);
	return copy;
}

/* Claims that are in order, with one text replaced. */
static const char *claims(const char *from, const char *to)
{
	char *text = arena_printf(arena,
	    "{\"iss\":\"agentgraph\",\"exp\":%ld,\"route\":\"" ROUTE
	    "\",\"request_id\":\"r\",\"user_id\":\"u\",\"verified\":true,\"credential_exp\":0,"
	    "\"user\":\"{}\"}",
	    (long)time(NULL) + 20);
	char *at = from ? strstr(text, from) : NULL;
	if (!at)
		return text;
	return arena_printf(arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static bool verify(const char *text)
{
	bool good = ticket_verify(&key, text, ROUTE, arena, &got, &err);
	if (!good) {
		bool late = strcmp(err.cause, "ticket: expired") == 0;
		CU_ASSERT_EQUAL(err.kind, late ? ERR_SERVICE_UNAVAILABLE : ERR_INVALID_TOKEN);
		CU_ASSERT(err.cause[0] != '\0');
	}
	error_release(&err);
	return good;
}

static bool verify_claims(const char *from, const char *to)
{
	return verify(forge(claims(from, to), JWT_ALG_HS256, key.bytes, sizeof(key.bytes)));
}

static void everything_in_a_ticket_comes_back(void)
{
	CU_ASSERT_FATAL(verify(sign()));
	CU_ASSERT_STRING_EQUAL(got.route, ROUTE);
	CU_ASSERT_STRING_EQUAL(got.request_id, "r-1");
	CU_ASSERT_STRING_EQUAL(got.user_id, "ann");
	CU_ASSERT_STRING_EQUAL(got.owner, "ann");
	CU_ASSERT_STRING_EQUAL(got.subprotocol, "service-bearer");
	CU_ASSERT_STRING_EQUAL(got.address, "192.0.2.1");
	CU_ASSERT(got.verified);
	CU_ASSERT_EQUAL(got.credential_exp, 4102444800);
	char *user = json_print(got.user);
	CU_ASSERT_STRING_EQUAL(user, "{\"user_id\":\"ann\",\"big\":7239874398723498723123}");
	free(user);
}

static void what_is_absent_stays_absent(void)
{
	const struct ticket ticket = {.route = "/v1/graph/live", .request_id = "r", .user_id = "x"};
	const char *text = ticket_sign(&key, &ticket, arena);
	CU_ASSERT_FATAL(ticket_verify(&key, text, NULL, arena, &got, &err));
	CU_ASSERT(!got.verified && !got.owner && !got.subprotocol && !got.address);
	CU_ASSERT(got.credential_exp == 0 && cJSON_IsObject(got.user));
}

static void claims_in_order_pass(void)
{
	CU_ASSERT(verify_claims(NULL, NULL));
}

static void another_route_is_refused(void)
{
	CU_ASSERT_FALSE(ticket_verify(&key, sign(), "/v1/graph/live", arena, &got, &err));
	error_release(&err);
	CU_ASSERT_FALSE(verify_claims(ROUTE, "/v1/graph"));
	const char *text =
	    forge(claims(ROUTE, "/ping"), JWT_ALG_HS256, key.bytes, sizeof(key.bytes));
	CU_ASSERT_FALSE(ticket_verify(&key, text, NULL, arena, &got, &err));
	error_release(&err);
}

static void an_end_that_is_past_absent_or_text_is_refused(void)
{
	const char *exp = strstr(claims(NULL, NULL), "\"exp\":");
	const char *whole = arena_strndup(arena, exp, strcspn(exp, ",") + 1);
	CU_ASSERT_FALSE(
	    verify_claims(whole, arena_printf(arena, "\"exp\":%ld,", (long)time(NULL))));
	CU_ASSERT_FALSE(verify_claims(whole, "\"exp\":1,"));
	CU_ASSERT_FALSE(verify_claims(whole, ""));
	CU_ASSERT_FALSE(verify_claims(whole, "\"exp\":\"4102444800\","));
	CU_ASSERT_FALSE(verify_claims(whole, "\"exp\":null,"));
	CU_ASSERT_FALSE(verify_claims(whole, "\"exp\":4102444800.5,"));
}

/* A worker has the time of its database, and the relay none. */
static void a_ticket_has_the_time_of_the_machine(void)
{
	static const int64_t hour = 3600 * (int64_t)1000000;
	for (int64_t off = -hour; off <= hour; off += 2 * hour) {
		clock_agree(clock_of_machine() - clock_uptime_us() + off);
		const char *text = sign();
		clock_agree(0);
		CU_ASSERT(verify(text));
	}
	clock_agree(clock_of_machine() - clock_uptime_us() + hour);
	CU_ASSERT(verify_claims(NULL, NULL));
	clock_agree(0);
}

static void other_algorithms_are_refused(void)
{
	CU_ASSERT_FALSE(verify(forge(claims(NULL, NULL), JWT_ALG_NONE, NULL, 0)));
	CU_ASSERT_FALSE(
	    verify(forge(claims(NULL, NULL), JWT_ALG_HS512, key.bytes, sizeof(key.bytes))));
	CU_ASSERT_FALSE(
	    verify(forge(claims(NULL, NULL), JWT_ALG_HS384, key.bytes, sizeof(key.bytes))));
}

/* The header {"alg":"none"} in front of claims that were signed. */
static void a_changed_header_is_refused(void)
{
	const char *text = sign();
	CU_ASSERT_FALSE(verify(arena_printf(arena, "eyJhbGciOiJub25lIn0%s", strchr(text, '.'))));
	char *unsigned_text = arena_printf(arena, "eyJhbGciOiJub25lIn0%s", strchr(text, '.'));
	strrchr(unsigned_text, '.')[1] = '\0';
	CU_ASSERT_FALSE(verify(unsigned_text));
}

static void other_keys_are_refused(void)
{
	struct ticket_key other = key;
	other.bytes[31] ^= 1;
	CU_ASSERT_FALSE(
	    verify(forge(claims(NULL, NULL), JWT_ALG_HS256, other.bytes, sizeof(other.bytes))));
	CU_ASSERT_FALSE(verify(forge(claims(NULL, NULL), JWT_ALG_HS256, key.bytes, 16)));
}

static void every_changed_character_is_noticed(void)
{
	const char *text = sign();
	size_t len = strlen(text);
	for (size_t i = 0; i + 1 < len; i++) {
		char *changed = arena_strdup(arena, text);
		changed[i] = changed[i] == 'A' ? 'B' : 'A';
		CU_ASSERT_FALSE(verify(changed));
	}
}

static void claims_that_are_missing_or_wrong_are_refused(void)
{
	CU_ASSERT_FALSE(verify_claims("\"iss\":\"agentgraph\",", ""));
	CU_ASSERT_FALSE(verify_claims("\"agentgraph\"", "\"somebody\""));
	CU_ASSERT_FALSE(verify_claims("\"request_id\":\"r\",", ""));
	CU_ASSERT_FALSE(verify_claims("\"user_id\":\"u\"", "\"user_id\":1"));
	CU_ASSERT_FALSE(verify_claims("\"verified\":true", "\"verified\":1"));
	CU_ASSERT_FALSE(verify_claims("\"credential_exp\":0", "\"credential_exp\":\"0\""));
	CU_ASSERT_FALSE(verify_claims("\"{}\"", "\"[]\""));
	CU_ASSERT_FALSE(verify_claims("\"{}\"", "\"{\""));
	CU_ASSERT_FALSE(verify_claims("\"{}\"", "{}"));
}

static void what_is_no_ticket_is_refused(void)
{
	static const char *const wrong[] = {"", ".", "..", "...", "a.b.c", "eyJhbGciOiJIUzI1NiJ9",
	    "eyJhbGciOiJIUzI1NiJ9..", "eyJhbGciOiJIUzI1NiJ9.e30.", "\xff\xff.\xff.\xff"};
	char *longest = memset(arena_alloc(arena, 20001), 'a', 20000);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_FALSE(verify(wrong[i]));
	CU_ASSERT_FALSE(verify(NULL));
	CU_ASSERT_FALSE(verify(longest));
	CU_ASSERT_FALSE(verify(arena_printf(arena, "%s.", sign())));
	CU_ASSERT_FALSE(verify(arena_printf(arena, "%s", sign()) + 1));
}

/* ---- The key */

static const char *key_file(void)
{
	return unit_path("ticket.key");
}

static bool load(struct ticket_key *into)
{
	return ticket_key_load(into, unit_dir(), &err);
}

static void a_key_is_made_once(void)
{
	struct ticket_key first, second;
	struct stat st;
	CU_ASSERT_FATAL(load(&first));
	CU_ASSERT_FATAL(load(&second));
	CU_ASSERT(memcmp(&first, &second, sizeof(first)) == 0);
	CU_ASSERT(stat(key_file(), &st) == 0 && st.st_size == 32 && (st.st_mode & 07777) == 0600);
	unlink(key_file());
	CU_ASSERT_FATAL(load(&second));
	CU_ASSERT(memcmp(&first, &second, sizeof(first)) != 0);
}

static void check_refused(const char *part)
{
	struct ticket_key into;
	CU_ASSERT_FALSE(load(&into));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, part));
	error_release(&err);
}

static void a_key_that_is_none_is_refused(void)
{
	CU_ASSERT_EQUAL(truncate(key_file(), 0), 0);
	check_refused("expected a file of 32 random bytes");
	CU_ASSERT_EQUAL(truncate(key_file(), 33), 0);
	check_refused("expected a file of 32 random bytes");
	CU_ASSERT_EQUAL(truncate(key_file(), 32), 0);
	CU_ASSERT_EQUAL(chmod(key_file(), 0640), 0);
	check_refused("its owner's alone");
	unlink(key_file());
	CU_ASSERT_EQUAL(symlink("/dev/zero", key_file()), 0);
	check_refused("cannot read the key");
	unlink(key_file());
	CU_ASSERT_EQUAL(mkfifo(key_file(), 0600), 0);
	check_refused("expected a file of 32 random bytes");
	unlink(key_file());
}

static void a_key_lies_where_nobody_else_writes(void)
{
	struct ticket_key into;
	CU_ASSERT_EQUAL(chmod(unit_dir(), 0770), 0);
	check_refused("others may write to the state directory");
	CU_ASSERT_EQUAL(chmod(unit_dir(), 0755), 0);
	CU_ASSERT(load(&into));
	CU_ASSERT(chmod(unit_dir(), 0700) == 0 && unlink(key_file()) == 0);
}

static void a_key_needs_its_directory(void)
{
	struct ticket_key into;
	CU_ASSERT_FALSE(ticket_key_load(&into, unit_path("nowhere"), &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "nowhere/ticket.key"));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, strerror(ENOENT)));
	error_release(&err);
}

/* ---- of runs ---- */

static struct run_ticket run_got;

/* Signs and checks. */
static bool run_pass(const struct run_ticket *ticket)
{
	return run_ticket_verify(&key, run_ticket_sign(&key, ticket, arena), arena, &run_got, &err);
}

static void a_stream_s_ticket_comes_back(void)
{
	const struct run_ticket ticket = {.kind = RUN_TICKET_STREAM,
	    .request_id = "r-1",
	    .thread_id = "t \"1\"",
	    .run_id = "run",
	    .thread_row = 7,
	    .number = 8,
	    .after = 9,
	    .granularity = 2,
	    .events = true,
	    .cancels = true,
	    .langgraph = true,
	    .modes = 5,
	    .skip = 81};
	CU_ASSERT_TRUE_FATAL(run_pass(&ticket));
	CU_ASSERT(run_got.cancels && run_got.langgraph);
	CU_ASSERT(run_got.modes == 5 && run_got.skip == 81);
	CU_ASSERT_EQUAL(run_got.kind, RUN_TICKET_STREAM);
	CU_ASSERT_STRING_EQUAL(run_got.request_id, "r-1");
	CU_ASSERT_STRING_EQUAL(run_got.thread_id, "t \"1\"");
	CU_ASSERT_STRING_EQUAL(run_got.run_id, "run");
	CU_ASSERT(run_got.thread_row == 7 && run_got.number == 8 && run_got.after == 9);
	CU_ASSERT(run_got.granularity == 2 && run_got.events);
}

static void a_wait_s_ticket_says_who_waits_and_what_the_limit_said(void)
{
	const struct limit_verdict limit = {true, true, 100, 99, 60, 60};
	struct run_ticket ticket = {.kind = RUN_TICKET_WAIT,
	    .request_id = "r-1",
	    .thread_id = "t",
	    .run_id = "run",
	    .until = 1234567890123456,
	    .identity = {arena_json(arena, json_parse("{\"user_id\":\"ann\"}", 17, 10, NULL)),
		"ann", true, 0},
	    .limit = &limit};
	CU_ASSERT_TRUE_FATAL(run_pass(&ticket));
	CU_ASSERT_EQUAL(run_got.until, 1234567890123456);
	CU_ASSERT_STRING_EQUAL(run_got.identity.user_id, "ann");
	CU_ASSERT_STRING_EQUAL(json_str(run_got.identity.user, "user_id"), "ann");
	CU_ASSERT_TRUE(run_got.identity.verified);
	CU_ASSERT_PTR_NOT_NULL_FATAL(run_got.limit);
	CU_ASSERT(run_got.limit->limit == 100 && run_got.limit->remaining == 99);
	CU_ASSERT(run_got.limit->reset_after > 50 && run_got.limit->reset_after <= 60);
	ticket.kind = RUN_TICKET_WAITED;
	ticket.limit = NULL;
	ticket.identity = (struct identity){.user = ticket.identity.user};
	CU_ASSERT_TRUE_FATAL(run_pass(&ticket));
	CU_ASSERT_EQUAL(run_got.kind, RUN_TICKET_WAITED);
	CU_ASSERT(!run_got.limit && !run_got.identity.user_id && !run_got.identity.verified);
}

static void a_socket_s_ticket_follows_no_run(void)
{
	const struct run_ticket ticket = {
	    .kind = RUN_TICKET_STREAM, .request_id = "r", .thread_id = "t", .run_id = "run"};
	CU_ASSERT_FALSE(run_ticket_verify(&key, sign(), arena, &run_got, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INVALID_TOKEN);
	error_release(&err);
	CU_ASSERT_FALSE(
	    ticket_verify(&key, run_ticket_sign(&key, &ticket, arena), NULL, arena, &got, &err));
	error_release(&err);
}

static void a_run_s_ticket_is_complete_or_refused(void)
{
	static const char *const wrong[] = {
	    "\"route\":\"run/else\"", "\"route\":7", "\"route\":\"run/stream\",\"events\":1"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		unit_row("%s", wrong[i]);
		const char *text = arena_printf(arena,
		    "{\"iss\":\"agentgraph\",\"exp\":%ld,\"request_id\":\"r\",\"thread_id\":\"t\","
		    "\"run_id\":\"r\",\"thread\":1,\"number\":1,\"after\":0,\"granularity\":0,%s}",
		    (long)time(NULL) + 20, wrong[i]);
		CU_ASSERT_FALSE(run_ticket_verify(&key,
		    forge(text, JWT_ALG_HS256, key.bytes, sizeof(key.bytes)), arena, &run_got,
		    &err));
		CU_ASSERT_EQUAL(err.kind, ERR_INVALID_TOKEN);
		error_release(&err);
	}
}

static const struct unit_test tests[] = {
    {"everything in a ticket comes back", everything_in_a_ticket_comes_back},
    {"what is absent stays absent", what_is_absent_stays_absent},
    {"claims in order pass", claims_in_order_pass},
    {"another route is refused", another_route_is_refused},
    {"an end that is past, absent or text is refused",
	an_end_that_is_past_absent_or_text_is_refused},
    {"a ticket has the time of the machine", a_ticket_has_the_time_of_the_machine},
    {"other algorithms are refused", other_algorithms_are_refused},
    {"a changed header is refused", a_changed_header_is_refused},
    {"other keys are refused", other_keys_are_refused},
    {"every changed character is noticed", every_changed_character_is_noticed},
    {"claims that are missing or wrong are refused", claims_that_are_missing_or_wrong_are_refused},
    {"what is no ticket is refused", what_is_no_ticket_is_refused},
    {"a key is made once", a_key_is_made_once},
    {"a key that is none is refused", a_key_that_is_none_is_refused},
    {"a key lies where nobody else writes", a_key_lies_where_nobody_else_writes},
    {"a key needs its directory", a_key_needs_its_directory},
    {"a stream's ticket comes back", a_stream_s_ticket_comes_back},
    {"a wait's ticket says who waits and what the limit said",
	a_wait_s_ticket_says_who_waits_and_what_the_limit_said},
    {"a socket's ticket follows no run", a_socket_s_ticket_follows_no_run},
    {"a run's ticket is complete or refused", a_run_s_ticket_is_complete_or_refused},
};

int main(void)
{
	memory_init();
	arena = arena_new();
	int status = unit_main("ticket", tests, UNIT_COUNT(tests));
	arena_free(arena);
	return status;
}
