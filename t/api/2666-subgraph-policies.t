#!/bin/sh
# SPDX-License-Identifier: ISC
# Subgraphs that fail, take long, or ran before with the same input: retry, timeout, cache; and caches of tools nodes.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# does NAME <<TEXT: a program that counts in NAME.n how often it ran; $n is that, $state what it reads.
does() {
	{
		echo '#!/bin/sh'
		echo 'read -r state'
		echo "exec 9>>$1.lock; flock 9; echo >>$1.n; n=\$(grep -c '' $1.n); exec 9>&-"
		cat
	} >"$1"
	chmod +x "$1"
}
ran() { if [ -e "$1.n" ]; then grep -c '' "$1.n"; else echo 0; fi; }

does says <<'SH'
echo "{\"message\": {\"role\": \"assistant\", \"content\": \"try $n\", \"usages\": {\"prompt_tokens\": 1, \"completion_tokens\": 2, \"total_tokens\": 3}}}"
SH
does pieces <<'SH'
echo '{"delta": "half"}'
echo '{"message": {"role": "assistant", "content": "whole"}}'
SH
does flaky <<'SH'
[ $((n % 3)) = 0 ] || { echo "broken $n" >&2; exit 1; }
echo "{\"update\": {\"n\": $n}}"
SH
does slow <<'SH'
exec sleep 60
SH
does sets <<'SH'
echo "{\"message\": \"made $n\"}"
echo "{\"update\": {\"n\": $n}}"
SH
does calls <<'SH'
case $state in
*'"role":"tool"'*) echo '{"message": "called"}' ;;
*) echo '{"message": {"role": "assistant", "content": [
	{"type": "tool_call", "id": "c1", "name": "add", "args": {"a": 1}},
	{"type": "tool_call", "id": "c2", "name": "add", "args": {"a": 2}},
	{"type": "tool_call", "id": "c3", "name": "fails", "args": {}}]}}' | tr -d '\n\t'; echo ;;
esac
SH
cat >add <<'SH'
#!/bin/sh
echo >>add.n
jq .a+1
SH
cat >fails <<'SH'
#!/bin/sh
echo >>fails.n
echo no >&2
exit 1
SH
chmod +x add fails

