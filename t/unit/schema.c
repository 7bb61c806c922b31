/* SPDX-License-Identifier: ISC */
/* JSON Schema: what fits, and what is said of what does not. */
#include "tool/schema.h"

#include "base/json/json.h"
#include "base/memory.h"
#include "unit.h"

#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The suite that the drafts are tested with */

#define SUITE "/usr/share/json-schema-test-suite/tests"

/* Groups that need a document from elsewhere, or names resolved against a base: file and what the
 * group's description begins with. */
static const struct {
	const char *file, *group;
} left_out[] = {
    {"ref.json", "remote ref, containing refs itself"},   /* the meta-schema, from the network */
    {"ref.json", "Recursive references between schemas"}, /* "$id" in parts changes the base */
    {"definitions.json", "valid definition"},             /* the meta-schema */
    {"definitions.json", "invalid definition"},
    {"refRemote.json", ""},
};

static bool is_left_out(const char *file, const char *group)
{
	for (size_t i = 0; i < UNIT_COUNT(left_out); i++) {
		if (strcmp(file, left_out[i].file) == 0 &&
		    strncmp(group, left_out[i].group, strlen(left_out[i].group)) == 0)
			return true;
	}
	return false;
}

static cJSON *read_json(const char *path)
{
	FILE *file = fopen(path, "re");
	if (!file)
		return NULL;
	char *text = xmalloc(1 << 20);
	size_t len = fread(text, 1, 1 << 20, file);
	cJSON *json = json_parse(text, len, JSON_TRUSTED_DEPTH, NULL);
	fclose(file);
	free(text);
	return json;
}

struct tally {
	size_t ran, wrong;
};

static void run_group(const char *file, cJSON *group, const char *draft, struct tally *tally)
{
	struct problems problems = {0};
	char why[SCHEMA_WHY_SIZE];
	const cJSON *test;
	cJSON *json = cJSON_GetObjectItem(group, "schema");
	if (cJSON_IsObject(json) && !json_get(json, "$schema"))
		json_add_str(json, "$schema", draft);
	struct schema *schema = schema_compile(json, "schema", &problems);
	cJSON_ArrayForEach(test, json_get(group, "tests")) {
		bool valid = cJSON_IsTrue(json_get(test, "valid"));
		bool fits = schema && schema_accepts(schema, json_get(test, "data"), "it", why);
		tally->ran++;
		if (schema && fits == valid && (fits || *why))
			continue;
		tally->wrong++;
		printf("# %s: %s: %s: expected %d%s%s\n", file, json_str(group, "description"),
		    json_str(test, "description"), valid, problems.count ? ": " : "",
		    problems.count ? problems.items[0].text : "");
	}
	schema_free(schema);
	problems_release(&problems);
}

static void run_file(char *path, const char *draft, struct tally *tally)
{
	const char *file = basename(path);
	cJSON *groups = read_json(path), *group;
	CU_ASSERT_PTR_NOT_NULL(groups);
	cJSON_ArrayForEach(group, groups) {
		if (!is_left_out(file, json_str(group, "description")))
			run_group(file, group, draft, tally);
	}
	cJSON_Delete(groups);
}

static void run_draft(const char *folder, const char *draft)
{
	char pattern[PATH_MAX];
	struct tally tally = {0};
	glob_t found = {0};
	snprintf(pattern, sizeof(pattern), "%s/%s", SUITE, folder);
	if (glob(pattern, 0, NULL, &found) != 0) {
		printf("# %s is not installed\n", pattern);
		return;
	}
	for (size_t i = 0; i < found.gl_pathc; i++)
		run_file(found.gl_pathv[i], draft, &tally);
	globfree(&found);
	printf("# %s: %zu tests\n", folder, tally.ran);
	CU_ASSERT_TRUE(tally.ran > 0);
	CU_ASSERT_EQUAL(tally.wrong, 0);
}

static void draft_7_is_checked_as_its_test_suite_says(void)
{
	run_draft("draft7/*.json", "http://json-schema.org/draft-07/schema#");
	run_draft("draft7/optional/bignum.json", "http://json-schema.org/draft-07/schema#");
	run_draft(
	    "draft7/optional/zeroTerminatedFloats.json", "http://json-schema.org/draft-07/schema#");
}

static void draft_6_is_checked_as_its_test_suite_says(void)
{
	run_draft("draft6/*.json", "http://json-schema.org/draft-06/schema#");
}

/* ---- Own cases */

