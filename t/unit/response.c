/* SPDX-License-Identifier: ISC */
/* Answers, through the whole server: order of the checks, envelopes, headers, CORS, streams. */
#include "fcgi/request/response.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "client_fixture.h"
#include "fcgi/request/request.h"
#include "fcgi/server.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void do_echo(struct request *rq)
{
	cJSON *data = arena_json(rq->call.arena, cJSON_CreateObject());
	json_add_str(data, "id", rq->match.ids[0]);
	cJSON_AddBoolToObject(data, "has_body", rq->body != NULL);
	reply_data(rq, data);
}

static void do_run(struct request *rq)
{
	static const char text[] =
	    "{\"meta\":{\"thread_id\":\"a\\\"b\",\"is_new_thread\":true,\"run_id\":\"r\"}}";
	reply_run(rq, arena_json(rq->call.arena, cJSON_Parse(text)));
}

static void do_fail(struct request *rq)
{
	error_field(&rq->call.error, ERR_VALIDATION, "body.x", "missing", "x is \"required\"");
	reply_data(rq, NULL);
}

/* A protocol of its own, whose errors are a code and a text. */
static cJSON *foreign_error(struct request *rq, const struct error_view *view)
{
	cJSON *body = arena_json(rq->call.arena, cJSON_CreateObject());
	json_add_str(body, "code", view->code);
	json_add_str(body, "text", view->detail);
	return body;
}

static const struct dialect foreign = {
    .not_json = "must be what this protocol speaks", .error_body = foreign_error};

static const struct dialect strict = {.mistakes = 400, .error_body = foreign_error};

static void do_transient(struct request *rq)
{
	error_set(&rq->call.error, ERR_TRANSIENT_STORAGE, NULL);
	reply_data(rq, NULL);
}

static void do_nothing(struct request *rq)
{
	reply_run(rq, NULL);
}

static void do_stream(struct request *rq)
{
	struct reply_stream stream;
	reply_stream_init(&stream, rq);
	stream.sink.chunk(&stream.sink, "{\"n\":1}", 7);
	stream.sink.chunk(&stream.sink, "{\"n\":2}", 7);
}

static const struct route rows[] = {
    {METHOD_GET, "/free", NULL, NULL, BODY_NONE, do_echo, ROUTE_ANY_HOST, NULL},
    {METHOD_GET, "/echo/{id}", "graph", "read", BODY_NONE, do_echo, 0, NULL},
    {METHOD_PUT, "/echo/{id}", "graph", "read", BODY_REQUIRED, do_echo, 0, NULL},
    {METHOD_DELETE, "/echo/{id}", "graph", "read", BODY_OPTIONAL, do_echo, 0, NULL},
    {METHOD_POST, "/run", "graph", "invoke", BODY_NONE, do_run, 0, NULL},
    {METHOD_POST, "/fail", "graph", "invoke", BODY_NONE, do_fail, 0, NULL},
    {METHOD_POST, "/foreign", "graph", "invoke", BODY_REQUIRED, do_fail, 0, &foreign},
    {METHOD_POST, "/strict", "graph", "invoke", BODY_REQUIRED, do_fail, 0, &strict},
    {METHOD_POST, "/transient", "graph", "invoke", BODY_NONE, do_transient, 0, NULL},
    {METHOD_POST, "/nothing", "graph", "invoke", BODY_NONE, do_nothing, 0, NULL},
    {METHOD_POST, "/stream", "graph", "stream", BODY_NONE, do_stream, 0, NULL},
};
static const struct route_table table = {rows, UNIT_COUNT(rows)};

static char *any[] = {"*"};
static struct environment env; /* filled anew before each test */

static void environment_reset(void)
{
	env = (struct environment){
	    .log_level = LOG_ERROR,
	    .origins = {any, 1},
	    .allowed_hosts = {any, 1},
	    .cors_allow_credentials = true,
	    .security_headers = true,
	    .hsts = true,
	    .hsts_max_age = 60,
	    .hsts_subdomains = true,
	    .content_type_options = "nosniff",
	    .frame_options = "",
	    .root_path = "",
	    .max_request_size = 100,
	};
}

/* Further arguments are variables, each "NAME=value"; BODY is what is sent. */
#define ASK(method, uri, ...)                                                   \
	fixture_answer(&table, &env,                                            \
	    (const char *const[]){"REQUEST_METHOD=" method, "REQUEST_URI=" uri, \
		"HTTP_HOST=localhost", __VA_ARGS__, NULL})

#define NO_BODY "BODY="

