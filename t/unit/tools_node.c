/* SPDX-License-Identifier: ISC */
/* Tools nodes: which calls are made, how many at once, and what becomes of what they say. */
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "document_fixture.h"
#include "unit.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- A graph that makes the calls that a user lists as JSON, and tells their results */

static ag_result ask_for_tools(ag_run *run, const ag_state *state, void *data)
{
	(void)data;
	cJSON *message = cJSON_CreateObject(), *calls = cJSON_Parse(ag_user_text(state)), *call;
	int i = 0;
	json_add_str(message, "role", "assistant");
	cJSON_ArrayForEach(call, calls) {
		char id[16];
		snprintf(id, sizeof(id), "c%d", i++);
		json_add_str(call, "type", "tool_call");
		json_add_str(call, "id", id);
	}
	cJSON_AddItemToObject(message, "content", calls);
	return ag_message(run, message);
}

static ag_result tell_results(ag_run *run, const ag_state *state, void *data)
{
	struct buf text = {0};
	const cJSON *message, *block;
	(void)data;
	cJSON_ArrayForEach(message, ag_context(state)) {
		cJSON_ArrayForEach(block, json_get(message, "content")) {
			if (!json_get(block, "output"))
				continue;
			char *output = json_print(json_get(block, "output"));
			buf_printf(&text, "%s%s=%s%s", text.len ? " " : "",
			    json_str(block, "call_id"),
			    cJSON_IsTrue(json_get(block, "is_error")) ? "!" : "", output);
			free(output);
		}
	}
	ag_result result = ag_say(run, "%s", buf_str(&text));
	buf_release(&text);
	return result;
}

/* ---- The tools */

static atomic_int running, most_running, made;
static int together; /* so many naps begin before one of them ends */

static void note_begin(void)
{
	int now = atomic_fetch_add(&running, 1) + 1, most = atomic_load(&most_running);
	while (now > most && !atomic_compare_exchange_weak(&most_running, &most, now))
		continue;
	atomic_fetch_add(&made, 1);
}

static ag_result nap(ag_run *run, const cJSON *args, cJSON **output, void *data)
{
	(void)run, (void)data;
	note_begin();
	for (int i = 0; i < 30000 && atomic_load(&made) < together; i++)
		clock_sleep_ms(1);
	clock_sleep_ms((int64_t)ag_number(json_get(args, "ms")));
	atomic_fetch_sub(&running, 1);
	*output = cJSON_Duplicate(json_get(args, "ms"), true);
	return AG_OK;
}

static ag_result speak(ag_run *run, const cJSON *args, cJSON **output, void *data)
{
	(void)data, (void)output;
	clock_sleep_ms((int64_t)ag_number(json_get(args, "ms")));
	ag_say(run, "%s", json_str(args, "say"));
	return ag_update(run, "said", cJSON_CreateString(json_str(args, "say")));
}

static ag_result ask(ag_run *run, const cJSON *args, cJSON **output, void *data)
{
	const cJSON *answer, *times = json_get(args, "times");
	(void)data;
	atomic_fetch_add(&made, 1);
	clock_sleep_ms((int64_t)ag_number(json_get(args, "ms")));
	*output = cJSON_CreateArray();
	for (int i = 0; i < times->valueint; i++) {
		ag_result result =
		    ag_interrupt(run, NULL, cJSON_Duplicate(json_get(args, "q"), true), &answer);
		if (result != AG_OK)
			return result;
		cJSON_AddItemToArray(*output, cJSON_Duplicate(answer, true));
	}
	return AG_OK;
}

static ag_result fail(ag_run *run, const cJSON *args, cJSON **output, void *data)
{
	(void)data, (void)output;
	return ag_fail(run, "no %s", json_str(args, "what"));
}

static ag_graph *graph_of_tools(void)
{
	ag_graph *graph = graph_new("g");
	ag_graph_field(graph, "said", "array", AG_APPEND, NULL, NULL);
	ag_graph_node(graph, "agent", ask_for_tools, NULL);
	ag_graph_tools(graph, "tools");
	ag_graph_tool(graph, "tools", "nap", "",
	    "{\"properties\":{\"ms\":{\"type\":\"integer\"}},\"required\":[\"ms\"]}", nap, NULL);
	ag_graph_tool(graph, "tools", "speak", "", NULL, speak, NULL);
	ag_graph_tool(graph, "tools", "ask", "", NULL, ask, NULL);
	ag_graph_tool(graph, "tools", "fail", "", NULL, fail, NULL);
	ag_graph_node(graph, "report", tell_results, NULL);
	ag_graph_edge(graph, AG_START, "agent");
	ag_graph_edge(graph, "agent", "tools");
	ag_graph_edge(graph, "tools", "report");
	ag_graph_edge(graph, "report", AG_END);
	return graph;
}

static struct talk talk;

