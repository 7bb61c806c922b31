#!/bin/sh
# SPDX-License-Identifier: ISC
# Runs in the background: which are queued and which refused, their order, their records, and who may stop them.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# ids THREAD [RUN]: the member config.
ids() { thread "$1" "${2:+\"run_id\":\"$2\"}"; }
# queue THREAD RUN TEXT [MEMBERS]
queue() { api POST /v1/graph/runs "$(run_body "[$(user "$3")]" "$(ids "$1" "$2")${4:+,$4}")"; }
record() { api GET "/v1/threads/$1/runs/$2"; }
status_of() {
	record "$1" "$2"
	json .data.status "$BODY"
}
has_status() { [ "$(status_of "$1" "$2")" = "$3" ]; }
# over THREAD RUN: BODY is then its record.
over() {
	record "$1" "$2"
	case $(json .data.status "$BODY") in queued | running | null) return 1 ;; esac
}
ends() { wait_for 30 over "$1" "$2"; }
texts() {
	api GET "/v1/threads/$1/messages"
	json "$facts_words"'.data.messages | texts | join("|")' "$BODY"
}
said() { json '"'"$STATUS"' \(.error_code) \(.detail)"' "$BODY"; }
listed() {
	api GET "/v1/graph/runs?$1"
	json '.data.runs | map(.run_id) | sort | join(" ")' "$BODY"
}
# long THREAD: a run of many steps in flight on it, which is not in the background.
long() {
	in_background long invoke '/slow 90 300' "$(thread "$1"),\"recursion_limit\":100"
	wait_for 20 is_running "$1"
}
halt() { api POST /v1/graph/stop "{\"thread_id\":\"$1\"}"; }

printf '{"agent":"builtin:demo","runs":{"background":2,"queue":3}}\n' >agentgraph.json
api_start || tap_bail 'the service does not start'

# ---- what is queued

queue a r1 '/add 2 3' '"metadata":{"ticket":7,"n":9007199254740993}'
is "$STATUS" 202 'a run is queued'
facts <<'TABLE'
with all keys of a record :: .data | keys == ["attempt", "background", "created_at", "error", "finished_at", "metadata", "node", "run_id", "started_at", "status", "step", "thread_id", "usage", "webhook"]
as one in the background :: .data | [.run_id, .thread_id, .background, .attempt, .error, .webhook] == ["r1", "a", true, 1, null, null]
that has not begun :: .data | [.status, .started_at, .finished_at, .step, .node] == ["queued", null, null, 0, "START"]
TABLE
like "$BODY" '"metadata":\{"ticket":7,"n":9007199254740993\}' 'metadata is kept to the digit'
api GET /v1/threads/a
is "$STATUS" 200 'its thread is there'
ends a r1
facts <<'TABLE'
it is executed :: .data | [.status, .step, .node, .attempt, .background] == ["completed", 3, "END", 1, true]
what it was queued with is in its record :: .data.metadata.ticket == 7
its times have an order :: .data | [.created_at, .started_at, .finished_at] | . == sort
what it cost is counted :: .data.usage.total_tokens > 0
TABLE
api GET /v1/threads/a/runs/r1/result?response_granularity=full
background=$(printf '%s' "$BODY" | sorted "$facts_words"'.data | [(.messages | texts), .meta.is_new_thread, .state.execution_meta.status, .meta.thread_name]')
invoke '/add 2 3' "$(ids other r1),\"response_granularity\":\"full\""
is "$background" "$(printf '%s' "$BODY" | sorted "$facts_words"'.data | [(.messages | texts), .meta.is_new_thread, .state.execution_meta.status, .meta.thread_name]')" \
	'its result is what invoke answers'
api POST /v1/graph/runs "$(run_body "[$(user hello)]")"
is "$STATUS" 202 'a run without a thread gets one'
new=$(json .data.thread_id "$BODY") run=$(json .data.run_id "$BODY")
ends "$new" "$run"
is "$(texts "$new")" 'hello|echo: hello' 'where it is executed'
api OPTIONS /v1/graph/runs
like "$(header Allow)$(header Access-Control-Allow-Methods)" 'POST' 'the route says that it takes POST'
api PUT /v1/graph/runs '{}'
is "$STATUS|$(header Allow)" '405|GET, HEAD, OPTIONS, POST' 'and what else'

