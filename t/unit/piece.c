/* SPDX-License-Identifier: ISC */
/* Pieces of a streamed message: the text that is sent is that of the tree, however it was made. */
#include "base/json/json.h"
#include "base/memory.h"
#include "graph/message/message.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static const char id[] = "01a20089-ad21-71f6-9607-4bb3235a1bb0";

static void check(struct piece *piece, const char *text, const char *at)
{
	const char *json;
	const cJSON *message = piece_next(piece, text, &json);
	char *printed = json_print(message);
	CU_ASSERT_STRING_EQUAL(json, printed);
	const cJSON *block = json_get(message, "content")->child;
	CU_ASSERT_STRING_EQUAL(json_str(block, at), text);
	CU_ASSERT_TRUE(cJSON_IsTrue(json_get(message, "delta")));
	free(printed);
}

static void check_all(bool reasoning, const char *at)
{
	static const char *const texts[] = {"a", " longer than the one before", "b", "",
	    "\"quoted\\\"", "\n\t\x01", "\xc3\xa9 \xf0\x9f\x98\x80", "\"text\":\"",
	    "\"timestamp\":"};
	struct arena *arena = arena_new();
	struct piece *piece = piece_new(arena, id, reasoning);
	CU_ASSERT_STRING_EQUAL(piece_id(piece), id);
	for (size_t i = 0; i < UNIT_COUNT(texts); i++)
		check(piece, texts[i], at);
	arena_free(arena);
}

static void texts_of_all_kinds_are_the_trees(void)
{
	check_all(false, "text");
}

static void so_are_those_of_reasoning(void)
{
	check_all(true, "summary");
}

static void each_piece_has_its_own_time(void)
{
	struct arena *arena = arena_new();
	struct piece *piece = piece_new(arena, id, false);
	const char *json;
	double first, second;
	json_number(json_get(piece_next(piece, "a", &json), "timestamp"), &first);
	CU_ASSERT(first > 1600000000);
	do
		json_number(json_get(piece_next(piece, "a", &json), "timestamp"), &second);
	while (second == first);
	CU_ASSERT(second > first);
	arena_free(arena);
}

static const struct unit_test tests[] = {
    {"texts of all kinds are the trees'", texts_of_all_kinds_are_the_trees},
    {"so are those of reasoning", so_are_those_of_reasoning},
    {"each piece has its own time", each_piece_has_its_own_time},
};

int main(void)
{
	memory_init();
	return unit_main("piece", tests, UNIT_COUNT(tests));
}
