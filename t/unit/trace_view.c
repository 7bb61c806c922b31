/* SPDX-License-Identifier: ISC */
/* What /v1/observability makes of records, worked out by hand. */
#include "base/json/json.h"
#include "service/trace/trace.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START 1788256800000000

/* The run of the worked example: /add 2 3 on builtin:demo. */
static const char example[] =
    "[{\"at\":10000,\"type\":\"updates\",\"node\":\"agent\",\"status\":\"invoking_node\"},"
    "{\"at\":900000,\"type\":\"message\",\"node\":\"agent\",\"role\":\"assistant\","
    "\"blocks\":[\"tool_call\"],\"calls\":[\"add\"],\"usage\":[3,1,4],\"model\":\"demo\"},"
    "{\"at\":990000,\"type\":\"state\",\"node\":\"agent\"},"
    "{\"at\":1000000,\"type\":\"updates\",\"node\":\"tools\",\"status\":\"invoking_node\"},"
    "{\"at\":1020000,\"type\":\"message\",\"node\":\"tools\",\"role\":\"tool\","
    "\"blocks\":[\"tool_result\"],\"results\":[\"add\"]},"
    "{\"at\":1500000,\"type\":\"message\",\"node\":\"agent\",\"delta\":true},"
    "{\"at\":1990000,\"type\":\"message\",\"node\":\"agent\",\"role\":\"assistant\","
    "\"blocks\":[\"text\"],\"usage\":[5,2,7],\"model\":\"demo\"},"
    "{\"at\":2000000,\"type\":\"result\"}]";

static struct trace_run run = {
    .thread_id = "t1",
    .run_id = "r1",
    .status = TRACE_DONE,
    .started_at = START,
    .finished_at = START + 2000000,
    .last_at = START + 2000000,
    .totals = {8, 3, 0, 11, 2, 1, 2},
};

