#!/bin/sh
# SPDX-License-Identifier: ISC
# Runs in the background whose process is killed, ends, or is replaced: they go on after the last completed node, only
# once.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# A node writes down that it was executed, in which attempt, and what it saw.  It waits as long as hold-NODE is there, and
# kills its process where deadly-NODE says so for its run.
cat >node.sh <<'SH'
#!/bin/sh
input=$(cat)
name=$1 run=$AGENTGRAPH_RUN_ID
attempt=$(printf '%s' "$input" | sed 's/.*"attempt":\([0-9]*\).*/\1/')
echo "$name $run $attempt" >>executed
while [ -e "hold-$name" ]; do sleep 0.05; done
if [ -e "deadly-$name-$run" ]; then
	kill -9 "$PPID"
	sleep 10
fi
case $name in
ask)
	printf '%s' "$input" | jq -c 'if .answers == [] then {interrupt: {value: "why"}} else {message: "asked: \(.answers)"} end'
	;;
call) echo '{"message": {"role": "assistant", "content": [{"type": "tool_call", "id": "c1", "name": "tool", "args": {}}]}}' ;;
*)
	printf '%s' "$input" | jq -c --arg name "$name" \
		'{update: {marks: [$name]}}, {message: "\($name) after \([.context[].content[]? | .text? // empty] | length)"}'
	;;
esac
SH
cat >tool.sh <<'SH'
#!/bin/sh
echo "tool $AGENTGRAPH_RUN_ID" >>executed
while [ -e hold-tool ]; do sleep 0.05; done
echo '"done"'
SH
chmod +x node.sh tool.sh
node() { printf '"%s": {"kind": "exec", "command": ["./node.sh", "%s"]}' "$1" "$1"; }
cat >graph.json <<JSON
{"g": {"state": {"fields": {"marks": {"type": "array", "reducer": "append"}}},
  "nodes": {$(node a), $(node b), $(node c), $(node ask), $(node call), $(node last),
   "tools": {"kind": "tools", "tools": [{"kind": "exec", "name": "tool", "description": "Does it", "command": ["./tool.sh"]}]}},
  "edges": [
   {"from": "START", "if": [{"when": {"user_text": {"equals": "ask"}}, "to": "ask"},
    {"when": {"user_text": {"equals": "call"}}, "to": "call"}], "else": "a"},
   {"from": "a", "to": "b"}, {"from": "b", "to": "c"}, {"from": "c", "to": "END"},
   {"from": "ask", "to": "last"}, {"from": "call", "to": "tools"}, {"from": "tools", "to": "last"},
   {"from": "last", "to": "END"}]}}
JSON
configure() { printf '{"agent":"graph.json:g","langgraph":{"enabled":true},"runs":{"background":%s}}\n' "$1" >agentgraph.json; }
configure 4

# queue THREAD RUN TEXT [MEMBERS]
queue() { api POST /v1/graph/runs "$(run_body "[$(user "$3")]" "$(thread "$1" "\"run_id\":\"$2\"")${4:+,$4}")"; }
record() { api GET "/v1/threads/$1/runs/$2"; }
over() {
	record "$1" "$2"
	case $(json .data.status "$BODY") in queued | running | null) return 1 ;; esac
}
# ends THREAD RUN: what the run came to is then RECORD.
ends() {
	wait_for 30 over "$1" "$2"
	RECORD=$(json '.data | "\(.status) \(.attempt) \(.step)"' "$BODY")
}
texts() {
	api GET "/v1/threads/$1/messages"
	json "$facts_words"'.data.messages | texts | map(select(. != "")) | join("|")' "$BODY"
}
executed() { awk -v run="$1" '$2 == run { printf "%s%s%s", found++ ? " " : "", $1, $3 }' executed; }
reaches() { executed "$1" | grep -q "$2"; }
# runners [--job]: processes that execute runs.
runners() {
	for pid in $(children "$SERVE_PID"); do
		case $(readlink "/proc/$pid/exe") in */agentgraph-runner) echo "$pid" ;; esac
	done
}
apart() {
	for pid in $(runners); do
		for child in $(children "$pid"); do
			tr '\0' ' ' <"/proc/$child/cmdline" | grep -q -e '--job' && echo "$child"
		done
	done | grep .
}
# kill_runners: until they are gone, as one that is about to die may still take an order.
kill_runners() {
	for pid in $(runners); do
		kill -9 "$pid"
		wait_for 20 gone "$pid"
	done
}

