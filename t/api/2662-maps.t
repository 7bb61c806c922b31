#!/bin/sh
# SPDX-License-Identifier: ISC
# Maps: a branch for each element of an array, how many run at once, and how they end.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# Writes down that it begins and ends, and what it is given.  An element with "until" waits for a file of that name,
# one with "dies" fails as often as it says.
cat >work <<'SH'
#!/bin/sh
state=$(cat)
echo begin >>events
{ read -r item; read -r index; read -r until; read -r dies; } <<END
$(printf '%s' "$state" | jq -r '.config | (.item | tojson), .index, ((.item | objects | .until) // ""), ((.item | objects | .dies) // 0)')
END
echo "$index" >>ran
[ -z "$until" ] || until [ -e "$until" ]; do sleep 0.02; done
if [ "$(grep -cx "$index" ran)" -le "$dies" ]; then
	echo end >>events
	echo "{\"error\": \"$index is broken\"}"
	exit 0
fi
case $item in '"slow"') sleep 0.2 ;; esac
echo "{\"event\": {\"name\": \"at\", \"data\": $index}}"
echo "{\"message\": \"did $index\"}"
echo "{\"update\": {\"list\": [$item], \"sum\": 1}}"
echo end >>events
SH
chmod +x work
fresh() { rm -f events ran go; }
# most: how many ran at once.
most() { awk '/begin/ { n++; if (n > m) m = n } /end/ { n-- } END { print m }' events; }

FIELDS='"state": {"fields": {"items": {"type": "array"}, "inner": {"type": "array"}, "list": {"type": "array", "reducer": "append"}, "sum": {"type": "integer", "reducer": "add"}, "word": {"type": "string"}}}'
# map TO MEMBERS: the edges from START through a map to the node done.
map() { printf '{"from": "START", "map": "items", "to": "%s", "join": "done"%s}' "$1" "$2"; }
cat >graph.json <<JSON
{"work": {$FIELDS,
  "nodes": {"w": {"kind": "exec", "command": "./work"}, "done": {"kind": "reply", "text": "all {{sum}}"}},
  "edges": [$(map w ', "limit": 3'), {"from": "w", "to": "done"}, {"from": "done", "to": "END"}]},
 "retry": {$FIELDS,
  "nodes": {"w": {"kind": "exec", "command": "./work", "retry": {"attempts": 3, "initial": 0.01}, "on_error": "sorry"},
    "sorry": {"kind": "reply", "text": "sorry for {{index}}: {{error}}"}, "done": {"kind": "reply", "text": "all {{sum}}"}},
  "edges": [$(map w ', "limit": 3'), {"from": "w", "to": "done"}, {"from": "sorry", "to": "done"}, {"from": "done", "to": "END"}]},
 "says": {$FIELDS,
  "nodes": {"w": {"kind": "reply", "text": "{{index}} {{item.name}}", "update": {"list": "{{item.name}}", "sum": "{{item.n}}"}},
    "done": {"kind": "reply", "text": "all {{sum}}"}},
  "edges": [$(map w ''), {"from": "w", "to": "done"}, {"from": "done", "to": "END"}]},
 "clash": {$FIELDS,
  "nodes": {"w": {"kind": "reply", "text": "x", "update": {"word": "{{item}}"}}, "done": {"kind": "reply", "text": "done"}},
  "edges": [$(map w ''), {"from": "w", "to": "done"}, {"from": "done", "to": "END"}]},
 "nested": {$FIELDS,
  "nodes": {"set": {"kind": "reply", "text": "set {{item}}", "update": {"inner": ["x", "y"]}},
    "in": {"kind": "reply", "text": "{{item}}{{index}}", "update": {"list": "{{item}}"}},
    "out": {"kind": "reply", "text": "out {{item}}"}, "done": {"kind": "reply", "text": "done"}},
  "edges": [{"from": "START", "map": "items", "to": "out", "join": "done"},
    {"from": "out", "map": "inner", "to": "in", "join": "set"}, {"from": "in", "to": "set"}, {"from": "set", "to": "done"},
    {"from": "done", "to": "END"}]},
 "ask": {$FIELDS,
  "nodes": {"a": {"kind": "reply", "text": "asks {{item}}", "update": {"list": "{{item}}"}},
    "w": {"kind": "interrupt", "value": {"question": "{{item}}?"}, "reply": "{{item}} is {{answer}}"},
    "done": {"kind": "reply", "text": "done {{list}}"}},
  "edges": [$(map a ', "limit": 2'), {"from": "a", "to": "w"}, {"from": "w", "to": "done"}, {"from": "done", "to": "END"}]}}
