/* SPDX-License-Identifier: ISC */
/* JSON: what is accepted, and how it is written. */
#include "base/json/json.h"
#include "base/buf.h"
#include "base/json/json_quote.h"
#include "base/os/clock.h"
#include "base/utf8.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *parse(const char *text)
{
	return json_parse(text, strlen(text), JSON_REQUEST_DEPTH, NULL);
}

static enum json_fault fault_of(const char *text, size_t len)
{
	/* An exact copy on the heap, so that a read beyond it is seen by the sanitizers. */
	char *copy = malloc(len ? len : 1);
	memcpy(copy, text, len);
	enum json_fault fault;
	cJSON *root = json_parse(copy, len, JSON_REQUEST_DEPTH, &fault);
	CU_ASSERT((fault == JSON_OK) == (root != NULL));
	cJSON_Delete(root);
	free(copy);
	return fault;
}

static void check_fault(const char *text, enum json_fault expected, int line)
{
	enum json_fault fault = fault_of(text, strlen(text));
	CU_assertImplementation(fault == expected, (unsigned)line, text, __FILE__, "", CU_FALSE);
}

static void check_round_trip(const char *text, const char *expected, int line)
{
	cJSON *root = parse(text);
	char *printed = json_print(root);
	CU_assertImplementation(root && strcmp(printed, expected) == 0, (unsigned)line, printed,
	    __FILE__, "", CU_FALSE);
	free(printed);
	cJSON_Delete(root);
}

#define FAULT(text, expected) check_fault(text, expected, __LINE__)
#define GIVES(text, expected) check_round_trip(text, expected, __LINE__)
#define KEEPS(text) check_round_trip(text, text, __LINE__)

static void values_of_all_kinds_are_accepted(void)
{
	KEEPS("{}");
	KEEPS("[]");
	KEEPS("null");
	KEEPS("true");
	KEEPS("false");
	KEEPS("0");
	KEEPS("\"\"");
	KEEPS("{\"a\":[1,{\"b\":null},[[]],\"x\"],\"c\":{}}");
	GIVES(" \t\r\n[ 1 , 2 , { \"a\" : { } } ]\n ", "[1,2,{\"a\":{}}]");
}

