#!/bin/sh
# SPDX-License-Identifier: ISC
# Nodes that are graphs: what they get and return, whose messages are kept, and how they end.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

cat >tells <<'SH'
#!/bin/sh
read -r state
echo "$1" >>ran
case $state in
*'"user_text":"fail"'*) echo '{"error": "it is broken"}'; exit 0 ;;
esac
while [ -e "hold-$1" ]; do sleep 0.02; done
printf '{"message": "%s saw %s"}\n' "$1" "$(printf '%s' "$state" | jq -c '[(.context | length), .n]' | sed 's/"/\\"/g')"
SH
cat >calls <<'SH'
#!/bin/sh
echo '{"message": {"role": "assistant", "content": [{"type": "tool_call", "id": "c1", "name": "remote", "args": {}}]}}'
SH
chmod +x tells calls
fresh() { rm -f ran hold-*; }

cat >inner.json <<'JSON'
{"topic": {
  "state": {"fields": {"topic": {"type": "string"}, "found": {"type": "array", "reducer": "append"}}},
  "nodes": {
    "first": {"kind": "reply", "text": "first of {{topic}}", "update": {"found": "{{topic}} 1"}},
    "second": {"kind": "reply", "text": "second of {{topic}}", "update": {"found": "{{topic}} 2"}}},
  "edges": [{"from": "START", "to": "first"}, {"from": "first", "to": "second"}, {"from": "second", "to": "END"}]},
 "asks": {
  "state": {"fields": {"answer_is": {"type": "any"}}},
  "nodes": {
    "before": {"kind": "exec", "command": ["./tells", "before"]},
    "ask": {"kind": "interrupt", "value": {"question": "why?"}, "field": "answer_is", "reply": "because {{answer}}"}},
  "edges": [{"from": "START", "to": "before"}, {"from": "before", "to": "ask"}, {"from": "ask", "to": "END"}]},
 "deep": {
  "state": {"fields": {"list": {"type": "array", "reducer": "append"}}},
  "nodes": {
    "a": {"kind": "graph", "graph": "topic", "input": {"topic": "left"}, "output": {"list": "{{found}}"}},
    "b": {"kind": "graph", "graph": "topic", "input": {"topic": "right"}, "output": {"list": "{{found}}"}}},
  "edges": [{"from": "START", "to": ["a", "b"], "join": "END"}, {"from": "a", "to": "END"}, {"from": "b", "to": "END"}]},
 "far": {
  "nodes": {"call": {"kind": "exec", "command": "./calls"}, "tools": {"kind": "tools", "tools": []},
    "heard": {"kind": "exec", "command": ["./tells", "heard"]}},
  "edges": [{"from": "START", "to": "call"}, {"from": "call", "to": "tools"}, {"from": "tools", "to": "heard"}, {"from": "heard", "to": "END"}]},
 "tells": {
  "state": {"fields": {"n": {"type": "integer"}}},
  "nodes": {"one": {"kind": "exec", "command": ["./tells", "one"]}, "two": {"kind": "exec", "command": ["./tells", "two"]}},
  "edges": [{"from": "START", "to": "one"}, {"from": "one", "to": "two"}, {"from": "two", "to": "END"}]}}