static const char *text(const struct answer *a, const char *name)
{
	const char *value = json_str(a->json, name);
	return value ? value : "";
}

static void the_envelope_is_complete(void)
{
	struct answer a = ASK("GET", "/echo/x", NO_BODY);
	CU_ASSERT_EQUAL(a.status, 200);
	CU_ASSERT(fixture_has_line(&a, "Content-Type: application/json"));
	CU_ASSERT(fixture_has_line(&a, "Cache-Control: no-store"));
	CU_ASSERT(cJSON_IsTrue(json_get(a.json, "success")));
	CU_ASSERT_STRING_EQUAL(json_str(json_get(a.json, "data"), "id"), "x");
	CU_ASSERT_STRING_EQUAL(text(&a, "message"), "OK");
	const cJSON *metadata = json_get(a.json, "metadata");
	CU_ASSERT_STRING_EQUAL(json_str(metadata, "message"), "OK");
	CU_ASSERT_STRING_EQUAL(json_str(metadata, "timestamp"), text(&a, "timestamp"));
	CU_ASSERT_STRING_EQUAL(json_str(metadata, "timestamp"), fixture_header(&a, "X-Timestamp"));
	CU_ASSERT_STRING_EQUAL(
	    json_str(metadata, "request_id"), fixture_header(&a, "X-Request-ID"));
	CU_ASSERT_EQUAL(cJSON_GetArraySize(metadata), 3);
	CU_ASSERT_EQUAL(cJSON_GetArraySize(a.json), 5);
	fixture_answer_end(&a);
}

static void every_request_has_an_id_of_its_own(void)
{
	struct answer a = ASK("GET", "/free", NO_BODY, "HTTP_X_REQUEST_ID=mine");
	struct answer b = ASK("GET", "/free", NO_BODY);
	char first[64];
	strcpy(first, fixture_header(&a, "X-Request-ID"));
	CU_ASSERT_EQUAL(strlen(first), 36);
	CU_ASSERT_EQUAL(first[14], '4');
	CU_ASSERT_STRING_NOT_EQUAL(first, fixture_header(&b, "X-Request-ID"));
	fixture_answer_end(&a);
	fixture_answer_end(&b);
}

static void a_run_repeats_its_thread_in_the_metadata(void)
{
	struct answer a = ASK("POST", "/run", NO_BODY);
	const cJSON *metadata = json_get(a.json, "metadata");
	CU_ASSERT_STRING_EQUAL(json_str(metadata, "thread_id"), "a\"b");
	CU_ASSERT(cJSON_IsTrue(json_get(metadata, "is_new_thread")));
	fixture_answer_end(&a);
}

static void errors_have_their_shape(void)
{
	struct answer a = ASK("POST", "/fail", NO_BODY);
	CU_ASSERT_EQUAL(a.status, 422);
	CU_ASSERT_STRING_EQUAL(text(&a, "detail"), "x is \"required\"");
	CU_ASSERT_STRING_EQUAL(text(&a, "error_code"), "VALIDATION_ERROR");
	const cJSON *error = json_get(a.json, "error");
	CU_ASSERT_STRING_EQUAL(json_str(error, "code"), "VALIDATION_ERROR");
	CU_ASSERT_STRING_EQUAL(json_str(error, "message"), "x is \"required\"");
	CU_ASSERT_EQUAL(cJSON_GetArraySize(json_get(error, "details")), 1);
	const cJSON *metadata = json_get(a.json, "metadata");
	CU_ASSERT_STRING_EQUAL(json_str(metadata, "message"), "x is \"required\"");
	CU_ASSERT_STRING_EQUAL(
	    json_str(metadata, "request_id"), fixture_header(&a, "X-Request-ID"));
	CU_ASSERT_PTR_NULL(fixture_header(&a, "Retry-After"));
	fixture_answer_end(&a);
}