STATE='"state": {"fields": {"n": {"type": "integer"}, "all": {"type": "array", "reducer": "append"}, "items": {"type": "array"}, "k": {"type": "string"}}}'
# inner FIRST SECOND: a graph of two programs.
inner() {
	printf '{%s, "nodes": {"first": {"kind": "exec", "command": "./%s"}, "second": {"kind": "exec", "command": "./%s"}},
	"edges": [{"from": "START", "to": "first"}, {"from": "first", "to": "second"}, {"from": "second", "to": "END"}]}' "$STATE" "$1" "$2"
}
# outer MEMBERS: a graph whose node sub is followed by done, or by sorry.
outer() {
	printf '{%s, "nodes": {"sub": {"kind": "graph", "output": {"all": "{{n}}"}, %s}, "done": {"kind": "reply", "text": "done {{all}}"},
	"sorry": {"kind": "reply", "text": "sorry: {{error}}"}},
	"edges": [{"from": "START", "to": "sub"}, {"from": "sub", "if": [{"when": {"user_text": {"equals": "never"}}, "to": "sorry"}], "else": "done"},
	{"from": "done", "to": "END"}, {"from": "sorry", "to": "END"}]}' "$STATE" "$1"
}
cat >graph.json <<JSON
{"flaky": $(inner says flaky), "hopeless": $(inner says slow), "streams": $(inner pieces flaky), "waits": $(inner slow says), "makes": $(inner says sets),
 "patient": {$STATE, "nodes": {"slow": {"kind": "exec", "command": "./slow", "retry": {"attempts": 50, "initial": 0}, "on_error": "calm"}, "calm": {"kind": "reply", "text": "calm"}},
   "edges": [{"from": "START", "to": "slow"}, {"from": "slow", "to": "END"}, {"from": "calm", "to": "END"}]},
 "nested": $(outer '"graph": "flaky", "retry": {"attempts": 2, "initial": 0}'),
 "again": $(outer '"graph": "flaky", "retry": {"attempts": 3, "initial": 0.01}'),
 "again-own": $(outer '"graph": "flaky", "messages": "own", "retry": {"attempts": 3, "initial": 0.01}'),
 "pieces": $(outer '"graph": "streams", "retry": {"attempts": 3, "initial": 0}'),
 "pieces-own": $(outer '"graph": "streams", "messages": "own", "retry": {"attempts": 3, "initial": 0}'),
 "twice": $(outer '"graph": "nested", "retry": {"attempts": 2, "initial": 0}'),
 "limit": $(outer '"graph": "flaky", "retry": {"attempts": 9, "initial": 0}'),
 "late": $(outer '"graph": "waits", "timeout": 0.4, "on_error": "sorry"'),
 "late-inside": $(outer '"graph": "patient", "timeout": 0.4, "on_error": "sorry"'),
 "late-again": $(outer '"graph": "waits", "timeout": 0.3, "retry": {"attempts": 2, "initial": 0}, "on_error": "sorry"'),
 "kept": $(outer '"graph": "makes", "cache": {"key": ["user_text"], "ttl": 3600}'),
 "kept-own": $(outer '"graph": "makes", "messages": "own", "cache": {"key": ["user_text"], "ttl": 3600}'),
 "map": {$STATE, "nodes": {"sub": {"kind": "graph", "graph": "makes", "output": {"all": "{{n}}"}, "messages": "own", "cache": {"key": ["item"], "ttl": 3600}}},
   "edges": [{"from": "START", "map": "items", "to": "sub", "join": "END", "limit": 1}, {"from": "sub", "to": "END"}]},
 "map-again": {$STATE, "nodes": {"sub": {"kind": "graph", "graph": "flaky", "output": {"all": "{{n}}"}, "retry": {"attempts": 9, "initial": 0}}},
   "edges": [{"from": "START", "map": "items", "to": "sub", "join": "END"}, {"from": "sub", "to": "END"}]},
 "tools": {$STATE, "nodes": {"ask": {"kind": "exec", "command": "./calls"},
   "tools": {"kind": "tools", "cache": {"key": ["k"], "ttl": 3600}, "tools": [
     {"name": "add", "description": "Adds", "parameters": {"properties": {"a": {"type": "integer"}}}, "command": "./add"},
     {"name": "fails", "description": "Fails", "command": "./fails"}]}},
   "edges": [{"from": "START", "to": "ask"}, {"from": "ask", "if": [{"when": {"tool_calls": true}, "to": "tools"}], "else": "END"}, {"from": "tools", "to": "ask"}]}}
