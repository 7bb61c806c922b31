/* SPDX-License-Identifier: ISC */
/* Live agents in graphs: what is refused at start-up, in C and in documents. */
#include "base/memory.h"
#include "document_fixture.h"
#include "graph/live/live.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EDGES                                                                          \
	"\"edges\": [{\"from\": \"START\", \"to\": \"v\"}, {\"from\": \"v\", \"to\": " \
	"\"END\"}]"
#define LIVE(more) "\"v\": {\"kind\": \"live\", \"provider\": \"demo\"" more "}"
#define DOCUMENT(nodes) "{\"g\": {\"nodes\": {" nodes "}, " EDGES "}}"
#define REALTIME(more) "\"v\": {\"kind\": \"live\", \"provider\": \"openai\"" more "}"
#define TOOLS                                                                             \
	"\"t\": {\"kind\": \"tools\", \"tools\": [{\"kind\": \"exec\", \"name\": \"n\", " \
	"\"description\": \"d\", \"command\": \"true\", \"tags\": [\"a\", \"b\"]}]}"

/* Documents, and what is wrong with them. */
static const char *const documents[][2] = {
    {DOCUMENT(LIVE("")), ""},
    {DOCUMENT(LIVE(", \"model\": \"m\", \"voice\": \"v\", \"modalities\": [\"TEXT\"], "
		   "\"system_prompt\": \"p\", \"tools\": \"t\", \"tools_tags\": [\"a\"], "
		   "\"vad\": {\"enabled\": false}") ", " TOOLS),
	""},
    /* settings of a realtime provider */
    {DOCUMENT(REALTIME("")), "/g/nodes/v/model: expected the name of a model"},
    {DOCUMENT(REALTIME(", \"model\": \"m\", \"base_url\": \"ftp://h\"")),
	"/g/nodes/v/base_url: expected a ws, wss, http or https URL"},
    {DOCUMENT(REALTIME(", \"model\": \"m\", \"api_key_env\": \"A=B\"")),
	"/g/nodes/v/api_key_env: expected the name of an environment variable"},
    /* mistakes are told with their place */
    {DOCUMENT("\"v\": {\"kind\": \"live\"}"), "/g/nodes/v: expected the key 'provider'"},
    {DOCUMENT("\"v\": {\"kind\": \"live\", \"provider\": \"other\"}"),
	"/g/nodes/v/provider: expected one of demo, gemini, openai, found 'other'"},
    {DOCUMENT(LIVE(", \"modalities\": [\"AUDIO\", \"TEXT\"]")),
	"/g/nodes/v/modalities: expected exactly one of AUDIO, TEXT"},
    {DOCUMENT(LIVE(", \"modalities\": \"video\"")),
	"/g/nodes/v/modalities: expected exactly one of AUDIO, TEXT"},
    {DOCUMENT(LIVE(", \"vad\": {\"silence_duration_ms\": \"x\"}")),
	"/g/nodes/v/vad/silence_duration_ms: expected an integer from 0 to 60000"},
    {DOCUMENT(LIVE(", \"vad\": {\"silence\": 5}")),
	"/g/nodes/v/vad/silence: unknown key; expected one of enabled, start_sensitivity, "
	"end_sensitivity, prefix_padding_ms, silence_duration_ms"},
    {DOCUMENT(LIVE(", \"vad\": {\"start_sensitivity\": \"MEDIUM\"}")),
	"/g/nodes/v/vad/start_sensitivity: expected LOW, HIGH or a number from 0 to 1"},
    {DOCUMENT(LIVE(", \"tools\": \"v\"")),
	"/g/nodes/v/tools: expected the name of a tools node, 'v' is none"},
    {DOCUMENT(LIVE(", \"tools_tags\": [1]")),
	"/g/nodes/v/tools_tags/0: expected a string, found number"},
};

static void documents_are_checked(void)
{
	for (size_t i = 0; i < UNIT_COUNT(documents); i++) {
		unit_row("%s", documents[i][0]);
		CU_ASSERT_STRING_EQUAL(problems_of(documents[i][0]), documents[i][1]);
	}
	unit_row("OPENAI_BASE_URL=here");
	setenv("OPENAI_BASE_URL", "here", 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(problems_of(DOCUMENT(REALTIME(", \"model\": \"m\""))),
	    "the environment variable OPENAI_BASE_URL to be a ws, wss, http or https URL"));
	unsetenv("OPENAI_BASE_URL");
}

/* Of the tool n, in the document's tools node. */
static void tags_of_documents_reach_the_tools(void)
{
	struct talk talk;
	talk_open(&talk, DOCUMENT(LIVE(", \"tools\": \"t\"") ", " TOOLS));
	const struct node *tools = talk.graph->live->live->tools;
	CU_ASSERT_PTR_NOT_NULL_FATAL(tools);
	const struct tool *tool = graph_tool_get(tools, "n");
	CU_ASSERT_PTR_NOT_NULL_FATAL(tool);
	CU_ASSERT_PTR_NOT_NULL_FATAL(tool->tags);
	CU_ASSERT_STRING_EQUAL(tool->tags[0], "a");
	CU_ASSERT_STRING_EQUAL(tool->tags[1], "b");
	CU_ASSERT_PTR_NULL(tool->tags[2]);
	talk_close(&talk);
}