# ---- what is refused

# refuses MEMBERS SENTENCE FIELD
refuses() {
	api POST /v1/graph/runs "$(run_body "[$(user x)]" "$(ids refused),$1")"
	is "$(said)|$(json '.error.details | map(.loc | join(".")) | unique | join(" ")' "$BODY")" \
		"422 VALIDATION_ERROR $2|body.$3" "refused: $1"
}
for value in -1 -0.5 2592001 1e9 '"1"' true '[]' '{}'; do
	refuses "\"delay\":$value" 'delay must be between 0 and 2592000' delay
done
for value in '[]' '"x"' 1 true; do
	refuses "\"metadata\":$value" 'metadata must be an object of at most 16384 bytes' metadata
done
filled=$(printf '%16376s' '' | tr ' ' x)
refuses "\"metadata\":{\"k\":\"${filled}x\"}" 'metadata must be an object of at most 16384 bytes' metadata
for value in '""' 1 true '{}' '"https://example.com/"' '"example.com"' '"https://user@example.com/"'; do
	refuses "\"webhook\":$value" 'webhook must begin with one of the configured addresses' webhook
done
refuses '"multitask_strategy":"later"' 'multitask_strategy must be one of enqueue, reject, interrupt, rollback' multitask_strategy
refuses '"recursion_limit":0' 'recursion_limit must be between 1 and 100' recursion_limit
api POST /v1/graph/runs "{\"delay\":-1,\"metadata\":7,\"webhook\":8,\"recursion_limit\":\"x\",\"messages\":[]}"
is "$STATUS $(json '.error.details | map(.loc | join(".")) | sort | join(" ")' "$BODY")" \
	'422 body.delay body.messages body.metadata body.recursion_limit body.webhook' 'every mistake is told'
api POST /v1/graph/runs "$(run_body "[$(user x)]" '"thread_id":"p","config":{"thread_id":"q"}')"
is "$STATUS" 400 'two threads are a mistake'
for thread in refused p q; do
	api GET "/v1/threads/$thread"
	is "$STATUS" 404 "what is refused makes no thread: $thread"
done
for members in '"delay":null' '"delay":0' '"metadata":null' '"metadata":{}' '"webhook":null' "\"metadata\":{\"k\":\"$filled\"}"; do
	api POST /v1/graph/runs "$(run_body "[$(user x)]" "$(ids fine),$members")"
	is "$STATUS" 202 "accepted: $(printf '%.30s' "$members")"
	ends fine "$(json .data.run_id "$BODY")"
done

# ---- order

long o
for i in 1 2 3; do
	queue o "o$i" "number $i"
done
is "$(status_of o o1) $(status_of o o2) $(status_of o o3)" 'queued queued queued' 'runs wait for a busy thread'
queue free f1 hello
ends free f1
is "$(json .data.status "$BODY")" completed 'and hold up no other'
is "$(listed 'status=queued')" 'o1 o2 o3' 'they are listed'
api GET /v1/threads/o/runs/o2/result
is "$STATUS $(json .data.status "$BODY")" '202 queued' 'their result is not there yet'
api DELETE /v1/threads/o/runs/o2 '{}'
is "$(said)" '409 RUN_ACTIVE Run o2 is still active' 'and they cannot be deleted'
invoke x "$(ids o o2)"
is "$(said)" '409 RUN_ACTIVE Run o2 is still active' 'nor can another one have their id'
api POST /v1/threads/o/runs/o2/stop
is "$STATUS $(json '.data | "\(.status) \(.started_at) \(.finished_at != null)"' "$BODY")" '200 stopped null true' \
	'a queued run is stopped at once'
is_running o
ok $? 'which does not stop the one in flight'
api DELETE /v1/threads/o/runs/o2 '{}'
is "$STATUS" 200 'one that is over can be deleted'
api POST /v1/threads/o/runs/o3/stop
api POST /v1/threads/o/runs/o3/stop
is "$STATUS $(json .data.status "$BODY")" '200 stopped' 'one that is over stays as it is'
queue fresh n1 hello '"delay":3600'
api POST /v1/threads/fresh/runs/n1/stop
api GET '/v1/threads/fresh/runs/n1/result?response_granularity=full'
is "$STATUS $(json '.data | [.messages, .state, .meta.is_new_thread, .meta.run_id] | tojson' "$BODY")" '200 [[],null,true,"n1"]' \
	'a thread whose only run was stopped in the queue has a result of it'
