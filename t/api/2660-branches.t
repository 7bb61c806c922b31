#!/bin/sh
# SPDX-License-Identifier: ISC
# Branches of a graph, side by side up to their join: what they see, say and set, and how they end.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# does NAME <<TEXT: a program; $state is its input, $text what the user said, ran NAME how often it ran.
does() {
	{
		echo '#!/bin/sh'
		echo 'read -r state; text=${state##*\"user_text\":\"}; text=${text%%\"*}'
		echo "echo >>$1.n"
		cat
	} >"$1"
	chmod +x "$1"
}
ran() { if [ -e "$1.n" ]; then grep -c '' "$1.n"; else echo 0; fi; }

# a and b wait for each other, so they end only side by side; b ends first.
does a <<'SH'
case $text in
meet) : >a.here; until [ -e b.done ]; do sleep 0.02; done ;;
esac
n=$(printf '%s' "$state" | grep -o '"message_id"' | grep -c '')
echo "{\"message\": \"a saw $n\"}"
echo '{"update": {"list": "a", "sum": 1}}'
SH
does a2 <<'SH'
n=$(printf '%s' "$state" | grep -o '"message_id"' | grep -c '')
case $text in
afails) echo '{"error": "a is broken"}'; exit 0 ;;
esac
echo "{\"message\": \"a2 saw $n\"}"
echo '{"update": {"list": "a2", "sum": 10}}'
case $text in clash) echo '{"update": {"word": "from a"}}' ;; esac
SH
does b <<'SH'
case $text in
meet) until [ -e a.here ]; do sleep 0.02; done ;;
long) until [ -e go ]; do sleep 0.02; done ;;
endless) exec sleep 60 ;;
esac
n=$(printf '%s' "$state" | grep -o '"message_id"' | grep -c '')
echo "{\"message\": \"b saw $n\"}"
echo '{"update": {"list": null, "sum": null}}'
echo '{"update": {"list": "b", "sum": 100}}'
case $text in clash) echo '{"update": {"word": "from b"}}' ;; esac
case $text in meet) : >b.done ;; esac
SH
does c <<'SH'
n=$(printf '%s' "$state" | grep -o '"message_id"' | grep -c '')
echo "{\"message\": \"c saw $n\"}"
SH
cat >graph.json <<'JSON'
{"g": {
  "state": {"fields": {"list": {"type": "array", "reducer": "append"}, "sum": {"type": "integer", "reducer": "add"}, "word": {"type": "string"}}},
  "nodes": {
    "a": {"kind": "exec", "command": "./a"},
    "a2": {"kind": "exec", "command": "./a2"},
    "b": {"kind": "exec", "command": "./b"},
    "c": {"kind": "exec", "command": "./c"}
  },
  "edges": [
    {"from": "START", "to": ["a", "b"], "join": "c"},
    {"from": "a", "to": "a2"}, {"from": "a2", "to": "c"},
    {"from": "b", "to": "c"}, {"from": "c", "to": "END"}]}}
JSON
printf '{"agent":"graph.json:g"}\n' >agentgraph.json
api_start --drain 30 || tap_bail 'the service does not start'

invoke meet "$(thread m),\"response_granularity\":\"full\""
is "$STATUS" 200 'branches run side by side'
facts <<'TABLE'
what they said enters in order of declaration, and each saw its own alone :: said == ["meet", "a saw 1", "a2 saw 2", "b saw 1", "c saw 4"]
so do updates, through the reducers, to which null adds nothing :: .data.state | [.list, .sum] == [["a", "a2", "b"], 111]
each execution is a step :: .data.state.execution_meta | [.step, .status, .current_node] == [4, "completed", "END"]
TABLE
api GET /v1/threads/m/messages
facts <<'TABLE'
and so they are stored :: .data.messages | texts == ["meet", "a saw 1", "a2 saw 2", "b saw 1", "c saw 4"]
TABLE
api GET /v1/graph
facts <<'TABLE'
the graph shows the join :: [.data.edges[] | [.source, .target, .join]] == [["START", "a", "c"], ["START", "b", "c"], ["a", "a2", null], ["a2", "c", null], ["b", "c", null], ["c", "END", null]]
TABLE
like "$("$AGENTGRAPH" graph)" 'START +-> a & b => c' 'and so does its drawing'

