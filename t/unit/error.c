/* SPDX-License-Identifier: ISC */
/* Errors: their kinds, and which of two stays. */
#include "base/error.h"
#include "base/json/json.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void every_kind_has_status_and_code(void)
{
	for (int kind = ERR_NONE + 1; kind < ERR_KINDS; kind++) {
		int status = error_status((enum error_kind)kind);
		CU_ASSERT(status >= 400 && status <= 503);
		CU_ASSERT_PTR_NOT_NULL_FATAL(error_code((enum error_kind)kind));
		CU_ASSERT(strlen(error_code((enum error_kind)kind)) > 5);
	}
}

static void no_two_kinds_share_a_code(void)
{
	for (int a = 0; a < ERR_KINDS; a++)
		for (int b = a + 1; b < ERR_KINDS; b++)
			CU_ASSERT_STRING_NOT_EQUAL(
			    error_code((enum error_kind)a), error_code((enum error_kind)b));
}

static void kinds_have_their_status(void)
{
	static const struct {
		enum error_kind kind;
		int status;
		const char *code;
	} expected[] = {{ERR_BAD_REQUEST, 400, "BAD_REQUEST"},
	    {ERR_REVOKED_TOKEN, 403, "REVOKED_TOKEN"},
	    {ERR_JWT_SETTINGS, 403, "JWT_SETTINGS_NOT_CONFIGURED"},
	    {ERR_ACCOUNT, 403, "USER_ACCOUNT_DISABLE"},
	    {ERR_AUTHENTICATION_FAILED, 403, "AUTHENTICATION_FAILED"},
	    {ERR_PERMISSION, 403, "PERMISSION_ERROR"}, {ERR_THREAD_BUSY, 409, "THREAD_BUSY"},
	    {ERR_FILE_TOO_LARGE, 413, "FILE_TOO_LARGE"},
	    {ERR_UNSUPPORTED_MEDIA_TYPE, 415, "UNSUPPORTED_MEDIA_TYPE"},
	    {ERR_VALIDATION, 422, "VALIDATION_ERROR"}, {ERR_GRAPH_IS_LIVE, 422, "GRAPH_IS_LIVE"},
	    {ERR_UPGRADE_REQUIRED, 426, "UPGRADE_REQUIRED"},
	    {ERR_RATE_LIMIT, 429, "RATE_LIMIT_EXCEEDED"}, {ERR_NODE, 500, "NODE_ERROR"},
	    {ERR_RECURSION_LIMIT, 500, "GRAPH_RECURSION_LIMIT"},
	    {ERR_TRANSIENT_STORAGE, 503, "TRANSIENT_STORAGE_ERROR"},
	    {ERR_SERVICE_UNAVAILABLE, 503, "SERVICE_UNAVAILABLE"}};
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		CU_ASSERT_EQUAL(error_status(expected[i].kind), expected[i].status);
		CU_ASSERT_STRING_EQUAL(error_code(expected[i].kind), expected[i].code);
	}
}

static void the_first_error_stays(void)
{
	struct error err = {0};
	CU_ASSERT_FALSE(error_is_set(&err));
	CU_ASSERT_FALSE(error_set(&err, ERR_RESOURCE_NOT_FOUND, "%s not found", "Thread"));
	CU_ASSERT_FALSE(error_set(&err, ERR_INTERNAL, "later"));
	CU_ASSERT_EQUAL(err.kind, ERR_RESOURCE_NOT_FOUND);
	CU_ASSERT_STRING_EQUAL(err.detail, "Thread not found");
	error_release(&err);
	CU_ASSERT_FALSE(error_is_set(&err));
}

static void without_a_text_the_fixed_one_is_used(void)
{
	struct error err = {0};
	error_set(&err, ERR_INTERNAL, NULL);
	CU_ASSERT_STRING_EQUAL(err.detail, "An unexpected error occurred. Please contact support.");
	error_release(&err);
	error_set(&err, ERR_INTERNAL, "given %d", 1);
	CU_ASSERT_STRING_EQUAL(err.detail, "given 1");
	error_release(&err);
	error_set(&err, ERR_VALIDATION, NULL);
	CU_ASSERT_STRING_EQUAL(err.detail, "VALIDATION_ERROR");
	error_release(&err);
}

static void a_long_detail_is_cut_at_a_character(void)
{
	char text[3001];
	for (int i = 0; i < 3000; i += 3)
		memcpy(text + i, "€", 3);
	text[3000] = '\0';
	for (int shift = 0; shift < 3; shift++) {
		struct error err = {0};
		error_set(&err, ERR_NODE, "%.*s%s", shift, "xx", text);
		size_t len = strlen(err.detail);
		CU_ASSERT(len > sizeof(err.detail) - 4 && len < sizeof(err.detail));
		CU_ASSERT_TRUE(utf8_valid(err.detail, len));
		error_release(&err);
	}
}

static void a_detail_is_always_utf8(void)
{
	struct error err = {0};
	error_set(&err, ERR_NODE, "bad \xFF\xC3 text");
	CU_ASSERT_STRING_EQUAL(err.detail, "bad ?? text");
	error_release(&err);
}

