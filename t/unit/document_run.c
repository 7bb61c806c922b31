/* SPDX-License-Identifier: ISC */
/* Graphs of documents at work: replies, questions, tools, and the rules of edges. */
#include "base/memory.h"
#include "document_fixture.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* START → n → END, with a state of its own. */
#define ONE_NODE(node)                                                                           \
	"{\"g\": {\"state\": {\"type\": \"Desk\", \"fields\": {"                                 \
	"\"notes\": {\"type\": \"array\", \"reducer\": \"append\"},"                             \
	"\"count\": {\"type\": \"integer\", \"reducer\": \"add\", \"default\": 40},"             \
	"\"who\": {\"type\": \"any\"}, \"my name\": {\"type\": \"string\", \"default\": \"x\"}"  \
	"}}, \"nodes\": {\"n\": {" node "}}, \"edges\": [{\"from\": \"START\", \"to\": \"n\"}, " \
	"{\"from\": \"n\", \"to\": \"END\"}]}}"

static void a_reply_is_streamed_word_by_word(void)
{
	struct talk talk;
	talk_open(&talk, ONE_NODE("\"kind\": \"reply\", \"text\": \"You said: {{user_text}}\""));
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "hi there"), "assistant: You said: hi there|");
	CU_ASSERT_STRING_EQUAL(buf_str(&talk.pieces), "You| said:| hi| there|");
	talk_close(&talk);
}

static void percent_signs_are_text(void)
{
	CU_ASSERT_STRING_EQUAL(
	    said_by(ONE_NODE("\"kind\": \"reply\", \"text\": \"{{user_text}}%s\""), "%d %s %n"),
	    "assistant: %d %s %n%s|");
}

static void a_template_has_values_of_every_kind(void)
{
	struct talk talk;
	talk_open(&talk,
	    ONE_NODE("\"kind\": \"reply\", \"text\": \"{{last_text}} {{count}} {{fields.notes}} "
		     "[{{who}}] {{my name}} {{config.user.user_id}} {{config.a.b}} "
		     "[{{config.none.at.all}}] {{run_id}} {{{{x}}\""));
	talk.config = "{\"user\": {\"user_id\": \"alice\"}, \"a\": {\"b\": [1, {\"c\": true}]}}";
	CU_ASSERT_STRING_EQUAL(
	    talk_say(&talk, "hi"), "assistant: hi 40 [] [] x alice [1,{\"c\":true}] [] r1 {{x}}|");
	talk_close(&talk);
}

static void a_reply_may_have_another_role(void)
{
	CU_ASSERT_STRING_EQUAL(
	    said_by(ONE_NODE("\"kind\": \"reply\", \"text\": \"be brief\", \"role\": \"system\""),
		"hi"),
	    "system: be brief|");
}

static void a_reply_updates_fields_through_their_reducers(void)
{
	struct talk talk;
	talk_open(&talk,
	    ONE_NODE("\"kind\": \"reply\", \"text\": \"ok\", \"update\": {\"notes\": "
		     "\"{{user_text}}\", \"count\": 2, \"who\": {\"id\": \"u-{{run_id}}\"}}"));
	talk_say(&talk, "one");
	talk_say(&talk, "two");
	CU_ASSERT_STRING_EQUAL(talk_field(&talk, "notes"), "[\"one\",\"two\"]");
	CU_ASSERT_STRING_EQUAL(talk_field(&talk, "count"), "44");
	CU_ASSERT_STRING_EQUAL(talk_field(&talk, "who"), "{\"id\":\"u-r1\"}");
	talk_close(&talk);
}

/* Twice the same update, which fits; what is added up does not. */
static void check_sum_beyond(const char *field, const char *update, const char *kept)
{
	char document[1024];
	struct talk talk;
	snprintf(document, sizeof(document),
	    "{\"g\": {\"state\": {\"fields\": {\"f\": {\"type\": \"%s\", \"reducer\": \"add\"}}}, "
	    "\"nodes\": {\"n\": {\"kind\": \"reply\", \"text\": \"ok\", \"update\": {\"f\": %s}}}, "
	    "\"edges\": [{\"from\": \"START\", \"to\": \"n\"}, {\"from\": \"n\", \"to\": \"END\"}]}}",
	    field, update);
	talk_open(&talk, document);
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "one"), "assistant: ok|");
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "two"),
	    "error: Graph execution failed: the update of field 'f' by node n is not of its type|");
	CU_ASSERT_STRING_EQUAL(talk_field(&talk, "f"), kept);
	talk_close(&talk);
}