rm -f a.here b.done
stream meet "$(thread s),\"response_granularity\":\"full\""
chunks <<'TABLE'
chunks of branches say which :: [.[] | select(.metadata.node == "a2" or .metadata.node == "a").metadata.branch] | unique == ["a"]
those of the others as well :: [.[] | select(.metadata.node == "b").metadata.branch] | unique == ["b"]
outside there is none :: [.[] | select(.metadata.node == "c").metadata | has("branch")] | unique == [false]
they come as they happen :: [.[] | select(.event == "message").message | text] | index("b saw 1") < index("a saw 1")
the state is that of the branch :: [.[] | select(.event == "state" and .metadata.node == "a2").state | [.list, .sum]] == [[["a", "a2"], 11]]
behind the join it is that of all :: [.[] | select(.event == "state" and .metadata.node == "c").state | [.list, .sum]] == [[["a", "a2", "b"], 111]]
each node has its own step :: [.[] | select(.event == "updates" and .data.status == "node_invoked").data.step] | sort == [1, 2, 3, 4]
TABLE
api GET /v1/threads/s/messages
facts <<'TABLE'
what is stored has the order of declaration :: .data.messages | texts == ["meet", "a saw 1", "a2 saw 2", "b saw 1", "c saw 4"]
TABLE
invoke again "$(thread s)"
facts <<'TABLE'
the next turn sees everything :: said == ["again", "a saw 6", "a2 saw 7", "b saw 6", "c saw 9"]
TABLE

# ---- the limit, and what goes wrong

