/* SPDX-License-Identifier: ISC */
/* Graphs from documents: what is read, and where mistakes are told. */
#include "graph/document/document.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "document_fixture.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A document whose graph g has these members. */
#define GRAPH(members) "{\"g\": {" members "}}"

/* One node n, with an edge to it and one from it. */
#define ONE_NODE(node)                                                                             \
	GRAPH("\"nodes\": {\"n\": {" node "}}, \"edges\": [{\"from\": \"START\", \"to\": \"n\"}, " \
	      "{\"from\": \"n\", \"to\": \"END\"}]")

/* The node n, and an edge from it. */
#define ONE_EDGE(edge)                                                          \
	GRAPH("\"state\": {\"fields\": {\"count\": {\"type\": \"integer\"}}}, " \
	      "\"nodes\": {\"n\": {\"kind\": \"reply\", \"text\": \"hi\"}}, "   \
	      "\"edges\": [{\"from\": \"START\", \"to\": \"n\"}, {\"from\": \"n\", " edge "}]")

#define RULE(rule) ONE_EDGE("\"if\": [{\"when\": {" rule "}, \"to\": \"n\"}], \"else\": \"END\"")

/* A state with the field f. */
#define STATE_FIELD(field)                                                     \
	GRAPH(                                                                 \
	    "\"state\": {\"fields\": {\"f\": " field "}}, "                    \
	    "\"nodes\": {\"n\": {\"kind\": \"reply\", \"text\": \"{{f}}\"}}, " \
	    "\"edges\": [{\"from\": \"START\", \"to\": \"n\"}, {\"from\": \"n\", \"to\": \"END\"}]")

struct mistake {
	const char *document;
	const char *problem; /* what the report begins with */
};

static void check_mistakes(const struct mistake *mistakes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *problems = problems_of(mistakes[i].document);
		bool same =
		    strncmp(problems, mistakes[i].problem, strlen(mistakes[i].problem)) == 0;
		if (!same || strchr(problems, '\n'))
			printf("# %s\n# gives %s\n", mistakes[i].document, problems);
		CU_ASSERT_TRUE(same);
		CU_ASSERT_PTR_NULL(strchr(problems, '\n'));
	}
}

#define CHECK_MISTAKES(mistakes) check_mistakes(mistakes, UNIT_COUNT(mistakes))

static void a_complete_document_has_no_mistakes(void)
{
	CU_ASSERT_STRING_EQUAL(problems_of(ONE_NODE("\"kind\": \"reply\", \"text\": \"hi\"")), "");
}

static void files_that_are_no_document_are_refused(void)
{
	static const struct mistake mistakes[] = {
	    {"", "line 1: the file must be valid JSON"},
	    {"{\n\n\"g\": nul}", "line 3: the file must be valid JSON"},
	    {"{\"g\": {}\n}}", "line 2: the file must be valid JSON"},
	    {"{\"g\":\n\"a\tb\"}", "line 2: the file must be valid JSON"},
	    {"{\"g\":\n\"\xff\"}", "line 2: the file must be valid JSON"},
	    {"[]", "expected an object, found array"},
	    {"{\"$schema\": \"x\", \"h\": {}, \"i\": {}}",
		"/g: the document has no graph of that name; it has h, i"},
	    {"{\"g\": 5}", "/g: expected an object, found number"},
	    {ONE_NODE("\"kind\": \"reply\", \"text\": \"a\", \"text\": \"b\""),
		"/g/nodes/n/text: expected the key once, found it twice"},
	};
	CHECK_MISTAKES(mistakes);
	ag_graph *graph = graph_new("x");
	graph_document(graph, unit_path("absent.json"), "g", &graph->problems);
	CU_ASSERT_EQUAL_FATAL(graph->problems.errors, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(graph->problems.items[0].text,
	    "absent.json: expected a readable JSON file: No such file or directory"));
	graph_free(graph);
}