static void broken_structure_is_refused(void)
{
	static const char *const broken[] = {"", " ", "[", "]", "{", "}", "[1", "[1,", "[1,]",
	    "[,1]", "[1 2]", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{,}",
	    "{a:1}", "{1:1}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "[1}", "{\"a\":1]", "nul", "nulL",
	    "True", "truefalse", "null null", "[] []", "{} x", "1 2", "'a'", "[1],", "/**/1",
	    "[1]//", "NaN", "Infinity", "-Infinity", "undefined", "\v1", "\f1", "[1]\f"};
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
		FAULT(broken[i], JSON_INVALID);
}

static void values_are_counted(void)
{
	static const char text[] = "{\"a\":[1,-0,{}],\"a\":\"x\"}";
	for (size_t most = 0; most < 8; most++) {
		size_t values = most;
		enum json_fault fault;
		cJSON *root = json_parse_within(text, strlen(text), 3, &values, &fault);
		CU_ASSERT_EQUAL(fault, most < 6 ? JSON_MANY : JSON_OK);
		CU_ASSERT_EQUAL(values, most < 6 ? 0 : most - 6);
		cJSON_Delete(root);
	}
}

static void nothing_may_follow_the_value(void)
{
	CU_ASSERT_EQUAL(fault_of("1\0", 2), JSON_INVALID);
	CU_ASSERT_EQUAL(fault_of("{}\0{}", 5), JSON_INVALID);
	CU_ASSERT_EQUAL(fault_of("\0", 1), JSON_INVALID);
	CU_ASSERT_EQUAL(fault_of("[1,\0]", 5), JSON_INVALID);
}

static void number_grammar_is_strict(void)
{
	static const char *const broken[] = {"-", "+1", "01", "-01", "00", "1.", ".5", "-.5",
	    "1.e5", "1e", "1e+", "1E-", "0x10", "1_000", "--1", "1..2", "1e5.5", "[1.]", "[-]",
	    "[1e]", "1a"};
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
		FAULT(broken[i], JSON_INVALID);
	FAULT("-0", JSON_OK);
	FAULT("0e0", JSON_OK);
	FAULT("1E+10", JSON_OK);
	FAULT("0.00e-00", JSON_OK);
}

static void numbers_print_as_they_came(void)
{
	static const char *const numbers[] = {"0", "-0", "1", "-1", "999999999999999",
	    "-999999999999999", "9007199254740991", "9007199254740993", "9223372036854775807",
	    "-9223372036854775808", "18446744073709551615", "7239874398723498723", "0.1", "0.5",
	    "0.30000000000000004", "3.141592653589793", "1.0", "25.0", "0.10", "1e5", "1E5", "1e-7",
	    "0.0001", "0.00001", "0.000123", "123456789.123456", "1.7976931348623157e308", "5e-324",
	    "1e-400", "-0.0", "0.0", "100", "1234567890.12345", "1234567890.123456",
	    "0.123456789012345", "0.12345678901234", "99999999999999.9", "1756809000.123456"};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		KEEPS(numbers[i]);
	KEEPS("[1,1.0,{\"a\":9007199254740993,\"b\":[2,1e5]},0.30000000000000004,3]");
}

static void very_long_numbers_are_kept(void)
{
	KEEPS("[1,1234567890123456789012345678901234567890123456789012345678901234567890,2]");
	KEEPS("0.1000000000000000000000000000000000000000000000000000000000000000000000001");
	KEEPS("{\"b\":[null,9999999999999999999999999999999999999999999999912345678901234567]}");
	KEEPS("[1.5e10,111111111111111111111111111111111111111111111111111111111111111]");
	KEEPS("[1.5e10,1111111111111111111111111111111111111111111111111111111111111111]");
}

static void numbers_beyond_a_double_are_a_fault(void)
{
	FAULT("1e400", JSON_RANGE);
	FAULT("[1,-1e309]", JSON_RANGE);
	FAULT("1e99999999999999999999", JSON_RANGE);
	FAULT("1e308", JSON_OK);
	FAULT("1e-99999999999999999999", JSON_OK);
	char digits[402];
	memset(digits, '9', 400);
	digits[400] = '\0';
	FAULT(digits, JSON_RANGE);
	digits[300] = '\0';
	FAULT(digits, JSON_OK);
}

static void string_grammar_is_strict(void)
{
	static const char *const broken[] = {"\"", "\"a", "\"\\\"", "\"\\x\"", "\"\\u12\"",
	    "\"\\u12G4\"", "\"\\u", "\"\\", "\"\\u123", "\"a\nb\"", "\"a\tb\"", "\"\x01\"",
	    "\"\x1F\"", "[\"a]", "{\"a:1}", "\"\\U0041\"", "\"\\0\""};
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
		FAULT(broken[i], JSON_INVALID);
	CU_ASSERT_EQUAL(fault_of("\"a\0b\"", 5), JSON_INVALID);
	GIVES("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\"", "\"\\\"\\\\/\\b\\f\\n\\r\\tA\"");
	GIVES("\"\\u20AC\\u20ac\"", "\"€€\"");
	KEEPS("\"\x7F\"");
}

static void control_characters_are_found_at_every_place(void)
{
	char text[40];
	for (size_t at = 1; at < 33; at++) {
		memset(text, 'x', sizeof(text));
		text[0] = text[34] = '"';
		CU_ASSERT_EQUAL(fault_of(text, 35), JSON_OK);
		for (int c = 0; c < 0x20; c++) {
			text[at] = (char)c;
			CU_ASSERT_EQUAL(fault_of(text, 35), JSON_INVALID);
		}
		text[at] = '"';
		CU_ASSERT_EQUAL(fault_of(text, 35), JSON_INVALID);
		text[at] = (char)0x80;
		CU_ASSERT_EQUAL(fault_of(text, 35), JSON_INVALID);
	}
}

static void surrogates_come_in_pairs(void)
{
	GIVES("\"\\ud83d\\ude00\"", "\"😀\"");
	GIVES("\"\\uDBFF\\uDFFF\"", "\"\xF4\x8F\xBF\xBF\"");
	FAULT("\"\\ud800\"", JSON_HALF);
	FAULT("\"\\udc00\"", JSON_HALF);
	FAULT("\"\\ud83dx\"", JSON_HALF);
	FAULT("\"\\ud83d\\n\"", JSON_HALF);
	FAULT("\"\\ud83d\\u0041\"", JSON_HALF);
	FAULT("\"\\ud83d\\ud83d\\ude00\"", JSON_HALF);
	FAULT("\"\\ud83d\\", JSON_HALF);
	FAULT("\"\\ud83d\\ude0", JSON_HALF);
}

static void nul_in_a_string_is_its_own_fault(void)
{
	FAULT("\"a\\u0000b\"", JSON_NUL);
	FAULT("{\"a\\u0000\":1}", JSON_NUL);
	FAULT("[1,\"\\u0000\"]", JSON_NUL);
	KEEPS("\"\\\\u0000\"");
	GIVES("\"\\u0001\"", "\"\\u0001\"");
}

static void only_valid_utf8_is_accepted(void)
{
	static const char *const broken[] = {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2",
	    "\xC2\x41", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xE2\x82", "\xED\xA0\x80", "\xED\xBF\xBF",
	    "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFE",
	    "\xFF", "\xF0\x9F\x98", "\xE2\x28\xA1"};
	static const char *const fine[] = {"\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
	    "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "Zürich €"};
	char text[32];
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		snprintf(text, sizeof(text), "\"%s\"", broken[i]);
		FAULT(text, JSON_INVALID);
		CU_ASSERT_FALSE(utf8_valid(broken[i], strlen(broken[i])));
		snprintf(text, sizeof(text), "{\"%s\":1}", broken[i]);
		FAULT(text, JSON_INVALID);
	}
	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
		snprintf(text, sizeof(text), "\"%s\"", fine[i]);
		KEEPS(text);
		CU_ASSERT_TRUE(utf8_valid(fine[i], strlen(fine[i])));
	}
	FAULT("\xEF\xBB\xBF{}", JSON_INVALID);
	FAULT("\"\xC2", JSON_INVALID);
	CU_ASSERT_FALSE(utf8_valid("a\0b", 3));
	CU_ASSERT_TRUE(utf8_valid("a\\\"\x01", 4));
}