invoke x '"recursion_limit":3'
is "$STATUS" 200 'for the limit a region counts as its longest branch'
invoke x '"recursion_limit":2'
facts <<'TABLE'
which is where it ends :: .detail == "Graph execution exceeded recursion limit: 2"
TABLE
invoke x '"recursion_limit":1'
facts <<'TABLE'
or within a branch :: .detail == "Graph execution exceeded recursion limit: 1"
TABLE
invoke clash "$(thread clash)"
is "$STATUS" 500 'two branches cannot set one field that has no reducer'
facts <<'TABLE'
which is told with their names :: [.error_code, .detail] == ["GRAPH_ERROR", "Graph execution failed: branches a and b both set 'word', which has no reducer"]
TABLE
api GET /v1/threads/clash/state
facts <<'TABLE'
then nothing is set :: .data.state | [.word, .list, .sum, .execution_meta.status] == ["", [], 0, "error"]
TABLE
rm -f ./*.n
invoke afails "$(thread fails)"
is "$STATUS|$(ran c)" '500|0' 'a branch that fails ends the run'
facts <<'TABLE'
with its error :: [.detail, .error.details[0].loc] == ["Graph execution failed: a is broken", ["node", "a2"]]
TABLE
api GET /v1/threads/fails/state
facts <<'TABLE'
what others have done is kept :: .data.state | [(.context | texts), .list, .execution_meta.status, .execution_meta.current_node] == [["afails", "a saw 1", "b saw 1"], ["a", "b"], "error", "a2"]
TABLE
rm -f ./*.n
in_background stopped invoke long "$(thread stop)"
arrived() { [ "$(ran a2)" = 1 ] && [ "$(ran b)" = 1 ]; }
wait_for 20 arrived
api POST /v1/graph/stop '{"thread_id":"stop"}'
touch go
collect stopped
is "$STATUS|$(ran c)" '200|0' 'a stop lets branches end their steps'
api GET /v1/threads/stop/state
facts <<'TABLE'
and keeps what they did :: .data.state | [(.context | texts), .list, .execution_meta.status] == [["long", "a saw 1", "a2 saw 2", "b saw 1"], ["a", "a2", "b"], "stopped"]
TABLE
invoke x "$(thread stop)"
is "$STATUS" 200 'the next turn is an ordinary one'

# ---- a rollback

rm -f ./*.n
invoke x "$(thread back)"
api GET /v1/threads/back/messages
before=$(json '.data.messages | map(.message_id) | tojson' "$BODY")
rm -f ./*.n go
in_background rolled invoke long "$(thread back)"
wait_for 30 arrived
in_background back invoke y "$(thread back),\"multitask_strategy\":\"rollback\""
is_ordered() { api GET /v1/threads/back/state && printf '%s' "$BODY" | grep -q '"is_stopped_requested":true'; }
wait_for 30 is_ordered
touch go
collect back
is "$STATUS" 200 'a run in a region can be rolled back'
collect rolled
api GET /v1/threads/back/state
facts <<'TABLE'
then nothing of its branches is there :: .data.state | [(.context | texts | map(select(. == "long")) | length), .sum, (.list | length)] == [0, 222, 6]
TABLE
api GET /v1/threads/back/messages
is "$(json '.data.messages[:5] | map(.message_id) | tojson' "$BODY")" "$before" 'and what was before is'

# ---- a process that dies

rm -f ./*.n
does a2 <<'SH'
until [ -e b.n ]; do sleep 0.02; done # which is a step, too
n=$(printf '%s' "$state" | grep -o '"message_id"' | grep -c '')
echo "{\"message\": \"a2 saw $n\"}"
echo '{"update": {"list": "a2", "sum": 10}}'
SH
does b <<'SH'
case $state in
*'"attempt":1'*) exec sleep 60 ;;
esac
echo '{"message": "b at last"}'
SH
api POST /v1/graph/runs "$(run_body "[$(user x)]" "$(thread bg '"run_id":"r1"')")"
kept() {
	api GET /v1/threads/bg/runs/r1
	[ "$(json .data.step "$BODY")" -ge 2 ] && arrived
}
wait_for 60 kept
for pid in $(children "$SERVE_PID") ${PAIR:+$(children "$(cat "$STATE.2.pid")")}; do
	case $(readlink "/proc/$pid/exe") in */agentgraph-runner) kill -9 "$pid" ;; esac
done
over() {
	api GET /v1/threads/bg/runs/r1
	[ "$(json .data.status "$BODY")" = completed ]
}
ok 'wait_for 60 over' 'a run whose process dies in a region goes on'
is "$(ran a) $(ran a2) $(ran b) $(ran c)" '1 1 2 1' 'and repeats no branch that had arrived'
api GET /v1/threads/bg/messages
facts <<'TABLE'
what was said enters once, in order :: .data.messages | texts == ["x", "a saw 1", "a2 saw 2", "b at last", "c saw 4"]
TABLE
api GET /v1/threads/bg/state
facts <<'TABLE'
so do updates :: .data.state | [.list, .sum, .execution_meta.step] == [["a", "a2"], 11, 5]
TABLE
rm -f ./*.n
does b <<'SH'
sleep 2
echo '{"message": "b in time"}'
SH
api POST /v1/graph/runs "$(run_body "[$(user x)]" "$(thread gb '"run_id":"r1"')")"
wait_for 30 arrived
for pid in $(children "$SERVE_PID"); do
	case $(readlink "/proc/$pid/exe") in */agentgraph-runner) kill -TERM "$pid" ;; esac