static void mistakes_in_nodes_are_told_with_their_place(void)
{
	static const struct mistake mistakes[] = {
	    {ONE_NODE("\"kind\": \"reply\", \"text\": 5"),
		"/g/nodes/n/text: expected a string, found number"},
	    {ONE_NODE("\"kind\": \"reply\""), "/g/nodes/n: expected the key 'text'"},
	    {ONE_NODE("\"kind\": \"reply\", \"text\": \"x\", \"txet\": 1"),
		"/g/nodes/n/txet: unknown key; expected one of kind, text, role, update"},
	    {ONE_NODE("\"text\": \"x\""),
		"/g/nodes/n: expected the key 'kind', one of reply, exec, interrupt, tools, live, model, graph, a2a"},
	    {ONE_NODE("\"kind\": \"robot\""),
		"/g/nodes/n/kind: expected a kind of node, one of reply, exec, interrupt, tools, live, model, graph, a2a, "
		"found 'robot'"},
	    {ONE_NODE("\"kind\": null"), "/g/nodes/n/kind: expected a string, found null"},
	    {ONE_NODE("\"kind\": \"reply\", \"text\": \"{{nmae}}\""),
		"/g/nodes/n/text: unknown name {{nmae}}; expected user_text, "},
	    {ONE_NODE("\"kind\": \"reply\", \"text\": \"{{answer}}\""),
		"/g/nodes/n/text: unknown name {{answer}}"},
	    {ONE_NODE("\"kind\": \"reply\", \"text\": \"{{user_text\""),
		"/g/nodes/n/text: '{{user_text' opens a name that no }} closes"},
	    {ONE_NODE("\"kind\": \"reply\", \"text\": \"\", \"role\": \"tool\""),
		"/g/nodes/n/role: expected one of assistant, user, system, found 'tool'"},
	    {ONE_NODE("\"kind\": \"reply\", \"text\": \"\", \"update\": {\"x\": 1}"),
		"/g/nodes/n/update/x: there is no state field of that name"},
	    {ONE_NODE("\"kind\": \"reply\", \"text\": \"\", \"on_error\": \"x\""),
		"/g/nodes/n/on_error: there is no node 'x'; expected one, or END"},
	    {ONE_NODE("\"kind\": \"reply\", \"text\": \"\", \"on_error\": 1"),
		"/g/nodes/n/on_error: expected a string, found number"},
	    {ONE_NODE("\"kind\": \"reply\", \"text\": \"\", \"timeout\": 901"),
		"/g/nodes/n/timeout: expected a number from 0.001 to 900"},
	    {ONE_NODE("\"kind\": \"reply\", \"text\": \"\", \"retry\": 3"),
		"/g/nodes/n/retry: expected an object, found number"},
	    {ONE_NODE("\"kind\": \"tools\", \"tools\": [], \"retry\": {\"attempts\": 1.5}"),
		"/g/nodes/n/retry/attempts: expected an integer from 1 to 100"},
	    {ONE_NODE("\"kind\": \"interrupt\", \"value\": 1, \"retry\": {\"factor\": 0.5}"),
		"/g/nodes/n/retry/factor: expected a number from 1 to 100"},
	    {ONE_NODE("\"kind\": \"exec\", \"command\": \"sh\", \"retry\": {\"wait\": 1}"),
		"/g/nodes/n/retry/wait: unknown key; expected one of attempts, initial, factor, max"},
	    {ONE_NODE("\"kind\": \"live\", \"provider\": \"demo\", \"on_error\": \"END\""),
		"/g/nodes/n/on_error: unknown key"},
	    {ONE_NODE("\"kind\": \"interrupt\""), "/g/nodes/n: expected the key 'value'"},
	    {ONE_NODE("\"kind\": \"interrupt\", \"value\": {\"a/b~\": [0, \"{{x}}\"]}"),
		"/g/nodes/n/value/a~1b~0/1: unknown name {{x}}"},
	    {ONE_NODE("\"kind\": \"interrupt\", \"value\": 1, \"field\": \"x\""),
		"/g/nodes/n/field: there is no state field 'x'"},
	};
	CHECK_MISTAKES(mistakes);
}

#define TOOL(tool) ONE_NODE("\"kind\": \"tools\", \"tools\": [{" tool "}]")
#define SH "\"command\": \"sh\""
#define NAMED "\"kind\": \"exec\", \"name\": \"t\", \"description\": \"d\""

static void mistakes_in_commands_are_told_with_their_place(void)
{
	static const struct mistake mistakes[] = {
	    {ONE_NODE("\"kind\": \"exec\""), "/g/nodes/n: expected the key 'command'"},
	    {ONE_NODE("\"kind\": \"exec\", \"command\": \"./absent.sh\""),
		"/g/nodes/n/command: expected an executable file, './absent.sh' is none: No such "
		"file or directory"},
	    {ONE_NODE("\"kind\": \"exec\", \"command\": [\"no-such-program\"]"),
		"/g/nodes/n/command: expected an executable in PATH, 'no-such-program' is none"},
	    {ONE_NODE("\"kind\": \"exec\", \"command\": \"./graph.json\""),
		"/g/nodes/n/command: expected an executable file, './graph.json' is none: "
		"Permission denied"},
	    {ONE_NODE("\"kind\": \"exec\", \"command\": []"),
		"/g/nodes/n/command: expected the name of an executable first"},
	    {ONE_NODE("\"kind\": \"exec\", \"command\": \"\""),
		"/g/nodes/n/command: expected the name of an executable first"},
	    {ONE_NODE("\"kind\": \"exec\", \"command\": [\"sh\", 5]"),
		"/g/nodes/n/command/1: expected a string, found number"},
	    {ONE_NODE("\"kind\": \"exec\", \"command\": true"),
		"/g/nodes/n/command: expected a string or an array, found boolean"},
	    {ONE_NODE("\"kind\": \"exec\", " SH ", \"timeout\": 901"),
		"/g/nodes/n/timeout: expected a number from 0.001 to 900"},
	    {ONE_NODE("\"kind\": \"exec\", " SH ", \"timeout\": 0"),
		"/g/nodes/n/timeout: expected a number from 0.001 to 900"},
	    {ONE_NODE("\"kind\": \"exec\", " SH ", \"max_output\": 0"),
		"/g/nodes/n/max_output: expected a number from 1 to 1073741824"},
	    {ONE_NODE("\"kind\": \"exec\", " SH ", \"input\": \"none\""),
		"/g/nodes/n/input: expected one of full, last, found 'none'"},
	    {ONE_NODE("\"kind\": \"exec\", " SH ", \"cwd\": \"absent\""),
		"/g/nodes/n/cwd: expected a directory, 'absent' is none"},
	    {ONE_NODE("\"kind\": \"exec\", " SH ", \"env\": {\"A\": 1}"),
		"/g/nodes/n/env/A: expected a string, found number"},
	    {ONE_NODE("\"kind\": \"exec\", " SH ", \"env\": {\"A=B\": \"\"}"),
		"/g/nodes/n/env/A=B: expected the name of a variable"},
	    {ONE_NODE("\"kind\": \"exec\", " SH ", \"env\": {\"A\": \"$NO_SUCH_VARIABLE\"}"),
		"/g/nodes/n/env/A: expected the environment variable NO_SUCH_VARIABLE to be set"},
	    {TOOL("\"name\": \"t\""),
		"/g/nodes/n/tools/0/kind: expected a kind of tool, one of exec, http, mcp"},
	    {TOOL("\"kind\": \"httb\", \"http\": {}"),
		"/g/nodes/n/tools/0/kind: expected a kind of tool, one of exec, http, mcp"},
	    {TOOL("\"kind\": \"exec\", \"description\": \"d\", " SH),
		"/g/nodes/n/tools/0: expected the key 'name'"},
	    {TOOL(NAMED ", " SH ", \"timeout\": 301"),
		"/g/nodes/n/tools/0/timeout: expected a number from 0.001 to 300"},
	    {TOOL(NAMED ", " SH ", \"input\": \"last\""), "/g/nodes/n/tools/0/input: unknown key"},
	    {TOOL(NAMED ", " SH ", \"parameters\": {\"type\": \"array\"}"),
		"/g/nodes/n/tools/0/parameters/type: expected \"object\""},
	    {TOOL(NAMED ", " SH "}, {" NAMED ", " SH),
		"/g/nodes/n/tools/1/name: another tool of this node is called 't'"},
	    {ONE_NODE("\"kind\": \"tools\", \"tools\": [1]"),
		"/g/nodes/n/tools/0: expected an object, found number"},
	};
	CHECK_MISTAKES(mistakes);
}

