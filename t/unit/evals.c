/* SPDX-License-Identifier: ISC */
/* Eval reports: their texts, what is mended in them, and walking over large ones. */
#include "base/json/json_scan.h"
#include "base/json/json_skim.h"
#include "base/memory.h"
#include "service/evals/eval_file.h"
#include "service/evals/eval_values.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char text[EVAL_TEXT_SIZE];

#define CHECK(call, expected) CU_ASSERT_STRING_EQUAL(call, expected)

static void words_ages(void)
{
	CHECK(eval_ago(-5, text), "just now");
	CHECK(eval_ago(59.9, text), "just now");
	CHECK(eval_ago(60, text), "1m ago");
	CHECK(eval_ago(3599, text), "59m ago");
	CHECK(eval_ago(3600, text), "1h ago");
	CHECK(eval_ago(86399, text), "23h ago");
	CHECK(eval_ago(86400, text), "1d ago");
	CHECK(eval_ago(1e6, text), "11d ago");
}

static void words_numbers(void)
{
	CHECK(eval_seconds(1.25, text), "1.2s");
	CHECK(eval_seconds(0.75, text), "0.8s");
	CHECK(eval_tokens(999, text), "999 tok");
	CHECK(eval_tokens(1000, text), "1.0k tok");
	CHECK(eval_tokens(1705, text), "1.7k tok");
	CHECK(eval_tokens(-3, text), "-3 tok");
	CU_ASSERT_EQUAL(eval_round(66.66666, 1), 66.7);
	CU_ASSERT_EQUAL(eval_round(1.25, 1), 1.2);
	CU_ASSERT_EQUAL(eval_round(-1e308, 2), -1e308);
}

static void words_moments(void)
{
	CHECK(eval_moment(1788345000, text), "2026-09-02 10:30");
	CHECK(eval_moment(-1, text), "1969-12-31 23:59");
	CHECK(eval_moment(253402300799.0, text), "9999-12-31 23:59");
	CHECK(eval_moment(0, text), "");
	CHECK(eval_moment(1e300, text), "");
	CHECK(eval_moment(-1e300, text), "");
}

static const char *mended(const char *from)
{
	static char copy[512];
	snprintf(copy, sizeof(copy), "%s", from);
	eval_text_mend(copy, strlen(copy));
	return copy;
}

static void mends_numbers(void)
{
	CHECK(mended("[NaN, -Infinity,Infinity]"), "[0  , 0        ,0       ]");
	CHECK(
	    mended("{\"a\":1e999,\"b\":-1E999,\"c\":1e9}"), "{\"a\":0    ,\"b\":0     ,\"c\":1e9}");
	CHECK(mended("NaN"), "0  ");
}

static void leaves_other_words(void)
{
	CHECK(mended("[1NaN,NaN1,xNaN,-NaN,Infinit]"), "[1NaN,NaN1,xNaN,-NaN,Infinit]");
	CHECK(mended("[\"NaN\",\"a\\\"NaN,\",1]"), "[\"NaN\",\"a\\\"NaN,\",1]");
	CHECK(mended("NaN\"x\""), "NaN\"x\"");
	CHECK(mended("[\"open NaN"), "[\"open NaN");
	CHECK(mended("\"\\"), "\"\\");
	CHECK(mended("\"\\u00"), "\"\\u00");
}

static void mends_characters(void)
{
	CHECK(mended("\"a\\u0000b\""), "\"a\\ufffdb\"");
	CHECK(mended("\"\\ud83d\\ude00\""), "\"\\ud83d\\ude00\"");
	CHECK(mended("\"\\ud83dx\\ude00\""), "\"\\ufffdx\\ufffd\"");
	CHECK(mended("\"\\ud83d\\ud83d\\ude00\""), "\"\\ufffd\\ud83d\\ude00\"");
	CHECK(mended("\"\\\\u0000\""), "\"\\\\u0000\"");
}

static struct json_span skim(const char *json)
{
	struct json_scan scan;
	CU_ASSERT_EQUAL_FATAL(json_scan(&scan, json, strlen(json), 100, SIZE_MAX), JSON_OK);
	json_scan_release(&scan);
	return json_skim_text(json, strlen(json));
}

static const char *shown(struct json_span span)
{
	static char copy[512];
	snprintf(copy, sizeof(copy), "%.*s", (int)span.len, span.start ? span.start : "");
	return copy;
}