static void a_sum_beyond_its_type_fails_the_run(void)
{
	check_sum_beyond("number", "1e308", "1e+308");
	check_sum_beyond("integer", "9223372036854775807", "9223372036854775807");
	check_sum_beyond("integer", "-9223372036854775807", "-9223372036854775807");
}

static void a_lone_name_keeps_its_type(void)
{
	struct talk talk;
	talk_open(&talk,
	    ONE_NODE("\"kind\": \"reply\", \"text\": \"ok\", \"update\": {\"who\": "
		     "[\"{{count}}\", \" {{count}}\", \"{{config.none}}\"]}"));
	talk_say(&talk, "hi");
	CU_ASSERT_STRING_EQUAL(talk_field(&talk, "who"), "[40,\" 40\",null]");
	talk_close(&talk);
}

#define QUESTION                                                                                 \
	ONE_NODE("\"kind\": \"interrupt\", \"reason\": \"approval\", \"value\": {\"question\": " \
		 "\"Send '{{user_text}}'?\", \"so_far\": \"{{notes}}\"}, \"field\": \"notes\", " \
		 "\"reply\": \"answer: {{answer}}\"")

static void a_question_pauses_and_its_answer_goes_on(void)
{
	struct talk talk;
	talk_open(&talk, QUESTION);
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "mail"),
	    "pause: approval {\"question\":\"Send 'mail'?\",\"so_far\":[]}|");
	CU_ASSERT_STRING_EQUAL(talk_answer(&talk, "\"yes\""), "assistant: answer: yes|");
	CU_ASSERT_STRING_EQUAL(talk_field(&talk, "notes"), "[\"yes\"]");
	talk_close(&talk);
}

static void an_answer_may_be_any_json(void)
{
	struct talk talk;
	talk_open(&talk, QUESTION);
	talk_say(&talk, "mail");
	CU_ASSERT_STRING_EQUAL(
	    talk_answer(&talk, "{\"ok\": true}"), "assistant: answer: {\"ok\":true}|");
	talk_say(&talk, "mail");
	CU_ASSERT_STRING_EQUAL(talk_answer(&talk, "null"), "assistant: answer: |");
	talk_close(&talk);
}

static void interrupts_before_and_after_a_node_pause(void)
{
	CU_ASSERT_STRING_EQUAL(
	    said_by("{\"g\": {\"interrupt_before\": [\"n\"], \"nodes\": {\"n\": {\"kind\": "
		    "\"reply\", \"text\": \"hi\"}}, \"edges\": [{\"from\": \"START\", \"to\": "
		    "\"n\"}, {\"from\": \"n\", \"to\": \"END\"}]}}",
		"hi"),
	    "pause: interrupt_before null|");
	CU_ASSERT_STRING_EQUAL(
	    said_by("{\"g\": {\"interrupt_after\": [\"n\"], \"nodes\": {\"n\": {\"kind\": "
		    "\"reply\", \"text\": \"hi\"}}, \"edges\": [{\"from\": \"START\", \"to\": "
		    "\"n\"}, {\"from\": \"n\", \"to\": \"END\"}]}}",
		"hi"),
	    "assistant: hi|pause: interrupt_after null|");
}

/* ---- Edges */

/* Whether a rule holds, for a user's text and a state; a node leads to "yes" or "no". */
static bool holds(const char *rule, const char *text)
{
	char document[4096];
	snprintf(document, sizeof(document),
	    "{\"g\": {\"state\": {\"fields\": {\"n\": {\"type\": \"number\", \"default\": 2.5}, "
	    "\"s\": {\"type\": \"string\", \"default\": \"blue sky\"}, \"null\": {\"type\": "
	    "\"any\"}, \"a\": {\"type\": \"array\", \"default\": [1, {\"k\": [true]}]}, \"o\": "
	    "{\"type\": \"object\", \"default\": {\"k\": null}}}}, \"nodes\": {\"first\": "
	    "{\"kind\": \"reply\", \"text\": \"First {{user_text}}\"}, \"yes\": {\"kind\": "
	    "\"reply\", \"text\": \"yes\"}, \"no\": {\"kind\": \"reply\", \"text\": \"no\"}}, "
	    "\"edges\": [{\"from\": \"START\", \"to\": \"first\"}, {\"from\": \"first\", \"if\": "
	    "[{\"when\": %s, \"to\": \"yes\"}], \"else\": \"no\"}, {\"from\": \"yes\", \"to\": "
	    "\"END\"}, {\"from\": \"no\", \"to\": \"END\"}]}}",
	    rule);
	const char *said = said_by(document, text);
	bool yes = strstr(said, "assistant: yes|");
	CU_ASSERT_TRUE(yes || strstr(said, "assistant: no|"));
	return yes;
}