static void a_dialect_has_errors_of_its_own(void)
{
	struct answer a = ASK("POST", "/foreign", "CONTENT_TYPE=application/json", "BODY={}");
	char *body = json_print(a.json);
	CU_ASSERT_EQUAL(a.status, 422);
	CU_ASSERT_STRING_EQUAL(
	    body, "{\"code\":\"VALIDATION_ERROR\",\"text\":\"x is \\\"required\\\"\"}");
	CU_ASSERT_PTR_NOT_NULL(fixture_header(&a, "X-Request-ID"));
	free(body);
	fixture_answer_end(&a);
	a = ASK("POST", "/foreign", "CONTENT_TYPE=application/json", "BODY={");
	CU_ASSERT_EQUAL(a.status, 422);
	CU_ASSERT_STRING_EQUAL(text(&a, "text"), "Request body must be what this protocol speaks");
	fixture_answer_end(&a);
	a = ASK("POST", "/strict", "CONTENT_TYPE=application/json", "BODY={}");
	CU_ASSERT_EQUAL(a.status, 400);
	CU_ASSERT_STRING_EQUAL(text(&a, "code"), "VALIDATION_ERROR");
	fixture_answer_end(&a);
	a = ASK("PUT", "/strict", "CONTENT_TYPE=application/json", "BODY={}");
	CU_ASSERT_EQUAL(a.status, 405);
	CU_ASSERT_STRING_EQUAL(text(&a, "code"), "METHOD_NOT_ALLOWED");
	fixture_answer_end(&a);
}

static void transient_errors_say_when_to_retry(void)
{
	struct answer a = ASK("POST", "/transient", NO_BODY);
	CU_ASSERT_EQUAL(a.status, 503);
	CU_ASSERT(fixture_has_line(&a, "Retry-After: 1"));
	fixture_answer_end(&a);
}

static void a_silent_failure_is_an_internal_error(void)
{
	struct answer a = ASK("POST", "/nothing", NO_BODY);
	CU_ASSERT_EQUAL(a.status, 500);
	CU_ASSERT_STRING_EQUAL(text(&a, "error_code"), "INTERNAL_ERROR");
	CU_ASSERT_PTR_NULL(strstr(a.body, "handler"));
	fixture_answer_end(&a);
}

static void head_has_the_headers_of_get(void)
{
	struct answer get = ASK("GET", "/echo/x", NO_BODY);
	struct answer head = ASK("HEAD", "/echo/x", NO_BODY);
	char length[64];
	strcpy(length, fixture_header(&get, "Content-Length"));
	CU_ASSERT_EQUAL((size_t)atoi(length), strlen(get.body));
	CU_ASSERT_EQUAL(head.status, 200);
	CU_ASSERT_STRING_EQUAL(fixture_header(&head, "Content-Length"), length);
	CU_ASSERT_STRING_EQUAL(head.body, "");
	fixture_answer_end(&get);
	fixture_answer_end(&head);
}

static void options_lists_the_methods(void)
{
	struct answer a = ASK("OPTIONS", "/echo/x", NO_BODY);
	CU_ASSERT_EQUAL(a.status, 204);
	CU_ASSERT(fixture_has_line(&a, "Allow: DELETE, GET, HEAD, OPTIONS, PUT"));
	CU_ASSERT_STRING_EQUAL(a.body, "");
	fixture_answer_end(&a);
}

#define CHECK_STATUS(expected, ...)                  \
	do {                                         \
		struct answer a = ASK(__VA_ARGS__);  \
		CU_ASSERT_EQUAL(a.status, expected); \
		fixture_answer_end(&a);              \
	} while (0)

static void paths_and_methods_are_checked(void)
{
	CHECK_STATUS(404, "GET", "/nope", NO_BODY);
	CHECK_STATUS(404, "OPTIONS", "/nope", NO_BODY);
	CHECK_STATUS(405, "PATCH", "/free", NO_BODY);
	CHECK_STATUS(405, "", "/free", NO_BODY);
	CHECK_STATUS(400, "GET", "/../free", NO_BODY);
	struct answer a = ASK("POST", "/free", NO_BODY);
	CU_ASSERT_EQUAL(a.status, 405);
	CU_ASSERT(fixture_has_line(&a, "Allow: GET, HEAD, OPTIONS"));
	fixture_answer_end(&a);
}

static void bodies_follow_the_rule_of_the_route(void)
{
	CHECK_STATUS(422, "PUT", "/echo/x", NO_BODY);
	CHECK_STATUS(200, "PUT", "/echo/x", "BODY={}", "CONTENT_LENGTH=2");
	CHECK_STATUS(200, "DELETE", "/echo/x", NO_BODY);
	CHECK_STATUS(422, "DELETE", "/echo/x", "BODY=[]", "CONTENT_LENGTH=2");
	CHECK_STATUS(400, "PUT", "/echo/x", "BODY={}", "CONTENT_LENGTH=3");
	CHECK_STATUS(400, "GET", "/echo/x", NO_BODY, "CONTENT_LENGTH=x");
	CHECK_STATUS(413, "GET", "/echo/x", NO_BODY, "CONTENT_LENGTH=101");
}

