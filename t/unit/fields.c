/* SPDX-License-Identifier: ISC */
/* Objects of JSON read by tables, as bodies of requests: what fits,
 * and what is said of the rest. */
#include "base/fields.h"

#include "base/json/json.h"
#include "unit.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum colour { RED, GREEN };

struct thing {
	char *name;
	const char *note, *mood;
	const cJSON *tags, *guests;
	bool loud;
	int64_t count;
	double seconds;
	enum colour colour;
};

static const struct choice colours[] = {{"red", RED}, {"green", GREEN}, {NULL, 0}};

#define ROW(member, ...) FIELD(thing, member, __VA_ARGS__)
static const struct field_row inner_rows[] = {
    ROW(seconds, .kind = &field_number, .min = DBL_TRUE_MIN, .expected = "a time above 0"),
    FIELDS_END,
};
static const struct field_row rows[] = {
    ROW(name, .kind = &field_string, .required = true, .wrong = "is required"),
    ROW(note, .kind = &field_filled),
    ROW(mood, .kind = &field_filled, .choices = colours),
    ROW(tags, .kind = &field_json, .types = TYPE_STRING | TYPE_ARRAY),
    ROW(guests, .kind = &field_json, .types = TYPE_ARRAY, .min = 2, .wrong = "must be two"),
    ROW(loud, .kind = &field_bool),
    ROW(count, .kind = &field_integer, .min = 1, .max = 9, .expected = "an integer from 1 to 9",
	.wrong = "must be from 1 to 9"),
    ROW(colour, .kind = &field_choice, .choices = colours),
    {.key = "limits", .kind = &field_object, .rows = inner_rows},
    FIELD_ONLY("checked", .types = TYPE_OBJECT),
    FIELDS_END,
};

static struct thing thing;
static struct error err;
static cJSON *body;

static bool read_thing(const char *json)
{
	cJSON_Delete(body);
	error_release(&err);
	fields_release(rows, &thing);
	thing = (struct thing){.note = "kept", .count = 5};
	body = json_parse(json, strlen(json), JSON_REQUEST_DEPTH, NULL);
	return fields_read_body(&err, "body", body, rows, &thing);
}

static void what_fits_gets_into_its_members(void)
{
	CU_ASSERT(read_thing(
	    "{\"name\":\"x\",\"note\":\"y\",\"mood\":\"red\",\"tags\":[1],"
	    "\"loud\":true,\"guests\":[1,2],\"count\":9,\"colour\":\"green\",\"limits\":{"
	    "\"seconds\":0.5},\"checked\":{},\"more\":1}"));
	CU_ASSERT_STRING_EQUAL(thing.name, "x");
	CU_ASSERT_STRING_EQUAL(thing.note, "y");
	CU_ASSERT_STRING_EQUAL(thing.mood, "red");
	CU_ASSERT_EQUAL(cJSON_GetArraySize(thing.tags), 1);
	CU_ASSERT_EQUAL(cJSON_GetArraySize(thing.guests), 2);
	CU_ASSERT(thing.loud && thing.count == 9 && thing.colour == GREEN);
	CU_ASSERT_EQUAL(thing.seconds, 0.5);
}

static void what_is_absent_null_or_wrong_stays(void)
{
	CU_ASSERT(read_thing("{\"name\":\"x\",\"note\":\"\",\"mood\":\"\",\"count\":null}"));
	CU_ASSERT_STRING_EQUAL(thing.note, "kept");
	CU_ASSERT_PTR_NULL(thing.mood);
	CU_ASSERT_EQUAL(thing.count, 5);
	CU_ASSERT_FALSE(read_thing("{\"name\":\"x\",\"count\":10,\"colour\":\"blue\"}"));
	CU_ASSERT(thing.count == 5 && thing.colour == RED);
}