static char *nested(char open, size_t levels, const char *inside)
{
	struct buf b = {0};
	for (size_t i = 0; i < levels; i++)
		buf_puts(&b, open == '[' ? "[" : "{\"a\":");
	buf_puts(&b, inside);
	for (size_t i = 0; i < levels; i++)
		buf_putc(&b, open == '[' ? ']' : '}');
	return buf_detach(&b);
}

static enum json_fault fault_at(char open, size_t levels, const char *inside, unsigned max_depth)
{
	enum json_fault fault;
	char *text = nested(open, levels, inside);
	cJSON_Delete(json_parse(text, strlen(text), max_depth, &fault));
	free(text);
	return fault;
}

static void depth_is_limited(void)
{
	CU_ASSERT_EQUAL(fault_at('[', 100, "1", 100), JSON_OK);
	CU_ASSERT_EQUAL(fault_at('[', 101, "1", 100), JSON_TOO_DEEP);
	CU_ASSERT_EQUAL(fault_at('{', 100, "1", 100), JSON_OK);
	CU_ASSERT_EQUAL(fault_at('{', 101, "1", 100), JSON_TOO_DEEP);
	CU_ASSERT_EQUAL(fault_at('[', 99, "{}", 100), JSON_OK);
	CU_ASSERT_EQUAL(fault_at('[', 100, "{}", 100), JSON_TOO_DEEP);
	CU_ASSERT_EQUAL(fault_at('[', 400, "{\"a\":1e5}", 401), JSON_OK);
	CU_ASSERT_EQUAL(fault_at('[', 1000, "1", 100000), JSON_OK);
	CU_ASSERT_EQUAL(fault_at('[', 1001, "1", 100000), JSON_TOO_DEEP);
	CU_ASSERT_EQUAL(fault_at('[', 200000, "1", 100000), JSON_TOO_DEEP);
	CU_ASSERT_EQUAL(fault_at('[', 0, "1", 0), JSON_OK);
	CU_ASSERT_EQUAL(fault_at('[', 1, "", 0), JSON_TOO_DEEP);
}

static void the_last_of_equal_keys_counts(void)
{
	GIVES("{\"a\":1,\"b\":2,\"a\":3}", "{\"b\":2,\"a\":3}");
	GIVES("{\"a\":1,\"a\":2,\"a\":{\"b\":1,\"b\":2}}", "{\"a\":{\"b\":2}}");
	GIVES("{\"a\":1,\"\\u0061\":2}", "{\"a\":2}");
	GIVES("{\"a\":1,\"A\":2}", "{\"a\":1,\"A\":2}");
	GIVES("{\"\":1,\"\":2}", "{\"\":2}");
	GIVES("[{\"a\":1.0,\"a\":2.0},3.0]", "[{\"a\":2.0},3.0]");
	GIVES("{\"a\":{\"x\":1e5},\"a\":{\"x\":1e6},\"b\":1e7}", "{\"a\":{\"x\":1e6},\"b\":1e7}");
}

static cJSON *many_members(size_t count, size_t modulus)
{
	struct buf b = {0};
	buf_putc(&b, '{');
	for (size_t i = 0; i < count; i++)
		buf_printf(&b, "%s\"key%zu\":%zu", i ? "," : "", i % modulus, i);
	buf_putc(&b, '}');
	cJSON *root = parse(buf_str(&b));
	buf_release(&b);
	return root;
}

static void equal_keys_are_found_in_objects_of_all_sizes(void)
{
	for (size_t count = 1; count < 80; count++) {
		for (size_t modulus = 1; modulus <= count; modulus += 7) {
			cJSON *root = many_members(count, modulus);
			CU_ASSERT_EQUAL(cJSON_GetArraySize(root), (int)modulus);
			for (const cJSON *item = root->child; item; item = item->next)
				CU_ASSERT(item->valuedouble >= (double)(count - modulus));
			cJSON_Delete(root);
		}
	}
}