struct expectation {
	const char *rule, *text;
	bool holds;
};

static void check_rules(const struct expectation *rules, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool same = holds(rules[i].rule, rules[i].text) == rules[i].holds;
		if (!same)
			printf("# %s with '%s'\n", rules[i].rule, rules[i].text);
		CU_ASSERT_TRUE(same);
	}
}

static void rules_look_at_texts(void)
{
	static const struct expectation rules[] = {
	    {"{\"user_text\": {\"equals\": \"hi\"}}", "hi", true},
	    {"{\"user_text\": {\"equals\": \"hi\"}}", "Hi", false},
	    {"{\"user_text\": {\"equals\": \"hi\", \"ignore_case\": true}}", "Hi", true},
	    {"{\"user_text\": {\"contains\": \"el\"}}", "hello", true},
	    {"{\"user_text\": {\"contains\": \"EL\"}}", "hello", false},
	    {"{\"user_text\": {\"contains\": \"EL\", \"ignore_case\": true}}", "hello", true},
	    {"{\"user_text\": {\"starts_with\": \"/add \"}}", "/add 1", true},
	    {"{\"user_text\": {\"starts_with\": \"/add \"}}", "x /add 1", false},
	    {"{\"user_text\": {\"starts_with\": \"/ADD\", \"ignore_case\": true}}", "/add", true},
	    {"{\"user_text\": {\"matches\": \"^[0-9]+( EUR)?$\"}}", "12 EUR", true},
	    {"{\"user_text\": {\"matches\": \"^[0-9]+( EUR)?$\"}}", "12 eur", false},
	    {"{\"user_text\": {\"matches\": \"EUR$\", \"ignore_case\": true}}", "12 eur", true},
	    {"{\"user_text\": {\"matches\": \"^[^[:upper:]b-d]{,2}.\\\\.()*[]x\\\\]+?$\"}}",
		"za\n.]", true},
	    {"{\"user_text\": {\"matches\": \"^[^b-d]$\", \"ignore_case\": true}}", "C", false},
	    {"{\"user_text\": {\"matches\": \"^(.)\\\\1$\"}}", "aa", true},
	    {"{\"last_text\": {\"equals\": \"First hi\"}}", "hi", true},
	    {"{\"last_text\": {\"equals\": \"hi\"}}", "hi", false},
	};
	check_rules(rules, UNIT_COUNT(rules));
}

/* regexec would look at a part of such a text for each of its places. */
static void a_rule_takes_time_by_the_length_of_a_text(void)
{
	char *text = xcalloc(1, 200001);
	memset(text, 'a', 200000);
	const struct expectation rules[] = {
	    {"{\"user_text\": {\"matches\": \"[a-z]+@[a-z]+\"}}", text, false}};
	check_rules(rules, UNIT_COUNT(rules));
	free(text);
}

static void rules_look_at_fields(void)
{
	static const struct expectation rules[] = {
	    {"{\"field\": \"n\", \"equals\": 2.50}", "", true},
	    {"{\"field\": \"n\", \"equals\": \"2.5\"}", "", false},
	    {"{\"field\": \"n\", \"gt\": 2}", "", true},
	    {"{\"field\": \"n\", \"gt\": 2.5}", "", false},
	    {"{\"field\": \"n\", \"gte\": 2.5}", "", true},
	    {"{\"field\": \"n\", \"lt\": 2.5}", "", false},
	    {"{\"field\": \"n\", \"lte\": 2.5}", "", true},
	    {"{\"field\": \"n\", \"lt\": 3}", "", true},
	    {"{\"field\": \"s\", \"gt\": 1}", "", false},
	    {"{\"field\": \"s\", \"contains\": \"sky\"}", "", true},
	    {"{\"field\": \"s\", \"contains\": \"sea\"}", "", false},
	    {"{\"field\": \"a\", \"contains\": {\"k\": [true]}}", "", true},
	    {"{\"field\": \"a\", \"contains\": 2}", "", false},
	    {"{\"field\": \"o\", \"contains\": \"k\"}", "", true},
	    {"{\"field\": \"o\", \"contains\": \"l\"}", "", false},
	    {"{\"field\": \"null\", \"exists\": false}", "", true},
	    {"{\"field\": \"null\", \"exists\": true}", "", false},
	    {"{\"field\": \"null\", \"equals\": null}", "", true},
	    {"{\"field\": \"n\", \"equals\": null}", "", false},
	    {"{\"field\": \"n\", \"exists\": true}", "", true},
	};
	check_rules(rules, UNIT_COUNT(rules));
}

#define TRUE_RULE "{\"field\": \"n\", \"exists\": true}"
#define FALSE_RULE "{\"field\": \"n\", \"exists\": false}"

