/* SPDX-License-Identifier: ISC */
/* What a request brings: head, query and body. */
#include "fcgi/request/request.h"
#include "base/error.h"
#include "base/memory.h"
#include "client_fixture.h"
#include "fcgi/request/body.h"
#include "fcgi/request/query.h"
#include "unit.h"

#include <string.h>

static void reads_the_head(void)
{
	char *params[] = {"SERVER_NAME=x", "REQUEST_METHOD=PUT", "REQUEST_URI=/a?b=c",
	    "CONTENT_TYPE=", "HTTP_ORIGIN=http://o", "BROKEN", "HTTP_CONTENT_LENGTH=9", NULL};
	struct head head;
	head_read(&head, params);
	CU_ASSERT_STRING_EQUAL(head.method, "PUT");
	CU_ASSERT_STRING_EQUAL(head.uri, "/a?b=c");
	CU_ASSERT_STRING_EQUAL(head.origin, "http://o");
	CU_ASSERT_STRING_EQUAL(head.content_type, "");
	CU_ASSERT_STRING_EQUAL(head.content_length, "");
	CU_ASSERT_STRING_EQUAL(head.host, "");
}

static bool https(char *param)
{
	char *params[] = {param, NULL};
	struct head head;
	head_read(&head, params);
	return head_is_https(&head);
}

static void knows_https(void)
{
	CU_ASSERT(https("HTTPS=on"));
	CU_ASSERT(https("REQUEST_SCHEME=https"));
	CU_ASSERT(https("HTTP_X_FORWARDED_PROTO=https"));
	CU_ASSERT_FALSE(https("HTTPS="));
	CU_ASSERT_FALSE(https("HTTPS=off"));
	CU_ASSERT_FALSE(https("REQUEST_SCHEME=http"));
	CU_ASSERT_FALSE(https("HTTP_X_FORWARDED_PROTO=http"));
}

struct query {
	struct arena *arena;
	struct query_field fields[2];
	struct error error;
	bool ok;
};

static struct query read_query(const char *text)
{
	struct query q = {
	    .arena = arena_new(), .fields = {{"search", true, NULL}, {"limit", false, NULL}}};
	q.ok = query_read(q.arena, text, q.fields, 2, &q.error);
	return q;
}

static void query_end(struct query *q)
{
	error_release(&q->error);
	arena_free(q->arena);
}

#define CHECK_QUERY(text, field, expected)                               \
	do {                                                             \
		struct query q = read_query(text);                       \
		CU_ASSERT(q.ok);                                         \
		CU_ASSERT_PTR_NOT_NULL_FATAL(q.fields[field].value);     \
		CU_ASSERT_STRING_EQUAL(q.fields[field].value, expected); \
		query_end(&q);                                           \
	} while (0)

#define CHECK_ABSENT(text, field)                          \
	do {                                               \
		struct query q = read_query(text);         \
		CU_ASSERT(q.ok);                           \
		CU_ASSERT_PTR_NULL(q.fields[field].value); \
		query_end(&q);                             \
	} while (0)

#define CHECK_REFUSED(text, expected)                             \
	do {                                                      \
		struct query q = read_query(text);                \
		CU_ASSERT_FALSE(q.ok);                            \
		CU_ASSERT_EQUAL(q.error.kind, ERR_VALIDATION);    \
		CU_ASSERT_STRING_EQUAL(q.error.detail, expected); \
		query_end(&q);                                    \
	} while (0)

static void decodes_queries(void)
{
	CHECK_QUERY("search=a+b%20c%2B", 0, "a b c+");
	CHECK_QUERY("se%61rch=x", 0, "x");
	CHECK_QUERY("search=a=b", 0, "a=b");
	CHECK_QUERY("search=%C3%A9", 0, "\xc3\xa9");
	CHECK_QUERY("search=100%", 0, "100%");
	CHECK_QUERY("search=%4", 0, "%4");
	CHECK_QUERY("search=%zz", 0, "%zz");
}

static void the_last_value_counts(void)
{
	CHECK_QUERY("limit=1&limit=2", 1, "2");
	CHECK_QUERY("limit=&limit=2", 1, "2");
	CHECK_QUERY("limit=%ff&limit=2", 1, "2");
}