static void large_objects_take_no_quadratic_time(void)
{
	int64_t from = clock_monotonic_ms();
	cJSON *a = many_members(200000, 200000), *b = many_members(200000, 100000);
	CU_ASSERT_EQUAL(cJSON_GetArraySize(b), 100000);
	CU_ASSERT_FALSE(json_equal(a, b));
	json_merge(a, b);
	CU_ASSERT_EQUAL(cJSON_GetArraySize(a), 200000);
	CU_ASSERT_TRUE(json_equal(a, a));
	CU_ASSERT(clock_monotonic_ms() - from < 20000); /* minutes, if it were */
	cJSON_Delete(a);
	cJSON_Delete(b);
}

static void keys_are_exact(void)
{
	cJSON *root = parse("{\"Name\":\"x\",\"none\":null,\"n\":1}");
	CU_ASSERT_PTR_NULL(json_get(root, "name"));
	CU_ASSERT_STRING_EQUAL(json_str(root, "Name"), "x");
	CU_ASSERT_TRUE(json_str_is(root, "Name", "x"));
	CU_ASSERT_FALSE(json_str_is(root, "Name", "xy"));
	CU_ASSERT_FALSE(json_str_is(root, "n", "1"));
	CU_ASSERT_FALSE(json_str_is(root, "absent", ""));
	CU_ASSERT_PTR_NOT_NULL(json_get(root, "none"));
	CU_ASSERT_PTR_NULL(json_opt(root, "none"));
	CU_ASSERT_PTR_NOT_NULL(json_opt(root, "n"));
	CU_ASSERT_PTR_NULL(json_opt(root, "absent"));
	CU_ASSERT_PTR_NULL(json_str(root, "n"));
	CU_ASSERT_PTR_NULL(json_str(root, "absent"));
	CU_ASSERT_PTR_NULL(json_get(NULL, "x"));
	cJSON_Delete(root);
}

static void check_integer(const char *text, bool ok, int64_t expected, int line)
{
	int64_t value = 4711;
	cJSON *item = parse(text);
	bool fits = json_integer(item, &value);
	CU_assertImplementation(fits == ok && value == (ok ? expected : 4711), (unsigned)line, text,
	    __FILE__, "", CU_FALSE);
	cJSON_Delete(item);
}

#define INTEGER(text, value) check_integer(text, true, value, __LINE__)
#define NO_INTEGER(text) check_integer(text, false, 0, __LINE__)

static void integers_are_read_exactly(void)
{
	INTEGER("0", 0);
	INTEGER("-0", 0);
	INTEGER("0.000", 0);
	INTEGER("0e999999999999999999999", 0);
	INTEGER("-7", -7);
	INTEGER("25.0", 25);
	INTEGER("1e3", 1000);
	INTEGER("1.5e1", 15);
	INTEGER("12300e-2", 123);
	INTEGER("1.200e2", 120);
	INTEGER("100.00", 100);
	INTEGER("9007199254740993", INT64_C(9007199254740993));
	INTEGER("9223372036854775807", INT64_MAX);
	INTEGER("9223372036854775807.000", INT64_MAX);
	INTEGER("-9223372036854775808", INT64_MIN);
	INTEGER("92233720368547758070e-1", INT64_MAX);
	NO_INTEGER("9223372036854775808");
	NO_INTEGER("-9223372036854775809");
	NO_INTEGER("1e19");
	NO_INTEGER("18446744073709551617");
	NO_INTEGER("1.5");
	NO_INTEGER("25.00000000000000000001");
	NO_INTEGER("1e-1");
	NO_INTEGER("1e-99999999999999999999");
	NO_INTEGER("\"25\"");
	NO_INTEGER("true");
	NO_INTEGER("null");
	NO_INTEGER("[]");
}

static void counts_can_be_added(void)
{
	const char *const wrong[] = {"-1", "1.5", "1000000000001", "9223372036854775807", "\"7\""};
	cJSON *item = parse("1000000000000");
	int64_t count;
	CU_ASSERT(json_count(item, &count) && count == INT64_C(1000000000000));
	cJSON_Delete(item);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		item = parse(wrong[i]);
		CU_ASSERT(!json_count(item, &count));
		cJSON_Delete(item);
	}
}

static void numbers_are_read_whatever_holds_them(void)
{
	double value = 0;
	cJSON *root = parse("[1,2.50,9007199254740993,\"3\",null]");
	const cJSON *item = root->child;
	CU_ASSERT(json_number(item, &value) && value == 1);
	item = item->next;
	CU_ASSERT_FALSE(cJSON_IsNumber(item));
	CU_ASSERT(json_is_number(item) && json_number(item, &value) && value == 2.5);
	item = item->next;
	CU_ASSERT(json_number(item, &value) && value == 9007199254740992.0);
	CU_ASSERT_FALSE(json_number(item->next, &value));
	CU_ASSERT_FALSE(json_is_number(item->next->next));
	CU_ASSERT_FALSE(json_number(NULL, &value));
	cJSON_Delete(root);
}