queue o o4 'number 4'
queue o o5 'number 5'
api GET /v1/threads/o/runs
latest=$(json '.data.runs | map(select(.status == "running" and (.background | not)))[0].run_id' "$BODY")
api POST "/v1/threads/o/runs/$latest/stop"
collect long
ends o o5
like "$(texts o)" '\|number 1\|echo: number 1\|number 4\|echo: number 4\|number 5\|echo: number 5$' \
	'the others are executed in their order'

# claimed ID: whether somebody has taken the run from the queue, to wait for its thread.
claimed() { [ "$(outside "$STATE/threads.db" "SELECT count(*) FROM jobs WHERE run_id = '$1' AND state = 3")" = 1 ]; }
long again
queue again g1 first
wait_for 20 claimed g1
api POST /v1/threads/again/runs/g1/stop
api DELETE /v1/threads/again/runs/g1 '{}'
queue again g1 second
is "$STATUS $(json .data.status "$BODY")" '202 queued' 'the id of a run that was stopped and deleted can be queued again'
api GET /v1/threads/again/runs
api POST "/v1/threads/again/runs/$(json '.data.runs[-1].run_id' "$BODY")/stop"
collect long
ends again g1
like "$(texts again)" '\|second\|echo: second$' 'and is then the new one'
unlike "$(texts again)" first 'not the one before, which waits for the thread'

lock_threads "$STATE" 1 # so that none of these finds the thread that another one makes
for i in 1 2 3; do
	in_background "made$i" queue made "m$i" hello
done
wait "$lock_pid"
for i in 1 2 3; do
	collect "made$i"
	echo "$STATUS"
done >answers
is "$(sort answers | tr '\n' ' ')" '202 202 202 ' 'of several at once on a new thread one makes it, and all are queued'

queue d late late '"delay":1.5'
queue d soon soon
ends d soon
is "$(status_of d late)" queued 'one that is delayed waits'
ends d late
facts <<'TABLE'
for as long as it was to :: .data | (.started_at[17:26] | tonumber) - (.created_at[17:26] | tonumber) | if . < 0 then . + 60 else . end | . >= 1.5
TABLE
is "$(texts d)" 'soon|echo: soon|late|echo: late' 'and takes its place when its delay ends'

# ---- an id that is known

queue k k1 once
first=$(json '.data | "\(.run_id) \(.created_at)"' "$BODY")
ends k k1
queue k k1 twice
is "$STATUS $(json '.data | "\(.run_id) \(.created_at) \(.status)"' "$BODY")" "202 $first completed" \
	'a submission can be repeated'
invoke direct "$(ids k k2)"
queue k k2 again '"multitask_strategy":"reject"'
is "$STATUS $(json '.data | "\(.background) \(.status)"' "$BODY")" '202 false completed' 'whatever the run came by'
is "$(texts k)" 'once|echo: once|direct|echo: direct' 'it queues nothing'

# ---- a thread that is busy

long b
queue b b1 x '"multitask_strategy":"reject"'
is "$(said)" '409 THREAD_BUSY Thread b is busy with another run' 'one that rejects is refused while a run has the thread'
queue b b2 waits
queue b b3 now '"multitask_strategy":"interrupt"'
is "$STATUS" 202 'one that interrupts is queued'
collect long
is "$STATUS" 200 'the run in flight is stopped'
ends b b3
is "$(status_of b b2) $(status_of b b3)" 'stopped completed' 'the queued one too'
like "$(texts b)" '^/slow 90 300(\|tick [0-9]+)*\|now\|echo: now$' 'and this one follows'

invoke '/note one' "$(ids rb)"
long rb
wait_for 20 eval 'texts rb | grep -q tick'
queue rb rb1 waits
queue rb rb2 now '"multitask_strategy":"rollback"'
collect long
ends rb rb2
is "$(texts rb)" '/note one|noted|now|echo: now' 'one that rolls back finds the thread as it was'