static void finds_members(void)
{
	struct json_span root = skim(
	    " { \"a\" : 1 , \"b\":[1,{\"a\":\"}\"}],\"c\":\"x\\\"\",\"a\":-2.5e3, \"\\u0064\":null} ");
	CHECK(shown(json_skim_member(root, "a")), "-2.5e3");
	CHECK(shown(json_skim_member(root, "b")), "[1,{\"a\":\"}\"}]");
	CHECK(shown(json_skim_member(root, "c")), "\"x\\\"\"");
	CHECK(shown(json_skim_member(root, "d")), "null");
	CU_ASSERT_PTR_NULL(json_skim_member(root, "e").start);
	CU_ASSERT_PTR_NULL(json_skim_member(skim("{}"), "a").start);
	CU_ASSERT_PTR_NULL(json_skim_member(skim("[{\"a\":1}]"), "a").start);
	CU_ASSERT_PTR_NULL(json_skim_member(skim("\"{\""), "a").start);
}

static void walks_over_elements(void)
{
	struct json_span array = skim("[ 1, \"]\" ,[2,3],{} , true]"), at = {0};
	static const char *const expected[] = {"1", "\"]\"", "[2,3]", "{}", "true"};
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		CU_ASSERT_FATAL(json_skim_next(array, &at));
		CHECK(shown(at), expected[i]);
	}
	CU_ASSERT_FALSE(json_skim_next(array, &at));
	at = (struct json_span){0};
	CU_ASSERT_FALSE(json_skim_next(skim("[ ]"), &at));
	CU_ASSERT_FALSE(json_skim_next(skim("{}"), &at));
	CU_ASSERT_FALSE(json_skim_next((struct json_span){0}, &at));
}

static void a_span_becomes_a_tree(void)
{
	struct json_span root = skim("{\"a\":{\"b\":[1]}}");
	cJSON *tree = json_skim_parse(json_skim_member(root, "a"));
	CU_ASSERT_PTR_NOT_NULL(json_get(tree, "b"));
	cJSON_Delete(tree);
	CU_ASSERT_PTR_NULL(json_skim_parse((struct json_span){0}));
}

static bool counts(const char *name, mode_t mode, off_t size)
{
	const struct stat st = {.st_mode = mode | 0644, .st_size = size};
	return eval_file_counts(name, &st);
}

static void only_regular_files_count(void)
{
	CU_ASSERT(counts("a.json", S_IFREG, 10));
	CU_ASSERT(counts(".a.json", S_IFREG, 10));
	CU_ASSERT_FALSE(counts("a.json", S_IFLNK, 10));
	CU_ASSERT_FALSE(counts("a.json", S_IFIFO, 0));
	CU_ASSERT_FALSE(counts("a.json", S_IFDIR, 0));
	CU_ASSERT_FALSE(counts("a.json", S_IFREG, EVAL_FILE_MAX + 1));
	CU_ASSERT_FALSE(counts("a.jsonl", S_IFREG, 10));
	CU_ASSERT_FALSE(counts(".json", S_IFREG, 10));
	CU_ASSERT_FALSE(counts("a.JSON", S_IFREG, 10));
	CU_ASSERT_FALSE(counts("\xff.json", S_IFREG, 10));
}

static void a_link_is_not_followed(void)
{
	struct eval_file file;
	struct stat st;
	FILE *f = fopen(unit_path("real.json"), "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fputs("{\"a\":NaN}", f);
	fclose(f);
	CU_ASSERT_EQUAL(symlink("real.json", unit_path("link.json")), 0);
	int dir = open(unit_dir(), O_RDONLY | O_DIRECTORY);
	CU_ASSERT_FATAL(eval_file_read(&file, dir, "real.json", &st));
	CHECK(shown(json_skim_member(file.root, "a")), "0");
	eval_file_release(&file);
	CU_ASSERT_FALSE(eval_file_read(&file, dir, "link.json", &st));
	CU_ASSERT_FALSE(eval_file_read(&file, dir, "none.json", &st));
	close(dir);
}

static const struct unit_test tests[] = {
    {"an age is told in its largest unit, rounded down", words_ages},
    {"numbers are rounded as they are printed", words_numbers},
    {"a moment is told in UTC, and none where no calendar reaches", words_moments},
    {"bare NaN, Infinity and numbers beyond a double become 0", mends_numbers},
    {"what only looks like them stays", leaves_other_words},
    {"U+0000 and lone surrogates are replaced", mends_characters},
    {"a member is found without a tree, of equal names the last", finds_members},
    {"elements are walked over without a tree", walks_over_elements},
    {"a span becomes a tree", a_span_becomes_a_tree},
    {"only regular files of a name and a size are reports", only_regular_files_count},
    {"a link is not followed", a_link_is_not_followed},
};

int main(void)
{
	memory_init();
	return unit_main("evals", tests, UNIT_COUNT(tests));
}
