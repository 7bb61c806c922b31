#!/bin/sh
# SPDX-License-Identifier: ISC
# Branches that wait: for people, one or several, and for tools at the client.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

cat >count <<'SH'
#!/bin/sh
echo >>count.n
echo '{"message": "counted"}'
SH
cat >calls <<'SH'
#!/bin/sh
echo "{\"message\": {\"role\": \"assistant\", \"content\": [{\"type\": \"tool_call\", \"id\": \"call_$1\", \"name\": \"$2\", \"args\": {}}]}}"
SH
cat >tells <<'SH'
#!/bin/sh
read -r state
printf '{"message": "%s heard %s"}\n' "$1" "$(printf '%s' "$state" | grep -o '"output":"[a-z]*"' | tr -d '"\n')"
SH
chmod +x count calls tells
cat >graph.json <<'JSON'
{"ask": {
  "state": {"fields": {"x": {"type": "any"}, "y": {"type": "any"}, "list": {"type": "array", "reducer": "append"}}},
  "nodes": {
    "before": {"kind": "reply", "text": "before", "update": {"list": "before"}},
    "x": {"kind": "interrupt", "value": {"question": "x?"}, "field": "x", "reply": "x is {{answer}} {{list}}"},
    "count": {"kind": "exec", "command": "./count"},
    "y": {"kind": "interrupt", "value": {"question": "y?"}, "field": "y", "reply": "y is {{answer}} {{last_text}} {{list}}"},
    "y2": {"kind": "interrupt", "value": {"question": "y2?"}, "reply": "y2 is {{answer}}"},
    "join": {"kind": "reply", "text": "{{x}} {{y}} {{list}}"}
  },
  "edges": [
    {"from": "START", "to": ["before", "count", "y"], "join": "join"},
    {"from": "before", "to": "x"}, {"from": "x", "to": "join"},
    {"from": "count", "to": "join"}, {"from": "y", "to": "y2"}, {"from": "y2", "to": "join"}, {"from": "join", "to": "END"}]},
 "around": {
  "nodes": {
    "a": {"kind": "reply", "text": "a"}, "b": {"kind": "reply", "text": "b"}, "c": {"kind": "reply", "text": "c"},
    "d": {"kind": "reply", "text": "d"}
  },
  "edges": [
    {"from": "START", "to": "a"}, {"from": "a", "to": ["b", "c"], "join": "d"},
    {"from": "b", "to": "d"}, {"from": "c", "to": "d"}, {"from": "d", "to": "END"}],
  "interrupt_before": ["b"], "interrupt_after": ["c"]},
 "gate": {
  "nodes": {
    "drop": {"kind": "reply", "text": "dropped"},
    "ask": {"kind": "interrupt", "value": {"question": "which?"}, "reply": "it is {{answer}}"},
    "d": {"kind": "reply", "text": "d"}
  },
  "edges": [
    {"from": "START", "to": ["drop", "ask"], "join": "d"}, {"from": "drop", "to": "d"}, {"from": "ask", "to": "d"},
    {"from": "d", "to": "END"}],
  "interrupt_before": ["drop"]},
 "left": {
  "state": {"fields": {"list": {"type": "array", "reducer": "append"}, "word": {"type": "string"}, "given": {"type": "string"}}},
  "nodes": {
    "start": {"kind": "reply", "text": "start"},
    "set": {"kind": "reply", "text": "set", "update": {"list": "set", "word": "set", "given": "old"}},
    "also": {"kind": "reply", "text": "also", "update": {"list": "also", "word": "also"}},
    "a": {"kind": "exec", "command": ["./calls", "a", "remote"]}, "ta": {"kind": "tools", "tools": []},
    "d": {"kind": "reply", "text": "d"}
  },
  "edges": [
    {"from": "START", "if": [{"when": {"user_text": {"equals": "again"}}, "to": "d"}], "else": "start"},
    {"from": "start", "to": ["set", "also"], "join": "d"},
    {"from": "set", "to": "a"}, {"from": "a", "to": "ta"}, {"from": "ta", "to": "d"}, {"from": "also", "to": "d"},
    {"from": "d", "to": "END"}]},
 "same": {
  "nodes": {
    "a": {"kind": "exec", "command": ["./calls", "0", "remote"]}, "ta": {"kind": "tools", "tools": []},
    "a2": {"kind": "exec", "command": ["./tells", "a"]},
    "b": {"kind": "exec", "command": ["./calls", "0", "remote"]}, "tb": {"kind": "tools", "tools": []},
    "b2": {"kind": "exec", "command": ["./tells", "b"]},
    "d": {"kind": "reply", "text": "d"}
  },
  "edges": [
    {"from": "START", "to": ["a", "b"], "join": "d"},
    {"from": "a", "to": "ta"}, {"from": "ta", "to": "a2"}, {"from": "a2", "to": "d"},
    {"from": "b", "to": "tb"}, {"from": "tb", "to": "b2"}, {"from": "b2", "to": "d"},
    {"from": "d", "to": "END"}]},
 "far": {
  "nodes": {
    "a": {"kind": "exec", "command": ["./calls", "a", "remote"]}, "ta": {"kind": "tools", "tools": []},
    "a2": {"kind": "exec", "command": ["./tells", "a"]},
    "b": {"kind": "exec", "command": ["./calls", "b", "local"]},
    "tb": {"kind": "tools", "approval": true, "tools": [{"kind": "exec", "name": "local", "description": "d", "command": ["echo", "done"]}]},
    "b2": {"kind": "exec", "command": ["./tells", "b"]},
    "c": {"kind": "exec", "command": ["./calls", "c", "remote"]}, "tc": {"kind": "tools", "tools": []},
    "c2": {"kind": "exec", "command": ["./tells", "c"]},
    "d": {"kind": "reply", "text": "d"}
  },
  "edges": [
    {"from": "START", "to": ["a", "b", "c"], "join": "d"},
    {"from": "a", "to": "ta"}, {"from": "ta", "to": "a2"}, {"from": "a2", "to": "d"},
    {"from": "b", "to": "tb"}, {"from": "tb", "to": "b2"}, {"from": "b2", "to": "d"},
    {"from": "c", "to": "tc"}, {"from": "tc", "to": "c2"}, {"from": "c2", "to": "d"},
    {"from": "d", "to": "END"}]}}