done
over() {
	api GET /v1/threads/gb/runs/r1
	[ "$(json .data.status "$BODY")" = completed ]
}
ok 'wait_for 60 over' 'a run whose process is told to end goes on in another one'
facts <<'TABLE'
in the same attempt :: .data | [.attempt, .step] == [1, 4]
TABLE
is "$(ran a) $(ran a2) $(ran b) $(ran c)" '1 1 1 1' 'where each branch was after its step'
api GET /v1/threads/gb/messages
facts <<'TABLE'
with all that was said :: .data.messages | texts == ["x", "a saw 1", "a2 saw 2", "b in time", "c saw 4"]
TABLE
serve_stop

# ---- regions in regions, ways that rules choose, failures that lead elsewhere

cat >broken <<'SH'
#!/bin/sh
echo >>broken.n
echo '{"error": "no"}'
SH
chmod +x broken
cat >graph.json <<'JSON'
{"g": {
  "state": {"fields": {"n": {"type": "integer", "reducer": "add"}, "w": {"type": "string"}}},
  "nodes": {
    "first": {"kind": "reply", "text": "first"},
    "a": {"kind": "reply", "text": "a{{n}}", "update": {"n": 1}},
    "a1": {"kind": "reply", "text": "a1", "update": {"n": 10}},
    "a2": {"kind": "reply", "text": "a2", "update": {"w": "a2"}},
    "b": {"kind": "reply", "text": "b{{n}}", "update": {"n": 100}},
    "b1": {"kind": "exec", "command": "./broken", "retry": {"attempts": 2, "initial": 0}, "on_error": "b2"},
    "b2": {"kind": "reply", "text": "b2: {{error}} {{n}}"},
    "c": {"kind": "reply", "text": "c"},
    "last": {"kind": "reply", "text": "last {{n}}{{w}} {{error}}"}
  },
  "edges": [
    {"from": "START", "to": "first"},
    {"from": "first", "to": ["a", "b", "c"], "join": "last"},
    {"from": "a", "to": ["a1", "a2"], "join": "last"},
    {"from": "a1", "if": [{"when": {"field": "n", "gte": 31}, "to": "last"}], "else": "a1"}, {"from": "a2", "to": "last"},
    {"from": "b", "to": "b1"}, {"from": "b1", "to": "last"}, {"from": "b2", "to": "last"},
    {"from": "c", "to": "last"}, {"from": "last", "to": "END"}]},
 "end": {
  "nodes": {"a": {"kind": "reply", "text": "a"}, "b": {"kind": "reply", "text": "b"}},
  "edges": [{"from": "START", "to": ["a", "b"], "join": "END"}, {"from": "a", "to": "END"}, {"from": "b", "to": "END"}]}}
JSON
for members in '' ',"graph":{"parallel":1}' ',"graph":{"parallel":2},"history":{"level":"steps"}'; do
	printf '{"agent":"graph.json:g"%s}\n' "$members" >agentgraph.json
	rm -f broken.n
	stream x "$(thread t)"
	chunks <<'TABLE'
a region in a region has a longer name :: [.[] | select(.metadata.node == "a1" or .metadata.node == "a2").metadata.branch] | unique == ["a/a1", "a/a2"]
TABLE
	is "$(ran broken)" 2 "retries are a branch's own${members:+ with $members}"
	api GET /v1/threads/t/messages
	facts <<'TABLE'
all enters in order of declaration :: .data.messages | texts == ["x", "first", "a0", "a1", "a1", "a1", "a2", "b0", "b2: no 100", "c", "last 131a2 no"]
TABLE
	invoke x "$(thread t)"
	is "$STATUS" 200 'and a second turn does as well'
	serve_stop
done
printf '{"agent":"graph.json:end"}\n' >agentgraph.json
invoke x
facts <<'TABLE'
END may be the join :: said == ["x", "a", "b"]
TABLE
n=0
while [ $n -lt 8 ]; do
	n=$((n + 1))
	in_background "c$n" invoke x
done
good=0
while [ $n -gt 0 ]; do
	collect "c$n"
	[ "$STATUS" != 200 ] || good=$((good + 1))
	n=$((n - 1))
done
is $good 8 'many at a time are no more than one at a time'

done_testing