api_start || tap_bail 'the service does not start'
for pid in $(runners); do
	like "$(tr '\0' '\n' <"/proc/$pid/environ")" '^GLIBC_TUNABLES=' 'who executes them keeps freed memory as workers do'
done

# ---- in a node

touch hold-b
queue t1 r1 hello
wait_for 20 reaches r1 b1
kill_runners
rm hold-b
ends t1 r1
is "$RECORD" 'completed 2 3' 'a run whose process was killed in a node goes on'
is "$(executed r1)" 'a1 b1 b2 c2' 'from the node that it was in, which knows that it is executed again'
is "$(texts t1)" 'hello|a after 1|b after 2|c after 3' 'each message is there once, and nodes saw those before'
api GET /v1/threads/t1/state
is "$(json '.data.state.marks | join(" ")' "$BODY")" 'a b c' 'what nodes set, too'
api GET /v1/threads/t1/runs/r1/result
is "$(json "$facts_words"'said | join("|")' "$BODY")" 'hello|a after 1|b after 2|c after 3' 'its result has all of it'
queue t1 r2 again
ends t1 r2
is "$RECORD" 'completed 1 3' 'the thread goes on'

# ---- at a checkpoint

queue br start hello
ends br start
api GET '/v1/threads/br/history?limit=1'
end=$(json '.data.history[0].checkpoint_id' "$BODY")
queue br later more
ends br later
whole=$(texts br)
# at CHECKPOINT RUN TEXT [MEMBERS]: a run that begins there.
at() { api POST /v1/graph/runs "$(run_body "[$(user "$3")]" "$(thread br "\"run_id\":\"$2\",\"checkpoint_id\":\"$1\"")${4:+,$4}")"; }
touch hold-b
at "$end" at1 there
wait_for 20 reaches at1 b1
kill_runners
rm hold-b
ends br at1
is "$RECORD|$(executed at1)" 'completed 2 3|a1 b1 b2 c2' 'one that began at a checkpoint goes on as well'
is "$(texts br)" 'hello|a after 1|b after 2|c after 3|there|a after 5|b after 6|c after 7' 'in its branch'
touch hold-b
api GET '/v1/threads/br/history?run_id=later'
at "$(json '.data.history[0].checkpoint_id' "$BODY")" at2 further
wait_for 20 reaches at2 b1
kill_runners
wait_for 30 reaches at2 b2
in_background rolled invoke new "$(thread br),\"multitask_strategy\":\"rollback\""
asked() { api GET /v1/threads/br/state && [ "$(json .data.state.execution_meta.is_stopped_requested "$BODY")" = true ]; }
wait_for 20 asked
rm hold-b
collect rolled
is "$(texts br)" 'hello|a after 1|b after 2|c after 3|there|a after 5|b after 6|c after 7|new|a after 9|b after 10|c after 11' \
	'a rollback of a later attempt puts the thread back to where it was before the checkpoint'
api POST /v1/threads/br/rewind "{\"checkpoint_id\":\"$(api GET '/v1/threads/br/history?run_id=later'; json '.data.history[0].checkpoint_id' "$BODY")\"}"
is "$(texts br)" "$whole" 'which can still be gone back to'

# ---- nodes that kill, and others