JSON

# ---- questions

printf '{"agent":"graph.json:ask"}\n' >agentgraph.json
api_start || tap_bail 'the service does not start'
invoke hi "$(thread t),\"response_granularity\":\"full\""
is "$STATUS|$(grep -c '' count.n)" '200|1' 'branches that ask let the others arrive'
facts <<'TABLE'
the first is the pause, and all are listed :: .data.meta | [.interrupt.node, (.interrupts | map(.node)), (.interrupts[0] == .interrupt)] == ["x", ["x", "y"], true]
so they are in the state :: .data.state.execution_meta | [.status, .interrupt.node, (.interrupts | map(.value.question))] == ["interrupted", "x", ["x?", "y?"]]
what branches said so far is there :: said == ["hi", "before", "counted"]
what they set is not yet :: .data.state.list == []
TABLE
api GET /v1/threads/t/state
facts <<'TABLE'
the thread shows them :: .data.state.execution_meta.interrupts | map(.node) == ["x", "y"]
TABLE
resume '"one"' t '"response_granularity":"full"'
facts <<'TABLE'
an answer is for the first :: [said, .data.meta.interrupt.node, (.data.meta | has("interrupts"))] == [["x is one [\"before\"]"], "y", false]
TABLE
resume '{"any":1}' t
facts <<'TABLE'
an object that names none is an answer :: [said, .data.meta.interrupt.value.question] == [["y is {\"any\":1} hi []"], "y2?"]
TABLE
resume 3 t '"response_granularity":"full"'
facts <<'TABLE'
and the last one leads to the join :: said == ["y2 is 3", "one {\"any\":1} [\"before\"]"]
with everything that was set :: .data.state | [.x, .y, .list] == ["one", {"any": 1}, ["before"]]
TABLE
is "$(grep -c '' count.n)" 1 'no branch that had arrived runs again'
api GET /v1/threads/t/messages
facts <<'TABLE'
the thread has what was said in the order of the runs :: .data.messages | texts == ["hi", "before", "counted", "x is one [\"before\"]", "y is {\"any\":1} hi []", "y2 is 3", "one {\"any\":1} [\"before\"]"]
TABLE
invoke hi "$(thread u)"
ids=$(json '.data.meta.interrupts | map(.id) | join(" ")' "$BODY")
resume "{\"${ids#* }\":\"late\",\"${ids% *}\":\"early\"}" u
facts <<'TABLE'
an object with the ids answers several :: [said, .data.meta.interrupt.value.question] == [["x is early [\"before\"]", "y is late hi []"], "y2?"]
TABLE
id=$(json '.data.meta.interrupt.id' "$BODY")
resume "{\"${ids#* }\":\"late again\"}" u
facts <<TABLE
an answer by the id of an earlier question answers no other :: .error | [.code, .message] == ["INVALID_INPUT", "resume does not answer the open interrupt '$id'"]
TABLE
resume "{\"$id\":null}" u
facts <<'TABLE'
null cancels :: said == ["y2 is ", "early late [\"before\"]"]
TABLE
stream hi "$(thread v)"
chunks <<'TABLE'
a stream ends with all of them :: .[-2].data | [.status, .node, .interrupt.node, (.interrupts | map(.node))] == ["interrupted", "x", "x", ["x", "y"]]
TABLE
api POST /v1/graph/runs "$(run_body "[$(user hi)]" "$(thread w '"run_id":"r1"')")"
over() {
	api GET "/v1/threads/w/runs/$1"
	[ "$(json .data.status "$BODY")" = interrupted ]
}
wait_for 30 over r1
api GET /v1/threads/w/runs/r1/result
facts <<'TABLE'
a run in the background pauses as well :: .data.meta.interrupts | map(.node) == ["x", "y"]
TABLE
api POST /v1/graph/runs "{\"resume\":\"bg\",$(thread w '"run_id":"r2"')}"
wait_for 30 over r2
api GET /v1/threads/w/runs/r2/result
facts <<'TABLE'
and goes on :: [said, .data.meta.interrupt.node] == [["x is bg [\"before\"]"], "y"]
TABLE
invoke fresh "$(thread n)"
api PUT /v1/threads/n/state '{"state":{"list":["put"]}}'
is "$STATUS" 200 'the state of a paused thread can be written'
serve_stop