/* What is said about value, "" when it fits, or the first problem of the schema. */
static const char *verdict(const char *schema_text, const char *value_text)
{
	static char why[SCHEMA_WHY_SIZE];
	struct problems problems = {0};
	cJSON *json = json_parse(schema_text, strlen(schema_text), JSON_TRUSTED_DEPTH, NULL);
	cJSON *value = json_parse(value_text, strlen(value_text), JSON_TRUSTED_DEPTH, NULL);
	CU_ASSERT_PTR_NOT_NULL(json);
	CU_ASSERT_PTR_NOT_NULL(value);
	struct schema *schema = schema_compile(json, "S", &problems);
	if (schema)
		schema_accepts(schema, value, "arguments", why);
	else
		snprintf(why, sizeof(why), "%s", problems.items[0].text);
	schema_free(schema);
	problems_release(&problems);
	cJSON_Delete(json);
	cJSON_Delete(value);
	return why;
}

struct expectation {
	const char *schema, *value, *verdict;
};

static void check_verdicts(const struct expectation *e, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *got = verdict(e[i].schema, e[i].value);
		if (strcmp(got, e[i].verdict) != 0)
			printf("# %s on %s gives %s\n", e[i].schema, e[i].value, got);
		CU_ASSERT_STRING_EQUAL(got, e[i].verdict);
	}
}

#define CHECK_VERDICTS(cases) check_verdicts(cases, UNIT_COUNT(cases))

static void a_mismatch_is_told_with_its_place(void)
{
	static const struct expectation cases[] = {
	    {"{\"type\":\"object\"}", "[]", "arguments: expected an object, found array"},
	    {"{\"properties\":{\"a\":{\"items\":{\"type\":[\"string\",\"null\"]}}}}",
		"{\"a\":[\"x\",null,5]}",
		"arguments.a[2]: expected a string or null, found number"},
	    {"{\"required\":[\"city\"]}", "{}", "arguments: expected the member 'city'"},
	    /* a long name is cut at a character */
	    {"{\"required\":[\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\u00e9\"]}",
		"{}",
		"arguments: expected the member 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'"},
	    {"{\"properties\":{\"n\":{\"enum\":[1,\"b\"]}}}", "{\"n\":2}",
		"arguments.n: expected one of 1, \"b\""},
	    {"{\"properties\":{\"n\":{\"maximum\":5}}}", "{\"n\":6}",
		"arguments.n: expected at most 5"},
	    {"{\"properties\":{},\"additionalProperties\":false}", "{\"x\":1}",
		"arguments.x: expected to be absent"},
	    {"{\"pattern\":\"^a\"}", "\"b\"", "arguments: expected a match of \"^a\""},
	    {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "5",
		"arguments: expected one of 2 kinds of value, found a number that is none of them"},
	};
	CHECK_VERDICTS(cases);
}

static void later_drafts_are_understood(void)
{
	static const struct expectation cases[] = {
	    {"{\"prefixItems\":[{\"type\":\"string\"}],\"items\":false}", "[\"a\"]", ""},
	    {"{\"prefixItems\":[{\"type\":\"string\"}],\"items\":false}", "[\"a\",1]",
		"arguments[1]: expected to be absent"},
	    {"{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}",
		"arguments: expected the member 'b'"},
	    {"{\"dependentSchemas\":{\"a\":{\"required\":[\"c\"]}}}", "{\"a\":1}",
		"arguments: expected the member 'c'"},
	    {"{\"contains\":{\"type\":\"null\"},\"minContains\":2}", "[null,1]",
		"arguments: expected at least 2 elements of a certain kind"},
	    {"{\"contains\":{\"type\":\"null\"},\"minContains\":0}", "[1]", ""},
	    {"{\"contains\":{\"type\":\"null\"},\"maxContains\":1}", "[null,null]",
		"arguments: expected at most 1 elements of a certain kind"},
	    {"{\"$defs\":{\"n\":{\"type\":\"number\"}},\"$ref\":\"#/$defs/n\",\"maximum\":3}", "4",
		"arguments: expected at most 3"},
	    {"{\"$defs\":{\"x\":{\"$anchor\":\"here\",\"type\":\"number\"}},\"$ref\":\"#here\"}",
		"\"a\"", "arguments: expected a number, found string"},
	    {"{\"$defs\":{\"a%+1\":{\"type\":\"number\"}},\"$ref\":\"#/$defs/a%+1\"}", "\"a\"",
		"arguments: expected a number, found string"},
	    {"{\"type\":\"object\",\"properties\":{\"kids\":{\"items\":{\"$ref\":\"#\"}}}}",
		"{\"kids\":[{\"kids\":[{\"kids\":[7]}]}]}",
		"arguments.kids[0].kids[0].kids[0]: expected an object, found number"},
	};
	CHECK_VERDICTS(cases);
}