static void ignores_what_nobody_asked_for(void)
{
	CHECK_ABSENT("", 1);
	CHECK_ABSENT("&&=&x=1&limits=2&limi=3&Limit=4&=limit", 1);
	CHECK_ABSENT("x=%00%ff", 1);
	CHECK_ABSENT("limit%00=2", 1);
}

static void empty_values(void)
{
	CHECK_ABSENT("search=", 0);
	CHECK_ABSENT("search", 0);
	CHECK_REFUSED("limit=", "limit must not be empty");
	CHECK_REFUSED("limit", "limit must not be empty");
	CHECK_REFUSED("limit=1&limit=", "limit must not be empty");
}

static void refuses_values_that_are_no_text(void)
{
	CHECK_REFUSED("search=%ff", "search must be valid UTF-8 text without NUL");
	CHECK_REFUSED("search=a%00b", "search must be valid UTF-8 text without NUL");
	CHECK_REFUSED("limit=%C3", "limit must be valid UTF-8 text without NUL");
}

static void names_the_parameter(void)
{
	struct query q = read_query("limit=");
	CU_ASSERT_PTR_NOT_NULL_FATAL(q.error.details);
	char *details = cJSON_PrintUnformatted(q.error.details);
	CU_ASSERT_PTR_NOT_NULL(strstr(details, "[\"query\",\"limit\"]"));
	cJSON_free(details);
	query_end(&q);
}

/* What the error was, which is then released. */
static enum error_kind kind_of(struct error *err)
{
	enum error_kind kind = err->kind;
	error_release(err);
	return kind;
}

static enum error_kind length_of(const char *text, int64_t max, int64_t *length)
{
	struct error err = {0};
	bool ok = body_length(text, max, length, &err);
	CU_ASSERT_EQUAL(ok, err.kind == ERR_NONE);
	return kind_of(&err);
}

static void reads_lengths(void)
{
	int64_t length;
	CU_ASSERT_EQUAL(length_of("", 10, &length), ERR_NONE);
	CU_ASSERT_EQUAL(length, -1);
	CU_ASSERT_EQUAL(length_of("0", 10, &length), ERR_NONE);
	CU_ASSERT_EQUAL(length, 0);
	CU_ASSERT_EQUAL(length_of("10", 10, &length), ERR_NONE);
	CU_ASSERT_EQUAL(length, 10);
	CU_ASSERT_EQUAL(length_of("11", 10, &length), ERR_REQUEST_TOO_LARGE);
}

static void refuses_lengths_that_are_no_numbers(void)
{
	static const char *const wrong[] = {
	    "-1", "+1", " 1", "1 ", "1x", "0x1", "1,1", "1.0", "9999999999999999999"};
	int64_t length;
	for (size_t i = 0; i < UNIT_COUNT(wrong); i++)
		CU_ASSERT_EQUAL(length_of(wrong[i], 10, &length), ERR_INVALID_CONTENT_LENGTH);
}

static void says_how_large_a_body_may_be(void)
{
	struct error err = {0};
	int64_t length;
	CU_ASSERT_FALSE(body_length("99999999", 10485760, &length, &err));
	CU_ASSERT_STRING_EQUAL(err.detail, "Request body too large. Maximum size is 10.0MB");
	error_release(&err);
	CU_ASSERT_FALSE(body_length("99999999", 40960, &length, &err));
	CU_ASSERT_STRING_EQUAL(err.detail, "Request body too large. Maximum size is 40.0KB");
	error_release(&err);
	CU_ASSERT_FALSE(body_length("99999999", 1000, &length, &err));
	CU_ASSERT_STRING_EQUAL(err.detail, "Request body too large. Maximum size is 1000B");
	error_release(&err);
}

static enum error_kind read_body(
    const char *sent, bool cut, int64_t length, int64_t max, struct buf *out)
{
	struct fake_client fake;
	struct error err = {0};
	fake_client_init(&fake, sent, strlen(sent), cut);
	bool ok = body_read(&fake.client, length, max, out, &err);
	CU_ASSERT_EQUAL(ok, err.kind == ERR_NONE);
	return kind_of(&err);
}