touch hold-c
queue t2 innocent hello
wait_for 20 reaches innocent c1
touch deadly-b-deadly
queue t3 deadly hello
wait_for 20 reaches deadly b2
wait_for 20 reaches innocent c2
ok $? 'a node that kills its process takes others with it once'
rm hold-c
ends t3 deadly
is "$RECORD $(json '.data.error | "\(.code) \(.message)"' "$BODY")" 'error 3 1 RUN_LOST Run deadly was lost 3 times' \
	'a run that was lost three times is an error'
is "$(executed deadly)" 'a1 b1 b2 b3' 'after three attempts'
api GET /v1/threads/t3/runs/deadly/result
is "$STATUS $(json .error_code "$BODY")" '500 RUN_LOST' 'its result says so'
ends t2 innocent
is "$RECORD" 'completed 2 3' 'the others go on'
is "$(executed innocent)" 'a1 b1 c1 c2' 'and are killed no more'
queue t3 after hello
ends t3 after
is "$RECORD" 'completed 1 3' 'the thread is free then'

touch hold-b
queue t4 apart hello
wait_for 20 reaches apart b1
kill_runners
wait_for 20 reaches apart b2
ok "wait_for 30 apart" 'a later attempt has a process of its own'
queue t5 beside ask
ends t5 beside
is "$RECORD" 'interrupted 1 1' 'beside which others are executed'
kill_runners
rm hold-b
ends t4 apart
is "$RECORD" 'completed 2 3' 'which ends in order when the one that started it dies'

# ---- before it starts

is_executing() { [ -n "$(runners)" ]; }
wait_for 20 is_executing
for pid in $(runners); do
	kill -STOP "$pid"
	stopped=$pid
done
queue t6 early hello
kill -9 "$stopped"
ends t6 early
is "$RECORD" 'completed 1 3' 'a run that was queued meanwhile is executed'

# ---- claimed, but not begun

if command -v sqlite3 >/dev/null; then
	touch hold-a
	in_background front invoke hello "$(thread t26 '"run_id":"front"')"
	wait_for 20 reaches front a1
	queue t26 behind hello
	claimer= was=
	claimed_anew() {
		claimer=$(outside "$STATE/threads.db" "SELECT claimer FROM jobs WHERE run_id = 'behind' AND state = 3")
		[ -n "$claimer" ] && [ "$claimer" != "$was" ]
	}
	for _ in 1 2 3; do
		wait_for 20 claimed_anew || break
		was=$claimer
		kill_runners
	done
	wait_for 20 claimed_anew
	ok $? 'a run that waits for its thread is claimed again, however often that process is killed'
	rm hold-a
	collect front
	ends t26 behind
	is "$RECORD $(executed behind)" 'completed 1 3 a1 b1 c1' 'none of which was an attempt'
fi

# ---- between a node and what it leaves

if command -v sqlite3 >/dev/null; then
	touch hold-a
	queue t7 unwritten hello
	wait_for 20 reaches unwritten a1
	is_begun() { record t7 unwritten && [ "$(json .data.status "$BODY")" = running ]; }
	wait_for 20 is_begun
	lock_threads "$STATE" 6
	rm hold-a
	sleep 0.5
	kill_runners
	wait "$lock_pid"
	ends t7 unwritten
	is "$RECORD" 'completed 2 3' 'a run that was killed before its node was on disk goes on'
	is "$(executed unwritten)" 'a1 a2 b2 c2' 'the node is executed once more'
	is "$(texts t7)" 'hello|a after 1|b after 2|c after 3' 'and has left its message once'
fi

# ---- what a run goes on with

queue t8 asks ask
ends t8 asks
touch hold-ask
api POST /v1/graph/runs "{\"resume\":\"because\",$(thread t8 '"run_id":"answers"')}"
wait_for 20 reaches answers ask1
kill_runners
rm hold-ask
ends t8 answers
is "$RECORD" 'completed 2 2' 'a run that resumes goes on'
is "$(texts t8)" 'ask|asked: ["because"]|last after 2' 'with the answer that it was given'

