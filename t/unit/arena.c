/* SPDX-License-Identifier: ISC */
/* Arenas: what is allocated in one, and what ends with it. */
#include "base/arena.h"
#include "base/buf.h"
#include "unit.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void memory_is_zeroed_and_aligned(void)
{
	struct arena *a = arena_new();
	for (size_t size = 1; size < 3000; size += 7) {
		unsigned char *p = arena_alloc(a, size);
		CU_ASSERT_EQUAL((uintptr_t)p % _Alignof(max_align_t), 0);
		unsigned sum = 0;
		for (size_t i = 0; i < size; i++)
			sum += p[i];
		CU_ASSERT_EQUAL(sum, 0);
		memset(p, 0xFF, size);
	}
	arena_free(a);
}

static void pieces_do_not_overlap(void)
{
	enum { COUNT = 400 };
	unsigned char *piece[COUNT];
	struct arena *a = arena_new();
	for (int i = 0; i < COUNT; i++) {
		piece[i] = arena_alloc(a, (size_t)(i * 37 % 9000) + 1);
		memset(piece[i], i & 0xFF, (size_t)(i * 37 % 9000) + 1);
	}
	for (int i = 0; i < COUNT; i++) {
		CU_ASSERT_EQUAL(piece[i][0], i & 0xFF);
		CU_ASSERT_EQUAL(piece[i][i * 37 % 9000], i & 0xFF);
	}
	arena_free(a);
}

static void a_large_piece_leaves_the_block_in_use(void)
{
	struct arena *a = arena_new();
	char *before = arena_alloc(a, 16);
	CU_ASSERT_PTR_NOT_NULL(arena_alloc(a, 1 << 20));
	char *after = arena_alloc(a, 16);
	CU_ASSERT_EQUAL(after - before, 16);
	arena_free(a);
}

static void strings_are_copied(void)
{
	struct arena *a = arena_new();
	char text[] = "hello";
	char *copy = arena_strdup(a, text);
	text[0] = 'j';
	CU_ASSERT_STRING_EQUAL(copy, "hello");
	CU_ASSERT_STRING_EQUAL(arena_strndup(a, text, 2), "je");
	CU_ASSERT_STRING_EQUAL(arena_strndup(a, text, 100), "jello");
	CU_ASSERT_STRING_EQUAL(arena_strndup(a, "", 0), "");
	CU_ASSERT_PTR_NULL(arena_strdup(a, NULL));
	struct buf written = {0};
	CU_ASSERT_STRING_EQUAL(arena_take(a, &written), "");
	buf_puts(&written, "written");
	CU_ASSERT_STRING_EQUAL(arena_take(a, &written), "written");
	CU_ASSERT_PTR_NULL(written.data);
	CU_ASSERT_PTR_NULL(arena_strndup(a, NULL, 3));
	arena_free(a);
}

static void printf_takes_any_length(void)
{
	struct arena *a = arena_new();
	CU_ASSERT_STRING_EQUAL(arena_printf(a, "%d-%s", 7, "x"), "7-x");
	char *text = arena_printf(a, "%*s", 100000, "end");
	CU_ASSERT_EQUAL(strlen(text), 100000);
	CU_ASSERT_STRING_EQUAL(text + 99997, "end");
	arena_free(a);
}

static char calls[8];

static void note_call(void *arg)
{
	strcat(calls, arg);
}

static void deferred_calls_run_latest_first(void)
{
	struct arena *a = arena_new();
	calls[0] = '\0';
	arena_defer(a, note_call, "a");
	arena_defer(a, note_call, "b");
	arena_defer(a, note_call, "c");
	CU_ASSERT_STRING_EQUAL(calls, "");
	arena_free(a);
	CU_ASSERT_STRING_EQUAL(calls, "cba");
}

static void defer_again(void *arg)
{
	strcat(calls, "1");
	arena_defer(arg, note_call, arena_strdup(arg, "2"));
}

static void a_deferred_call_may_defer_another(void)
{
	struct arena *a = arena_new();
	calls[0] = '\0';
	arena_defer(a, defer_again, a);
	arena_free(a);
	CU_ASSERT_STRING_EQUAL(calls, "12");
}

static int live; /* cJSON allocations not yet freed */

static void *counting_malloc(size_t size)
{
	live++;
	return malloc(size);
}

static void counting_free(void *p)
{
	live -= p != NULL;
	free(p);
}

static void json_goes_with_the_arena(void)
{
	cJSON_Hooks hooks = {counting_malloc, counting_free};
	cJSON_InitHooks(&hooks);
	struct arena *a = arena_new();
	cJSON *root = cJSON_CreateObject();
	cJSON_AddStringToObject(root, "k", "v");
	CU_ASSERT_PTR_EQUAL(arena_json(a, root), root);
	CU_ASSERT_PTR_NULL(arena_json(a, NULL));
	CU_ASSERT_STRING_EQUAL(arena_print(a, root), "{\"k\":\"v\"}");
	CU_ASSERT(live > 0);
	arena_free(a);
	CU_ASSERT_EQUAL(live, 0);
	cJSON_InitHooks(NULL);
}

static void freeing_nothing_is_fine(void)
{
	arena_free(NULL);
	arena_free(arena_new());
}

static const struct unit_test tests[] = {
    {"memory is zeroed and aligned", memory_is_zeroed_and_aligned},
    {"pieces do not overlap", pieces_do_not_overlap},
    {"a large piece leaves the current block in use", a_large_piece_leaves_the_block_in_use},
    {"strings are copied, and NULL stays NULL", strings_are_copied},
    {"printf takes any length", printf_takes_any_length},
    {"deferred calls run with the latest first", deferred_calls_run_latest_first},
    {"a deferred call may defer another one", a_deferred_call_may_defer_another},
    {"a JSON tree goes with its arena", json_goes_with_the_arena},
    {"freeing nothing is fine", freeing_nothing_is_fine},
};

int main(void)
{
	return unit_main("arena", tests, UNIT_COUNT(tests));
}