static ag_graph *graph;

/* The mistakes of the graph, one a line; static. */
static const char *mistakes(void)
{
	static char text[2000];
	*text = '\0';
	graph_compile(graph);
	for (size_t i = 0; i < graph->problems.count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? "\n" : "",
		    graph->problems.items[i].text);
	graph_free(graph);
	return text;
}

static void add_live(const char *name, struct ag_live live)
{
	live.kind = live.kind ? live.kind : AG_LIVE;
	ag_graph_live(graph, name, &live);
	ag_graph_edge(graph, name, AG_END);
}

static ag_result nothing(ag_run *run, const ag_state *state, void *data)
{
	(void)run, (void)state, (void)data;
	return AG_OK;
}

static void there_is_one_live_agent(void)
{
	const struct ag_live live = {.provider = &live_demo_provider};
	graph = graph_new("x");
	add_live("one", live);
	add_live("two", live);
	ag_graph_edge(graph, AG_START, "one");
	CU_ASSERT_PTR_NOT_NULL(strstr(
	    mistakes(), "x: live agent 'two': expected no second one: a graph has one at most"));
}

static void nothing_else_stands_beside_it(void)
{
	const struct ag_live live = {.provider = &live_demo_provider};
	graph = graph_new("x");
	add_live("voice", live);
	ag_graph_node(graph, "other", nothing, NULL);
	ag_graph_edge(graph, AG_START, "other");
	ag_graph_edge(graph, "other", "voice");
	const char *text = mistakes();
	CU_ASSERT_PTR_NOT_NULL(
	    strstr(text, "node 'other': expected only tools nodes beside the live agent 'voice'"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text,
	    "live agent 'voice': expected the edge from START to lead to it, and nowhere else"));
}

static void what_it_is_made_of_is_checked(void)
{
	struct ag_live_provider half = live_demo_provider;
	half.step = NULL;
	graph = graph_new("x");
	add_live("voice", (struct ag_live){.provider = &half});
	ag_graph_edge(graph, AG_START, "voice");
	CU_ASSERT_STRING_EQUAL(mistakes(),
	    "x: live agent 'voice': expected a provider of this version with all its functions");
	graph = graph_new("x");
	add_live("voice", (struct ag_live){.provider = &live_demo_provider, .kind = 5});
	ag_graph_edge(graph, AG_START, "voice");
	CU_ASSERT_STRING_EQUAL(
	    mistakes(), "x: live agent 'voice': expected a struct ag_live of this version");
	graph = graph_new("x");
	add_live("voice",
	    (struct ag_live){.provider = &live_demo_provider, .vad = "[]", .tools = "none"});
	ag_graph_edge(graph, AG_START, "voice");
	CU_ASSERT_STRING_EQUAL(mistakes(),
	    "x: live agent 'voice': expected vad to be a JSON object\n"
	    "x: live agent 'voice': expected tools to be a tools node, 'none' is none");
	graph = graph_new("x");
	add_live("voice", (struct ag_live){.provider = &live_demo_provider});
	ag_graph_edge(graph, AG_START, "voice");
	ag_graph_interrupt_before(graph, "voice");
	CU_ASSERT_STRING_EQUAL(mistakes(),
	    "x: live agent 'voice': expected no interrupt: a conversation does not pause");
}

static void tags_belong_to_tools_that_exist(void)
{
	static const char *const tags[] = {"a", NULL};
	graph = graph_new("x");
	add_live("voice", (struct ag_live){.provider = &live_demo_provider, .tools = "tools"});
	ag_graph_edge(graph, AG_START, "voice");
	ag_graph_tools(graph, "tools");
	ag_graph_tool_tags(graph, "tools", "absent", tags);
	ag_graph_tool_tags(graph, "voice", "absent", tags);
	CU_ASSERT_STRING_EQUAL(mistakes(),
	    "x: tags of tool 'absent': there is no such tool\n"
	    "x: tool 'absent': expected a tools node, 'voice' is none");
}

static const struct unit_test tests[] = {
    {"a live agent is a document, whose mistakes are told with their place", documents_are_checked},
    {"tags of documents reach the tools", tags_of_documents_reach_the_tools},
    {"there is one live agent", there_is_one_live_agent},
    {"nothing else stands beside it", nothing_else_stands_beside_it},
    {"what it is made of is checked", what_it_is_made_of_is_checked},
    {"tags belong to tools that exist", tags_belong_to_tools_that_exist},
};

int main(void)
{
	memory_init();
	return unit_main("live_graph", tests, UNIT_COUNT(tests));
}
