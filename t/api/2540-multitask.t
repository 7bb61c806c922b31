#!/bin/sh
# SPDX-License-Identifier: ISC
# multitask_strategy: what a run does when another one has its thread.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
: "${AGENTGRAPH_WS:=$(dirname "$AGENTGRAPH")/agentgraph-ws}"

texts() {
	api GET "/v1/threads/$1/messages"
	json "$facts_words"'.data.messages | texts | join("|")' "$BODY"
}
state() { api GET "/v1/threads/$1/state"; }
# as STRATEGY THREAD: the members of a run.
as() { printf '%s,"multitask_strategy":"%s","response_granularity":"full","recursion_limit":100' "$(thread "$2")" "$1"; }
ticked() { state "$1" && printf '%s' "$BODY" | grep -q "\"tick ${2:-1}\""; }
# long THREAD [invoke|stream]: a run in flight that has stored something, answered as `collect long`.
long() {
	in_background long "${2:-invoke}" '/slow 100 300' "$(as enqueue "$1")"
	wait_for 20 ticked "$1"
}
# frame THREAD STRATEGY TEXT: sets BODY to the chunks that a socket says.
frame() {
	printf 'T%s\n' "$(run_body "[$(user "$3")]" "$(as "$2" "$1")")" >in
	"$AGENTGRAPH_WS" --by-hand --state "$STATE" <in 2>>"$WORK/log" | sed -n 's/^T//p' >out
	BODY=$(cat out)
}

# ---- values

invoke hello "$(as enqueue free)"
for strategy in enqueue reject interrupt rollback; do
	for route in invoke stream; do
		$route hello "$(as $strategy free)"
		is "$STATUS" 200 "$route with $strategy runs on a free thread"
		$route hello "$(as $strategy "new-$strategy-$route")"
		is "$STATUS" 200 'and on a new one'
	done
	frame free $strategy hello
	chunks <<'TABLE'
so does a frame :: finals[0] | text == "echo: hello"
TABLE
done
is "$(texts free)" "$(printf 'hello|echo: hello|%.0s' $(seq 13) | sed 's/|$//')" 'none is lost'
said='multitask_strategy must be one of enqueue, reject, interrupt, rollback'
for value in '""' '"Reject"' '"rollback "' 7 true '[]' '{}' '["reject"]'; do
	for route in invoke stream; do
		api POST "/v1/graph/$route" "$(run_body "[$(user x)]" "\"multitask_strategy\":$value")"
		is "$STATUS|$(json '"\(.error_code)|\(.detail)|\(.error.details[0].loc | join("."))"' "$BODY")" \
			"422|VALIDATION_ERROR|$said|body.multitask_strategy" "$route refuses $value"
	done
done
printf 'T%s\n' "$(run_body "[$(user x)]" '"multitask_strategy":"later"')" >in
"$AGENTGRAPH_WS" --by-hand --state "$STATE" <in 2>>"$WORK/log" | sed -n 's/^T//p' >out
is "$(jq -r '.data.reason' out)" "Invalid request: $said" 'a frame is refused for it as well'
api POST /v1/graph/invoke "$(run_body "[$(user x)]" '"multitask_strategy":null')"
is "$STATUS" 200 'null is as if it were not there'

# ---- reject

long r
for route in invoke stream; do
	$route x "$(as reject r)"
	is "$STATUS|$(json '"\(.error_code)|\(.detail)"' "$BODY")" \
		'409|THREAD_BUSY|Thread r is busy with another run' "$route that rejects is refused while another run goes on"
done
frame r reject x
is "$(json '"\(.event)|\(.data.error_code)|\(.run_id)"' "$BODY")" 'error|THREAD_BUSY|null' 'a frame as well'
is_running r
ok $? 'which is not disturbed'
in_background waits invoke waited "$(as enqueue r)"
api POST /v1/graph/stop '{"thread_id":"r"}'
collect long
collect waits
is "$STATUS" 200 'nor is one that waits'
unlike "$(texts r)" '(^|[|])x([|]|$)' 'nothing of them is stored'

# ---- interrupt