static void rules_combine(void)
{
	static const struct expectation rules[] = {
	    {"{\"all\": [" TRUE_RULE ", " TRUE_RULE "]}", "", true},
	    {"{\"all\": [" TRUE_RULE ", " FALSE_RULE "]}", "", false},
	    {"{\"any\": [" FALSE_RULE ", " TRUE_RULE "]}", "", true},
	    {"{\"any\": [" FALSE_RULE ", " FALSE_RULE "]}", "", false},
	    {"{\"not\": " FALSE_RULE "}", "", true},
	    {"{\"not\": {\"any\": [" FALSE_RULE ", {\"all\": [" TRUE_RULE "]}]}}", "", false},
	    {"{\"tool_calls\": false}", "", true},
	    {"{\"tool_calls\": true}", "", false},
	};
	check_rules(rules, UNIT_COUNT(rules));
}

/* ---- Tools */

/* A program asks for the tool t with the user's text as arguments, and repeats what it gave. */
static const char *tool_says(const char *tool, const char *args)
{
	char document[4096];
	write_file("ask.sh",
	    "#!/bin/sh\n"
	    "args=$(sed -n 's/.*\"user_text\":\"\\(.*\\)\",\"config\".*/\\1/p' | tr -d '\\\\')\n"
	    "printf '{\"message\": {\"content\": [{\"type\": \"tool_call\", \"id\": \"c1\", "
	    "\"name\": \"t\", \"args\": %s}]}}\\n' \"$args\"\n");
	write_file("repeat.sh",
	    "#!/bin/sh\n"
	    "result=$(sed -n 's/.*\"content\":\\[\\({\"type\":\"tool_result\".*}\\)\\],\"delta\".*/\\1/p')\n"
	    "printf '{\"delta\": \"%s\"}\\n' \"$(printf %s \"$result\" | sed 's/[\\\\\"]/\\\\&/g')\"\n");
	snprintf(document, sizeof(document),
	    "{\"g\": {\"nodes\": {\"ask\": {\"kind\": \"exec\", \"command\": \"./ask.sh\"}, "
	    "\"tools\": {\"kind\": \"tools\", \"tools\": [{\"kind\": \"exec\", \"name\": \"t\", "
	    "\"description\": \"d\", %s}]}, \"repeat\": {\"kind\": \"exec\", \"command\": "
	    "\"./repeat.sh\", \"input\": \"last\"}}, \"edges\": [{\"from\": \"START\", \"to\": "
	    "\"ask\"}, {\"from\": \"ask\", \"if\": [{\"when\": {\"tool_calls\": true}, \"to\": "
	    "\"tools\"}], \"else\": \"END\"}, {\"from\": \"tools\", \"to\": \"repeat\"}, {\"from\": "
	    "\"repeat\", \"to\": \"END\"}]}}",
	    tool);
	const char *said = said_by(document, args);
	const char *last = strstr(said, "assistant: {");
	return last ? last + strlen("assistant: ") : said;
}

#define RESULT(output) "{\"type\":\"tool_result\",\"call_id\":\"c1\",\"output\":" output "}|"
#define FINE ",\"is_error\":false,\"status\":\"completed\""
#define BAD ",\"is_error\":true,\"status\":\"failed\""

static void a_tool_is_given_its_arguments_and_gives_json(void)
{
	CU_ASSERT_STRING_EQUAL(
	    tool_says("\"command\": \"cat\"", "{\"a\": [1, 2]}"), RESULT("{\"a\":[1,2]}" FINE));
	CU_ASSERT_STRING_EQUAL(tool_says("\"command\": [\"echo\", \"5\"]", "{}"), RESULT("5" FINE));
}

static void output_that_is_no_json_is_text(void)
{
	CU_ASSERT_STRING_EQUAL(tool_says("\"command\": [\"printf\", \"two words\\n\\n\"]", "{}"),
	    RESULT("\"two words\"" FINE));
	CU_ASSERT_STRING_EQUAL(
	    tool_says("\"command\": [\"printf\", \"a\\nb\"]", "{}"), RESULT("\"a\\nb\"" FINE));
	CU_ASSERT_STRING_EQUAL(tool_says("\"command\": \"true\"", "{}"), RESULT("\"\"" FINE));
}