JSON
FIELDS='"state": {"fields": {"items": {"type": "array"}, "all": {"type": "array", "reducer": "append"}, "topic": {"type": "string"}, "why": {"type": "any"}, "n": {"type": "integer"}}}'
# line MEMBERS [MORE]: a graph whose node sub is followed by done.
line() {
	printf '{%s, "nodes": {"sub": {"kind": "graph", %s}, "done": {"kind": "reply", "text": "done {{all}}"}%s},
	"edges": [{"from": "START", "to": "sub"}, {"from": "sub", "to": "done"}%s, {"from": "done", "to": "END"}]}' "$FIELDS" "$1" "${2-}" "${3-}"
}
mkdir -p lib && cp inner.json lib/ && cp tells calls lib/
cat >graph.json <<JSON
{"shared": $(line '"graph": "inner.json:topic", "input": {"topic": "{{user_text}}"}, "output": {"all": "{{found}}", "topic": "last {{last_text}}"}'),
 "own": $(line '"graph": "inner.json:topic", "messages": "own", "input": {"topic": "x"}, "output": {"all": "{{found}}"}'),
 "sees": $(line '"graph": "lib/inner.json:tells", "messages": "own", "input": {"n": 7}'),
 "sees-all": $(line '"graph": "inner.json:tells", "input": {"n": 7}'),
 "deep": $(line '"graph": "inner.json:deep", "output": {"all": "{{list}}"}'),
 "asks": $(line '"graph": "inner.json:asks", "messages": "own", "output": {"why": "{{answer_is}}"}'),
 "far": $(line '"graph": "inner.json:far", "messages": "own"'),
 "sorry": $(line '"graph": "inner.json:tells", "on_error": "sorry"' ', "sorry": {"kind": "reply", "text": "sorry: {{error}}"}' ', {"from": "sorry", "to": "done"}'),
 "wrong": $(line '"graph": "inner.json:tells", "input": {"n": "{{user_text}}"}'),
 "map": {$FIELDS, "nodes": {"sub": {"kind": "graph", "graph": "inner.json:topic", "messages": "own", "input": {"topic": "{{item}}"}, "output": {"all": "{{found}}"}}},
   "edges": [{"from": "START", "map": "items", "to": "sub", "join": "END", "limit": 2}, {"from": "sub", "to": "END"}]},
 "middle": {"state": {"fields": {"topic": {"type": "string"}, "list": {"type": "array"}}},
   "nodes": {"in": {"kind": "graph", "graph": "inner.json:topic", "input": {"topic": "{{topic}}"}, "output": {"list": "{{found}}"}}, "between": {"kind": "reply", "text": "between"}},
   "edges": [{"from": "START", "to": "in"}, {"from": "in", "to": "between"}, {"from": "between", "to": "END"}]},
 "nothing": {"state": {"fields": {"topic": {"type": "string"}}}, "nodes": {"x": {"kind": "reply", "text": "x"}},
   "edges": [{"from": "START", "if": [{"when": {"field": "topic", "equals": "much"}, "to": "x"}], "else": "END"}, {"from": "x", "to": "END"}]},
 "forked": {"nodes": {"a": {"kind": "reply", "text": "a"}, "b": {"kind": "reply", "text": "b"}, "c": {"kind": "reply", "text": "c"}},
   "edges": [{"from": "START", "to": "a"}, {"from": "a", "to": ["b", "c"], "join": "END"}, {"from": "b", "to": "END"}, {"from": "c", "to": "END"}]},
 "fork": {"nodes": {"first": {"kind": "reply", "text": "first"}, "b": {"kind": "reply", "text": "b"}, "sub": {"kind": "graph", "graph": "forked"}},
   "edges": [{"from": "START", "to": "first"}, {"from": "first", "to": ["b", "sub"], "join": "END"}, {"from": "b", "to": "END"}, {"from": "sub", "to": "END"}]},
 "forks": {"nodes": {"sub": {"kind": "graph", "graph": "forked"}}, "edges": [{"from": "START", "to": "sub"}, {"from": "sub", "to": "END"}]},
 "idle": {"nodes": {"sub": {"kind": "graph", "graph": "nothing"}}, "edges": [{"from": "START", "to": "sub"}, {"from": "sub", "to": "END"}]},
 "nested": $(line '"graph": "middle", "input": {"topic": "{{user_text}}"}, "output": {"all": "{{list}}"}'),
 "round": $(line '"graph": "again"'),
 "again": $(line '"graph": "graph.json:round"')}
JSON
serve_graph() {
	printf '{"agent":"graph.json:%s","runs":{"background":1}%s}\n' "$1" "${2-}" >agentgraph.json
	api_start || tap_bail "the service does not start with $1"
}

