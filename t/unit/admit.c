/* SPDX-License-Identifier: ISC */
/* Credentials of HTTP requests, and what a refusal looks like. */
#include "fcgi/admission/admit.h"

#include "base/memory.h"
#include "client_fixture.h"
#include "fcgi/request/credential.h"
#include "fcgi/request/request.h"
#include "mint_fixture.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

/* ---- the Authorization header ---- */

static const char *bearer(const char *value)
{
	static struct arena *arena;
	arena_free(arena);
	arena = arena_new();
	const char *token = credential_bearer(value, arena);
	return token ? token : "-";
}

static void a_bearer_token_is_taken(void)
{
	CU_ASSERT_STRING_EQUAL(bearer("Bearer t"), "t");
	CU_ASSERT_STRING_EQUAL(bearer("bearer t.u.v"), "t.u.v");
	CU_ASSERT_STRING_EQUAL(bearer("BEARER \t t \t"), "t");
	CU_ASSERT_STRING_EQUAL(bearer(" Bearer a b"), "a b");
}

static void nothing_else_is_a_credential(void)
{
	static const char *const values[] = {"", "Bearer", "Bearer ", "Bearer \t", "Bearert",
	    "Basic t", "t", "Bearer: t", "Bearer t\r\nX: y", "Bearer \x01", "Bearer t\x7f"};
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		CU_ASSERT_STRING_EQUAL(bearer(values[i]), "-");
}

static void variables_are_found_by_their_whole_name(void)
{
	char *const params[] = {"AB=1", "A=2", "A=3", "B=", NULL};
	CU_ASSERT_STRING_EQUAL(param_find(params, "A"), "2");
	CU_ASSERT_STRING_EQUAL(param_find(params, "B"), "");
	CU_ASSERT_STRING_EQUAL(param_find(params, "C"), "");
}

/* ---- refusals ---- */

#define SECRET "0123456789abcdef0123456789abcdef"

static void say_who(struct request *rq)
{
	cJSON *data = cJSON_CreateObject();
	cJSON_AddStringToObject(data, "user_id", rq->call.user_id);
	reply_data(rq, arena_json(rq->call.arena, data));
}

static const struct route rows[] = {
    {METHOD_GET, "/public", NULL, NULL, BODY_NONE, say_who, 0, NULL},
    {METHOD_GET, "/plain", "graph", "read", BODY_NONE, say_who, 0, NULL},
    {METHOD_GET, "/other", "graph", "read", BODY_NONE, say_who, ROUTE_UNAUTHORIZED, NULL},
    {METHOD_POST, "/body", "graph", "invoke", BODY_REQUIRED, say_who, 0, NULL},
};
static const struct route_table table = {rows, 4};

static char any_host[] = "*";
static char *hosts[] = {any_host};
static char secret[] = SECRET, algorithm[] = "HS256";
static const struct environment env = {.allowed_hosts = {hosts, 1},
    .max_request_size = 1000,
    .jwt_secret = secret,
    .jwt_algorithm = algorithm};

static struct answer ask(const char *method, const char *uri, const char *payload)
{
	char *token = payload ? mint_plain("HS256", SECRET, payload) : xstrdup("");
	char *header = xasprintf("HTTP_AUTHORIZATION=Bearer %s", token);
	char *line = xasprintf("REQUEST_URI=%s", uri);
	char *verb = xasprintf("REQUEST_METHOD=%s", method);
	const char *const params[] = {verb, line, header, "CONTENT_LENGTH=1", "BODY=x", NULL};
	struct answer answer = fixture_answer(&table, &env, params);
	free(token);
	free(header);
	free(line);
	free(verb);
	return answer;
}

static bool gives(struct answer answer, int status, const char *code)
{
	const cJSON *found = cJSON_GetObjectItemCaseSensitive(answer.json, "error_code");
	const char *text = cJSON_GetStringValue(found);
	bool same = answer.status == status && !strcmp(text ? text : "", code) &&
	    (status == 401) == fixture_has_line(&answer, "WWW-Authenticate: Bearer");
	if (!same)
		printf("# %d %s\n", answer.status, answer.body);
	fixture_answer_end(&answer);
	return same;
}

#define ALICE "{\"user_id\":\"alice\",\"exp\":4102444800}"

static void a_public_route_asks_nobody(void)
{
	CU_ASSERT(gives(ask("GET", "/public", NULL), 200, ""));
}

static void most_routes_say_403(void)
{
	CU_ASSERT(gives(ask("GET", "/plain", NULL), 403, "REVOKED_TOKEN"));
	CU_ASSERT(gives(ask("GET", "/plain", "{\"exp\":1}"), 403, "EXPIRED_TOKEN"));
	CU_ASSERT(gives(ask("GET", "/plain", "{}"), 403, "INVALID_TOKEN"));
	CU_ASSERT(gives(ask("GET", "/plain", ALICE), 200, ""));
}

static void some_say_401_and_how(void)
{
	CU_ASSERT(gives(ask("GET", "/other", NULL), 401, "REVOKED_TOKEN"));
	CU_ASSERT(gives(ask("HEAD", "/other", NULL), 401, ""));
	CU_ASSERT(gives(ask("GET", "/other", "{\"exp\":1}"), 401, "EXPIRED_TOKEN"));
	CU_ASSERT(gives(ask("GET", "/other", "{}"), 401, "INVALID_TOKEN"));
	CU_ASSERT(gives(ask("GET", "/other", ALICE), 200, ""));
	CU_ASSERT(
	    gives(ask("GET", "/other", "{\"user_id\":\"a\",\"exp\":4102444800,\"scopes\":[]}"), 403,
		"PERMISSION_ERROR"));
}

static void who_and_what_come_before_the_body(void)
{
	CU_ASSERT(gives(ask("POST", "/body", NULL), 403, "REVOKED_TOKEN"));
	CU_ASSERT(gives(ask("POST", "/body",
			    "{\"user_id\":\"a\",\"exp\":4102444800,\"scopes\":[\"graph:read\"]}"),
	    403, "PERMISSION_ERROR"));
	CU_ASSERT(gives(ask("POST", "/body", ALICE), 422, "VALIDATION_ERROR"));
}

static const struct unit_test tests[] = {
    {"a bearer token is taken", a_bearer_token_is_taken},
    {"nothing else is a credential", nothing_else_is_a_credential},
    {"variables are found by their whole name", variables_are_found_by_their_whole_name},
    {"a public route asks nobody", a_public_route_asks_nobody},
    {"most routes say 403", most_routes_say_403},
    {"some say 401, and which scheme is wanted", some_say_401_and_how},
    {"who asks, and what, come before the body", who_and_what_come_before_the_body},
};

int main(void)
{
	memory_init();
	return unit_main("admit", tests, UNIT_COUNT(tests));
}