static void the_first_cause_stays(void)
{
	struct error err = {0};
	CU_ASSERT_FALSE(error_cause(&err, "disk %d", 1));
	error_cause(&err, "disk 2");
	CU_ASSERT_STRING_EQUAL(err.cause, "disk 1");
	CU_ASSERT_FALSE(error_is_set(&err));
	error_release(&err);
	CU_ASSERT_STRING_EQUAL(err.cause, "");
}

static void mistakes_in_fields_are_collected(void)
{
	struct error err = {0};
	CU_ASSERT_FALSE(error_field(&err, ERR_VALIDATION, "body.messages[0].role", "value_error",
	    "role must be one of %s", "user, system"));
	error_field(&err, ERR_INVALID_INPUT, "query.limit", "type_error", "limit must be a number");
	CU_ASSERT_EQUAL(err.kind, ERR_VALIDATION);
	CU_ASSERT_STRING_EQUAL(err.detail, "role must be one of user, system");
	char *text = json_print(err.details);
	CU_ASSERT_STRING_EQUAL(text,
	    "[{\"loc\":[\"body\",\"messages\",0,\"role\"],\"msg\":\"role must be one of user, "
	    "system\",\"type\":\"value_error\"},{\"loc\":[\"query\",\"limit\"],\"msg\":\"limit must "
	    "be a number\",\"type\":\"type_error\"}]");
	free(text);
	error_release(&err);
	CU_ASSERT_PTR_NULL(err.details);
}

static void assert_loc(const char *path, const char *expected)
{
	struct error err = {0};
	error_field(&err, ERR_VALIDATION, path, "missing", "x");
	const cJSON *loc = json_get(err.details->child, "loc");
	char *text = json_print(loc);
	CU_ASSERT_STRING_EQUAL(text, expected);
	free(text);
	struct buf back = {0};
	error_put_path(&back, loc->child);
	CU_ASSERT_TRUE(strchr(path, '\xFF') || strcmp(buf_str(&back), path) == 0);
	buf_release(&back);
	error_release(&err);
}

static void paths_become_locations_and_locations_paths(void)
{
	assert_loc("body", "[\"body\"]");
	assert_loc("body[0][12]", "[\"body\",0,12]");
	assert_loc("node.my node", "[\"node\",\"my node\"]");
	assert_loc("body.a[b].c", "[\"body\",\"a[b]\",\"c\"]");
	assert_loc("body.a[].c]", "[\"body\",\"a[]\",\"c]\"]");
	assert_loc("body.a[1", "[\"body\",\"a[1\"]");
	assert_loc("body..x", "[\"body\",\"\",\"x\"]");
	assert_loc("body.é\xFF", "[\"body\",\"é?\"]");
	assert_loc("", "[]");
}

static void details_end_where_they_would_be_too_many(void)
{
	struct error err = {0};
	for (int i = 0; i < ERROR_DETAILS_MAX + 5; i++)
		error_field(&err, ERR_VALIDATION, "body.x", "missing", "mistake %d", i);
	CU_ASSERT_EQUAL(cJSON_GetArraySize(err.details), ERROR_DETAILS_MAX);
	CU_ASSERT_EQUAL(err.mistakes, ERROR_DETAILS_MAX + 5);
	CU_ASSERT_STRING_EQUAL(err.detail, "mistake 0");
	error_release(&err);
	CU_ASSERT_EQUAL(err.mistakes, 0);
}

static void errors_can_be_moved(void)
{
	struct error from = {0}, to = {0};
	error_field(&from, ERR_VALIDATION, "body.x", "missing", "x is required");
	error_cause(&from, "because");
	error_move(&to, &from);
	CU_ASSERT_FALSE(error_is_set(&from));
	CU_ASSERT_PTR_NULL(from.details);
	CU_ASSERT_EQUAL(to.kind, ERR_VALIDATION);
	CU_ASSERT_STRING_EQUAL(to.cause, "because");
	CU_ASSERT_PTR_NOT_NULL(to.details);
	error_release(&from);
	error_release(&to);
}

static const struct unit_test tests[] = {
    {"every kind has a status and a code", every_kind_has_status_and_code},
    {"no two kinds share a code", no_two_kinds_share_a_code},
    {"kinds have the status and code of the wire", kinds_have_their_status},
    {"the first error stays", the_first_error_stays},
    {"without a text the fixed one is used", without_a_text_the_fixed_one_is_used},
    {"a long detail is cut at a character", a_long_detail_is_cut_at_a_character},
    {"a detail is always UTF-8", a_detail_is_always_utf8},
    {"the first cause stays", the_first_cause_stays},
    {"mistakes in fields are collected", mistakes_in_fields_are_collected},
    {"paths become locations, and locations paths", paths_become_locations_and_locations_paths},
    {"details end where they would be too many", details_end_where_they_would_be_too_many},
    {"errors can be moved", errors_can_be_moved},
};

int main(void)
{
	return unit_main("error", tests, UNIT_COUNT(tests));
}