static void a_tool_that_fails_gives_an_error_result(void)
{
	CU_ASSERT_STRING_EQUAL(tool_says("\"command\": [\"sh\", \"-c\", \"exit 4\"]", "{}"),
	    RESULT("\"exited with status 4\"" BAD));
	CU_ASSERT_STRING_EQUAL(
	    tool_says("\"command\": [\"sh\", \"-c\", \"echo no >&2; echo x; exit 4\"]", "{}"),
	    RESULT("\"no\"" BAD));
	CU_ASSERT_STRING_EQUAL(tool_says("\"command\": [\"printf\", \"\\\\377\"]", "{}"),
	    RESULT("\"wrote output that is not UTF-8 text\"" BAD));
	CU_ASSERT_STRING_EQUAL(tool_says("\"command\": \"yes\", \"max_output\": 1000", "{}"),
	    RESULT("\"wrote too much output\"" BAD));
	CU_ASSERT_STRING_EQUAL(
	    tool_says("\"command\": [\"sleep\", \"20\"], \"timeout\": 0.1", "{}"),
	    RESULT("\"timed out\"" BAD));
}

/* Two branches that ask, and one that does not. */
#define BRANCHES                                                                                            \
	"{\"g\": {\"nodes\": {\"a\": {\"kind\": \"interrupt\", \"value\": 1, \"reply\": \"a {{answer}}\"}," \
	"\"b\": {\"kind\": \"interrupt\", \"value\": 2, \"reply\": \"b {{answer}}\"},"                      \
	"\"c\": {\"kind\": \"reply\", \"text\": \"c\"}}, \"edges\": ["                                      \
	"{\"from\": \"START\", \"to\": [\"a\", \"b\", \"c\"], \"join\": \"END\"},"                          \
	"{\"from\": \"a\", \"to\": \"END\"}, {\"from\": \"b\", \"to\": \"END\"}, {\"from\": \"c\", "        \
	"\"to\": \"END\"}]}}"

static void branches_ask_one_after_the_other(void)
{
	struct talk talk;
	talk_open(&talk, BRANCHES);
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "hi"), "assistant: c|pause: input_required 1|");
	CU_ASSERT_STRING_EQUAL(talk_answer(&talk, "5"), "assistant: a 5|pause: input_required 2|");
	CU_ASSERT_STRING_EQUAL(talk_answer(&talk, "6"), "assistant: b 6|");
	CU_ASSERT_STRING_EQUAL(talk_list(&talk), "hi|c|a 5|b 6|");
	talk_close(&talk);
}

/* What a thread that was imported may have. */
static void a_region_that_was_kept_wrongly_fails_the_run(void)
{
	static const struct {
		const char *was, *is;
	} rows[] = {{"\"from\":\"START\"", "\"from\":\"x\""},
	    {"\"branch\":\"b\"", "\"branch\":\"x\""}, {"\"from\":\"START\"", "\"from\":7"},
	    {"\"ids\":[]", "\"ids\":[7]"}, {"\"ids\":[]", "\"updates\":[{}]"},
	    {"\"said\":[]", "\"said\":[{}]"}, {"\"said\":[]", "\"answers\":7"},
	    {"\"said\":[]", "\"region\":7"}, {"\"at\":\"a\"", "\"at\":\"gone\""}};
	for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
		struct talk talk;
		char text[8192];
		talk_open(&talk, BRANCHES);
		talk_say(&talk, "hi");
		const char *pause = talk.thread.pause_json, *place = strstr(pause, rows[i].was);
		CU_ASSERT_PTR_NOT_NULL_FATAL(place);
		snprintf(text, sizeof(text), "%.*s%s%s", (int)(place - pause), pause, rows[i].is,
		    place + strlen(rows[i].was));
		talk.thread.pause_json = text;
		unit_row(rows[i].is);
		CU_ASSERT_PTR_NOT_NULL(strstr(talk_answer(&talk, "5"), " any more|"));
		talk_close(&talk);
	}
}

/* ---- Graphs in C */

static ag_result c_says(ag_run *run, const ag_state *state, void *data)
{
	char *item = cJSON_PrintUnformatted(cJSON_GetObjectItem(ag_config(run), "item"));
	(void)state;
	ag_say(run, "%s %s", (const char *)data, item ? item : "nothing");
	free(item);
	return AG_OK;
}

static ag_result c_sets(ag_run *run, const ag_state *state, void *data)
{
	(void)data;
	ag_say(run, "set");
	return ag_update(run, "out", cJSON_Duplicate(ag_field(state, "in"), true));
}

static int c_inner(ag_graph *graph)
{
	ag_graph_field(graph, "in", "string", AG_REPLACE, NULL, NULL);
	ag_graph_field(graph, "out", "string", AG_REPLACE, NULL, NULL);
	ag_graph_node(graph, "sets", c_sets, NULL);
	ag_graph_edge(graph, AG_START, "sets");
	ag_graph_edge(graph, "sets", AG_END);
	return 0;
}