# ---- state and messages

serve_graph shared
invoke tea "$(thread t),\"response_granularity\":\"full\""
facts <<'TABLE'
a subgraph is given values, and its messages are those of the run :: said == ["tea", "first of tea", "second of tea", "done [\"tea 1\",\"tea 2\"]"]
what it leaves enters through reducers :: .data.state | [.all, .topic] == [["tea 1", "tea 2"], "last second of tea"]
its nodes are steps, it is none :: .data.state.execution_meta.step == 3
it has a state of its own :: .data.state | has("found") == false
TABLE
invoke milk "$(thread t)"
facts <<'TABLE'
which is new each time :: last | text == "done [\"tea 1\",\"tea 2\",\"milk 1\",\"milk 2\"]"
TABLE
invoke x "$(thread limit),\"recursion_limit\":2"
facts <<'TABLE'
the limit counts inside :: .error_code == "GRAPH_RECURSION_LIMIT" or (.detail | test("recursion limit: 2")) == true
TABLE
api GET /v1/threads/limit/runs
facts <<'TABLE'
the node that ran last is the one inside :: .data.runs[0] | [.status, .node] == ["error", "sub/second"]
TABLE
stream tea "$(thread s),\"response_granularity\":\"full\""
chunks <<'TABLE'
chunks name nodes by path :: [.[] | select(.event == "updates" and .data.status == "invoking_node").metadata.node] == ["sub/first", "sub/second", "done"]
in no branch :: [.[].metadata | has("branch")] | any == false
when it has ended, its state is told, too :: [.[] | select(.metadata.node == "sub")] | map([.event, .metadata.step, .state.all]) == [["state", 2, ["tea 1", "tea 2"]]]
their state is that around it :: [.[] | select(.event == "state" and .metadata.node == "sub/first").state | has("found"), .all] == [false, []]
TABLE
api GET /v1/graph
facts <<'TABLE'
the graph lists nodes by path :: [.data.nodes[].id] == ["START", "sub", "sub/first", "sub/second", "done", "END"]
with their kinds :: [.data.nodes[].kind] == [null, "graph", "reply", "reply", "reply", null]
edges lead in and out :: [.data.edges[] | [.source, .target]] == [["START", "sub"], ["sub", "done"], ["done", "END"], ["sub", "sub/first"], ["sub/first", "sub/second"], ["sub/second", "sub"]]
TABLE
is "$("$AGENTGRAPH" graph)" 'START              -> sub
sub (graph)        -> done
done (reply)       -> END
sub/START          -> first
sub/first (reply)  -> second
sub/second (reply) -> END' 'and so does its drawing'
like "$("$AGENTGRAPH" graph --format dot)" '"sub/second" -> "sub";' 'for Graphviz'
like "$("$AGENTGRAPH" graph --format mermaid)" 'n2 --> n0' 'and for Mermaid'
serve_stop

serve_graph own
invoke tea "$(thread t)"
facts <<'TABLE'
of own messages the last answer is kept :: said == ["tea", "second of x", "done [\"x 1\",\"x 2\"]"]
TABLE
stream tea "$(thread s)"
chunks <<'TABLE'
and shown :: finals | texts == ["second of x", "done [\"x 1\",\"x 2\"]"]
nor are pieces of the others :: [pieces[] | select(.metadata.node == "sub/first")] == []
TABLE
serve_stop
serve_graph sees
invoke one "$(thread t)"
invoke two "$(thread t)"
facts <<'TABLE'
it begins with the last user text alone :: said[1] == "two saw [2,7]"
TABLE
serve_stop
serve_graph sees-all
invoke one "$(thread t)"
invoke two "$(thread t)"
facts <<'TABLE'
shared ones are all of the thread :: said[1] == "one saw [5,7]"
TABLE
serve_stop
serve_graph deep
invoke tea "$(thread t),\"response_granularity\":\"full\""
facts <<'TABLE'
subgraphs may be in branches, and in subgraphs :: [said, .data.state.all] == [["tea", "first of left", "second of left", "first of right", "second of right", "done [\"left 1\",\"left 2\",\"right 1\",\"right 2\"]"], ["left 1", "left 2", "right 1", "right 2"]]
TABLE
stream tea
chunks <<'TABLE'
names and branches say where :: [.[] | select(.event == "message").metadata | [.node, .branch]] | map(select(.[0] == "sub/b/first"))[0] == ["sub/b/first", "b"]
TABLE
serve_stop
serve_graph map
invoke x "\"initial_state\":{\"items\":[\"p\",\"q\",\"r\"]},\"response_granularity\":\"full\""
facts <<'TABLE'
a map may have one for each element :: [said, .data.state.all] == [["x", "second of p", "second of q", "second of r"], ["p 1", "p 2", "q 1", "q 2", "r 1", "r 2"]]
TABLE
serve_stop