touch hold-tool
queue t9 calls call
wait_for 20 reaches calls tool
kill_runners
rm hold-tool
ends t9 calls
is "$RECORD" 'completed 2 3' 'a run goes on in a tool'
is "$(executed calls)" 'call1 tool tool last2' 'that a node before had asked for'
is "$(texts t9)" 'call|last after 1' 'and leaves its result once'

touch hold-b
queue t10 kept 'put back'
ends t10 kept & # in vain: only to look while it runs
wait_for 20 reaches kept b1
kill_runners
wait_for 20 reaches kept b2
in_background waiter invoke hello "$(thread t10),\"multitask_strategy\":\"rollback\""
is_ordered() { api GET /v1/threads/t10/state && printf '%s' "$BODY" | grep -q '"is_stopped_requested":true'; }
wait_for 20 is_ordered
ok $? 'a rollback is ordered of a later attempt'
rm hold-b
collect waiter
is "$STATUS" 200 'a later attempt can be rolled back'
ends t10 kept
is "$RECORD" 'stopped 2 2' 'it is stopped then'
is "$(texts t10)" 'hello|a after 1|b after 2|c after 3' 'and has left nothing'

touch hold-b
queue t11 held hello
wait_for 20 reaches held b1
in_background waiter invoke later "$(thread t11)"
kill_runners
sleep 0.2
rm hold-b
ends t11 held
collect waiter
is "$RECORD $STATUS" 'completed 2 3 200' 'a thread whose run is to go on is busy'
is "$(texts t11)" 'hello|a after 1|b after 2|c after 3|later|a after 5|b after 6|c after 7' 'nobody comes between'

touch hold-b
queue t12 ended hello
wait_for 20 reaches ended b1
queue t12 next hello '"delay":600'
kill_runners
api POST /v1/threads/t12/runs/ended/stop
rm hold-b
ends t12 ended
like "$RECORD" '^stopped' 'a run can be stopped while nobody executes it'
api POST /v1/graph/stop '{"thread_id":"t12"}'

# an order that a process does not live to heed
touch hold-b
queue t17 told hello
wait_for 20 reaches told b1
for pid in $(runners); do
	kill -STOP "$pid"
done
api POST /v1/graph/stop '{"thread_id":"t17"}'
is "$(json .data.running "$BODY")" true 'a process that is about to die is told to stop its run'
kill_runners
rm hold-b
ends t17 told
is "$RECORD" 'stopped 2 1' 'which is stopped all the same'
is "$(executed told)" 'a1 b1' 'without another look at its node'
is "$(texts t17)" 'hello|a after 1' 'its messages stay'

queue t18 first hello
ends t18 first
before=$(texts t18)
touch hold-b
queue t18 left again
wait_for 20 reaches left b1
kill -STOP "$SERVE_PID"
kill_runners
queue t18 replacing 'say it' '"multitask_strategy":"rollback"'
is "$STATUS" 202 'a run that nobody has at present is rolled back'
kill -CONT "$SERVE_PID"
rm hold-b
ends t18 replacing
is "$RECORD" 'completed 1 3' 'for one that follows'
ends t18 left
is "$RECORD $(executed left)" 'stopped 2 1 a1 b1' 'it is stopped, and no node is executed'
is "$(texts t18)" "$before|say it|a after 5|b after 6|c after 7" 'the thread is put back before'
api GET /v1/threads/t18/state
is "$(json '.data.state.marks | join(" ")' "$BODY")" 'a b c a b c' 'with its state'

touch hold-b
queue t19 other hello
wait_for 20 reaches other b1
kill -STOP "$SERVE_PID"
kill_runners
in_background waiter invoke asked "$(thread t19),\"multitask_strategy\":\"rollback\""
kill -CONT "$SERVE_PID"
rm hold-b
collect waiter
is "$STATUS $(texts t19)" '200 asked|a after 1|b after 2|c after 3' 'for a request as well'

# ---- the service ends, is replaced, is killed