long i
in_background first invoke first "$(as enqueue i)"
sleep 0.3
invoke now "$(as interrupt i)"
is "$STATUS" 200 'one that interrupts has its answer'
facts <<'TABLE'
to what was said :: said == ["now", "echo: now"]
TABLE
collect long
is "$STATUS" 200 'the run in flight is answered'
facts <<'TABLE'
with the messages so far :: said | .[0] == "/slow 100 300" and length >= 2 and length < 100 and (.[1:] | all(test("^tick [0-9]+$")))
as one that was stopped :: .data.state.execution_meta | [.status, .is_running, .stop_current_execution] == ["stopped", false, "stopped"]
TABLE
collect first
is "$STATUS" 200 'one that waited is not stopped'
[ -n "$PAIR" ] || # who waits stands in line in each instance
	like "$(texts i)" '^/slow 100 300(\|tick [0-9]+)+\|now\|echo: now\|first\|echo: first$' 'but overtaken'

long s stream
frame s interrupt now
chunks <<'TABLE'
a frame interrupts :: finals | texts == ["echo: now"]
TABLE
collect long
chunks <<'TABLE'
a stream that is interrupted ends as with stop :: events[-3:] == ["node_invoked", "stopped", "done"]
and its state is what it left :: .[-2].state | (.execution_meta.status == "stopped") and (.context | texts | .[0] == "/slow 100 300" and length >= 2)
TABLE

# ---- rollback

invoke '/note one' "$(as enqueue b)"
messages=$(texts b)
long b stream
stream now "$(as rollback b)"
chunks <<'TABLE'
one that rolls back sees the thread as it was :: .[-2].state.context | texts == ["/note one", "noted", "now", "echo: now"]
with its state :: .[-2].state.notes == ["one"]
TABLE
collect long
chunks <<'TABLE'
the stream that is rolled back ends as one that was stopped :: events[-2:] == ["stopped", "done"]
it has shown what it made :: finals | texts | .[0] == "tick 1"
its last state is the one that it put back :: .[-2].state | [.execution_meta.status, .notes, (.context | texts)] == ["stopped", ["one"], ["/note one", "noted"]]
TABLE
is "$(texts b)" "$messages|now|echo: now" 'none of its messages is left'
long b
in_background other api POST /v1/threads/b/messages "$(run_body "[$(user outside)]")"
sleep 0.3
frame b rollback then
collect long
is "$STATUS" 200 'the answer is that of a run that was stopped'
facts <<'TABLE'
with its messages :: said | .[0] == "/slow 100 300" and .[1] == "tick 1"
and the thread as it is :: .data.context | texts | .[-1] == "echo: now"
TABLE
collect other
is "$STATUS" 200 'messages from outside that waited are stored'
stored=$(texts b)
# Who waits stands in line in each instance.
[ -z "$PAIR" ] || stored=$(printf '%s' "$stored" | sed 's/|outside|then|echo: then$/|then|echo: then|outside/')
is "$stored" "$messages|now|echo: now|then|echo: then|outside" 'and stay'


api GET '/v1/threads/b/runs?status=stopped'
facts <<'TABLE'
the records say that they were stopped :: .data.runs | map(.status) == ["stopped", "stopped"]
in a node, after some steps :: .data.runs | all(.node == "agent" and .step >= 1 and .error == null and .finished_at != null)
TABLE
api GET "/v1/threads/b/runs/$(json '.data.runs[0].run_id' "$BODY")/result"
is "$STATUS|$(json '.data.messages | length' "$BODY")" '200|0' 'their results have no messages any more'

long n
invoke now "$(as rollback n)"
facts <<'TABLE'
the first run of a thread leaves an empty one :: [.data.meta.is_new_thread, (.data.context | texts)] == [false, ["now", "echo: now"]]
TABLE
collect long
is "$(texts n)" 'now|echo: now' 'to the next'
long n
none='{"messages":[{"role":"user","content":[{"type":"image","file_id":"0123456789abcdef0123456789abcdef"}]}]'
api POST /v1/graph/invoke "$none,$(as rollback n)}"
is "$STATUS $(json .detail "$BODY")" '422 File not found: 0123456789abcdef0123456789abcdef' 'what is refused'
api POST /v1/graph/runs "$none,$(as rollback n)}"
is "$STATUS" 422 'also for the background'
ok 'is_running n' 'rolls nothing back'
api POST /v1/graph/stop '{"thread_id":"n"}'
collect long