# ---- how they end

serve_graph asks
fresh
invoke hi "$(thread t),\"response_granularity\":\"full\""
facts <<'TABLE'
a question inside pauses the run :: [.data.meta.interrupt.node, .data.meta.interrupt.value.question, said] == ["sub/ask", "why?", ["hi"]]
TABLE
resume '"so"' t '"response_granularity":"full"'
facts <<'TABLE'
its answer goes on there :: [said, .data.state.why, .data.state.execution_meta.status] == [["because so", "done []"], "so", "completed"]
TABLE
is "$(cat ran)" before 'and nothing runs twice'
serve_stop

serve_graph far ',"remote_tools":[{"node":"sub/tools","name":"remote","description":"d"}]'
fresh
invoke hi "$(thread t),\"response_granularity\":\"full\""
facts <<'TABLE'
calls of a subgraph wait at the client :: [.data.state.execution_meta.interrupt_data.call_ids, (last.content[0].name)] == [["c1"], "remote"]
TABLE
api POST /v1/graph/invoke "$(run_body "[$(answer c1 '"red"')]" "$(thread t)")"
facts <<'TABLE'
and their results lead back :: .data.messages | map(select(.role == "assistant") | text) == ["heard saw [3,null]", "done []"]
TABLE
serve_stop

serve_graph sorry
fresh
invoke fail "$(thread t)"
facts <<'TABLE'
one that fails may be followed by another node :: said == ["fail", "sorry: it is broken", "done []"]
TABLE
serve_stop
serve_graph sees-all
fresh
invoke fail "$(thread t)"
facts <<'TABLE'
or the run fails, with the path of the node :: [.detail, .error.details[0].loc] == ["Graph execution failed: it is broken", ["node", "sub/one"]]
TABLE
fresh
: >hold-one
in_background stopped invoke x "$(thread stop)"
one() { grep -qx one ran 2>/dev/null; }
two() { grep -qx two ran 2>/dev/null; }
ok 'wait_for 60 one' 'a node inside runs'
api POST /v1/graph/stop '{"thread_id":"stop"}'
rm -f hold-one
collect stopped
api GET /v1/threads/stop/state
facts <<'TABLE'
a stop ends it after its step :: .data.state | [.execution_meta.status, .execution_meta.current_node, (.context | texts | length)] == ["stopped", "sub/one", 2]
TABLE
fresh
: >hold-two
api POST /v1/graph/runs "$(run_body "[$(user x)]" "$(thread bg '"run_id":"r1"')")"
ok 'wait_for 60 two' 'one in the background'
for pid in $(children "$SERVE_PID"); do
	case $(readlink "/proc/$pid/exe") in */agentgraph-runner) kill -9 "$pid" ;; esac
done
rm -f hold-two
over() {
	api GET /v1/threads/bg/runs/r1
	[ "$(json .data.status "$BODY")" = completed ]
}
ok 'wait_for 90 over' 'goes on when its process dies'
is "$(tr '\n' ' ' <ran)" 'one two two ' 'behind the node that had ended'
serve_stop
# ---- checkpoints inside

