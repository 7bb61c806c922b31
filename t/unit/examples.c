/* SPDX-License-Identifier: ISC */
/* The agents in examples/ do what their READMEs say. */
#include "../../examples/c-agent/agent.c"

#include "base/memory.h"
#include "document_fixture.h"
#include "unit.h"

#include <stdio.h>

static void open_example(struct talk *talk, const char *directory, const char *attribute)
{
	char path[4096];
	const char *top = getenv("top_srcdir");
	snprintf(path, sizeof(path), "%s/examples/%s/graph.json", top ? top : ".", directory);
	ag_graph *graph = graph_new(attribute);
	graph_document(graph, path, attribute, &graph->problems);
	talk_begin(talk, graph);
	talk->config = "{\"user\": {\"user_id\": \"alice\"}}";
}

static void the_shell_agent_streams_what_commands_write(void)
{
	struct talk talk;
	open_example(&talk, "shell-agent", "assistant");
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "sum 1 2 39"), "assistant: 42\n|");
	CU_ASSERT_PTR_NOT_NULL(strstr(talk_say(&talk, "disk"), "Mounted on\n"));
	CU_ASSERT_TRUE(strstr(buf_str(&talk.pieces), "|") != strrchr(buf_str(&talk.pieces), '|'));
	talk_close(&talk);
}

static void the_shell_agent_repeats_any_text(void)
{
	struct talk talk;
	open_example(&talk, "shell-agent", "assistant");
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "a \"b\" \\ c\td\ne $(id) \xc3\xa4"),
	    "assistant: I know disk, load, and sum NUMBER..., but not: a \"b\" \\ c\td\ne $(id) "
	    "\xc3\xa4 |");
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, ""),
	    "error: Graph execution failed: ./agent.sh exited with status 1: there is no text to "
	    "answer|");
	talk_close(&talk);
}

static bool has_python(void)
{
	bool found = system("python3 -c '' 2>/dev/null") == 0;
	if (!found)
		printf("# python3 is not installed\n");
	return found;
}

static void the_python_agent_keeps_a_list(void)
{
	struct talk talk;
	if (!has_python())
		return;
	open_example(&talk, "python-agent", "assistant");
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "list"), "assistant: Nothing to buy.|");
	CU_ASSERT_STRING_EQUAL(
	    talk_say(&talk, "add milk"), "assistant: Noted: milk. That makes 1.|");
	CU_ASSERT_STRING_EQUAL(buf_str(&talk.pieces), "Noted:| milk.| That| makes| 1.|");
	talk_say(&talk, "add bread");
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "list"), "assistant: To buy: milk, bread|");
	talk_close(&talk);
}

static void the_python_agent_asks_before_it_clears(void)
{
	struct talk talk;
	if (!has_python())
		return;
	open_example(&talk, "python-agent", "assistant");
	talk_say(&talk, "add milk");
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "clear"),
	    "pause: approval {\"question\":\"Throw away a list of 1?\",\"items\":[\"milk\"]}|");
	CU_ASSERT_STRING_EQUAL(talk_answer(&talk, "null"), "assistant: The list stays as it is.|");
	talk_say(&talk, "clear");
	CU_ASSERT_STRING_EQUAL(talk_answer(&talk, "\"yes\""), "assistant: The list is empty now.|");
	CU_ASSERT_STRING_EQUAL(talk_field(&talk, "items"), "[]");
	talk_close(&talk);
}

static void the_json_agent_calls_its_tool(void)
{
	struct talk talk;
	open_example(&talk, "json-agent", "helpdesk");
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "weekday 2026-09-02"),
	    "assistant: |tool: |assistant: It is: Wednesday|");
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "weekday 2026-13-02"),
	    "assistant: |tool: |assistant: It is: expected a date as YYYY-MM-DD|");
	CU_ASSERT_PTR_NOT_NULL(strstr(talk_say(&talk, "weekday tomorrow"), "Hello alice."));
	talk_close(&talk);
}

static void the_json_agent_opens_a_ticket_when_told_to(void)
{
	struct talk talk;
	open_example(&talk, "json-agent", "helpdesk");
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "ticket it smokes"),
	    "pause: approval {\"question\":\"Open this ticket?\",\"ticket\":\"ticket it smokes\"}|");
	CU_ASSERT_STRING_EQUAL(talk_answer(&talk, "true"), "assistant: The ticket is open.|");
	talk_say(&talk, "Ticket two");
	CU_ASSERT_STRING_EQUAL(talk_answer(&talk, "\"later\""),
	    "assistant: No ticket was opened; the answer was: later|");
	CU_ASSERT_STRING_EQUAL(
	    talk_say(&talk, "tickets"), "assistant: Your tickets: [\"ticket it smokes\"]|");
	talk_close(&talk);
}

static void the_c_agent_converts_with_its_tool(void)
{
	struct talk talk;
	ag_graph *graph = graph_new("agent.so:assistant");
	CU_ASSERT_EQUAL(assistant(graph), 0);
	CU_ASSERT_EQUAL(ag_plugin_abi, AG_ABI_VERSION);
	talk_begin(&talk, graph);
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "21.5"),
	    "assistant: |tool: |assistant: 70.7 \xc2\xb0"
	    "F. Readings so far: 1.|");
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "-300"),
	    "assistant: |tool: |assistant: That went wrong: -300 is below absolute zero.|");
	CU_ASSERT_STRING_EQUAL(
	    talk_say(&talk, "warm"), "assistant: Give me a number of degrees Celsius.|");
	CU_ASSERT_STRING_EQUAL(talk_field(&talk, "readings"), "1");
	talk_close(&talk);
}

static const struct unit_test tests[] = {
    {"the shell agent streams what commands write", the_shell_agent_streams_what_commands_write},
    {"the shell agent repeats any text, and fails without one", the_shell_agent_repeats_any_text},
    {"the Python agent keeps a list", the_python_agent_keeps_a_list},
    {"the Python agent asks before it clears the list", the_python_agent_asks_before_it_clears},
    {"the JSON agent calls its tool", the_json_agent_calls_its_tool},
    {"the JSON agent opens a ticket when it is told to",
	the_json_agent_opens_a_ticket_when_told_to},
    {"the C agent converts with its tool", the_c_agent_converts_with_its_tool},
};

int main(void)
{
	memory_init();
	return unit_main("examples", tests, UNIT_COUNT(tests));
}