# ---- bursts

# burst STRATEGY: twenty runs at once; sets texts and the number of those that were answered 200.
burst() {
	for k in $(seq 20); do
		in_background "$1$k" invoke "/slow 3 40 $k" "$(as "$1" "burst-$1")"
	done
	answered=0
	for k in $(seq 20); do
		collect "$1$k"
		case $STATUS in 200) answered=$((answered + 1)) ;; 409) ;; *) diag "status $STATUS: $BODY" && answered=-99 ;; esac
	done
	stored=$(texts "burst-$1")
	whole=$(printf '%s' "$stored" | tr '|' '\n' | awk '
		/^\/slow/ { runs++; if (seen[$0]++) bad++; tick = 0; over = 0; next }
		/^tick/ { if ($2 != ++tick || over) bad++; next }
		/^done$/ { if (tick != 3) bad++; over = 1; whole++; next }
		{ bad++ }
		END { print runs + 0, whole + 0, bad + 0 }')
}
burst enqueue
is "$answered $whole" "$answered $answered $answered 0" "of a burst that waits each of the $answered that were served is whole"
burst reject
is "$whole" "$answered $answered 0" "of one that rejects the $answered that found the thread free"
[ "$answered" -ge 1 ]
ok $? 'at least one of them'
burst interrupt
is "${whole%% *} ${whole##* }" "$answered 0" "of one that interrupts each of the $answered is there once"
burst rollback
runs=${whole%% *}
is "$whole" "$runs $runs 0" "of one that rolls back $runs of $answered are there, and each is whole"
[ "$runs" -ge 1 ] && [ "$runs" -le "$answered" ]
ok $? 'the last one at least'
serve_stop

# ---- nodes that look at nothing, and what they leave

# The node says what the text wants when nothing holds it, and notes which process it belongs to.
cat >node.sh <<'SH'
#!/bin/sh
echo $PPID >worker
while [ -e holds ]; do sleep 0.02; done
jq -c '.user_text | fromjson'
SH
cat >after.sh <<'SH'
#!/bin/sh
while [ -e holds ]; do sleep 0.02; done
echo '{"message":"after"}'
SH
chmod +x node.sh after.sh
cat >graph.json <<'JSON'
{"g": {"nodes": {"agent": {"kind": "exec", "command": "./node.sh"}, "tools": {"kind": "tools", "tools": []},
  "after": {"kind": "exec", "command": "./after.sh"}},
 "edges": [{"from": "START", "to": "agent"}, {"from": "agent", "if": [{"when": {"tool_calls": true}, "to": "tools"}], "else": "END"},
  {"from": "tools", "to": "after"}, {"from": "after", "to": "END"}]}}
JSON
printf '%s\n' '{"agent":"graph.json:g","runs":{"wait_timeout":20},"remote_tools":[{"node":"tools","name":"far","description":"At the client"}]}' >agentgraph.json
say() { printf '{\\"message\\":\\"%s\\"}' "$1"; }
asked() { state "$1" && printf '%s' "$BODY" | grep -q '"is_stopped_requested":true'; }
# rolled THREAD COMMAND...: what the command runs is held until it is asked to stop by one that rolls back.
rolled() {
	thread=$1
	shift
	: >holds
	in_background held "$@"
	wait_for 20 is_running "$thread"
	in_background next invoke "$(say next)" "$(as rollback "$thread")"
	wait_for 20 asked "$thread"
	rm holds
	collect held
}

rolled ends invoke "$(say first)" "$(as enqueue ends)"
is "$STATUS|$(json '.data.state.execution_meta.status' "$BODY")" '200|stopped' 'a run is rolled back in its last node, too'
collect next
is "$(texts ends)" '{"message":"next"}|next' 'and leaves nothing'

