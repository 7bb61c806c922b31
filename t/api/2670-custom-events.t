#!/bin/sh
# SPDX-License-Identifier: ISC
# Events of a node's or a tool's own: in streams, beside the messages, and in AG-UI.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/ag-ui.sh"

cat >tells <<'SH'
#!/bin/sh
read -r state
case $state in
*'"user_text":"wrong"'*) echo '{"event": {"name": "x", "more": 1}}' ;;
*'"user_text":"nameless"'*) echo '{"event": {"data": 1}}' ;;
esac
echo '{"event": {"name": "progress", "data": {"done": 1}}}'
echo '{"message": "first"}'
echo '{"event": {"name": "progress"}}'
echo '{"message": "second"}'
SH
chmod +x tells
cat >graph.json <<'JSON'
{"g": {"nodes": {"n": {"kind": "exec", "command": "./tells"}},
  "edges": [{"from": "START", "to": "n"}, {"from": "n", "to": "END"}]}}
JSON
printf '{"agent":"graph.json:g","ag_ui":{"enabled":true}}\n' >agentgraph.json

for granularity in low partial full; do
	stream hi "$(thread s),\"response_granularity\":\"$granularity\""
	chunks <<'TABLE'
events stand where they were told :: events | map(select(. == "custom" or . == "assistant")) == ["custom", "assistant", "custom", "assistant"]
with name and data :: [.[] | select(.event == "custom").data] == [{"name": "progress", "data": {"done": 1}}, {"name": "progress", "data": null}]
and the node :: [.[] | select(.event == "custom").metadata | [.node, .step]] | unique == [["n", 1]]
nothing else is in them :: [.[] | select(.event == "custom") | [.message, .state]] | unique == [[null, null]]
TABLE
done
invoke hi "$(thread s)"
facts <<'TABLE'
an answer has the messages alone :: said == ["hi", "first", "second"]
TABLE
api GET /v1/threads/s/messages
facts <<'TABLE'
so has the thread :: .data.messages | map(select(.role == "assistant") | text) | unique == ["first", "second"]
TABLE
invoke wrong
is "$(json .detail "$BODY")" 'Graph execution failed: line 1 of its output: expected "event" to be an object with name and data only' 'an event has no other members'
invoke nameless
is "$(json .detail "$BODY")" 'Graph execution failed: line 1 of its output: expected "event" to be an object with the text name' 'and has a name'
run t "$(says m hi)"
facts <<'TABLE'
a page is told, too :: [.[] | select(.type == "CUSTOM")] == [{"type": "CUSTOM", "name": "progress", "value": {"done": 1}}, {"type": "CUSTOM", "name": "progress", "value": null}]
TABLE
serve_stop

cat >emits.c <<'C'
#include <agentgraph.h>

AG_PLUGIN;

static ag_result tool(ag_run *run, const cJSON *args, cJSON **output, void *data)
{
	(void)data;
	const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(args, "name"));
	if (*name == 'a')
		ag_sleep_ms(run, 200);
	*output = cJSON_CreateString(name);
	return ag_emit(run, name, NULL);
}

static ag_result ask(ag_run *run, const ag_state *state, void *data)
{
	(void)state, (void)data;
	ag_emit(run, "broken \xff", cJSON_CreateNumber(1));
	return ag_message(run, cJSON_Parse("{\"role\": \"assistant\", \"content\": ["
		"{\"type\": \"tool_call\", \"id\": \"c1\", \"name\": \"tell\", \"args\": {\"name\": \"a\"}},"
		"{\"type\": \"tool_call\", \"id\": \"c2\", \"name\": \"tell\", \"args\": {\"name\": \"b\"}}]}"));
}

int emits(ag_graph *graph)
{
	ag_graph_node(graph, "ask", ask, NULL);
	ag_graph_tools(graph, "tools");
	ag_graph_tool(graph, "tools", "tell", "d", NULL, tool, NULL);
	ag_graph_edge(graph, AG_START, "ask");
	ag_graph_edge(graph, "ask", "tools");
	ag_graph_edge(graph, "tools", AG_END);
	return 0;
}
C
# shellcheck disable=SC2086 # flags are words
${CC:-cc} ${CPPFLAGS:-} -I"$TOP_SRCDIR/common" -shared -fPIC -o emits.so emits.c
ok $? 'a plug-in is built'
printf '{"agent":"emits.so:emits"}\n' >agentgraph.json
stream hi
chunks <<'TABLE'
events of tools have the order of the calls :: [.[] | select(.event == "custom").data.name] == ["broken \ufffd", "a", "b"]
and stand before their results :: events == ["custom", "assistant", "custom", "tool", "custom", "tool", "done"]
TABLE

done_testing