JSON
given() { printf '"initial_state":{"items":%s}' "$1"; }
serve_graph() {
	printf '{"agent":"graph.json:%s","runs":{"background":2}}\n' "$1" >agentgraph.json
	api_start || tap_bail 'the service does not start'
}

# ---- what branches are given, and what they leave

serve_graph work
invoke go "$(given '["slow","b",{"c":1},4,"slow","f"]'),$(thread t),\"response_granularity\":\"full\""
is "$STATUS" 200 'a node runs for each element'
facts <<'TABLE'
what they said and set has the order of the elements :: [said, .data.state.list] == [["go", "did 0", "did 1", "did 2", "did 3", "did 4", "did 5", "all 6"], ["slow", "b", {"c": 1}, 4, "slow", "f"]]
each execution is a step :: .data.state.execution_meta | [.step, .status] == [7, "completed"]
TABLE
is "$(most)" 3 'as many at once as the limit says'
fresh
invoke go "$(given '[]')"
facts <<'TABLE'
an empty array leads to the join :: said == ["go", "all 0"]
TABLE
ok '[ ! -e ran ]' 'and nothing runs'
invoke go "$(given 'null')"
facts <<'TABLE'
so does null :: said == ["go", "all 0"]
TABLE
invoke go "$(given '[1,2,3]'),\"recursion_limit\":2"
is "$STATUS" 200 'for the recursion limit a map counts as one of its branches'
stream go "$(given '["a","b"]')"
chunks <<'TABLE'
chunks say which branch :: [.[] | select(.metadata.node == "w").metadata.branch] | unique == ["w[0]", "w[1]"]
events say it too :: [.[] | select(.event == "custom") | [.metadata.branch, .data.data]] | sort == [["w[0]", 0], ["w[1]", 1]]
TABLE
fresh
invoke go "$(given '[{"dies":1},"b",{"dies":9}]'),$(thread broken)"
facts <<'TABLE'
one that fails ends the run :: [.detail, .error.details[0].loc] == ["Graph execution failed: 0 is broken", ["node", "w"]]
TABLE
fresh
in_background stopped invoke go "$(given '[{"until":"go"},2,3,{"until":"go"},{"until":"go"},6,7]'),$(thread stop)"
three() { [ "$(grep -cx begin events 2>/dev/null)" = 5 ]; }
ok 'wait_for 60 three' 'elements take the places of those that have ended'
api POST /v1/graph/stop '{"thread_id":"stop"}'
touch go
collect stopped
api GET /v1/threads/stop/state
facts <<'TABLE'
a stop lets branches end their steps :: .data.state | [(.list | length), .execution_meta.status] == [5, "stopped"]
TABLE
is "$(grep -c '' ran)" 5 'and no other begins'
api GET /v1/graph
facts <<'TABLE'
the graph shows the map :: .data.edges[0] == {"id": "e0", "source": "START", "target": "w", "join": "done", "map": "items", "limit": 3}
TABLE
like "$("$AGENTGRAPH" graph)" '^START +-> w for each of items, 3 at once => done$' 'and so does its drawing'
like "$("$AGENTGRAPH" graph --format dot)" '"START" -> "w" \[label="items"\];' 'for Graphviz'
like "$("$AGENTGRAPH" graph --format mermaid)" 'first -- items --> n0' 'and for Mermaid'
serve_stop