static void numbers_are_compared_exactly(void)
{
	static const struct expectation cases[] = {
	    {"{\"maximum\":9007199254740992}", "9007199254740993",
		"arguments: expected at most 9007199254740992"},
	    {"{\"const\":72398743987234987231}", "72398743987234987232",
		"arguments: expected 72398743987234987231"},
	    {"{\"type\":\"integer\"}", "72398743987234987232123", ""},
	    {"{\"type\":\"integer\"}", "1e300", ""},
	    {"{\"type\":\"integer\"}", "10.0", ""},
	    {"{\"type\":\"integer\"}", "0.5", "arguments: expected an integer, found number"},
	    {"{\"multipleOf\":0.01}", "19.99", ""},
	    {"{\"multipleOf\":0.01}", "19.991", "arguments: expected a multiple of 0.01"},
	    {"{\"multipleOf\":3}", "1000000000000000000000000000002", ""},
	    {"{\"multipleOf\":3}", "1000000000000000000000000000003",
		"arguments: expected a multiple of 3"},
	    {"{\"exclusiveMinimum\":-0.1}", "-0.10", "arguments: expected more than -0.1"},
	};
	CHECK_VERDICTS(cases);
}

static void regular_expressions_are_those_of_ecma(void)
{
	static const struct expectation cases[] = {
	    {"{\"pattern\":\"^\\\\d{3}-[\\\\w.-]+$\"}", "\"123-a_b.c-d\"", ""},
	    {"{\"pattern\":\"^\\\\d{3}-[\\\\w.-]+$\"}", "\"123-a b\"",
		"arguments: expected a match of \"^\\\\d{3}-[\\\\w.-]+$\""},
	    {"{\"pattern\":\"^(?:ab|(?<n>c))+?$\"}", "\"abcab\"", ""},
	    {"{\"pattern\":\"^[^\\\\s\\\\]\\\\[^-]+$\"}", "\"abc\"", ""},
	    {"{\"pattern\":\"^[^\\\\s\\\\]\\\\[^-]+$\"}", "\"a^c\"",
		"arguments: expected a match of \"^[^\\\\s\\\\]\\\\[^-]+$\""},
	    {"{\"pattern\":\"^[+--]$\"}", "\",\"", ""},
	    {"{\"pattern\":\"^[\\\\^]$\"}", "\"^\"", ""},
	    {"{\"pattern\":\"^[\\\\^-]$\"}", "\"-\"", ""},
	    {"{\"pattern\":\"^.$\"}", "\"\xc3\xa4\"", ""},
	    {"{\"pattern\":\"^.$\"}", "\"\\n\"", "arguments: expected a match of \"^.$\""},
	    {"{\"pattern\":\"^[^]$\"}", "\"\\n\"", ""},
	    {"{\"pattern\":\"^[\xc3\xa0-\xc3\xbc]+$\"}", "\"\xc3\xa4\xc3\xb6\"", ""},
	    {"{\"pattern\":\"^\\\\u00e4\\\\x41\\\\u{1F600}$\"}", "\"\xc3\xa4\x41\xf0\x9f\x98\x80\"",
		""},
	    {"{\"pattern\":\"^\\\\D\\\\W\\\\S$\"}", "\"a-b\"", ""},
	    {"{\"pattern\":\"^[\\\\D]$\"}", "\"\xf0\x9f\x98\x80\"", ""},
	    {"{\"pattern\":\"^a{2}{$\"}", "\"aa{\"", ""},
	    {"{\"pattern\":\"a{,2}}\"}", "\"a{,2}}\"", ""},
	    {"{\"pattern\":\"\\\\bfoo\\\\b\"}", "\"a foo.\"", ""},
	    {"{\"pattern\":\"(a\"}", "\"a\"",
		"S/pattern: expected a regular expression, this one has a group without its end"},
	    {"{\"pattern\":\"a)\"}", "\"a\"",
		"S/pattern: expected a regular expression, this one closes a group that is not "
		"open"},
	    {"{\"pattern\":\"[b-a]\"}", "\"a\"",
		"S/pattern: expected a regular expression, this one has a range that runs "
		"backwards"},
	    {"{\"pattern\":\"[a\"}", "\"a\"",
		"S/pattern: expected a regular expression, this one has a class without its end"},
	    {"{\"pattern\":\"*a\"}", "\"a\"",
		"S/pattern: expected a regular expression, this one repeats nothing"},
	};
	CHECK_VERDICTS(cases);
}