static void numbers_made_here_are_exact(void)
{
	cJSON *root = cJSON_CreateObject();
	json_add_int(root, "a", INT64_MAX);
	json_add_int(root, "b", INT64_MIN);
	json_add_int(root, "c", 999999999999999);
	json_add_int(root, "d", 1000000000000000);
	json_add_int(root, "e", -5);
	cJSON_AddItemToObject(root, "f", json_new_double(0.1 + 0.2));
	cJSON_AddItemToObject(root, "g", json_new_double(NAN));
	cJSON_AddItemToObject(root, "h", json_new_double(-INFINITY));
	cJSON_AddItemToObject(root, "i", json_new_double(1756809000.123456));
	cJSON_AddItemToObject(root, "j", json_new_double(0.5));
	cJSON_AddItemToObject(root, "k", json_new_double(1e300));
	cJSON_AddItemToObject(root, "l", cJSON_CreateNumber(NAN));
	cJSON_AddItemToObject(root, "m", cJSON_CreateNumber(18446744073709549568.0));
	cJSON_AddItemToObject(root, "n", cJSON_CreateNumber(18446744073709551616.0));
	cJSON_AddItemToObject(root, "o", cJSON_CreateNumber(0.1 + 0.7));
	cJSON_AddItemToObject(root, "p", cJSON_CreateNumber(-0.0));
	char *text = json_print(root);
	CU_ASSERT_STRING_EQUAL(text,
	    "{\"a\":9223372036854775807,\"b\":-9223372036854775808,\"c\":999999999999999,"
	    "\"d\":1000000000000000,\"e\":-5,\"f\":0.30000000000000004,\"g\":null,\"h\":null,"
	    "\"i\":1756809000.123456,\"j\":0.5,\"k\":1e+300,\"l\":null,"
	    "\"m\":18446744073709549568,\"n\":1.8446744073709552e+19,\"o\":0.7999999999999999,"
	    "\"p\":-0}");
	free(text);
	cJSON_Delete(root);
}

static void members_are_added_and_set(void)
{
	cJSON *root = cJSON_CreateObject();
	CU_ASSERT_STRING_EQUAL(json_add_str(root, "s", "x\"y")->valuestring, "x\"y");
	CU_ASSERT_TRUE(cJSON_IsNull(json_add_str(root, "n", NULL)));
	json_add_raw(root, "r", "{\"a\":[1]}");
	json_set(root, "s", json_new_int(1));
	json_set(root, "new", cJSON_CreateTrue());
	cJSON *kept = cJSON_CreateArray();
	json_set(root, "n", kept);
	cJSON_AddItemToArray(kept, cJSON_CreateNumber(2));
	char *text = json_print(root);
	CU_ASSERT_STRING_EQUAL(text, "{\"s\":1,\"n\":[2],\"r\":{\"a\":[1]},\"new\":true}");
	free(text);
	cJSON_Delete(root);
}

static void printing_never_fails(void)
{
	char *text = json_print(NULL);
	CU_ASSERT_STRING_EQUAL(text, "null");
	free(text);
	cJSON nothing = {0};
	text = json_print(&nothing);
	CU_ASSERT_STRING_EQUAL(text, "null");
	free(text);
}

static void types_have_names(void)
{
	cJSON *root = parse("[\"s\",1,1.0,true,false,{},[],null]");
	static const char *const names[] = {
	    "string", "number", "number", "boolean", "boolean", "object", "array", "null"};
	size_t i = 0;
	for (const cJSON *item = root->child; item; item = item->next)
		CU_ASSERT_STRING_EQUAL(json_type_name(item), names[i++]);
	cJSON_Delete(root);
	CU_ASSERT_STRING_EQUAL(json_type_name(NULL), "null");
	root = cJSON_CreateObject();
	CU_ASSERT_STRING_EQUAL(json_type_name(json_add_raw(root, "a", "{}")), "object");
	CU_ASSERT_STRING_EQUAL(json_type_name(json_add_raw(root, "b", "true")), "boolean");
	cJSON_Delete(root);
}

static void check_equal(const char *a, const char *b, bool expected, int line)
{
	cJSON *left = parse(a), *right = parse(b);
	CU_assertImplementation(
	    json_equal(left, right) == expected && json_equal(right, left) == expected,
	    (unsigned)line, b, __FILE__, "", CU_FALSE);
	cJSON_Delete(left);
	cJSON_Delete(right);
}

#define SAME(a, b) check_equal(a, b, true, __LINE__)
#define DIFFERENT(a, b) check_equal(a, b, false, __LINE__)