rolled fails invoke '{\"error\":\"broken\"}' "$(as enqueue fails)"
is "$STATUS|$(json .error_code "$BODY")" '500|NODE_ERROR' 'one that fails says so'
collect next
is "$STATUS $(texts fails)" '200 {"message":"next"}|next' 'and leaves nothing either'

invoke '{\"interrupt\":{\"value\":\"which?\"}}' "$(as enqueue pauses)"
question=$(json .data.meta.interrupt "$BODY")
like "$question" 'which' 'a thread is paused'
rolled pauses resume '"that"' pauses
collect next
is "$(json .data.meta.interrupt "$BODY")" "$question" 'when its answer is rolled back it is paused again, at the same question'
state pauses
is "$(json '.data.state.execution_meta.interrupt' "$BODY")" "$question" 'and says so'

invoke '{\"message\":{\"content\":[{\"type\":\"remote_tool_call\",\"id\":\"c1\",\"name\":\"far\",\"args\":{}}]}}' "$(as enqueue waits)"
state waits
is "$(json '.data.state.execution_meta.interrupt_data.call_ids[0]' "$BODY")" c1 'a call waits at the client'
: >holds
in_background held api POST /v1/graph/invoke "$(run_body "[$(answer c1 '"one"')]" "$(thread waits)")"
wait_for 20 is_running waits
in_background next api POST /v1/graph/invoke "$(run_body "[$(answer c1 '"two"')]" "$(as rollback waits)")"
wait_for 20 asked waits
rm holds
collect held
is "$STATUS" 200 'its answer is taken back while the run goes on'
collect next
is "$STATUS|$(json "$facts_words"'said[-1]' "$BODY")" '200|after' 'so that it can be answered anew'
api GET /v1/threads/waits/messages
is "$(json '[.data.messages[].content[] | select(.type == "tool_result").output] | join("|")' "$BODY")" two 'and has that answer alone'

# ---- calls of a run that was stopped

: >holds
in_background held invoke '{\"message\":{\"content\":[{\"type\":\"remote_tool_call\",\"id\":\"c2\",\"name\":\"far\",\"args\":{}}]}}' "$(as enqueue calls)"
wait_for 20 is_running calls
in_background next invoke "$(say next)" "$(as interrupt calls)"
wait_for 20 asked calls
rm holds
collect held
is "$(json '.data.state.execution_meta | "\(.status) \(.interrupt_reason)"' "$BODY")" 'stopped null' 'the calls of a run that was stopped wait for nobody'
collect next
is "$STATUS|$(json "$facts_words"'said[-1]' "$BODY")" '200|next' 'and the next run goes its own way'

# ---- time, and death

serve_stop
sed 's/"wait_timeout":20/"wait_timeout":0.3/' agentgraph.json >short.json && mv short.json agentgraph.json
api_start --processes 2
: >holds
in_background held invoke "$(say first)" "$(as enqueue late)"
wait_for 20 is_running late
invoke "$(say second)" "$(as rollback late)"
is "$STATUS|$(json .error_code "$BODY")" '409|THREAD_BUSY' 'one that waited in vain is refused'
rm holds
collect held
is "$(json '.data.state.execution_meta.status' "$BODY")" stopped 'what it asked for happens all the same'
is "$(texts late)" '' 'the thread is put back'
serve_stop
sed 's/"wait_timeout":0.3/"wait_timeout":20/' agentgraph.json >long.json && mv long.json agentgraph.json

api_start --processes 2
rm -f worker
: >holds
in_background held invoke "$(say first)" "$(as enqueue dies)"
wait_for 20 test -s worker
in_background next invoke "$(say next)" "$(as rollback dies)"
wait_for 20 asked dies
kill -9 "$(cat worker)"
rm holds
collect held
collect next
replaced() { invoke "$(say after)" "$(as rollback dies)" && [ "$STATUS" = 200 ]; }
wait_for 20 replaced
ok $? 'a run whose process dies before it is rolled back lets the next one in'
like "$(texts dies)" '^\{"message":"first"\}\|(\{"message":"next"\}\|next\|)?\{"message":"after"\}\|after$' 'the thread is as the dead run left it'

done_testing