static const char *after_report(const char *heard)
{
	const char *last = strstr(heard, "assistant: c0=");
	return last ? last + strlen("assistant: ") : heard;
}

/* What is reported of calls, an array of {name, args}. */
static const char *results_of(const char *calls)
{
	static char out[4096];
	atomic_store(&most_running, 0);
	atomic_store(&made, 0);
	talk_begin(&talk, graph_of_tools());
	snprintf(out, sizeof(out), "%s", after_report(talk_say(&talk, calls)));
	talk_close(&talk);
	return out;
}

#define NAP(ms) "{\"name\":\"nap\",\"args\":{\"ms\":" ms "}}"
#define SPEAK(say, ms) "{\"name\":\"speak\",\"args\":{\"ms\":" ms ",\"say\":\"" say "\"}}"
#define ASK(q, ms, times) \
	"{\"name\":\"ask\",\"args\":{\"q\":\"" q "\",\"ms\":" ms ",\"times\":" times "}}"

static void calls_run_side_by_side_and_keep_their_order(void)
{
	together = 3;
	CU_ASSERT_STRING_EQUAL(
	    results_of("[" NAP("300") "," NAP("200") "," NAP("100") "]"), "c0=300 c1=200 c2=100|");
	CU_ASSERT_EQUAL(most_running, 3);
	together = 0;
}

static void not_more_than_eight_run_at_once(void)
{
	together = 8;
	results_of("[" NAP("100") "," NAP("100") "," NAP("100") "," NAP("100") "," NAP(
	    "100") "," NAP("100") "," NAP("100") "," NAP("100") "," NAP("100") "," NAP("100") "]");
	CU_ASSERT_EQUAL(made, 10);
	CU_ASSERT_EQUAL(most_running, 8);
	together = 0;
}

static void what_calls_say_keeps_their_order(void)
{
	talk_begin(&talk, graph_of_tools());
	const char *heard = talk_say(&talk,
	    "[" SPEAK("first one", "300") "," SPEAK("second two", "0") "," SPEAK(
		"third", "100") "]");
	CU_ASSERT_PTR_NOT_NULL(strstr(heard,
	    "assistant: first one|tool: |assistant: second two|tool: |assistant: third|tool: |"));
	CU_ASSERT_EQUAL(strncmp(buf_str(&talk.pieces), "first| one|second| two|third|", 28), 0);
	CU_ASSERT_STRING_EQUAL(
	    talk_field(&talk, "said"), "[\"first one\",\"second two\",\"third\"]");
	talk_close(&talk);
}

static void failures_are_results_of_their_calls(void)
{
	CU_ASSERT_STRING_EQUAL(results_of("[{\"name\":\"fail\",\"args\":{\"what\":\"a\"}}," NAP(
				   "1") ",{\"name\":\"fail\",\"args\":{\"what\":\"b\"}}]"),
	    "c0=!\"no a\" c1=1 c2=!\"no b\"|");
}

static void arguments_that_do_not_fit_are_not_called_with(void)
{
	CU_ASSERT_STRING_EQUAL(results_of("[" NAP("\"x\"") "]"),
	    "c0=!\"arguments.ms: expected an integer, found string\"|");
	CU_ASSERT_EQUAL(made, 0);
	CU_ASSERT_STRING_EQUAL(results_of("[{\"name\":\"nap\",\"args\":{}}," NAP("2") "]"),
	    "c0=!\"arguments: expected the member 'ms'\" c1=2|");
	CU_ASSERT_EQUAL(made, 1);
}

static void an_unknown_tool_is_an_error_result(void)
{
	CU_ASSERT_STRING_EQUAL(results_of("[{\"name\":\"nop\",\"args\":{}}," NAP("2") "]"),
	    "c0=!\"unknown tool: nop\" c1=2|");
}

/* What was heard last, as a pause. */
static const char *paused(const char *heard)
{
	const char *pause = strstr(heard, "pause: ");
	return pause ? pause : heard;
}

/* Whoever is faster, questions are asked and answered in the order of the calls. */
static void questions_are_answered_in_the_order_of_the_calls(void)
{
	static const char calls[] = "[" ASK("a", "200", "2") "," NAP("1") "," ASK(
	    "b", "0", "1") "," ASK("c", "100", "1") "]";
	talk_begin(&talk, graph_of_tools());
	CU_ASSERT_STRING_EQUAL(paused(talk_say(&talk, calls)), "pause: input_required \"a\"|");
	CU_ASSERT_STRING_EQUAL(paused(talk_answer(&talk, "1")), "pause: input_required \"a\"|");
	CU_ASSERT_STRING_EQUAL(paused(talk_answer(&talk, "2")), "pause: input_required \"b\"|");
	CU_ASSERT_STRING_EQUAL(paused(talk_answer(&talk, "3")), "pause: input_required \"c\"|");
	CU_ASSERT_STRING_EQUAL(
	    after_report(talk_answer(&talk, "4")), "c0=[1,2] c1=1 c2=[3] c3=[4]|");
	talk_close(&talk);
}