serve_graph nested ',"history":{"level":"steps"}'
invoke hi "$(thread t),\"response_granularity\":\"full\""
facts <<'TABLE'
a subgraph may have one in it :: [said, .data.state.all] == [["hi", "first of hi", "second of hi", "between", "done [\"hi 1\",\"hi 2\"]"], ["hi 1", "hi 2"]]
TABLE
api GET /v1/threads/t/history
facts <<'TABLE'
each of its nodes has a checkpoint at the level steps :: [.data.history[] | select(.source == "step") | [.step, .node, .next, .message_count]] | reverse == [[1, "sub/in/first", "sub/in/second", 2], [2, "sub/in/second", "sub/between", 3], [3, "sub/between", "done", 4], [4, "done", null, 5]]
TABLE
first=$(json '.data.history | map(select(.node == "sub/in/first"))[0].checkpoint_id' "$BODY")
second=$(json '.data.history | map(select(.node == "sub/in/second"))[0].checkpoint_id' "$BODY")
api GET "/v1/threads/t/history/$first"
facts <<'TABLE'
it shows what had been said, and the state around :: [(.data.messages | texts), .data.state.all, .data.node, .data.next] == [["hi", "first of hi"], [], "sub/in/first", "sub/in/second"]
TABLE
api POST /v1/graph/invoke "{\"config\":{\"thread_id\":\"t\",\"checkpoint_id\":\"$first\"},\"response_granularity\":\"full\"}"
facts <<'TABLE'
a run goes on there :: [said, .data.state.all] == [["second of hi", "between", "done [\"hi 1\",\"hi 2\"]"], ["hi 1", "hi 2"]]
TABLE
again=0
for i in 1 2 3 4 5 6 7 8 9 10; do # most often its first write waits still when the first node is over
	api POST /v1/graph/invoke "{\"config\":{\"thread_id\":\"t\",\"checkpoint_id\":\"$first\"},\"response_granularity\":\"full\"}"
	[ "$(json '.data.state.all | join(",")' "$BODY")" = 'hi 1,hi 2' ] && again=$((again + 1))