touch hold-b
queue t13 reloaded hello
wait_for 20 reaches reloaded b1
old=$(runners)
kill -HUP "$SERVE_PID"
replaced() { runners | grep -qvx "$old"; }
wait_for 20 replaced
ok $? 'a reload starts another process'
sleep 0.5
rm hold-b
ends t13 reloaded
is "$RECORD" 'completed 1 3' 'runs in hand get their time'
is "$(texts t13)" 'hello|a after 1|b after 2|c after 3' 'and lose nothing'
wait_for 20 gone "$old"

touch hold-b
queue t14 given hello
wait_for 20 reaches given b1
queue t14 behind hello
queue t15 delayed hello '"delay":2'
state=$STATE
serve_stop
is $? 0 'the service ends with a run in hand'
STATE=$state
api_start
rm hold-b
ends t14 given
is "$RECORD" 'completed 1 3' 'which was given back and goes on in the same attempt'
like "$(texts t14)" '^hello\|a after 1\|b after 2\|c after 3(\||$)' 'after the node that had ended'
ends t14 behind
is "$RECORD" 'completed 1 3' 'what was queued is executed'
ends t15 delayed
is "$RECORD" 'completed 1 3' 'and what was delayed'

# On a busy machine its process may get no processor until long after the end of the drain.
serve_stop
STATE=$state
api_start --drain 1
touch hold-b
queue t21 slow hello
wait_for 20 reaches slow b1
slow=$(runners)
kill -STOP $slow
(
	sleep 3
	kill -CONT $slow
) &
serve_stop
is $? 0 'the service ends with a runner that is slow'
STATE=$state
api_start
rm hold-b
ends t21 slow
is "$RECORD" 'completed 1 3' 'which has the time to give its run back'

touch hold-b
queue t26 hasty hello
wait_for 20 reaches hasty b1
state=$STATE
kill "$SERVE_PID"
sleep 0.1
serve_stop
STATE=$state
api_start
rm hold-b
ends t26 hasty
is "$RECORD" 'completed 1 3' 'one that is told to end twice in a moment does so, too'

touch hold-b
queue t16 killed hello
wait_for 20 reaches killed b1
state=$STATE
kill -STOP "$SERVE_PID"
kill_runners
kill -9 "$SERVE_PID"
wait "$SERVE_PID" 2>/dev/null
STATE=$state
api_start
rm hold-b
ends t16 killed
is "$RECORD" 'completed 2 3' 'a service that was killed takes up what it had'
is "$(texts t16)" 'hello|a after 1|b after 2|c after 3' 'at the node that it had reached'

# ---- left where nothing runs in the background any more

queue t22 whole hello
ends t22 whole
before=$(texts t22)
touch hold-b
for left in t22 t23 t24 t25; do
	queue "$left" "left-$left" again
	wait_for 20 reaches "left-$left" b1
done
state=$STATE
kill -STOP "$SERVE_PID"
kill_runners
kill -9 "$SERVE_PID"
wait "$SERVE_PID" 2>/dev/null
STATE=$state
configure 0
api_start
rm hold-b
invoke 'say it' "$(thread t22),\"multitask_strategy\":\"rollback\""
is "$STATUS $(texts t22)" "200 $before|say it|a after 5|b after 6|c after 7" \
	'where nothing runs in the background any more, a rollback puts the thread back as well'
api GET /v1/threads/t22/state
is "$(json '.data.state.marks | join(" ")' "$BODY")" 'a b c a b c' 'with its state'
record t22 left-t22
is "$(json .data.status "$BODY")" stopped 'the run that had been left is stopped'
invoke new "$(thread t23),\"multitask_strategy\":\"interrupt\""
record t23 left-t23
is "$(json '.data | "\(.status) \(.step)"' "$BODY") $(texts t23)" 'stopped 1 again|a after 1|new|a after 3|b after 4|c after 5' \
	'an interrupt stops it, and it stays as far as it came'
invoke new "$(thread t24)"
record t24 left-t24
is "$(json '.data | "\(.status) \(.error.code)"' "$BODY") $(texts t24)" 'error RUN_LOST again|a after 1|new|a after 3|b after 4|c after 5' \
	'without either it was lost'