static cJSON *view_of(const struct trace_run *of, const char *records)
{
	cJSON *array = json_parse(records, strlen(records), JSON_TRUSTED_DEPTH, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(array);
	cJSON *view = trace_view(of, array);
	cJSON_Delete(array);
	return view;
}

static void check(const cJSON *got, const char *expected)
{
	char *text = json_print(got);
	CU_ASSERT_STRING_EQUAL(text, expected);
	if (strcmp(text, expected) != 0)
		printf("# got %s\n", text);
	free(text);
}

static void the_example_has_the_spans_of_the_example(void)
{
	cJSON *view = view_of(&run, example);
	check(json_get(view, "spans"),
	    "[{\"id\":\"root\",\"name\":\"graph\",\"kind\":\"root\",\"parent\":null,\"start_ms\":0,"
	    "\"duration_ms\":2000,\"model\":null,\"input_tokens\":null,\"output_tokens\":null},"
	    "{\"id\":\"s1\",\"name\":\"node: agent\",\"kind\":\"node\",\"parent\":\"root\","
	    "\"start_ms\":10,\"duration_ms\":1980,\"model\":null,\"input_tokens\":null,"
	    "\"output_tokens\":null},"
	    "{\"id\":\"s2\",\"name\":\"llm.generate\",\"kind\":\"llm\",\"parent\":\"s1\","
	    "\"start_ms\":900,\"duration_ms\":0,\"model\":\"demo\",\"input_tokens\":3,"
	    "\"output_tokens\":1},"
	    "{\"id\":\"s3\",\"name\":\"tool: add\",\"kind\":\"tool\",\"parent\":\"s1\","
	    "\"start_ms\":900,\"duration_ms\":0,\"model\":null,\"input_tokens\":null,"
	    "\"output_tokens\":null},"
	    "{\"id\":\"s4\",\"name\":\"node: tools\",\"kind\":\"node\",\"parent\":\"root\","
	    "\"start_ms\":1000,\"duration_ms\":20,\"model\":null,\"input_tokens\":null,"
	    "\"output_tokens\":null},"
	    "{\"id\":\"s5\",\"name\":\"llm.generate\",\"kind\":\"llm\",\"parent\":\"s1\","
	    "\"start_ms\":1990,\"duration_ms\":0,\"model\":\"demo\",\"input_tokens\":5,"
	    "\"output_tokens\":2}]");
	cJSON_Delete(view);
}

static const char *summary(const cJSON *view, int event)
{
	return json_str(cJSON_GetArrayItem(json_get(view, "events"), event), "summary");
}

static void events_are_newest_first_and_say_what_was_done(void)
{
	cJSON *view = view_of(&run, example);
	const char *expected[] = {"result", "llm.generate · 7 tokens", "delta", "tool_result add",
	    "invoking_node", "state", "tool_call add", "invoking_node"};
	for (int i = 0; i < 8; i++)
		CU_ASSERT_STRING_EQUAL(summary(view, i), expected[i]);
	check(cJSON_GetArrayItem(json_get(view, "events"), 0),
	    "{\"id\":\"e7\",\"type\":\"result\",\"node\":\"\",\"offset_ms\":2000,"
	    "\"summary\":\"result\"}");
	check(cJSON_GetArrayItem(json_get(view, "events"), 7),
	    "{\"id\":\"e0\",\"type\":\"updates\",\"node\":\"agent\",\"offset_ms\":10,"
	    "\"summary\":\"invoking_node\"}");
	cJSON_Delete(view);
}

static void the_numbers_are_those_of_the_whole_run(void)
{
	cJSON *view = view_of(&run, example);
	cJSON_DeleteItemFromObject(view, "spans");
	cJSON_DeleteItemFromObject(view, "events");
	check(view,
	    "{\"run_id\":\"r1\",\"thread_id\":\"t1\",\"status\":\"done\","
	    "\"started_at\":1788256800,\"finished_at\":1788256802,\"duration_ms\":2000,"
	    "\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":3,\"reasoning_tokens\":0,"
	    "\"total_tokens\":11},\"llm_calls\":2,\"tool_calls\":1,\"iterations\":2}");
	cJSON_Delete(view);
}

static void a_run_that_goes_on_has_no_end(void)
{
	struct trace_run going = run;
	going.status = TRACE_RUNNING;
	going.finished_at = 0;
	going.last_at = START + 1500;
	cJSON *view = view_of(&going, "[]");
	CU_ASSERT_TRUE(cJSON_IsNull(json_get(view, "finished_at")));
	check(json_get(view, "duration_ms"), "1.5");
	CU_ASSERT_STRING_EQUAL(json_str(view, "status"), "running");
	CU_ASSERT_EQUAL(cJSON_GetArraySize(json_get(view, "spans")), 1);
	cJSON_Delete(view);
}

static void a_clock_that_stepped_back_gives_no_negative_times(void)
{
	struct trace_run back = run;
	back.finished_at = back.last_at = START - 5000;
	cJSON *view = view_of(&back, "[{\"at\":-3000,\"type\":\"error\"}]");
	check(json_get(view, "duration_ms"), "0");
	check(json_get(view, "events"),
	    "[{\"id\":\"e0\",\"type\":\"error\",\"node\":\"\",\"offset_ms\":0,\"summary\":"
	    "\"error\"}]");
	cJSON_Delete(view);
}

static void what_belongs_to_no_node_hangs_off_the_root(void)
{
	cJSON *view = view_of(&run,
	    "[{\"at\":1,\"type\":\"message\",\"role\":\"assistant\",\"calls\":[\"a\",\"b\"],"
	    "\"usage\":[1,1,2]}]");
	for (int i = 1; i < 4; i++)
		CU_ASSERT_STRING_EQUAL(
		    json_str(cJSON_GetArrayItem(json_get(view, "spans"), i), "parent"), "root");
	CU_ASSERT_STRING_EQUAL(summary(view, 0), "tool_call a, b");
	CU_ASSERT_TRUE(
	    cJSON_IsNull(json_get(cJSON_GetArrayItem(json_get(view, "spans"), 1), "model")));
	cJSON_Delete(view);
}

static void blocks_are_listed_by_type(void)
{
	cJSON *view = view_of(&run,
	    "[{\"at\":1,\"type\":\"message\",\"node\":\"n\",\"role\":\"assistant\","
	    "\"blocks\":[\"text\",\"image\"]},"
	    "{\"at\":1,\"type\":\"message\",\"node\":\"n\",\"role\":\"tool\",\"blocks\":["
	    "\"tool_result\"]}]");
	CU_ASSERT_STRING_EQUAL(summary(view, 0), "tool: tool_result");
	CU_ASSERT_STRING_EQUAL(summary(view, 1), "assistant: text, image");
	cJSON_Delete(view);
}

static const struct unit_test tests[] = {
    {"the example has the spans of the example", the_example_has_the_spans_of_the_example},
    {"events are newest first and say what was done",
	events_are_newest_first_and_say_what_was_done},
    {"the numbers are those of the whole run", the_numbers_are_those_of_the_whole_run},
    {"a run that goes on has no end", a_run_that_goes_on_has_no_end},
    {"a clock that stepped back gives no negative times",
	a_clock_that_stepped_back_gives_no_negative_times},
    {"what belongs to no node hangs off the root", what_belongs_to_no_node_hangs_off_the_root},
    {"blocks are listed by type", blocks_are_listed_by_type},
};

int main(void)
{
	return unit_main("trace_view", tests, UNIT_COUNT(tests));
}
