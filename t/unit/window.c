/* SPDX-License-Identifier: ISC */
/* Where a context is cut. */
#include "graph/nodes/model_node.h"

#include "base/json/json.h"
#include "base/memory.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

/*
 * A context by letters: u, a: a text of a user or the assistant; c, d: an assistant that calls c or
 * d; r, s: the result of c or d; b: an assistant that calls both; i: an image.
 */
static cJSON *context_of(const char *letters)
{
	static const char *const bodies[] = {
	    ['u'] = "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"1234567890\"}]}",
	    ['a'] = "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"12345\"}]}",
	    ['c'] = "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_call\",\"id\":\"c\","
		    "\"name\":\"x\",\"args\":{}}]}",
	    ['d'] = "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_call\",\"id\":\"d\","
		    "\"name\":\"x\",\"args\":{}}]}",
	    ['b'] = "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_call\",\"id\":\"c\","
		    "\"name\":\"x\",\"args\":{}},{\"type\":\"remote_tool_call\",\"id\":\"d\","
		    "\"name\":\"x\",\"args\":{}}]}",
	    ['r'] = "{\"role\":\"tool\",\"content\":[{\"type\":\"tool_result\",\"call_id\":\"c\","
		    "\"output\":1}]}",
	    ['s'] = "{\"role\":\"tool\",\"content\":[{\"type\":\"tool_result\",\"call_id\":\"d\","
		    "\"output\":1}]}",
	    ['i'] = "{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"media\":{}}]}",
	};
	cJSON *context = cJSON_CreateArray();
	for (; *letters; letters++) {
		const char *body = bodies[(unsigned char)*letters];
		cJSON_AddItemToArray(
		    context, json_parse(body, strlen(body), JSON_REQUEST_DEPTH, NULL));
	}
	return context;
}

/* What is left of the context. */
static const char *left(const char *letters, size_t max_messages, size_t max_tokens, double keep)
{
	const struct window window = {max_messages, max_tokens, keep};
	cJSON *context = context_of(letters);
	size_t cut = window_cut(&window, context);
	cJSON_Delete(context);
	return letters + cut;
}

static void a_context_within_its_limits_stays(void)
{
	CU_ASSERT_STRING_EQUAL(left("uaua", 4, 0, 0.5), "uaua");
	CU_ASSERT_STRING_EQUAL(left("uaua", 0, 1000, 0.5), "uaua");
	CU_ASSERT_STRING_EQUAL(left("uaua", 0, 0, 0.5), "uaua");
	CU_ASSERT_STRING_EQUAL(left("", 1, 1, 0.5), "");
}

static void one_too_many_cuts_to_the_share(void)
{
	CU_ASSERT_STRING_EQUAL(left("uauau", 4, 0, 0.75), "uau");
	CU_ASSERT_STRING_EQUAL(left("uauauaua", 6, 0, 0.34), "ua");
}

static void what_stays_begins_with_a_user(void)
{
	CU_ASSERT_STRING_EQUAL(left("uaaua", 4, 0, 0.75), "ua");
	CU_ASSERT_STRING_EQUAL(left("uaaaa", 4, 0, 0.75), "aaa");
}

static void calls_and_results_stay_together(void)
{
	CU_ASSERT_STRING_EQUAL(left("uacrau", 5, 0, 0.6), "u");
	CU_ASSERT_STRING_EQUAL(left("uaacr", 4, 0, 0.25), "cr");
	CU_ASSERT_STRING_EQUAL(left("ucrdsa", 5, 0, 0.6), "dsa");
	CU_ASSERT_STRING_EQUAL(left("ubrsa", 4, 0, 0.5), "a");
	CU_ASSERT_STRING_EQUAL(left("ubrs", 3, 0, 0.5), "brs");
}

static void a_result_without_a_call_is_no_reason(void)
{
	CU_ASSERT_STRING_EQUAL(left("uarua", 4, 0, 0.5), "ua");
}

static void the_last_message_always_stays(void)
{
	CU_ASSERT_STRING_EQUAL(left("uau", 1, 0, 0.1), "u");
	CU_ASSERT_STRING_EQUAL(left("uau", 0, 1, 1), "u");
}

static void tokens_are_counted_by_length(void)
{
	cJSON *context = context_of("uai");
	CU_ASSERT_EQUAL(window_tokens(cJSON_GetArrayItem(context, 0)), (16 + 10) / 4 + 1);
	CU_ASSERT_EQUAL(window_tokens(cJSON_GetArrayItem(context, 1)), (16 + 5) / 4 + 1);
	CU_ASSERT_EQUAL(window_tokens(cJSON_GetArrayItem(context, 2)), (16 + 4096) / 4 + 1);
	cJSON_Delete(context);
	CU_ASSERT_STRING_EQUAL(left("uauaua", 0, 30, 1), "uaua");
	CU_ASSERT_STRING_EQUAL(left("iua", 0, 1000, 0.5), "ua");
}

static const struct unit_test tests[] = {
    {"a context within its limits stays", a_context_within_its_limits_stays},
    {"one too many cuts to the share", one_too_many_cuts_to_the_share},
    {"what stays begins with a user", what_stays_begins_with_a_user},
    {"calls and results stay together", calls_and_results_stay_together},
    {"a result without a call is no reason to keep more", a_result_without_a_call_is_no_reason},
    {"the last message always stays", the_last_message_always_stays},
    {"tokens are counted by length", tokens_are_counted_by_length},
};

int main(void)
{
	memory_init();
	return unit_main("window", tests, UNIT_COUNT(tests));
}