queue s s1 '/slow 90 300' '"recursion_limit":100'
wait_for 20 has_status s s1 running
queue s s2 x
invoke x "$(ids s),\"multitask_strategy\":\"reject\""
is "$(said)" '409 THREAD_BUSY Thread s is busy with another run' 'so does one that a request waits for, the other way round'
invoke now "$(ids s),\"multitask_strategy\":\"interrupt\""
is "$STATUS" 200 'a request can interrupt runs in the background'
is "$(status_of s s1) $(status_of s s2)" 'stopped stopped' 'those that are queued too'
queue s s3 '/slow 90 300' '"recursion_limit":100'
wait_for 20 has_status s s3 running
queue s s4 x
queue s s5 x '"delay":600'
halt s
is "$(json '.data | "\(.running) \(.message)"' "$BODY")" 'true Stop requested' 'a stop of the thread'
ends s s3
is "$(status_of s s3) $(status_of s s4) $(status_of s s5)" 'stopped stopped stopped' 'ends all of them'
queue s s6 '/slow 90 300' '"recursion_limit":100'
wait_for 20 has_status s s6 running
api POST /v1/threads/s/runs/s6/stop
is "$STATUS" 200 'a run in the background is stopped by its id'
ends s s6
is "$(json .data.status "$BODY")" stopped 'after its step'

# number NAME: a number for Prometheus.
number() {
	env -i PATH="$PATH" REQUEST_METHOD=GET REQUEST_URI=/metrics SERVER_PROTOCOL=HTTP/1.1 REMOTE_ADDR=127.0.0.1 \
		HTTP_HOST=localhost AGENTGRAPH_INTERNAL=metrics timeout 60 cgi-fcgi -bind -connect "$SOCKET" </dev/null |
		awk -v name="agentgraph_$1" 'index($0, name " ") == 1 { print $NF }' | tr -d '\r'
}
attempts=$(number background_attempts_total)

# both places are taken, so that what is queued stays so
for thread in x y; do
	queue $thread ${thread}1 '/slow 90 300' '"recursion_limit":100'
	wait_for 20 has_status $thread ${thread}1 running
done
for i in 1 2 3 4 5 6; do
	in_background "burst$i" queue burst "u$i" hello '"multitask_strategy":"reject"'
done
for i in 1 2 3 4 5 6; do
	collect "burst$i"
	echo "$STATUS"
done >answers
is "$(sort answers | tr '\n' ' ')" '202 409 409 409 409 409 ' 'of a burst that rejects one is queued'
invoke x "$(ids burst),\"multitask_strategy\":\"reject\""
is "$(said)" '409 THREAD_BUSY Thread burst is busy with another run' 'a queued run has its thread'
queue burst u7 later '"delay":600'
is "$STATUS" 202 'one that is delayed does not count'
queue full q1 hello
queue full q2 hello
queue full q3 hello
is "$(said)|$(header Retry-After)" '503 QUEUE_FULL Too many runs are waiting|1' 'a full queue refuses'
queue full q1 hello
is "$STATUS" 202 'but what it has already'
api POST /v1/graph/runs "$(run_body "[$(user hello)]")"
is "$STATUS" 503 'on a new thread as well'
api DELETE /v1/threads/full '{}'
is "$STATUS" 200 'a thread can be deleted under its queued runs'
is "$(number background_runs_in_flight) $(number background_runs_queued)" '2 2' 'runs that are executed, and queued, are counted'
is "$("$AGENTGRAPH" status --state "$STATE" --json | jq -c '[.background_in_flight, .background_queued]')" '[2,2]' \
	'status says so'
is "$(($(number background_attempts_total) - attempts))" 2 'attempts are counted'
queue burst u8 hello
is "$STATUS" 202 'which makes room'
for thread in x y; do
	halt $thread
	ends $thread ${thread}1
done
ends burst u8
api GET /v1/threads/full
is "$STATUS" 404 'they do not come back'
halt burst

# ---- what only shows when it starts