static void maps_and_subgraphs_may_be_built_in_c(void)
{
	struct talk talk;
	ag_graph *graph = graph_new("c");
	ag_graph_field(graph, "items", "array", AG_REPLACE, "[1, {\"b\": 2}]", NULL);
	ag_graph_field(graph, "took", "string", AG_REPLACE, NULL, NULL);
	ag_graph_node(graph, "each", c_says, "has");
	ag_graph_subgraph(graph, "inner", c_inner,
	    "{\"input\": {\"in\": \"{{user_text}}\"}, \"output\": {\"took\": \"{{out}}\"}}");
	ag_graph_map(graph, AG_START, "items", "each", "inner", 1);
	ag_graph_edge(graph, "each", "inner");
	ag_graph_edge(graph, "inner", AG_END);
	talk_begin(&talk, graph);
	CU_ASSERT_STRING_EQUAL(
	    talk_say(&talk, "tea"), "assistant: has 1|assistant: has {\"b\":2}|assistant: set|");
	CU_ASSERT_STRING_EQUAL(talk_field(&talk, "took"), "\"tea\"");
	CU_ASSERT_PTR_NOT_NULL(graph_node_find(talk.graph, "inner/sets"));
	talk_close(&talk);
}

static ag_result c_works_the_third_time(ag_run *run, const ag_state *state, void *data)
{
	static int calls;
	(void)state, (void)data;
	return ++calls % 3 ? ag_fail(run, "call %d", calls)
			   : ag_update(run, "out", cJSON_CreateString("set"));
}

static int c_inner_that_fails(ag_graph *graph)
{
	ag_graph_field(graph, "out", "string", AG_REPLACE, NULL, NULL);
	ag_graph_node(graph, "works", c_works_the_third_time, NULL);
	ag_graph_edge(graph, AG_START, "works");
	ag_graph_edge(graph, "works", AG_END);
	return 0;
}

static void a_subgraph_in_c_has_a_policy(void)
{
	struct talk talk;
	ag_graph *graph = graph_new("c");
	ag_graph_field(graph, "took", "string", AG_REPLACE, NULL, NULL);
	ag_graph_subgraph(
	    graph, "inner", c_inner_that_fails, "{\"output\": {\"took\": \"{{out}}\"}}");
	ag_graph_policy(
	    graph, "inner", "{\"retry\": {\"attempts\": 3, \"initial\": 0}, \"timeout\": 60}");
	ag_graph_edge(graph, AG_START, "inner");
	ag_graph_edge(graph, "inner", AG_END);
	talk_begin(&talk, graph);
	talk_say(&talk, "tea");
	CU_ASSERT_STRING_EQUAL(talk_field(&talk, "took"), "\"set\"");
	talk_close(&talk);
}

static int c_refuses(ag_graph *graph)
{
	(void)graph;
	return 1;
}

static int c_contains_itself(ag_graph *graph)
{
	ag_graph_subgraph(graph, "n", c_contains_itself, NULL);
	return 0;
}

static void mistakes_in_subgraphs_of_c_are_told(void)
{
	static const struct {
		ag_graph_fn *build;
		const char *options, *problem;
	} rows[] = {
	    {c_inner, "[]", "/n: expected the options as a JSON object"},
	    {NULL, NULL, "/n: expected a function that builds the graph"},
	    {c_refuses, NULL, "/n: its function refused to build the graph"},
	    {c_contains_itself, NULL, "/n: expected a graph that does not contain itself"},
	    {c_inner, "{\"input\": {\"x\": 1}}",
		"/n/input/x: the graph inside has no state field of that name"},
	    {c_inner, "{\"own\": true}", "/n/own: unknown key"},
	};
	for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
		ag_graph *graph = graph_new("c");
		ag_graph_subgraph(graph, "n", rows[i].build, rows[i].options);
		unit_row(rows[i].problem);
		CU_ASSERT_FATAL(graph->problems.count > 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(graph->problems.items[0].text, rows[i].problem));
		graph_free(graph);
	}
}

static ag_result c_adds(ag_run *run, const cJSON *args, cJSON **output, void *data)
{
	(void)run, (void)args, (void)output, (void)data;
	return AG_OK;
}