static void each_mistake_is_a_detail(void)
{
	static const struct {
		const char *json, *where, *type, *msg;
	} cases[] = {
	    {"{}", "[\"body\",\"name\"]", "missing", "name is required"},
	    {"{\"name\":null}", "[\"body\",\"name\"]", "missing", "name is required"},
	    {"{\"name\":1}", "[\"body\",\"name\"]", "type_error",
		"name must be a string that is not empty"},
	    {"{\"name\":\"\"}", "[\"body\",\"name\"]", "value_error", "name is required"},
	    {"{\"name\":\"x\",\"count\":\"1\"}", "[\"body\",\"count\"]", "type_error",
		"count must be an integer from 1 to 9"},
	    {"{\"name\":\"x\",\"count\":1.5}", "[\"body\",\"count\"]", "value_error",
		"count must be an integer from 1 to 9"},
	    {"{\"name\":\"x\",\"count\":0}", "[\"body\",\"count\"]", "value_error",
		"count must be from 1 to 9"},
	    {"{\"name\":\"x\",\"tags\":{}}", "[\"body\",\"tags\"]", "type_error",
		"tags must be a string or an array"},
	    {"{\"name\":\"x\",\"guests\":[1]}", "[\"body\",\"guests\"]", "value_error",
		"guests must be two"},
	    {"{\"name\":\"x\",\"mood\":\"blue\"}", "[\"body\",\"mood\"]", "value_error",
		"mood must be one of red, green"},
	    {"{\"name\":\"x\",\"colour\":\"blue\"}", "[\"body\",\"colour\"]", "value_error",
		"colour must be one of red, green"},
	    {"{\"name\":\"x\",\"limits\":[]}", "[\"body\",\"limits\"]", "type_error",
		"limits must be an object"},
	    {"{\"name\":\"x\",\"limits\":{\"seconds\":0}}", "[\"body\",\"limits\",\"seconds\"]",
		"value_error", "limits.seconds must be a time above 0"},
	    {"{\"name\":\"x\",\"checked\":1}", "[\"body\",\"checked\"]", "type_error",
		"checked must be an object"},
	};
	for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
		CU_ASSERT_FALSE(read_thing(cases[i].json));
		CU_ASSERT_EQUAL(err.mistakes, 1);
		const cJSON *detail = cJSON_GetArrayItem(err.details, 0);
		char *loc = json_print(json_get(detail, "loc"));
		CU_ASSERT_STRING_EQUAL(loc, cases[i].where);
		CU_ASSERT_STRING_EQUAL(json_str(detail, "type"), cases[i].type);
		CU_ASSERT_STRING_EQUAL(json_str(detail, "msg"), cases[i].msg);
		free(loc);
	}
}

static void all_mistakes_are_told(void)
{
	CU_ASSERT_FALSE(read_thing("{\"count\":0,\"limits\":{\"seconds\":-1},\"loud\":1}"));
	CU_ASSERT_EQUAL(err.mistakes, 4);
	CU_ASSERT_STRING_EQUAL(err.detail, "name is required");
}

static void a_table_may_only_check(void)
{
	CU_ASSERT(read_thing("{\"name\":\"x\"}"));
	CU_ASSERT(fields_read_body(&err, "body", body, rows, NULL));
	CU_ASSERT_PTR_NOT_NULL(fields_find(rows, "colour"));
	CU_ASSERT_PTR_NULL(fields_find(rows, "col"));
}

static void note(const struct field_reader *reader, const char *path, const struct field_row *f,
    enum field_fault fault, const cJSON *found)
{
	char *expected = field_expected(f);
	(void)found;
	buf_printf(reader->where, "%s: %s|", path, fault == FIELD_UNKNOWN ? "unknown" : expected);
	free(expected);
}

static void a_strict_reader_takes_no_other_members(void)
{
	static const struct field_row ranges[] = {
	    FIELD_ONLY("part", .kind = &field_number, .min = 0.05, .max = 1),
	    FIELD_ONLY("count", .kind = &field_integer, .min = 1, .max = 1e9), FIELDS_END};
	static const struct field_row outer[] = {
	    {.key = "limits", .kind = &field_object, .rows = ranges}, FIELDS_END};
	struct buf told = {0};
	struct field_reader reader = {.report = note, .where = &told, .joint = '/', .strict = true};
	cJSON *object =
	    cJSON_Parse("{\"limits\":{\"part\":2,\"count\":0,\"most\":1},\"limit\":null}");
	CU_ASSERT_FALSE(fields_read(&reader, object, outer, NULL));
	CU_ASSERT_STRING_EQUAL(buf_str(&told),
	    "limit: unknown|limits/most: unknown|limits/part: a number from 0.05 to 1|"
	    "limits/count: an integer from 1 to 1000000000|");
	reader.report = NULL;
	CU_ASSERT_FALSE(fields_read(&reader, object, outer, NULL));
	buf_release(&told);
	cJSON_Delete(object);
}

static void release(void)
{
	fields_release(rows, &thing);
	CU_ASSERT_PTR_NULL(thing.name);
	cJSON_Delete(body);
	error_release(&err);
}

static const struct unit_test tests[] = {
    {"what fits gets into its members", what_fits_gets_into_its_members},
    {"what is absent, null or wrong stays", what_is_absent_null_or_wrong_stays},
    {"each mistake is a detail", each_mistake_is_a_detail},
    {"all mistakes are told", all_mistakes_are_told},
    {"a table may only check", a_table_may_only_check},
    {"a strict reader takes no other members", a_strict_reader_takes_no_other_members},
    {"what is owned is released", release},
};

int main(void)
{
	return unit_main("fields", tests, UNIT_COUNT(tests));
}