static void equality_is_by_value(void)
{
	SAME("{\"a\":1,\"b\":[1,{\"c\":null}]}", "{\"b\":[1.0,{\"c\":null}],\"a\":1e0}");
	SAME("9007199254740993", "9007199254740993.0");
	SAME("-0", "0");
	SAME("1e30", "1000000000000000000000000000000");
	SAME("\"\\u0041\"", "\"A\"");
	DIFFERENT("9007199254740993", "9007199254740992");
	DIFFERENT("123456789012345678901234567890", "123456789012345678901234567891");
	DIFFERENT("9223372036854775807", "9223372036854775808");
	DIFFERENT("1", "1.5");
	DIFFERENT("1", "\"1\"");
	DIFFERENT("1", "true");
	DIFFERENT("true", "false");
	DIFFERENT("null", "false");
	DIFFERENT("[1,2]", "[2,1]");
	DIFFERENT("[1]", "[1,1]");
	DIFFERENT("{\"a\":1}", "{\"a\":1,\"b\":1}");
	DIFFERENT("{\"a\":1}", "{\"A\":1}");
	DIFFERENT("{\"a\":null}", "{\"b\":null}");
	DIFFERENT("{}", "[]");
	CU_ASSERT_TRUE(json_equal(NULL, NULL));
	cJSON *null = cJSON_CreateNull();
	CU_ASSERT_FALSE(json_equal(null, NULL));
	cJSON_Delete(null);
}

static void check_merge(const char *target, const char *patch, const char *expected, int line,
    void (*merges)(cJSON *target, const cJSON *patch))
{
	cJSON *t = parse(target), *p = parse(patch);
	char *before = json_print(p);
	merges(t, p);
	char *text = json_print(t), *after = json_print(p);
	CU_assertImplementation(
	    strcmp(text, expected) == 0, (unsigned)line, text, __FILE__, "", CU_FALSE);
	CU_ASSERT_STRING_EQUAL(before, after);
	free(before);
	free(after);
	free(text);
	cJSON_Delete(t);
	cJSON_Delete(p);
}

#define MERGE(target, patch, expected) check_merge(target, patch, expected, __LINE__, json_merge)
#define PATCH(target, patch, expected) \
	check_merge(target, patch, expected, __LINE__, json_merge_patch)

static void texts_that_were_cut_are_mended(void)
{
	static const char *const texts[][2] = {
	    {"[\"\\ud83d\"]", "[\"\xEF\xBF\xBD\"]"},
	    {"[\"\\ud83d\\ude00\\udE00\"]", "[\"\xF0\x9F\x98\x80\xEF\xBF\xBD\"]"},
	    {"[\"\\ud83dA\\u0000\"]",
		"[\"\xEF\xBF\xBD"
		"A\xEF\xBF\xBD\"]"},
	    {"[\"a\xF0\x9F\"]", "[\"a\xEF\xBF\xBD\xEF\xBF\xBD\"]"},
	    {"[\"\\\\u0000\xFF\"]", "[\"\\\\u0000\xEF\xBF\xBD\"]"},
	};
	for (size_t i = 0; i < UNIT_COUNT(texts); i++) {
		cJSON *json = json_parse_mended(texts[i][0], strlen(texts[i][0]), 10);
		char *text = json_print(json);
		CU_ASSERT_STRING_EQUAL(text, texts[i][1]);
		free(text);
		cJSON_Delete(json);
	}
	static const char *const none[] = {"", "\\", "[\"\\u\xFF", "[\"\\ud8", "noise", "[[1]]"};
	for (size_t i = 0; i < UNIT_COUNT(none); i++)
		CU_ASSERT_PTR_NULL(json_parse_mended(none[i], strlen(none[i]), 1));
}

static void what_others_built_is_adopted(void)
{
	cJSON *built = cJSON_CreateObject(), *shared = cJSON_CreateString("\xe9");
	cJSON_AddNumberToObject(built, "n", 9007199254740991.0);
	cJSON_AddNumberToObject(built, "twice", 1);
	cJSON_AddRawToObject(built, "raw", " [18446744073709551615] ");
	cJSON_AddRawToObject(built, "cut", "[1");
	cJSON_AddItemReferenceToObject(built, "\xc3", shared);
	cJSON_AddNumberToObject(built, "twice", 2);
	cJSON_AddItemToObject(built, "empty", cJSON_CreateStringReference(NULL));
	static const char key[] = "\xff";
	cJSON *list = cJSON_CreateArray();
	cJSON_AddItemToArray(list, cJSON_CreateString("\xe9"));
	cJSON_AddItemToObjectCS(built, key, cJSON_CreateArrayReference(list->child));
	cJSON_AddItemToObject(built, "endless", cJSON_CreateNumber(-INFINITY));
	cJSON *adopted = json_adopt(built);
	char *text = json_print(adopted);
	CU_ASSERT_STRING_EQUAL(text,
	    "{\"n\":9007199254740991,\"raw\":[18446744073709551615],\"cut\":null,"
	    "\"twice\":2,\"empty\":\"\",\"\xef\xbf\xbd\":[\"\xef\xbf\xbd\"],\"endless\":null}");
	CU_ASSERT_STRING_EQUAL(shared->valuestring, "\xe9");
	CU_ASSERT_STRING_EQUAL(list->child->valuestring, "\xe9");
	CU_ASSERT_STRING_EQUAL(key, "\xff");
	cJSON_Delete(list);
	CU_ASSERT_PTR_NULL(json_adopt(NULL));
	free(text);
	cJSON_Delete(adopted);
	cJSON_Delete(shared);
}