#define DESCRIBED "\"name\": \"t\", \"description\": \"d\""
#define REQUEST(request) TOOL(DESCRIBED ", \"http\": {" request "}")
#define AT_URL "\"url\": \"http://127.0.0.1/x\""
#define SERVER(server) TOOL("\"mcp\": {" server "}")

static void mistakes_in_tools_are_told_with_their_place(void)
{
	static const struct mistake mistakes[] = {
	    {TOOL(DESCRIBED ", " SH
			    ", \"parameters\": {\"properties\": {\"a\": {\"type\": \"strng\"}}}"),
		"graph.json:g: tool 't': parameters/properties/a/type: expected one of null, "},
	    {REQUEST(""), "/g/nodes/n/tools/0/http: expected the key 'url'"},
	    {REQUEST("\"url\": \"ftp://h/\""),
		"/g/nodes/n/tools/0/http/url: expected an http or https URL with a host"},
	    {REQUEST("\"url\": \"http://{{host}}/\""),
		"/g/nodes/n/tools/0/http/url: expected an http or https URL with a host"},
	    {REQUEST("\"url\": \"http://h:{{port}}/\""),
		"/g/nodes/n/tools/0/http/url: expected an http or https URL with a host"},
	    {REQUEST("\"url\": \"http://h{{rest}}\""),
		"/g/nodes/n/tools/0/http/url: expected an http or https URL with a host"},
	    {REQUEST("\"url\": \"http://user@h/\""),
		"/g/nodes/n/tools/0/http/url: expected an http or https URL with a host"},
	    {REQUEST("\"url\": \"http://h/{{a\""),
		"/g/nodes/n/tools/0/http/url: '{{a' opens a name that no }} closes"},
	    {REQUEST(AT_URL ", \"method\": \"GET /\""),
		"/g/nodes/n/tools/0/http/method: expected a method such as GET or POST"},
	    {REQUEST(AT_URL ", \"headers\": {\"A\": \"$NO_SUCH_VARIABLE\"}"),
		"/g/nodes/n/tools/0/http/headers/A: expected the environment variable "
		"NO_SUCH_VARIABLE to be set"},
	    {REQUEST(AT_URL ", \"headers\": {\"A:\": \"\"}"),
		"/g/nodes/n/tools/0/http/headers/A:: expected the name of a header"},
	    {REQUEST(AT_URL ", \"headers\": {\"A\": \"x\\r\\nB: y\"}"),
		"/g/nodes/n/tools/0/http/headers/A: expected a value without control characters"},
	    {REQUEST(AT_URL ", \"body\": {\"a\": [\"{{\"]}"),
		"/g/nodes/n/tools/0/http/body/a/0: '{{' opens a name that no }} closes"},
	    {TOOL(DESCRIBED ", \"parameters\": {\"properties\": {\"a\": {}}}, \"http\": {" AT_URL
			    ", \"query\": {\"x\": \"{{a.b}} {{A}}\"}}"),
		"/g/nodes/n/tools/0/http/query/x: {{A}}: the parameters of the tool have no such property"},
	    {REQUEST(AT_URL ", \"timeout\": 301"),
		"/g/nodes/n/tools/0/http/timeout: expected a number from 0.001 to 300"},
	    {SERVER(""), "/g/nodes/n/tools/0/mcp: expected either 'command' or 'url'"},
	    {SERVER("\"url\": \"http://h/mcp\", \"oauth\": {\"client_id\": \"a\"}"),
		"/g/nodes/n/tools/0/mcp/oauth: expected the key 'client_secret_env'"},
	    {SERVER("\"url\": \"http://h/mcp\", \"oauth\": {\"client_id\": \"a\", "
		    "\"client_secret_env\": \"NO_SUCH_SECRET\"}"),
		"/g/nodes/n/tools/0/mcp/oauth/client_secret_env: expected the environment variable "
		"NO_SUCH_SECRET to be set"},
	    {SERVER(SH ", \"url\": \"http://h/\""),
		"/g/nodes/n/tools/0/mcp: expected either 'command' or 'url'"},
	    {SERVER("\"command\": \"./absent.sh\""),
		"/g/nodes/n/tools/0/mcp/command: expected an executable file, './absent.sh' is "
		"none"},
	    {SERVER("\"command\": []"),
		"/g/nodes/n/tools/0/mcp/command: expected the name of an executable first"},
	    {SERVER("\"url\": \"h:80/mcp\""),
		"/g/nodes/n/tools/0/mcp/url: expected an http or https URL with a host"},
	    {TOOL("\"mcp\": {" SH "}, \"tools\": [1]"),
		"/g/nodes/n/tools/0/tools/0: expected a string, found number"},
	    {TOOL("\"mcp\": {" SH "}, \"prefix\": \"a/\""),
		"/g/nodes/n/tools/0/prefix: expected up to 64 letters"},
	    {TOOL("\"mcp\": {" SH "}, \"description\": \"\""),
		"/g/nodes/n/tools/0/description: unknown key"},
	};
	CHECK_MISTAKES(mistakes);
}