done
is "$again" 10 'as often as is asked for'
api POST /v1/graph/invoke "{\"config\":{\"thread_id\":\"t\",\"checkpoint_id\":\"$second\"},\"response_granularity\":\"full\"}"
facts <<'TABLE'
and between two of them :: [said, .data.state.all] == [["between", "done [\"hi 1\",\"hi 2\"]"], ["hi 1", "hi 2"]]
TABLE
api GET /v1/threads/t/messages
facts <<'TABLE'
the thread has each message once :: .data.messages | texts == ["hi", "first of hi", "second of hi", "between", "done [\"hi 1\",\"hi 2\"]"]
TABLE
api POST /v1/graph/runs "$(run_body "[$(user x)]" "$(thread bg '"run_id":"r1"')")"
ok 'wait_for 60 over' 'one in the background'
api GET /v1/threads/bg/history
facts <<'TABLE'
has the same ones :: [.data.history[] | select(.source == "step") | [.step, .node, .next, .message_count]] | reverse == [[1, "sub/in/first", "sub/in/second", 2], [2, "sub/in/second", "sub/between", 3], [3, "sub/between", "done", 4], [4, "done", null, 5]]
TABLE
serve_stop
serve_graph own ',"history":{"level":"steps"}'
invoke hi "$(thread o)"
api GET /v1/threads/o/history
facts <<'TABLE'
with messages of its own nothing of them is shown :: [.data.history[] | select(.source == "step") | [.step, .node, .next, .message_count]] | reverse == [[1, "sub/first", "sub/second", 1], [2, "sub/second", "done", 2], [3, "done", null, 3]]
TABLE
first=$(json '.data.history | map(select(.node == "sub/first"))[0].checkpoint_id' "$BODY")
api POST /v1/graph/invoke "{\"config\":{\"thread_id\":\"o\",\"checkpoint_id\":\"$first\"},\"response_granularity\":\"full\"}"
facts <<'TABLE'
and a run goes on there as well :: [said, .data.state.all] == [["second of x", "done [\"x 1\",\"x 2\"]"], ["x 1", "x 2"]]
TABLE
serve_stop
serve_graph idle ',"history":{"level":"steps"}'
invoke hi "$(thread i)"
api GET /v1/threads/i/history
facts <<'TABLE'
one that has nothing to do has its own :: [.data.history[] | [.source, .step, .node, .next]] == [["run", 0, "END", null], ["step", 0, "sub", null]]
TABLE
serve_stop
serve_graph deep ',"history":{"level":"steps"}'
invoke hi "$(thread d)"
api GET /v1/threads/d/history
facts <<'TABLE'
branches have one, where they have joined :: [.data.history[] | select(.source == "step") | [.step, .next]] | reverse == [[4, "done"], [5, null]]
TABLE
serve_stop
serve_graph fork ',"history":{"level":"steps"},"langgraph":{"enabled":true}'
invoke hi "$(thread f)"
api GET /v1/threads/f/history
facts <<'TABLE'
and one before them, whose next is the first :: .data.history[-1] | [.node, .next] == ["first", "b"]
TABLE
first=$(json '.data.history[-1].checkpoint_id' "$BODY")
api POST /v1/graph/invoke "{\"config\":{\"thread_id\":\"f\",\"checkpoint_id\":\"$first\"}}"
facts <<'TABLE'
where a run goes on with all of them :: said == ["b", "a", "b", "c"]
TABLE
api POST /v1/threads/f/rewind "{\"checkpoint_id\":\"$first\"}"
api POST /lg/threads/f/runs/wait '{"assistant_id":"fork","input":null}'
is "$STATUS $(json '.messages | map(.content) | join(" ")' "$BODY")" '200 hi first b a b c' 'as one of LangGraph does that says nothing'
serve_stop
serve_graph forks ',"history":{"level":"steps"}'
invoke hi "$(thread f)"
api GET /v1/threads/f/history
facts <<'TABLE'
inside of a subgraph, too :: .data.history[-1] | [.node, .next] == ["sub/a", "sub/b"]
TABLE
serve_stop
serve_graph wrong
invoke x
facts <<'TABLE'
an input of another type fails :: .detail == "Graph execution failed: the input 'n' of node sub is not of its type"
TABLE
serve_stop

printf '{"agent":"graph.json:round"}\n' >agentgraph.json
"$AGENTGRAPH" check >out 2>&1
is "$?" 1 'graphs that contain each other do not start'
like "$(cat out)" 'graph.json: /again/nodes/sub/graph: expected a graph that does not contain itself: round -> again -> round' 'which is told with their path'

sed 's/inner.json:tells/none.json:tells/' graph.json >other.json
printf '{"agent":"other.json:sorry"}\n' >agentgraph.json
like "$("$AGENTGRAPH" check 2>&1)" 'other.json: /sorry/nodes/sub/graph: expected a document: .*none.json: No such file' 'nor does one whose document is not there'
sed 's/"inner.json:tells"/":tells"/' graph.json >other.json
like "$("$AGENTGRAPH" check 2>&1)" 'other.json: /sorry/nodes/sub/graph: expected a document: .*: it is no file' 'or that names none'
for way in ./round.json "../$(basename "$PWD")/round.json"; do
	printf '{"sorry": %s}\n' "$(line "\"graph\": \"$way:sorry\"")" >round.json
	printf '{"agent":"round.json:sorry"}\n' >agentgraph.json
	like "$("$AGENTGRAPH" check 2>&1)" 'round.json: /sorry/nodes/sub/graph: expected a graph that does not contain itself: sorry -> sorry' \
		"nor one that contains itself by another name of its document, ${way%%round*}"
done

done_testing