#define CHECK_BODY(sent, cut, length, max, kind)                                \
	do {                                                                    \
		struct buf got = {0};                                           \
		CU_ASSERT_EQUAL(read_body(sent, cut, length, max, &got), kind); \
		buf_release(&got);                                              \
	} while (0)

static void reads_bodies_in_pieces(void)
{
	struct buf out = {0};
	CU_ASSERT_EQUAL(read_body("0123456789abcdef", false, -1, 16, &out), ERR_NONE);
	CU_ASSERT_STRING_EQUAL(buf_str(&out), "0123456789abcdef");
	buf_reset(&out);
	CU_ASSERT_EQUAL(read_body("0123456789", false, 10, 16, &out), ERR_NONE);
	CU_ASSERT_STRING_EQUAL(buf_str(&out), "0123456789");
	buf_release(&out);
	CHECK_BODY("", false, 0, 16, ERR_NONE);
	CHECK_BODY("", false, -1, 16, ERR_NONE);
}

static void counts_bodies_that_announce_nothing(void)
{
	CHECK_BODY("0123456789", false, -1, 10, ERR_NONE);
	CHECK_BODY("0123456789a", false, -1, 10, ERR_REQUEST_TOO_LARGE);
	CHECK_BODY("0123456789abcdefghijklmn", true, -1, 10, ERR_REQUEST_TOO_LARGE);
}

static void refuses_bodies_cut_short(void)
{
	CHECK_BODY("0123", false, 5, 10, ERR_BAD_REQUEST);
	CHECK_BODY("0123", true, 5, 10, ERR_BAD_REQUEST);
	CHECK_BODY("0123", true, -1, 10, ERR_BAD_REQUEST);
	CHECK_BODY("", true, -1, 10, ERR_BAD_REQUEST);
}

static void refuses_bodies_longer_than_announced(void)
{
	CHECK_BODY("012345", false, 5, 10, ERR_INVALID_CONTENT_LENGTH);
	CHECK_BODY("0123456789abcdef", false, 5, 10, ERR_INVALID_CONTENT_LENGTH);
	CHECK_BODY("0", false, 0, 10, ERR_INVALID_CONTENT_LENGTH);
}

static void an_announcement_alone_takes_no_memory(void)
{
	struct buf out = {0};
	CU_ASSERT_EQUAL(
	    read_body("0", false, (int64_t)1 << 30, (int64_t)1 << 31, &out), ERR_BAD_REQUEST);
	CU_ASSERT(out.size < 1 << 20);
	buf_release(&out);
}

struct parsed {
	struct arena *arena;
	const cJSON *object;
	struct error error;
	bool ok;
};

static struct parsed parse(const char *text, const char *type, enum body_rule rule)
{
	struct parsed p = {.arena = arena_new()};
	struct buf body = {0};
	size_t values = 1000;
	buf_puts(&body, text);
	p.ok = body_parse(
	    p.arena, &body, type, rule, "must be valid JSON", &values, &p.object, &p.error);
	buf_release(&body);
	return p;
}

static void parsed_end(struct parsed *p)
{
	error_release(&p->error);
	arena_free(p->arena);
}

#define CHECK_INVALID(text, type, rule, expected)                          \
	do {                                                               \
		struct parsed bad = parse(text, type, rule);               \
		CU_ASSERT_FALSE(bad.ok);                                   \
		CU_ASSERT_EQUAL(bad.error.kind, ERR_VALIDATION);           \
		CU_ASSERT_STRING_EQUAL(bad.error.detail, expected);        \
		CU_ASSERT_EQUAL(cJSON_GetArraySize(bad.error.details), 1); \
		parsed_end(&bad);                                          \
	} while (0)

static void takes_objects(void)
{
	struct parsed p = parse(" {\"a\": 1} \n", "application/json", BODY_REQUIRED);
	CU_ASSERT(p.ok);
	CU_ASSERT(cJSON_IsObject(p.object));
	parsed_end(&p);
}