static void large_bodies_are_refused_unread(void)
{
	struct answer a = ASK("PUT", "/echo/x", "BODY={}", "CONTENT_LENGTH=101");
	CU_ASSERT_EQUAL(a.status, 413);
	CU_ASSERT_EQUAL(a.reads, 0);
	const cJSON *error = json_get(a.json, "error");
	CU_ASSERT_EQUAL(json_get(error, "max_size_bytes")->valueint, 100);
	CU_ASSERT(cJSON_IsNumber(json_get(error, "max_size_mb")));
	fixture_answer_end(&a);
}

static void routes_without_a_body_do_not_read_one(void)
{
	struct answer a = ASK("GET", "/echo/x", "BODY=garbage", "CONTENT_LENGTH=7");
	CU_ASSERT_EQUAL(a.status, 200);
	CU_ASSERT_EQUAL(a.reads, 0);
	fixture_answer_end(&a);
}

static void checks_come_in_their_order(void)
{
	static char *names[] = {"example.com"};
	env.allowed_hosts = (struct string_list){names, 1};
	CHECK_STATUS(400, "GET", "/nope", NO_BODY);
	CHECK_STATUS(404, "GET", "/nope", NO_BODY, "HTTP_HOST=example.com", "CONTENT_LENGTH=101");
	CHECK_STATUS(
	    405, "POST", "/echo/x", NO_BODY, "HTTP_HOST=example.com", "CONTENT_LENGTH=101");
	CHECK_STATUS(413, "PUT", "/echo/x", "BODY=[]", "HTTP_HOST=example.com",
	    "CONTENT_LENGTH=101", "CONTENT_TYPE=text/plain");
	CHECK_STATUS(200, "OPTIONS", "/nope", NO_BODY, "HTTP_ORIGIN=http://a",
	    "HTTP_ACCESS_CONTROL_REQUEST_METHOD=GET");
}

static void hosts_are_checked(void)
{
	static char *names[] = {"example.com", "*.example.org", "[::1]"};
	env.allowed_hosts = (struct string_list){names, 3};
	CHECK_STATUS(200, "GET", "/echo/x", NO_BODY, "HTTP_HOST=example.com");
	CHECK_STATUS(200, "GET", "/echo/x", NO_BODY, "HTTP_HOST=EXAMPLE.com:8080");
	CHECK_STATUS(200, "GET", "/echo/x", NO_BODY, "HTTP_HOST=a.b.example.org");
	CHECK_STATUS(200, "GET", "/echo/x", NO_BODY, "HTTP_HOST=[::1]:80");
	CHECK_STATUS(400, "GET", "/echo/x", NO_BODY, "HTTP_HOST=example.org");
	CHECK_STATUS(400, "GET", "/echo/x", NO_BODY, "HTTP_HOST=evilexample.org");
	CHECK_STATUS(400, "GET", "/echo/x", NO_BODY, "HTTP_HOST=example.com.evil");
	CHECK_STATUS(400, "GET", "/echo/x", NO_BODY, "HTTP_HOST=");
	CHECK_STATUS(400, "GET", "/echo/x", NO_BODY, "HTTP_HOST=[::1");
	CHECK_STATUS(200, "GET", "/free", NO_BODY, "HTTP_HOST=evil");
	CHECK_STATUS(405, "POST", "/free", NO_BODY, "HTTP_HOST=evil");
}

static void security_headers_follow_the_environment(void)
{
	struct answer a = ASK("GET", "/free", NO_BODY);
	CU_ASSERT(fixture_has_line(&a, "X-Content-Type-Options: nosniff"));
	CU_ASSERT_PTR_NULL(fixture_header(&a, "X-Frame-Options"));
	CU_ASSERT_PTR_NULL(fixture_header(&a, "Strict-Transport-Security"));
	fixture_answer_end(&a);
	a = ASK("GET", "/nope", NO_BODY, "HTTPS=on");
	CU_ASSERT(fixture_has_line(&a, "Strict-Transport-Security: max-age=60; includeSubDomains"));
	fixture_answer_end(&a);
	a = ASK("GET", "/nope", NO_BODY, "HTTPS=on", "AGENTGRAPH_PREFIX=/agent");
	CU_ASSERT_PTR_NULL(fixture_header(&a, "Strict-Transport-Security"));
	fixture_answer_end(&a);
	env.hsts_asked = true;
	a = ASK("GET", "/nope", NO_BODY, "HTTPS=on", "AGENTGRAPH_PREFIX=/agent");
	CU_ASSERT(fixture_has_line(&a, "Strict-Transport-Security: max-age=60"));
	fixture_answer_end(&a);
	env.content_type_options = "no\r\nX-Injected: 1";
	a = ASK("GET", "/free", NO_BODY);
	CU_ASSERT_PTR_NULL(fixture_header(&a, "X-Injected"));
	fixture_answer_end(&a);
	env.security_headers = false;
	a = ASK("GET", "/free", NO_BODY, "HTTPS=on");
	CU_ASSERT_PTR_NULL(fixture_header(&a, "X-Content-Type-Options"));
	CU_ASSERT_PTR_NULL(fixture_header(&a, "Strict-Transport-Security"));
	CU_ASSERT_PTR_NOT_NULL(fixture_header(&a, "X-Request-ID"));
	fixture_answer_end(&a);
}