static void what_c_leaves_out_is_told(void)
{
	static const char *const told[] = {
	    "c: node name '': expected 1 to 64 letters, digits, blanks or _ - . :",
	    "c: ag_graph_on_free: expected a function",
	    "c: tool 'add': expected parameters to be a JSON Schema of type object",
	};
	ag_graph *graph = graph_new("c");
	ag_graph_model(graph, NULL, "{\"model\": \"m\", \"base_url\": \"http://127.0.0.1/\"}");
	ag_graph_on_free(graph, NULL, NULL);
	ag_graph_tools(graph, "tools");
	ag_graph_tool(graph, "tools", "add", "", "{\"type\": \"array\"}", c_adds, NULL);
	CU_ASSERT_EQUAL_FATAL(graph->problems.count, UNIT_COUNT(told));
	for (size_t i = 0; i < UNIT_COUNT(told); i++)
		CU_ASSERT_STRING_EQUAL(graph->problems.items[i].text, told[i]);
	graph_free(graph);
}

static ag_result c_asks(ag_run *run, const ag_state *state, void *data)
{
	const cJSON *answer;
	const ag_result *returns = data;
	(void)state;
	if (*returns == AG_OK)
		ag_interrupt(run, NULL, NULL, &answer);
	return *returns;
}

static void a_question_and_its_pause_belong_together(void)
{
	static ag_result returns[] = {AG_OK, AG_PAUSE};
	static const char *const told[] = {
	    "error: Graph execution failed: the node has asked a person, and did not return AG_PAUSE|",
	    "error: Graph execution failed: the node returned AG_PAUSE, and has asked nothing|"};
	for (size_t i = 0; i < UNIT_COUNT(told); i++) {
		struct talk talk;
		ag_graph *graph = graph_new("c");
		ag_graph_node(graph, "asks", c_asks, &returns[i]);
		ag_graph_edge(graph, AG_START, "asks");
		ag_graph_edge(graph, "asks", AG_END);
		talk_begin(&talk, graph);
		CU_ASSERT_STRING_EQUAL(talk_say(&talk, "tea"), told[i]);
		talk_close(&talk);
	}
}

/* ---- A conversation that cannot be read */

static enum error_kind unreadable;

static bool context_fails(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, message_fn fn, void *arg, struct error *err)
{
	(void)st, (void)ctx, (void)thread_row, (void)view, (void)fn, (void)arg;
	return error_set(err, unreadable, NULL);
}

static bool count_fails(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, int64_t *count, struct error *err)
{
	(void)st, (void)ctx, (void)thread_row, (void)view, (void)count;
	return error_set(err, unreadable, NULL);
}

/* A node that reads what its data says, and what it returns then. */
struct reader {
	char reads;
	ag_result returns;
	int ran;
};

static void read_something(const ag_state *state, char what)
{
	if (what == 'c')
		ag_context(state);
	if (what == 'n')
		ag_context_length(state);
	if (what == 'l') /* which is of the run where the user has said something */
		ag_user_text(state);
}

static ag_result reading_node(ag_run *run, const ag_state *state, void *data)
{
	struct reader *reader = data;
	reader->ran++;
	read_something(state, reader->reads);
	ag_say(run, "read");
	if (reader->returns == AG_ERROR)
		return ag_fail(run, "it says nothing of this");
	return reader->returns == AG_PAUSE ? ag_interrupt(run, NULL, NULL, &(const cJSON *){NULL})
					   : AG_OK;
}

static const char *reading_edge(const ag_state *state, void *data)
{
	struct reader *reader = data;
	read_something(state, reader->reads);
	return AG_END;
}

/* What a run says whose node, and the edge behind it, read so on a thread with a past. */
static const char *unread_says(struct reader *node, struct reader *edge, enum error_kind *failed)
{
	static struct buf out;
	struct talk talk;
	ag_graph *graph = graph_new("c");
	struct thread_ops ops;
	ag_graph_node(graph, "n", reading_node, node);
	ag_graph_edge(graph, AG_START, "n");
	ag_graph_branch(graph, "n", reading_edge, edge, (const char *const[]){AG_END, NULL});
	talk_begin(&talk, graph);
	talk_add(&talk, "{\"role\":\"user\",\"content\":[]}");
	ops = *talk.storage->threads;
	ops.context = context_fails;
	ops.context_count = count_fails;
	talk.storage->threads = &ops;
	buf_reset(&out);
	buf_puts(&out, talk_say(&talk, "go"));
	*failed = talk.error.kind;
	talk_close(&talk);
	return buf_str(&out);
}