/* Graphs g and h, whose nodes are given. */
#define TWO(node, h)                                                                            \
	GRAPH("\"state\": {\"fields\": {\"count\": {\"type\": \"integer\"}}}, \"nodes\": "      \
	      "{\"n\": {\"kind\": \"graph\", " node                                             \
	      "}}, \"edges\": [{\"from\": \"START\", \"to\": \"n\"}, {\"from\": \"n\", "        \
	      "\"to\": \"END\"}]}, \"h\": {\"state\": {\"fields\": {\"text\": {\"type\": "      \
	      "\"string\"}}}, \"nodes\": {\"m\": " h                                            \
	      "}, \"edges\": [{\"from\": \"START\", \"to\": \"m\"}, {\"from\": \"m\", \"to\": " \
	      "\"END\"}]")
#define SAYS "{\"kind\": \"reply\", \"text\": \"{{text}}\"}"

static void mistakes_in_subgraphs_are_told_with_their_place(void)
{
	static const struct mistake mistakes[] = {
	    {TWO("\"graph\": \"i\"", SAYS), "/g/nodes/n/graph: "},
	    {TWO("\"graph\": \"h\"", "{\"kind\": \"graph\", \"graph\": \"g\"}"),
		"/h/nodes/m/graph: expected a graph that does not contain itself: g -> h -> g"},
	    {TWO("\"graph\": \"g\"", SAYS),
		"/g/nodes/n/graph: expected a graph that does not contain itself: g -> g"},
	    {TWO("\"graph\": \"h\"", "{\"kind\": \"reply\"}"),
		"/h/nodes/m: expected the key 'text'"},
	    {TWO("\"graph\": \"h\", \"input\": {\"count\": 1}", SAYS),
		"/g/nodes/n/input/count: the graph inside has no state field of that name"},
	    {TWO("\"graph\": \"h\", \"input\": {\"text\": \"{{text}}\"}", SAYS),
		"/g/nodes/n/input/text: unknown name {{text}}"},
	    {TWO("\"graph\": \"h\", \"output\": {\"text\": \"\"}", SAYS),
		"/g/nodes/n/output/text: the graph around it has no state field of that name"},
	    {TWO("\"graph\": \"h\", \"output\": {\"count\": \"{{count}}\"}", SAYS),
		"/g/nodes/n/output/count: unknown name {{count}}"},
	    {TWO("\"graph\": \"h\", \"output\": {\"count\": \"x\"}", SAYS),
		"/g/nodes/n/output/count: expected a value of type integer, found string"},
	    {TWO("\"graph\": \"h\", \"messages\": \"none\"", SAYS),
		"/g/nodes/n/messages: expected one of shared, own, found 'none'"},
	    {TWO("\"graph\": \"h\", \"timeout\": 0", SAYS),
		"/g/nodes/n/timeout: expected a number from 0.001 to 900"},
	};
	CHECK_MISTAKES(mistakes);
	CU_ASSERT_STRING_EQUAL(problems_of(TWO("\"graph\": \"h\", \"input\": {\"text\": \"x\"}, "
					       "\"output\": {\"count\": \"{{text}}\"}",
				   SAYS)),
	    "");
}