static void text_stands_in_a_tree_without_a_copy(void)
{
	const char *text = "{\"a\":[1]}";
	cJSON *root = cJSON_CreateObject(), *old = json_add_str(root, "x", "y");
	json_assign(old, json_raw_reference(text));
	CU_ASSERT_PTR_EQUAL(json_get(root, "x"), old);
	CU_ASSERT_PTR_EQUAL(old->valuestring, text);
	char *printed = json_print(root);
	CU_ASSERT_STRING_EQUAL(printed, "{\"x\":{\"a\":[1]}}");
	json_set(root, "x", cJSON_CreateTrue());
	CU_ASSERT_TRUE(cJSON_IsTrue(json_get(root, "x")));
	free(printed);
	cJSON_Delete(root);
}

static void merging_is_deep(void)
{
	MERGE("{\"a\":1,\"o\":{\"x\":1,\"y\":{\"z\":1}}}", "{\"o\":{\"y\":{\"w\":2},\"x\":3}}",
	    "{\"a\":1,\"o\":{\"x\":3,\"y\":{\"z\":1,\"w\":2}}}");
	MERGE("{\"a\":[1,2]}", "{\"a\":[3]}", "{\"a\":[3]}");
	MERGE("{\"a\":1}", "{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1}}");
	MERGE("{\"a\":{\"b\":1}}", "{\"a\":\"s\"}", "{\"a\":\"s\"}");
	MERGE("{\"a\":\"s\"}", "{\"a\":9007199254740993}", "{\"a\":9007199254740993}");
	MERGE("{\"a\":1.0}", "{\"a\":2}", "{\"a\":2}");
	MERGE("{}", "{\"n\":{\"k\":1.0}}", "{\"n\":{\"k\":1.0}}");
}

static void a_patch_takes_away_what_is_null(void)
{
	PATCH("{\"a\":1,\"o\":{\"x\":1,\"y\":2}}",
	    "{\"a\":null,\"o\":{\"x\":null,\"z\":3},\"b\":null}", "{\"o\":{\"y\":2,\"z\":3}}");
	PATCH("{\"a\":1}", "{\"a\":{\"b\":{\"c\":null}}}", "{\"a\":{\"b\":{}}}");
	PATCH("{\"a\":{\"b\":1}}", "{\"a\":[null,{\"c\":null}]}", "{\"a\":[null,{\"c\":null}]}");
	PATCH("{\"a\":[1]}", "{\"a\":\"s\"}", "{\"a\":\"s\"}");
	PATCH("{\"a\":null,\"b\":1}", "{}", "{\"b\":1}");
	PATCH("[null]", "{\"a\":1}", "[null]");
}

static void null_leaves_what_is_there(void)
{
	MERGE("{\"a\":1,\"o\":{\"x\":1}}", "{\"a\":null,\"o\":{\"x\":null},\"b\":null}",
	    "{\"a\":1,\"o\":{\"x\":1}}");
	MERGE("[1]", "{\"a\":1}", "[1]");
	MERGE("{\"a\":1}", "[2]", "{\"a\":1}");
	MERGE("{\"a\":1}", "null", "{\"a\":1}");
}

static void texts_are_cut_between_characters(void)
{
	const char *text = "aé€😀";
	static const size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};
	for (size_t n = 0; n <= 10; n++)
		CU_ASSERT_EQUAL(utf8_cut(text, n), expected[n]);
	CU_ASSERT_EQUAL(utf8_cut("\x80\x80\x80\x80\x80", 5), 5);
}

static void every_fault_has_a_text(void)
{
	for (int fault = JSON_OK; fault <= JSON_RANGE; fault++)
		CU_ASSERT(strlen(json_fault_text((enum json_fault)fault)) > 5);
	CU_ASSERT_STRING_EQUAL(json_fault_text(JSON_INVALID), "must be valid JSON");
}

static void repeated(const char *text, const char *expected)
{
	char *key = json_repeated_key(text, strlen(text), '/');
	if (expected && key)
		CU_ASSERT_STRING_EQUAL(key, expected);
	CU_ASSERT_EQUAL(expected != NULL, key != NULL);
	free(key);
}