static void refuses_other_bodies(void)
{
	static const char invalid[] = "Request body must be valid JSON";
	static const char object[] = "Request body must be a JSON object";
	CHECK_INVALID("{", "", BODY_REQUIRED, invalid);
	CHECK_INVALID(" ", "", BODY_OPTIONAL, invalid);
	CHECK_INVALID("{} {}", "", BODY_REQUIRED, invalid);
	CHECK_INVALID("{\"a\": \"\xff\"}", "", BODY_REQUIRED, invalid);
	CHECK_INVALID("\xef\xbb\xbf{}", "", BODY_REQUIRED, invalid);
	CHECK_INVALID("[]", "", BODY_REQUIRED, object);
	CHECK_INVALID("null", "", BODY_OPTIONAL, object);
	CHECK_INVALID("\"{}\"", "", BODY_REQUIRED, object);
}

static void a_missing_body_matters_where_one_is_required(void)
{
	struct parsed p = parse("", "text/plain", BODY_OPTIONAL);
	CU_ASSERT(p.ok);
	CU_ASSERT_PTR_NULL(p.object);
	parsed_end(&p);
	CHECK_INVALID("", "", BODY_REQUIRED, "Request body is required");
}

static void deep_bodies_are_refused(void)
{
	char deep[512] = "{\"a\":";
	memset(deep + 5, '[', 100);
	struct parsed p = parse(deep, "", BODY_REQUIRED);
	CU_ASSERT_FALSE(p.ok);
	CU_ASSERT_EQUAL(p.error.kind, ERR_VALIDATION);
	parsed_end(&p);
	deep[5 + 99] = '\0';
	strcat(deep, "1");
	memset(deep + strlen(deep), ']', 99);
	strcat(deep, "}");
	p = parse(deep, "", BODY_REQUIRED);
	CU_ASSERT(p.ok);
	parsed_end(&p);
}

static void knows_media_types_of_json(void)
{
	static const char *const right[] = {"", "application/json", "Application/JSON",
	    "application/json; charset=utf-8", "application/json ;x",
	    "application/merge-patch+json", "application/vnd.x+JSON;v=1"};
	static const char *const wrong[] = {"text/json", "application/jsonx", "application/",
	    "application/+json", "json", "application/json, text/plain", "text/plain",
	    "application/x-www-form-urlencoded", "application", ";", "application/ json"};
	for (size_t i = 0; i < UNIT_COUNT(right); i++)
		CU_ASSERT(body_type_is_json(right[i]));
	for (size_t i = 0; i < UNIT_COUNT(wrong); i++)
		CU_ASSERT_FALSE(body_type_is_json(wrong[i]));
	CHECK_INVALID("{}", "text/plain", BODY_REQUIRED, "Content-Type must be application/json");
}

static const struct unit_test tests[] = {
    {"the head is read from CGI's variables", reads_the_head},
    {"https is known by three variables", knows_https},
    {"names and values of a query are decoded", decodes_queries},
    {"of a repeated parameter the last one counts", the_last_value_counts},
    {"unknown parameters are ignored, whatever they hold", ignores_what_nobody_asked_for},
    {"an empty search is absent, an empty limit a mistake", empty_values},
    {"a value that is no text is a mistake", refuses_values_that_are_no_text},
    {"a mistake in a query says where it is", names_the_parameter},
    {"announced lengths are compared with the limit", reads_lengths},
    {"a length that is no number is refused", refuses_lengths_that_are_no_numbers},
    {"a body that is too large learns the limit", says_how_large_a_body_may_be},
    {"a body may come in pieces", reads_bodies_in_pieces},
    {"a body without length is counted while it arrives", counts_bodies_that_announce_nothing},
    {"a body that was cut short is refused", refuses_bodies_cut_short},
    {"a body longer than announced is refused", refuses_bodies_longer_than_announced},
    {"an announced body takes no memory before it comes", an_announcement_alone_takes_no_memory},
    {"a body is a JSON object", takes_objects},
    {"any other body is refused with a sentence", refuses_other_bodies},
    {"a missing body matters only where one is required",
	a_missing_body_matters_where_one_is_required},
    {"a body of 100 levels is taken, one of 101 is not", deep_bodies_are_refused},
    {"the media type must stand for JSON", knows_media_types_of_json},
};

int main(void)
{
	memory_init();
	return unit_main("request", tests, UNIT_COUNT(tests));
}