JSON
serve_graph() {
	printf '{"agent":"graph.json:%s"}\n' "$1" >agentgraph.json
	api_start || tap_bail "the service does not start with $1"
}
full='"response_granularity":"full"'
fresh() { rm -f ./*.n; }

# ---- retry

serve_graph again
invoke hello "$full,$(thread a)"
is "$STATUS|$(ran says)|$(ran flaky)" '200|3|3' 'a graph of which a node fails runs again as a whole'
facts <<'TABLE'
what failed attempts said is not there :: said == ["hello", "try 3", "done [3]"]
but every execution inside is a step :: .data.state.execution_meta.step == 7
TABLE
api GET /v1/threads/a/messages
facts <<'TABLE'
nor is it in the thread :: .data.messages | texts == ["hello", "try 3", "done [3]"]
TABLE
api GET /v1/observability/a
facts <<'TABLE'
the trace has its attempts :: [.data.run.events[] | select(.type == "error") | [.node, .summary]] == [["sub", "attempt 2 failed: NODE_ERROR"], ["sub", "attempt 1 failed: NODE_ERROR"]]
TABLE
like "$(grep -F 'node sub: attempt 1 of 3 failed' "$SERVE_ERR")" 'broken 1' 'the log has each attempt'
fresh
stream hello "$full"
chunks <<'TABLE'
a stream shows what the last attempt said, once :: finals | texts == ["try 3", "done [3]"]
TABLE
api GET /v1/threads/a/runs
facts <<'TABLE'
what failed attempts have cost counts :: .data.runs[0].usage.total_tokens == 9
TABLE
invoke hello '"recursion_limit":1'
facts <<'TABLE'
none follows the recursion limit :: .detail == "Graph execution exceeded recursion limit: 1"
TABLE
is "$(ran says)" 4 'which it would exceed again'
serve_stop

fresh
serve_graph again-own
stream hello "$full"
chunks <<'TABLE'
one with messages of its own runs again as well :: finals | texts == ["try 3", "done [3]"]
TABLE
serve_stop
fresh
serve_graph pieces
invoke hello
is "$STATUS|$(ran flaky)" '500|1' 'a graph that has shown a piece does not run again'
serve_stop
fresh
serve_graph pieces-own
invoke hello
is "$STATUS|$(ran flaky)" '200|3' 'unless nobody was shown it'
serve_stop
fresh
serve_graph twice
stream hello "$full"
chunks <<'TABLE'
graphs in graphs that run again are shown once, in order :: finals | texts == ["try 3", "done [3]", "done [0]"]
TABLE
is "$(ran flaky)" 3 'each after its own attempts'
serve_stop
fresh
serve_graph map-again
invoke hello '"initial_state":{"items":[1,2,3,4]},'"$full"
facts <<'TABLE'
elements of a map run again each for themselves :: [(.data.state.all | length), (said | length)] == [4, 5]
TABLE
serve_stop

# ---- timeout

fresh
serve_graph late
invoke hello
facts <<'TABLE'
a graph has a time of its own, whichever of its nodes takes it :: said[-1] == "sorry: node sub timed out after 0.4 s"
TABLE
serve_stop
serve_graph late-inside
api GET /v1/graph
facts <<'TABLE'
the graph shows where failures lead, by paths :: [.data.nodes[] | select(.on_error) | [.id, .on_error]] == [["sub", "sorry"], ["sub/slow", "sub/calm"]]
TABLE
invoke hello
facts <<'TABLE'
what its nodes have for failures is for theirs :: said[-1] == "sorry: node sub timed out after 0.4 s"
TABLE
serve_stop
fresh
serve_graph late-again
start=$(date +%s%N)
invoke hello
took=$((($(date +%s%N) - start) / 1000000))
ok "[ $took -ge 600 ]" 'each attempt has that time' || diag "$took ms"
like "$(cat "$SERVE_ERR")" 'node sub: attempt 1 of 2 failed' 'and a late one has another behind it'
serve_stop

# ---- cache

fresh
serve_graph kept
invoke hello "$(thread a)"
stream hello "$full,$(thread b)"
chunks <<'TABLE'
what a graph said and set is taken from an earlier execution :: finals | texts == ["try 1", "made 1", "done [1]"]
as one step, of its node :: [.[] | select(.event == "updates" and .data.status == "node_invoked").data | [.node, .step]] == [["sub", 1], ["done", 2]]
and is in the state at its end :: [.[] | select(.event == "state").state.all] == [[1], [1]]
TABLE
is "$(ran says)|$(ran sets)" '1|1' 'and it does not run'
invoke other "$(thread b)"
is "$(ran sets)" 2 'other values are another result'
sed -i 's|"second": {"kind": "exec", "command": "./sets"}|"second": {"kind": "exec", "command": ["./sets", "-"]}|' graph.json
state=$STATE
serve_stop
STATE=$state
serve_graph kept
invoke hello
is "$(ran sets)" 3 'so is a graph with another node'
serve_stop
fresh
serve_graph kept-own
invoke hello
invoke hello
facts <<'TABLE'
of one with messages of its own the answer is kept :: said == ["hello", "made 1", "done [1]"]
TABLE
serve_stop
fresh
serve_graph map
invoke hello '"initial_state":{"items":["a","b","a"]}',"$full"
facts <<'TABLE'
elements of a map share results :: [said, .data.state.all, .data.state.execution_meta.step] == [["hello", "made 1", "made 2", "made 1"], [1, 2, 1], 5]
TABLE
is "$(ran sets)" 2 'so that two of three run'
serve_stop

serve_graph tools
invoke hello
is "$(ran add)|$(ran fails)" '2|1' 'tools are called'
invoke hello "$full"
facts <<'TABLE'
with equal arguments their results are taken :: [.data.messages[] | select(.role == "tool") | .content[0] | [.call_id, .output]] == [["c1", 2], ["c2", 3], ["c3", "no"]]
TABLE
is "$(ran add)|$(ran fails)" '2|2' 'but those that failed'
invoke hello '"initial_state":{"k":"x"}'
is "$(ran add)" 4 'other values of the key are other results'
api GET /v1/graph
facts <<'TABLE'
the graph shows it :: [.data.nodes[] | select(.id == "tools").cache] == [{"key": ["k"], "ttl": 3600}]
TABLE
serve_stop

done_testing