static void mistakes_in_edges_are_told_with_their_place(void)
{
	static const struct mistake mistakes[] = {
	    {ONE_EDGE("\"to\": \"m\""),
		"/g/edges/1/to: there is no node 'm'; expected one, or END"},
	    {ONE_EDGE("\"to\": \"START\""), "/g/edges/1/to: there is no node 'START'"},
	    {ONE_EDGE("\"to\": 5"), "/g/edges/1/to: expected a string or an array, found number"},
	    {ONE_EDGE("\"to\": \"END\", \"join\": \"END\""),
		"/g/edges/1/join: expected only beside an array 'to' of branches, or 'map'"},
	    {ONE_EDGE("\"map\": \"items\", \"to\": \"n\""),
		"/g/edges/1: expected the key 'join' beside 'map'"},
	    {ONE_EDGE("\"map\": \"items\", \"to\": [\"n\"], \"join\": \"END\""),
		"/g/edges/1/map: expected only beside 'to' with the name of one node"},
	    {ONE_EDGE("\"map\": \"items\", \"to\": \"x\", \"join\": \"END\""),
		"/g/edges/1/to: there is no node 'x'; expected one, or END"},
	    {ONE_EDGE("\"map\": 5, \"to\": \"END\", \"join\": \"END\""),
		"/g/edges/1/map: expected a string, found number"},
	    {ONE_EDGE("\"map\": \"i\", \"to\": \"n\", \"join\": \"END\", \"limit\": 0"),
		"/g/edges/1/limit: expected an integer from 1 to 1024"},
	    {ONE_EDGE("\"to\": \"END\", \"limit\": 2"),
		"/g/edges/1/limit: expected only beside 'map'"},
	    {ONE_EDGE("\"to\": [\"n\", \"n\"]"),
		"/g/edges/1: expected the key 'join' beside an array 'to'"},
	    {ONE_EDGE("\"to\": [\"n\", 5], \"join\": \"END\""),
		"/g/edges/1/to/1: expected a string, found number"},
	    {ONE_EDGE("\"too\": \"END\", \"to\": \"END\""), "/g/edges/1/too: unknown key"},
	    {ONE_EDGE("\"to\": \"END\", \"else\": \"END\""),
		"/g/edges/1/else: expected only beside 'if'"},
	    {ONE_EDGE("\"else\": \"END\""),
		"/g/edges/1: expected either 'to', or 'if' with 'else'"},
	    {ONE_EDGE("\"if\": [], \"else\": \"END\""),
		"/g/edges/1/if: expected at least one choice"},
	    {ONE_EDGE("\"if\": [{\"when\": {\"tool_calls\": true}, \"to\": \"END\"}]"),
		"/g/edges/1: expected the key 'else' beside 'if'"},
	    {ONE_EDGE(
		 "\"if\": [{\"when\": {\"tool_calls\": true}, \"to\": \"x\"}], \"else\": \"END\""),
		"/g/edges/1/if/0/to: there is no node 'x'"},
	    {ONE_EDGE("\"if\": [{\"when\": {\"tool_calls\": true}}], \"else\": \"END\""),
		"/g/edges/1/if/0: expected the key 'to'"},
	    {ONE_EDGE("\"to\": \"END\"}, {\"from\": \"n\", \"to\": \"END\""),
		"/g/edges: expected exactly one edge from 'n', found 2"},
	    {GRAPH("\"nodes\": {\"n\": {\"kind\": \"reply\", \"text\": \"\"}}, \"edges\": "
		   "[{\"from\": \"n\", \"to\": \"END\"}]"),
		"/g/edges: expected exactly one edge from 'START', found 0"},
	    {GRAPH("\"nodes\": {\"n\": {\"kind\": \"reply\", \"text\": \"\"}}, \"edges\": "
		   "[{\"from\": \"START\", \"to\": \"END\"}, {\"from\": \"n\", \"to\": \"END\"}]"),
		"graph.json:g: node 'n': no edge leads to it"},
	};
	CHECK_MISTAKES(mistakes);
}

#define REPLY(name) "\"" name "\": {\"kind\": \"reply\", \"text\": \"\"}"
#define EDGE(from, to) "{\"from\": \"" from "\", \"to\": \"" to "\"}"
#define EITHER(from, a, b)                                                                  \
	"{\"from\": \"" from "\", \"if\": [{\"when\": {\"tool_calls\": true}, \"to\": \"" a \
	"\"}],"                                                                             \
	" \"else\": \"" b "\"}"
/* START forks into to, which join in j, that leads to END. */
#define FORK(to, edges)                                                               \
	GRAPH("\"nodes\": {" REPLY("a") "," REPLY("b") "," REPLY("c") "," REPLY(      \
	    "j") "}, \"edges\":"                                                      \
		 " [{\"from\": \"START\", \"to\": [" to "], \"join\": \"j\"}, " edges \
		 ", " EDGE("j", "END") "]")