/* A tree that no parser made. */
static ag_result ask_deeply(ag_run *run, const ag_state *state, void *data)
{
	(void)state;
	cJSON *args = cJSON_CreateObject();
	for (int i = 0; i < *(int *)data; i++) {
		cJSON *outer = cJSON_CreateObject();
		cJSON_AddItemToObject(outer, "a", args);
		args = outer;
	}
	cJSON *message = cJSON_CreateObject(), *call = cJSON_CreateObject();
	json_add_str(message, "role", "assistant");
	json_add_str(call, "type", "tool_call");
	json_add_str(call, "id", "c0");
	json_add_str(call, "name", "fail");
	cJSON_AddItemToObject(call, "args", args);
	cJSON_AddItemToArray(cJSON_AddArrayToObject(message, "content"), call);
	return ag_message(run, message);
}

static void deep_arguments_are_an_error_result(void)
{
	static int levels = 200;
	ag_graph *graph = graph_of_tools();
	graph->nodes[0].fn = ask_deeply;
	graph->nodes[0].data = &levels;
	talk_begin(&talk, graph);
	CU_ASSERT_STRING_EQUAL(after_report(talk_say(&talk, "go")),
	    "c0=!\"arguments: expected at most 100 levels of nesting\"|");
	talk_close(&talk);
}

static void messages_too_deep_to_be_stored_are_refused(void)
{
	static int levels = 10000;
	ag_graph *graph = graph_of_tools();
	graph->nodes[0].fn = ask_deeply;
	graph->nodes[0].data = &levels;
	talk_begin(&talk, graph);
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "go"),
	    "error: Graph execution failed: expected a message of at most 300 levels of nesting|");
	talk_close(&talk);
}

/* Each turn puts the field into another 200 levels. */
static ag_result deepen(ag_run *run, const ag_state *state, void *data)
{
	(void)data;
	cJSON *value = cJSON_Duplicate(ag_field(state, "deep"), true);
	for (int i = 0; i < 200; i++) {
		cJSON *outer = cJSON_CreateObject();
		cJSON_AddItemToObject(outer, "a", value);
		value = outer;
	}
	if (strcmp(ag_user_text(state), "ask") != 0)
		return ag_update(run, "deep", value);
	const cJSON *answer;
	return ag_interrupt(run, NULL, value, &answer);
}

static void fields_and_questions_too_deep_to_be_read_again_are_refused(void)
{
	ag_graph *graph = graph_of_tools();
	graph->nodes[0].fn = deepen;
	ag_graph_field(graph, "deep", "any", AG_REPLACE, NULL, NULL);
	talk_begin(&talk, graph);
	talk_say(&talk, "go");
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "go"),
	    "error: Graph execution failed: expected state fields of at most 300 levels of nesting|");
	CU_ASSERT_EQUAL(talk.error.kind, ERR_NODE);
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "ask"),
	    "error: Graph execution failed: expected a question of at most 300 levels of nesting|");
	CU_ASSERT_EQUAL(strncmp(talk_field(&talk, "deep"), "{\"a\":{", 6), 0);
	talk_close(&talk);
}

static void a_schema_that_is_none_refuses_the_start(void)
{
	ag_graph *graph = graph_new("g");
	ag_graph_tools(graph, "tools");
	ag_graph_tool(
	    graph, "tools", "t", "", "{\"properties\":{\"a\":{\"type\":\"strng\"}}}", fail, NULL);
	CU_ASSERT_EQUAL_FATAL(graph->problems.count, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(
	    graph->problems.items[0].text, "g: tool 't': parameters/properties/a/type: expected"));
	graph_free(graph);
}

static const struct unit_test tests[] = {
    {"calls run side by side and keep their order", calls_run_side_by_side_and_keep_their_order},
    {"not more than eight run at once", not_more_than_eight_run_at_once},
    {"what calls say keeps their order", what_calls_say_keeps_their_order},
    {"failures are results of their calls", failures_are_results_of_their_calls},
    {"arguments that do not fit are not called with",
	arguments_that_do_not_fit_are_not_called_with},
    {"an unknown tool is an error result", an_unknown_tool_is_an_error_result},
    {"questions are answered in the order of the calls",
	questions_are_answered_in_the_order_of_the_calls},
    {"deep arguments are an error result", deep_arguments_are_an_error_result},
    {"messages too deep to be stored are refused", messages_too_deep_to_be_stored_are_refused},
    {"fields and questions too deep to be read again are refused",
	fields_and_questions_too_deep_to_be_read_again_are_refused},
    {"a schema that is none refuses the start", a_schema_that_is_none_refuses_the_start},
};

int main(void)
{
	memory_init();
	return unit_main("tools_node", tests, UNIT_COUNT(tests));
}