static void repeated_keys_are_told(void)
{
	struct buf many = {0};
	repeated("{\"a\":1,\"b\":{\"a\":[{\"c\":2},{\"c\":3}]},\"A\":1}", NULL);
	repeated("[1,1]", NULL);
	repeated("5", NULL);
	repeated("{\"a\":1,\"b\":2,\"a\":1}", "a");
	repeated("{\"x\":{\"y\":1},\"b\":[1,{\"c\":{}},{\"c\":{\"d\":1,\"d\":2}}]}", "b/2/c/d");
	repeated("{\"\\u0061\":1,\"a\":2}", "a");
	buf_putc(&many, '{');
	for (int i = 0; i < 100; i++)
		buf_printf(&many, "\"k%d\":1,", i);
	buf_puts(&many, "\"k7\":1}");
	repeated(buf_str(&many), "k7");
	buf_release(&many);
}

static void strings_are_quoted_as_they_print(void)
{
	char text[] = "a\u00e9?\"\\ and so on \b\f\n\r\t?";
	struct buf out = {0};
	for (int c = 1; c < 0x80; c++) {
		text[3] = text[sizeof(text) - 2] = (char)c;
		const cJSON item = {.type = cJSON_String, .valuestring = text};
		char *printed = json_print(&item);
		buf_reset(&out);
		json_quote(&out, text);
		CU_ASSERT_STRING_EQUAL(buf_str(&out), printed);
		free(printed);
	}
	buf_reset(&out);
	json_quote(&out, NULL);
	json_quote(&out, "");
	CU_ASSERT_STRING_EQUAL(buf_str(&out), "null\"\"");
	buf_release(&out);
}

/* Words of eight bytes, halves of them, and what fills none:
 * each place may have what is not plain. */
static void what_is_not_plain_is_found_at_every_place(void)
{
	static const char not_plain[] = {'"', '\\', '\n', '\x1f', (char)0x80, (char)0xff};
	for (size_t len = 0; len <= 34; len++) {
		char text[64];
		unit_row("%zu bytes", len);
		memset(text, 'a', sizeof(text));
		memset(text + len, '"', sizeof(text) - len); /* which is none of them */
		CU_ASSERT_EQUAL(utf8_plain(text, len), len);
		for (size_t at = 0; at < len; at++)
			for (size_t i = 0; i < sizeof(not_plain); i++) {
				text[at] = not_plain[i];
				CU_ASSERT_EQUAL(utf8_plain(text, len), at);
				text[at] = '~';
				CU_ASSERT_EQUAL(utf8_plain(text, len), len);
			}
	}
	unit_row("%s", "");
}

static const struct unit_test tests[] = {
    {"values of all kinds are accepted", values_of_all_kinds_are_accepted},
    {"broken structure is refused", broken_structure_is_refused},
    {"values are counted", values_are_counted},
    {"nothing may follow the value", nothing_may_follow_the_value},
    {"number grammar is strict", number_grammar_is_strict},
    {"numbers print as they came", numbers_print_as_they_came},
    {"very long numbers are kept", very_long_numbers_are_kept},
    {"numbers beyond a double are a fault", numbers_beyond_a_double_are_a_fault},
    {"string grammar is strict", string_grammar_is_strict},
    {"control characters are found at every place", control_characters_are_found_at_every_place},
    {"surrogates come in pairs", surrogates_come_in_pairs},
    {"U+0000 in a string is a fault of its own", nul_in_a_string_is_its_own_fault},
    {"only valid UTF-8 is accepted", only_valid_utf8_is_accepted},
    {"depth is limited", depth_is_limited},
    {"the last of equal keys counts", the_last_of_equal_keys_counts},
    {"equal keys are found in objects of all sizes", equal_keys_are_found_in_objects_of_all_sizes},
    {"large objects take no quadratic time", large_objects_take_no_quadratic_time},
    {"keys are exact, and null is as if absent where asked", keys_are_exact},
    {"integers are read exactly", integers_are_read_exactly},
    {"a count of others can be added to others", counts_can_be_added},
    {"numbers are read whatever holds them", numbers_are_read_whatever_holds_them},
    {"numbers made here are exact", numbers_made_here_are_exact},
    {"members are added and set", members_are_added_and_set},
    {"printing never fails", printing_never_fails},
    {"strings are quoted as they print", strings_are_quoted_as_they_print},
    {"what is not plain is found at every place", what_is_not_plain_is_found_at_every_place},
    {"types have names", types_have_names},
    {"equality is by value", equality_is_by_value},
    {"texts that were cut are mended", texts_that_were_cut_are_mended},
    {"what others built is adopted", what_others_built_is_adopted},
    {"text stands in a tree without a copy", text_stands_in_a_tree_without_a_copy},
    {"merging is deep", merging_is_deep},
    {"a patch takes away what is null", a_patch_takes_away_what_is_null},
    {"null leaves what is there", null_leaves_what_is_there},
    {"texts are cut between characters", texts_are_cut_between_characters},
    {"repeated keys are told", repeated_keys_are_told},
    {"every fault has a text", every_fault_has_a_text},
};

int main(void)
{
	return unit_main("json", tests, UNIT_COUNT(tests));
}