static void mistakes_in_branches_are_told_with_their_place(void)
{
	static const struct mistake mistakes[] = {
	    {FORK("\"a\"", EDGE("a", "b") "," EDGE("b", "c") "," EDGE("c", "j")),
		"/g/edges/0/to: expected at least two branches"},
	    {FORK("\"a\", \"x\"", EDGE("a", "b") "," EDGE("b", "c") "," EDGE("c", "j")),
		"/g/edges/0/to/1: there is no node 'x'"},
	    {FORK("\"a\", \"j\"", EDGE("a", "b") "," EDGE("b", "c") "," EDGE("c", "j")),
		"/g/edges/0/to: expected each branch to begin with a node of its own"},
	    {FORK("\"a\", \"a\"", EDGE("a", "b") "," EDGE("b", "c") "," EDGE("c", "j")),
		"/g/edges/0/to: expected each branch once"},
	    {FORK("\"a\", \"b\"", EDGE("a", "c") "," EDGE("b", "c") "," EDGE("c", "j")),
		"/g/edges/0: node 'c' is reached from the branches 'a' and 'b', expected it in one"},
	    {FORK("\"a\", \"b\"", EDGE("a", "c") "," EDGE("c", "END") "," EDGE("b", "j")),
		"/g/edges/0: the branch 'a' reaches END; expected every way out of it to lead to its "
		"join 'j'"},
	    {FORK("\"a\", \"b\"", EDGE("a", "c") "," EDGE("c", "a") "," EDGE("b", "j")),
		"/g/edges/0: the branch 'a' never enters its join 'j'"},
	    {GRAPH("\"nodes\": {" REPLY("a") "," REPLY("b") "," REPLY(
		 "j") "}, \"edges\": "
		      "[{\"from\": \"START\", \"to\": [\"a\", \"b\"], \"join\": \"j\"}, " EDGE(
			  "a", "j") "," EDGE("b", "j") "," EITHER("j", "b", "END") "]"),
		"/g/edges/0: node 'b' is reached from the branch 'b' and from outside of it; expected "
		"every way out of a branch to lead to its join 'j'"},
	    {GRAPH("\"nodes\": {" REPLY("a") "," REPLY(
		 "b") "}, \"edges\": [{\"from\": \"START\", "
		      "\"to\": [\"a\", \"b\"], \"join\": \"x\"}, " EDGE("a", "END") "," EDGE(
			  "b", "END") "]"),
		"/g/edges/0/join: there is no node 'x'"},
	    {GRAPH("\"nodes\": {" REPLY(
		 "a") "}, \"edges\": [{\"from\": \"START\", \"map\": \"items\", "
		      "\"to\": \"a\", \"join\": \"END\"}, " EDGE("a", "END") "]"),
		"/g/edges/0/map: expected a state field of type array, 'items' is none"},
	};
	CHECK_MISTAKES(mistakes);
	CU_ASSERT_STRING_EQUAL(problems_of(FORK("\"a\", \"b\"",
				   EITHER("a", "a", "j") "," EDGE("b", "c") "," EDGE("c", "j"))),
	    "");
}

#define WHEN "/g/edges/1/if/0/when"

static void mistakes_in_rules_are_told_with_their_place(void)
{
	static const struct mistake mistakes[] = {
	    {RULE(""),
		WHEN ": expected exactly one of tool_calls, user_text, last_text, field, "
		     "all, any, not"},
	    {RULE("\"tool_calls\": true, \"not\": {\"tool_calls\": true}"),
		WHEN ": expected exactly one of"},
	    {RULE("\"tool_calls\": 1"), WHEN "/tool_calls: expected true or false, found number"},
	    {RULE("\"tool_calls\": true, \"equals\": 1"),
		WHEN "/equals: expected only beside 'field', not beside 'tool_calls'"},
	    {RULE("\"user_text\": {}"),
		WHEN "/user_text: expected exactly one of equals, contains, starts_with, matches"},
	    {RULE("\"user_text\": \"x\""), WHEN "/user_text: expected an object, found string"},
	    {RULE("\"last_text\": {\"is\": \"x\", \"equals\": \"\"}"),
		WHEN "/last_text/is: unknown key"},
	    {RULE("\"user_text\": {\"matches\": \"(\"}"),
		WHEN "/user_text/matches: expected a POSIX extended regular expression: "},
	    {RULE("\"user_text\": {\"matches\": 7}"),
		WHEN "/user_text/matches: expected a string, found number"},
	    {RULE("\"field\": \"cuont\", \"gt\": 1"),
		WHEN "/field: there is no state field 'cuont'"},
	    {RULE("\"field\": \"count\""),
		WHEN ": expected exactly one of equals, contains, exists, gt, gte, lt, lte"},
	    {RULE("\"field\": \"count\", \"gt\": \"1\""),
		WHEN "/gt: expected a number, found string"},
	    {RULE("\"all\": []"), WHEN "/all: expected at least one rule"},
	    {RULE("\"any\": [{\"tool_calls\": true}, 5]"),
		WHEN "/any/1: expected an object, found number"},
	    {RULE("\"not\": {\"all\": [{\"user_text\": {\"equals\": 1}}]}"),
		WHEN "/not/all/0/user_text/equals: expected a string, found number"},
	};
	CHECK_MISTAKES(mistakes);
}