static void a_step_that_was_told_too_little_fails(void)
{
	static const struct {
		const char *what;
		struct reader node, edge;
	} rows[] = {
	    {"the context", {'c', AG_OK, 0}, {'-', AG_OK, 0}},
	    {"its length", {'n', AG_OK, 0}, {'-', AG_OK, 0}},
	    {"a node that fails", {'c', AG_ERROR, 0}, {'-', AG_OK, 0}},
	    {"a node that pauses", {'c', AG_PAUSE, 0}, {'-', AG_OK, 0}},
	    {"an edge", {'-', AG_OK, 0}, {'c', AG_OK, 0}},
	};
	for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
		struct reader node = rows[i].node, edge = rows[i].edge;
		enum error_kind failed;
		unit_row(rows[i].what);
		unreadable = ERR_TRANSIENT_STORAGE;
		CU_ASSERT_PTR_NOT_NULL(strstr(unread_says(&node, &edge, &failed),
		    "error: Storage is temporarily unavailable|"));
		CU_ASSERT_EQUAL(failed, ERR_TRANSIENT_STORAGE);
		unreadable = ERR_STORAGE;
		CU_ASSERT_PTR_NOT_NULL(strstr(unread_says(&node, &edge, &failed),
		    "error: Graph execution failed: the conversation cannot be read|"));
		CU_ASSERT_EQUAL(failed, ERR_NODE);
		CU_ASSERT_EQUAL(node.ran, 2);
	}
}

static void who_reads_nothing_of_it_is_none_the_worse(void)
{
	struct reader node = {'l', AG_OK, 0}, edge = {'l', AG_OK, 0};
	enum error_kind failed;
	unreadable = ERR_TRANSIENT_STORAGE;
	CU_ASSERT_STRING_EQUAL(unread_says(&node, &edge, &failed), "assistant: read|");
	CU_ASSERT_EQUAL(failed, ERR_NONE);
}

static void a_program_is_not_run_for_it(void)
{
	struct talk talk;
	struct thread_ops ops;
	write_file("told", "#!/bin/sh\ntouch \"${0}.ran\"\n");
	talk_open(&talk, ONE_NODE("\"kind\": \"exec\", \"command\": [\"./told\"]"));
	ops = *talk.storage->threads;
	ops.context = context_fails;
	talk_add(&talk, "{\"role\":\"user\",\"content\":[]}");
	const struct thread_ops *real = talk.storage->threads;
	talk.storage->threads = &ops;
	unreadable = ERR_TRANSIENT_STORAGE;
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "go"), "error: Storage is temporarily unavailable|");
	CU_ASSERT_NOT_EQUAL(access(unit_path("told.ran"), F_OK), 0);
	talk.storage->threads = real;
	talk_say(&talk, "go");
	CU_ASSERT_EQUAL(access(unit_path("told.ran"), F_OK), 0);
	talk_close(&talk);
}

static const struct unit_test tests[] = {
    {"a reply is streamed word by word", a_reply_is_streamed_word_by_word},
    {"percent signs are text", percent_signs_are_text},
    {"a template has values of every kind", a_template_has_values_of_every_kind},
    {"a reply may have another role", a_reply_may_have_another_role},
    {"a reply updates fields through their reducers",
	a_reply_updates_fields_through_their_reducers},
    {"a sum beyond its type fails the run", a_sum_beyond_its_type_fails_the_run},
    {"a lone name keeps its type", a_lone_name_keeps_its_type},
    {"a question pauses, and its answer goes on", a_question_pauses_and_its_answer_goes_on},
    {"an answer may be any JSON", an_answer_may_be_any_json},
    {"interrupts before and after a node pause", interrupts_before_and_after_a_node_pause},
    {"rules look at texts", rules_look_at_texts},
    {"a rule takes time by the length of a text", a_rule_takes_time_by_the_length_of_a_text},
    {"rules look at fields", rules_look_at_fields},
    {"rules combine", rules_combine},
    {"a tool is given its arguments and gives JSON", a_tool_is_given_its_arguments_and_gives_json},
    {"output that is no JSON is text", output_that_is_no_json_is_text},
    {"a tool that fails gives an error result", a_tool_that_fails_gives_an_error_result},
    {"branches ask one after the other", branches_ask_one_after_the_other},
    {"a region that was kept wrongly fails the run", a_region_that_was_kept_wrongly_fails_the_run},
    {"maps and subgraphs may be built in C", maps_and_subgraphs_may_be_built_in_c},
    {"a subgraph in C has a policy", a_subgraph_in_c_has_a_policy},
    {"mistakes in subgraphs of C are told", mistakes_in_subgraphs_of_c_are_told},
    {"what C leaves out is told", what_c_leaves_out_is_told},
    {"a question and its pause belong together", a_question_and_its_pause_belong_together},
    {"a step that was told too little fails", a_step_that_was_told_too_little_fails},
    {"who reads nothing of it is none the worse", who_reads_nothing_of_it_is_none_the_worse},
    {"a program is not run for it", a_program_is_not_run_for_it},
};

int main(void)
{
	memory_init();
	return unit_main("document_run", tests, UNIT_COUNT(tests));
}