serve_graph says
invoke go "$(given '[{"name":"ann","n":1},{"name":"bob","n":2},{"name":["x"],"n":4}]'),\"response_granularity\":\"full\""
facts <<'TABLE'
templates have the element, its members and its number :: [said, .data.state.list] == [["go", "0 ann", "1 bob", "2 [\"x\"]", "all 7"], ["ann", "bob", "x"]]
TABLE
many=$(jq -nc '[range(1000) | {name: "n\(.)", n: 1}]')
invoke go "$(given "$many"),\"recursion_limit\":3,$(thread many),\"response_granularity\":\"full\""
is "$STATUS" 200 'a map may have a thousand elements'
facts <<'TABLE'
all in order :: [(said | length), said[1000], .data.state.sum, .data.state.list[500]] == [1002, "999 n999", 1000, "n500"]
TABLE
api GET /v1/observability/many
facts <<'TABLE'
its trace says how much of it is left out :: [.data.run.events | length, .[0].summary] == [2000, "2006 more left out"]
TABLE
serve_stop

serve_graph clash
invoke go "$(given '["x"]')"
is "$STATUS" 200 'one branch may set any field'
invoke go "$(given '["x","y"]')"
facts <<'TABLE'
two cannot where it has no reducer :: .detail == "Graph execution failed: branches w[0] and w[1] both set 'word', which has no reducer"
TABLE
serve_stop

fresh
serve_graph retry
invoke go "$(given '["a",{"dies":2},{"dies":5}]'),\"response_granularity\":\"full\""
facts <<'TABLE'
an element that failed is tried again, and given up :: [said, .data.state.sum] == [["go", "did 0", "did 1", "sorry for 2: 2 is broken", "all 2"], 2]
TABLE
is "$(sort ran | uniq -c | awk '{ printf "%s ", $1 }')" '1 3 3 ' 'as often as its policy says'
serve_stop

# ---- pauses

serve_graph ask
invoke go "$(given '["a","b","c"]'),$(thread t),\"response_granularity\":\"full\""
facts <<'TABLE'
all branches ask :: [(.data.meta.interrupts | map(.value.question)), .data.state.list, said] == [["a?", "b?", "c?"], [], ["go", "asks a", "asks b", "asks c"]]
TABLE
id=$(json '.data.meta.interrupts[1].id' "$BODY")
resume "{\"$id\":\"two\"}" t
facts <<'TABLE'
an answer with an id is for that one :: [said, (.data.meta.interrupts | map(.value.question))] == [["b is two"], ["a?", "c?"]]
TABLE
resume '"one"' t
resume '"three"' t '"response_granularity":"full"'
facts <<'TABLE'
the last leads to the join, with all that was set :: [said, .data.state.list] == [["c is three", "done [\"a\",\"b\",\"c\"]"], ["a", "b", "c"]]
TABLE
invoke go "$(given '["a","b"]'),$(thread u)"
api PUT /v1/threads/u/state '{"state":{"items":["a"]}}'
resume '"x"' u
facts <<'TABLE'
an array that has changed meanwhile is told :: .detail == "Graph execution failed: 'items' had 2 elements when their branches began and has 1 now"
TABLE
serve_stop

# ---- a process that dies

fresh
serve_graph work
forty=$(jq -nc '[range(40) | if . < 12 then . else {until: "go"} end]')
api POST /v1/graph/runs "$(run_body "[$(user x)]" "$(given "$forty"),$(thread bg '"run_id":"r1"')")"
waits() { [ "$(grep -c '' ran 2>/dev/null)" = 15 ]; }
ok 'wait_for 60 waits' 'a map runs in the background'
for pid in $(children "$SERVE_PID"); do
	case $(readlink "/proc/$pid/exe") in */agentgraph-runner) kill -9 "$pid" ;; esac
done
touch go
over() {
	api GET /v1/threads/bg/runs/r1
	[ "$(json .data.status "$BODY")" = completed ]
}
ok 'wait_for 90 over' 'one whose process dies goes on'
is "$(sort -n ran | uniq -c | awk '$1 > 1 { print $2 }' | tr '\n' ' ')" '12 13 14 ' 'and repeats no element that had arrived'
api GET /v1/threads/bg/messages
facts <<'TABLE'
what was said enters once, in order :: .data.messages | texts == ["x"] + [range(40) | "did \(.)"] + ["all 40"]
TABLE
serve_stop

done_testing