# ---- pauses around nodes

printf '{"agent":"graph.json:around"}\n' >agentgraph.json
invoke hi "$(thread t)"
facts <<'TABLE'
pauses before and after nodes wait for the others, too :: [said, (.data.meta.interrupts | map([.node, .reason]))] == [["hi", "a", "c"], [["b", "interrupt_before"], ["c", "interrupt_after"]]]
TABLE
resume null t
facts <<'TABLE'
the first goes on :: [said, .data.meta.interrupt.node] == [["b"], "c"]
TABLE
resume null t
facts <<'TABLE'
then the second :: [said, .data.meta.interrupt] == [["d"], null]
TABLE
serve_stop

printf '{"agent":"graph.json:gate"}\n' >agentgraph.json
invoke hi "$(thread t)"
asked=$(json '.data.meta.interrupts[1].id' "$BODY")
resume "{\"$asked\":\"this\"}" t
facts <<'TABLE'
who answers one behind a gate leaves the gate shut :: [said, .data.meta.interrupt.node] == [["it is this"], "drop"]
TABLE
resume null t
facts <<'TABLE'
until it is let go on :: [said, .data.meta.interrupt] == [["dropped", "d"], null]
TABLE
serve_stop

# ---- tools at the client, and those that a person allows

printf '{"agent":"graph.json:far","remote_tools":[{"node":"ta","name":"remote","description":"d"}]}\n' >agentgraph.json
invoke hi "$(thread t),\"response_granularity\":\"full\""
facts <<'TABLE'
approval is asked for first :: [.data.meta.interrupt.node, .data.meta.interrupt.reason] == ["tb", "tool_approval"]
TABLE
resume true t '"response_granularity":"full"'
facts <<'TABLE'
then calls of all branches wait at the client :: .data.state.execution_meta | [.status, .interrupt_data.call_ids] == ["completed", ["call_a", "call_c"]]
the tool was called :: [.data.messages[] | select(.role == "tool").content[0].output] == ["done"]
TABLE
api POST /v1/graph/invoke "$(run_body "[$(answer call_c '"red"')]" "$(thread t)")"
facts <<'TABLE'
one result is not enough :: [.data.messages[]] | length == 1
TABLE
api POST /v1/graph/invoke "$(run_body "[$(answer call_a '"blue"')]" "$(thread t)")"
is "$STATUS" 200 'with all of them the run goes on'
facts <<'TABLE'
each branch hears its own :: .data.messages | map(select(.role == "assistant") | text) == ["a heard output:blue", "c heard output:red", "d"]
TABLE

# ---- models that count their calls from nought, each by itself

serve_stop
sed -i 's/json:far/json:same/' agentgraph.json
invoke hi "$(thread t),\"response_granularity\":\"full\""
ids=$(json '.data.state.execution_meta.interrupt_data.call_ids | join(" ")' "$BODY")
api POST /v1/graph/invoke "$(run_body "[$(answer "${ids#* }" '"red"'),$(answer "${ids% *}" '"blue"')]" "$(thread t)")"
facts <<'TABLE'
calls of one id in two branches are two :: .data.messages | map(select(.role == "assistant") | text) == ["a heard output:blue", "b heard output:red", "d"]
TABLE

# ---- a new turn instead of the results

serve_stop
printf '{"agent":"graph.json:left","remote_tools":[{"node":"ta","name":"remote","description":"d"}]}\n' >agentgraph.json
invoke hi "$(thread t),\"response_granularity\":\"full\""
facts <<'TABLE'
while calls wait what branches set is not there yet :: .data.state | [.list, .word] == [[], ""]
TABLE
invoke again "$(thread t '"x":1'),\"response_granularity\":\"full\",\"initial_state\":{\"given\":\"new\"}"
facts <<'TABLE'
a new turn keeps what they had set, and what it sets itself :: [.data.state.execution_meta.status, .data.state.given] == ["completed", "new"]
TABLE
api GET /v1/threads/t/state
facts <<'TABLE'
by their reducers, of one value the first :: .data.state | [.list, .word] == [["set", "also"], "set"]
TABLE

done_testing