static void mistakes_in_the_state_are_told_with_their_place(void)
{
	static const struct mistake mistakes[] = {
	    {STATE_FIELD("1"), "/g/state/fields/f: expected an object, found number"},
	    {STATE_FIELD("{}"), "/g/state/fields/f: expected the key 'type'"},
	    {STATE_FIELD("{\"type\": \"int\"}"),
		"/g/state/fields/f/type: expected one of string, integer, "},
	    {STATE_FIELD("{\"type\": \"array\", \"reducer\": \"concat\"}"),
		"/g/state/fields/f/reducer: expected one of replace, append, add, merge, found "
		"'concat'"},
	    {STATE_FIELD("{\"type\": \"string\", \"reducer\": \"append\"}"),
		"/g/state/fields/f/reducer: expected a reducer for type string"},
	    {STATE_FIELD("{\"type\": \"integer\", \"default\": 1.5}"),
		"/g/state/fields/f/default: expected a value of type integer, found number"},
	    {STATE_FIELD("{\"type\": \"array\", \"defualt\": []}"),
		"/g/state/fields/f/defualt: unknown key"},
	    {GRAPH(
		 "\"state\": {\"type\": \"\"}, \"nodes\": {\"n\": {\"kind\": \"reply\", \"text\": "
		 "\"\"}}, \"edges\": [{\"from\": \"START\", \"to\": \"n\"}, {\"from\": \"n\", "
		 "\"to\": \"END\"}]"),
		"/g/state/type: expected a name of 1 to 64 letters"},
	    {GRAPH("\"state\": {\"fields\": {\"step\": {\"type\": \"any\"}}}, \"nodes\": {\"n\": "
		   "{\"kind\": \"reply\", \"text\": \"\"}}, \"edges\": [{\"from\": \"START\", "
		   "\"to\": \"n\"}, {\"from\": \"n\", \"to\": \"END\"}]"),
		"/g/state/fields/step: expected another name"},
	};
	CHECK_MISTAKES(mistakes);
}

static void mistakes_in_the_graph_are_told_with_their_place(void)
{
	static const struct mistake mistakes[] = {
	    {GRAPH("\"nodes\": {}, \"edges\": [{\"from\": \"START\", \"to\": \"END\"}]"),
		"/g/nodes: expected at least one node"},
	    {GRAPH(
		 "\"nodes\": {\"END\": {\"kind\": \"reply\", \"text\": \"\"}}, \"edges\": "
		 "[{\"from\": \"START\", \"to\": \"END\"}, {\"from\": \"END\", \"to\": \"END\"}]"),
		"/g/nodes/END: expected a node's name"},
	    {GRAPH("\"interrupt_before\": [\"n\", \"m\"], \"nodes\": {\"n\": {\"kind\": \"reply\", "
		   "\"text\": \"\"}}, \"edges\": [{\"from\": \"START\", \"to\": \"n\"}, {\"from\": "
		   "\"n\", \"to\": \"END\"}]"),
		"/g/interrupt_before/1: there is no node 'm'"},
	    {GRAPH("\"interrupt_after\": [5], \"nodes\": {\"n\": {\"kind\": \"reply\", "
		   "\"text\": \"\"}}, \"edges\": [{\"from\": \"START\", \"to\": \"n\"}, {\"from\": "
		   "\"n\", \"to\": \"END\"}]"),
		"/g/interrupt_after/0: expected a string, found number"},
	};
	CHECK_MISTAKES(mistakes);
}

static void all_mistakes_are_told_at_once(void)
{
	const char *problems = problems_of(GRAPH(
	    "\"nodse\": 1, \"state\": {\"fields\": {\"f\": {\"type\": \"x\"}}}, \"nodes\": "
	    "{\"a\": {\"kind\": \"reply\", \"text\": 5, \"x\": 1}, \"b\": {}}, \"edges\": 3"));
	CU_ASSERT_STRING_EQUAL(problems,
	    "/g/nodse: unknown key; expected one of description, state, nodes, edges, "
	    "interrupt_before, interrupt_after\n"
	    "/g/edges: expected an array, found number\n"
	    "/g/state/fields/f/type: expected one of string, integer, number, boolean, array, "
	    "object, any, found 'x'\n"
	    "/g/nodes/a/text: expected a string, found number\n"
	    "/g/nodes/a/x: unknown key; expected one of kind, text, role, update, retry, cache, "
	    "on_error, timeout\n"
	    "/g/nodes/b: expected the key 'kind', one of reply, exec, interrupt, tools, live, model, graph, a2a");
}

/* ---- The schema */

static cJSON *schema;

static void read_schema(void)
{
	const char *top = getenv("top_srcdir");
	struct buf text = {0};
	char path[4096];
	snprintf(
	    path, sizeof(path), "%s/common/graph/document/document.schema.json", top ? top : ".");
	FILE *file = fopen(path, "re");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	for (int c; (c = getc(file)) != EOF;)
		buf_putc(&text, (char)c);
	fclose(file);
	schema = json_parse(buf_str(&text), text.len, JSON_REQUEST_DEPTH, NULL);
	buf_release(&text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(schema);
}

static const cJSON *definition(const char *name)
{
	return json_get(json_get(schema, "$defs"), name);
}

static bool has_string(const cJSON *array, const char *text)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, array) {
		if (cJSON_IsString(item) && strcmp(item->valuestring, text) == 0)
			return true;
	}
	return false;
}

