#!/bin/sh
# SPDX-License-Identifier: ISC
# agentgraph graph: how it prints a graph, and what it refuses.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

is "$("$AGENTGRAPH" graph)" 'START         -> agent
agent         -> tools | agent | END
tools (tools) -> agent' 'the built-in graph is three lines'

cat >graph.json <<'JSON'
{"g": {
  "state": {"fields": {"n": {"type": "integer"}}},
  "nodes": {
    "end": {"kind": "reply", "text": "x"},
    "ask model": {"kind": "exec", "command": "true", "timeout": 2.5,
      "retry": {"attempts": 4}, "on_error": "end"}
  },
  "edges": [
    {"from": "START", "to": "ask model"},
    {"from": "ask model", "if": [{"when": {"field": "n", "gt": 1}, "to": "end"}, {"when": {"field": "n", "gt": 2}, "to": "end"}], "else": "END"},
    {"from": "end", "to": "END"}],
  "interrupt_before": ["end"], "interrupt_after": ["ask model"]}}
JSON
printf '{"agent":"graph.json:g"}\n' >agentgraph.json
is "$("$AGENTGRAPH" graph --format text)" 'START            -> ask model
end (reply)      -> END; pauses before
ask model (exec) -> end | END; 4 attempts; 2.5 s; on error -> end; pauses after' 'a document says more'
is "$("$AGENTGRAPH" graph --format dot --config agentgraph.json)" 'digraph "graph.json:g" {
	node [shape=box, style=rounded];
	"START" [shape=circle, style=""];
	"end" [label="end\nreply"];
	"ask model" [label="ask model\nexec"];
	"END" [shape=doublecircle, style=""];
	"START" -> "ask model";
	"end" -> "END";
	"ask model" -> "end" [style=dashed];
	"ask model" -> "END" [style=dashed];
	"ask model" -> "end" [style=dotted, label="error"];
}' 'so it does for Graphviz'
if command -v dot >/dev/null; then
	"$AGENTGRAPH" graph --format dot | dot -Tsvg >graph.svg
	like "$(cat graph.svg)" 'ask model' 'which draws it'
fi
is "$("$AGENTGRAPH" graph --format mermaid)" 'flowchart TD
	first(["START"])
	n0["end<br>reply"]
	n1["ask model<br>exec"]
	last(["END"])
	first --> n1
	n0 --> last
	n1 -.-> n0
	n1 -.-> last
	n1 -. error .-> n0' 'and for Mermaid'
ok '[ ! -e .agentgraph ]' 'nothing is made by that'

"$AGENTGRAPH" graph --format svg >out 2>err
is "$?|$(cat out)" '2|' 'another format is a wrong command line'
like "$(cat err)" '^agentgraph: --format must be text, dot or mermaid, not "svg"$' 'which is explained'
printf '{"agent":"graph.json:none"}\n' >agentgraph.json
"$AGENTGRAPH" graph >out 2>err
is "$?|$(cat out)" '1|' 'a graph that cannot be loaded is a failure'
like "$(cat err)" '/none: the document has no graph of that name; it has g' 'with what was expected'

done_testing