static void any_origin_with_credentials_is_echoed(void)
{
	struct answer a = ASK("GET", "/nope", NO_BODY, "HTTP_ORIGIN=http://a");
	CU_ASSERT(fixture_has_line(&a, "Access-Control-Allow-Origin: http://a"));
	CU_ASSERT(fixture_has_line(&a, "Vary: Origin"));
	CU_ASSERT(fixture_has_line(&a, "Access-Control-Allow-Credentials: true"));
	CU_ASSERT_PTR_NOT_NULL(fixture_header(&a, "Access-Control-Expose-Headers"));
	fixture_answer_end(&a);
}

static void any_origin_without_credentials_is_a_star(void)
{
	env.cors_allow_credentials = false;
	struct answer a = ASK("GET", "/free", NO_BODY, "HTTP_ORIGIN=http://a");
	CU_ASSERT(fixture_has_line(&a, "Access-Control-Allow-Origin: *"));
	CU_ASSERT_PTR_NULL(fixture_header(&a, "Vary"));
	CU_ASSERT_PTR_NULL(fixture_header(&a, "Access-Control-Allow-Credentials"));
	fixture_answer_end(&a);
}

static void only_listed_origins_get_cors_headers(void)
{
	static char *listed[] = {"https://app.example"};
	env.origins = (struct string_list){listed, 1};
	struct answer a = ASK("GET", "/free", NO_BODY, "HTTP_ORIGIN=https://app.example");
	CU_ASSERT(fixture_has_line(&a, "Access-Control-Allow-Origin: https://app.example"));
	fixture_answer_end(&a);
	a = ASK("GET", "/free", NO_BODY, "HTTP_ORIGIN=https://other.example");
	CU_ASSERT_EQUAL(a.status, 200);
	CU_ASSERT_PTR_NULL(strstr(a.head, "Access-Control"));
	fixture_answer_end(&a);
	a = ASK("GET", "/free", NO_BODY);
	CU_ASSERT_PTR_NULL(strstr(a.head, "Access-Control"));
	fixture_answer_end(&a);
}

static void an_origin_cannot_add_header_lines(void)
{
	struct answer a = ASK("GET", "/free", NO_BODY, "HTTP_ORIGIN=http://a\r\nX-Injected: 1");
	CU_ASSERT_PTR_NULL(fixture_header(&a, "X-Injected"));
	CU_ASSERT_PTR_NULL(strstr(a.head, "Access-Control"));
	fixture_answer_end(&a);
}

static void preflights_are_answered_at_once(void)
{
	struct answer a = ASK("OPTIONS", "/nope", NO_BODY, "HTTP_ORIGIN=http://a",
	    "HTTP_ACCESS_CONTROL_REQUEST_METHOD=PUT",
	    "HTTP_ACCESS_CONTROL_REQUEST_HEADERS=x-a, x-b");
	CU_ASSERT_EQUAL(a.status, 200);
	CU_ASSERT_STRING_EQUAL(a.body, "OK");
	CU_ASSERT_PTR_NOT_NULL(strstr(a.head, "Content-Type: text/plain"));
	CU_ASSERT(fixture_has_line(
	    &a, "Access-Control-Allow-Methods: DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"));
	CU_ASSERT(fixture_has_line(&a, "Access-Control-Allow-Headers: x-a, x-b"));
	CU_ASSERT(fixture_has_line(&a, "Access-Control-Max-Age: 600"));
	fixture_answer_end(&a);
}