queue n n1 '/ask why'
ends n n1
is "$(json .data.status "$BODY")" interrupted 'a run that pauses is over'
queue n n2 hello
ends n n2
is "$(json '.data | "\(.status) \(.error)"' "$BODY")" 'interrupted null' 'messages to a paused thread tell the pause again'
api POST /v1/graph/runs "{\"resume\":\"because\",$(ids n n3)}"
is "$STATUS" 202 'the answer is queued'
ends n n3
is "$(json .data.status "$BODY")" completed 'and taken'
api POST /v1/graph/runs "{\"resume\":\"because\",$(ids n n4)}"
is "$STATUS" 202 'another one too'
ends n n4
is "$(json '.data | "\(.status) \(.error.code) \(.error.message)"' "$BODY")" \
	'error INVALID_INPUT Nothing to resume: this thread is not paused at an interrupt' 'which ends with an error'
api GET /v1/threads/n/runs/n4/result
is "$(said)" '422 INVALID_INPUT Nothing to resume: this thread is not paused at an interrupt' 'that its result is'
queue e e1 '/error broken'
ends e e1
is "$(json '.data | "\(.status) \(.error.code)"' "$BODY")" 'error NODE_ERROR' 'a run that fails says why'
is "$(listed 'status=error')" 'e1 n4' 'and is listed so'

# ---- short ones and long ones

serve_stop
printf '{"agent":"builtin:demo","runs":{"background":2}}\n' >agentgraph.json
api_start || tap_bail 'the service does not start with two at a time'
none_waits() {
	api GET '/v1/graph/runs?status=queued'
	[ "$(json '.data.runs | length' "$BODY")" = 0 ]
}
for i in $(seq 12); do
	queue "short$i" "s$i" hello
done
for i in $(seq 6); do
	queue "long$i" "l$i" '/slow 2 400'
done
for i in $(seq 13 16); do
	queue "short$i" "s$i" hello
done
wait_for 60 none_waits
for i in $(seq 6); do
	ends "long$i" "l$i"
done
for i in $(seq 13 16); do
	ends "short$i" "s$i"
done
api GET '/v1/graph/runs?limit=1000'
mine='.data.runs | map(select(.run_id | test("^[sl][0-9]+$")))'
is "$(json "$mine"' | map([.status, .attempt]) | unique | tojson' "$BODY") $(json "$mine | length" "$BODY")" \
	'[["completed",1]] 22' 'short runs and long ones are executed once each'
is "$(json "$mine"' | . as $all | map(. as $r | [$all[] | select(.started_at <= $r.started_at and .finished_at > $r.started_at)]
	| length) | max <= 2' "$BODY")" true 'never more at a time than there may be'
for i in $(seq 6); do
	queue "end$i" "e$i" '/slow 3 400'
done
wait_for 20 has_status end1 e1 running
state=$STATE
serve_stop
STATE=$state
api_start || tap_bail 'the service does not start again'
for i in $(seq 6); do
	ends "end$i" "e$i"
done
api GET '/v1/graph/runs?limit=1000'
is "$(json '.data.runs | map(select(.thread_id | test("^end")) | [.status, .attempt]) | unique | tojson' "$BODY")" \
	'[["completed",1]]' 'and none that waited when the service ended has been tried for nothing'

# ---- when the database takes nothing

if [ -z "$PG_DIR" ]; then
	outside "$STATE/threads.db" "CREATE TRIGGER full BEFORE UPDATE ON jobs WHEN new.state = 3 BEGIN SELECT RAISE(ABORT, 'full'); END"
	queue full f1 hello
	wait_for 20 grep -q 'the queue of runs cannot be read' "$SERVE_ERR"
	sleep 0.5
	ok '[ "$(grep -c "the queue of runs cannot be read" "$SERVE_ERR")" -lt 9 ]' 'a job that cannot be had now is not asked for all the time'
	outside "$STATE/threads.db" 'DROP TRIGGER full'
	ends full f1
	ok $? 'but later'
fi

# ---- not configured

serve_stop
printf '{"agent":"builtin:demo","runs":{"background":0}}\n' >agentgraph.json
api_start || tap_bail 'the service does not start'
queue z z1 hello
is "$(said)" '503 RUNS_NOT_CONFIGURED Background runs are not configured' 'with background 0 there is no such thing'
api POST /v1/graph/runs '{'
is "$(said)" '503 RUNS_NOT_CONFIGURED Background runs are not configured' 'whatever the body holds'
ok "! for pid in \$(children \"\$SERVE_PID\"); do readlink \"/proc/\$pid/exe\"; done | grep -q agentgraph-runner" 'nor a process for it'

done_testing