/* The only warning of a schema that is fine otherwise, and allows any string. */
static void check_warning(const char *schema_text, const char *warning)
{
	struct problems problems = {0};
	char why[SCHEMA_WHY_SIZE];
	cJSON *json = json_parse(schema_text, strlen(schema_text), JSON_TRUSTED_DEPTH, NULL);
	cJSON *value = cJSON_CreateString("zz");
	struct schema *schema = schema_compile(json, "S", &problems);
	CU_ASSERT_PTR_NOT_NULL_FATAL(schema);
	CU_ASSERT_EQUAL_FATAL(problems.count, 1);
	CU_ASSERT_TRUE(problems.items[0].warning);
	CU_ASSERT_STRING_EQUAL(problems.items[0].text, warning);
	CU_ASSERT_TRUE(schema_accepts(schema, value, "it", why));
	schema_free(schema);
	problems_release(&problems);
	cJSON_Delete(json);
	cJSON_Delete(value);
}

static void what_is_not_checked_is_warned_of(void)
{
	check_warning("{\"pattern\":\"(?=a)\"}",
	    "S/pattern: the regular expression looks ahead or behind and is not checked");
	check_warning("{\"pattern\":\"(a)\\\\1\"}",
	    "S/pattern: the regular expression has a back-reference and is not checked");
	check_warning("{\"pattern\":\"\\\\p{L}\"}",
	    "S/pattern: the regular expression has a Unicode property and is not checked");
	check_warning("{\"pattern\":\"((a{30}){30}){30}\"}",
	    "S/pattern: the regular expression repeats too often and is not checked");
	check_warning("{\"unevaluatedProperties\":false}",
	    "S/unevaluatedProperties: this keyword is not checked");
	check_warning("{\"patternProperties\":{\"(?!a)\":{}},\"additionalProperties\":false}",
	    "S/patternProperties/(?!a): the regular expression looks ahead or behind and is not "
	    "checked");
}

static void mistakes_in_schemas_are_told_with_their_place(void)
{
	static const struct expectation cases[] = {
	    {"{\"type\":\"strng\"}", "1",
		"S/type: expected one of null, boolean, object, array, number, integer, string, "
		"or an array of them"},
	    {"{\"properties\":{\"a\":{\"type\":5}}}", "1",
		"S/properties/a/type: expected one of null, boolean, object, array, number, "
		"integer, string, or an array of them"},
	    {"{\"properties\":5}", "1", "S/properties: expected an object"},
	    {"{\"properties\":{\"a\":5}}", "1", "S/properties/a: expected a schema, found number"},
	    {"{\"required\":[1]}", "1", "S/required: expected an array of strings"},
	    {"{\"minLength\":-1}", "1", "S/minLength: expected an integer of at least 0"},
	    {"{\"multipleOf\":0}", "1", "S/multipleOf: expected a number greater than 0"},
	    {"{\"anyOf\":[]}", "1", "S/anyOf: expected an array of schemas"},
	    {"{\"allOf\":[{},7]}", "1", "S/allOf/1: expected a schema, found number"},
	    {"{\"enum\":5}", "1", "S/enum: expected an array"},
	    {"{\"maximum\":\"5\"}", "1", "S/maximum: expected a number"},
	    {"{\"uniqueItems\":1}", "1", "S/uniqueItems: expected true or false"},
	    {"{\"$ref\":\"#/$defs/x\"}", "1",
		"S/$ref: expected a reference to a place in this schema, found '#/$defs/x'"},
	    {"{\"$ref\":\"http://example.com/s\"}", "1",
		"S/$ref: expected a reference to a place in this schema, found "
		"'http://example.com/s'"},
	    {"5", "1", "S: expected a schema, found number"},
	};
	CHECK_VERDICTS(cases);
}

static void no_schema_makes_a_check_endless(void)
{
	static const struct expectation cases[] = {
	    {"{\"$ref\":\"#\"}", "1", "arguments: expected a value that takes less work to check"},
	    {"{\"not\":{\"$ref\":\"#\"}}", "1",
		"arguments: expected a value that takes less work to check"},
	    {"{\"anyOf\":[{\"not\":{\"$ref\":\"#\"}},{\"not\":{\"$ref\":\"#\"}}]}", "1",
		"arguments: expected a value that takes less work to check"},
	};
	CHECK_VERDICTS(cases);
}

