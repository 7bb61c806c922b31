#!/bin/sh
# SPDX-License-Identifier: ISC
# What is shown of the graph: its nodes and edges, its tools, and the schema of its state.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

api GET /v1/graph
is "$STATUS" 200 'the graph is told'
facts <<'TABLE'
of builtin:demo exactly :: .data == {"info": {"node_count": 4, "edge_count": 5, "is_realtime": false, "checkpointer": true, "checkpointer_type": (if env.AGENTGRAPH_ENGINE == "postgresql" then "postgresql" else "sqlite" end), "publisher": false, "store": false, "interrupt_before": null, "interrupt_after": null, "context_type": null, "id_generator": "uuid7", "id_type": "string", "state_type": "DemoState", "state_fields": ["context", "context_summary", "execution_meta", "notes"]}, "nodes": [{"id": "START", "name": "START"}, {"id": "agent", "name": "agent"}, {"id": "tools", "name": "tools"}, {"id": "END", "name": "END"}], "edges": [{"id": "e0", "source": "START", "target": "agent"}, {"id": "e1", "source": "agent", "target": "tools"}, {"id": "e2", "source": "agent", "target": "agent"}, {"id": "e3", "source": "agent", "target": "END"}, {"id": "e4", "source": "tools", "target": "agent"}]}
TABLE

api GET /v1/graph/tools
facts <<'TABLE'
its tools :: .data == {"node_count": 1, "tool_count": 2, "nodes": [{"node_name": "tools", "tool_count": 2, "tools": [{"name": "add", "description": "Adds two numbers", "source": "local", "parameters": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]}}, {"name": "fail", "description": "Always fails", "source": "local", "parameters": {"type": "object", "properties": {}, "required": []}}]}]}
TABLE

api GET /v1/graph:StateSchema
is "$STATUS" 200 'the schema is told'
facts <<'TABLE'
it has a title and a type :: .data | [.title, .type, .required] == ["DemoState", "object", []]
the properties are the fields in order :: .data.properties | keys_unsorted == ["context", "context_summary", "execution_meta", "notes"]
each has a title and a type :: .data.properties | all(has("title") and has("type"))
notes is an array, empty at first :: .data.properties.notes | [.type, .default] == ["array", []]
the definitions are two :: .data["$defs"] | keys == ["ExecutionMeta", "Message"]
every reference leads to one of them :: . as $d | [.data | .. | objects | .["$ref"]? | select(.)] | length >= 2 and all(. as $r | $d.data["$defs"] | has($r | ltrimstr("#/$defs/")))
a message has the fields that messages have :: .data["$defs"].Message.properties | keys == ["content", "delta", "message_id", "metadata", "parsed_content", "raw", "reasoning", "role", "timestamp", "tools_calls", "usages"]
the meta too, the interrupt included :: .data["$defs"].ExecutionMeta.properties | keys == ["current_node", "internal_data", "interrupt", "interrupt_data", "interrupt_reason", "interrupted_node", "is_interrupted", "is_running", "is_stopped_requested", "status", "step", "stop_current_execution", "thread_id"]
the status is one of six :: .data["$defs"].ExecutionMeta.properties.status.enum | sort == ["completed", "error", "idle", "interrupted", "running", "stopped"]
TABLE
serve_stop

cat >graph.json <<'JSON'
{"plain": {
  "nodes": {"only": {"kind": "reply", "text": "x"}},
  "edges": [{"from": "START", "to": "only"}, {"from": "only", "to": "END"}]},
 "rich": {
  "state": {"type": "Rich", "fields": {
    "word": {"type": "string", "description": "A word", "default": "w"},
    "count": {"type": "integer", "reducer": "add"},
    "any": {"type": "any"}}},
  "nodes": {
    "b": {"kind": "reply", "text": "b"},
    "t2": {"kind": "tools", "tools": []},
    "a": {"kind": "exec", "command": "true"},
    "t1": {"kind": "tools", "tools": [{"kind": "exec", "name": "date", "description": "Says the date", "command": "date"}]}},
  "edges": [
    {"from": "b", "if": [{"when": {"tool_calls": true}, "to": "t1"}, {"when": {"user_text": {"equals": "one"}}, "to": "t1"}, {"when": {"field": "count", "gt": 1}, "to": "t2"}], "else": "a"},
    {"from": "START", "to": "b"},
    {"from": "t1", "to": "b"}, {"from": "t2", "to": "b"}, {"from": "a", "to": "END"}],
  "interrupt_before": ["a", "b"], "interrupt_after": ["t1"]}}
JSON

printf '{"agent":"graph.json:plain"}\n' >agentgraph.json
api GET /v1/graph
facts <<'TABLE'
a graph without fields of its own has the plain state :: .data.info | [.state_type, .state_fields] == ["AgentState", ["context", "context_summary", "execution_meta"]]
it has two edges :: [.data.info.node_count, .data.info.edge_count, (.data.nodes | length), (.data.edges | length)] == [3, 2, 3, 2]
TABLE
api GET /v1/graph/tools
facts <<'TABLE'
without tool nodes there are no tools :: .data == {"node_count": 0, "tool_count": 0, "nodes": []}
TABLE
api GET /v1/graph:StateSchema
facts <<'TABLE'
its schema has the fixed fields alone :: .data | [.title, (.properties | keys)] == ["AgentState", ["context", "context_summary", "execution_meta"]]
TABLE
invoke hi '"response_granularity":"full"'
facts <<'TABLE'
so has its state :: .data.state | keys == ["context", "context_summary", "execution_meta"]
TABLE
api POST /v1/graph/setup '{"tools":[{"node_name":"tools","name":"x"}]}'
is "$STATUS" 422 'it has no tools to announce'
serve_stop

printf '{"agent":"graph.json:rich"}\n' >agentgraph.json
api GET /v1/graph
facts <<'TABLE'
nodes stand in the order of declaration :: .data.nodes | map(.id) == ["START", "b", "t2", "a", "t1", "END"]
an edge is listed once for each place it leads to :: .data.edges | map("\(.id) \(.source) \(.target)") == ["e0 b t1", "e1 b t2", "e2 b a", "e3 START b", "e4 t1 b", "e5 t2 b", "e6 a END"]
pauses are listed :: .data.info | [.interrupt_before, .interrupt_after] == [["b", "a"], ["t1"]] or [.interrupt_before, .interrupt_after] == [["a", "b"], ["t1"]]
so are the fields :: .data.info | [.state_type, .state_fields] == ["Rich", ["context", "context_summary", "execution_meta", "word", "count", "any"]]
TABLE
api GET /v1/graph/tools
facts <<'TABLE'
tool nodes stand in the order of declaration, empty ones too :: .data.nodes | map([.node_name, .tool_count, (.tools | length)]) == [["t2", 0, 0], ["t1", 1, 1]]
TABLE
api GET /v1/graph:StateSchema
facts <<'TABLE'
descriptions and defaults are shown where they are declared :: .data.properties | [.word.description, .word.default, .word.type, .count.type] == ["A word", "w", "string", "integer"]
TABLE
for path in /v1/graph /v1/graph/tools /v1/graph:StateSchema; do
	api POST $path '{}'
	is "$STATUS|$(header Allow)" '405|GET, HEAD, OPTIONS' "POST $path is refused"
	api HEAD $path
	is "$STATUS|$BODY" '200|' "HEAD $path has no body"
done

done_testing