api POST '/lg/threads/t25/runs/left-t25/cancel?wait=0&action=rollback'
record t25 left-t25
is "$(json .data.status "$BODY") $(texts t25)" 'stopped ' 'a cancel that rolls back does the same'
configure 4

serve_stop
is $? 0 'nothing is left'

# ---- what who watches is told

if ! command -v nginx >/dev/null && ! [ -x /usr/sbin/nginx ]; then
	done_testing
	exit
fi
serve_start --processes 1 --threads 8 || tap_bail 'the service does not start'
SOCKET=$STATE/run/fcgi.sock
for new in $(seq 10); do
	jq -nr --arg url "$BASE/v1/graph/runs" --arg body "$(run_body "[$(user x)]" "$(thread "new-$new" '"run_id":"once"')")" \
		'range(8) | "next", "url = \($url)", "header = \"Content-Type: application/json\"", "data = \($body | tojson)",
			"output = /dev/null", "write-out = \"%{http_code}\\n\""' >eight
	curl -s --parallel --parallel-immediate --parallel-max 8 -K eight 2>/dev/null
done >answers
is "$(sort answers | uniq -c | tr -s ' ')" ' 80 202' 'one run that many submit to a new thread at once is taken from all of them'
touch hold-b
queue t1 watched hello
wait_for 20 reaches watched b1
curl -sN --max-time 120 "$BASE/v1/threads/t1/runs/watched/stream" >watching &
watcher=$!
b_is_told() { [ "$(grep -c invoking_node watching)" -ge 2 ]; }
wait_for 20 b_is_told # from the disk
kill_runners
rm hold-b
ends t1 watched
wait "$watcher"
http GET /v1/threads/t1/runs/watched/stream
is "$STATUS" 200 'the chunks of a run that went on are there'
chunks <<'TABLE'
numbered without a gap :: map(.metadata.seq) == [range(1; length + 1)]
with one that says so before the node that runs again :: [.[] | select(.event == "updates") | .data | if .status == "restarted" then "restarted \(.attempt)" else "\(.status) \(.node // "")" end] == ["invoking_node a", "node_invoked a", "invoking_node b", "restarted 2", "invoking_node b", "node_invoked b", "invoking_node c", "node_invoked c", "done "]
TABLE
touch hold-b
queue t2 returned hello
wait_for 20 reaches returned b1
state=$STATE
serve_stop
STATE=$state
serve_start --processes 1
SOCKET=$STATE/run/fcgi.sock
rm hold-b
ends t2 returned
is "$RECORD" 'completed 1 3' 'one that was given back goes on'
http GET /v1/threads/t2/runs/returned/stream
follower() {
	for pid in $(children "$SERVE_PID"); do
		case $(readlink "/proc/$pid/exe") in */agentgraph-follow) echo "$pid" ;; esac
	done
}
followed() { http GET /v1/threads/t2/runs/returned/stream && [ "$STATUS" = 200 ]; }
chunks <<'TABLE'
with nothing said of it :: map(.data.status? // empty) | index("restarted") == null and .[-1] == "done"
and its numbers :: map(.metadata.seq) == [range(1; length + 1)]
TABLE

# ---- a reload

follower=$(follower)
touch hold-b
queue t3 reading hello
wait_for 20 reaches reading b1
curl -s --no-buffer --max-time 120 -o read "$BASE/v1/threads/t3/runs/reading/stream" &
reader=$!
wait_for 20 grep -q invoking_node read
rm "$STATE/ticket.key"
kill -HUP "$SERVE_PID"
wait_for 20 grep -q 'reloaded configuration' "$SERVE_ERR"
ok 'wait_for 20 followed' 'after a reload who follows runs knows the key that the new workers have'
is "$(follower)" "$follower" 'in the same process'
rm hold-b
wait "$reader"
is "$? $(tail -n 1 read | jq -r .data.status)" '0 done' 'in which streams go on'

done_testing