/* A text of count times one part, between others. */
static char *repeated(const char *begin, const char *part, const char *end, size_t count)
{
	size_t len = strlen(part);
	char *text = xmalloc(strlen(begin) + len * count + strlen(end) + 1), *p = text;
	p = stpcpy(p, begin);
	for (size_t i = 0; i < count; i++)
		p = stpcpy(p, part);
	strcpy(p, end);
	return text;
}

/* Takes milliseconds; without the bounds a minute and more. */
static void no_schema_makes_its_reading_endless(void)
{
	static const struct {
		const char *part, *ending;
		int parts, endings;
		const char *problem;
	} rows[] = {
	    {"{\"$ref\":\"#/0/29999\"},", "0,", 9000, 30000, "expected fewer references"},
	    {"{\"$ref\":\"#nowhere\"},", "0,", 9000, 100000, "expected fewer references"},
	    {"{\"type\":1},", "0,", 9000, 0, "expected one of null"},
	};
	for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
		char *refs = repeated("{\"prefixItems\":[", rows[i].part, "{}]", rows[i].parts);
		char *rest = repeated(",\"0\":[", rows[i].ending, "{}]}", rows[i].endings);
		char *text = xasprintf("%s%s", refs, rest);
		cJSON *json = json_parse(text, strlen(text), JSON_REQUEST_DEPTH, NULL);
		struct problems problems = {0};
		unit_row("%s", rows[i].part);
		CU_ASSERT_PTR_NULL(schema_compile(json, "it", &problems));
		CU_ASSERT(problems.count > 0 && problems.count <= 101);
		if (problems.count)
			CU_ASSERT_PTR_NOT_NULL(
			    strstr(problems.items[problems.count - 1].text, rows[i].problem));
		problems_release(&problems);
		cJSON_Delete(json);
		free(text);
		free(rest);
		free(refs);
	}
}

static void large_arguments_are_checked_in_bounds(void)
{
	char *array = repeated("[", "{\"a\":1},", "0]", 200000);
	char *deep = repeated("", "[", "", 150), *close = repeated("", "]", "", 150);
	char *nested = xasprintf("%s%s", deep, close);
	CU_ASSERT_STRING_EQUAL(verdict("{\"uniqueItems\":true}", array),
	    "arguments: expected elements that all differ");
	CU_ASSERT_STRING_EQUAL(
	    verdict("{}", nested), "arguments: expected at most 100 levels of nesting");
	free(array);
	free(deep);
	free(close);
	free(nested);
}

static void many_equal_hashes_end_the_work(void)
{
	/* arrays in arrays multiply; what is too much is said so */
	char *inner = repeated("[", "[1,2,3,4,5,6,7,8],", "0]", 3000);
	CU_ASSERT_STRING_EQUAL(
	    verdict("{\"allOf\":[{\"items\":{\"items\":{\"enum\":[11,12,13,14,15,16,17,18,19,20,"
		    "1,2,3,4,5,6,7,8]}}},{\"uniqueItems\":true}]}",
		inner),
	    "arguments: expected elements that all differ");
	free(inner);
}

static const struct unit_test tests[] = {
    {"draft 7 is checked as its test suite says", draft_7_is_checked_as_its_test_suite_says},
    {"draft 6 is checked as its test suite says", draft_6_is_checked_as_its_test_suite_says},
    {"a mismatch is told with its place", a_mismatch_is_told_with_its_place},
    {"later drafts are understood", later_drafts_are_understood},
    {"numbers are compared exactly", numbers_are_compared_exactly},
    {"regular expressions are those of ECMA", regular_expressions_are_those_of_ecma},
    {"what is not checked is warned of", what_is_not_checked_is_warned_of},
    {"mistakes in schemas are told with their place",
	mistakes_in_schemas_are_told_with_their_place},
    {"no schema makes a check endless", no_schema_makes_a_check_endless},
    {"no schema makes its reading endless", no_schema_makes_its_reading_endless},
    {"large arguments are checked in bounds", large_arguments_are_checked_in_bounds},
    {"many equal elements are found", many_equal_hashes_end_the_work},
};

int main(void)
{
	memory_init();
	return unit_main("schema", tests, UNIT_COUNT(tests));
}