/* A set of types as the schema writes it. */
static unsigned types_in(const cJSON *type)
{
	static const char *const names[] = {"string", "number", "boolean", "array", "object"};
	unsigned types = 0;
	for (size_t i = 0; i < UNIT_COUNT(names); i++) {
		if (has_string(type, names[i]) ||
		    (cJSON_IsString(type) && strcmp(type->valuestring, names[i]) == 0))
			types |= 1u << i;
	}
	return types;
}

/* Whether the schema has the words of a row that takes one of several, and no others. */
static bool words_agree(const struct field_row *row, const cJSON *property)
{
	const cJSON *words = json_get(property, "enum");
	int count = 0;
	for (const struct choice *c = row->choices; c && c->name; c++, count++)
		if (!has_string(words, c->name))
			return false;
	return !row->choices || cJSON_GetArraySize(words) == count;
}

static bool key_agrees(const struct field_row *row, const cJSON *shape)
{
	const cJSON *property = json_get(json_get(shape, "properties"), row->key);
	unsigned types = row->types | (row->kind ? row->kind->types : 0);
	return property && types_in(json_get(property, "type")) == types &&
	    words_agree(row, property) &&
	    has_string(json_get(shape, "required"), row->key) == row->required;
}

static int keys_that_agree(const struct field_row *rows, const cJSON *shape, const char *name)
{
	int count = 0;
	for (const struct field_row *row = rows; row->key; row++) {
		bool agrees = key_agrees(row, shape);
		if (!agrees)
			printf("# %s/%s\n", name, row->key);
		CU_ASSERT_TRUE(agrees);
		count++;
	}
	return count;
}

static void the_schema_has_the_keys_of_the_code(void)
{
	read_schema();
	for (size_t i = 0; document_shapes[i]; i++) {
		const cJSON *shape = definition(document_shapes[i]->name);
		int count = 0;
		CU_ASSERT_PTR_NOT_NULL_FATAL(shape);
		CU_ASSERT_TRUE(cJSON_IsFalse(json_get(shape, "additionalProperties")));
		for (size_t k = 0; document_shapes[i]->tables[k]; k++)
			count += keys_that_agree(
			    document_shapes[i]->tables[k], shape, document_shapes[i]->name);
		CU_ASSERT_EQUAL(cJSON_GetArraySize(json_get(shape, "properties")), count);
	}
	cJSON_Delete(schema);
}

static void the_schema_has_the_kinds_of_the_code(void)
{
	struct buf names = {0};
	const cJSON *kind;
	read_schema();
	buf_puts(&names, "/g/nodes/n: expected the key 'kind', one of ");
	cJSON_ArrayForEach(kind, json_get(definition("node"), "oneOf")) {
		const char *name = json_str(kind, "$ref") + strlen("#/$defs/");
		const cJSON *properties = json_get(definition(name), "properties");
		CU_ASSERT_STRING_EQUAL(json_str(json_get(properties, "kind"), "const"), name);
		buf_printf(&names, "%s%s", name, kind->next ? ", " : "");
	}
	CU_ASSERT_STRING_EQUAL(problems_of(ONE_NODE("\"text\": \"x\"")), buf_str(&names));
	buf_release(&names);
	cJSON_Delete(schema);
}

static void the_schema_reserves_the_names_of_the_code(void)
{
	read_schema();
	const cJSON *fields = json_get(json_get(definition("state"), "properties"), "fields");
	const cJSON *names = json_get(json_get(json_get(fields, "propertyNames"), "not"), "enum");
	const cJSON *name;
	CU_ASSERT_EQUAL(cJSON_GetArraySize(names), 13);
	cJSON_ArrayForEach(name, names)
		CU_ASSERT_TRUE(document_reserved(name->valuestring));
	CU_ASSERT_FALSE(document_reserved("notes"));
	cJSON_Delete(schema);
}

static const struct unit_test tests[] = {
    {"a complete document has no mistakes", a_complete_document_has_no_mistakes},
    {"files that are no document are refused, with the line",
	files_that_are_no_document_are_refused},
    {"mistakes in nodes are told with their place", mistakes_in_nodes_are_told_with_their_place},
    {"mistakes in commands and tools are told with their place",
	mistakes_in_commands_are_told_with_their_place},
    {"mistakes in tools are told with their place", mistakes_in_tools_are_told_with_their_place},
    {"mistakes in edges are told with their place", mistakes_in_edges_are_told_with_their_place},
    {"mistakes in subgraphs are told with their place",
	mistakes_in_subgraphs_are_told_with_their_place},
    {"mistakes in branches are told with their place",
	mistakes_in_branches_are_told_with_their_place},
    {"mistakes in rules are told with their place", mistakes_in_rules_are_told_with_their_place},
    {"mistakes in the state are told with their place",
	mistakes_in_the_state_are_told_with_their_place},
    {"mistakes in the graph are told with their place",
	mistakes_in_the_graph_are_told_with_their_place},
    {"all mistakes are told at once", all_mistakes_are_told_at_once},
    {"the schema has exactly the keys of the code, with their types and words",
	the_schema_has_the_keys_of_the_code},
    {"the schema has exactly the kinds of the code", the_schema_has_the_kinds_of_the_code},
    {"the schema reserves the names that the code reserves",
	the_schema_reserves_the_names_of_the_code},
};

int main(void)
{
	memory_init();
	return unit_main("document", tests, UNIT_COUNT(tests));
}