static void preflights_of_other_origins_are_refused(void)
{
	env.origins.count = 0;
	struct answer a = ASK("OPTIONS", "/free", NO_BODY, "HTTP_ORIGIN=http://a",
	    "HTTP_ACCESS_CONTROL_REQUEST_METHOD=GET");
	CU_ASSERT_EQUAL(a.status, 400);
	CU_ASSERT_STRING_EQUAL(a.body, "Disallowed CORS origin");
	CU_ASSERT_PTR_NULL(strstr(a.head, "Access-Control"));
	fixture_answer_end(&a);
}

static void streams_send_each_line_at_once(void)
{
	struct answer a = ASK("POST", "/stream", NO_BODY);
	CU_ASSERT_EQUAL(a.status, 200);
	CU_ASSERT(fixture_has_line(&a, "Content-Type: text/event-stream; charset=utf-8"));
	CU_ASSERT(fixture_has_line(&a, "Cache-Control: no-cache, no-transform"));
	CU_ASSERT(fixture_has_line(&a, "X-Accel-Buffering: no"));
	CU_ASSERT(fixture_has_line(&a, "Content-Encoding: identity"));
	CU_ASSERT_PTR_NULL(fixture_header(&a, "Content-Length"));
	CU_ASSERT_STRING_EQUAL(a.body, "{\"n\":1}\n{\"n\":2}\n");
	CU_ASSERT_EQUAL(a.flushes, 2);
	fixture_answer_end(&a);
}

/* Each test starts from the same environment. */
#define TEST(name)                    \
	static void test_##name(void) \
	{                             \
		environment_reset();  \
		name();               \
	}

TEST(the_envelope_is_complete)
TEST(every_request_has_an_id_of_its_own)
TEST(a_run_repeats_its_thread_in_the_metadata)
TEST(errors_have_their_shape)
TEST(a_dialect_has_errors_of_its_own)
TEST(transient_errors_say_when_to_retry)
TEST(a_silent_failure_is_an_internal_error)
TEST(head_has_the_headers_of_get)
TEST(options_lists_the_methods)
TEST(paths_and_methods_are_checked)
TEST(bodies_follow_the_rule_of_the_route)
TEST(large_bodies_are_refused_unread)
TEST(routes_without_a_body_do_not_read_one)
TEST(checks_come_in_their_order)
TEST(hosts_are_checked)
TEST(security_headers_follow_the_environment)
TEST(any_origin_with_credentials_is_echoed)
TEST(any_origin_without_credentials_is_a_star)
TEST(only_listed_origins_get_cors_headers)
TEST(an_origin_cannot_add_header_lines)
TEST(preflights_are_answered_at_once)
TEST(preflights_of_other_origins_are_refused)
TEST(streams_send_each_line_at_once)

static const struct unit_test tests[] = {
    {"data is wrapped in the whole envelope", test_the_envelope_is_complete},
    {"every request has an id of its own", test_every_request_has_an_id_of_its_own},
    {"a run repeats its thread in the metadata", test_a_run_repeats_its_thread_in_the_metadata},
    {"an error has the shape of errors", test_errors_have_their_shape},
    {"a dialect has errors of its own", test_a_dialect_has_errors_of_its_own},
    {"a transient error says when to retry", test_transient_errors_say_when_to_retry},
    {"a failure without a reason is an internal error", test_a_silent_failure_is_an_internal_error},
    {"HEAD has the headers of GET and no body", test_head_has_the_headers_of_get},
    {"OPTIONS lists the methods of a path", test_options_lists_the_methods},
    {"paths and methods are checked", test_paths_and_methods_are_checked},
    {"bodies follow the rule of the route", test_bodies_follow_the_rule_of_the_route},
    {"a body that is announced too large is refused unread", test_large_bodies_are_refused_unread},
    {"a route without a body does not read one", test_routes_without_a_body_do_not_read_one},
    {"the checks come in their order", test_checks_come_in_their_order},
    {"hosts are checked, except where any will do", test_hosts_are_checked},
    {"security headers follow the environment", test_security_headers_follow_the_environment},
    {"any origin with credentials is echoed", test_any_origin_with_credentials_is_echoed},
    {"any origin without credentials is a star", test_any_origin_without_credentials_is_a_star},
    {"only listed origins get CORS headers", test_only_listed_origins_get_cors_headers},
    {"an origin cannot add header lines", test_an_origin_cannot_add_header_lines},
    {"a preflight is answered at once", test_preflights_are_answered_at_once},
    {"a preflight of another origin is refused", test_preflights_of_other_origins_are_refused},
    {"a stream sends each line at once", test_streams_send_each_line_at_once},
};

int main(void)
{
	memory_init();
	return unit_main("response", tests, UNIT_COUNT(tests));
}
